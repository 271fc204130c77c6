"""A task asked something else than the leaderboard's task of that name.

## What it does
Compares the recorded definition of each leaf (prompt, answer, choices, data set, splits, examples, description,
delimiters, filters, generation settings) with the one that the declaration names for the release or commit of the
harness in the file; where the file names none of those, with the nearest of all. A field that was left out differs,
too. Text that differs from run to run, such as addresses in memory, and the layout of a function do not count. A
default is the same as an absent field. Where a file shortens the definitions of all leaves, what is left is compared.

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

from bot.evaluation.definition import (
    NONE,
    AcceptedDefinition,
    Fields,
    both,
    definition_of,
    differing,
    is_shortened,
    nearest,
)
from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import Measurement, asked_versions
from bot.evaluation.result import AskedField
from bot.evaluation.rules.harness_commit import accepted_versions, named_version
from bot.evaluation.rules.rule import Case, Violation, keys_of, leaves_of, rule


@rule(Severity.ERROR)
def other_task_definition(case: Case) -> Iterator[Violation]:
    """Yield one violation for each task and field that has another value than the accepted definition."""
    named = named_version(case.result.harness, asked_versions(case.leaderboard, case.result.format))
    wrong: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in case.measurements.present:
        digest, known = measurement.leaf.definition, measurement.required.versions_by_definition
        is_accepted = digest in known and (not (named and known[digest]) or named in known[digest])
        if digest and not is_accepted and measurement.required.definitions:
            for field in _wrong_fields(case, measurement, named):
                wrong.setdefault((measurement.required.task_id, field), []).append(measurement)
    for (task_id, field), measurements in wrong.items():
        yield _violation(case, task_id, field, measurements, named)


def _wrong_fields(case: Case, measurement: Measurement, named: str) -> Iterator[str]:
    found, shortened = _fields(case, measurement), is_shortened(case.result)
    return differing(found, _accepted(case, measurement, named).fields, shortened=shortened)


def _accepted(case: Case, measurement: Measurement, named: str) -> AcceptedDefinition:
    """The nearest definition of the harness that the file names; of all where it names none."""
    definitions = measurement.required.definitions
    candidates = [one for one in definitions if one.counts_for(named)] or definitions
    return nearest(_fields(case, measurement), candidates, shortened=is_shortened(case.result))


def _fields(case: Case, measurement: Measurement) -> Fields:
    return definition_of(case.result, measurement.required.leaf_key) or {}


def _violation(case: Case, task_id: str, field: str, measurements: list[Measurement], named: str) -> Violation:
    required, fields = measurements[0].required, _fields(case, measurements[0])
    keys = keys_of(measurements)
    wanted = _accepted(case, measurements[0], named).fields.get(field, frozenset({NONE}))
    value, accepted = both(fields.get(field), AskedField(field, max(wanted)))
    more = f"; the same field differs in {examples(keys[1:])}" if keys[1:] else ""
    advice = accepted_versions(case.leaderboard, case.result.harness) if case.leaderboard.harness.accepted else ""
    return Violation(
        f"{required.leaf_key} asked something else: {field} is {value}, accepted is {accepted}{more}",
        f"measure the task as the leaderboard does, without changes to it{advice and f'; {advice}'}",
        f"{case.result.pointer_to('definition', required.leaf_key)}/{field}",
        task_id,
        leaves_of(measurements),
    )
