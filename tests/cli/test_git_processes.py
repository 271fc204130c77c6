"""A folder target starts no git for a row: as many processes for 30 rows as for 10, whatever the command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.platforms.git.test_source import Folder
from tests.world.results import TINY, path_of, result

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
[[watches]]
name = "w"
leaderboard = "tiny.toml"
source = "results"
[[watches.targets]]
to = "board"
as = "commit"
"""
COMMANDS = (
    ("settle", "--config", "bot.toml"),
    ("verify", "./board", "--sources", "."),
    ("publish", "results", "--to", "./published", "-l", "tiny.toml", "--as", "commit"),
)


def processes(place: Path, rows: int) -> list[int]:
    """How often each of the commands starts git; a recorder stands as git first on PATH. Each result has a commit."""
    recorder, seen = place / "bin" / "git", place / "seen"
    recorder.parent.mkdir(parents=True)
    recorder.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexec {shutil.which("git")} "$@"\n', encoding="utf-8")
    recorder.chmod(0o755)
    (place / "tiny.toml").write_text(TINY, encoding="utf-8")
    (place / "bot.toml").write_text(SETTINGS, encoding="utf-8")
    source = Folder(place / "results")
    results = {path_of(model): result(model) for model in (f"acme/model-{number:02}" for number in range(rows))}
    for path, data in results.items():
        source.push({path: data})
    path = os.pathsep.join([str(recorder.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "DATABASE_URL": f"sqlite:///{place}/bot.db"}
    found = []
    for words in COMMANDS:
        seen.write_text("", encoding="utf-8")
        call = [sys.executable, "-m", "bot", *words]
        done = subprocess.run(call, cwd=place, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(len(seen.read_text(encoding="utf-8").splitlines()))
    return found


@pytest.mark.slow
def test_no_command_starts_git_for_a_row(tmp_path: Path) -> None:
    few, many = processes(tmp_path / "few", 10), processes(tmp_path / "many", 30)

    assert many == few
    assert all(few)
