"""Find the leaves below each group of a result, and compute the group's value from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.evaluation.counts import samples_behind, whole
from bot.evaluation.result import LeafResult, Result

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
    """The mean of the leaves weighted by samples, and the plain one; None if something is unknown."""
    total, plain, weight, count = 0.0, 0.0, 0, 0
    leaves = result.leaves
    for member in members:
        leaf = leaves.get(member)
        value = None if leaf is None else leaf.numbers.get(key)
        if leaf is None or (value is None and key not in leaf.numbers):
            continue
        size = leaf.samples or known.get(member) or _recovered(leaf, key)
        if type(value) is not float or not size:
            return None
        total += value * size
        plain += value
        weight += size
        count += 1
    return (total / weight, plain / count) if count else None


def _recovered(leaf: LeafResult, key: str) -> int | None:
    """The number of samples that value and standard error of a leaf give, None if they give none."""
    name, comma, answer_filter = key.partition(",")
    value, error = leaf.numbers.get(key), leaf.numbers.get(f"{name}_stderr{comma}{answer_filter}")
    behind = samples_behind(value, error) if type(value) is float and type(error) is float else None
    return None if behind is None else whole(behind)


def means_of_members(result: Result, group: str, key: str) -> Iterator[float]:
    """The plain mean of the direct members, which is what `weight_by_size: false` makes of groups of groups."""
    rows = {row.key: row.numbers for row in result.groups}
    rows |= {name: leaf.numbers for name, leaf in result.leaves.items()}
    values = [rows.get(member, {}).get(key) for member in result.subtasks.get(group, ())[:MOST]]
    had = [value for value in values if type(value) is float]
    if had and len(had) == len(values):
        yield sum(had) / len(had)
