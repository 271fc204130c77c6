"""A task is at exactly 0, or far below guessing, in a run that is sound otherwise.

## What it does
Reports a column of exactly 0 while most are well above guessing, a subtask without a right answer where guessing
gives twenty, a column five standard errors below guessing, and a row of zeros.

## Why is this bad?
Usually the answers were not recognised: a missing chat template, a stop word, a wrong format.

## When it is wrong
The model really fails: `check --samples` shows it; say so in the request.

## Example
/results/leaderboard_mmlu_pro/acc,none: 0.0625
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## A sound run writes
/results/leaderboard_mmlu_pro/acc,none: 0.125
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from math import fsum, sqrt

from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import Measurement, by_task, task_raw
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule

FEWEST = 100  # samples of a column whose exact 0 is reported
GUESSED = 20  # right answers that guessing gives on a subtask whose exact 0 is reported; by chance once in 500 million
ERRORS = 5.0  # standard errors below guessing
ABOVE = 10.0  # the score of a column that shows that the run is sound
HINT = "look at the logged samples: were the answers recognised? A chat template or a stop word may be wrong"


@rule(Severity.WARNING)
def implausibly_low(case: RowCase) -> Violations:
    """Yield at most one violation for each task."""
    values = {task.id: task.raw for task in case.row.scores.tasks}
    is_high_better = all(task.higher_is_better for task in case.leaderboard.tasks)
    if len(values) > 1 and is_high_better and not any(raw is None or raw for raw in values.values()):
        yield Violation(f"all {len(values)} columns are exactly 0", HINT, case.row.result.pointer_to("leaves"))
        return
    for task_id, found in by_task(case.row.measurements.present).items():
        floor = max([0.0, *(one.required.lower for one in found)])
        if all(one.value > floor for one in found):
            continue
        raw = values[task_id]
        about, message = found, _column(case, found, task_raw(found[0].required.task, found) if raw is None else raw)
        if not message:
            about = [one for one in found if one.value == 0.0 and _is_without_answer(one)]
            message = _subtasks(about)
        if message:
            pointer = case.row.result.pointer_to("leaf", about[0].required.leaf_key)
            yield Violation(message, HINT, pointer, task_id, file=about[0].file)


def _column(case: RowCase, found: list[Measurement], raw: float) -> str:
    """Describe the problem of the whole column, `raw` in the metric's unit; "" if there is none."""
    task = found[0].required.task
    guess = fsum([measurement.required.lower for measurement in found]) / len(found)
    if not task.higher_is_better or (raw != 0.0 and raw >= guess):
        return ""
    # The first metric of a leaf counts its questions: IFEval's second one counts the instructions in them.
    sizes = {one.required.leaf.id: one.required.samples or one.samples or 0 for one in reversed(found)}
    samples = sum(sizes.values())
    if samples < FEWEST:
        return ""
    others = [one.score for one in case.row.scores.tasks if one.score is not None and one.id != task.id]
    is_sound = 2 * sum(score >= ABOVE for score in others) >= len(others)
    if raw == 0.0 and is_sound:
        contrast = ", and the other columns are not" if others else ""
        return f"{task.title} is exactly 0 on {samples:,} samples{contrast}"
    unit = found[0].required.unit
    error = sqrt(guess / unit * (1 - guess / unit) / samples) * unit if 0 < guess < unit else 0.0
    if error and raw < guess - ERRORS * error:
        there, by_guessing = significant(raw, 4), significant(guess, 4)
        return f"{task.title} is {there}, far below the {by_guessing} that guessing gives on {samples:,} samples"
    return ""


def _is_without_answer(measurement: Measurement) -> bool:
    """Tell whether guessing gives right answers on a subtask that has none."""
    required = measurement.required
    guessed = required.lower / required.unit * (measurement.samples or 0)
    return required.task.higher_is_better and guessed >= GUESSED


def _subtasks(wrong: list[Measurement]) -> str:
    """Describe the subtasks without a right answer; "" if there are none."""
    if not wrong:
        return ""
    count = "has" if len(wrong) == 1 else "have"
    names = examples([measurement.required.leaf_key for measurement in wrong])
    return f"{names} {count} no right answer at all, but guessing would give some"
