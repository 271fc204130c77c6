"""A task, or one of its subtasks, is not in the file.

## What it does
Looks for every leaf and every metric that the declaration needs.

## Why is this bad?
A mean over what happens to be there looks plausible and is wrong: leave out a hard subtask and the model rises. The
row is shown with its hole and without rank instead.

## Example
/results/leaderboard_mmlu_pro: (absent)

## Use instead
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: 0.00455847041936318
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity
from bot.measure import Need
from bot.rules.rerun import rerun_command
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def missing_task(case: Case) -> Iterator[Violation]:
    """Yield one violation for each missing leaf, and one for a task of which nothing is there."""
    if not case.takes_format:
        return
    by_task: dict[str, list[Need]] = {}
    for need in case.measures.missing:
        by_task.setdefault(need.task.id, []).append(need)
    for needs in by_task.values():
        task = needs[0].task
        hint = "measure it: " + rerun_command(case, (need.leaf_key for need in needs), task.num_fewshot)
        keys = list(dict.fromkeys(need.leaf_key for need in needs))
        if len(keys) == len(task.leaves) > 1:
            message = f"{task.title} is missing: none of its {len(keys)} subtasks is in the file"
            yield Violation(message, hint, case.result.pointer, task.id)
            continue
        for need in needs:
            yield Violation(_message(case, need), hint, case.result.pointer_to(need.leaf_key), task.id)


def _message(case: Case, need: Need) -> str:
    if need.leaf_key in case.result.leaves:
        return f"{need.leaf_key} has no {need.value_key}, which {need.task.title} needs"
    if len(need.task.leaves) == 1:
        return f"{need.leaf_key} is missing: {need.task.title} is made of nothing else"
    return f"{need.leaf_key} is missing, one of the {len(need.task.leaves)} that {need.task.title} needs"
