"""Tell whether the numbers of an entry follow from each other, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import fsum, isfinite, sqrt

from bot.evaluation.score import LeafScore, TaskScore, normalize
from bot.publishing.entry import Entry
from bot.reporting.escape import brief

# In points, and for raw values in their unit. A double keeps 15 digits and people see two decimals: sums in another
# order, or bounds as doubles, move a score by less than 1e-11; whoever wants to gain by a change needs far more.
TOLERANCE = 1e-6
LONGEST = 500  # characters of a sentence: the names in it are a stranger's


def contradiction(entry: Entry) -> str:
    """The first number of an entry that does not follow from its others, as a sentence; "" if all of them do.

    A column is the mean of its leaves, plain or by their samples. Where the entry cannot say which samples were
    declared, because some are unknown or a waiver excuses them, the column must lie between its leaves.
    """
    return brief(next(_contradictions(entry), ""), LONGEST)


def _contradictions(entry: Entry) -> Iterator[str]:
    for task in entry.tasks:
        yield from _in_task(task, has_waivers=bool(entry.waivers))
    scores = [task.score for task in entry.tasks]
    mean = _mean(scores)
    if not _is_close(entry.average, mean):
        yield f"the average is {_shown(entry.average)}, and the mean of the tasks is {_shown(mean)}"
    errors = [task.stderr for task in entry.tasks]
    whole = [error for error in errors if error is not None]
    stderr = sqrt(fsum(error * error for error in whole)) / len(whole) if whole and len(whole) == len(errors) else None
    if not _is_close(entry.stderr, stderr if mean is not None else None):
        yield f"the standard error of the average is {_shown(entry.stderr)}, and the tasks give {_shown(stderr)}"
    if (entry.verdict == "accepted") != (entry.average is not None):
        yield f"the verdict is {entry.verdict}, and the average is {_shown(entry.average)}"


def _in_task(task: TaskScore, *, has_waivers: bool) -> Iterator[str]:
    for leaf in task.leaves:
        score = _score_of(leaf, leaf.raw)
        if leaf.score is not None and not _is_close(leaf.score, score):
            yield f"{task.id}: the score of {leaf.id} is {_shown(leaf.score)}, and its raw value gives {_shown(score)}"
    if (task.raw is None) != (task.score is None):
        yield f"{task.id}: the raw value is {_shown(task.raw)}, and the score is {_shown(task.score)}"
    if task.raw is None or task.score is None:
        return
    weights = _weights(task) if not has_waivers else None
    if not _is_mean(task.raw, [leaf.raw for leaf in task.leaves], weights):
        yield f"{task.id}: the raw value is {_shown(task.raw)}, which its subtasks do not give"
    own = [score for leaf in task.leaves if (score := _score_of(leaf, task.raw)) is not None]
    is_of_raw = any(_is_close(task.score, score) for score in own)
    if not is_of_raw and not _is_mean(task.score, [leaf.score or 0.0 for leaf in task.leaves], weights):
        yield f"{task.id}: the score is {_shown(task.score)}, which neither its raw value nor its subtasks give"


def _weights(task: TaskScore) -> list[int] | None:
    """The samples of the leaves of a task, None where they are not known, or are not those that weigh."""
    samples = [leaf.samples for leaf in task.leaves if leaf.samples]
    is_plain = len({leaf.id for leaf in task.leaves}) == len(task.leaves) == len(samples)
    return samples if is_plain else None


def _is_mean(value: float, values: list[float], weights: list[int] | None) -> bool:
    """Tell whether a value is the plain or the weighted mean of values; without weights, whether it lies among them."""
    if not values:
        return False
    if weights is None:
        return min(values) - TOLERANCE <= value <= max(values) + TOLERANCE
    weighted = fsum(one * weight for one, weight in zip(values, weights, strict=True)) / sum(weights)
    return _is_close(value, fsum(values) / len(values)) or _is_close(value, weighted)


def _score_of(leaf: LeafScore, raw: float) -> float | None:
    """The score that a raw value has under the bounds of a leaf, None where these are no two numbers."""
    bounds = _bounds(leaf.lower_bound, leaf.upper_bound)
    return normalize(raw, bounds[0], bounds[1] - bounds[0]) if bounds is not None and isfinite(raw) else None


@lru_cache(maxsize=1_000)
def _bounds(lower: str, upper: str) -> tuple[float, float] | None:
    """Two bounds as doubles; a board has few of them."""
    try:
        bounds = float(Fraction(lower)), float(Fraction(upper))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return bounds if bounds[0] != bounds[1] else None


def _mean(scores: Iterable[float | None]) -> float | None:
    every = list(scores)
    found = [score for score in every if score is not None]
    return fsum(found) / len(found) if found and len(found) == len(every) else None


def _is_close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.12g}"
