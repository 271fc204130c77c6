"""Several processes on one PostgreSQL: rows are shared out, those of a killed one taken over, nothing stands twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from bot.errors import StateUnavailable
from bot.server.sharing import RowJobs, SharedService
from bot.service.jobs.queue import Cluster as JobCluster
from bot.service.jobs.queue import Jobs, JobWorker, Timing
from bot.service.publish.entry_rows import EntryRows
from bot.service.publish.ledger import ledgers_due
from bot.service.publish.publisher import admission, due_rows
from bot.service.store.engine import connect
from bot.service.store.items import RowJob
from bot.service.store.memory import LAST_PASS, LEDGER, RECOUNT
from bot.service.store.state import Store
from bot.service.waits import LEASE_LOOK
from bot.service.watch.outcome import Report
from bot.service.watch.passes import settle_watches
from tests.command import BOT, bot
from tests.service.job_worker import QUICK, make_service
from tests.service.passes import line_of
from tests.service.stories import SETTINGS, Story
from tests.service.worker_processes import PATIENCE, Workers, is_done, push_rows, queue_of, wait_until
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running
from tests.world.results import path_of, result


@pytest.mark.slow
def test_two_processes_publish_each_row_once(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    hub.faults.order("", delay=0.02, times=-1)
    push_rows(story, 12)
    workers = Workers(story, 2)
    with queue_of(story.database) as jobs:
        wait_until(lambda: is_done(story, jobs))
    workers.end()

    titles = sorted(request.title for request in story.requests)
    assert titles == sorted(f"Add acme/m{n} (bfloat16): 58.33" for n in range(12))
    assert story.acts() == ["request"] * 12
    story.end()


@contextmanager
def service_of(story: Story) -> Iterator[SharedService]:
    """One process's part, in this process."""
    service = make_service(story.folder, story.hub.url, story.token, story.watch, story.database)
    service.start()
    try:
        yield service
    finally:
        assert service.stop(30.0)
        service.contexts.store.close()
        service.jobs.close()


def settled(story: Story, service: SharedService) -> None:
    """Let the service make a pass over what is there now, and do all that follows."""
    jobs, store, before = service.jobs, service.contexts.store, service.contexts.store.of("tiny").recall(LAST_PASS)
    service.hint("tiny")
    wait_until(lambda: store.of("tiny").recall(LAST_PASS) != before and not jobs.undone())


@pytest.mark.slow
def test_what_the_safety_catch_holds_is_no_job(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 12)
    with service_of(story) as service:
        settled(story, service)
        assert story.acts() == ["request"] * 12
        for n in range(8):
            hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}", right=(60, 60, 60))})
        story.push(model="acme/new")
        settled(story, service)
        state = service.contexts.store.of("tiny")
        held = state.items.held()

        assert len(held) == 8
        assert sorted(story.acts()) == ["comment", "discussion", "request"]  # the plan, and the new row

        plan = state.plans.at("hf://datasets/acme/contents")
        assert plan is not None
        assert state.plans.approve(plan.digest)
        settled(story, service)
        assert state.items.held() == []
        assert Counter(story.acts())["commit"] == 8
        assert service.health()["status"] == "ok"
    story.contexts.store.close()


@pytest.mark.slow
def test_after_rows_of_workers_the_rows_are_counted_again(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 2)
    with queue_of(story.database) as jobs:
        story.settle()
        story.contexts.queue = jobs
        store, to = story.contexts.store, "hf://datasets/acme/contents"
        push_rows(story, 4)
        story.settle()
        rows, context = store.of("tiny").items.due("row", time.time()), story.contexts.open_context(story.watch)
        looks = EntryRows(context, *context.targets[0], Report(context)).look(rows)
        store.of("tiny").remember(RECOUNT, None)  # as where a pass ends after the rows
        for one, look in zip(rows, looks, strict=True):
            job = RowJob("tiny", to, one.subject, one.marked, admission(look))
            assert [made.outcome for made in RowJobs(story.contexts).publish(story.watch, job)] == ["proposed"]
        assert story.acts() == ["request"] * 4
        assert ledgers_due(store.of("tiny")) is not None
    story.contexts.store.close()


