"""The strict answer filter finds far fewer right answers than the flexible one.

## What it does
Reports one that is more than 0.1 below.

## Why is this bad?
It measures the form of the answers: GSM8K without a chat template 0.20, not 0.78.

## When it is wrong
The board means to ask for the form: nothing is to be done.

## Example
/results/leaderboard_ifeval/inst_level_loose_acc,none: 0.9

## A sound run writes
/results/leaderboard_ifeval/inst_level_loose_acc,none: 0.32
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.evaluation.finding import Severity
from bot.evaluation.measurement import Measurement
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Violations, rule

FAR = 0.1  # in shares of the samples
STRICT = re.compile(r"strict(?![a-z])")
FLEXIBLE = ("flexible", "loose")


@rule(Severity.WARNING, is_one_a_task=True)
def strict_below_flexible(case: Case) -> Violations:
    """Yield one violation for each task with strict value that is far below its flexible sibling."""
    for measurement in case.measurements.present:
        required = measurement.required
        if "strict" not in required.value_key:
            continue
        key, value = max(_siblings(measurement), key=lambda pair: pair[1], default=("", 0.0))
        if value - measurement.value > FAR * required.unit:
            yield case.at(
                [measurement],
                f"{required.leaf_key}: {required.value_key} is {significant(measurement.value, 4)}, and {key} is "
                f"{significant(value, 4)}: many right answers are not in the required form",
                "check chat template, stop words and the number of shots; compare with rows of the same filter only",
            )


def _siblings(measurement: Measurement) -> Iterator[tuple[str, float]]:
    """The values of the row whose key differs from the strict one only in the name of the filter."""
    before, _, after = STRICT.sub("\0", measurement.required.value_key, count=1).partition("\0")
    for key, value in measurement.leaf.numbers.items():
        word = key.removeprefix(before)
        if type(value) is float and key.startswith(before) and word.startswith(FLEXIBLE):
            rest = word.removeprefix(next(name for name in FLEXIBLE if word.startswith(name)))
            if rest == after or (after.startswith("-") and rest.startswith("-")):
                yield key, value
