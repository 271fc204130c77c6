"""The queue in PostgreSQL: a pass over a watch is one job, and so is each row that a pass lets through.

A job is only a hint that an item may be out of step, as a delivery is: the items decide. Jobs that are lost, because
their tables were dropped say, are made again by the next pass; one that is done twice does nothing the second time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import psycopg
import psycopg_pool
from procrastinate import App, SyncPsycopgConnector, __version__
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job
from procrastinate.schema import SchemaManager
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import make_url

from bot.errors import StateUnavailable
from bot.service.store.items import RowJob

QUEUE, PASS, ROW = "leaderboard-bot", "pass", "row"
SCHEMA = f"leaderboard_bot_jobs_{__version__.replace('.', '_')}"  # another version's tables are left alone
LOCK = 7_235_120_615  # any number that no other program on the server takes
AT_ONCE = 500  # jobs of one statement
FIRST, SECOND = 10, 0  # priorities: passes hold what people wait for


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: between two signs of life of a worker, until one without is taken for dead, between two looks."""

    heartbeat: float = 5.0
    dead: float = 20.0
    look: float = 5.0


class Jobs:
    """The queue as its users see it, whatever thread they are in.

    `takes_rows` says that workers are there for rows.
    """

    def __init__(self, database: str, *, takes_rows: bool = True) -> None:
        self.where = make_url(database).render_as_string(hide_password=True)
        address = make_url(database).set(drivername="postgresql").render_as_string(hide_password=False)
        self.plain, self.conninfo = address, _within_schema(address)
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
        """Ask for a pass in so many seconds, where none is asked for yet. Raises StateUnavailable."""
        at = datetime.now(UTC) + timedelta(seconds=wait) if wait else None
        self._put([_job(PASS, f"pass {watch}", {"watch": watch}, FIRST, at)])

    def put_rows(self, jobs: Sequence[RowJob]) -> bool:
        """Leave rows to the workers. Raises StateUnavailable."""
        if not self._takes_rows:
            return False
        made = [_job(ROW, _lock_of(one), msgspec.to_builtins(one), SECOND) for one in jobs]
        for start in range(0, len(made), AT_ONCE):
            self._put(made[start : start + AT_ONCE])
        return True

    def rows_waiting(self, watch: str, target: str) -> set[str]:
        """The rows that a worker has, or will take. Raises StateUnavailable."""
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
        """Which kinds of jobs wait or run for which watches. Raises StateUnavailable."""
        found = self._ask(
            "select distinct task_name, args->>'watch' as watch from procrastinate_jobs"
            " where status in ('todo', 'doing')"
        )
        return {(row["task_name"], row["watch"]) for row in found}

    def _ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        with self._outages():
            return self._app.connector.get_sync_connector().execute_query_all(query, **values)

    def _put(self, jobs: list[Job]) -> None:
        """Put jobs into the queue, but for those that wait there already."""
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
            why = " ".join(str(error.__cause__ or error).split())
            raise StateUnavailable(self.where, why or type(error).__name__) from None


def _within_schema(address: str) -> str:
    """The address with the tables of the jobs in a schema of their own; what else it asks for stays."""
    given = psycopg.conninfo.conninfo_to_dict(address).get("options") or ""
    return make_conninfo(address, options=f"{given} -c search_path={SCHEMA}".strip())


def _job(task: str, lock: str, values: Mapping[str, Any], priority: int, at: datetime | None = None) -> Job:
    """A job of which one at most waits, and one at most runs."""
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
