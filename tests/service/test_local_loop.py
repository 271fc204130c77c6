"""The whole loop on one machine: a local git repository as source, a folder as target, a hook between them."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from typer import Exit
from typer.testing import CliRunner

from bot.cli.app import app
from bot.cli.leaderboards import read_board
from bot.cli.service import settle as settle_command
from bot.cli.service import status
from bot.errors import StateUnavailable
from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import copy_state
from bot.service.store.leases import state_lock
from bot.service.watch.passes import settle_watches
from tests.platforms.git.test_source import Folder
from tests.server.test_service import serving, wait_for
from tests.service.passes import open_contexts, settle
from tests.service.stories import KEY, Story
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

ROOT = Path(__file__).parents[2]
SETTINGS = """
[[watches]]
name = "open-llm"
leaderboard = "tiny.toml"
source = "results"
settle_every = "1h"
[[watches.targets]]
to = "board"
"""


@pytest.fixture
def contexts(tmp_path: Path) -> ContextFactory:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    return open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")[1]


def branches(folder: Path) -> list[str]:
    if not (folder / ".git").exists():  # the bot has not made it yet
        return []
    return git(folder, "branch", "--list", "--format=%(refname:short)", "leaderboard-bot/*").split()


@pytest.mark.slow
def test_a_lost_state_finds_the_history_of_a_folder_in_its_commits(contexts: ContextFactory, tmp_path: Path) -> None:
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    source = Folder(tmp_path / "results")
    for model in ("acme/atlas-7b", "acme/borea-1b"):
        source.push({path_of(model): result(model)})
        settle(contexts.open_context(watch))
        for branch in branches(tmp_path / "board"):
            git(tmp_path / "board", "update-ref", "refs/heads/main", branch)
        settle(contexts.open_context(watch))
    contexts.store.close()
    (tmp_path / "state.db").unlink()
    anew = open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")[1]
    settle(anew.open_context(watch))
    changes = anew.store.of("open-llm").boards.changes(watch.targets[0].to)
    assert [(one.kind, one.model) for one in changes] == [("added", "acme/borea-1b"), ("added", "acme/atlas-7b")]
    assert all(len(one.commit) == 40 for one in changes)
    anew.store.close()


@pytest.mark.slow
def test_rows_that_folders_name_are_verified_without_the_watch(tmp_path: Path) -> None:
    identity = 'identity = [{path = "runs/*/step-*/", id = "acme/{1}", revision = "step-{2}"}]\n'
    settings = SETTINGS.replace("[[watches.targets]]", f"{identity}[[watches.targets]]") + 'as = "commit"\n'
    (tmp_path / "bot.toml").write_text(settings)
    (tmp_path / "tiny.toml").write_text(TINY)
    unnamed = json.loads(result()) | {"model_name": "/scratch/atlas"}
    unnamed["config"] |= {"model_args": "pretrained=/scratch/atlas", "model_sha": ""}
    steps = {f"runs/atlas/step-{number}/x.json": unnamed | {"date": 1_790_000_000.0 + number} for number in (1, 2)}
    Folder(tmp_path / "results").push({path: json.dumps(data).encode() for path, data in steps.items()})
    settle_command(str(tmp_path / "bot.toml"))

    rows = sorted((tmp_path / "board" / "entries").rglob("*.json"))
    assert [row.relative_to(tmp_path / "board" / "entries").parts[1:3] for row in rows] == [("acme", "atlas")] * 2
    (tmp_path / "bot.toml").unlink()
    called = CliRunner().invoke(app, ["verify", str(tmp_path / "board"), "--sources", str(tmp_path)])
    assert (called.exit_code, called.stdout.splitlines()[-1]) == (0, "2 rows: 2 follow")
    forged = rows[0].read_text().replace("step-{2}", "step-3")
    rows[0].write_text(forged)
    git(tmp_path / "board", "commit", "-q", "-a", "-m", "Forge a row")
    called = CliRunner().invoke(app, ["verify", str(tmp_path / "board"), "--sources", str(tmp_path)])
    assert (called.exit_code, called.stdout.splitlines()[-1]) == (1, "2 rows: 1 differs, 1 follows")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "others"),
    [
        (('title = "Tiny"', 'title = "Tiny, too"\nmodels = { other = "acme/other" }'), 0),
        (('title = "Tiny"', 'title = "Tiny, too"\njoin = { settings = "never" }'), 2),
    ],
)
def test_a_board_stands_for_the_declaration_of_its_table_and_not_for_that_of_most_rows(
    tmp_path: Path, change: tuple[str, str], others: int
) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS + 'as = "commit"\n')
    (tmp_path / "tiny.toml").write_text(TINY)
    source = Folder(tmp_path / "results")
    source.push({path_of(model): result(model) for model in ("acme/atlas-7b", "acme/borea-1b")})
    settle_command(str(tmp_path / "bot.toml"))
    (tmp_path / "tiny.toml").write_text(TINY.replace(*change))
    source.push({path_of("acme/cera-3b"): result("acme/cera-3b", date=1_780_000_000.0)})  # measured before the others
    settle_command(str(tmp_path / "bot.toml"))

    board = read_board(str(tmp_path / "board"), "")
    assert board.leaderboard.title == "Tiny, too"
    scored = [row.entry.leaderboard.scoring_digest == board.leaderboard.scoring_digest for row in board.rows]
    assert scored.count(False) == others
    called = CliRunner().invoke(app, ["verify", str(tmp_path / "board")])  # bot.toml beside it names the source
    assert (called.exit_code, called.stdout.splitlines()[-1]) == (0, "3 rows: 3 follow")
    assert "its declaration" not in called.stdout  # which gives the same row


def test_incomplete_rows_are_counted_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    part = result("acme/borea-1b", right=(50, 60, None))
    Folder(tmp_path / "results").push({path_of("acme/atlas-7b"): result(), path_of("acme/borea-1b"): part})
    settle_command(str(tmp_path / "bot.toml"))
    line = "2 accepted: 0 on main, 2 open, 0 held, 0 declined, 0 unexplained; 1 of them is incomplete\n"
    assert capsys.readouterr().out.endswith(line)


def test_a_row_of_sound_files_that_is_rejected_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Like 18 reports of EvalScope in modenicheng/llm_eval_evalscope `9dd686f`: three models by one name."""
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    undated = [json.loads(result(right=right)) | {"date": None} for right in ((50, 60, 70), (60, 60, 70))]
    for data in undated:
        data["config"] |= {"model_args": "pretrained=acme/atlas-7b", "model_sha": ""}
    files = {f"in/{name}/x.json": json.dumps(data).encode() for name, data in zip("ab", undated, strict=True)}
    of_other_tasks = result("acme/borea-1b").replace(b"sums_", b"odds_").replace(b"logic", b"chess")
    Folder(tmp_path / "results").push(files | {"in/c/x.json": of_other_tasks})
    settle_command(str(tmp_path / "bot.toml"))
    said = capsys.readouterr().out
    assert "borea" not in said
    assert "rejected tiny/acme/atlas-7b/unpinned-" in said
    assert ": indistinct-models: 2 files with different values of " in said
    assert '; leave one out by "!**/b/x.json" in `paths` of bot.toml, or say by their folders which model it is' in said


