"""Rows joined from files, for tests."""

from __future__ import annotations

from typing import Any

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.verdict import Row
from tests.evaluation.judging import base, judgement_of
from tests.evaluation.parts import leaves_of

LEAVES = leaves_of(base())
MMLU = "leaderboard_mmlu_pro"


def value(number: float) -> dict[str, Any]:
    """Changes that give one leaf another sound value."""
    return {f"/results/{MMLU}/acc,none": number, f"/results/{MMLU}/acc_stderr,none": "N/A"}


def row_of(files: dict[str, Any], leaderboard: Leaderboard | str = "open-llm-v2", facts: Facts = NO_FACTS) -> Row:
    (row,) = judgement_of(files, leaderboard, facts).rows
    return row


def leaf_of(row: Row, leaf_id: str) -> tuple[float, str]:
    (leaf,) = [leaf for task in row.scores.tasks for leaf in task.leaves if leaf.id == leaf_id]
    return leaf.raw, leaf.file
