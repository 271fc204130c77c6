"""Folders as git keeps them: their entries, and in what two of them differ."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

STRIDE = 8_192  # bytes between two entries of which the place is kept
BLOCK = 8_192  # bytes that are compared at once
FOLDER, SUBMODULE = b"40000", b"160000"


class Item(NamedTuple):
    """What a name in a folder stands for: `oid` has 20 bytes."""

    mode: bytes
    oid: bytes


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder's bytes, and where some of its entries begin: nothing in the bytes themselves tells it."""

    data: bytes
    marks: tuple[int, ...]


def read_tree(data: bytes) -> Tree:
    """A folder, read through once. Raises ValueError for what is none."""
    at, marks = 0, [0]
    while at < len(data):
        if at - marks[-1] >= STRIDE:
            marks.append(at)
        at = _after(data, at)
    return Tree(data, tuple(marks))


def items_of(data: bytes) -> dict[str, Item]:
    """The entries of a folder, half surrogates for bytes that are not UTF-8. Raises ValueError for what is none."""
    found, at = {}, 0
    while at < len(data):
        name, found[name], at = _item(data, at)
    return found


def find(data: bytes, name: str) -> Item | None:
    """The entry of one name. Raises ValueError for what is no folder."""
    return items_of(data).get(name)


def difference(old: Tree, new: bytes) -> tuple[dict[str, Item], dict[str, Item], Tree]:
    """The entries of the old folder that the new one has not, those of the new one that the old has not, the new one.

    The bytes that both begin and end with are not read. Raises ValueError for what is no folder.
    """
    start, least = _shared_start(old.data, new), min(len(old.data), len(new))
    if start == len(old.data) == len(new):
        return {}, {}, old
    end = len(old.data) - _shared_end(old.data, new, least - start)
    kept = bisect_right(old.marks, start)
    was, now, marks = dict[str, Item](), dict[str, Item](), list(old.marks[:kept])
    here = there = marks[-1]
    by = len(new) - len(old.data)
    while here < end or there != here + by:
        if there < here + by:
            if there - marks[-1] >= STRIDE:
                marks.append(there)
            name, now[name], there = _item(new, there)
        else:
            name, was[name], here = _item(old.data, here)
    marks += [mark + by for mark in old.marks[kept:] if mark >= here]
    same = was.items() & now.items()
    return dict(was.items() - same), dict(now.items() - same), Tree(new, tuple(marks))


def _shared_start(one: bytes, other: bytes) -> int:
    """How many bytes both begin with; at most BLOCK fewer than in truth."""
    at, least = 0, min(len(one), len(other))
    while at < least and one[at : at + BLOCK] == other[at : at + BLOCK]:
        at += BLOCK
    return min(at, least)


def _shared_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes both end with, at most so many; at most BLOCK fewer than in truth."""
    at, far, away = 0, len(one) - BLOCK, len(other) - BLOCK
    while at + BLOCK <= most and one[far - at : far - at + BLOCK] == other[away - at : away - at + BLOCK]:
        at += BLOCK
    return at


def _after(data: bytes, at: int) -> int:
    """Where the entry that begins at `at` ends: its mode, a space, its name, a zero and twenty bytes."""
    end = data.find(b"\0", at) + 21
    if end <= at + 21 or end > len(data):
        raise ValueError("a folder that breaks off")
    return end


def _item(data: bytes, at: int) -> tuple[str, Item, int]:
    end = _after(data, at)
    mode, _, name = data[at : end - 21].partition(b" ")
    if not name or b"/" in name:
        raise ValueError("an entry without a name of its own")
    return name.decode("utf-8", "surrogateescape"), Item(mode, data[end - 20 : end]), end
