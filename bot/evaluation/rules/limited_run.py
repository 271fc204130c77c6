"""Only a part of the samples was run.

## What it does
Reads the limit (`--limit` of lm-eval), and compares the scored samples with the size of each task.

## Why is this bad?
Of fifty samples the error is seven points.

## When it is wrong
The board asks for a part of the task: declare its `samples`.

## Example
/config/limit: 50.0

## A sound run writes
/config/limit: null
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted
from bot.evaluation.formats import find_format
from bot.evaluation.measurement import Measurement, by_task
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Violation, Violations, keys_of, rule, run_again


@rule(Severity.ERROR)
def limited_run(case: Case) -> Violations:
    """Yield one violation for the run where the recorded limit cut all of it, else one for each task that was cut."""
    limit = case.result.limit
    cut = [measurement for measurement in case.measurements.present if _is_cut(measurement, limit)]
    if limit is not None and (len(cut) == len(case.measurements.present)):
        known = find_format(case.result.format)
        option = known.limiting if known else "a limit"
        share = f"{significant(limit, 4)} of the samples" if 0 < limit < 1 else _samples(limit)
        hint, command = run_again(case, f"run it again without {option}")
        message = f"the run was limited to {share} of each task ({option})"
        yield Violation(message, hint, case.result.pointer_to("limit"), command=command)
        return
    for found in by_task(cut).values():
        yield _violation(case, found)


def _samples(number: float) -> str:
    return "1 sample" if number == 1 else f"{number:,.15g} samples"


def _is_cut(measurement: Measurement, limit: float | None) -> bool:
    """Tell whether fewer samples were run than the task has; a limit that is not below its size cuts nothing."""
    leaf = measurement.leaf
    if leaf.samples is not None and leaf.original is not None and leaf.samples + (leaf.unscored or 0) < leaf.original:
        return True
    if limit is None:
        return False
    size = leaf.original or measurement.required.leaf.samples
    return limit < 1 or size is None or limit < size


def _violation(case: Case, found: list[Measurement]) -> Violation:
    first, task = found[0], found[0].required.task
    keys = keys_of(found)
    samples, original = first.leaf.samples, first.leaf.original or first.required.leaf.samples
    number, most = (samples, "") if samples is not None else (case.result.limit or 0, "at most ")
    part = f"{number:,.15g} of its {original:,} samples" if original else _samples(number)
    more = f"; the same for {counted(len(keys) - 1, 'more subtask')} of {task.title}" if len(keys) > 1 else ""
    message = f"{first.required.leaf_key} was run on {most}{part}{more}"
    errored = first.leaf.errored or 0
    if errored and original and samples is not None and samples + (first.leaf.unscored or 0) + errored >= original:
        message = (
            f"{first.required.leaf_key}: {counted(errored, 'sample')} of {original:,} ended with an error and "
            f"{'is' if errored == 1 else 'are'} missing from the score{more}"
        )
        return case.again(found, message, "find out why they failed, and run them again", "samples")
    return case.again(found, message, "measure all samples", "samples")
