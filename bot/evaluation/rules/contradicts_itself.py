"""The file says one thing in two places, and says it differently.

## What it does
Compares the model's name with its arguments, and commits, data types, generation settings, templates and hashes that
stand there twice. Looks for a task without the standard error, or two of version, shots, samples and definition, that
most have.

## Why is this bad?
A harness's own file agrees with itself. Errors are two models, an adapter beside its base model, arguments that change
the named weights, a stand-in for a model (`dummy`, `mockllm`), and such a task that changes the group's mean; the rest
are warnings.

## When it is wrong
A tool of yours adds fields: say which of them counts.

## Example
/config/model_args: "pretrained=example-org/kestrel-70b,dtype=bfloat16"

## A sound run writes
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite

from msgspec.structs import replace

from bot.evaluation.aggregates import MOST, leaves_of, means_of_leaves
from bot.evaluation.finding import Severity, examples, grouped, shown
from bot.evaluation.measurement import Measurement, by_task, sizes
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.rules.group_contradicts_leaves import TOLERANCE
from bot.evaluation.rules.rule import Case, Violation, Violations, keys_of, rule

HINT = "upload the file as the harness wrote it"
RECORDED = {"version": "version", "num_fewshot": "number of shots", "samples": "number of samples",
            "definition": "definition"}  # fmt: skip
ABSENT = (None, "")


@rule(Severity.ERROR, invalidates_score=False)
def contradicts_itself(case: Case) -> Violations:
    """Yield one violation for each thing that the file says differently in two places."""
    for one in case.result.contradictions:
        yield Violation(one.what, one.hint or HINT, one.pointer, severity=None if one.is_error else Severity.WARNING)
    for found in by_task(_lacking(case.measurements.present)).values():
        what, where = found[0].required.value_key, examples(keys_of(found))
        message = f"no standard error of {what} for {where}, and most tasks of the file have one"
        violation = case.at(found, message, HINT, "value")
        yield Violation(message, HINT, violation.pointer, violation.task, violation.leaves, severity=Severity.WARNING)
    usual = _usual(case.result)
    unrecorded = [one for one in case.measurements.present if len(_lacks(one, usual)) > 1] if usual else []
    for found in by_task(unrecorded).values():
        *names, last = [RECORDED[name] for name in _lacks(found[0], usual)]
        mean = _other_mean(case, found)
        message = (
            f"{examples(keys_of(found))}: no {', '.join(names)} or {last}, which most tasks of the file have{mean}"
        )
        yield replace(case.at(found, message, HINT), severity=None if mean else Severity.WARNING)


def _usual(result: Result) -> list[str]:
    """The fields that most leaves of the file record; none where no leaf lacks two of those that another records."""
    recorded = [_recorded(leaf) for leaf in result.leaves.values()]
    if len(set(recorded)) < 2:
        return []
    counts = [sum(one[place] for one in recorded) for place in range(len(RECORDED))]
    return [name for name, count in zip(RECORDED, counts, strict=True) if 2 * count > len(result.leaves)]


def _recorded(leaf: LeafResult) -> tuple[bool, ...]:
    """Which of the fields in `RECORDED` a leaf has."""
    return leaf.version not in ABSENT, leaf.num_fewshot is not None, leaf.samples is not None, bool(leaf.definition)


def _lacks(measurement: Measurement, usual: Sequence[str]) -> list[str]:
    return [name for name in usual if getattr(measurement.leaf, name) in ABSENT]


def _other_mean(case: Case, found: Sequence[Measurement]) -> str:
    """Say that the row of the task is no mean with these leaves; "" where it is, or there is none."""
    result, task, value_key = case.result, found[0].required.task, found[0].required.value_key
    known, strange = sizes(case.leaderboard, result.format), dict.fromkeys(keys_of(found))
    others = {leaf.key(result.format) for leaf in task.leaves} & result.leaves.keys() - strange.keys()
    for group in result.groups[:MOST]:
        members = [key for key in leaves_of(group.key, result.subtasks) if key not in strange]
        value = group.numbers.get(value_key)
        if not members or set(members) != others or type(value) is not float:
            continue
        means = means_of_leaves(result, [*members, *strange], value_key, known)
        if means is not None and isfinite(means[0]) and not any(abs(value - mean) <= TOLERANCE for mean in means):
            return f"; {shown(group.key)} has {value_key} {value!r}, and with them the mean is {means[0]!r}"
    return ""


def _lacking(present: Sequence[Measurement]) -> list[Measurement]:
    """Those without a standard error, where most of the same metric have one."""
    without = [one for one in present if one.stderr is None]
    if len(without) in {0, len(present)}:
        return []
    lacking = grouped((one.required.stderr_key, one) for one in without)
    keys = Counter(one.required.stderr_key for one in present)
    few = [lacking[key] for key, count in keys.items() if key in lacking and 2 * len(lacking[key]) < count]
    return [one for found in few for one in found]
