"""A write that a service refuses, or of which nobody knows the fate, makes nothing else wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.net import LOOK_IN_LINE
from tests.service.stories import STATES, Story
from tests.service.table_stories import said
from tests.world.hub import Hub

BAD = (50, 60, 170)


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    yield (story := Story(hub, tmp_path))
    story.contexts.store.close()


def time_as_in_use(story: Story) -> list[float]:
    """Let a write be unknown for a minute, as in use; the waits are recorded, and none is waited for."""
    waits: list[float] = []
    client = HubPlatform.client(story.contexts.opener)
    client.unknown_fate, client.sleep = 60.0, waits.append
    return waits


def test_a_refused_discussion_stops_no_sound_row(story: Story) -> None:
    waits = time_as_in_use(story)
    fault = story.hub.faults.order("acme/results/discussions", status=503, times=-1, method="POST")
    story.push(model="acme/borea-1b", right=BAD)
    story.push()
    outcomes = story.settle()

    assert story.acts() == ["request"]
    assert [text for text in said(outcomes, "failed") if "503" in text] == said(outcomes, "failed") != []
    assert sum(waits) <= 2 * LOOK_IN_LINE
    [item] = [item for item in story.state.items.all() if item.kind == "folder"]
    assert (item.attempts, "503" in item.reason) == (1, True)

    outcomes = story.settle()  # it may still show: it is not sent again yet
    assert fault.times == -2
    assert "may still show" in " ".join(said(outcomes, "failed"))


@STATES
def test_a_discussion_that_shows_late_is_not_opened_twice(story: Story, is_lost: bool) -> None:
    time_as_in_use(story)
    story.hub.faults.order("acme/results/discussions", status=503, method="POST", landed=True)
    gone = story.hub.faults.order("acme/results/discussions", status=503, method="GET", times=12)
    story.push(model="acme/borea-1b", right=BAD)
    story.settle()
    gone.times = 0
    if is_lost:
        story.lose_state()
    story.settle()
    assert [row.title for row in story.discussions] == ["Results in acme__borea-1b were rejected"]


def test_a_write_that_never_landed_is_sent_again_when_its_time_is_over(story: Story) -> None:
    fault = story.hub.faults.order("/commit/", status=503, times=-1)
    story.push()
    assert said(story.settle(), "failed") != []
    fault.times = 0
    story.settle()
    assert story.acts() == ["request"]
