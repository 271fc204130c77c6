"""A task was run with another number of examples in the prompt.

## What it does
Compares the recorded shots of each leaf with the declared ones. Aggregate rows print 0 or nothing and are not asked.

## Why is this bad?
Five examples instead of three is an easier test.

## Example
/n-shot/leaderboard_bbh_navigate: 5

## Use instead
/n-shot/leaderboard_bbh_navigate: 3
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity
from bot.measure import Measure
from bot.rules.rerun import rerun_command
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def wrong_num_fewshot(case: Case) -> Iterator[Violation]:
    """Yield one violation for each task and number of shots that is not the declared one."""
    wrong: dict[tuple[str, int], list[Measure]] = {}
    for measure in case.measures.present:
        shots, task = measure.leaf.num_fewshot, measure.need.task
        if shots is not None and shots != task.num_fewshot:
            wrong.setdefault((task.id, shots), []).append(measure)
    for (task_id, shots), measures in wrong.items():
        need = measures[0].need
        keys = list(dict.fromkeys(measure.need.leaf_key for measure in measures))
        what = keys[0] if len(keys) == 1 else f"{need.task.title} ({len(keys)} of {len(need.task.leaves)} subtasks)"
        pointer = (
            case.result.pointer_beside("n-shot", keys[0])
            if case.result.format == "lm-eval-0.4"
            else case.result.pointer_to(keys[0])
        )
        yield Violation(
            f"{what} was run with {shots} shots, {need.task.num_fewshot} are required",
            "measure it again: " + rerun_command(case, keys, need.task.num_fewshot),
            pointer,
            task_id,
        )
