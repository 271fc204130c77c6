"""A Hub that takes long over a commit: the answer comes after we gave up waiting, and still nothing stands twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.net import TIMEOUT, UNKNOWN_FATE
from bot.service.waits import SWEEP_EVERY
from tests.service.passes import settle
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result


@dataclass(frozen=True)
class Pace:
    """Seconds that the Hub takes over a write, that we wait for its answer, and that we look for it afterwards."""

    delay: float
    timeout: float
    looks: float


PACES = [
    pytest.param(Pace(delay=2.5, timeout=1.0, looks=60.0), id="scaled"),
    pytest.param(Pace(40.0, TIMEOUT, UNKNOWN_FATE), id="40 s", marks=pytest.mark.campaign),
]


def slow(story: Story, pace: Pace, path: str) -> Callable[[], int]:
    """Let writes to this path take long; gives how many came."""
    client = HubPlatform.client(story.contexts.opener)
    client.timeout, client.unknown_fate, client.look_in_line, client.pause = pace.timeout, pace.looks, pace.looks, 0.1
    story.hub.faults.order(path, method="POST", delay=pace.delay, times=-1)
    calls = story.hub.calls
    return lambda: sum(call.method == "POST" and path.rstrip("$") in call.raw_path for call in calls)


@pytest.mark.slow
@pytest.mark.parametrize("pace", PACES)
def test_a_request_of_which_the_commit_takes_40_s_is_opened_once(hub: Hub, tmp_path: Path, pace: Pace) -> None:
    story = Story(hub, tmp_path)
    commits = slow(story, pace, "/commit/")
    story.push()
    outcomes = story.settle()

    assert [one.outcome for one in outcomes] == ["proposed"]
    assert [request.title for request in story.requests] == ["Add acme/atlas-7b (bfloat16): 58.33"]
    assert story.acts() == ["request"]
    story.settle()
    assert commits() == 1
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("pace", PACES[:1])
def test_rows_of_which_the_commit_takes_long_are_written_once(hub: Hub, tmp_path: Path, pace: Pace) -> None:
    story = Story(hub, tmp_path, form="commit")
    commits = slow(story, pace, "/commit/")
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(3)})
    outcomes = story.settle()

    assert [one.outcome for one in outcomes] == ["written", "written"]
    assert story.acts() == ["commit", "commit"]  # the rows, and the board made of them
    assert commits() == 2
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("pace", PACES[:1])
def test_comments_and_discussions_that_take_long_are_posted_once(hub: Hub, tmp_path: Path, pace: Pace) -> None:
    story = Story(hub, tmp_path, form="comment")
    posts = slow(story, pace, "/discussions")
    story.push()
    story.push(model="acme/borea-1b", right=(50, 60, 170))
    outcomes = story.settle()

    assert [one for one in outcomes if one.outcome == "failed"] == []
    assert sorted(story.acts()) == ["comment", "discussion", "discussion"]
    assert posts() == 3
    story.end()


@pytest.mark.slow
def test_a_commit_that_outlasts_every_look_leaves_one_request_after_the_next_sweep(hub: Hub, tmp_path: Path) -> None:
    story, answers = Story(hub, tmp_path), threading.Event()
    commits = slow(story, Pace(delay=0.0, timeout=0.6, looks=0.2), "/commit/")
    # Not a delay: on a machine that stalls for as long, a look would find the commit.
    hub.faults.ordered[0].before = lambda: answers.wait(60)
    story.push()
    story.settle()
    sent, end = commits(), time.monotonic() + 60
    hub.faults.ordered.clear()
    answers.set()
    HubPlatform.client(story.contexts.opener).timeout = TIMEOUT
    while len(hub.talk(story.target).all) < sent and time.monotonic() < end:
        time.sleep(0.05)  # every one of them lands in the end
    context = story.contexts.open_context(story.watch)
    context.clock = lambda: time.time() + SWEEP_EVERY
    settle(context)

    assert sent > 1
    assert [request.num for request in story.requests] == [1]
    story.news()
    story.contexts.store.close()
