"""What nobody announces: with the state kept and lost, source and target end alike, and the ledger adds up."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.service.publish.gate import PLAN_WAITS_FOR
from bot.service.watch.passes import exit_status, settle_watches
from tests.platforms.git.test_source import Folder
from tests.service.passes import open_contexts
from tests.service.stories import STATES, Story
from tests.service.table_stories import said
from tests.service.test_ledger import FORMS, board, held, ledger, rows_of, settle
from tests.service.test_plans import board as released_board
from tests.service.test_plans import do_break
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

OLDER = "; {} on main with other numbers"
BAD = (50, 60, 170)
ON_MAIN = "on main, 0 open, 0 held, 0 declined, 0 unexplained"
FOLDERS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "results"
[[watches.targets]]
to = "board"
as = "{form}"
"""


@pytest.mark.slow
@STATES
@FORMS
def test_one_empty_listing_of_the_source_withdraws_nothing_and_loses_no_push(
    hub: Hub, tmp_path: Path, form: str, is_lost: bool
) -> None:
    story = board(hub, tmp_path, form, 4)
    story.push(model="acme/m4")
    head = story.source.main.oid
    json_of = {"Content-Type": "application/json"}
    fault = hub.faults.order(f"acme/results/tree/{head}", body=b"[]", headers=json_of, times=-1)
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert "is empty, but it has files" in " ".join(said(list(done.outcomes), "failed"))
    assert exit_status([done]) == 3
    assert (len(rows_of(story)), story.requests) == (4, [])

    fault.times = 0
    settle(story)
    for request in story.requests:
        hub.merge(story.target, request)
    done = settle(story)
    assert (ledger(done), exit_status([done])) == (f"5 accepted: 5 {ON_MAIN}", 0)
    story.contexts.store.close()


