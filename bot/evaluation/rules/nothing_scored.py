"""Nothing was scored in this run.

## What it does
Reports a file without a number, and the metric `bypass` (`--predict_only`), which is 999.

## Why is this bad?
Read as a score, 999 is on top of every table.

## When it is wrong
Others score the answers: submit their file.

## Example
/results: {"leaderboard_ifeval": {"alias": "leaderboard_ifeval", "bypass,none": 999}}
/groups: (absent)
/group_subtasks: (absent)

## A sound run writes
/results/leaderboard_ifeval/prompt_level_strict_acc,none: 0.49907578558225507
/results/leaderboard_ifeval/prompt_level_strict_acc_stderr,none: "N/A"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples
from bot.evaluation.formats import format_of
from bot.evaluation.measurement import Measurement
from bot.evaluation.metric_kinds import NOT_SCORED, PLACEHOLDERS
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

HINT = "score the answers: run it again without --predict_only, or upload what the benchmark's own scorer gives"


@rule(Severity.ERROR)
def nothing_scored(case: Case) -> Violations:
    """Yield one violation for the file, or one for the columns of which it has no score."""
    result = case.result
    metrics_in = format_of(result.format).metrics_in
    has_number = any(map(_is_score, case.measurements.present)) or any(
        True for leaf in result.leaves.values() for _ in metrics_in(leaf.numbers)
    )
    if result.leaves and not has_number:
        found = sorted({name for leaf in result.leaves.values() for name in leaf.numbers if name != "alias"})
        has = f": it has {examples(found)} alone" if found else ""
        yield Violation(f"nothing was scored in this run{has}", HINT, result.pointer_to("leaves"))
        return
    bypassed = [one for one in case.measurements.present if one.required.metric.name in NOT_SCORED]
    if bypassed:
        name = bypassed[0].required.value_key
        yield case.at(bypassed, f"{name} is no score: it stands for answers that nobody scored", HINT)


def _is_score(measurement: Measurement) -> bool:
    """Tell whether a number is sure to be a score, without a look at what else the file has."""
    is_number = type(measurement.raw) is float and measurement.raw not in PLACEHOLDERS
    return is_number and measurement.required.metric.name not in NOT_SCORED
