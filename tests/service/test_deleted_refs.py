"""A person closes the bot's request and deletes its ref on the Hub: what was declined stays declined."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.service.watch.outcome import Outcome
from tests.service.model_stories import ModelStory
from tests.service.stories import STATES, Story
from tests.service.table_stories import TableStory
from tests.variants import crossed, one_of
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import path_of

LATER = path_of(time="2026-03-03T10-00-00.000000")
KINDS: dict[str, Callable[..., Story]] = {
    "entries": Story,
    "rolling": partial(Story, style="rolling"),
    "table": TableStory,
    "model pages": ModelStory,
}


def begun(kind: str, hub: Hub, folder: Path) -> Any:
    """A story whose first request a person closed, and that saw so."""
    story: Any = KINDS[kind](hub, folder)
    story.push()
    if isinstance(story, ModelStory):
        story.approve()
    else:
        story.settle()
    [request] = story.requests
    hub.set_status(place(story), request, "closed", "meg")
    story.settle()
    hub.delete_ref(place(story), request)
    story.acts()
    return story


def place(story: Any) -> Any:
    return story.model if isinstance(story, ModelStory) else story.target


def requests(story: Any) -> list[Discussion]:
    return [one for _, one in sorted(story.hub.talk(place(story)).all.items()) if one.pull_request]


def forget_rows(request: Discussion) -> None:
    """The text of a request without the rows that its mark says, as that of thousands of rows."""
    said = next(event["data"]["latest"] for event in request.events if event["type"] == "comment")
    said["raw"] = re.sub(r', "rows": "[0-9a-f]+"', "", said["raw"])


def settled(story: Any) -> list[Outcome]:
    """What three passes say."""
    found: list[Outcome] = []
    for _ in range(3):
        found += story.settle()
    return found


@crossed(kind=KINDS, is_lost=[True, False])
def test_a_declined_row_is_not_proposed_again(kind: str, is_lost: bool, hub: Hub, tmp_path: Path) -> None:
    story = begun(kind, hub, tmp_path)
    if is_lost:
        story.lose_state()
    settled(story)
    assert [one.status for one in requests(story)] == ["closed"]
    assert story.acts() == []

    story.push(path=LATER, right=(61, 60, 70), date=1_790_000_100.0)  # another number is another row
    settled(story)
    assert [one.status for one in requests(story)] == ["closed", "open"]


@STATES
def test_the_same_cells_of_another_file_are_still_declined_in_a_table(is_lost: bool, hub: Hub, tmp_path: Path) -> None:
    story = begun("table", hub, tmp_path)
    if is_lost:
        story.lose_state()
    story.push(path=LATER, date=1_790_000_100.0)
    settled(story)
    assert [one.status for one in requests(story)] == ["closed"]


@pytest.mark.parametrize("kind", one_of(KINDS))
def test_what_nobody_can_read_counts_as_declined_until_it_changes(kind: str, hub: Hub, tmp_path: Path) -> None:
    """The state is lost, the ref is deleted, and the hidden line of the text says no rows, as of one of thousands."""
    story = begun(kind, hub, tmp_path)
    [request] = requests(story)
    forget_rows(request)
    story.lose_state()
    settled(story)
    assert [one.status for one in requests(story)] == ["closed"]

    story.push(path=LATER, right=(61, 60, 70), date=1_790_000_100.0)
    settled(story)
    assert [one.status for one in requests(story)] == ["closed", "open"]


def test_another_row_of_a_shared_request_that_nobody_can_read_is_proposed(hub: Hub, tmp_path: Path) -> None:
    story = begun("rolling", hub, tmp_path)
    [request] = requests(story)
    forget_rows(request)
    story.lose_state()
    settled(story)
    story.push(model="acme/borea-1b")
    settled(story)
    assert [one.status for one in requests(story)] == ["closed", "open"]


def test_the_page_of_a_model_says_why(hub: Hub, tmp_path: Path) -> None:
    story = begun("model pages", hub, tmp_path)
    story.lose_state()
    said = [one.text for one in settled(story) if one.outcome == "unchanged"]
    assert any("closed a request with these values" in text for text in said), said
    assert not any("more than one request" in text for text in said)
