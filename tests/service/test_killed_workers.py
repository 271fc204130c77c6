"""Workers that are killed and a database that restarts: no row is lost, none stands twice."""

from __future__ import annotations

import logging
import os
import time
from itertools import zip_longest
from pathlib import Path
from threading import Event

import pytest

from tests.service.job_worker import QUICK
from tests.service.stories import Story
from tests.service.test_crashes import parts, repeated_marks, settle_until_done
from tests.service.worker_processes import PATIENCE, Workers, is_done, push_rows, queue_of, wait_until
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running
from tests.world.server import served

log = logging.getLogger(__name__)


@pytest.mark.slow
def test_who_takes_a_row_over_waits_until_it_knows_what_a_killed_process_wrote(
    hub: Hub, tmp_path: Path, postgres: Cluster
) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 2)
    sent = [Event(), Event()]  # the Hub works on the first commits longer than a dead process goes unnoticed
    for one in sent:
        hub.faults.order("/commit/main", before=one.set, delay=QUICK.dead + 3.0)
    workers = Workers(story, 1)
    assert all(one.wait(PATIENCE) for one in sent)
    workers.kill_one()
    with queue_of(story.database) as jobs:
        wait_until(lambda: is_done(story, jobs))
    workers.end()

    assert story.acts() == ["request"] * 2  # and none was closed again
    story.end()


def disturbed(
    folder: Path, *, rows: int, kills: int, restarts: int, longest: float = 1.0, patience: float = PATIENCE
) -> None:
    """Compare a calm run with one of kills (`longest` seconds apart at most), restarts of the database and faults."""
    for name in ("calm", "rough"):
        (folder / name).mkdir()
    with running() as cluster, served(Hub()) as calm_hub, served(Hub()) as hub:
        calm = Story(calm_hub, folder / "calm", limit=100_000)
        rough = Story(hub, folder / "rough", limit=100_000, database=cluster.database())
        hub.faults.by_chance(0.03, 5)
        for story in (calm, rough):
            push_rows(story, rows)
        settle_until_done(calm)
        workers = Workers(rough, 4, seed=5)
        with queue_of(rough.database) as jobs:
            for number in range(kills):
                time.sleep(workers.random.uniform(0.2, longest))
                workers.kill_one()
                if restarts and number % (kills // restarts) == kills // restarts // 2:
                    cluster.stop()
                    cluster.start()
            at_last_kill = len(rough.requests)
            wait_until(lambda: workers.tend() or is_done(rough, jobs), patience)
        workers.end()
        struck, asked = hub.faults.struck, len(hub.calls)
        log.info("%s kills, the last at row %s; %s faults in %s requests", kills, at_last_kill, struck, asked)
        settle_until_done(rough)
        for name in ("source", "target"):
            found, expected = parts(hub, getattr(rough, name)), parts(calm_hub, getattr(calm, name))
            assert [pair for pair in zip_longest(found, expected) if len(set(pair)) > 1] == [], name
        assert repeated_marks(hub, rough.target) == []
        for story in (calm, rough):
            story.contexts.store.close()


@pytest.mark.slow
def test_killed_workers_and_a_restarted_database_lose_and_double_nothing(tmp_path: Path) -> None:
    disturbed(tmp_path, rows=24, kills=4, restarts=1, patience=600.0)  # what fails three times waits for seven minutes


@pytest.mark.campaign
def test_50_kills_and_two_restarts_lose_and_double_nothing(tmp_path: Path) -> None:
    rows = int(os.environ.get("JOB_ROWS", "2000"))
    disturbed(tmp_path, rows=rows, kills=50, restarts=2, patience=3600.0, longest=rows / 250)  # as long as the work
