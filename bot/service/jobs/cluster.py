"""One process among many: it requests the passes that are due or hinted at, and takes its share of the jobs."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import psycopg_pool
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import DeleteJobCondition, Status
from psycopg import Error

from bot.errors import BotError, StateUnavailable
from bot.service.jobs.queue import PASS, QUEUE, ROW, Jobs, Timing
from bot.service.store.items import RowJob

PAUSE = 1.0  # seconds before a worker that lost its database starts again
POLL = 1.0  # seconds between two looks for jobs whose time has come
OUTAGES = (ConnectorException, psycopg_pool.PoolTimeout, Error, OSError)
log = logging.getLogger(__name__)


@dataclass
class JobWorker:
    """Does jobs in `threads` threads until it is stopped; `tasks` has what is done for each kind.

    A database that goes away is waited for. What a task raises is logged, and the job is over: its item has its own
    time for the next try.
    """

    conninfo: str
    tasks: Mapping[str, Callable[..., object]]
    threads: int
    timing: Timing
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, repr=False)
    _running: asyncio.Task[None] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._keep, name="jobs", daemon=True)
        self._thread.start()

    def stop(self, patience: float) -> bool:
        """Take no more jobs, and wait so many seconds for those that run; whether they ended in time."""
        self._stopping.set()
        loop, running = self._loop, self._running
        if loop is not None and running is not None and not loop.is_closed():
            loop.call_soon_threadsafe(running.cancel)
        if self._thread is not None:
            self._thread.join(patience)
        return self._thread is None or not self._thread.is_alive()

    def _keep(self) -> None:
        while not self._stopping.is_set():
            try:
                asyncio.run(self._work())
            except asyncio.CancelledError:
                pass
            except OUTAGES as failure:
                log.warning("the jobs wait for the database: %s", " ".join(str(failure).split()))
            except Exception:
                log.exception("the worker starts again")
            self._stopping.wait(PAUSE)

    async def _work(self) -> None:
        self._loop, self._running = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopping.is_set():
            return
        self._loop.set_default_executor(ThreadPoolExecutor(self.threads + 2, thread_name_prefix="job"))
        app = App(connector=PsycopgConnector(conninfo=self.conninfo, min_size=1, max_size=self.threads + 3, timeout=10))
        for name, call in self.tasks.items():
            app.task(name=name)(_logged(name, call))
        try:
            await app.open_async()
            await self._take_jobs(app)
        finally:
            await app.close_async()  # where opening was cancelled, too: the tasks of a pool go on until it is closed

    async def _take_jobs(self, app: App) -> None:
        rescue = asyncio.create_task(self._rescue(app))
        try:
            await app.run_worker_async(
                queues=[QUEUE],
                concurrency=self.threads,
                fetch_job_polling_interval=POLL,
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                update_heartbeat_interval=self.timing.heartbeat,
                stalled_worker_timeout=self.timing.dead,
            )
        finally:
            rescue.cancel()

    async def _rescue(self, app: App) -> None:
        """Put the jobs of dead workers back into the queue, again and again."""
        while True:
            await asyncio.sleep(self.timing.look)
            try:
                await _put_back_lost(app, self.timing.dead)
            except OUTAGES as failure:
                log.info("lost jobs are not looked for now, trying again: %s", " ".join(str(failure).split()))


async def _put_back_lost(app: App, seconds: float) -> None:
    for job in await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=seconds):
        log.info("a worker died with %s %s; another takes it over", job.task_name, job.task_kwargs)
        try:
            await app.job_manager.retry_job(job)
        except UniqueViolation:  # it waits there once more already
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        except ConnectorException as failure:
            log.info("another worker took it over: %s", " ".join(str(failure).split()))


def _logged(name: str, call: Callable[..., object]) -> Callable[..., None]:
    """A task that ends whatever happens: the items remember what failed."""

    def task(**values: Any) -> None:
        try:
            call(**values)
        except BotError as failure:
            log.warning("the job %s failed: %s", name, failure)
        except Exception:
            log.exception("the job %s failed", name)

    return task


THREADS = 2  # jobs that one process does at once


@dataclass
class Cluster:
    """The jobs of one process.

    `settle` makes a pass over the watch of that name, `publish` publishes one row, and `due` gives the watches whose
    time has come. `quiet` is in seconds: hints of one burst of pushes become one pass.
    """

    jobs: Jobs
    settle: Callable[[str], object]
    publish: Callable[[RowJob], object]
    due: Callable[[], Iterable[str]]
    quiet: float
    threads: int = THREADS
    timing: Timing = field(default_factory=Timing)
    _hinted: set[str] = field(default_factory=set, repr=False)
    _woken: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        tasks: dict[str, Callable[..., object]] = {PASS: self._pass, ROW: self._row}
        self.worker = JobWorker(self.jobs.conninfo, tasks, self.threads, self.timing)

    def start(self) -> None:
        """Begin to ask for passes, and to do jobs."""
        self._thread = threading.Thread(target=self._keep, name="passes", daemon=True)
        self._thread.start()
        self.worker.start()

    def hint(self, watch: str) -> None:
        """A watch may be out of step; returns at once."""
        with self._lock:
            self._hinted.add(watch)
        self._woken.set()

    def stop(self, patience: float) -> bool:
        """Take no more jobs; whether those that run ended in time, and no thread of the bot holds a connection."""
        end = time.monotonic() + patience
        self._stopping.set()
        self._woken.set()
        has_ended = self.worker.stop(patience)
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))
        return has_ended and (self._thread is None or not self._thread.is_alive())

    def _pass(self, watch: str) -> None:
        self.settle(watch)

    def _row(self, **values: str | int) -> None:
        self.publish(RowJob(**values))  # type: ignore[arg-type]

    def _keep(self) -> None:
        while not self._stopping.is_set():
            self._woken.wait(self.timing.look)
            self._woken.clear()
            with self._lock:
                wanted, self._hinted = self._hinted, set()
            try:
                for name in wanted:
                    self.jobs.want_pass(name, self.quiet)
                for name in self.due():
                    self.jobs.want_pass(name)
            except StateUnavailable as failure:
                log.warning("passes are not requested now, trying again: %s", failure)
                with self._lock:
                    self._hinted |= wanted
            except Exception:
                log.exception("passes are not requested now, trying again")
