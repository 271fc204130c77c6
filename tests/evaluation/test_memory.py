"""Files made to fill the memory are refused before they do; one after the other, they cost no more than one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import bot

ROOT = Path(__file__).parents[2]
LIMIT = 400 * 1024  # KiB of resident memory
MEASURED = """
import resource, sys
from pathlib import Path
from bot.cli.app import run
sys.argv = ["leaderboard-bot", "check", "--format", "json", *sys.argv[1:]]
try:
    run()
finally:
    status = Path("/proc/self/status")  # ru_maxrss also counts what the parent held when it forked
    lines = status.read_text().splitlines() if status.exists() else []
    peak = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    print(peak[0] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def rows(count: int) -> Iterator[str]:
    yield '{"results": {"t": {"a": 1}'
    for number in range(count):
        yield f',"t{number}":{{"a":1}}'
    yield '}, "config": {}}'


def open_arrays(count: int) -> Iterator[str]:
    yield '{"results": ['
    yield "[]," * count


def whole_arrays(count: int) -> Iterator[str]:
    yield '{"x": ['
    yield "[]," * count
    yield "1]}"


def long_names(count: int) -> Iterator[str]:
    yield json.dumps({"results": {"n" * count + str(number): {"acc": 0.5} for number in range(4)}, "config": {}})


def digits(count: int) -> Iterator[str]:
    yield '{"results": {"t": {"acc": ' + "9" * count + "}}}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "count", "options"),
    [
        (rows, 1_400_000, []),
        (rows, 1_400_000, ["--max-bytes", "100000000"]),
        (rows, 120_000, []),
        (open_arrays, 2_700_000, []),
        (whole_arrays, 2_700_000, []),
        (long_names, 2_000_000, []),
        (digits, 8_000_000, []),
    ],
)
def test_eight_files_cost_little_memory(
    make: Callable[[int], Iterator[str]], count: int, options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "0.json").write_text("".join(make(count)))
    for number in range(1, 8):
        (tmp_path / f"{number}.json").hardlink_to(tmp_path / "0.json")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path), *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    *_, used = done.stderr.split()
    assert done.returncode == 1, done.stderr
    assert int(used) < LIMIT
    report = json.loads(done.stdout)
    assert len(report["submissions"]) + len(report["unread"]) == 8
    assert len(done.stdout) < 100_000


def test_the_limit_of_one_file_is_an_option(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"results": {}, "config": {}}' + " " * 1000)

    def said(*options: str) -> str:
        return bot("check", tmp_path, *options)[1]

    assert "has 1.1 KB; the limit is 1,000 bytes" in said("--max-bytes", "1000").replace("\n   ", "")
    assert "the limit is" not in said("--max-bytes", "2000")
