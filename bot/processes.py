"""Spread work over the processors of this machine: one process for each, results in order, progress on a terminal."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from bot.errors import BotError

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
JOBS = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Processes to use; 0 uses all processors where that pays.")
]
# How many items wait at each process: enough to keep it busy, few enough that memory stays flat.
AHEAD = 4


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def choose_jobs(asked: int, worth: int) -> int:
    """Return the number of processes: as asked for, else as many as pay, of which each has `worth` to do."""
    return asked or max(1, min(processors(), worth))


def run_jobs(
    work: Callable[[Item], Outcome], items: Sequence[Item], jobs: int, *, label: str = "", quiet: bool = False
) -> Iterator[Outcome]:
    """Yield work(item) for each item, in the order of the items.

    With more than one job, `work` is copied to each process once, and it, the items and the results must be picklable.
    A terminal shows progress unless `quiet`. What `work` raises is raised here.
    """
    jobs = min(jobs, len(items))
    with _rare_collections():
        results = _in_processes(work, items, jobs) if jobs > 1 else map(work, items)
        if quiet or len(items) < 2 or not sys.stderr.isatty():
            yield from results
            return
        with typer.progressbar(length=len(items), label=label, file=sys.stderr) as bar:
            for result in results:
                yield result
                bar.update(1)


PART = 32  # items that a process takes at once where each is short


def run_parts(
    work: Callable[[Item], Outcome], items: Sequence[Item], jobs: int, *, label: str = "", quiet: bool = False
) -> Iterator[Outcome]:
    """Yield work(item) for each of very many short items, in their order: a process takes 32 of them at once.

    The items themselves go to each process once. What `work` raises is raised here.
    """
    parts = [range(start, min(start + PART, len(items))) for start in range(0, len(items), PART)]
    for done in run_jobs(_Part(work, items), parts, jobs, label=label, quiet=quiet):
        yield from done


@dataclass(frozen=True, slots=True)
class _Part:
    """Does a part of all items."""

    work: Callable[[Any], Any]
    items: Sequence[Any]

    def __call__(self, part: range) -> list[Any]:
        return [self.work(self.items[place]) for place in part]


TURNS = 1_000  # the number of each takes four bytes, and a pipe holds at least 4,096


def share_work(
    work: Callable[[Item], Outcome], items: Sequence[Item], jobs: int, *, label: str = "", quiet: bool = False
) -> list[Outcome]:
    """Return work(item) for each item, in the order of the items, once all is done; this process works, too.

    On Linux this costs less than `run_jobs`, which has one process more and passes result by result. The results must
    be picklable and small. What `work` raises is raised here.
    """
    jobs = min(jobs, len(items))
    if jobs < 2 or sys.platform != "linux":
        return list(run_jobs(work, items, jobs, label=label, quiet=quiet))
    queue, write = os.pipe()
    size = -(-len(items) // TURNS)
    os.write(write, b"".join([start.to_bytes(4, "big") for start in range(0, len(items), size)]))
    os.close(write)
    turns = _Turns(work, items, size, queue)
    copies: list[_Copy] = []
    with _rare_collections():
        try:
            with suppress(OSError):  # a system that starts no more processes leaves the work to those that are there
                for _ in range(jobs - 1):
                    copies.append(_Copy(turns))  # noqa: PERF401 - one that cannot start leaves those before it
            done = dict(turns.shown(label) if not quiet and sys.stderr.isatty() else turns)
            for copy in copies:
                done |= copy.results()
        finally:
            os.close(queue)
            for copy in copies:
                copy.end()
    return [outcome for _, outcomes in sorted(done.items()) for outcome in _raised(outcomes)]


Outcomes = list[Any] | Exception  # of a turn


def _raised(outcomes: Outcomes) -> list[Any]:
    """The outcomes of a turn; raises its error. Turns are read in order, so the first error is raised."""
    if isinstance(outcomes, Exception):
        raise outcomes
    return outcomes


@dataclass(frozen=True, slots=True)
class _Turns:
    """Takes from a queue the number of the items that are next, until none is left, and does them.

    An error takes all that is left, so that everybody stops.
    """

    work: Callable[[Any], Any]
    items: Sequence[Any]
    size: int
    queue: int

    def __iter__(self) -> Iterator[tuple[int, Outcomes]]:
        while turn := os.read(self.queue, 4):
            start = int.from_bytes(turn, "big")
            try:
                yield start, [self.work(item) for item in self.items[start : start + self.size]]
            except Exception as error:  # noqa: BLE001 - whatever it is, it is raised when all have stopped
                while os.read(self.queue, 4 * TURNS):
                    pass
                yield start, error

    def shown(self, label: str) -> Iterator[tuple[int, Outcomes]]:
        """The same with its progress: all items up to those of this turn were taken by somebody."""
        with typer.progressbar(length=len(self.items), label=label, file=sys.stderr) as bar:
            for start, outcomes in self:
                yield start, outcomes
                bar.update(min(start + self.size, len(self.items)) - bar.pos)
            bar.update(len(self.items) - bar.pos)


class _Copy:
    """A copy of this process that takes turns, too, and hands back what it did at its end."""

    def __init__(self, turns: _Turns) -> None:
        self.pipe, write = os.pipe()
        parent = os.getpid()
        try:
            self.process = os.fork()  # safe, because this process has no threads of its own
        except OSError:
            os.close(self.pipe)
            os.close(write)
            raise
        if self.process == 0:
            os.close(self.pipe)
            _take_turns(turns, parent, write)
        os.close(write)
        self.is_gone = False

    def results(self) -> dict[int, Outcomes]:
        """The outcomes of the process, by the number of each turn's first item. Raises BotError if it ended early."""
        with open(self.pipe, "rb", closefd=False) as pipe:
            data = pipe.read()
        _, status = os.waitpid(self.process, 0)
        self.is_gone = True
        if status != 0 or not data:
            raise _ended_early()
        found: dict[int, Outcomes] = pickle.loads(data)  # noqa: S301 - our own process wrote it
        return found

    def end(self) -> None:
        """End it if it is still there: after an error or an interrupt nobody waits for it."""
        os.close(self.pipe)
        if not self.is_gone:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)


