"""The bot has another account than before: what the former one wrote is the bot's, and nothing is posted twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.service.settings.config import parse_settings
from tests.platforms.github.fixtures import github
from tests.service.github_stories import SETTINGS, GitHubStory
from tests.service.stories import STATES, Story
from tests.service.table_stories import said
from tests.service.test_ledger import ledger, settle
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import path_of, result

__all__ = ["github"]
BAD = (50, 60, 170)


def change_account(story: Story, *, is_lost: bool) -> None:
    story.token = story.hub.person("robot")
    story.hub.writers.add(("robot", "acme/contents"))
    story.more = 'former_accounts = ["bot"]'
    if is_lost:
        story.lose_state()
    else:
        story.contexts.store.close()
        story.contexts = story.open_context_factory()
    story.contexts.take(parse_settings(story.text, "bot.toml"))


@STATES
@pytest.mark.parametrize("style", one_of(["entry", "rolling"]))
def test_open_requests_of_a_former_account_are_not_doubled(hub: Hub, tmp_path: Path, style: str, is_lost: bool) -> None:
    story = Story(hub, tmp_path, style=style)
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(4)})
    story.settle()
    count = len(story.requests)
    change_account(story, is_lost=is_lost)
    done = settle(story)
    assert (len(story.requests), hub.by("robot")) == (count, [])
    assert ledger(done) == "4 accepted: 0 on main, 4 open, 0 held, 0 declined, 0 unexplained"

    story.push(model="acme/m1", right=(60, 60, 70))
    assert said(story.settle(), "failed") == []
    assert len(story.requests) == count
    assert hub.by("robot", "request") == []
    assert style == "rolling" or any("61.67" in request.title for request in story.requests)
    story.contexts.store.close()


@STATES
def test_a_row_that_was_closed_stays_closed_under_another_account(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    hub.set_status(story.target, story.requests[0], "closed", "ann")
    change_account(story, is_lost=is_lost)
    done = settle(story)
    assert ledger(done) == "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    assert hub.by("robot") == []
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_comment_of_a_former_account_is_replaced_once(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path, form="comment")
    story.push()
    story.push(model="acme/m1")
    story.settle()
    change_account(story, is_lost=is_lost)
    story.settle()
    assert hub.by("robot") == []
    story.push(right=(60, 60, 70))
    for _ in range(2):
        assert said(story.settle(), "failed") == []
    assert [posted.act for posted in hub.by("robot")] == ["comment"]
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_folder_s_discussion_of_a_former_account_goes_on(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.push(model="acme/borea-1b", right=BAD)
    story.settle()
    change_account(story, is_lost=is_lost)
    story.settle()
    assert hub.by("robot") == []
    story.push(model="acme/borea-1b")
    assert said(story.settle(), "failed") == []
    assert story.discussions == []
    assert [posted.act for posted in hub.by("robot")] == ["request", "comment", "closed"]
    story.contexts.store.close()


@STATES
def test_a_former_account_of_github(tmp_path: Path, github: GitHubServer, is_lost: bool) -> None:
    story = GitHubStory(github, tmp_path)
    story.source.git.push("heads/main", {path_of(): result()}, "Results", "ann")
    story.settle()
    former = story.login
    github.state.add_account("robot-token", "robot")
    story.token, story.maintainers = "robot-token", f'["meg"]\nformer_accounts = ["{former}"]'
    story.contexts.store.close()
    story.contexts = story.open_contexts()
    if is_lost:
        story.lose_state()
    story.contexts.take(parse_settings(SETTINGS.format(maintainers=story.maintainers), "bot.toml"))
    before = len(story.target.issues)
    assert [one.text for one in story.settle() if one.outcome == "failed"] == []
    assert len(story.target.issues) == before == 1
    story.contexts.store.close()
