"""The audits are registered by name and imported when they are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from bot.cli.app import main
sys.argv = ["leaderboard-bot", *sys.argv[1:]]
try:
    main()
finally:
    print("imported:", *sorted(name for name in sys.modules if name.startswith("bot.audits.")), file=sys.stderr)
"""


def imported_by(*arguments: object) -> set[str]:
    call = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    return set(done.stderr.rpartition("imported:")[2].split())


def test_check_imports_no_audit() -> None:
    example = next((ROOT / "examples" / "results").rglob("*.json"))
    assert imported_by("check", example) == set()


@pytest.mark.parametrize("name", ["board", "drop", "mmlu", "results"])
def test_an_audit_imports_itself_and_no_other(name: str) -> None:
    audits = {module.split(".")[2] for module in imported_by("audit", name, "--help")}
    assert audits - {"default_command", "log_parts", "output", "ranks", "records", "score_table"} == {name}


def test_an_unknown_audit_is_a_wrong_call() -> None:
    call = [sys.executable, "-m", "bot", "audit", "nope"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "No such command 'nope'" in done.stderr
