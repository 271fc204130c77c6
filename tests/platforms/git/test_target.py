"""A folder as target, with real git: what a person finds there, whatever happened before."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.errors import CallError, Refused, Unwritable
from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.git.target import Folder
from bot.platforms.platform import Access, Opener
from bot.publishing.entry import Entry, parse_entry
from bot.publishing.publication import DesiredState, Form, PostText, entry_marker, file_marks, plan_mark, rolling_mark
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import rebuild_board, reconcile
from tests.evaluation.judging import entry_from
from tests.platforms.git.publisher import DECLARED, entry
from tests.variants import one_of
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

KEY = entry().key
BRANCH = f"leaderboard-bot/{KEY}"
FILE = f"entries/{KEY}.json"


def refs(folder: Path) -> str:
    return git(folder, "for-each-ref")


def put(folder: Path, *rows: Entry, form: Form = "pull-request", **more: Any) -> list[str]:
    """Publish rows and the board, and say what was done with each row."""
    target = Folder(str(folder))
    target.check()
    done = publish(rows, target, form, **more)
    if not more:
        rebuild_board(target, DECLARED)
    return [type(one.decision.publication).__name__ if one.decision.publication else "nothing" for one in done]


def shown(folder: Path, revision: str, path: str = FILE) -> Entry:
    return parse_entry(git(folder, "show", f"{revision}:{path}").encode() + b"\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "board"


def test_a_request_is_a_branch_with_one_commit_and_its_text_as_message(folder: Path) -> None:
    assert put(folder, entry()) == ["OpenRequest"]

    assert git(folder, "log", "--format=%s", f"main..{BRANCH}") == "Add acme/atlas-7b (bfloat16): 58.33"
    assert git(folder, "diff", "--name-status", "main", BRANCH) == f"A\t{FILE}"
    assert shown(folder, BRANCH) == entry()
    mark = entry_marker(entry()).about(file_marks({FILE: entry().to_bytes()}))
    assert git(folder, "log", "-1", "--format=%B", BRANCH).splitlines()[-1] == mark.render()
    assert git(folder, "ls-tree", "-r", "--name-only", "main") == ""


@pytest.mark.parametrize("form", ["pull-request", "comment"])
def test_the_rows_of_a_board_are_those_of_its_own_requests_and_comments(folder: Path, form: Form) -> None:
    other = entry_from(result(), parse_leaderboard(TINY, "small", "small.toml"), path_of())
    put(folder, entry(), form=form)
    put(folder, other, form=form)

    assert Folder(str(folder)).read_keys("tiny") == {KEY}
    assert Folder(str(folder)).read_keys("small") == {other.key}


def test_what_people_read_of_a_folder_calls_it_as_the_settings_do(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    opener = Opener(Access(), tmp_path / "ours")
    target = opener.target("../board")
    (done,) = publish([entry()], target, "pull-request")

    assert done.where == f"../board: branch {BRANCH}"
    assert target.name == str(tmp_path / "board")  # commands name where it lies
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallError, match=r"^\.\./file is a file;"):
        opener.target("../file").check()
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match=r"\.\./empty is not a git repository"):
        opener.source("../empty").head()


def test_publishing_twice_changes_no_ref(folder: Path) -> None:
    put(folder, entry())
    before = refs(folder)

    assert put(folder, entry()) == ["nothing"]
    assert refs(folder) == before


def test_a_changed_result_updates_the_same_branch(folder: Path) -> None:
    put(folder, entry())

    assert put(folder, entry(day=2, right=(90, 60, 70))) == ["UpdateRequest"]
    assert git(folder, "branch", "--format=%(refname:short)").split() == [BRANCH, "main"]
    assert git(folder, "rev-list", "--count", f"main..{BRANCH}") == "1"
    proposed = shown(folder, BRANCH)
    assert proposed.evidence[0].date == entry(day=2).evidence[0].date


def commit_on(folder: Path, branch: str, **files: str) -> str:
    """Commit files to a branch as a person, and check main out again."""
    git(folder, "checkout", "--quiet", branch)
    for name, text in files.items():
        (folder / name.replace("__", "/")).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "By hand")
    made = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "main")
    return made


def test_what_a_person_commits_to_a_request_stays_in_it_while_its_row_is_kept_in_step(folder: Path) -> None:
    put(folder, entry())
    row = (FILE, git(folder, "show", f"{BRANCH}:{FILE}").replace("58.33", "98.33"))
    made = commit_on(folder, BRANCH, notes="mine", **{row[0].replace("/", "__"): row[1]})

    assert put(folder, entry()) == ["UpdateRequest"]
    assert put(folder, entry()) == ["nothing"]
    assert shown(folder, BRANCH) == entry()
    commit_on(folder, "main", of_main="text")
    assert put(folder, entry(day=2, right=(90, 60, 70))) == ["UpdateRequest"]

    git(folder, "merge-base", "--is-ancestor", made, BRANCH)
    assert git(folder, "diff", "--name-status", "main", BRANCH).split() == ["A", FILE, "A", "notes"]
    git(folder, "merge", "--quiet", "--no-edit", BRANCH)
    assert put(folder, entry(day=2, right=(90, 60, 70))) == ["nothing"]
    assert (folder / "notes").read_text() == "mine"


def test_what_a_person_commits_to_a_request_that_is_closed_stays_in_a_branch(folder: Path) -> None:
    put(folder, entry())
    made = commit_on(folder, BRANCH, notes="mine")
    put(folder, entry(), form="commit")

    kept = f"leaderboard-bot-closed/{KEY}/{made[:12]}"
    assert git(folder, "branch", "--format=%(refname:short)").split() == [kept, "main"]
    git(folder, "branch", BRANCH, kept)  # opened again, or closed by a bot that was killed then
    [closed] = publish([entry()], Folder(str(folder)), "pull-request")
    assert closed.where.endswith(f": closed {KEY}; the commits of others are in the branch {kept}")
    assert git(folder, "branch", "--format=%(refname:short)").split() == [kept, "main"]
    assert put(folder, entry(day=2, right=(90, 60, 70))) == ["OpenRequest"]


def test_a_file_that_a_person_and_main_changed_waits_for_the_person(folder: Path) -> None:
    put(folder, entry())
    made = commit_on(folder, BRANCH, notes="mine")
    commit_on(folder, "main", notes="of main")

    with pytest.raises(Refused, match=f"changed notes: merge main into {made[:12]}$"):
        put(folder, entry(day=2))
    assert git(folder, "rev-parse", BRANCH) == made


def test_after_a_merge_the_board_is_rebuilt_and_the_branch_is_gone(folder: Path) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)

    assert put(folder, entry()) == ["nothing"]

    assert git(folder, "branch", "--format=%(refname:short)") == "main"
    assert (folder / "leaderboard.csv").read_text().splitlines()[1].startswith("1,1,acme/atlas-7b,")
    assert git(folder, "status", "--porcelain") == ""
    before = refs(folder)
    assert put(folder, entry()) == ["nothing"]
    assert refs(folder) == before


def test_a_parquet_file_of_somebody_else_is_not_overwritten(folder: Path) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    (folder / "leaderboard.parquet").write_bytes(b"PAR1 of another tool PAR1")
    git(folder, "add", "leaderboard.parquet")
    git(folder, "commit", "--quiet", "-m", "Mine")

    with pytest.raises(Unwritable, match=r"^leaderboard\.parquet was not made by leaderboard-bot, .*; rename it$"):
        put(folder, entry())
    assert (folder / "leaderboard.parquet").read_bytes() == b"PAR1 of another tool PAR1"
    assert not (folder / "leaderboard.csv").exists()


@pytest.mark.parametrize("name", one_of([b"a\xffb", "a\u2028b".encode(), "a\x85b".encode()]))
def test_a_branch_of_somebody_with_an_odd_name_stops_nothing(folder: Path, name: bytes) -> None:
    put(folder, entry())
    subprocess.run(["git", "-C", folder, "branch", b"leaderboard-bot/" + name, BRANCH], check=True)
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)

    assert put(folder, entry()) == ["nothing"]
    assert put(folder, entry(day=2)) == ["OpenRequest"]

    listed = subprocess.run(["git", "-C", folder, "branch"], check=True, capture_output=True).stdout
    assert b"leaderboard-bot/" + name not in listed


def test_a_submodule_and_a_name_that_ends_like_another_are_no_damage(folder: Path) -> None:
    """Both were taken for an object that is missing, which the bot waits for without end."""
    put(folder, entry(), form="commit")
    commit = git(folder, "rev-parse", "main").strip()
    subprocess.run(["git", "-C", folder, "rm", "-qr", "entries", "declarations"], check=True)
    (folder / "my README.md").write_text("mine")
    git(folder, "add", "my README.md")
    for path in ("declarations", FILE):
        git(folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    git(folder, "commit", "-qm", "Add submodules")

    assert Folder(str(folder)).read_files(["README.md"]) == {}
    assert put(folder, entry(day=2), form="commit") == ["Commit"]
    assert shown(folder, "main").key == KEY


def test_a_merged_branch_that_somebody_has_checked_out_stays(folder: Path) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", BRANCH)
    git(folder, "checkout", "--quiet", BRANCH)

    put(folder, entry())

    assert git(folder, "rev-parse", "--abbrev-ref", "HEAD") == BRANCH
    assert git(folder, "rev-parse", "HEAD")


def test_a_request_that_was_squashed_into_main_is_closed(folder: Path) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", "--squash", BRANCH)
    git(folder, "commit", "--quiet", "-m", "by hand")

    assert put(folder, entry()) == ["CloseRequest"]
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


def test_a_deleted_branch_is_a_no_to_this_content_and_to_no_other(folder: Path) -> None:
    put(folder, entry())
    git(folder, "branch", "-D", BRANCH)

    assert put(folder, entry()) == ["nothing"]
    assert git(folder, "branch", "--format=%(refname:short)") == "main"

    assert put(folder, entry(day=2, right=(90, 60, 70))) == ["OpenRequest"]
    assert shown(folder, BRANCH).evidence[0].date == entry(day=2).evidence[0].date


def test_a_deleted_branch_stays_a_no_after_another_was_deleted(folder: Path) -> None:
    newer = entry(day=2, right=(90, 60, 70))
    for row in (newer, entry(day=3)):
        put(folder, row)
        git(folder, "branch", "--quiet", "-D", BRANCH)

    state = Folder(str(folder)).read_state(entry_marker(newer), (FILE,))
    rows = [file_marks({FILE: row.to_bytes()}) for row in (entry(day=3), newer)]
    assert [one.rows for one in state.declined] == rows
    assert put(folder, newer) == ["nothing"]
    assert put(folder, entry(day=4, right=(80, 60, 70))) == ["OpenRequest"]


@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_an_older_submission_never_takes_the_place_of_a_newer_one(folder: Path, form: Form) -> None:
    put(folder, entry(day=2), form=form)
    before = refs(folder)

    assert put(folder, entry(day=1, right=(90, 60, 70)), form=form) == ["nothing"]
    assert refs(folder) == before


def test_a_newer_incomplete_submission_does_not_take_the_place_of_a_complete_one(folder: Path) -> None:
    put(folder, entry(day=1), form="commit")

    put(folder, entry(day=2, right=(50, None, 70)), form="commit")

    assert shown(folder, "main").verdict == "accepted"


def test_a_commit_stands_on_main_with_its_board_and_without_branch(folder: Path) -> None:
    assert put(folder, entry(), form="commit") == ["Commit"]

    assert git(folder, "branch", "--format=%(refname:short)") == "main"
    assert git(folder, "log", "--format=%s", "main").splitlines() == [
        "Rebuild the board",
        "Add acme/atlas-7b (bfloat16): 58.33",
        "Start the leaderboard",
    ]
    assert (folder / FILE).read_bytes() == entry().to_bytes()


def test_a_comment_is_a_file_that_is_edited_in_place(folder: Path) -> None:
    assert put(folder, entry(), form="comment") == ["PostComment"]
    note = folder / "comments" / "tiny" / f"{KEY}.md"
    first = note.read_text()

    assert put(folder, entry(), form="comment") == ["nothing"]
    assert note.read_text() == first
    assert put(folder, entry(day=2, right=(90, 60, 70)), form="comment") == ["EditComment"]
    assert note.read_text() != first
    assert len(list(folder.glob("comments/**/*.md"))) == 1


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(folder: Path) -> None:
    assert put(folder, entry(), dry_run=True) == ["OpenRequest"]
    assert not folder.exists()

    put(folder, entry())
    before = refs(folder)
    assert put(folder, entry(day=2, right=(90, 60, 70)), dry_run=True) == ["UpdateRequest"]
    assert refs(folder) == before


def test_a_file_that_is_no_entry_is_named(folder: Path) -> None:
    put(folder, entry(), form="commit")
    (folder / "entries" / "by-hand.json").write_text("{}")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "by hand")

    found = Folder(str(folder)).scan_entries()

    assert [one.path for one in found.entries] == [entry().path]
    assert list(found.skipped) == ["entries/by-hand.json"]
    assert "entries/by-hand.json is not an entry" in found.skipped["entries/by-hand.json"]


def test_rows_of_one_call_are_one_commit_and_a_single_one_has_a_text_of_its_own(folder: Path) -> None:
    rows = [entry(f"acme/model-{n}") for n in range(3)]
    target = Folder(str(folder))
    assert [one.where for one in publish(rows, target, "commit", dry_run=True)] == ["", "", ""]
    assert not folder.exists()
    done = publish(rows[:2], target, "commit")

    assert [(one.subject, one.decision.why) for one in done] == [
        (row.key, "a commit makes the change") for row in rows[:2]
    ]
    publish([*rows, rows[0]], target, "commit")
    assert git(folder, "log", "--format=%s", "main").splitlines() == [
        "Add acme/model-2 (bfloat16): 58.33",
        "Add 2 rows of tiny",
        "Start the leaderboard",
    ]
    assert {row.key for row in target.scan_entries().entries} == {row.key for row in rows}
    assert git(folder, "status", "--porcelain") == ""
    assert [one.decision.publication for one in publish(rows, target, "commit")] == [None] * 3


def test_a_commit_of_rows_takes_nothing_from_an_open_request_and_leaves_it_open(folder: Path) -> None:
    target, waiting = Folder(str(folder)), entry("acme/waiting")
    mark = rolling_mark("tiny")
    files = {waiting.path: waiting.to_bytes()}
    reconcile(
        target, mark, tuple(files), lambda _: DesiredState(PostText("Rows", mark.render()), files), "pull-request"
    )
    before = refs(folder)
    publish([entry("acme/one"), entry("acme/two")], target, "commit")
    publish([entry("acme/one"), entry("acme/two")], target, "commit")

    assert {row.model.id for row in target.scan_entries().entries} == {"acme/one", "acme/two"}
    branch = "refs/heads/leaderboard-bot/rolling/tiny"
    assert [line for line in refs(folder).splitlines() if branch in line] == [
        line for line in before.splitlines() if branch in line
    ]


def test_a_merged_row_that_somebody_edits_on_main_is_proposed_again(folder: Path) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", BRANCH)
    put(folder, entry())  # the merged branch goes

    (folder / FILE).write_bytes(entry().to_bytes().replace(b"58.33", b"98.33"))
    git(folder, "commit", "--quiet", "-am", "Raise it")

    assert put(folder, entry()) == ["OpenRequest"]
    assert shown(folder, BRANCH) == entry()


@pytest.mark.parametrize("is_rewritten", [False, True])
def test_a_merged_row_that_is_gone_from_main_was_merged_once_and_not_declined(folder: Path, is_rewritten: bool) -> None:
    put(folder, entry())
    git(folder, "merge", "--quiet", BRANCH)
    merged = git(folder, "rev-parse", "HEAD")
    put(folder, entry())
    if is_rewritten:
        git(folder, "reset", "--quiet", "--hard", "HEAD~2")
    else:
        git(folder, "rm", "--quiet", FILE)
        git(folder, "commit", "--quiet", "-m", "Take it out")

    target = Folder(str(folder))
    state = target.read_state(entry_marker(entry()), (FILE,))

    assert (state.declined, state.merged, state.merged_at) == ((), {FILE: entry().to_bytes()}, merged)
    assert target.contains(state.merged_at) is not is_rewritten


def test_the_comment_of_a_plan_has_a_name_without_the_path_of_its_source(folder: Path) -> None:
    put(folder, entry())
    marks = [
        plan_mark("tiny", source)
        for source in ("../../results", "/home/ann/results", "results", "res/ults", "res-ults")
    ]
    for mark in marks:
        reconcile(Folder(str(folder)), mark, (), lambda _: DesiredState(PostText("Plan", "text"), {}), "comment")

    found = git(folder, "ls-tree", "-r", "--name-only", "main").split("\n")

    assert len(found) == len(marks)
    assert all(re.fullmatch(r"comments/tiny/plan-of-tiny-from-[a-z-]+-[0-9a-f]{8}\.md", path) for path in found)
    assert Folder(str(folder)).read_keys("tiny") == {KEY}
    git(folder, "fsck", "--strict")
