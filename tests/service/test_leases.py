"""A pass that loses its lease on the watch stops, writes nothing more, and the next one goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.errors import InUse, LeaseLost
from bot.platforms.git.target import Folder
from bot.platforms.net import check_lease, checked_lease
from bot.publishing.publication import Commit, Marker, PostText
from bot.server.health import PAUSED
from bot.service.store.engine import connect
from bot.service.store.state import Store
from bot.service.waits import LEASE_LOOK
from bot.service.watch.outcome import WatchPass
from bot.service.watch.passes import import_lease, settle_watches
from tests.service.stories import Story
from tests.service.test_jobs import service_of
from tests.service.worker_processes import PATIENCE, is_done, push_rows, queue_of, wait_until
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running

END_THE_LEASE = text(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted"
    " and database = (select oid from pg_database where datname = current_database())"
)


@pytest.fixture
def story(hub: Hub, tmp_path: Path, postgres: Cluster) -> Iterator[Story]:
    """One whose state is in a database that processes share."""
    story = Story(hub, tmp_path, database=postgres.database())
    yield story
    story.end()


def one_pass(story: Story) -> WatchPass:
    [done] = settle_watches(story.contexts, [story.watch])
    return done


def the_rest_is_done(story: Story, rows: int) -> None:
    """The next pass publishes what is left; nothing stands twice."""
    assert [one.outcome for one in one_pass(story).outcomes] == ["proposed"] * len(story.acts())
    titles = sorted(request.title for request in story.requests)
    assert titles == sorted(f"Add acme/m{n} (bfloat16): 58.33" for n in range(rows))


@pytest.mark.slow
@pytest.mark.parametrize(("at", "acts"), [("/paths-info/", []), ("/commit/main", ["request"])])
def test_a_pass_stops_when_its_database_was_restarted(hub: Hub, tmp_path: Path, at: str, acts: list[str]) -> None:
    with running() as cluster:
        story = Story(hub, tmp_path, database=cluster.database())

        def restart() -> None:
            cluster.stop()
            cluster.start()

        push_rows(story, 4)
        hub.faults.order(at, before=restart)
        done = one_pass(story)

        assert story.acts() == acts
        assert (done.outcomes[-1].outcome, done.outcomes[-1].status) == ("failed", 3)
        assert "the work stops here, and the next pass or call continues it" in done.outcomes[-1].text
        assert [item.attempts for item in story.state.items.all()] == [0] * len(story.state.items.all())
        the_rest_is_done(story, 4)
        story.end()


@contextmanager
def taken_over(story: Story) -> Iterator[Callable[[], None]]:
    """What ends the lease on the watch and has another process take it, until the block ends."""
    others, taken, over = Store(connect(story.database)), threading.Event(), threading.Event()

    def keep() -> None:
        with others.lease("watch tiny", PATIENCE) as claim:
            assert claim.is_ours
            taken.set()
            over.wait(PATIENCE)

    thread = threading.Thread(target=keep)

    def take_over() -> None:
        with story.contexts.store.transaction() as connection:
            connection.execute(END_THE_LEASE)
        thread.start()
        assert taken.wait(PATIENCE)

    yield take_over
    over.set()
    thread.join()
    others.close()


@pytest.mark.slow
def test_a_pass_stops_when_another_process_took_its_watch_over(story: Story) -> None:
    push_rows(story, 4)
    with taken_over(story) as take_over:
        story.hub.faults.order("/commit/main", before=take_over)
        done = one_pass(story)

    assert story.acts() == ["request"]
    assert [one.outcome for one in done.outcomes] == ["proposed", "failed"]
    assert [one["outcome"] for one in story.state.outcomes()] == ["failed", "proposed"]
    the_rest_is_done(story, 4)


def test_what_is_kept_stays_kept_and_what_is_lost_stays_lost(postgres: Cluster) -> None:
    store = Store(connect(postgres.database()))
    with store.lease("tiny") as claim:
        assert claim.is_ours
        check_lease()
        with store.transaction() as connection:
            connection.execute(END_THE_LEASE)
        for _ in range(2):
            with pytest.raises(LeaseLost):
                check_lease()
    check_lease()
    store.close()


def test_the_passes_of_a_service_wait_while_their_target_is_filled_and_say_so(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.server.sharing.LEASE_PATIENCE", 2 * LEASE_LOOK)
    story.push()
    with service_of(story) as service:
        with import_lease(story.contexts.store, "HF://datasets/Acme/contents/", tmp_path, tuple):
            wait_until(lambda: service.states["tiny"].failure == PAUSED)
            assert service.health()["status"] == "degraded"
            assert story.acts() == []
        wait_until(lambda: service.states["tiny"].settled is not None)
        assert service.states["tiny"].failure == ""
    assert story.acts() == ["request"]


@pytest.mark.slow
def test_an_import_waits_for_the_rows_of_workers_and_they_take_none_while_it_runs(
    hub: Hub, tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.watch.passes.LEASE_PATIENCE", 2 * LEASE_LOOK)
    monkeypatch.setattr("bot.server.sharing.LEASE_PATIENCE", 2 * LEASE_LOOK)
    story = Story(hub, tmp_path, limit=1000, database=postgres.database())
    push_rows(story, 6)
    started, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        goes_on.wait(PATIENCE)

    hub.faults.order("/commit/main", before=hold, times=2)  # a process does two rows at once
    with service_of(story) as service, queue_of(story.database) as jobs:
        filled = partial(import_lease, story.contexts.store, "hf://datasets/acme/contents", tmp_path, jobs.row_targets)
        assert started.wait(PATIENCE)
        wait_until(lambda: ("pass", "tiny") not in jobs.undone())
        with pytest.raises(InUse, match="a worker publishes a row there now"), filled():
            raise AssertionError("a row is written")
        monkeypatch.setattr("bot.service.watch.passes.LEASE_PATIENCE", PATIENCE)
        threading.Timer(2 * LEASE_LOOK, goes_on.set).start()
        with filled():
            written = len(story.requests)
            wait_until(lambda: ("row", "tiny") not in jobs.undone())
            assert len(story.requests) == written < 6
        wait_until(lambda: len(story.requests) == 6 and is_done(story, jobs))
        assert service.health()["status"] == "ok"
    assert story.acts() == ["request"] * 6
    story.end()


@pytest.mark.slow
def test_a_command_that_settles_is_told_of_an_import(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.watch.passes.LEASE_PATIENCE", 2 * LEASE_LOOK)
    story.push()
    with import_lease(story.contexts.store, "hf://datasets/acme/contents", tmp_path, tuple):
        [told] = one_pass(story).outcomes
    assert (told.outcome, told.status) == ("failed", 3)
    assert told.text == "watch tiny: an import fills its target now; wait until it ends"
    monkeypatch.setattr(
        "bot.service.watch.passes.LEASE_PATIENCE", PATIENCE
    )  # the server frees a lease a moment after its end
    assert [one.outcome for one in one_pass(story).outcomes] == ["proposed"]
    assert story.acts() == ["request"]


def lost() -> None:
    raise LeaseLost


def test_a_folder_is_not_written_without_the_lease(tmp_path: Path) -> None:
    publication = Commit(Marker("board", "tiny"), PostText("Add a row", ""), {"entries/a.json": b"{}"})
    with checked_lease(lost), pytest.raises(LeaseLost):
        Folder(str(tmp_path / "board")).apply(publication)

    assert Folder(str(tmp_path / "board")).head() == ""
