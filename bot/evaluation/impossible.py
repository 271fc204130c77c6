"""Numbers that no measurement gives: what stands for a number and is none, and values that a metric cannot have."""

from __future__ import annotations

import re

from bot.evaluation.finding import shown
from bot.evaluation.formats import format_of
from bot.evaluation.formats.format import NO_METRICS
from bot.evaluation.metric_kinds import PLACEHOLDERS, kind_of
from bot.evaluation.result import LeafResult
from bot.evaluation.score import measured

ERROR = re.compile(r"stderr|std_err", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
WHOLE = 100.0  # a share of all in percent
ROUNDED = 1e-9  # past the end of a range


def is_spoiled(key: str, value: object) -> bool:
    """Tell whether a value stands for a number and is none: NaN, infinite, absurdly large, or a number as a text."""
    if key in NO_METRICS or ERROR.search(key) or isinstance(value, bool) or measured(value) is not None:
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and NUMBER.fullmatch(value.strip()) is not None)


def why_no_number(format_id: str, leaf: LeafResult, key: str) -> str:
    """Why the value of a metric is none that a measurement gives on any scale, "" if it may be one.

    A share between 1 and 100 may be in percent.
    """
    if is_spoiled(key, said := leaf.numbers.get(key)):
        return f"is no number: {'an integer without end' if isinstance(said, int) else shown(repr(said))}"
    value, limits = measured(leaf.numbers.get(key)), range_of(format_id, leaf, key)
    if value is None or limits is None or is_possible(format_id, leaf, key) or (limits[1] == 1 < value <= WHOLE):
        return ""
    return f"is {value:.6g}, outside of {limits[0]:g} to {limits[1]:g}"


def range_of(format_id: str, leaf: LeafResult, key: str) -> tuple[float, float] | None:
    """What a metric can be: as the file says, or 0 to 1 where it is 0 or 1 on each sample; None where nobody knows."""
    known = format_of(format_id)
    kind = kind_of(known.split_key(key)[0])
    if kind is None or not kind.zeros_and_ones:
        return leaf.ranges.get(key)
    return leaf.ranges.get(key) or (0.0, 100.0 if known.is_percent(key) else 1.0)


def is_possible(format_id: str, leaf: LeafResult, key: str) -> bool:
    """Tell whether a metric can have its value; what tools write where nothing was measured is none."""
    value, limits = measured(leaf.numbers.get(key)), range_of(format_id, leaf, key)
    if value is None or limits is None or value in PLACEHOLDERS or ERROR.search(key):
        return True
    return limits[0] - ROUNDED <= value <= limits[1] + ROUNDED
