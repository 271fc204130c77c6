"""Merge files three ways by their lines, as git does: where git may see a conflict, there is one here.

In a table whose rows differ, a merge that is clean here is clean for git, which brings the same bytes. The reverse need
not hold: lines that moved, and all between their old and their new place, count as changed, and so do all places where
git may see the same change.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LINES = re.compile(rb"[^\n]*\n|[^\n]+")
BINARY = 8_000  # bytes in which git looks for a NUL, which makes a file binary
Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Merged:
    """Files as a merge would leave them; those at `conflicts` are as the request has them."""

    files: Mapping[str, bytes | None]
    conflicts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of the base, from `start` to `end`, that become `lines`; the change may lie anywhere in `low` to `high`."""

    start: int
    end: int
    lines: tuple[bytes, ...]
    low: int
    high: int


def merge_files(
    base: Mapping[str, bytes | None], main: Mapping[str, bytes | None], ours: Mapping[str, bytes | None]
) -> Merged:
    """Merge the files of a request into those of main, by path; both began with those of the base."""
    files, conflicts = dict[str, bytes | None](), set[str]()
    for path, data in ours.items():
        was, now = base.get(path), main.get(path)
        if data in {was, now}:
            files[path] = now
        elif now == was:
            files[path] = data
        elif (merged := None if None in {was, now, data} else merge_lines(was or b"", now or b"", data or b"")) is None:
            files[path] = data
            conflicts.add(path)
        else:
            files[path] = merged
    return Merged(files, frozenset(conflicts))


def merge_lines(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """Both changes of a file in one; None where they touch."""
    if any(b"\0" in data[:BINARY] for data in (base, one, other)):
        return None
    lines = LINES.findall(base)
    sides = [_hunks(lines, LINES.findall(side)) for side in (one, other)]
    found = sorted({*sides[0], *sides[1]}, key=lambda hunk: (hunk.low, hunk.high, hunk.start))
    reach = [-1, -1]
    for hunk in found:
        is_in = [hunk in side for side in sides]
        if any(hunk.low <= reach[1 - number] for number in (0, 1) if is_in[number]):
            return None
        reach = [max(end, hunk.high) if here else end for end, here in zip(reach, is_in, strict=True)]
    parts, at = list[bytes](), 0
    for hunk in sorted(found, key=lambda hunk: hunk.start):
        parts += [*lines[at : hunk.start], *hunk.lines]
        at = hunk.end
    return b"".join([*parts, *lines[at:]])


def _hunks(old: Lines, new: Lines) -> set[Hunk]:
    """The changes from one list of lines to another."""
    found = _without_moves(old, new, list(_differences(old, new)))
    return {Hunk(start, end, tuple(new[at:to]), *_room(old, start, end, new[at:to])) for start, end, at, to in found}


def _differences(old: Lines, new: Lines) -> Iterator[tuple[int, int, int, int]]:
    """What differs between lines that both have once and in this order: from where to where in each."""
    i = j = 0
    for at, to in [*_anchors(old, new), (len(old), len(new))]:
        end, stop = at, to
        while i < end and j < stop and old[i] == new[j]:
            i, j = i + 1, j + 1
        while i < end and j < stop and old[end - 1] == new[stop - 1]:
            end, stop = end - 1, stop - 1
        if i < end or j < stop:
            yield i, end, j, stop
        i, j = at, to


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """The longest series of lines that both have just once, in the order of both."""
    once = [{line for line, count in Counter(lines).items() if count == 1} for lines in (old, new)]
    both = once[0] & once[1]
    places = {line: at for at, line in enumerate(new) if line in both}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in places]
    ends: list[int] = []  # the smallest place at which a series of each length ends
    last: list[int] = []  # the pair that ends it
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [place], [number]
    found, number = list[tuple[int, int]](), last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _without_moves(
    old: Lines, new: Lines, found: Sequence[tuple[int, int, int, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """The same with changes made one where a line leaves the one and comes in the other."""
    gone = {line: number for number, (start, end, _, _) in enumerate(found) for line in old[start:end]}
    until = list(range(len(found)))
    for number, (_, _, at, to) in enumerate(found):
        for other in (gone[line] for line in new[at:to] if line in gone):
            first, second = sorted((number, other))
            until[first] = max(until[first], second)
    number = 0
    while number < len(found):
        last, first = until[number], number
        while number <= last:
            last, number = max(last, until[number]), number + 1
        yield found[first][0], found[last][1], found[first][2], found[last][3]


def _room(old: Lines, start: int, end: int, lines: Lines) -> tuple[int, int]:
    """From where to where the same lines may as well have come or gone."""
    run = lines or old[start:end]
    if lines and end > start:
        return start, end
    low, high, size = start, end, len(run)
    while low > 0 and old[low - 1] == run[(low - 1 - start) % size]:
        low -= 1
    while high < len(old) and old[high] == run[(high - end) % size]:
        high += 1
    return low, high
