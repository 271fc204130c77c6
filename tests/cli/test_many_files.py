"""Many files are read by several processes, and nobody can tell from the output."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import bot

EXAMPLES = Path("examples/results").absolute()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More files than one process takes at once, with a broken one and one that is no result."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(8):
        shutil.copytree(EXAMPLES, folder / str(number))
    (folder / "results_broken.json").write_text('{"results": {')
    (folder / "note.json").write_text("[1, 2]")
    return folder


@pytest.mark.parametrize(
    "call",
    [("check", "--format", "json"), ("check",), ("score", "--format", "csv"), ("audit", "results", "--format", "json")],
    ids=" ".join,
)
def test_two_processes_write_what_one_writes(folder: Path, call: tuple[str, ...]) -> None:
    alone, shared = (bot(*call, folder, "--jobs", jobs) for jobs in (1, 2))

    assert alone == shared
    assert alone[0] == 1
    assert "broken" in alone[1]
