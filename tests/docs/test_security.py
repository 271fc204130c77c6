"""Each line of what SECURITY.md defends names tests that attack it, and each of these tests exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "SECURITY.md").read_text().splitlines()
HEADS = {place - 1 for place, line in enumerate(LINES) if line.startswith("| ---")}
ROWS = [
    line
    for place, line in enumerate(LINES)
    if line.startswith("| ") and not line.startswith("| ---") and place not in HEADS
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:60])
def test_each_defence_names_attacks_that_exist(row: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row.rsplit(" | ", maxsplit=1)[-1])
    assert named, "no test is named"
    for path, name in named:
        found = re.findall(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE)
        assert len(found) == 1, f"{path} has no test {name}"


def test_the_table_was_found() -> None:
    assert len(ROWS) > 15
