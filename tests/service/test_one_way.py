"""One file through every door, in each setting of a watch: the report, the state, the page and `verify` agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.evaluation.verdict import Judgement
from bot.platforms.platform import Access, Opener
from bot.publishing.board import known_rows
from bot.publishing.entry import make_entries
from bot.reporting.report import make_report
from bot.service.checks.verify import Verifier
from bot.service.context import ContextFactory
from bot.service.judge import facts
from bot.service.judge.commits import open_cached_look_up
from bot.service.judge.facts import Judge, judge_for, no_look_up, verdict_on
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.command import bot
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import BOARD, github
from tests.service.passes import settle
from tests.service.test_commit_lookup import History, declaration, history
from tests.variants import crossed
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

__all__ = ["github", "history"]
SETTINGS = """
[[watches]]
name = "w"
leaderboard = "tiny.toml"
source = "results"
{more}
[[watches.targets]]
to = "board"
as = "commit"
"""
OWNERS = '[watches.owners]\n"other/" = ["acme"]'


def digest(judged: Judgement) -> object:
    return make_report(judged)["digest"]


@pytest.mark.parametrize("first", ["acme/atlas-7b", "acme/borea-1b"])
def test_rows_of_equal_values_are_judged_together_as_alone(first: str) -> None:
    board = parse_leaderboard(TINY, "tiny", "tiny.toml")
    models = ["acme/atlas-7b", "acme/borea-1b"]
    files = [parse_submission(path_of(model), {"": result(model)}) for model in models]
    rows = Judge(board, None).judge([file for file, model in zip(files, models, strict=True) if model == first]).rows
    judge = Judge(board, None, known=known_rows(make_entries(rows, {}).entries))
    alone = [row for file in files for row in judge.judge([file]).rows]
    together = judge.judge(files).rows
    warned = [[one.rule for one in row.findings if one.rule == "duplicate-scores"] for row in together]
    assert warned == [["duplicate-scores"] if model != first else [] for model in models]
    assert [row.findings for row in together] == [row.findings for row in alone]


# The numbers are of a commit before the accepted range, and of one in it.
@crossed(pins=["reported", "required"], more=["", "look_up_commits = true", OWNERS], number=[0, 3])
def test_one_file_has_one_verdict_at_every_door(
    github: GitHubServer, history: History, tmp_path: Path, *, pins: str, more: str, number: int
) -> None:
    text = declaration(history)
    text = text.replace("[harness]", f'[harness]\npins = "{pins}"', 1) if pins == "required" else text
    (tmp_path / "tiny.toml").write_text(text)
    Folder(tmp_path / "results").push({path_of(): result(git_hash=history.main[number])})
    store, access = Store(connect(f"sqlite:///{tmp_path / 'bot.db'}")), Access(github_api_url=github.url)
    [watch] = parse_settings(SETTINGS.format(more=more), "bot.toml").watches
    context = ContextFactory(access, store, tmp_path).open_context(watch)
    settle(context)

    [stored] = store.of("w").submissions.at([path_of()]).values()
    today = datetime.now(UTC).date()
    page = judge_for(watch, context.leaderboard, today, [], open_cached_look_up(store))
    found = verdict_on(page, store.of("w"), path_of())
    assert found is not None
    assert found[1] is not None
    assert found[1].status == stored.status
    assert stored.parsed is not None
    command = Judge(
        context.leaderboard, today, owners=watch.owners, look_up=context.look_up if "look_up" in more else no_look_up
    )
    committed = {stored.path: stored.committed} if stored.committed is not None else {}
    assert digest(command.judge([stored.parsed], committed)) == digest(context.judge([stored]))
    assert digest(page.judge([stored.parsed], committed)) == digest(context.judge([stored]))

    made = context.made([stored]).entries
    opener = Opener(access, tmp_path)
    target = opener.target("board")
    assert [entry.key for entry in target.scan_entries().entries] == [entry.key for entry in made]
    if made:
        assert [(row.outcome, row.differences) for row in Verifier(target, opener, sources=[tmp_path]).verify()] == [
            ("follows", ())
        ]


DATE = 1_794_268_800.0  # 10 November 2026, after every commit of the worlds
OLD = "2026-03-02T10:00:00Z"


def publish_as(door: str, place: Path, github: GitHubServer, hub: Hub) -> str:
    """Publish a file that is dated after its commit by one door; gives the target."""
    file, name = result(date=DATE), path_of()
    results = Folder(place / "results")
    results.push({name: file, ".gitignore": b"board/"})
    variables = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.person("bot"), "GITHUB_API_URL": github.url}
    if door == "service":
        store = Store(connect(f"sqlite:///{place / 'bot.db'}"))
        [watch] = parse_settings(SETTINGS.format(more=""), "bot.toml").watches
        settle(ContextFactory(Access(), store, place).open_context(watch))
        return "board"
    if door.startswith("publish"):
        named = "results" if door == "publish a checkout" else "hf://datasets/acme/results"
        hub.push(hub.repository("acme/results"), {name: file})
        words = ("publish", named, "--to", "./board", "-l", "tiny.toml", "--as", "commit")
        status, _, said = bot(*words, cwd=place, env=variables)
        assert status == 0, said
        return "board"
    git = github.state.repos[BOARD].git
    before = git.refs["heads/main"]
    sha = git.push("heads/main", {name: file} | {f"more/{n}.json": b"{}" for n in range(4)})
    git.push("heads/main", {"more/0.json": b"[]"})
    (place / "event.json").write_text(json.dumps({"before": before, "after": sha}))
    variables |= {
        "GITHUB_TOKEN": "app-token",
        "GITHUB_REPOSITORY": BOARD,
        "GITHUB_SHA": sha,
        "GITHUB_WORKSPACE": str(results.path),
        "GITHUB_EVENT_NAME": "push" if door == "the Action after a push" else "schedule",
        "GITHUB_EVENT_PATH": str(place / "event.json"),
        "RUNNER_TEMP": str(place),
        "INPUT_MODE": "publish",
        "INPUT_RESULTS": "**/*.json",
        "INPUT_LEADERBOARD": str(place / "tiny.toml"),
        "INPUT_TO": f"github://{BOARD}",
        "INPUT_AS": "commit",
        "INPUT_CHANGED_ONLY": "true",
    }
    done = subprocess.run([sys.executable, "-m", "bot.action"], env=variables, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return f"github://{BOARD}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "door",
    ["service", "publish a checkout", "publish the Hub", "the Action after a push", "the Action in a workspace"],
)
def test_a_row_follows_with_the_date_of_its_commit_whoever_published_it(
    github: GitHubServer, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", OLD)
    (tmp_path / "tiny.toml").write_text(TINY)
    to = publish_as(door, tmp_path, github, hub)

    access = Access("app-token", github.url, hf_endpoint=hub.url)
    opener = Opener(access, tmp_path)
    target = opener.target(to)
    [entry] = target.scan_entries().entries
    assert [one.rule for one in entry.warnings] == ["future-date"]
    rows = Verifier(target, opener, sources=[tmp_path]).verify()
    assert [(row.outcome, row.why, row.differences) for row in rows] == [("follows", "", ())]


def test_a_page_about_one_of_very_many_or_large_files_of_a_row_reads_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may ask for it, as often as they like."""
    paths = [path_of(time=f"2026-03-02T10-00-0{number}.000000") for number in range(3)]
    files = [result(right=right) for right in ((50, None, None), (None, 60, None), (None, None, 70))]
    (tmp_path / "tiny.toml").write_text(TINY)
    Folder(tmp_path / "results").push(dict(zip(paths, files, strict=True)))
    store = Store(connect(f"sqlite:///{tmp_path / 'bot.db'}"))
    [watch] = parse_settings(SETTINGS.format(more=""), "bot.toml").watches
    context = ContextFactory(Access(), store, tmp_path).open_context(watch)
    settle(context)

    def shown(path: str) -> list[str]:
        page = judge_for(watch, context.leaderboard, datetime.now(UTC).date(), [], open_cached_look_up(store))
        found = verdict_on(page, store.of("w"), path)
        assert found is not None
        assert found[2] is not None
        return sorted(file.path for file in found[2].files)

    assert shown(paths[2]) == paths
    monkeypatch.setattr(facts, "MOST_FILES", 1)
    assert shown(paths[2]) == [paths[0], paths[2]]
    monkeypatch.undo()
    [stored] = store.of("w").submissions.at(paths[:1]).values()
    assert stored.parsed is not None
    monkeypatch.setattr(facts, "MOST_BYTES", len(stored.parsed.to_bytes()) * 3 // 2)
    assert shown(paths[2]) == [paths[0], paths[2]]
