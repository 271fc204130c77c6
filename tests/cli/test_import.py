"""The command `import`: it asks first, and goes on where it ended."""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import closing
from pathlib import Path
from subprocess import PIPE

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import BotError, CallError, LeaseLost
from bot.service.store.engine import connect
from bot.service.store.items import RowJob
from bot.service.store.leases import state_lock
from bot.service.store.state import Store
from bot.service.waits import LEASE_LOOK
from tests.command import BOT
from tests.platforms.git.test_source import Folder
from tests.service.worker_processes import queue_of
from tests.variants import one_of
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running
from tests.world.results import TINY, path_of, result

CALL = ["import", "hf://datasets/acme/results", "--to", "board", "--leaderboard", "tiny.toml", "--as", "commit"]


@pytest.fixture
def runner(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    return CliRunner(env={"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url, "DATABASE_URL": None})


def test_it_asks_first_and_does_it_once(hub: Hub, repository: Repository, runner: CliRunner, tmp_path: Path) -> None:
    hub.push(repository, {path_of(model): result(model) for model in ("acme/one", "acme/two")})
    refused = runner.invoke(app, CALL)
    assert isinstance(refused.exception, CallError)
    assert "add --yes" in str(refused.exception)

    planned = runner.invoke(app, [*CALL, "--dry-run"])
    assert planned.exit_code == 0
    assert "2 files" in planned.output
    assert [one.name for one in tmp_path.iterdir()] == ["tiny.toml"]

    done = runner.invoke(app, [*CALL, "--yes"])
    assert done.exit_code == 0
    assert "wrote 2 rows" in done.output
    assert done.stderr == ""
    assert len(list((tmp_path / "board").rglob("entries/**/*.json"))) == 2

    again = runner.invoke(app, [*CALL, "--yes", "--quiet"])
    assert (again.exit_code, again.stderr) == (0, "")
    assert "wrote 0 rows" in again.output


@pytest.fixture
def pushed(hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.push(repository, {path_of("acme/one"): result("acme/one")})
    monkeypatch.setattr("bot.service.watch.passes.LEASE_PATIENCE", 2 * LEASE_LOOK)


def refused(runner: CliRunner, url: str) -> str:
    """What an import is told that may not begin: one line, and nothing is written."""
    told = runner.invoke(app, [*CALL, "--yes"], env={"DATABASE_URL": url})
    assert isinstance(told.exception, BotError)
    assert (told.exception.status, told.output, Path("board").exists()) == (3, "", False)
    assert "\n" not in str(told.exception)
    return str(told.exception)


@pytest.mark.parametrize("is_pass", one_of([True, False]))
@pytest.mark.usefixtures("pushed")
def test_an_import_beside_another_process_that_writes_there_is_told_so(
    runner: CliRunner, postgres: Cluster, tmp_path: Path, *, is_pass: bool
) -> None:
    board = f"import into {tmp_path / 'board'}"
    url, leases = postgres.database(), ("watch tiny", [board]) if is_pass else (board, [])
    with closing(Store(connect(url))) as store, store.lease(leases[0], beside=leases[1]) as claim:
        assert claim.is_ours
        told = refused(runner, url)
        planned = runner.invoke(app, [*CALL, "--dry-run"], env={"DATABASE_URL": url})
    assert told.startswith("board: another process writes there now")
    assert planned.exit_code == 0

    done = runner.invoke(app, [*CALL, "--yes"], env={"DATABASE_URL": url})
    assert "wrote 1 row" in done.output


def test_the_command_for_a_rejected_file_of_a_folder_finds_it(runner: CliRunner, tmp_path: Path) -> None:
    Folder(tmp_path / "results").push({path_of("acme/one"): result("acme/one"), "acme__bad/results_1.json": b"{"})
    call = ["import", "results", *CALL[2:], "--yes"]

    done = runner.invoke(app, call)

    [command] = [line.split() for line in done.output.splitlines() if "leaderboard-bot check" in line]
    told = runner.invoke(app, command[1:])
    assert (done.exit_code, told.exit_code) == (0, 1)
    assert "malformed-file" in told.output


@pytest.mark.usefixtures("pushed")
def test_rows_that_a_stopped_service_left_to_workers_keep_no_import(runner: CliRunner, postgres: Cluster) -> None:
    url = postgres.database()
    with queue_of(url) as jobs:
        jobs.put_rows([RowJob("tiny", "./board", "key", 0, "added")])
        done = runner.invoke(app, [*CALL, "--yes"], env={"DATABASE_URL": url})
    assert "wrote 1 row" in done.output


@pytest.mark.usefixtures("pushed")
def test_an_import_beside_a_process_that_keeps_the_state_in_a_file_is_told_so(
    runner: CliRunner, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    with state_lock(url):
        said = "another process uses it; if that is `serve`, it settles the watches of its settings"
        assert said in refused(runner, url)  # and not that it reads this source: nobody knows that here


@pytest.mark.slow
def test_an_import_stops_when_its_database_was_restarted_and_goes_on_when_called_again(
    hub: Hub, repository: Repository, runner: CliRunner
) -> None:
    target = hub.repository("acme/contents")
    hub.writers.add(("bot", "acme/contents"))
    hub.push(repository, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(230)})
    call = [*CALL[:2], "--to", "hf://datasets/acme/contents", *CALL[4:], "--yes"]
    with running() as cluster:
        url = cluster.database()

        def restart() -> None:
            cluster.stop()
            cluster.start()

        hub.faults.order("/commit/main", before=restart)
        stopped = runner.invoke(app, call, env={"DATABASE_URL": url})
        assert isinstance(stopped.exception, LeaseLost)
        assert [one.act for one in hub.by("bot")] == ["commit"]

        done = runner.invoke(app, call, env={"DATABASE_URL": url})
    assert "wrote 130 rows" in done.output
    assert "adopted 100 rows" in done.output
    assert sum(path.startswith("entries/") for path, _ in target.main.tree.files()) == 230


@pytest.mark.slow
def test_what_others_wrote_while_a_person_thought_is_not_written_again(
    hub: Hub, repository: Repository, runner: CliRunner, tmp_path: Path
) -> None:
    target = hub.repository("acme/contents")
    hub.push(repository, {path_of("acme/one"): result("acme/one")})
    call = [*CALL[:2], "--to", "hf://datasets/acme/contents", "--leaderboard", "tiny.toml"]
    settings = {"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url, "DATABASE_URL": "sqlite:///other.db"}
    terminal, stdin = pty.openpty()
    environment = {**os.environ, **settings, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([*BOT, *call], cwd=tmp_path, env=environment, stdin=stdin, stdout=PIPE, stderr=PIPE) as asked:
        assert asked.stderr is not None
        said = b""
        while not said.endswith(b"[y/N]:") and (more := asked.stderr.read(1)):
            said += more
        other = runner.invoke(app, [*call, "--yes"])
        os.write(terminal, b"y\n")
        told = asked.communicate()[0].decode()
    os.close(terminal)
    os.close(stdin)

    assert "wrote 1 row" in other.output
    assert "adopted 1 row" in told
    assert [request.num for request in hub.requests(target)] == [1]
