"""A task was run several times for this row, with different values.

## What it does
Names all valid values of the leaf. The newest counts.

## Why is this bad?
Readers must see when a task was run until its score was good.

## When it is wrong
The reason is a good one: say it in the request.

## Example
(another file)
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
/date: 1

## Use instead
(another file)
/date: 1
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted, first_few, shown
from bot.evaluation.rules.indistinct_models import mixed_in
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule

MOST = 5  # runs of one leaf that are named


@rule(Severity.WARNING, looks_at="repeats")
def rerun_differs(case: RowCase) -> Violations:
    """Yield one violation for each task of which a leaf has several sound values."""
    by_task: dict[str, list[str]] = {}
    is_one_model = mixed_in(case.row)[0] is None
    for repeat in case.row.repeats if is_one_model else ():
        runs = [f"{run.value!r} ({shown(run.file)})" for run in repeat.runs]
        by_task.setdefault(repeat.task_id, []).append(f"{repeat.leaf_id}: {first_few(runs, MOST)}")
    titles = {task.id: task.title for task in case.leaderboard.tasks}
    for task_id, leaves in by_task.items():
        more = f"; the same for {counted(len(leaves) - 1, 'more subtask')}" if len(leaves) > 1 else ""
        row = case.row
        yield Violation(
            f"{titles[task_id]} was run several times with different values, of which the newest counts;"
            f" {leaves[0]}{more}",
            "say in the request why it was run again",
            row.result.pointer_to("leaves"),
            task_id,
        )