@pytest.mark.slow
@pytest.mark.parametrize("is_lost", one_of([False, True]))
def test_a_merged_row_that_somebody_edits_in_the_folder_is_proposed_again(
    contexts: ContextFactory, tmp_path: Path, is_lost: bool
) -> None:
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    board = tmp_path / "board"
    Folder(tmp_path / "results").push({path_of("acme/atlas-7b"): result()})
    settle(contexts.open_context(watch))
    [branch] = branches(board)
    git(board, "merge", "--quiet", branch)
    settle(contexts.open_context(watch))  # the board is made, and the branch is deleted
    [row] = (board / "entries").rglob("*.json")
    row.write_text(row.read_text().replace("58.33", "98.33"))
    git(board, "commit", "--quiet", "-am", "Raise it")
    if is_lost:
        contexts.store.close()
        (tmp_path / "state.db").unlink()
        contexts = open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")[1]

    settle(contexts.open_context(watch))

    assert branches(board) == [branch]
    assert "98.33" in row.read_text()
    assert "98.33" not in git(board, "show", f"{branch}:{row.relative_to(board)}")
    contexts.store.close()


def test_a_look_leaves_no_state_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    Folder(tmp_path / "results").push({path_of(): result()})
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(Exit) as ended:
        status(str(tmp_path / "bot.toml"))
    settle_command(str(tmp_path / "bot.toml"), dry_run=True)
    assert ended.value.exit_code == 1
    assert (
        "open-llm: board: 1 accepted: 0 on main, 0 open, 0 held, 0 declined, 1 unexplained" in capsys.readouterr().out
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.slow
def test_the_row_of_a_model_that_the_settings_leave_out_is_removed_and_stays_away(tmp_path: Path) -> None:
    left_out = SETTINGS.replace("source = ", 'paths = ["**/*.json", "!**/atlas-7b/**"]\nsource = ')
    source, board = Folder(tmp_path / "results"), tmp_path / "board"
    (tmp_path / "tiny.toml").write_text(TINY)
    files = {f"acme/{name}/results.json": result(f"acme/{name}") for name in ("atlas-7b", "borea-1b")}
    source.push(files)
    for settings in (SETTINGS + 'as = "commit"\n', left_out + 'as = "commit"\n'):
        (tmp_path / "bot.toml").write_text(settings)
        settle_command(str(tmp_path / "bot.toml"))
    source.push({"acme/atlas-7b/results.json": result("acme/atlas-7b", right=(1, 2, 170))})
    settle_command(str(tmp_path / "bot.toml"))
    assert [path.parent.name for path in (board / "entries").rglob("*.json")] == ["borea-1b"]


def test_a_state_that_cannot_be_copied_is_an_outage_and_not_a_missing_state(tmp_path: Path) -> None:
    state = tmp_path / "bot.db"
    state.write_bytes(b"SQLite format 3\0" + bytes(84))
    with pytest.raises(StateUnavailable, match="it cannot be copied"):
        copy_state(state, tmp_path / "none")


def test_a_look_at_a_state_of_another_version_does_not_say_that_it_is_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    Folder(tmp_path / "results").push({path_of(): result()})
    settle_command(str(tmp_path / "bot.toml"))
    with closing(sqlite3.connect(tmp_path / "bot.db")) as state:
        state.execute("update form set version = 0")
        state.commit()
    capsys.readouterr()
    status(str(tmp_path / "bot.toml"))
    assert "1 accepted: 0 on main, 1 open" in capsys.readouterr().out
    assert "emptied" not in caplog.text


def test_a_look_waits_for_no_service_that_keeps_the_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    source = Folder(tmp_path / "results")
    source.push({path_of(): result()})
    settle_command(str(tmp_path / "bot.toml"))
    source.push({path_of("acme/borea-1b"): result("acme/borea-1b")})
    with state_lock(f"sqlite:///{tmp_path / 'bot.db'}"):
        settle_command(str(tmp_path / "bot.toml"), dry_run=True)
        assert "1 added, 0 changed, 0 removed, 1 unchanged" in capsys.readouterr().out
        with pytest.raises(Exit):
            status(str(tmp_path / "bot.toml"))
        assert "2 accepted: 0 on main, 1 open" in capsys.readouterr().out
    settle_command(str(tmp_path / "bot.toml"))
    assert "proposed" in capsys.readouterr().out  # the look took no push from the pass after it


@pytest.mark.slow
def test_cron_hears_of_a_failure_once_until_it_is_gone(contexts: ContextFactory, tmp_path: Path) -> None:
    watches = parse_settings(SETTINGS, "bot.toml").watches
    Folder(tmp_path / "results").push({path_of(): result()})

    def mail() -> list[str]:
        [done] = settle_watches(contexts, watches)
        return done.lines(dry_run=False, quiet=True)

    assert mail() == []
    (tmp_path / "results").rename(tmp_path / "away")
    [line] = mail()
    assert line.startswith("open-llm: failed ")
    assert "results" in line
    assert mail() == []
    (tmp_path / "away").rename(tmp_path / "results")
    assert mail() == []
    (tmp_path / "results").rename(tmp_path / "away")
    assert mail() == [line]
    contexts.store.close()


@pytest.mark.slow
def test_the_plan_of_a_folder_names_the_commands_that_answer_it(contexts: ContextFactory, tmp_path: Path) -> None:
    watches = parse_settings(SETTINGS.replace('to = "board"', 'to = "board"\nas = "commit"'), "bot.toml").watches
    source, board = Folder(tmp_path / "results"), tmp_path / "board"
    source.push({path_of(): result()})
    settle_watches(contexts, watches)
    source.push({path_of(): None})
    [done] = settle_watches(contexts, watches)
    digest = done.plans[0].digest
    [path] = (board / "comments" / "tiny").iterdir()
    assert f"until a maintainer runs `leaderboard-bot settle --approve {digest}`; `" in path.read_text()

    settle_watches(contexts, watches, decline=digest)

    assert f"A maintainer declined the plan `{digest}`: its rows stay as they are." in path.read_text()
    contexts.store.close()


def test_pushes_changes_merges_and_withdrawals_reach_the_folder(contexts: ContextFactory, tmp_path: Path) -> None:
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    source = Folder(tmp_path / "results")
    commit = source.push({path_of(): result(), path_of("acme/borea-1b"): result("acme/borea-1b", right=(1, 2, 170))})
    first, again = settle(contexts.open_context(watch)), settle(contexts.open_context(watch))
    [branch] = branches(tmp_path / "board")

    assert [outcome.outcome for outcome in first] == ["rejected", "proposed"]
    assert again == []
    assert branch == f"leaderboard-bot/{KEY}"
    shown = git(tmp_path / "board", "show", f"{branch}:entries/{KEY}.json")
    assert f'"commit": "{commit}"' in shown
    assert '"source": "results"' in shown

    source.push({path_of(): None})
    settle(contexts.open_context(watch))
    assert branches(tmp_path / "board") == []
    contexts.store.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="the hook calls curl")
