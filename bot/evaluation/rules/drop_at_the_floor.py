"""DROP is as low as its stop word alone makes it.

## What it does
Reports an f1 of DROP below 0.1 where generation stops at a full stop.

## Why is this bad?
12.25 is cut after the 12: in 2023 most models stood at 0.03 to 0.07.

## When it is wrong
The model is that weak: `audit drop` on its sample log shows it.

## Example
leaderboard: open-llm-v1-drop
(a file of open-llm-v1-drop)
/results/harness|drop|3/f1: 0.0614

## A sound run writes
leaderboard: open-llm-v1-drop
(a file of open-llm-v1-drop)
/results/harness|drop|3/f1: 0.47
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Violations, rule

FLOOR = 0.1  # as `audit drop` has it
TASK, METRIC, STOP = "drop", "f1", "."


@rule(
    Severity.WARNING, where=lambda board: any(metric.name == METRIC for task in board.tasks for metric in task.metrics)
)
def drop_at_the_floor(case: Case) -> Violations:
    """Yield a violation where f1 is below the floor and nothing says that the stop word was another."""
    for measurement in case.measurements.present:
        required = measurement.required
        if TASK not in {required.leaf_key, required.leaf.id} or required.metric.name != METRIC:
            continue
        if measurement.value / required.unit < FLOOR and measurement.leaf.until in {"", STOP}:
            yield case.at(
                [measurement],
                f"{required.leaf_key}: f1 is {significant(measurement.value, 4)}, "
                f"at the floor that the stop word {STOP!r} causes",
                "score the logged samples again with `leaderboard-bot audit drop`",
            )
