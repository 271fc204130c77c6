"""Find the unit, range and bounds of a column, by the metric's name and the values seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import ceil, log10
from statistics import median
from typing import Any

import msgspec

from bot.evaluation.draft.form_rows import words_of
from bot.evaluation.metric_kinds import kind_of

TOP = 10**15  # what a drafted bound is at most
MOST_DIGITS = 100  # of the end of a range
FEW_POINTS = 10  # numbers up to which may be points of ten


@dataclass(frozen=True, slots=True)
class Scale:
    """Keys of a task that turn its values into scores; `todo` is what a person must decide."""

    keys: dict[str, Any] = field(default_factory=dict)
    todo: tuple[str, ...] = ()


@cache
def _said_by(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words in which `<name>` stands for any word of that list of bot/data/names.toml."""
    text = files("bot").joinpath("data", "names.toml").read_text(encoding="utf-8")
    words = msgspec.toml.decode(text, type=dict[str, tuple[str, ...]])
    return re.compile(re.sub("<([a-z_]+)>", lambda found: f"({'|'.join(words[found[1]])})", f"(^|_)({pattern})(_|$)"))


LESS_IS_BETTER = "<less>|(<less_last>|<faults>_(<shares>|counts?))$"
PER_WORD = "<per_word>"
SPEED = "<speeds>"
QUALITY = "<quality>"
MORE_IS_BETTER = "<quality>|<good>_<shares>|<means>$"  # of `avg_severity` the mean says nothing
NO_COUNT = "<quality>|<means>|<shares>"
UNSURE = "<unsure>(_(<shares>|<means>|scores?|index))*$"
RIGHT = "<right>"
SHARE = "<shares>"
EFFORT = "<effort>(_(<means>|median|max|min|total|count|used|taken|needed|made|(to|per|until|before)_\\w+))*$"
LEFT_OUT = re.compile("[ _]without[ _].*")  # what a number leaves out says nothing of what is better
COUNT = "(num|nr|n|number_of)_\\w+|<counts>$"


def is_less_better(*names: str) -> bool:
    """Tell whether names say that less is better; an arrow in one of them decides."""
    arrows = re.findall("[↑↓]", " ".join(names))
    return "↓" in arrows if arrows else _has(LESS_IS_BETTER, *names) and not is_speed(*names)


def is_share_of_faults(name: str) -> bool:
    """Tell whether a name says that less is better of a share of all; more errors than words are possible."""
    return is_less_better(name) and _has(SHARE, name) and not _has(PER_WORD, name)


def is_speed(*names: str) -> bool:
    """Tell whether a name says how much is done in a time."""
    return _has(SPEED, *names)


def is_more_better(*names: str) -> bool:
    """Tell whether a name says that more is better, and none is one by which some mean the contrary."""
    is_named = _has(MORE_IS_BETTER, *names) and not is_effort(*names) and not _has(UNSURE, *names)
    return "↑" in "".join(names) or is_named or is_speed(*names)


def is_effort(*names: str) -> bool:
    """Tell whether a name says how often a model did something, and no name how well."""
    others = [name for name in names if not _has(EFFORT, name)]
    return len(others) < len(names) and not _has(QUALITY, *others) and not _has(SHARE, *names)


def is_named_score(*names: str) -> bool:
    """Tell whether a name is that of a score, of a share, or of what is right."""
    return is_more_better(*names) or _has(SHARE, *names) or _has(RIGHT, *names)


def says_more(*names: str) -> bool:
    """Tell whether a name says that more is better, or counts what is right; a share may be one of anything."""
    return is_more_better(*names) or _has(RIGHT, *names)


def _has(words: str, *names: str) -> bool:
    """Tell whether a name has one of these words; `successRate` is two words, and `mIoU` may be one."""
    kept = [LEFT_OUT.sub("", name) for name in names]
    spelled = [re.sub("[Δδ]", "delta_", name).replace("%", " percent ") for name in kept]
    return any(_said_by(words).search(words_of(one)) for name in spelled for one in (name, name.lower()))


def are_counts(name: str, values: Sequence[float]) -> bool:
    """Tell whether a name says that values count something, and each is whole and not below 0."""
    return _has(COUNT, name) and not _has(f"<means>|{SHARE}", name) and all(one >= 0 and one % 1 == 0 for one in values)


def may_be_counts(values: Sequence[float], *names: str) -> bool:
    """Tell whether values are whole numbers, not all 0 or 1, and no name says that they are scores."""
    whole = bool(values) and all(value % 1 == 0 for value in values) and max(map(abs, values)) > 1
    return whole and not _has(NO_COUNT, *names)


def percent_scale(metric_name: str, values: Sequence[float], *, is_less: bool = False) -> Scale:
    """The scale of values that are percentages; an MCC may be below 0 even where all of these are above."""
    kind = kind_of(metric_name)
    least = min([*values, kind.range[0] if kind else 0.0])
    why = {"bound_reason": "the worst percentage"}
    better = {"higher_is_better": False, "lower_bound": "100", "upper_bound": "0", **why} if is_less else {}
    return Scale({"unit": "percent"} | ({"range": [-100, 100]} if least < 0 else {}) | better)


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


def scale_of(
    metric_name: str, values: Sequence[float], *, less_is_better: bool = False, is_plain: bool = False
) -> Scale:
    """The scale that makes scores of a metric's values. Every given value is inside of the drafted range.

    Numbers that are no shares may be any: what was seen until today is no range of them.
    `less_is_better` says that the files say so, whatever the name says; `is_plain` that these are no percentages.
    """
    kind = kind_of(metric_name)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if kind is not None and most <= 1:
        least = min(least, kind.range[0])
    unknown = () if kind else (f"{metric_name} is not known here: are higher values better, and what is their range?",)
    if less_is_better or (kind is not None and not kind.higher_is_better):
        return _less_is_better(values)
    if kind is not None and kind.range[1] == 100 and least >= 0 and most <= 100 and not is_plain:
        return Scale({"unit": "percent"})
    if least >= 0 and most <= 1:
        return Scale(todo=unknown)
    if least >= -1 and most <= 1:
        return Scale({"range": [-1, 1]}, unknown)
    if least >= 0 and most <= 100 and not is_plain:
        return Scale({"unit": "percent"}, (*unknown, "values above 1 were read as percentages"))
    top = min(TOP, _power_of_ten(max(abs(least), abs(most))))
    keys = {"range": [-TOP if least < 0 else 0, TOP], "upper_bound": str(top)}
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
