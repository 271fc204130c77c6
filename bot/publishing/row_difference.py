"""Find the numbers in which two versions of a row differ."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from bot.publishing.entry import Entry


class Difference(msgspec.Struct, frozen=True):
    """A number of a row, or a cell of its table: `name` says which, `published` is the value at the target.

    `computed` is the value from the evidence; for a cell, the value from the row beside the table.
    """

    name: str
    published: float | str | None
    computed: float | str | None


def differences(published: Entry, computed: Entry | None) -> tuple[Difference, ...]:
    """Every number in which two rows differ, to the last digit; all numbers if nothing could be computed."""
    there, here = dict(_numbers(published)), dict(_numbers(computed)) if computed is not None else {}
    names = dict.fromkeys([*there, *here])
    return tuple(
        Difference(name, there.get(name), here.get(name)) for name in names if there.get(name) != here.get(name)
    )


def _numbers(entry: Entry) -> Iterator[tuple[str, float | None]]:
    yield "average", entry.average
    yield "average stderr", entry.stderr
    for task in entry.tasks:
        yield f"{task.id} raw", task.raw
        yield f"{task.id} score", task.score
        for leaf in task.leaves:
            yield f"{task.id} {leaf.id} {leaf.metric} raw", leaf.raw
            yield f"{task.id} {leaf.id} {leaf.metric} score", leaf.score
