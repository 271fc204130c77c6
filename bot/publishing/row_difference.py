"""Find the fields in which two versions of a row differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from bot.publishing.entry import Entry

# Fields that nobody can compute again: what wrote the entry, and when. docs/command-line.md names them.
CANNOT_FOLLOW = frozenset({"tool", "evidence[].date", "facts.today"})
# Fields that another declaration always has otherwise, whatever it gives for the row.
OF_DECLARATION = frozenset({"leaderboard.digest", "leaderboard.scoring_digest", "tasks[].title"})
WARNINGS = frozenset({"warnings[].rule", "warnings[].message"})

Value = float | str | None


class Difference(msgspec.Struct, frozen=True):
    """A field of a row, or a cell of its table: `name` says which, `published` is the value at the target.

    `computed` is the value from the evidence; for a cell, the value from the row beside the table.
    """

    name: str
    published: Value
    computed: Value


def differences(
    published: Entry, computed: Entry | None, leave_out: Collection[str] = frozenset()
) -> tuple[Difference, ...]:
    """Every field in which two rows differ, numbers to the last digit; every field if nothing could be computed.

    `leave_out` has further fields that do not count, such as `leaderboard.digest`. Warnings count only where both rows
    are of one version of the tool, which words them.
    """
    excused = CANNOT_FOLLOW.union(leave_out)
    if computed is not None and published.tool != computed.tool:
        excused |= WARNINGS
    there, here = _fields(published, excused), _fields(computed, excused) if computed is not None else {}
    names = dict.fromkeys([*there, *here])
    return tuple(
        Difference(".".join(name), there.get(name), here.get(name))
        for name in names
        if there.get(name) != here.get(name)
    )


def _fields(entry: Entry, excused: Collection[str]) -> dict[tuple[str, ...], Value]:
    """The values of an entry by their names, without those of excused fields."""
    found = _values(msgspec.to_builtins(entry), (), "")
    return {name: value for name, field, value in found if field not in excused}


def _values(value: Any, name: tuple[str, ...], field: str) -> Iterator[tuple[tuple[str, ...], str, Value]]:
    """Each single value below one, with its name and its field: `tasks.bbh.raw` is one of the field `tasks[].raw`."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _values(below, (*name, key), f"{field}.{key}" if field else key)
    elif isinstance(value, list | tuple):
        for key, below in zip(_names(value), value, strict=True):
            yield from _values(below, (*name, key), f"{field}[]")
    else:
        yield name, field, value


def _names(items: Sequence[Any]) -> list[str]:
    """The names of the members of a list: their ids, with the metric where a leaf has several, else their places."""
    dicts = [item if isinstance(item, dict) else {} for item in items]
    ids = [str(item.get("id", place)) for place, item in enumerate(dicts)]
    count = Counter(ids)
    return [
        one if count[one] == 1 else f"{one} {item.get('metric', place)}"
        for place, (one, item) in enumerate(zip(ids, dicts, strict=True))
    ]
