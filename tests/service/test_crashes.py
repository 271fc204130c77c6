"""The process is killed at random moments and requests fail by chance: the end is that of an undisturbed run.

Each step of a script of pushes and decisions is taken while a bot settles in a process of its own; that process is
killed with SIGKILL again and again, in half of the cases its state file is deleted too, and one request in ten fails
(500, 503, 504 after the write landed, 429, a cut connection, a cut connection after the write landed). Compared are all
files, requests, discussions and comments, byte for byte but for commit ids and times.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pytest

from bot.errors import BotError
from bot.platforms.hub.platform import HubPlatform
from bot.publishing.publication import find_marker
from tests.service.crash_worker import work
from tests.service.stories import Story
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import path_of, result, revision_of
from tests.world.routes_talk import merge_changes
from tests.world.server import served

Step = Callable[[Story], object]
LIMIT, TRIES = 4, 50
log = logging.getLogger(__name__)


def push(*, model: str = "acme/atlas-7b", **how: object) -> Step:
    return lambda story: story.push(model=model, **how)


def push_many(story: Story) -> None:
    models = [f"acme/many-{n}" for n in range(LIMIT + 4)]
    story.hub.push(story.source, {path_of(model): result(model) for model in models})


def request_at(story: Story, word: str) -> object:
    found = [request for request in story.requests if word in request.title]
    assert found, (word, [request.title for request in story.requests])
    return found[0]


def merge(word: str) -> Step:
    return lambda story: story.hub.merge(story.target, request_at(story, word))  # type: ignore[arg-type]


def close(word: str) -> Step:
    return lambda story: story.hub.set_status(story.target, request_at(story, word), "closed", "ann")  # type: ignore[arg-type]


def propose(story: Story) -> None:
    files: dict[str, bytes | None] = {path_of("acme/pica-3b"): result("acme/pica-3b", right=(50, 60, 170))}
    story.hub.open_request(story.source, files, "My results", "please", "ann")


def say(text: str, user: str) -> Step:
    return lambda story: story.hub.comment(story.source, story.hub.requests(story.source)[0], text, user)


def key_of(model: str) -> str:
    return f"tiny/{model}/{revision_of(model)}-bfloat16"


def command_at(story: Story, word: str, text: str) -> object:
    return story.hub.comment(story.target, request_at(story, word), text, "meg")  # type: ignore[arg-type]


def approve(story: Story) -> object:
    [plan] = [row for row in story.hub.conversations(story.target) if "Plans of" in row.title]
    [command] = re.findall(r"/approve [0-9a-f]{32}", "\n".join(plan.comments("bot")))
    return story.hub.comment(story.target, plan, command, "meg")


def another_bound(story: Story) -> None:
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))


SCRIPT: list[tuple[str, Step]] = [
    ("a good push", push()),
    ("a bad push", push(model="acme/borea-1b", right=(50, 60, 170))),
    ("a changed result", push(right=(60, 60, 70))),
    ("an incomplete push", push(model="acme/corvus-2b", right=(50, None, 70))),
    ("a person merges", merge("atlas-7b")),
    ("a worse bad push", push(model="acme/borea-1b", right=(150, 60, 170))),
    ("many at once", push_many),
    ("a mended push", push(model="acme/borea-1b")),
    ("a request at the source", propose),
    ("a person closes", close("corvus-2b")),
    ("a command", say("/recheck", "ann")),
    ("one of the many changes", push(model="acme/many-2", right=(90, 90, 90))),
    ("a waiver", say("/ignore value-out-of-range until 2099-01-01 because of the meter", "meg")),
    ("the merged result changes", push(right=(61, 60, 70))),
    ("a withdrawal", lambda story: story.remove(path_of("acme/borea-1b"))),
    ("a row is declined", lambda s: command_at(s, "8 rows", f"/decline {key_of('acme/many-5')}")),
    ("the many are merged", merge("7 rows")),
    ("the request at the source is merged", lambda s: s.hub.merge(s.source, s.hub.requests(s.source)[0])),
    ("the merged row is withdrawn", lambda story: story.remove()),
    ("a file that is no result", lambda s: s.hub.push(s.source, {"acme__x/results_1.json": b"{"})),
    ("a last good push", push(model="acme/dryas-4b")),
    ("a maintainer merges by a command", lambda s: command_at(s, "dryas-4b", "/merge")),
    ("the declaration changes", another_bound),
    ("the plan is approved", approve),
    ("the migration is merged", merge("Score ")),
]


def plain(text: bytes | str, hub: Hub) -> str:
    """A text without what may differ: commit ids, ids of comments, the port of the local Hub."""
    shown = text.decode() if isinstance(text, bytes) else text
    shown = re.sub(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{24}\b|\b[0-9a-f]{12}\b", "<id>", shown)
    shown = re.sub(r'"when": [\d.e+]+', '"when": <time>', shown)
    return shown.replace(hub.url, "<hub>")


def state_of(hub: Hub, repository: Repository) -> dict[str, object]:
    """Everything that a reader of a repository can see, in an order that does not depend on who was first."""
    talks = []
    for row in hub.talk(repository).all.values():
        changes = merge_changes(repository, row) if row.pull_request else {}
        files = {path: data and plain(data, hub) for path, data in changes.items()}
        said = [plain(text, hub) for text in row.comments()]
        talks.append((row.pull_request, row.title, row.status, said, files))
    main = {path: plain(blob.data, hub) for path, blob in repository.main.tree.files()}
    return {"main": main, "talks": sorted(talks, key=repr)}


def parts(hub: Hub, repository: Repository) -> list[str]:
    """The state piece by piece, so that a difference can be read."""
    state = state_of(hub, repository)
    return [*(f"{path}: {data}" for path, data in sorted(state["main"].items())), *map(repr, state["talks"])]  # type: ignore[attr-defined, call-overload]


def repeated_marks(hub: Hub, repository: Repository) -> list[str]:
    """What was said or proposed twice: marks of open requests, and of the comments in one discussion."""
    rows = hub.talk(repository).all.values()
    opened = [plain(row.description, hub) for row in rows if row.author == "bot"]
    marks = Counter(str(find_marker(text)) for text in opened)
    still = Counter(str(find_marker(row.description)) for row in rows if row.author == "bot" and row.status == "open")
    for row in rows:
        marks_here = Counter(str(find_marker(text)) for text in row.comments("bot") if find_marker(text))
        still.update({f"#{row.num} {mark}": count for mark, count in marks_here.items()})
    assert marks
    return [mark for mark, count in still.items() if count > 1]


@dataclass
class Disturbance:
    """How a run is disturbed: kills for each step, and the share of requests that fail."""

    seed: int
    kills: int
    share: float = 0.1
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["tests.service.crash_worker"])

    def disturb(self, story: Story, times: int) -> None:
        """Let a bot work and kill it, a number of times."""
        story.contexts.store.close()
        for _ in range(times):
            process = self.context.Process(
                target=work, args=(story.folder, story.hub.url, story.token, story.watch), daemon=True
            )
            process.start()
            time.sleep(self.random.uniform(0.02, 0.6))
            os.kill(process.pid or 0, signal.SIGKILL)
            process.join()
            self.counts["kills"] += 1
            if self.random.random() < 0.5:
                self.counts["wiped"] += 1
                for file in story.folder.glob("state.db*"):
                    file.unlink()
        story.contexts = story.open_context_factory()


def settle_until_done(story: Story) -> None:
    """Settle until nothing fails, more and more rarely; failures are those of the injected faults, and pass.

    What a killed process began to write is held for `unknown_until`, which the tries together outlast.
    """
    pause = 1.2 * HubPlatform.client(story.contexts.opener).unknown_until / sum(range(TRIES))
    for number in range(TRIES):
        with suppress(BotError):
            if all(outcome.outcome != "failed" for outcome in story.settle()):
                return
        time.sleep(number * pause)
    raise AssertionError("it does not come to an end")


@contextmanager
def told(folder: Path, disturbance: Disturbance | None) -> Iterator[Story]:
    """The script, played to its end."""
    folder.mkdir()
    with served(Hub()) as hub:
        story = Story(hub, folder, limit=LIMIT)
        if disturbance is not None:
            hub.faults.by_chance(disturbance.share, disturbance.seed)
        for number, (_, step) in enumerate(SCRIPT):
            step(story)
            if disturbance is not None:
                each, rest = divmod(disturbance.kills, len(SCRIPT))
                disturbance.disturb(story, each + (number < rest))
            settle_until_done(story)
        if disturbance is not None:
            disturbance.counts["requests"], disturbance.counts["faults"] = len(hub.calls), hub.faults.struck
        yield story
        story.contexts.store.close()


def campaign(folder: Path, disturbance: Disturbance) -> None:
    with told(folder / "calm", None) as calm, told(folder / "rough", disturbance) as rough:
        log.info("seed %s: %s", disturbance.seed, dict(disturbance.counts))
        differing = [
            (name, *pair)
            for name in ("target", "source")  # texts at the source link requests at the target by their numbers
            for pair in zip_longest(parts(rough.hub, getattr(rough, name)), parts(calm.hub, getattr(calm, name)))
            if len(set(pair)) > 1
        ]
        assert differing == []
        assert [mark for one in (rough.source, rough.target) for mark in repeated_marks(rough.hub, one)] == []


@pytest.mark.slow
def test_a_few_kills_and_faults_change_nothing(tmp_path: Path) -> None:
    campaign(tmp_path, Disturbance(seed=7, kills=3))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [1])
def test_200_kills_and_faults_change_nothing(tmp_path: Path, seed: int) -> None:
    seed = int(os.environ.get("CRASH_SEED", str(seed)))
    campaign(tmp_path, Disturbance(seed=seed, kills=200))


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.campaign)])
def test_a_wiped_disk_between_steps_changes_nothing(tmp_path: Path, every: int) -> None:
    with served(Hub()) as hub:
        story = Story(hub, tmp_path, limit=LIMIT)
        for number, (name, step) in enumerate(SCRIPT, start=1):
            step(story)
            settle_until_done(story)
            if number % every:
                continue
            before = {at: parts(hub, getattr(story, at)) for at in ("source", "target")}
            story.lose_state()
            settle_until_done(story)
            for at, expected in before.items():
                found = parts(hub, getattr(story, at))
                assert [pair for pair in zip_longest(found, expected) if len(set(pair)) > 1] == [], (name, at)
        story.contexts.store.close()