@STATES
@FORMS
def test_half_a_listing_of_the_source_withdraws_nothing(hub: Hub, tmp_path: Path, form: str, is_lost: bool) -> None:
    """As a list whose further pages a service forgets to name: the rows of the other half stay."""
    story = board(hub, tmp_path, form, 4)
    story.push(model="acme/m4")
    half = [path_of(f"acme/m{n}") for n in (0, 1, 4)]
    tree = [{"type": "file", "path": path, "oid": item.oid, "size": len(item.data)}
            for path, item in story.source.main.tree.files() if path in half]  # fmt: skip
    fault = hub.faults.order(
        f"acme/results/tree/{story.source.main.oid}",
        body=json.dumps(tree).encode(),
        headers={"Content-Type": "application/json"},
        times=-1,
    )
    if is_lost:
        story.lose_state()
    for _ in range(2):
        settle(story)
        assert set(rows_of(story)) >= {path for path in rows_of(story) if "/m2/" in path or "/m3/" in path}
        assert not [one for one in story.requests if "Remove" in one.title]
    assert len([path for path in rows_of(story) if "/m2/" in path or "/m3/" in path]) == 2

    fault.times = 0
    settle(story)
    for request in story.requests:
        hub.merge(story.target, request)
    done = settle(story)
    assert ledger(done) == f"5 accepted: 5 {ON_MAIN}"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_listing_that_lacks_many_files_for_long_withdraws_none_of_their_rows(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    """Every file is asked for by its path, however many a listing lacks and however often it is read."""
    story = board(hub, tmp_path, "commit", 30)
    story.more = 'max_removed = "100%"'
    hub.push(story.source, {path_of("acme/m29"): None})
    tree = [{"type": "file", "path": path, "oid": item.oid, "size": len(item.data)}
            for path, item in story.source.main.tree.files()][:4]  # fmt: skip
    hub.faults.order(
        f"acme/results/tree/{story.source.main.oid}",
        body=json.dumps(tree).encode(),
        headers={"Content-Type": "application/json"},
        times=-1,
    )
    if is_lost:
        story.lose_state()
    for _ in range(PLAN_WAITS_FOR + 2):
        settle(story)
    assert len(rows_of(story)) == 29  # one is gone indeed
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_row_that_was_edited_on_main_has_no_rank_until_it_is_mended(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    path = rows_of(story)[0]
    better = json.loads(hub.file(story.target, path) or b"") | {"average": 99.0}
    hub.push(story.target, {path: json.dumps(better).encode()}, "Better", user="ann")
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert ledger(done) == "3 accepted: 2 on main, 1 open, 0 held, 0 declined, 0 unexplained" + OLDER.format(
        "1 of them is"
    )
    assert "99.0" not in (hub.file(story.target, "leaderboard.csv") or b"").decode()
    hub.merge(story.target, story.requests[0])
    assert ledger(settle(story)) == f"3 accepted: 3 {ON_MAIN}"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("style", one_of(["entry", "rolling"]))
def test_a_target_that_takes_commits_from_now_on_leaves_no_request_open(
    hub: Hub, tmp_path: Path, style: str, is_lost: bool
) -> None:
    story = Story(hub, tmp_path, style=style)
    for name in ("acme/m0", "acme/m1"):
        story.push(model=name)
    story.settle()
    assert story.requests
    story.form = "commit"
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert (ledger(done), exit_status([done])) == (f"2 accepted: 2 {ON_MAIN}", 0)
    assert (len(rows_of(story)), story.requests) == (2, [])
    story.contexts.store.close()


def test_a_lost_history_of_commits_and_a_lost_state_are_a_first_filling(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit", 3)
    story.target.refs["refs/heads/main"] = list(story.target.main.history())[-1]
    story.lose_state()
    assert ledger(settle(story)) == f"3 accepted: 3 {ON_MAIN}"  # docs/hub.md says so
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_discussion_that_is_refused_is_opened_later_and_the_sound_row_at_once(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = Story(hub, tmp_path)
    fault = hub.faults.order("acme/results/discussions", status=503, times=-1, method="POST")
    story.push(model="acme/borea-1b", right=BAD)
    story.push()
    done = settle(story)
    assert story.acts() == ["request"]
    assert (ledger(done), exit_status([done])) == (
        "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained",
        3,
    )

    fault.times = 0
    if is_lost:
        story.lose_state()
    else:  # the minute in which a discussion might show is over
        [item] = [item for item in story.state.items.all() if item.kind == "folder"]
        assert (item.attempts, "503" in item.reason) == (1, True)
    done = settle(story)
    assert [row.title for row in story.discussions] == ["Results in acme__borea-1b were rejected"]
    assert (ledger(done), exit_status([done])) == (
        "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained",
        0,
    )
    story.news()
    story.end()


@pytest.mark.slow
@STATES
@FORMS
def test_no_listing_is_asked_for_twice_in_a_pass_after_main_moved(
    hub: Hub, tmp_path: Path, form: str, is_lost: bool
) -> None:
    story = board(hub, tmp_path, form, 4)
    story.push(model="acme/m4")
    settle(story)
    for request in story.requests:
        hub.merge(story.target, request)
    if is_lost:
        story.lose_state()
    hub.calls.clear()
    done = settle(story)
    asked = Counter((call.raw_path, *sorted(call.query.items())) for call in hub.calls if "/tree/" in call.raw_path)
    assert [path for path, count in asked.items() if count > 1] == []
    assert len((hub.file(story.target, "leaderboard.csv") or b"").splitlines()) == 6
    assert ledger(done) == f"5 accepted: 5 {ON_MAIN}"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
def test_the_processes_of_git_do_not_grow_with_the_rows_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, is_lost: bool
) -> None:
    seen, git = tmp_path / "seen", shutil.which("git")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\necho "$*" >> {seen}\nexec {git} "$@"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    counts, lines = [], []
    for rows in (5, 25):
        place = tmp_path / f"{rows}"
        place.mkdir()
        (place / "bot.toml").write_text(FOLDERS.format(form=form))
        (place / "tiny.toml").write_text(TINY)
        Folder(place / "results").push({path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(rows)})
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
            for state in ("one", "two" if is_lost else "one"):
                seen.write_text("")
                database = f"sqlite:///{place / state}.db"
                settings, contexts = open_contexts(place / "bot.toml", Access(), database)
                [done] = settle_watches(contexts, settings.watches)
                contexts.store.close()
                counts.append(len(seen.read_text().splitlines()))
        lines.append(ledger(done))
    where = f"{{0}} {ON_MAIN}" if form == "commit" else "0 on main, {0} open, 0 held, 0 declined, 0 unexplained"
    assert lines == [f"{rows} accepted: {where.format(rows)}" for rows in (5, 25)]
    assert counts[2] - counts[0] <= 5
    assert counts[3] - counts[1] <= 5


@STATES
def test_a_group_that_is_declared_as_a_leaf_is_said_to_be_a_group(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    grouped = result(group_subtasks={"logic": ["logic_a", "logic_b"]})
    request, _ = hub.open_request(story.source, {path_of(): grouped}, "mine", "please", "ann")
    texts = []
    for _ in range(2):
        settle(story)
        texts.append(request.comments("bot"))
        if is_lost:
            story.lose_state()
    assert texts[0] == texts[1]
    assert "logic is a group in this file, but Logic names it as a task" in texts[0][0]
    hub.merge(story.source, request)
    assert (
        ledger(settle(story))
        == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained; 1 of them is incomplete"
    )
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_typo_in_the_declaration_is_the_reason_of_what_it_would_remove(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = released_board(hub, tmp_path, "pull-request")
    declared = story.folder / "tiny.toml"
    old = declared.read_text()
    do_break(story, "releases are others")
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert 'the declaration changed: harness.accepted: – → [{"repository"' in held(done)
    assert "and the files are no longer accepted: unaccepted-harness-commit" in held(done)
    counts = "0 on main, 0 open, 0 held, 0 declined, 0 unexplained; 7 other rows would be removed by a plan"
    assert (ledger(done), exit_status([done])) == (f"0 accepted: {counts}", 1)
    declared.write_text(old)
    done = settle(story)
    assert (ledger(done), exit_status([done])) == (f"7 accepted: 7 {ON_MAIN}", 0)
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@FORMS
def test_a_changed_bound_is_one_request_that_names_its_key(hub: Hub, tmp_path: Path, form: str, is_lost: bool) -> None:
    story = board(hub, tmp_path, form, 4)
    declared = tmp_path / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    if is_lost:
        story.lose_state()
    done = settle(story)
    [request] = story.requests
    key = "tasks.sums.leaves.sums\\_plus.lower\\_bound: 1/4 → 1/5"
    assert request.title == "Score 4 rows of tiny again"
    assert request.description.count(f"58.33 → 59.38 | the declaration changed: {key} |") == 4
    assert ledger(done) == "4 accepted: 0 on main, 4 open, 0 held, 0 declined, 0 unexplained" + OLDER.format(
        "4 of them are"
    )
    hub.merge(story.target, request)
    assert ledger(settle(story)) == f"4 accepted: 4 {ON_MAIN}"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_token_that_is_no_longer_valid_is_called_so_and_loses_nothing(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "commit", 3)
    story.push(model="acme/m3")
    tokens = dict(hub.tokens)
    hub.tokens.clear()
    if is_lost:
        story.lose_state()
    done = settle(story)
    failures = said(list(done.outcomes), "failed")
    assert failures
    assert all("401: the token is missing, wrong or no longer valid; set HF_TOKEN" in text for text in failures)
    assert exit_status([done]) == 4
    hub.tokens.update(tokens)
    done = settle(story)
    assert (ledger(done), exit_status([done])) == (f"4 accepted: 4 {ON_MAIN}", 0)
    story.contexts.store.close()
