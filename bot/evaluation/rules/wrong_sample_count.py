"""A task was scored on another number of samples than it has.

## What it does
Compares the number with the declared one; where no field has it, n = 1 + p(1 - p) / se^2 gives it.

## Why is this bad?
It is another dataset under the same name.

## When it is wrong
The dataset has this size today: change `samples` of the leaf.

## Example
/n-samples/leaderboard_mmlu_pro/original: 12000
/n-samples/leaderboard_mmlu_pro/effective: 12000
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## A sound run writes
/n-samples/leaderboard_mmlu_pro/original: 12032
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted
from bot.evaluation.measurement import Measurement
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

Counted = tuple[Measurement, int, int]  # with the number of samples that there are, and that there should be


@rule(Severity.ERROR)
def wrong_sample_count(case: Case) -> Violations:
    """Yield a violation for each task of which leaves have another size than declared."""
    wrong: dict[str, list[Counted]] = {}
    for measurement in case.measurements.present:
        if measurement.required.leaf.samples == measurement.leaf.samples == measurement.leaf.original:
            continue
        count, wanted = _counted(measurement, is_limited=case.result.limit is not None)
        if count is not None and wanted is not None and count != wanted:
            wrong.setdefault(measurement.required.task.id, []).append((measurement, count, wanted))
    for found in wrong.values():
        yield _violation(case, found)


def _counted(measurement: Measurement, *, is_limited: bool) -> tuple[int | None, int | None]:
    """The number of samples that a leaf has, and the number that it should have."""
    leaf, required = measurement.leaf, measurement.required
    if leaf.samples is None:
        return (None if is_limited else measurement.count), required.samples
    # fewer than the original is limited-run's
    is_cut = leaf.original is not None and leaf.samples < leaf.original
    return leaf.original if is_cut else leaf.samples, required.leaf.samples


def _violation(case: Case, found: list[Counted]) -> Violation:
    measurement, count, wanted = found[0]
    required, recorded = measurement.required, measurement.leaf.samples is not None
    is_of_lm_eval = case.result.pointer_to("samples", required.leaf_key).startswith("/n-samples/")
    said = "n-samples" if is_of_lm_eval else "recorded"
    source = said if recorded else "recovered from value and standard error"
    more = (
        f"; the same for {counted(len(found) - 1, 'more subtask')} of {required.task.title}" if len(found) > 1 else ""
    )
    message = f"{required.leaf_key} has {counted(count, 'sample')} ({source}), {wanted:,} are expected{more}"
    return case.again([one for one, *_ in found], message, "measure it again", "samples" if recorded else "stderr")
