"""A task was scored on another number of samples than it has.

## What it does
Compares the number of samples with the declared one. It is taken from `n-samples`, and recovered from value and
standard error where the file does not record it: for a metric of zeros and ones n = 1 + p(1 - p) / se^2.

## Why is this bad?
Another number of samples is another data set under the same name.

## Example
/n-samples/leaderboard_mmlu_pro/original: 12000
/n-samples/leaderboard_mmlu_pro/effective: 12000
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## Use instead
/n-samples/leaderboard_mmlu_pro/original: 12032
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity
from bot.measure import Measure
from bot.rules.rerun import rerun_command
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def wrong_sample_count(case: Case) -> Iterator[Violation]:
    """Yield a violation for each leaf whose whole size is not the declared one."""
    if case.result.limit is not None:
        return
    for measure in case.measures.present:
        leaf, need = measure.leaf, measure.need
        if leaf.samples is not None:
            size = leaf.samples if leaf.original is None else leaf.original
            if size != need.leaf.samples and need.metric is need.task.metrics[0]:
                yield _violation(case, measure, size, "n-samples")
            continue
        recovered = measure.count()
        if recovered is not None and recovered != need.samples:
            yield _violation(case, measure, recovered, "recovered from value and standard error")


def _violation(case: Case, measure: Measure, count: int, source: str) -> Violation:
    need = measure.need
    wanted = need.leaf.samples if measure.leaf.samples is not None else need.samples
    recorded = measure.leaf.samples is not None
    return Violation(
        f"{need.leaf_key} has {count:,} samples ({source}), {wanted:,} are expected",
        "measure it again: " + rerun_command(case, [need.leaf_key], need.task.num_fewshot),
        f"/n-samples/{need.leaf_key}" if recorded else case.result.pointer_to(need.leaf_key, need.stderr_key),
        need.task.id,
    )
