"""Spread work over the processors of this machine: results in the order of the items, progress on a terminal."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Annotated, Any, TypeVar

import typer

from bot.errors import BotError

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
JOBS = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Processes to use; 0 uses all processors where that pays.")
]


def choose_jobs(asked: int, worth: int) -> int:
    """Return the number of processes: as asked for, else as many as pay, of which each has `worth` to do."""
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return asked or max(1, min(processors, worth))


def run_jobs(
    work: Callable[[Item], Outcome],
    items: Sequence[Item],
    jobs: int,
    *,
    part: int = 1,
    label: str = "",
    quiet: bool = False,
) -> Iterator[Outcome]:
    """Yield work(item) for each item, in the order of the items.

    With more than one job `work`, the items and the results must be picklable; `part` items go to a process at once. A
    terminal shows progress unless `quiet`. What `work` raises is raised here, BotError where a process was killed.
    """
    jobs = min(jobs, -(-len(items) // part))
    results = _in_processes(work, items, jobs, part) if jobs > 1 else map(work, items)
    if quiet or len(items) < 2 or not sys.stderr.isatty():
        yield from results
        return
    with typer.progressbar(results, length=len(items), label=label, file=sys.stderr) as bar:
        yield from bar


@contextmanager
def without_collector() -> Iterator[None]:
    """Switch the garbage collector off for the block: it takes long, and none of the many values is cyclic."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _in_processes(work: Callable[[Any], Any], items: Sequence[Any], jobs: int, part: int) -> Iterator[Any]:
    # Loaded where they are needed: a command on one file starts without them.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    # A new interpreter takes half a second; a fork is safe on Linux, because a command has no threads of its own here.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    os.environ["PYTHONSAFEPATH"] = "1"  # a new interpreter imports nothing from the working folder, a stranger's
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(work,)) as pool:
        try:
            # Not `map`, which cancels what waits when it ends early: an executor whose processes end fails on that.
            for done in [pool.submit(_work, items[at : at + part]) for at in range(0, len(items), part)]:
                yield from done.result()
        except BrokenProcessPool:
            why = "a worker process ended early, perhaps for lack of memory; run it with --jobs 1"
            raise BotError(why) from None
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


def _work(items: Sequence[Any]) -> list[Any]:
    with without_collector():
        return [_job(item) for item in items]


def _end_with_parent() -> None:
    """End this process when the parent is gone: a killed parent closes no pool."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
