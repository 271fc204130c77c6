"""Determine the unit, range and bounds of a column from the metric's name, the values seen, and the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log10
from typing import Any

from bot.evaluation.draft.metric_kinds import kind_of

TOP = 1e15


@dataclass(frozen=True, slots=True)
class Scale:
    """Keys of a task and what to say of them; `todo` is what a person must decide."""

    keys: dict[str, Any] = field(default_factory=dict)
    todo: tuple[str, ...] = ()


def scale_of(metric_name: str, values: Sequence[float]) -> Scale:
    """The scale that makes scores of a metric's values. Every given value is inside of the drafted range."""
    kind = kind_of(metric_name)
    least, most = min(values, default=0.0), max(values, default=0.0)
    unknown = () if kind else (f"{metric_name} is not known here: are higher values better, and what is their range?",)
    if kind is not None and not kind.higher_is_better:
        return _less_is_better(least, most)
    if kind is not None and kind.range[1] == 100 and least >= 0 and most <= 100:
        return Scale({"unit": "percent"})
    if least >= 0 and most <= 1:
        return Scale(todo=unknown)
    if least >= -1 and most <= 1:
        return Scale({"range": [-1, 1]}, unknown)
    if least >= 0 and most <= 100:
        return Scale({"unit": "percent"}, (*unknown, "values above 1 were read as percentages"))
    top = _power_of_ten(max(abs(least), abs(most)))
    keys = {"range": [-top if least < 0 else 0, top], "upper_bound": str(top)}
    return Scale(keys, (*unknown, f"{top} is drafted as the value that is worth 100"))


def _less_is_better(least: float, most: float) -> Scale:
    worst = _power_of_ten(most)
    keys = {
        "higher_is_better": False,
        "range": [0 if least >= 0 else -TOP, TOP],
        "lower_bound": str(worst),
        "upper_bound": "0",
        "bound_reason": "TODO: why this value is worth nothing",
    }
    return Scale(keys, (f"{worst} is drafted as the value that is worth nothing, and 0 as the one that is worth 100",))


def _power_of_ten(value: float) -> int:
    """The first power of ten above a value, at least 1; never one that no range can reach."""
    return int(min(10 ** max(0, ceil(log10(value))) if value > 0 else 1, TOP))
