"""Find where values lie in a JSON text, to give findings their lines when they are shown.

No library does that for texts that are not quite JSON (bare NaN, a key twice), as result files are.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from json import JSONDecoder
from sys import maxsize
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.evaluation.finding import Finding
from bot.evaluation.verdict import Judgement

LENIENT = JSONDecoder(parse_int=str, parse_float=str)  # a number may have more digits than Python reads
SPACE = re.compile(r"[ \t\r\n]*")
OPENED = re.compile(r"[ \t\r\n]*([{\[])[ \t\r\n]*")
COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
Starts = Iterator[tuple[str | int, int, int, int]]
DEEPEST = 20  # parts of a pointer that are followed: each decodes once more what lies below it


class JsonPlace(msgspec.Struct, frozen=True, gc=False):
    """A value with its position; a member of an object has a name, which ends at `key_end`, an item its number.

    `begin` is where the member begins, its name included; an item begins at its value.
    """

    name: str | int
    begin: int
    key_end: int
    start: int
    end: int
    value: Any


def skip(text: str, at: int) -> int:
    """The next position that is not white space."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def places(text: str, start: int, decoder: JSONDecoder = LENIENT) -> Iterator[JsonPlace]:
    """The members of the object, or the items of the array, at a position; they end where the text is no JSON."""
    for name, begin, key_end, at in starts(text, start, decoder):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield JsonPlace(name, begin, key_end, at, end, value)


def starts(text: str, start: int, decoder: JSONDecoder = LENIENT) -> Starts:
    """The name of each member or the number of each item, where it begins, where its name ends, and its value's begin.

    A value is decoded only where the next one is asked for.
    """
    opened = OPENED.match(text, start)
    if opened is None:
        return
    is_object, begin = opened[1] == "{", opened.end()
    for number in count():
        try:
            name, key_end = decoder.raw_decode(text, begin) if is_object else (number, begin)
            colon = COLON.match(text, key_end) if is_object else None
            if is_object and colon is None:
                return
            at = begin if colon is None else colon.end()
            yield name, begin, key_end, at
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        comma = COMMA.match(text, end)
        if comma is None:
            return
        begin = comma.end()


class Locator:
    """Finds lines in one file; it remembers what it has decoded, for findings come in dozens.

    `is_plain` says that no object has a key twice with two values, so that the rest of an object need not be decoded.
    """

    def __init__(self, data: bytes, *, is_plain: bool = False) -> None:
        self._text = data.decode("utf-8", "replace")
        self._is_plain = is_plain
        self._is_json = next(starts(self._text, 0), None) is not None
        self._objects: dict[int, tuple[dict[str, int], Starts]] = {}
        self._lines = [(0, 1)]  # positions whose line is known, in their order

    def line_of(self, pointer: str) -> int:
        """The line of what `pointer` names, or of the deepest part of it that is looked up; 0 for the whole file.

        What is no JSON, such as an archive, has no lines.
        """
        if not pointer or not self._is_json:
            return 0
        start = 0
        for part in pointer[1:].split("/", DEEPEST)[:DEEPEST]:
            inner = self._member(start, part.replace("~1", "/").replace("~0", "~"))
            if inner is None:
                break
            start = inner
        return self._line_at(start)

    def _member(self, start: int, name: str) -> int | None:
        """Where the value of a member of the object or array at a position begins; of one key twice the last."""
        known, more = self._members(start)
        if not (self._is_plain and name in known):
            for key, _, _, at in more:
                known[str(key)] = at
                if self._is_plain and str(key) == name:
                    break
        return known.get(name)

    def _members(self, start: int) -> tuple[dict[str, int], Starts]:
        """Where the values of the members begin, as far as the object was read, and the rest of them."""
        if start not in self._objects:
            self._objects[start] = {}, starts(self._text, start)
        return self._objects[start]

    def _line_at(self, position: int) -> int:
        """The line of a position, counted from the nearest one before it that is known."""
        place = bisect(self._lines, (position, maxsize))
        before, line = self._lines[place - 1]
        if before < position:
            line += self._text.count("\n", before, position)
            self._lines.insert(place, (position, line))
        return line


def with_lines(judgement: Judgement, read: Callable[[str], bytes | None]) -> Judgement:
    """The judgement with the line of every finding.

    `read` gives a file's bytes by its path, None if there are none any more. One file at a time stays in memory.
    """
    results = ((verdict.path, verdict.result) for verdict in judgement.verdicts)
    plain = {path for path, result in results if result is not None and not result.repeated}

    @lru_cache(maxsize=1)
    def locator(path: str) -> Locator | None:
        data = read(path)
        return None if data is None else Locator(data, is_plain=path in plain)

    def located(finding: Finding) -> Finding:
        place = finding.location
        if place.line or not place.pointer:
            return finding
        found = locator(place.path)
        return replace(finding, location=replace(place, line=found.line_of(place.pointer) if found else 0))

    return replace(
        judgement,
        verdicts=tuple(replace(one, findings=tuple(map(located, one.findings))) for one in judgement.verdicts),
        rows=tuple(replace(row, findings=tuple(map(located, row.findings))) for row in judgement.rows),
    )
