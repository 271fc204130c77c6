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
    """Yield a violation for each task of which leaves have another size than declared."""
    if case.result.limit is not None:
        return
    wrong: dict[str, list[tuple[Measure, int]]] = {}
    for measure in case.measures.present:
        if measure.need.size == measure.leaf.samples == measure.leaf.original:
            continue
        count, wanted = _counted(measure)
        if count is not None and count != wanted:
            wrong.setdefault(measure.need.task_id, []).append((measure, count))
    for leaves in wrong.values():
        yield _violation(case, leaves)


def _counted(measure: Measure) -> tuple[int | None, int]:
    """The number of samples that a leaf has, and the number that it should have."""
    leaf, need = measure.leaf, measure.need
    if leaf.samples is None:
        return measure.count(), need.samples
    # fewer than the original is limited-run's
    is_cut = leaf.original is not None and leaf.samples < leaf.original
    return leaf.original if is_cut else leaf.samples, need.leaf.samples


def _violation(case: Case, leaves: list[tuple[Measure, int]]) -> Violation:
    measure, count = leaves[0]
    need, recorded = measure.need, measure.leaf.samples is not None
    source = "n-samples" if recorded else "recovered from value and standard error"
    more = f", and so {len(leaves) - 1} more of {need.task.title}" if len(leaves) > 1 else ""
    keys = dict.fromkeys(leaf.need.leaf_key for leaf, _ in leaves)
    return Violation(
        f"{need.leaf_key} has {count:,} samples ({source}), {_counted(measure)[1]:,} are expected{more}",
        "measure again: " + rerun_command(case, keys, need.task.num_fewshot),
        case.result.pointer_beside("n-samples", need.leaf_key)
        if recorded
        else case.result.pointer_to(need.leaf_key, need.stderr_key),
        need.task_id,
    )
