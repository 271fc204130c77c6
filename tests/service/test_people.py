"""Random acts of people at source and target: at the end every row is explained, and nothing removed came back.

The same acts are played twice: once with the state kept, once with the state lost after every third act and with kills.
Both must come to the same rows on main, the same open requests and the same ledger, whenever they settle. In commit
form nobody takes a row from main: with a lost state that cannot be told from a first filling, as docs/hub.md says.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import multiprocessing
import os
import random
import re
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.errors import BotError
from bot.service.store.memory import SWEPT
from bot.service.store.tables import intents
from bot.service.watch.outcome import WatchPass
from bot.service.watch.passes import settle_watches
from tests.service.crash_worker import work
from tests.service.stories import Story
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import path_of, revision_of
from tests.world.routes_talk import merged_changes
from tests.world.server import served

MODELS = [f"acme/m{number}" for number in range(9)]
VALUES = [(50, 60, 70), (60, 60, 70), (55, 65, 75), (10, 20, 30)]
BAD = (50, 60, 170)
TRIES = 12
log = logging.getLogger(__name__)


@dataclass
class Town:
    """One story, and what people took away: rows that must not come back as they were, by model.

    `settled` has what was there whenever the bot had settled, by the act before.
    """

    story: Story
    removed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    settled: dict[str, object] = field(default_factory=dict)

    def take_away(self, model: str, data: bytes | None) -> None:
        self.removed[model].add(repr(self.numbers(data)))

    def came_back(self) -> list[str]:
        """The rows on main, and in open requests, that people took away as they are."""
        found = {(model, repr(self.numbers(self.row(model)))) for model in MODELS}
        for model in MODELS:
            request = self.request_of(model)
            data = self.hub.file(self.story.target, self.path(model), request.ref) if request is not None else None
            found.add((model, repr(self.numbers(data))))
        return sorted(model for model, numbers in found if numbers in self.removed[model])

    @property
    def hub(self) -> Hub:
        return self.story.hub

    def path(self, model: str) -> str:
        return f"entries/tiny/{model}/{revision_of(model)}-bfloat16.json"

    def request_of(self, model: str, status: str = "open") -> Discussion | None:
        found = self.hub.requests(self.story.target, "all", "bot")
        mine = [one for one in found if one.status == status and f"{model} " in one.title]
        return mine[-1] if mine else None

    def conflicts(self, request: Discussion) -> list[str]:
        return merged_changes(self.story.target, request).conflicts

    def row(self, model: str) -> bytes | None:
        return self.hub.file(self.story.target, self.path(model))

    def numbers(self, data: bytes | None) -> object:
        """What makes a row the same: its numbers and its files."""
        entry = json.loads(data) if data else {}
        files = [file["sha256"] for file in entry.get("evidence", [])]
        return entry.get("average"), sorted(files)


Act = Callable[[Town, str, random.Random], object]


def push(town: Town, model: str, luck: random.Random) -> None:
    town.story.push(model=model, right=luck.choice(VALUES))


def push_bad(town: Town, model: str, luck: random.Random) -> None:
    del luck
    town.story.push(model=model, right=BAD)


def delete(town: Town, model: str, luck: random.Random) -> None:
    del luck
    if town.hub.file(town.story.source, path_of(model)) is not None:
        town.story.remove(path_of(model))


def rename(town: Town, model: str, luck: random.Random) -> None:
    """The file moves to another folder of the source, and back with the next push."""
    data = town.hub.file(town.story.source, path_of(model))
    if data is not None:
        luck.random()
        town.hub.push(town.story.source, {path_of(model): None, f"old/{path_of(model)}": data}, "Move")


def rewrite_source(town: Town, model: str, luck: random.Random) -> None:
    del model, luck
    town.story.source.squash()


def merge(town: Town, model: str, luck: random.Random) -> None:
    """A request that does not merge before the next pass stays as it is."""
    del luck
    request = town.request_of(model)
    if request is not None and not town.conflicts(request):
        town.removed.pop(model, None)
        town.hub.merge(town.story.target, request)


def close(town: Town, model: str, luck: random.Random) -> None:
    del luck
    request = town.request_of(model)
    if request is not None:
        town.take_away(model, town.hub.file(town.story.target, town.path(model), request.ref))
        town.hub.set_status(town.story.target, request, "closed", "ann")


def reopen(town: Town, model: str, luck: random.Random) -> None:
    del luck
    request = town.request_of(model, "closed")
    if request is not None and town.request_of(model) is None:
        town.removed.pop(model, None)
        town.hub.set_status(town.story.target, request, "open", "ann")


def remove_row(town: Town, model: str, luck: random.Random) -> None:
    del luck
    row = town.row(model)
    if row is not None:
        town.take_away(model, row)
        town.hub.push(town.story.target, {town.path(model): None}, "Not this one", user="ann")


def edit_row(town: Town, model: str, luck: random.Random) -> None:
    row = town.row(model)
    if row is not None:
        better = json.loads(row) | {"average": luck.choice([98.0, 99.0])}
        town.hub.push(town.story.target, {town.path(model): json.dumps(better).encode()}, "Better", user="ann")


def push_to_request(town: Town, model: str, luck: random.Random) -> None:
    del luck
    request = town.request_of(model)
    if request is not None:
        town.hub.push(town.story.target, {"NOTES.md": b"mine"}, "Notes", user="ann", ref=request.ref)


def force_push(town: Town, model: str, luck: random.Random) -> None:
    """Main goes back by some commits, and what was taken away since may be there again."""
    del model
    town.removed.clear()
    history = list(town.story.target.main.history())
    town.story.target.refs["refs/heads/main"] = history[min(luck.randint(1, 3), len(history) - 1)]


def make_again(town: Town, model: str, luck: random.Random) -> None:
    """The target is deleted and made again; what was removed there may come back to a new target."""
    del model, luck
    town.removed.clear()
    town.hub.delete(town.story.target)
    town.story.target = town.hub.repository("acme/contents")


def rename_target(town: Town, model: str, luck: random.Random) -> None:
    """The target has another name for one pass."""
    del model, luck
    town.hub.rename(town.story.target, "acme/elsewhere", redirects=True)
    with suppress(BotError):
        town.story.settle()
    town.hub.moved.clear()
    town.hub.rename(town.story.target, "acme/contents")


def answer_plan(town: Town, model: str, luck: random.Random) -> None:
    """A maintainer answers the plan that is held."""
    del model
    word = luck.choice(["approve", "decline", "restore", "drop"])
    for row in town.hub.conversations(town.story.target):
        offered = re.findall(rf"/{word} [0-9a-f]{{12,}}", "\n".join(row.comments("bot")))
        if offered:
            town.removed.clear()
            town.hub.comment(town.story.target, row, offered[-1], "meg")


ANYWHERE: list[tuple[int, Act]] = [
    (30, push),
    (6, push_bad),
    (6, delete),
    (4, rename),
    (2, rewrite_source),
    (5, edit_row),
    (8, answer_plan),
    (1, rename_target),
]
WITH_REQUESTS: list[tuple[int, Act]] = [
    *ANYWHERE,
    (20, merge),
    (8, close),
    (5, reopen),
    (4, remove_row),
    (4, push_to_request),
    (2, force_push),
    (1, make_again),
]
ACTS = {"pull-request": WITH_REQUESTS, "commit": [*ANYWHERE, (1, make_again)]}


def settle(town: Town) -> WatchPass:
    """Settle as on another day, until a pass fails in nothing and says nothing new."""
    story, before = town.story, ""
    for _ in range(TRIES):
        story.state.remember(SWEPT, None)
        with suppress(BotError):
            [done] = settle_watches(story.contexts, [story.watch])
            now = repr((state_of(town), done.ledgers))
            if now == before and all(one.outcome != "failed" for one in done.outcomes):
                opened = town.hub.requests(town.story.target, "open", "bot")
                assert [one.title for one in opened if town.conflicts(one)] == []
                return done
            before = now
    raise AssertionError([one.text for one in done.outcomes])


def state_of(town: Town) -> dict[str, object]:
    """The rows on main and the open requests, by what makes them the same."""
    target = town.story.target
    rows = {path: town.numbers(blob.data) for path, blob in target.main.tree.files() if path.startswith("entries/")}
    requests, merged = {}, {commit.oid for commit in target.main.history()}
    for one in town.hub.requests(target, "open", "bot"):
        head = target.refs[one.ref]
        fork = next((commit for commit in head.history() if commit.oid in merged), target.main)
        before = {path: blob.oid for path, blob in fork.tree.files()}
        changed = {path: blob for path, blob in head.tree.files() if before.get(path) != blob.oid}
        new = {path: town.numbers(blob.data) for path, blob in changed.items() if path.startswith("entries/")}
        requests[one.title] = sorted(new.items(), key=repr)
    return {"main": rows, "open": sorted(requests.items(), key=repr)}


@contextmanager
def played(folder: Path, form: str, seed: int, acts: int, *, is_rough: bool) -> Iterator[tuple[Town, WatchPass]]:
    """The acts of one seed, with the state kept, or lost and killed now and then."""
    folder.mkdir()
    with served(Hub()) as hub:
        town = Town(Story(hub, folder, form=form))
        luck, rough = random.Random(seed), random.Random(seed + 1)
        weights = [weight for weight, _ in ACTS[form]]
        counts: Counter[str] = Counter()
        for number in range(acts):
            [(_, act)] = luck.choices(ACTS[form], weights)
            model, own = luck.choice(MODELS), random.Random(luck.random())
            act(town, model, own)
            counts[act.__name__] += 1
            if luck.random() < 0.5:
                if is_rough and rough.random() < 0.2:
                    kill_one(town.story, rough)
                settle(town)
                town.settled[f"{number} {act.__name__} {model}"] = state_of(town)
                if is_rough and number % 3 == 0:
                    town.story.lose_state()
        done = settle(town)
        log.info("%s, seed %d: %s; %s", form, seed, dict(counts), [one.line for one in done.ledgers])
        yield town, done
        town.story.contexts.store.close()


def kill_one(story: Story, luck: random.Random) -> None:
    """A bot begins to settle, and is killed."""
    story.contexts.store.close()
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=work, args=(story.folder, story.hub.url, story.token, story.watch), daemon=True)
    process.start()
    time.sleep(luck.uniform(0.02, 0.6))
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    story.contexts = story.open_context_factory()
    with story.contexts.store.transaction() as connection:
        connection.execute(intents.delete())  # a minute later: what was being sent has arrived, or never will


def check(folder: Path, form: str, seed: int, acts: int) -> None:
    with (
        played(folder / "kept", form, seed, acts, is_rough=False) as (kept, done),
        played(folder / "lost", form, seed, acts, is_rough=True) as (lost, again),
    ):
        assert [one.unexplained for one in done.ledgers] == [{}]
        assert (kept.came_back(), lost.came_back()) == ([], [])
        assert [act for act, there in kept.settled.items() if lost.settled[act] != there][:1] == []
        assert state_of(lost) == state_of(kept)
        assert [one.line for one in again.ledgers] == [one.line for one in done.ledgers]


def interrupted(folder: Path, form: str, seed: int, moment: float) -> tuple[object, int]:
    """What twelve acts come to of which the last falls into a pass, at its request `moment`; and how many it makes."""
    folder.mkdir()
    luck, count = random.Random(seed), itertools.count()
    drawn = luck.choices([act for _, act in ACTS[form]], [weight for weight, _ in ACTS[form]], k=11)
    acts = [
        (act, luck.choice(MODELS), luck.random())
        for act in [*drawn, luck.choice([act for _, act in ACTS[form] if act is not rename_target])]
    ]
    with served(Hub()) as hub:
        town = Town(Story(hub, folder, form=form))

        def play(act: Act, model: str, own: float) -> None:
            act(town, model, random.Random(own))

        for number, one in enumerate(acts[:-1]):
            play(*one)
            if number < 8 and luck.random() < 0.5:
                settle(town)
        hub.faults.order("", times=-1, before=lambda: next(count) == moment and play(*acts[-1]))
        with suppress(BotError):
            settle_watches(town.story.contexts, [town.story.watch])
        hub.faults.ordered.clear()
        requests = next(count)
        if moment >= requests:
            play(*acts[-1])
        done = settle(town)
        town.story.contexts.store.close()
        assert ([one.unexplained for one in done.ledgers], town.came_back()) == ([{}], [])
        return (state_of(town), [one.line for one in done.ledgers]), requests


@pytest.mark.parametrize("form", ["pull-request", "commit"])
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(1, marks=pytest.mark.slow),
        *(pytest.param(each, marks=pytest.mark.campaign) for each in range(2, 16)),
    ],
)
def test_an_act_in_the_middle_of_a_pass_is_as_one_before_or_after_it(tmp_path: Path, form: str, seed: int) -> None:
    before, requests = interrupted(tmp_path / "before", form, seed, 0)
    after, _ = interrupted(tmp_path / "after", form, seed, math.inf)

    for moment in random.Random(seed).sample(range(1, requests), 3):
        there, _ = interrupted(tmp_path / str(moment), form, seed, moment)
        assert there in (before, after), moment


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_some_acts_of_people(tmp_path: Path, form: str) -> None:
    check(tmp_path, form, 1, 12)


@pytest.mark.campaign
@pytest.mark.parametrize("form", ["pull-request", "commit"])
@pytest.mark.parametrize("seed", [1, 2, 3, 302, 820])
def test_200_acts_of_people(tmp_path: Path, form: str, seed: int) -> None:
    check(tmp_path, form, int(os.environ.get("PEOPLE_SEED", str(seed))), 200)
