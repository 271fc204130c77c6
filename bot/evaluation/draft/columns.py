"""Puts leaves into columns: groups of the catalogue, groups that a file names, and the rest one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.evaluation.aggregates import leaves_of
from bot.evaluation.catalogue import Group, catalogue, members_of
from bot.evaluation.draft.seen import Seen
from bot.evaluation.result import Result


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """Leaves that make one column; `group` is theirs in the catalogue, `name` what the file or the leaf is called."""

    name: str
    leaves: tuple[Seen, ...]
    group: Group | None = None
    rows: tuple[str, ...] = ()

    @property
    def is_whole_group(self) -> bool:
        """Tell whether all members of the catalogue's group are there."""
        return self.group is not None and len(self.leaves) == len(members_of(self.group))


def columns_of(seen: Sequence[Seen], results: Iterable[Result]) -> list[DraftColumn]:
    """The columns, in the order of their first leaves."""
    left = {leaf.key: leaf for leaf in seen}
    columns = list(_known_groups(left))
    columns += _named_groups(_merged(results), left)
    columns += [DraftColumn(leaf.key, (leaf,)) for leaf in left.values()]
    order = {leaf.key: place for place, leaf in enumerate(seen)}
    return sorted(columns, key=lambda column: order[column.leaves[0].key])


def _merged(results: Iterable[Result]) -> dict[str, tuple[str, ...]]:
    """The groups of all files with their members: a file may bring one of them."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for group, members in result.subtasks.items():
            found.setdefault(group, {}).update(dict.fromkeys(members))
    return {group: tuple(members) for group, members in found.items()}


def _known_groups(left: dict[str, Seen]) -> Iterator[DraftColumn]:
    """Takes the members of the catalogue's groups out of what is left."""
    found: dict[tuple[object, ...], list[Seen]] = {}
    for leaf in list(left.values()):
        if leaf.known is not None and isinstance(leaf.known.of, Group):
            found.setdefault((leaf.known.of.id, *_alike(leaf)), []).append(left.pop(leaf.key))
    for (group_id, *_), leaves in found.items():
        group = catalogue().groups[str(group_id)]
        yield DraftColumn(group.id, tuple(leaves), group, group.rows)


def _alike(leaf: Seen) -> tuple[object, ...]:
    """The properties that all leaves of one column share."""
    return tuple((metric.name, metric.filter) for metric in leaf.metrics), leaf.shots, leaf.formats


def _named_groups(subtasks: Mapping[str, tuple[str, ...]], left: dict[str, Seen]) -> Iterator[DraftColumn]:
    """Takes the groups of a file out of what is left: from the top down, the first whose leaves are alike."""
    inner = {member for members in subtasks.values() for member in members}
    waiting = [group for group in subtasks if group not in inner]
    asked: set[str] = set()
    while waiting:
        group = waiting.pop(0)
        if group in asked:  # a file may name a group as a member of itself
            continue
        asked.add(group)
        leaves = [left[key] for key in leaves_of(group, subtasks) if key in left]
        if len(leaves) > 1 and len({_alike(leaf) for leaf in leaves}) == 1 and _is_one_benchmark(group, leaves):
            yield DraftColumn(group, tuple(left.pop(leaf.key) for leaf in leaves), rows=(group,))
        else:
            waiting += [member for member in subtasks[group] if member in subtasks]


def _is_one_benchmark(group: str, leaves: Iterable[Seen]) -> bool:
    """Whether all leaves are named after the group, and not a collection of benchmarks; one without a name is none."""
    return bool(group) and all(leaf.key.startswith(group[: max(3, len(group) // 2)]) for leaf in leaves)
