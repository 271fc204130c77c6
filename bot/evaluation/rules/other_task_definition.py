"""A task asked something else than the leaderboard's task of that name.

## What it does
Compares what the file records (prompt, choices, dataset, splits, examples, filters, generation settings, scoring
function, options of metrics) with the declared definition of this or the nearest release. Addresses in memory, the
layout of functions and defaults do not count.

## Why is this bad?
A temperature of 1 gives another number under the same name.

## When it is wrong
The change is meant: add it as another `[[harness.definitions]]`.

## Example
/configs/leaderboard_mmlu_pro/dataset_path: "example-org/leaked"

## A sound run writes
/configs/leaderboard_mmlu_pro/dataset_path: "TIGER-Lab/MMLU-Pro"
"""

from __future__ import annotations

from bot.evaluation.definition import both, definition_of, is_shortened, nearest
from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import Measurement, accepted_gen_kwargs, asked_versions, refuses_gen_kwargs
from bot.evaluation.rules.harness_commit import development_of, named_version
from bot.evaluation.rules.rule import Case, Violation, Violations, keys_of, leaves_of, rerun_advice, rule, run_again


@rule(Severity.ERROR, where=lambda board: bool(board.harness.definitions))
def other_task_definition(case: Case) -> Violations:
    """Yield one violation for each task and field that has another value than the accepted definition."""
    versions = asked_versions(case.leaderboard, case.result.format)
    named = named_version(case.result.harness, versions)
    later = development_of(case.result.harness, named, versions) if named else ""
    others = [one for one in case.measurements.present if _asks_otherwise(one, named)]
    shortened = is_shortened(case.result) if others else False
    wrong: dict[tuple[str, str], list[Measurement]] = {}
    said: dict[tuple[str, str], tuple[str, str]] = {}  # both values, of the first leaf
    for measurement in others:
        fields = definition_of(case.result, measurement.required.leaf_key) or {}
        definitions = measurement.required.definitions  # those of the harness that the file names, if it names one
        candidates = [one for one in definitions if one.counts_for(named) or one.counts_for(later or named)]
        accepted, differ = nearest(fields, candidates or definitions, shortened=shortened)
        for field in differ:
            about = measurement.required.task.id, field
            wrong.setdefault(about, []).append(measurement)
            if about not in said:
                said[about] = both(fields.get(field), accepted.wanted(field))
    for about, measurements in wrong.items():
        yield _violation(case, about, measurements, said[about])


def _asks_otherwise(measurement: Measurement, named: str) -> bool:
    """Tell whether a definition is recorded, and none of those that are declared for this version of the harness."""
    digest, known = measurement.leaf.definition, measurement.required.versions_by_definition
    is_accepted = digest in known and (not (named and known[digest]) or named in known[digest])
    return bool(digest and not is_accepted and measurement.required.definitions)


def _violation(case: Case, about: tuple[str, str], measurements: list[Measurement], said: tuple[str, str]) -> Violation:
    (task_id, field), (value, accepted) = about, said
    leaf_key, *others = keys_of(measurements)
    more = f"; the same field differs in {examples(others)}" if others else ""
    if field == "generation_kwargs" and refuses_gen_kwargs(case.leaderboard, case.result):
        how = "with the accepted" if accepted_gen_kwargs(case.leaderboard, case.result) else "without"
        hint, command = run_again(case, f"run it all again {how} --gen_kwargs")  # else it joins no file of the run
    else:
        part = [(keys_of(measurements), measurements[0].required.task.num_fewshot)]
        what = "measure the task as the leaderboard does, without changes to it"
        hint, command = rerun_advice(case, part, what, newest=True)
    return Violation(
        f"{leaf_key} asked something else: {field} is {value}, accepted is {accepted}{more}",
        hint,
        f"{case.result.pointer_to('definition', leaf_key)}/{field}",
        task_id,
        leaves_of(measurements),
        command,
    )
