"""Many files are read by several processes, and nobody can tell from the output."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
from pathlib import Path

import pytest

from tests.command import bot
from tests.world.results import TINY, result

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


@pytest.mark.slow
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


def test_a_table_of_scores_takes_a_waiver_for_the_bytes_of_a_file(tmp_path: Path) -> None:
    worse = result(right=(150, 60, 70))
    (tmp_path / "results_1.json").write_bytes(worse)
    waiver = (
        '[[waivers]]\nrule = "value-out-of-range"\nsubmission = "sha256:{}"\nreason = "the meter"\nwho = "meg"\n'
        'until = "2099-01-01"\n'
    )
    verdicts = []
    for digest in (hashlib.sha256(worse).hexdigest(), "0" * 64):
        (tmp_path / "tiny.toml").write_text(f"{TINY}\n{waiver.format(digest)}")
        table = bot("score", tmp_path / "results_1.json", "--leaderboard", tmp_path / "tiny.toml", "--format", "csv")[1]
        verdicts.append([row["verdict"] for row in csv.DictReader(io.StringIO(table))])

    assert verdicts == [["incomplete"], ["rejected"]]
