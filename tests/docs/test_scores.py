"""The worked examples of docs/scores.md, recomputed: every number on the page is what the formula gives."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from bot.evaluation.leaderboard import load_leaderboard
from bot.evaluation.score import normalize

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
NUMBER = r"([\d.]+) \|"
ROW = re.compile(rf"^\| ([\w -]+?) \| (\d+) / (\d+) \| ([\d/]+) \| {NUMBER} {NUMBER}(?: {NUMBER})?$", re.MULTILINE)
ROWS = ROW.findall(PAGE)


def score(value: float, bound: str) -> float:
    lower = float(Fraction(bound))
    return normalize(value, lower, 1 - lower)


def agrees(number: float, written: str) -> bool:
    """Whether a number rounds to what is written, to its last digit."""
    return f"{number:.{len(written.partition('.')[2])}f}" == written


def test_all_rows_of_the_worked_examples_are_found() -> None:
    assert [row[0] for row in ROWS] == [
        "murder_mysteries",
        "object_placements",
        "team_allocation",
        "GPQA",
        "MMLU-PRO",
        "MATH Lvl 5",
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_a_worked_example_is_what_the_formula_gives(row: tuple[str, ...]) -> None:
    _, right, of, bound, value, scored, published = row
    exact = int(right) / int(of)

    assert agrees(exact, value)
    assert agrees(score(exact, bound), scored)
    assert not published or score(exact, bound) == pytest.approx(float(published), abs=1e-9)


def test_the_bounds_and_sizes_on_the_page_are_the_declared_ones() -> None:
    tasks = {task.title: task for task in load_leaderboard("open-llm-v2").tasks}
    musr = {leaf.id.removeprefix("leaderboard_musr_"): leaf for leaf in tasks["MUSR"].leaves}
    for name, _, of, bound, *_ in ROWS:
        leaves = [musr[name]] if name in musr else tasks[name].leaves
        lower = tasks["MUSR"].leaf_lower_bound(musr[name]) if name in musr else tasks[name].lower_bound
        assert (sum(leaf.samples for leaf in leaves), str(lower)) == (int(of), bound)


def test_the_means_on_the_page_are_the_published_ones() -> None:
    musr = sum(score(int(right) / int(of), bound) for _, right, of, bound, *_ in ROWS[:3]) / 3
    ifeval = 100 * (118 / 541 + 292 / 834) / 2
    columns = (28.411725333226947, 42.74936268839652, 15.181268882175228, 15.436241610738257, musr, 40.732121749408975)

    assert musr == pytest.approx(11.217187500000003, abs=1e-9)
    assert ifeval == pytest.approx(28.411725333226947, abs=1e-9)
    assert sum(columns) / 6 == pytest.approx(25.62131796065766, abs=1e-9)
    for number in ("11.217187500000003", "28.411725333226947", "25.62131796065766", "42.74936268839652"):
        assert number in PAGE


def test_the_group_row_gives_another_number_than_the_one_published() -> None:
    bbh = next(task for task in load_leaderboard("open-llm-v2").tasks if task.id == "bbh")
    mean_bound = sum((bbh.leaf_lower_bound(leaf) for leaf in bbh.leaves), Fraction(0)) / len(bbh.leaves)
    sizes = sum(leaf.samples for leaf in bbh.leaves)

    assert sizes == 5761
    assert 3984 / sizes == pytest.approx(0.6915466064919285, abs=1e-15)
    assert f"{score(3984 / sizes, str(mean_bound)):.2f}" == "56.45"
    assert score(6388 / 12032, "1/10") == pytest.approx(47.87972813238771, abs=1e-9)
    assert score(203 / 1324, "0") == pytest.approx(15.332326283987916, abs=1e-9)
