"""Jobs in PostgreSQL and their workers: a pass over a watch is one job, and so is each row that a pass lets through.

A job is only a hint that an item may be out of step, as a delivery is: the items decide. Jobs that are lost, because
their tables were dropped say, are made again by the next pass; one that is done twice does nothing the second time.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import psycopg
import psycopg_pool
from procrastinate import App, PsycopgConnector, SyncPsycopgConnector, __version__
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.schema import SchemaManager
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import make_url

from bot.errors import BotError, StateUnavailable
from bot.service.store.database import batches
from bot.service.store.engine import shown_address
from bot.service.store.items import RowJob
from bot.service.waits import JOBS_EVERY, WORKER_BEAT, WORKER_DEAD, WORKER_LOOK, WORKER_PAUSE, WORKER_WARNS_EVERY

QUEUE, PASS, ROW = "leaderboard-bot", "pass", "row"
SCHEMA = f"leaderboard_bot_jobs_{__version__.replace('.', '_')}"  # another version's tables are left alone
LOCK = 7_235_120_615  # any number that no other program on the server takes
PASS_PRIORITY, ROW_PRIORITY = 10, 0  # priorities: passes hold what people wait for


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds: between two signs of life, until a silent worker counts as dead, between two looks."""

    heartbeat: float = WORKER_BEAT
    dead: float = WORKER_DEAD
    look: float = WORKER_LOOK


class Jobs:
    """The queue as its callers see it, from any thread. `takes_rows` says whether rows are given to workers."""

    def __init__(self, database: str, *, takes_rows: bool = True) -> None:
        self.where = shown_address(make_url(database))
        address = make_url(database).set(drivername="postgresql").render_as_string(hide_password=False)
        given = psycopg.conninfo.conninfo_to_dict(address).get("options") or ""
        self.plain = address
        self.conninfo = make_conninfo(address, options=f"{given} -c search_path={SCHEMA}".strip())
        self._takes_rows = takes_rows
        self._app = App(connector=SyncPsycopgConnector(conninfo=self.conninfo, min_size=1, max_size=4, timeout=10))

    def open(self) -> None:
        """Make the tables where there are none, and connect. Raises StateUnavailable."""
        with self._outages():
            with psycopg.connect(self.plain) as connection:
                connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
                if connection.execute("select to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
                    connection.execute(f'create schema "{SCHEMA}"'.encode())
                    connection.execute(f'set local search_path to "{SCHEMA}"'.encode())
                    connection.execute(SchemaManager.get_schema().encode())
            self._app.open()

    def close(self) -> None:
        """Give the connections back."""
        self._app.close()

    def want_pass(self, watch: str, wait: float = 0.0) -> None:
        """Ask for a pass in so many seconds, unless one is asked for already. Raises StateUnavailable."""
        at = datetime.now(UTC) + timedelta(seconds=wait) if wait else None
        self._put([_job(PASS, f"pass {watch}", {"watch": watch}, PASS_PRIORITY, at)])

    def put_rows(self, jobs: Sequence[RowJob]) -> bool:
        """Hand rows to the workers. Raises StateUnavailable."""
        if not self._takes_rows:
            return False
        made = [_job(ROW, _lock_of(one), msgspec.to_builtins(one), ROW_PRIORITY) for one in jobs]
        for some in batches(made):
            self._put(some)
        return True

    def rows_waiting(self, watch: str, target: str) -> set[str]:
        """The rows that a worker publishes now or will publish. Raises StateUnavailable."""
        found = self._ask(
            "select args->>'subject' as subject from procrastinate_jobs where task_name = 'row'"
            " and status in ('todo', 'doing') and args->>'watch' = %(watch)s and args->>'target' = %(target)s",
            watch=watch,
            target=target,
        )
        return {row["subject"] for row in found}

    def row_targets(self) -> set[str]:
        """The targets of the rows that living workers publish now. Raises StateUnavailable."""
        found = self._ask(
            "select distinct args->>'target' as target from procrastinate_jobs j join procrastinate_workers w"
            " on w.id = j.worker_id where task_name = 'row' and status = 'doing'"
            " and last_heartbeat > now() - make_interval(secs => %(dead)s)",
            dead=Timing().dead,
        )
        return {row["target"] for row in found}

    def undone(self) -> set[tuple[str, str]]:
        """Kind and watch of every job that waits or runs. Raises StateUnavailable."""
        found = self._ask(
            "select distinct task_name, args->>'watch' as watch from procrastinate_jobs"
            " where status in ('todo', 'doing')"
        )
        return {(row["task_name"], row["watch"]) for row in found}

    def _ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        with self._outages():
            return self._app.connector.get_sync_connector().execute_query_all(query, **values)

    def _put(self, jobs: list[Job]) -> None:
        """Put jobs into the queue, except for those that wait there already."""
        with self._outages():
            try:
                self._app.job_manager.batch_defer_jobs(jobs=jobs)
            except AlreadyEnqueued:
                if len(jobs) > 1:
                    for job in jobs:
                        self._put([job])

    @contextmanager
    def _outages(self) -> Iterator[None]:
        try:
            yield
        except (ConnectorException, psycopg_pool.PoolTimeout, psycopg.Error) as error:
            raise StateUnavailable(self.where, _why(error)) from None


def _why(error: Exception) -> str:
    """The database's own message in one line, without the statement: Procrastinate's message names no cause."""
    return " ".join(str(error.__cause__ or error).partition("\nCONTEXT:")[0].split()) or type(error).__name__


def _job(task: str, lock: str, values: Mapping[str, Any], priority: int, at: datetime | None = None) -> Job:
    """A job of which at most one waits and at most one runs at any time."""
    return Job(
        queue=QUEUE,
        task_name=task,
        lock=lock,
        queueing_lock=lock,
        task_kwargs=dict(values),
        priority=priority,
        scheduled_at=at,
    )


def _lock_of(job: RowJob) -> str:
    named = hashlib.sha256(f"{job.target} {job.subject}".encode()).hexdigest()[:32]
    return f"row {job.watch} {named}"


OUTAGES = (ConnectorException, psycopg_pool.PoolTimeout, psycopg.Error, OSError)
log = logging.getLogger(__name__)


def _is_no_outage(record: logging.LogRecord) -> bool:
    """Keep the library's tracebacks about a lost database out of the log: the bot says that in one line."""
    return not (record.exc_info and isinstance(record.exc_info[1], OUTAGES))


logging.getLogger("procrastinate.utils").addFilter(_is_no_outage)


@dataclass
class Warnings:
    """Warns in the log of what lasts: the same again after a minute at the earliest."""

    _last: tuple[str, float] = ("", 0.0)

    def __call__(self, text: str) -> None:
        """Log a warning."""
        said, at = self._last
        if text != said or time.monotonic() - at >= WORKER_WARNS_EVERY:
            log.warning("%s", text)
            self._last = (text, time.monotonic())


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
    _warn: Warnings = field(default_factory=Warnings, repr=False)

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._keep, name="jobs", daemon=True)
        self._thread.start()

    def stop(self, patience: float) -> bool:
        """Take no more jobs, and wait so many seconds for the running ones; tell whether all ended in time."""
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
                self._warn(f"the jobs wait for the database: {_why(failure)}")
            except Exception:
                log.exception("the worker starts again")
            self._stopping.wait(WORKER_PAUSE)

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
                fetch_job_polling_interval=JOBS_EVERY,
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
                log.info("lost jobs are not looked for now, trying again: %s", _why(failure))


