"""A discussion that was deleted, or that strangers made too long to be read, stops itself alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.platforms.hub import client
from tests.service.stories import Story
from tests.world.discussions import Discussion
from tests.world.git import Repository
from tests.world.hub import Hub

BAD = (50, 60, 170)
IGNORE = "/ignore value-out-of-range until 2099-01-01 because the meter was off"


def delete(hub: Hub, repository: Repository, row: Discussion) -> None:
    """What the Hub does with spam: it lists the discussion no more, and answers 404; its number is not given again."""
    talk = hub.talk(repository)
    del talk._group(row)[row.num]
    talk.all[row.num] = None  # type: ignore[assignment]


def fill(hub: Hub, repository: Repository, row: Discussion) -> None:
    for _ in range(40):
        hub.talk(repository).comment(row, "x" * 60_000, "eve")


@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "too long"])
def test_one_request_that_cannot_be_read_stops_no_other_row(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_deleted: bool
) -> None:
    monkeypatch.setattr(client, "MOST_JSON", 2_000_000)
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    [request] = story.requests
    if is_deleted:
        delete(hub, story.target, request)
    else:
        fill(hub, story.target, request)
        hub.set_status(story.target, request, "closed", "acme")
    story.push(model="acme/borea-1b")
    story.settle()

    assert "Add acme/borea-1b (bfloat16): 58.33" in [one.title for one in story.requests]
    story.contexts.store.close()


def test_a_long_discussion_of_a_stranger_hides_no_waiver_given_elsewhere(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(client, "MOST_JSON", 2_000_000)
    story = Story(hub, tmp_path)
    story.push(right=BAD)
    story.settle()
    hub.comment(story.source, story.discussions[0], IGNORE, "meg")
    story.settle()
    assert len(story.requests) == 1
    fill(hub, story.source, hub.open_discussion(story.source, "Question", "Why?", "eve"))
    story.lose_state()
    story.news()
    story.settle()

    assert story.acts() == []
    assert "waivers given there are not known: the Hub refused: hf://datasets/acme/results #2:" in caplog.text
    story.end()


def test_half_a_character_in_a_command_stops_no_later_one(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, style="rolling")
    story.push()
    story.settle()
    [request] = story.requests
    hub.comment(story.target, request, "/decline \ud800", "meg")
    hub.comment(story.target, request, "/merge", "meg")
    story.settle()

    assert request.comments("bot")[1].startswith("There is no row `?` of this source.")
    assert request.status == "merged"
    story.contexts.store.close()


def test_a_comment_of_a_deleted_account_stops_no_command(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    [request] = story.requests
    event = hub.comment(story.target, request, "/merge", "gone")
    event["author"] = event["data"]["latest"]["author"] = None
    hub.comment(story.target, request, "/merge", "meg")
    assert [one for one in story.settle() if one.outcome == "failed"] == []
    assert request.status == "merged"
    story.contexts.store.close()
