"""What lies below the groups of a result, and what the leaves give for a group's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.evaluation.result import Result

MOST = 1_000  # members of a group that are looked at: a file may name thousands


def leaves_of(group: str, subtasks: Mapping[str, tuple[str, ...]]) -> Sequence[str]:
    """The leaves below a group, a thousand at most; a group that contains itself is walked once."""
    direct = subtasks.get(group, ())[:MOST]
    if subtasks.keys().isdisjoint(direct):
        return direct
    leaves: dict[str, None] = {}
    seen, waiting = {group}, [group]
    while waiting and len(leaves) + len(seen) < MOST:
        for member in subtasks.get(waiting.pop(), ())[:MOST]:
            if member not in subtasks:
                leaves[member] = None
            elif member not in seen:
                seen.add(member)
                waiting.append(member)
    return list(leaves)


def means_of_leaves(
    result: Result, members: Sequence[str], key: str, known: Mapping[str, int | None]
) -> tuple[float, float] | None:
    """The mean of the leaves weighted by samples, and the plain one; None where something is unknown."""
    total, plain, weight, count = 0.0, 0.0, 0, 0
    leaves = result.leaves
    for member in members:
        leaf = leaves.get(member)
        value = None if leaf is None else leaf.numbers.get(key)
        if leaf is None or (value is None and key not in leaf.numbers):
            continue
        size = leaf.samples or known.get(member)
        if type(value) is not float or not size:
            return None
        total += value * size
        plain += value
        weight += size
        count += 1
    return (total / weight, plain / count) if count else None
