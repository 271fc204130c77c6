"""The command `import`: it asks first, and goes on where it ended."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import CallError
from bot.service.store import Store, connect
from tests.platforms.git.test_source import Folder
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.postgres import Cluster
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
    assert not list(tmp_path.rglob("entries/**/*.json"))

    done = runner.invoke(app, [*CALL, "--yes"])
    assert done.exit_code == 0
    assert "wrote 2 rows" in done.output
    assert len(list((tmp_path / "board").rglob("entries/**/*.json"))) == 2

    again = runner.invoke(app, [*CALL, "--yes"])
    assert again.exit_code == 0
    assert "wrote 0 rows" in again.output


def test_a_second_import_into_the_same_board_is_told_so(
    hub: Hub, repository: Repository, runner: CliRunner, postgres: Cluster
) -> None:
    hub.push(repository, {path_of("acme/one"): result("acme/one")})
    url = postgres.database()
    with closing(Store(connect(url))) as store, store.lease("import into board") as is_ours:
        assert is_ours
        told = runner.invoke(app, [*CALL, "--yes"], env={"DATABASE_URL": url})
        assert "another process imports into it now" in str(told.exception)
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