async def _put_back_lost(app: App, seconds: float) -> None:
    for job in await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=seconds):
        log.info("a worker died with %s %s; another takes it over", job.task_name, job.task_kwargs)
        try:
            await app.job_manager.retry_job(job)
        except UniqueViolation:  # it waits there once more already
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        except ConnectorException as failure:
            log.info("another worker took it over: %s", _why(failure))


def _logged(name: str, call: Callable[..., object]) -> Callable[..., None]:
    """A task that never fails: what goes wrong is logged, and the items know when to try again."""

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
    time has come. `quiet` is in seconds: hints of one burst of pushes become one pass. `failure` says why no pass can
    be asked for now, "" where it can.
    """

    jobs: Jobs
    settle: Callable[[str], object]
    publish: Callable[[RowJob], object]
    due: Callable[[], Iterable[str]]
    quiet: float
    threads: int = THREADS
    timing: Timing = field(default_factory=Timing)
    failure: str = field(default="", init=False)
    _warn: Warnings = field(default_factory=Warnings, repr=False)
    _hinted: set[str] = field(default_factory=set, repr=False)
    _woken: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        tasks: dict[str, Callable[..., object]] = {PASS: self._pass, ROW: self._row}
        self.worker = JobWorker(self.jobs.conninfo, tasks, self.threads, self.timing)

    def start(self) -> None:
        """Begin to ask for passes and to do jobs."""
        self._thread = threading.Thread(target=self._keep, name="passes", daemon=True)
        self._thread.start()
        self.worker.start()

    def hint(self, watch: str) -> None:
        """Note that a watch may be out of step; returns at once."""
        with self._lock:
            self._hinted.add(watch)
        self._woken.set()

    def stop(self, patience: float) -> bool:
        """Take no more jobs; tell whether the running ones ended in time and gave all connections back."""
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
                self.failure = ""
            except StateUnavailable as failure:
                self.failure = failure.in_one_line
                self._warn(f"passes are not requested now, trying again: {failure}")
                with self._lock:
                    self._hinted |= wanted
            except Exception:
                log.exception("passes are not requested now, trying again")
