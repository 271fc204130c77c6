"""Choose which of a leaf's numbers counts, and find the unit, range and bounds of a column.

They follow from the metric's name, the values seen, and the catalogue; the names are in bot/data/metrics.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from math import ceil, log10
from statistics import median
from typing import Any

import msgspec

from bot.evaluation.formats import format_of
from bot.evaluation.task import ONE_LINE

ONE_LINE_KEY = re.compile(rf"(?=.){ONE_LINE}")
NO_METRICS = frozenset({"alias", "name", "sample_len", "sample_count", "samples", "num_examples", "num_instances"})
NOT_SCORED = frozenset({"bypass", "submission"})  # metrics that stand for answers that nobody scored
PLACEHOLDERS = (-1, 999)
FILTERS = ("strict-match", "strict_match", "none", "get-answer", "get_response", "custom-extract", "remove_whitespace")
LAST_FILTER = "flexible-extract"  # what it finds wherever it stands is the more generous of two


class MetricKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Metrics of one kind: their names as shell patterns, and what their values can be."""

    names: tuple[str, ...]
    range: tuple[float, float]
    higher_is_better: bool = True
    zeros_and_ones: bool = False
    is_guessed: bool = True


@cache
def _kinds() -> tuple[MetricKind, ...]:
    """All kinds, those first that a draft prefers."""
    text = files("bot").joinpath("data", "metrics.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, tuple[MetricKind, ...]])["kinds"]


@lru_cache(maxsize=4_096)
def kind_of(name: str) -> MetricKind | None:
    """The kind of a metric by its name, None for an unknown one."""
    return next((kind for kind in _kinds() if any(fnmatchcase(name, pattern) for pattern in kind.names)), None)


def names_of_errors() -> list[str]:
    """The names of metrics that are better where they are less, without patterns."""
    return [name for kind in _kinds() if not kind.higher_is_better for name in kind.names if "*" not in name]


@lru_cache(maxsize=4_096)
def _place(name: str) -> int:
    """The place of a metric's name in the list; unknown names come after all others."""
    patterns = [pattern for kind in _kinds() for pattern in kind.names]
    return next((place for place, pattern in enumerate(patterns) if fnmatchcase(name, pattern)), len(patterns))


def split_key(format_id: str, key: str) -> tuple[str, str]:
    """A value's key as the metric's name and the answer filter, "none" where the format has no filters."""
    name, _, answer_filter = key.rpartition(",")
    if name and answer_filter and format_of(format_id).metric_key(name, answer_filter) == key:
        return name, answer_filter
    return key, "none"


def metric_keys(format_id: str, numbers: Mapping[str, Any]) -> list[str]:
    """The keys of a row that are metrics, the one first that counts: as the file has it, or by filter and name.

    One that no declaration can hold is left out.
    """
    found = list(metrics_in(format_id, numbers))
    if format_of(format_id).has_order:
        return found
    return sorted(found, key=lambda key: _rank(*split_key(format_id, key)))


def metrics_in(format_id: str, numbers: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a row that are metrics, as they come."""
    errors = set(map(format_of(format_id).stderr_key, numbers))
    for key, value in numbers.items():
        is_number = type(value) in {int, float} and "stderr" not in key and key not in errors and key not in NO_METRICS
        if is_number and ONE_LINE_KEY.fullmatch(key) and not _is_placeholder(split_key(format_id, key)[0], value):
            yield key


def _is_placeholder(name: str, value: float) -> bool:
    """Tell whether a value says that nothing was measured: `bypass`, and -1 or 999 where a metric cannot have these."""
    if name in NOT_SCORED:
        return True
    kind = kind_of(name) if value in PLACEHOLDERS else None
    return kind is not None and not (kind.range[0] <= value <= max(kind.range[1], 100))


def _rank(name: str, answer_filter: str) -> tuple[int, int]:
    late = len(FILTERS) + (answer_filter == LAST_FILTER)
    return _place(name), FILTERS.index(answer_filter) if answer_filter in FILTERS else late


TOP = 10**15  # what a drafted bound is at most
MOST_DIGITS = 100  # of the end of a range


@dataclass(frozen=True, slots=True)
class Scale:
    """Keys of a task that turn its values into scores; `todo` is what a person must decide."""

    keys: dict[str, Any] = field(default_factory=dict)
    todo: tuple[str, ...] = ()


def percent_scale(metric_name: str, values: Sequence[float]) -> Scale:
    """The scale of values that are percentages; an MCC may be below 0 even where all of these are above."""
    kind = kind_of(metric_name)
    least = min([*values, kind.range[0] if kind else 0.0])
    return Scale({"unit": "percent"} | ({"range": [-100, 100]} if least < 0 else {}))


def said_scale(said: tuple[float, float] | None, values: Sequence[float], *, is_less: bool) -> Scale | None:
    """The scale of a range that the files name: its better end is worth 100, its worse one nothing.

    None where they name none, where most values are outside it, or where its ends are no whole numbers.
    """
    low, high = map(float, said or (0, 0))
    is_range = -TOP <= low < high <= TOP and low.is_integer() and high.is_integer()
    if not is_range or 2 * sum(low <= value <= high for value in values) <= len(values):
        return None
    if low == 0 and high in {1, 100} and not is_less:
        return Scale({"unit": "percent"} if high == 100 else {})
    worst, best = (int(high), int(low)) if is_less else (max(int(low), 0), int(high))
    bound = {"lower_bound": str(worst), "bound_reason": "the worst value, as the files say"} if worst else {}
    better = {"higher_is_better": False} if is_less else {}
    return Scale({**better, "range": [int(low), int(high)], **bound, "upper_bound": str(best)})


def scale_of(metric_name: str, values: Sequence[float], *, less_is_better: bool = False) -> Scale:
    """The scale that makes scores of a metric's values. Every given value is inside of the drafted range.

    `less_is_better` says that the files say so, whatever the name says.
    """
    kind = kind_of(metric_name)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if kind is not None and most <= 1:
        least = min(least, kind.range[0])
    unknown = () if kind else (f"{metric_name} is not known here: are higher values better, and what is their range?",)
    if less_is_better or (kind is not None and not kind.higher_is_better):
        return _less_is_better(values)
    if kind is not None and kind.range[1] == 100 and least >= 0 and most <= 100:
        return Scale({"unit": "percent"})
    if least >= 0 and most <= 1:
        return Scale(todo=unknown)
    if least >= -1 and most <= 1:
        return Scale({"range": [-1, 1]}, unknown)
    if least >= 0 and most <= 100:
        return Scale({"unit": "percent"}, (*unknown, "values above 1 were read as percentages"))
    top = min(TOP, _power_of_ten(max(abs(least), abs(most))))
    keys = {"range": [-top if least < 0 else 0, top], "upper_bound": str(top)}
    return Scale(keys, (*unknown, f"{top} is drafted as the value that is worth 100"))


def _less_is_better(values: Sequence[float]) -> Scale:
    """The scale of an error or a perplexity: one broken model with a huge value decides the range, not the bound."""
    worst = min(TOP, _power_of_ten(median(values) if values else 0.0))
    keys = {
        "higher_is_better": False,
        "range": [0 if min(values, default=0.0) >= 0 else -TOP, max(TOP, _power_of_ten(max(values, default=0.0)))],
        "lower_bound": str(worst),
        "upper_bound": "0",
        "bound_reason": "TODO: why this value is worth nothing",
    }
    return Scale(keys, (f"{worst} is drafted as the value that is worth nothing, and 0 as the one that is worth 100",))


def _power_of_ten(value: float) -> int:
    """The first power of ten above a value, at least 1; never one that no range can reach."""
    return int(10 ** min(MOST_DIGITS, max(0, ceil(log10(value))))) if value > 0 else 1