def test_the_hook_of_the_documentation_tells_the_service_of_a_commit(hub: Hub, tmp_path: Path) -> None:
    source = Folder(tmp_path / "results")
    source.push({"README.md": b"results"})
    story = Story(hub, tmp_path)
    (tmp_path / "bot.toml").write_text(SETTINGS)
    [line] = re.findall(r"^curl .*$", (ROOT / "docs" / "hub.md").read_text(), re.MULTILINE)
    with serving(story) as (url, _):
        hook = source.path / ".git" / "hooks" / "post-commit"
        told = line.replace("http://127.0.0.1:7860", url).replace("curl ", 'curl -H "X-Webhook-Secret: MARKER-SECRET" ')
        hook.write_text(f"#!/bin/sh\n{told}\n")
        hook.chmod(0o755)
        wait_for(lambda: httpx.get(f"{url}/healthz").json()["watches"]["open-llm"]["commit"])
        (source.path / "acme__atlas-7b").mkdir()
        (source.path / path_of()).write_bytes(result())
        git(source.path, "add", ".")
        git(source.path, "commit", "-q", "-m", "Add results")
        wait_for(lambda: branches(tmp_path / "board"))
        wait_for(lambda: "acme/atlas-7b" in httpx.get(url).text)
    story.contexts.store.close()


