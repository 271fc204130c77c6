"""The audits are registered by name and imported when they are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.variants import one_of

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from bot.cli.app import run
sys.argv = ["leaderboard-bot", *sys.argv[1:]]
try:
    run()
finally:
    print("imported:", *sorted(name for name in sys.modules if name.startswith("bot.")), file=sys.stderr)
"""


def imported_by(*arguments: object) -> set[str]:
    call = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    return set(done.stderr.rpartition("imported:")[2].split())


def audits_imported_by(*arguments: object) -> set[str]:
    return {name for name in imported_by(*arguments) if name.startswith("bot.audits.")}


def test_check_imports_no_audit() -> None:
    example = next((ROOT / "examples" / "results").rglob("*.json"))
    assert audits_imported_by("check", example) == set()


def test_an_audit_of_samples_imports_no_formats_of_results_and_no_entries(tmp_path: Path) -> None:
    log = tmp_path / "samples_drop.jsonl"
    log.write_text('{"prediction": "10", "gold_answers": [["10"]]}\n')

    imported = imported_by("audit", "drop", log)

    assert "bot.audits.drop.report" in imported
    packages = {".".join(name.split(".")[:3]) for name in imported}
    assert packages.isdisjoint({"bot.evaluation.formats", "bot.publishing.layout", "bot.publishing.entry"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "others"),
    # It scores answers of DROP again.
    one_of([("results", {"drop"}), ("board", set()), ("drop", set()), ("mmlu", set())]),
)
def test_an_audit_imports_itself_and_what_it_needs(name: str, others: set[str]) -> None:
    audits = {module.split(".")[2] for module in audits_imported_by("audit", name, "absent")}
    assert audits - {"ranks", "samples", "score_table"} == {name, *others}


def test_an_unknown_audit_is_a_wrong_call() -> None:
    call = [sys.executable, "-m", "bot", "audit", "nope"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "No such command 'nope'" in done.stderr
