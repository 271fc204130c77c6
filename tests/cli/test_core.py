"""The commands that need no extra, in an interpreter that finds none of the extras' packages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bot.cli.app import SOURCES

RESULTS = Path(__file__).resolve().parents[2] / "examples" / "results" / "example-org__kestrel-7b"
RUN = """
import json, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("filelock", "prometheus_client", "procrastinate", "psycopg", "psycopg_pool",
                                      "pyarrow", "sqlalchemy", "starlette", "uvicorn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from bot.cli.app import run
ended = []
for call in json.load(sys.stdin):
    sys.argv = ["leaderboard-bot", *call]
    try:
        run()
    except SystemExit as end:
        ended.append(end.code)
print("", json.dumps(ended), sep="\\n")
"""


def run_without_extras(calls: list[list[str]], folder: Path) -> tuple[list[int], str]:
    """The exit status of each call, and all that was printed."""
    code = [sys.executable, "-c", RUN]
    done = subprocess.run(code, input=json.dumps(calls), capture_output=True, text=True, check=False, cwd=folder)
    printed, _, last = done.stdout.rstrip().rpartition("\n")
    return json.loads(last), printed + done.stderr


def test_every_command_says_what_it_does_without_an_extra(tmp_path: Path) -> None:
    ended, said = run_without_extras([[name, "--help"] for name in SOURCES], tmp_path)
    assert ended == [0] * len(SOURCES), said


def test_a_row_is_published_shown_and_verified_without_an_extra(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    calls = [
        ["check", "results"],
        ["publish", "results", "--to", "./board", "--as", "commit"],
        ["board", "./board"],
        ["site", "./board", "--out", "pages"],
        ["export", "./board", "--format", "every-eval-ever", "--out", "records"],
        ["verify", "./board", "--sources", "."],
        ["compare", "results", "results"],
        ["rules"],
        ["leaderboards"],
    ]
    ended, said = run_without_extras(calls, tmp_path)
    assert ended == [0] * len(calls), said
