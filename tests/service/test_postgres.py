"""The whole service on a real PostgreSQL: the same story, and a server that is started again meanwhile."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from random import Random
from string import ascii_letters

import pytest
from sqlalchemy import inspect
from sqlalchemy.engine import make_url

from bot.errors import CallError, StateUnavailable
from bot.service.jobs.queue import Jobs
from bot.service.store.engine import connect, open_engine
from bot.service.store.state import Store
from tests.command import bot
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running
from tests.world.results import path_of


def test_a_story_ends_as_on_sqlite(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    story.push()
    story.push(model="acme/borea-1b", right=(50, 60, 170))
    story.settle()
    assert story.acts() == ["request", "discussion"]
    hub.merge(story.target, story.requests[0])
    story.settle()
    assert story.acts() == ["commit"]
    story.push(model="acme/borea-1b")
    story.remove(path_of("acme/atlas-7b"))
    story.settle()
    assert sorted(story.acts()) == ["closed", "comment", "request", "request"]
    story.end()


@pytest.mark.slow
def test_a_dry_run_reads_nothing_again(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    story.push()
    story.settle()
    hub.calls.clear()
    copy = story.contexts.store.scratch()

    assert copy.of("tiny").submissions.counts() == story.state.submissions.counts() == {"accepted": 1}
    copy.close()
    assert story.acts() == ["request"]
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["status"], ["settle", "--dry-run"]], ids=" ".join)
def test_what_only_looks_neither_makes_nor_empties_the_tables(
    hub: Hub, tmp_path: Path, postgres: Cluster, command: list[str]
) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    (tmp_path / "bot.toml").write_text(story.text)
    story.push()
    story.settle()
    story.news()
    with story.contexts.store.engine.begin() as connection:
        connection.exec_driver_sql("update form set version = 1")
    empty = postgres.database()
    for database in (story.database, empty):
        env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": story.token, "DATABASE_URL": database}
        status, out, err = bot(*command, "--config", tmp_path / "bot.toml", env=env)
        assert (status, err) == (0, ""), err
        assert "1 open" in out or "unchanged" in out

    assert story.state.submissions.counts() == {"accepted": 1}
    engine = open_engine(empty)
    assert inspect(engine).get_schema_names() == ["information_schema", "public"]
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    story.contexts.store.close()


@pytest.mark.slow
def test_a_server_that_goes_away_is_an_outage_and_costs_nothing(hub: Hub, tmp_path: Path) -> None:
    with running() as cluster:
        story = Story(hub, tmp_path, database=cluster.database())
        story.push()
        cluster.stop()
        with pytest.raises(StateUnavailable):
            story.settle()
        cluster.start()
        story.settle()
        assert story.acts() == ["request"]
        cluster.stop()
        cluster.start()
        story.end()


@pytest.mark.slow
def test_a_server_that_only_reads_after_a_failover_is_an_outage(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    url = postgres.database()
    story, name = Story(hub, tmp_path, database=url), make_url(url).database
    end_lines = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
    story.push()
    postgres.run(f"alter database {name} set default_transaction_read_only = on")
    postgres.run(end_lines)
    with pytest.raises(StateUnavailable, match="read-only transaction"):
        story.settle()
    postgres.run(f"alter database {name} reset default_transaction_read_only")
    postgres.run(end_lines)
    story.settle()
    assert story.acts() == ["request"]
    story.end()


def test_an_account_that_may_not_make_the_tables_is_told_so(postgres: Cluster) -> None:
    url = make_url(postgres.database())
    postgres.run(f"create role guest{url.database} login")
    with pytest.raises(StateUnavailable, match="permission denied"):
        connect(url.set(username=f"guest{url.database}").render_as_string())


def _open(url: str) -> None:
    Store(connect(url)).close()


@pytest.mark.slow
def test_processes_that_begin_at_once_make_the_tables_once(postgres: Cluster) -> None:
    url = postgres.database()
    with multiprocessing.get_context("forkserver").Pool(4) as pool:
        pool.map(_open, [url] * 8)
    store = Store(connect(url))
    with store.engine.begin() as connection:
        assert connection.exec_driver_sql("select count(*) from form").scalar() == 1
    store.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bot:s3cret@127.0.0.1:1/none",
        "postgresql://bot:s3cret@/none?host=/nowhere",
        "postgresql://bot@127.0.0.1:1/none?password=s3cret",
    ],
)
def test_a_server_that_is_not_there_is_named_without_its_password(url: str) -> None:
    for call in (connect, lambda url: Jobs(url).open()):
        with pytest.raises(StateUnavailable, match="postgresql") as caught:
            call(url)
        assert "s3cret" not in str(caught.value)


def test_a_driver_that_is_not_installed_is_named() -> None:
    with pytest.raises(CallError, match="leaderboard-bot\\[postgres\\]"):
        connect("postgresql+asyncpg://bot@/none")


def test_a_path_of_any_length_stops_itself_alone(hub: Hub, tmp_path: Path, postgres: Cluster) -> None:
    story = Story(hub, tmp_path, database=postgres.database())
    letters = Random(1).choices(ascii_letters, k=20_000)  # what does not pack fills an index sooner
    longest, longer = ("".join(letters[:length]) for length in (995, 3_500))
    for path in (f"{longest}.json", f"{longer}.json"):
        story.push(path=path)
    outcomes = story.settle()

    [rejected] = [one for one in outcomes if one.outcome == "rejected"]
    assert "its name has more than 1,000 bytes; rename it" in rejected.text
    assert [one.outcome for one in outcomes if one.outcome != "rejected"] == ["proposed"]
    story.news()
    story.settle()
    story.end()