@pytest.mark.parametrize("is_dry", one_of([True, False]))
def test_results_that_nobody_committed_are_named(tmp_path: Path, is_dry: bool) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    source = Folder(tmp_path / "results")
    source.push({path_of(): result(), "borea/old.json": result("acme/borea-1b", right=(40, 60, 70))})
    source.git("mv", "borea", "moved")
    (source.path / path_of()).write_bytes(result(right=(1, 2, 3)))
    (source.path / "b.json").write_bytes(result("acme/cedar-1b"))
    called = CliRunner().invoke(app, ["settle", "--config", str(tmp_path / "bot.toml"), *["--dry-run"] * is_dry])
    assert called.exit_code == 0, called.output
    named = f"{path_of()}, b.json, moved/old.json"
    assert (
        f"unchanged results: 3 files are not committed as they are, and settle reads what is: {named}; "
        "there: `git add … && git commit`\n"
    ) in called.output
    assert "unchanged results: has no file" not in called.output


def test_a_row_whose_files_lie_where_nobody_watches_is_named(
    contexts: ContextFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.toml").write_text(f'{SETTINGS}as = "commit"\n')
    models = {"acme/atlas-7b": (50, 60, 70), "acme/borea-1b": (40, 60, 70)}
    Folder(tmp_path / "results").push({path_of(one): result(one, right=right) for one, right in models.items()})
    Folder(tmp_path / "elsewhere").push({path_of("eve/best"): result("eve/best", right=(90, 90, 90))})
    monkeypatch.chdir(tmp_path)

    def said(*words: str) -> str:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return done.output

    said("settle")
    said("publish", "elsewhere", "--leaderboard", "tiny.toml", "--to", "./board", "--as", "commit")
    [named] = [line for line in said("status").splitlines() if "elsewhere" in line]
    verified = said("verify", "./board", "--sources", ".").splitlines()
    [doubted] = [line for line in verified if "where no other row has any" in line]

    assert re.fullmatch(
        r"open-llm: +tiny/eve/best/\S+: its files are of \S*elsewhere, which no watch and no other row uses", named
    )
    assert re.search(r"tiny/eve/best/\S+: its files are of \S*elsewhere, where", doubted)
