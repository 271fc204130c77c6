"""A task asked something else than the leaderboard's task of that name.

## What it does
Compares the recorded definition of each leaf (prompt, answer, choices, data set, splits, examples, description,
delimiters, filters, generation settings) with those that the declaration names for the accepted releases. Text that
differs from run to run, such as addresses in memory, does not count, and a default is the same as an absent field.

## Why is this bad?
A table of numbers from different questions is worse than none: a prompt that begins with the answer, another data set
or a temperature of 1 gives another number under the same name.

## Example
/configs/leaderboard_mmlu_pro/dataset_path: "example-org/leaked"

## Use instead
/configs/leaderboard_mmlu_pro/dataset_path: "TIGER-Lab/MMLU-Pro"
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.definition import both, differing
from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import Measurement
from bot.evaluation.result import AskedField, escape_pointer
from bot.evaluation.rules.harness_commit import accepted_versions
from bot.evaluation.rules.rule import Case, Violation, leaves_of, rule


@rule(Severity.ERROR)
def other_task_definition(case: Case) -> Iterator[Violation]:
    """Yield one violation for each task and field that has another value than any accepted one."""
    wrong: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in case.measurements.present:
        required = measurement.required
        if required.definition and (found := case.result.definition_of(required.leaf_key)) is not None:
            for field in differing(found, required.definition):
                wrong.setdefault((required.task_id, field), []).append(measurement)
    for (task_id, field), measurements in wrong.items():
        yield _violation(case, task_id, field, measurements)


def _violation(case: Case, task_id: str, field: str, measurements: list[Measurement]) -> Violation:
    required = measurements[0].required
    keys = list(dict.fromkeys(one.required.leaf_key for one in measurements))
    found = (case.result.definition_of(required.leaf_key) or {}).get(field)
    digest = next(iter(sorted(required.definition.get(field, ()), reverse=True)), "")
    value, wanted = both(found, AskedField(field, digest) if digest else None)
    more = f"; the same field differs in {examples(keys[1:])}" if keys[1:] else ""
    advice = accepted_versions(case.leaderboard, case.result.harness) if case.leaderboard.harness.accepted else ""
    return Violation(
        f"{required.leaf_key} asked something else: {field} is {value}, accepted is {wanted}{more}",
        f"measure the task as the leaderboard does, without changes to it{advice and f'; {advice}'}",
        f"{case.result.pointer_to('definition', required.leaf_key)}/{escape_pointer(field)}",
        task_id,
        leaves_of(measurements),
    )
