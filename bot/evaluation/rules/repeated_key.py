"""A key or a task occurs twice in the file, with different values.

## What it does
Names keys of one object, and tasks of a list.

## Why is this bad?
JSON does not say which counts: this bot takes the last, others the first.

## When it is wrong
No tool writes such a file: upload the one that the harness wrote.

## Example
(file with) "results": {"leaderboard_mmlu_pro": {"acc,none": 0.6, "acc_stderr,none": "N/A"}},

## A sound run writes
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted, examples, shown
from bot.evaluation.measurement import sizes
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

SECOND = " (2)"  # as `free_name` ends a key that is there already


@rule(Severity.ERROR)
def repeated_key(case: Case) -> Violations:
    """Yield one violation for the keys of the file, and one for each number of a task that is there twice."""
    repeated = case.result.repeated
    if repeated:
        first = repeated[0]
        more = f"; the same for {counted(len(repeated) - 1, 'more key')}" if len(repeated) > 1 else ""
        yield Violation(
            f"{shown(first.pointer)} occurs {len(first.values)} times with different values"
            f" ({examples(first.values)}){more}",
            "upload the file as the harness wrote it",
            first.pointer,
        )
    if SECOND not in "".join(case.result.leaves):
        return
    used = sizes(case.leaderboard, case.result.format).keys()
    for measurement in case.measurements.present:
        leaf_key, value_key = measurement.required.leaf_key, measurement.required.value_key
        second = f"{leaf_key}{SECOND}"
        again = case.result.leaves.get(second)
        if again is None or second in used or value_key not in again.numbers:
            continue
        values = measurement.raw, again.numbers[value_key]
        if values[0] != values[1]:
            yield case.at(
                [measurement],
                f"{leaf_key} is in the file twice, with {value_key} {values[0]!r} and {values[1]!r}",
                "keep the run that counts, and put the other into a file of its own",
            )