@pytest.mark.slow
def test_rows_that_workers_write_during_a_pass_are_no_unexplained_ones(
    hub: Hub, tmp_path: Path, postgres: Cluster
) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 3)
    with queue_of(story.database) as jobs:
        story.contexts.queue = jobs
        story.settle()
        rows = RowJobs(story.contexts)
        workers = JobCluster(jobs, lambda _: None, lambda job: rows.publish(story.watch, job), tuple, 0.0, timing=QUICK)

        def work() -> None:
            workers.start()
            wait_until(lambda: not jobs.undone())

        story.push(b"{", "acme__broken/results_2026-03-02T10-00-00.000000.json")
        hub.faults.order("/acme/results/discussions", method="POST", before=work)  # the target was read by then
        settle_watches(story.contexts, [story.watch])
        assert workers.stop(PATIENCE)
        assert Counter(story.acts()) == {"request": 3, "discussion": 1}
        assert story.state.items.counts() == {}
        settle_watches(story.contexts, [story.watch])
        assert line_of(story.state, "hf://datasets/acme/contents").startswith("3 accepted: 0 on main, 3 open")
    story.contexts.queue = None
    story.end()


def test_a_row_that_is_another_by_now_goes_back_to_the_pass(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 2)
    with queue_of(story.database) as jobs:
        story.contexts.queue = jobs
        story.settle()
        assert story.acts() == []  # both rows are left to workers
        to, store = "hf://datasets/acme/contents", story.contexts.store
        assert store.of("tiny").recall(LEDGER, target=to) is None  # what is about to be written is no unexplained row
        [first, second] = store.of("tiny").items.due("row", time.time())
        rows = RowJobs(story.contexts)

        assert rows.publish(story.watch, RowJob("tiny", to, first.subject, first.marked, "removed x>")) == []
        assert rows.publish(story.watch, RowJob("tiny", to, second.subject, second.marked + 1, "added")) == []
        assert story.acts() == []
        assert len(store.of("tiny").items.due("row", time.time())) == 2
        assert due_rows(story.contexts.open_context(story.watch), to) == []
    story.contexts.queue = None
    story.settle()
    assert story.acts() == ["request"] * 2
    assert line_of(store.of("tiny"), to).startswith("2 accepted: 0 on main, 2 open")
    story.end()


def test_one_process_at_a_time_keeps_a_watch(postgres: Cluster) -> None:
    store = Store(connect(postgres.database()))

    def wait_for_it() -> bool:
        with store.lease("tiny", PATIENCE) as claim:
            return claim.is_ours

    with ThreadPoolExecutor(1) as pool:
        with store.lease("tiny") as first, store.lease("tiny", 2 * LEASE_LOOK) as second, store.lease("other") as third:
            assert (first.is_ours, second.is_ours, third.is_ours) == (True, False, True)
            waiting = pool.submit(wait_for_it)
        assert waiting.result()
    store.close()


def test_a_pass_by_a_command_waits_for_one_that_runs(
    hub: Hub, tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    monkeypatch.setattr("bot.service.watch.passes.LEASE_PATIENCE", 0.1)
    with story.contexts.store.lease("watch tiny"):
        [refused] = settle_watches(story.contexts, [story.watch])
    monkeypatch.setattr(
        "bot.service.watch.passes.LEASE_PATIENCE", PATIENCE
    )  # the server frees a lease a moment after its end
    [done] = settle_watches(story.contexts, [story.watch])

    assert [(one.outcome, one.status) for one in refused.outcomes] == [("failed", 3)]
    assert "another process works on it" in refused.outcomes[0].text
    assert [one.outcome for one in done.outcomes] == ["unchanged"]  # the source has no result yet
    story.end()


def test_a_queue_without_its_database_is_an_outage(tmp_path: Path) -> None:
    with pytest.raises(StateUnavailable):
        Jobs(f"postgresql://bot@/none?host={tmp_path}").open()


def test_work_is_for_postgresql(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS.format(form="commit", style="entry", limit=20, more=""))
    status, _, said = bot("work", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path.cwd()), "DATABASE_URL": ""})

    assert status == 2
    assert "set DATABASE_URL" in said


