"""Git trees: their entries, and the differences between two trees."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

STRIDE = 8_192  # bytes between two entries of which the place is kept
BLOCK = 8_192  # bytes that are compared at once
FOLDER, SUBMODULE = b"40000", b"160000"


class TreeEntry(NamedTuple):
    """What a name in a folder stands for: `oid` has 20 bytes."""

    mode: bytes
    oid: bytes


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder's bytes, and where some of its entries begin: nothing in the bytes themselves tells it."""

    data: bytes
    marks: tuple[int, ...]


def read_tree(data: bytes) -> Tree:
    """A folder, read through once. Raises ValueError if it is not a folder."""
    at, marks = 0, [0]
    while at < len(data):
        if at - marks[-1] >= STRIDE:
            marks.append(at)
        at = _after(data, at)
    return Tree(data, tuple(marks))


def items_of(data: bytes) -> dict[str, TreeEntry]:
    """The entries of a folder, half surrogates for bytes that are not UTF-8. Raises ValueError for what is none."""
    found, at = {}, 0
    while at < len(data):
        name, found[name], at = _item(data, at)
    return found


def find(data: bytes, name: str) -> TreeEntry | None:
    """The entry of one name. Raises ValueError for what is not a folder."""
    return items_of(data).get(name)


def difference(old: Tree, new: bytes) -> tuple[dict[str, TreeEntry], dict[str, TreeEntry], Tree]:
    """The entries of the old folder that the new one has not, those of the new one that the old has not, the new one.

    Where many bytes are the same, they are not read. Raises ValueError for what is not a folder.
    """
    walk = _Walk(old, new)
    while walk.here < len(old.data) and walk.there < len(new):
        walk.skip()
        walk.go_on()
    walk.take_rest()
    same = walk.was.items() & walk.now.items()  # of a folder that is not in order
    return dict(walk.was.items() - same), dict(walk.now.items() - same), Tree(new, tuple(walk.marks))


@dataclass
class _Walk:
    """Goes through two folders side by side; both are in the same order."""

    old: Tree
    new: bytes
    was: dict[str, TreeEntry] = field(default_factory=dict)
    now: dict[str, TreeEntry] = field(default_factory=dict)
    here: int = 0
    there: int = 0
    marks: list[int] = field(default_factory=lambda: [0])

    def skip(self) -> None:
        """Leave out what both have from here on, up to the last place of which it is known that an entry begins."""
        old, new, marks = self.old.data, self.new, self.old.marks
        at, by = self.here, self.there - self.here
        end = min(len(old), len(new) - by)
        while at < end and old[at : at + BLOCK] == new[at + by : at + by + BLOCK]:
            at += BLOCK
        kept = marks[bisect_right(marks, self.here) : bisect_right(marks, min(at, end))]
        if kept:
            self.marks += [mark + by for mark in kept]
            self.here, self.there = kept[-1], kept[-1] + by

    def go_on(self) -> None:
        """Read entries, until both have the same one after some that differ."""
        is_same = True
        while self.here < len(self.old.data) and self.there < len(self.new):
            here, there = _after(self.old.data, self.here), _after(self.new, self.there)
            one, other = self.old.data[self.here : here], self.new[self.there : there]
            if one == other:
                self.here = here
                self._go_to(there)
                if not is_same:
                    return
                continue
            is_same = False
            first, second = _place(one), _place(other)
            if first <= second:
                self._note(self.was, one)
                self.here = here
            if second <= first:
                self._note(self.now, other)
                self._go_to(there)

    def take_rest(self) -> None:
        """Read what only one of them has at its end."""
        self.was |= items_of(self.old.data[self.here :])
        while self.there < len(self.new):
            there = _after(self.new, self.there)
            self._note(self.now, self.new[self.there : there])
            self._go_to(there)

    def _go_to(self, there: int) -> None:
        self.there = there
        if there - self.marks[-1] >= STRIDE and there < len(self.new):
            self.marks.append(there)

    @staticmethod
    def _note(found: dict[str, TreeEntry], entry: bytes) -> None:
        found |= items_of(entry)


def _after(data: bytes, at: int) -> int:
    """Where the entry that begins at `at` ends: its mode, a space, its name, a zero and twenty bytes."""
    end = data.find(b"\0", at) + 21
    if end <= at + 21 or end > len(data):
        raise ValueError("a truncated folder")
    return end


def _item(data: bytes, at: int) -> tuple[str, TreeEntry, int]:
    end = _after(data, at)
    mode, _, name = data[at : end - 21].partition(b" ")
    if not name or b"/" in name:
        raise ValueError("an entry without a name of its own")
    return name.decode("utf-8", "surrogateescape"), TreeEntry(mode, data[end - 20 : end]), end


def _place(entry: bytes) -> bytes:
    """The sort key of an entry in its folder: its name, with a slash after the name of a folder."""
    mode, _, name = entry[:-21].partition(b" ")
    return name + b"/" if mode == FOLDER else name
