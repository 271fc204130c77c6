"""Compute the value of a group from its leaves, and the counts behind a proportion from its standard error.

For a metric that is 0 or 1 on each sample lm-eval reports se = sqrt(p (1 - p) / (n - 1)): the standard
deviation with n - 1, over sqrt(n) (lm_eval/api/metrics.py, `mean_stderr`). Value and error so fix n, and
n fixes the number of right answers. Not valid for pooled errors of groups, for metrics between 0 and 1 on
one sample (DROP f1), nor for p of exactly 0 or 1, where se is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isfinite

from bot.evaluation.formats.format import stderr_beside
from bot.evaluation.result import LeafResult, Result

# Files carry 16 or 17 digits: a count that the numbers really hold comes out far closer than this.
TOLERANCE = 1e-6


def samples_behind(value: float, stderr: float) -> float | None:
    """Return n = 1 + p(1 - p) / se^2, not yet rounded; None if value and error say nothing about n.

    `value` is a proportion in [0, 1], `stderr` has the same unit. A whole number (see `whole`) speaks for a
    0/1 metric on that many samples; a broken one for a pooled error, a finer metric, or an edited value.
    """
    if not (0.0 < value < 1.0 and stderr > 0.0 and isfinite(stderr)):
        return None
    variance = stderr * stderr
    if variance == 0.0:
        return None
    samples = 1.0 + value * (1.0 - value) / variance
    return samples if isfinite(samples) else None


def whole(count: float | None, tolerance: float = TOLERANCE) -> int | None:
    """Return the integer that `count` is, within `tolerance` of its size; None where it is none, or not known.

    The tolerance is relative above 1 because n carries the relative error of 2 se.
    """
    if count is None or not isfinite(count):
        return None
    nearest = round(count)
    return nearest if abs(count - nearest) <= tolerance * max(1.0, abs(count)) else None


def is_mean_of_proportions(leaf_key: str, metric: str) -> bool:
    """Whether a metric is a mean of probabilities and not of zeros and ones, under whatever name the harness has it.

    The second number of TruthfulQA is the probability of the true answers; harness 0.4 calls it `acc` of
    `truthfulqa_mc2`, and translations `truthfulqa_eu_mc2`.
    """
    return metric == "mc2" or "mc2" in leaf_key.replace(":", "_").split("_")


def right_answers(value: float, samples: int, tolerance: float = TOLERANCE) -> int | None:
    """Return k where `value` is k / samples, to `tolerance` in k; None if it is not such a fraction."""
    product = value * samples
    if not isfinite(product):
        return None
    nearest = round(product)
    return nearest if abs(product - nearest) <= tolerance else None


def expected_stderr(value: float, samples: int) -> float | None:
    """Return lm-eval's standard error of a 0/1 metric, sqrt(p(1 - p) / (n - 1)); None for n < 2."""
    if samples < 2 or not 0.0 <= value <= 1.0:
        return None
    return float((value * (1.0 - value) / (samples - 1)) ** 0.5)


MOST = 1_000  # members of a group that are looked at: a file may name thousands


def leaves_of(group: str, subtasks: Mapping[str, tuple[str, ...]]) -> Sequence[str]:
    """The leaves below a group, a thousand at most; a group that contains itself is walked once."""
    direct = subtasks.get(group, ())[:MOST]
    if subtasks.keys().isdisjoint(direct):
        return direct
    leaves: dict[str, None] = {}
    seen, waiting = {group}, [group]
    while waiting and len(leaves) + len(seen) < MOST:
        for member in subtasks[waiting.pop()][:MOST]:
            if member not in subtasks:
                leaves[member] = None
            elif member not in seen:
                seen.add(member)
                waiting.append(member)
    return list(leaves)


def means_of_leaves(
    result: Result, members: Sequence[str], key: str, known: Mapping[str, int | None]
) -> tuple[float, float] | None:
    """The mean of the leaves weighted by samples, and their plain mean; None if a value or size is unknown."""
    total, plain, weight, count = 0.0, 0.0, 0, 0
    leaves = result.leaves
    for member in members:
        leaf = leaves.get(member)
        value = None if leaf is None else leaf.numbers.get(key)
        # Where no samples are recorded, harness 0.4.1 weighed by those of the leaves without the metric, too.
        if leaf is None or (key not in leaf.numbers and leaf.samples):
            continue
        size = leaf.samples or known.get(member) or whole(samples_behind_key(leaf, key))
        if type(value) is not float or not size:
            return None
        total += value * size
        plain += value
        weight += size
        count += 1
    return (total / weight, plain / count) if count else None


def samples_behind_key(leaf: LeafResult, key: str) -> float | None:
    """`samples_behind` of the value under a key of a leaf and the error beside it; None where one of them is absent."""
    value, error = leaf.numbers.get(key), leaf.numbers.get(stderr_beside(key))
    return samples_behind(value, error) if type(value) is float and type(error) is float else None


def means_of_members(result: Result, group: str, key: str) -> Iterator[float]:
    """The plain mean of the direct members, which is what `weight_by_size: false` makes of groups of groups."""
    rows = {row.key: row.numbers for row in result.groups}
    rows |= {name: leaf.numbers for name, leaf in result.leaves.items()}
    values = [rows.get(member, {}).get(key) for member in result.subtasks.get(group, ())[:MOST]]
    had = [value for value in values if type(value) is float]
    if had and len(had) == len(values):
        yield sum(had) / len(had)


def first_of(size: int, limit: float) -> int:
    """How many questions a limit leaves of so many: that number, or that share of them."""
    return min(size, int(limit)) if limit >= 1 else ceil(size * limit)
