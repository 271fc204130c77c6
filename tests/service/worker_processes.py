"""Processes that share the watch of a story, and what they are waited for."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess

from bot.errors import StateUnavailable
from bot.service.jobs.queue import Jobs
from bot.service.store.memory import LAST_PASS
from tests.service.job_worker import work
from tests.service.stories import Story
from tests.world.results import path_of, result

PATIENCE = 240.0  # seconds until a test gives up


def push_rows(story: Story, count: int) -> None:
    story.hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(count)})


def wait_until(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < end, "it does not come to an end"
        time.sleep(0.1)


def is_done(story: Story, jobs: Jobs) -> bool:
    """Whether a pass was made over all that was pushed, and nothing waits."""
    state = story.state
    with suppress(StateUnavailable):
        is_read = state.commit == story.source.main.oid
        is_tried = state.recall(LAST_PASS) is not None
        return is_read and is_tried and not state.items.counts() and not jobs.undone()
    return False


@contextmanager
def queue_of(database: str, *, takes_rows: bool = True) -> Iterator[Jobs]:
    jobs = Jobs(database, takes_rows=takes_rows)
    jobs.open()
    yield jobs
    jobs.close()


class Workers:
    """Processes that share the watch of a story."""

    def __init__(self, story: Story, count: int, seed: int = 0) -> None:
        self.story, self.random = story, random.Random(seed)
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["tests.service.job_worker"])
        self.processes: list[BaseProcess] = [self._started() for _ in range(count)]

    def _started(self) -> BaseProcess:
        story = self.story
        how = (story.folder, story.hub.url, story.token, story.watch, story.database)
        process = self.context.Process(target=work, args=how, daemon=True)
        process.start()
        return process

    def kill_one(self) -> None:
        """SIGKILL one, and start another in its place."""
        place = self.random.randrange(len(self.processes))
        self.processes[place].kill()
        self.processes[place].join()
        self.processes[place] = self._started()

    def tend(self) -> None:
        """Start those again that ended by themselves, as systemd would: they found no database to begin with."""
        self.processes = [process if process.is_alive() else self._started() for process in self.processes]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()
