"""The process ends right after a write, each write in turn: tables and model pages end as undisturbed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bot.platforms.hub.platform import HubPlatform
from tests.service.model_stories import ModelStory
from tests.service.stories import Story
from tests.service.table_stories import BETTER, TableStory
from tests.service.test_crashes import another_bound, parts, push, repeated_marks
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import path_of
from tests.world.server import served

Step = Callable[[Any], object]
READS = ("/paths-info/", "/preupload/")  # of the Hub, although they are posted
BOREA, CORVUS, LAST = "acme/borea-1b", "acme/corvus-2b", (61, 60, 70)
PASSES = 8  # until nothing is to be done


class Killed(BaseException):
    """The process ends here."""


def decide(status: str, place: str = "target") -> Step:
    """What a person does to all requests that are open."""

    def step(story: Any) -> None:
        repository: Repository = getattr(story, place)
        for request in [one for one in story.hub.requests(repository) if one.status == "open"]:
            if status == "merged":
                story.hub.merge(repository, request)
            else:
                story.hub.set_status(repository, request, status, "ann")

    return step


def edit(old: bytes, new: bytes) -> Step:
    """What a person changes in the table on main."""
    return lambda story: story.hub.push(story.target, {"board.csv": story.board().replace(old, new)})


MERGE, CLOSE = decide("merged"), decide("closed")
TABLE: list[Step] = [
    push(), push(model=BOREA), edit(b"hera,1.5E1", b"hera,1.6E1"), MERGE, push(right=BETTER), MERGE,
    edit(b"acme/borea-1b,58.33,\r\n", b""), push(model=CORVUS), CLOSE, push(model=CORVUS, right=BETTER), MERGE,
    lambda story: story.remove(path_of(BOREA)), another_bound, MERGE, lambda story: story.remove(), MERGE,
]  # fmt: skip
MODEL: list[Step] = [
    push(), lambda story: story.approve(), push(right=BETTER), decide("merged", "model"), push(right=LAST),
    decide("closed", "model"), push(right=(62, 60, 70)), decide("merged", "model"), another_bound,
    lambda story: story.remove(), decide("merged", "model"),
]  # fmt: skip


class Writes:
    """Counts the writes of a process, and ends it after one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        send = httpx2.Client.send

        def counted(client: httpx2.Client, request: httpx2.Request, **how: Any) -> httpx2.Response:
            answer = send(client, request, **how)
            if request.method not in {"GET", "HEAD"} and not any(word in request.url.path for word in READS):
                self.left -= 1
                if self.left == 0:
                    raise Killed
            return answer

        monkeypatch.setattr(httpx2.Client, "send", counted)


def settle_until_done(story: Story) -> None:
    for _ in range(PASSES):
        HubPlatform.client(story.contexts.opener).timeout = 0.5  # so long a write of a killed process may still show
        before = len(story.hub.by("bot"))
        is_failing = any(one.outcome == "failed" for one in story.settle())
        if len(story.hub.by("bot")) == before and not is_failing:
            return
        time.sleep(0.7 if is_failing else 0)
    raise AssertionError("it does not come to an end")


def told(
    make: Callable[[Hub, Path], Story], steps: Sequence[Step], folder: Path, writes: Writes, kill: tuple[int, int]
) -> list[list[str]] | None:
    """All that readers see after each step; None where the step of `kill` has fewer writes than that, 0 for no kill."""
    at, nth = kill
    folder.mkdir()
    seen = []
    with served(Hub()) as hub:
        story = make(hub, folder)
        for number, step in enumerate(steps):
            writes.left = nth if number == at else 0
            try:
                step(story)
                settle_until_done(story)
                if number == at and nth:
                    return None
            except Killed:
                story.contexts.store.close()
                story.contexts = story.open_context_factory()
                settle_until_done(story)
            places = [one for name in ("target", "model") if (one := getattr(story, name, None)) is not None]
            assert [mark for one in places if story.hub.talk(one).all for mark in repeated_marks(hub, one)] == []
            shown = [part for one in places for part in parts(hub, one)]
            seen.append([re.sub(r"\b[0-9a-f]{64}\b", "<sha>", part) for part in shown])
        story.contexts.store.close()
    return seen


KINDS: dict[str, tuple[Callable[[Hub, Path], Story], list[Step]]] = {
    "a table by requests": (TableStory, TABLE),
    "a table by commits": (partial(TableStory, form="commit"), TABLE),
    "model pages": (ModelStory, MODEL),
}


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_after_any_write_changes_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, steps = KINDS[kind]
    writes = Writes(monkeypatch)
    calm = told(make, steps, tmp_path / "calm", writes, (0, 0))
    killed = 0
    for at in range(len(steps)):
        for nth in count(1):
            rough = told(make, steps, tmp_path / f"{at}-{nth}", writes, (at, nth))
            if rough is None:
                break
            assert rough == calm, (at, nth)
            killed += 1
    assert killed >= 6