def _take_turns(turns: _Turns, parent: int, write: int) -> NoReturn:
    """Be a copy: never return, and end when the parent is gone."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports an interrupt; a copy only ends
        found = dict(takewhile(lambda _: os.getppid() == parent, turns))
        with open(write, "wb") as pipe:
            pipe.write(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
        status = 0
    finally:
        os._exit(status)


def _ended_early() -> BotError:
    return BotError("a worker process ended early, perhaps for lack of memory; run it with --jobs 1")


@contextmanager
def without_collector() -> Iterator[None]:
    """Let the garbage collector rest where many values are made and none is cyclic: to look for cycles takes long."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for reference cycles 100 times less often: millions of short-lived values make next to none."""
    threshold = gc.get_threshold()
    gc.set_threshold(100 * threshold[0], *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)


def _in_processes(work: Callable[[Item], Outcome], items: Iterable[Item], jobs: int) -> Iterator[Outcome]:
    # Loaded where they are needed: a command on one file starts without them.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    # A new interpreter takes half a second; a fork is safe on Linux, because this process has no threads of its own.
    context = get_context("fork" if sys.platform == "linux" else None)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(work,)) as pool:
        waiting: deque[Future[Outcome]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(_work, item))
                if len(waiting) >= AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise _ended_early() from None
        except BaseException:
            # Nobody waits for the rest: after an interrupt, a long task would keep the command from ending.
            for child in active_children():
                child.terminate()
            raise


_job: Callable[[Any], Any]


def _start(work: Callable[[Any], Any]) -> None:
    global _job  # noqa: PLW0603 - a process of the pool has one job for all its life
    _job = work
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports an interrupt; a worker only ends
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the parent is gone: a killed parent closes no pool."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(item: Any) -> Any:
    return _job(item)
