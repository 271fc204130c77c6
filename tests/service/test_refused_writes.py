"""A write that a service refuses, or of which nobody knows the fate, makes nothing else wait."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.net import BUDGETS, LOOK_IN_LINE, QUOTA_WAIT
from tests.service.stories import STATES, Story
from tests.service.table_stories import said
from tests.service.worker_processes import push_rows
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


def test_a_quota_for_commits_is_met_once_and_every_row_says_until_when_it_waits(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"error": "You have exceeded our hourly quotas for action: commit. We invite you to retry later."}'
    plenty = {"RateLimit": '"api";r=900;t=200', "Content-Type": "application/json"}
    fault = story.hub.faults.order("/commit/", method="POST", status=429, times=-1, body=body, headers=plenty)
    push_rows(story, 4)
    outcomes = story.settle()
    assert fault.times == -2
    assert len(said(outcomes, "failed")) == 4
    [line] = {text.partition(": ")[2] for text in said(outcomes, "failed")}
    assert re.match(
        r"commits wait until \d\d:\d\d UTC, because it said: 429: You have exceeded our hourly quotas", line
    )
    assert all(item.due > time.time() + QUOTA_WAIT - 60 for item in story.state.items.all() if item.kind == "row")

    fault.times, now = 0, time.monotonic()
    monkeypatch.setattr(BUDGETS, "clock", lambda: now + QUOTA_WAIT)
    story.settle()
    assert story.acts() == ["request"] * 4


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
