"""People at a target's repository: it is made again under its name, and somebody pushes to the bot's request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.memory import SWEPT
from bot.service.store.state import Store
from bot.service.watch.passes import settle_watches
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import github
from tests.service.github_stories import SOURCE, TARGET, GitHubStory
from tests.service.stories import STATES, Story, settings_of
from tests.service.table_stories import TableStory, said
from tests.service.test_ledger import board, ledger, rows_of, settle
from tests.service.test_unreadable_talk import delete
from tests.variants import crossed, one_of
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

__all__ = ["github"]

AGAIN = "another repository has this name now; every row is proposed there anew"


def make_again(story: Story) -> None:
    story.hub.delete(story.target)
    story.target = story.hub.repository("acme/contents")


@STATES
@pytest.mark.parametrize("form", one_of(["pull-request", "commit", "comment"]))
def test_a_target_that_was_made_again_gets_every_row_anew(hub: Hub, tmp_path: Path, form: str, is_lost: bool) -> None:
    story = board(hub, tmp_path, form, 3)
    make_again(story)
    if is_lost:
        story.lose_state()
    done = settle(story)

    assert said(list(done.outcomes), "failed") == []
    assert said(list(done.outcomes), "unchanged") == ([] if is_lost else [AGAIN])
    assert len(story.requests) == (3 if form == "pull-request" else 0)
    assert len(rows_of(story)) == (3 if form == "commit" else 0)
    assert ledger(done).endswith("0 held, 0 declined, 0 unexplained")
    assert [one.lines for one in settle(story).ledgers] == [one.lines for one in done.ledgers]
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@crossed(is_merged=[False, True], form=["pull-request", "commit"])
def test_a_folder_that_was_made_again_gets_every_row_anew(
    tmp_path: Path, form: str, is_merged: bool, is_lost: bool
) -> None:
    board_folder = tmp_path / "board"
    (tmp_path / "tiny.toml").write_text(TINY)
    Folder(tmp_path / "results").push({path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(3)})
    [watch] = parse_settings(settings_of("results", "board", form, ""), "bot.toml").watches
    contexts = ContextFactory(Access(), Store(connect(f"sqlite:///{tmp_path / 'state.db'}")), tmp_path)
    settle_watches(contexts, [watch])
    if is_merged and form == "pull-request":
        listed = git(board_folder, "branch", "--list", "--format=%(refname:short)", "leaderboard-bot/*").split()
        git(board_folder, "merge", "--quiet", "--no-edit", *listed[:1])
        settle_watches(contexts, [watch])
    shutil.rmtree(board_folder)
    if is_lost:
        contexts.store.close()
        contexts = ContextFactory(Access(), Store(connect(f"sqlite:///{tmp_path / 'new.db'}")), tmp_path)
    lines = [one.ledgers[0].line for _ in range(2) for one in settle_watches(contexts, [watch])]

    where = "3 on main, 0 open" if form == "commit" else "0 on main, 3 open"
    assert lines == [f"3 accepted: {where}, 0 held, 0 declined, 0 unexplained"] * 2
    contexts.store.close()


@STATES
def test_requests_that_went_with_their_repository_are_opened_again(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    make_again(story)
    if is_lost:
        story.lose_state()
    done = settle(story)

    assert said(list(done.outcomes), "failed") == []
    assert len(story.requests) == 1
    assert ledger(done) == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
def test_a_table_that_was_made_again_gets_its_rows(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = TableStory(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    filled = story.board()
    make_again(story)
    hub.push(story.target, {"board.csv": story.table})
    if is_lost:
        story.lose_state()
    done = settle(story)

    assert story.board() == filled
    assert ledger(done) == "1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@pytest.mark.parametrize("is_copied", one_of([False, True]), ids=["another history", "the same commits"])
def test_nothing_is_said_in_discussions_of_others_where_a_source_was_made_again(
    hub: Hub, tmp_path: Path, is_copied: bool
) -> None:
    story = Story(hub, tmp_path)
    hub.writers.add(("bot", "acme/results"))
    hub.push(story.source, {"a/results.json": b"{}", path_of(): result()})
    story.settle()
    assert [one.title for one in hub.conversations(story.source)]
    old = story.source
    hub.delete(story.source)
    story.source = hub.repository("acme/results")
    if is_copied:
        hub.repositories["dataset", "acme/results"] = story.source = old
    asked = hub.open_discussion(story.source, "Why is my row missing?", "I pushed it.", "ann")
    story.news()
    hub.push(story.source, {"a/results.json": None, "b/results.json": b"{}", path_of(): result()})
    done = [*story.settle(), *story.settle()]

    assert said(done, "failed") == []
    assert (asked.num, asked.status) == (1, "open")
    assert [post.act for post in story.news() if post.repository == "acme/results"] == ["discussion"]
    story.contexts.store.close()


def test_a_folder_whose_discussion_was_deleted_gets_another_one(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    hub.push(story.source, {"a/results.json": b"{}"})
    story.settle()
    delete(hub, story.source, hub.talk(story.source).all[1])
    hub.push(story.source, {"a/results.json": b"[]"})
    done = [*story.settle(), *story.settle()]

    assert said(done, "failed") == []
    assert len(hub.conversations(story.source)) == 1
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_target_that_was_renamed_and_named_back_is_the_same_one(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    story.push(model="acme/m3")
    hub.rename(story.target, "acme/elsewhere", redirects=True)
    if is_lost:
        story.lose_state()
    failures = said(list(settle(story).outcomes), "failed")
    assert failures
    assert all("write the new name into the settings" in text for text in failures)
    hub.moved.clear()
    hub.rename(story.target, "acme/contents")
    done = settle(story)

    assert AGAIN not in said(list(done.outcomes), "unchanged")
    assert ledger(done) == "4 accepted: 3 on main, 1 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
@pytest.mark.parametrize("style", one_of(["entry", "rolling"]))
def test_a_push_to_the_bots_request_is_named_in_its_text(hub: Hub, tmp_path: Path, style: str, is_lost: bool) -> None:
    story = Story(hub, tmp_path, style=style)
    story.push()
    story.settle()
    [request] = story.requests
    [path] = [path for path, _ in story.target.refs[request.ref].tree.files() if path.startswith("entries/")]
    right = hub.file(story.target, path, request.ref) or b""
    wrong = json.dumps(json.loads(right) | {"average": 99.0}).encode()
    pushed = hub.push(story.target, {path: wrong, "NOTES.md": b"mine"}, "Better", user="ann", ref=request.ref)
    story.news()
    if is_lost:
        story.lose_state()
    else:  # a day later, or when a webhook told of it
        story.state.remember(SWEPT, None)
    story.settle()

    assert hub.file(story.target, path, request.ref) == right
    assert hub.file(story.target, "NOTES.md", request.ref) == b"mine"
    assert f"**Others pushed to this request:** `{pushed.oid[:12]}` by `ann`." in request.description
    assert story.acts() == ["commit", "edit"]
    assert ledger(settle(story)) == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained"
    story.state.remember(SWEPT, None)
    story.end()


@STATES
def test_a_request_that_somebody_reopens_is_looked_at_again(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    [stale] = story.requests
    hub.set_status(story.target, stale, "closed", "ann")
    story.push(right=(10, 20, 30))
    story.settle()
    [request] = [one for one in story.requests if one.status == "open"]
    hub.merge(story.target, request)
    story.settle()
    hub.set_status(story.target, stale, "open", "ann")
    story.news()
    if is_lost:
        story.lose_state()
    for _ in range(2):  # the daily sweep sees it, and the next pass acts
        story.state.remember(SWEPT, None)
        story.settle()

    assert stale.status == "closed"
    assert story.acts() == ["comment", "closed"]
    assert ledger(settle(story)) == "1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.end()


@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
def test_a_target_whose_history_was_squashed_goes_on(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form, 3)
    story.target.squash()
    story.push(model="acme/m3")
    done = settle(story)

    assert said(list(done.outcomes), "failed") == []
    counts = "3 on main, 1 open" if form == "pull-request" else "4 on main, 0 open"
    assert ledger(done) == f"4 accepted: {counts}, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@pytest.mark.slow
def test_repositories_at_github_that_were_made_again_are_other_ones(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.source.git.push("heads/main", {path_of(): result(), "b/results.json": b"{}"}, "Results", "ann")
    story.settle()
    story.source, story.target = (github.state.add_repo(name, {"README.md": b"# Again\n"}) for name in (SOURCE, TARGET))
    asked = [Issue(0, "ann", "Why is my row missing?", "I pushed it.") for _ in range(2)]
    for repo, issue in zip((story.source, story.target), asked, strict=True):
        github.state.add_issue(repo, issue)
    story.source.git.push("heads/main", {path_of(): result()}, "Results", "ann")
    done = story.settle()

    assert said(done, "failed") == []
    assert AGAIN in said(done, "unchanged")
    assert [(one.number, one.state) for one in asked] == [(1, "open"), (1, "open")]
    assert [one.title for one in story.target.pulls("open")] == ["Add acme/atlas-7b (bfloat16): 58.33"]
    assert not story.source.comments
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_push_to_the_bots_request_at_github_is_named_in_its_text(
    github: GitHubServer, tmp_path: Path, is_lost: bool
) -> None:
    story = GitHubStory(github, tmp_path)
    story.source.git.push("heads/main", {path_of(): result()}, "Results", "ann")
    story.settle()
    [request] = story.target.issues.values()
    pushed = story.target.git.push(f"heads/{request.head}", {"NOTES.md": b"mine"}, "Notes", "ann")
    if is_lost:
        story.lose_state()
    else:
        story.state.remember(SWEPT, None)
    story.settle()
    assert f"**Others pushed to this request:** `{pushed[:12]}` by `ann`." in request.body
    story.end()


def test_a_target_at_github_that_is_renamed_under_a_running_bot_is_named_and_nothing_is_proposed(
    github: GitHubServer, tmp_path: Path
) -> None:
    story = GitHubStory(github, tmp_path)
    story.source.git.push("heads/main", {path_of(): result()}, "Results", "ann")
    story.settle()
    github.state.close(TARGET, 1)
    story.settle()
    moved = github.state.repos["acme/board"] = github.state.repos.pop(TARGET)
    moved.name, moved.issues[1].head_repo, github.state.moved[TARGET] = "acme/board", "acme/board", "acme/board"
    story.state.remember(SWEPT, None)
    texts = [one.text for one in (*story.settle(), *story.settle()) if one.outcome == "failed"]

    why = "github://acme/contents was renamed to github://acme/board: write the new name into the settings"
    assert set(texts) == {f"GitHub refused: {why}"}
    assert len(moved.issues) == 1
    story.contexts.store.close()
