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

## A sound run writes
(another file)
/date: 1
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted, examples, first_few, shown
from bot.evaluation.rules.indistinct_models import mixed_in
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule

MOST = 5  # runs of one leaf that are named
MOST_TASKS = 3  # that have a violation each


@rule(Severity.WARNING, looks_at="repeats")
def rerun_differs(case: RowCase) -> Violations:
    """Yield one violation for each task of which a leaf has several sound values, and one for all of very many."""
    by_task: dict[str, list[str]] = {}
    is_one_model = mixed_in(case.row)[0] is None
    for repeat in case.row.repeats if is_one_model else ():
        runs = [f"{run.value!r} ({shown(run.file)})" for run in repeat.runs]
        by_task.setdefault(repeat.task_id, []).append(f"{repeat.leaf_id}: {first_few(runs, MOST)}")
    titles = {task.id: task.title for task in case.leaderboard.tasks}
    hint, pointer = "say in the request why it was run again", case.row.result.pointer_to("leaves")
    how = "run several times with different values, of which the newest counts"
    if len(by_task) > MOST_TASKS:
        first, names = next(iter(by_task.values()))[0], examples([titles[task_id] for task_id in by_task])
        yield Violation(f"{len(by_task)} tasks were {how}: {names}; {first}", hint, pointer)
        return
    for task_id, leaves in by_task.items():
        more = f"; the same for {counted(len(leaves) - 1, 'more subtask')}" if len(leaves) > 1 else ""
        yield Violation(f"{titles[task_id]} was {how}; {leaves[0]}{more}", hint, pointer, task_id)