@pytest.mark.slow
def test_a_worker_does_the_jobs_until_it_is_stopped(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    (tmp_path / "bot.toml").write_text(SETTINGS.format(limit=1000, style="entry", more="", form="pull-request"))
    push_rows(story, 3)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd()), "DATABASE_URL": story.database}
    environment |= {"HF_TOKEN": story.token, "HF_ENDPOINT": hub.url}
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen([*BOT, "work"], cwd=tmp_path, env=environment, stderr=log) as worker,
        queue_of(story.database) as jobs,
    ):
        wait_until(lambda: is_done(story, jobs))
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0

    said = (tmp_path / "log").read_text()
    assert "INFO takes jobs, of these watches: tiny\n" in said
    assert "INFO takes no more jobs\n" in said
    assert story.acts() == ["request"] * 3
    story.end()


def test_a_worker_that_may_not_write_says_what_the_database_said(
    postgres: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres.database()
    with queue_of(url) as jobs:
        postgres.run(f"alter database {make_url(url).database} set default_transaction_read_only = on")
        worker = JobWorker(jobs.conninfo, {"pass": print}, 1, Timing())
        worker.start()
        wait_until(lambda: "the jobs wait for the database" in caplog.text)
        time.sleep(2.5)  # in which it tries again
        assert worker.stop(10)
    [said] = [one.getMessage() for one in caplog.records if one.name == "bot.service.jobs.queue"]
    assert "read-only transaction" in said
    assert "SQL statement" not in said


def test_a_database_that_only_reads_is_said_by_the_health_check(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    service = make_service(tmp_path, hub.url, story.token, story.watch, story.database)
    service.start()
    wait_until(lambda: service.health()["ok"])
    postgres.run(f"alter database {make_url(story.database).database} set default_transaction_read_only = on")
    postgres.run("select pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid()")
    service.hint("tiny")
    wait_until(lambda: "read-only transaction" in service.health()["watches"].get("tiny", {}).get("failure", ""))
    assert service.health()["status"] == "degraded"
    assert service.stop(10)
    for one in (service.jobs, service.contexts.store, story.contexts.store):
        one.close()


@pytest.mark.slow
def test_a_database_that_goes_away_leaves_no_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with running() as cluster, queue_of(cluster.database()) as jobs:
        worker = JobWorker(jobs.conninfo, {"pass": print}, 1, Timing())
        worker.start()
        time.sleep(2.0)  # until it listens
        cluster.stop()
        wait_until(lambda: "the jobs wait for the database" in caplog.text)
        cluster.start()
        assert worker.stop(30.0)
    assert [one.getMessage() for one in caplog.records if one.exc_info] == []


@pytest.mark.slow
def test_a_worker_that_is_stopped_while_it_connects_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30.0)
        port = silent.getsockname()[1]
        worker = JobWorker(f"host=127.0.0.1 port={port} user=bot dbname=jobs", {}, 1, Timing())
        worker.start()
        with silent.accept()[0]:  # a server that says nothing
            assert worker.stop(30.0)


def test_what_asks_for_passes_has_ended_when_a_process_gives_its_connections_back(postgres: Cluster) -> None:
    asked, answer = threading.Event(), threading.Event()

    def due() -> list[str]:
        asked.set()
        answer.wait(60.0)
        return []

    with closing(Jobs(postgres.database())) as jobs:
        jobs.open()
        cluster = JobCluster(jobs, print, print, due, quiet=0.05, timing=QUICK)
        cluster.start()
        assert asked.wait(30.0)
        assert cluster.worker.stop(30.0)
        assert not cluster.stop(0.1)
        answer.set()
        assert cluster.stop(30.0)
