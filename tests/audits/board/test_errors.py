"""How often the alarm errs on synthetic boards; the table in docs/audit-board.md is what this prints.

The boards come from seeds that no threshold was chosen on.
"""

from __future__ import annotations

from random import Random

import pytest

from bot.audits.board.audit import audit_board
from tests.audits.board.boards import board, floored, low, planted, sound
from tests.evaluation.judging import ROOT
from tests.variants import crossed

SHARES = (0.30, 0.45, 0.60, 0.78)
HEIGHTS = {"high": lambda columns, _: columns, "low": low}


def rates(rows: int, height: str, boards: int) -> dict[str, float]:
    """Percentages over boards of six columns: sound columns named, and for each share planted ones found."""
    false = 0
    found = dict.fromkeys(SHARES, 0)
    for seed in range(boards):
        random = Random(13_000_000 + 1_000 * rows + seed)
        columns = HEIGHTS[height](sound(rows, random), random)
        false += len(audit_board(board(columns)).named)
        for number, share in enumerate(SHARES):
            broken = [list(values) for values in columns]
            which = random.randrange(6)
            is_new = (number + seed) % 2
            broken[which] = floored(columns, share, random) if is_new else planted(columns[which], share, random)
            found[share] += f"c{which}" in audit_board(board(broken)).named
    percent = {f"{share:.0%}": 100 * count / boards for share, count in found.items()}
    return {"sound": 100 * false / boards / 6, **percent}


def table_line(rows: int, height: str, found: dict[str, float]) -> str:
    """A line of the table in the docs."""
    cells = [f"{found['sound']:.1f}", *(f"{found[f'{share:.0%}']:.0f}" for share in SHARES)]
    return f"| {rows} | {height} | {' | '.join(cells)} |"


@pytest.mark.campaign
@pytest.mark.parametrize("height", ["high", "low"])
@pytest.mark.parametrize(("rows", "boards"), [(25, 200), (53, 400), (100, 200), (500, 60)])
def test_the_error_rates_are_those_of_the_docs(rows: int, boards: int, height: str) -> None:
    line = table_line(rows, height, rates(rows, height, boards))
    print(line)  # noqa: T201 - what the docs quote
    assert line in (ROOT / "docs" / "audit-board.md").read_text(encoding="utf-8")


@crossed(seed=range(3), share=SHARES, height=["high", "low"])
def test_a_planted_floor_is_named_and_nothing_else(seed: int, share: float, height: str) -> None:
    random = Random(seed)
    columns = HEIGHTS[height](sound(300, random), random)
    assert audit_board(board(columns)).named == ()
    columns[2] = floored(columns, share, random)
    assert audit_board(board(columns)).named == ("c2",)
