"""What strangers can cost: many open reviews, many commands, and files as large and as full as they may be."""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.service.review.reviews import SHORT_LIST
from bot.service.store.items import Mark
from bot.service.talk import commands
from bot.service.waits import REVIEWS_EVERY
from tests.service.passes import settle
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.mark.campaign
def test_150_reviews_and_200_commands_of_strangers_are_bounded(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    requests = [
        hub.open_request(story.source, {f"m{n}/results_1.json": result(f"acme/m{n}")}, "x", "", f"eve{n % 15}")[0]
        for n in range(150)
    ]
    for n in range(200):
        hub.comment(story.source, requests[0], "/recheck", f"eve{n % 4}")
    story.push()
    story.settle()

    answers = [text for text in requests[0].comments("bot") if '"kind": "reply"' in text]
    assert len(answers) == 4 * commands.COMMANDS_OF_ONE
    assert all('"kind": "verdict"' in request.comments("bot")[-1] for request in requests)
    assert story.acts().count("comment") == 150 + len(answers)

    story.settle()
    before = len(hub.calls)
    story.settle()
    assert len(hub.calls) - before <= 150 / 10 + 20  # the list has 10 requests a page here, 50 on the Hub
    assert story.acts() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["results_1.json"])
def test_files_full_of_rows_stay_small_in_memory(hub: Hub, tmp_path: Path, name: str) -> None:
    story = Story(hub, tmp_path)
    rows = ",".join(f'"t{n}":{{"acc,none":0}}' for n in range(330_000))
    full = f'{{"results":{{{rows}}}}}'.encode()
    assert 7_000_000 < len(full) <= 8 * 2**20
    request, _ = hub.open_request(story.source, {f"h{n}/{name}": full for n in range(8)}, "x", "", "eve")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    story.push(path=path_of())
    story.settle()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert len(request.comments("bot")) == 1
    assert len(story.requests) == 1
    assert after - before < 400 * 1024
    assert sorted(story.acts()) == ["comment", "request"]
    story.end()


def lists_asked(hub: Hub) -> int:
    return len([call for call in hub.calls if call.raw_path.endswith("/discussions")])


@pytest.mark.slow
def test_a_long_list_of_requests_is_read_now_and_then_not_in_each_pass(hub: Hub, tmp_path: Path) -> None:
    story, now = Story(hub, tmp_path), time.time()
    for n in range(SHORT_LIST + 1):
        hub.open_request(story.source, {"a.txt": b"1"}, "Nothing to judge", "", f"eve{n}")

    def settle_at(seconds: float, *, everything: bool = False) -> bool:
        """Whether a pass at that moment reads the list to its end: six pages."""
        context = replace(story.contexts.open_context(story.watch), clock=lambda: now + seconds)
        before = lists_asked(hub)
        settle(context, everything=everything)
        return lists_asked(hub) - before >= 6

    assert settle_at(0, everything=True)
    request, _ = hub.open_request(story.source, {path_of("a/b"): result("a/b")}, "Add", "", "zoe")
    assert not settle_at(REVIEWS_EVERY - 1)
    assert request.comments("bot") == []
    assert settle_at(REVIEWS_EVERY + 1)
    assert len(request.comments("bot")) == 1
    assert not settle_at(REVIEWS_EVERY + 2)
    assert settle_at(REVIEWS_EVERY + 2, everything=True)
    story.state.items.mark([Mark("reviews")], now + REVIEWS_EVERY + 3)
    assert settle_at(REVIEWS_EVERY + 3)
    assert story.acts() == ["comment"]
    story.end()
