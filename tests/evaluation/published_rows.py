"""Published rows to compare with, and the judgement of a reference file."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path

from bot.evaluation.rules.rule import Facts
from tests.evaluation.judging import Outcome, outcome_of

AVERAGE = "Average ⬆️"
EXACT = 1e-9
TODAY = Facts(today=date(2026, 11, 1))
Count = Callable[[str, int, int], None]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judge_file(path: Path, leaderboard: str = "open-llm-v2", facts: Facts = TODAY) -> Outcome:
    return outcome_of(path.read_bytes(), leaderboard, facts, path.name)
