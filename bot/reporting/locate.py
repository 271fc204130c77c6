"""Find where values lie in a JSON text, to give findings their lines when they are shown.

No library does that for texts that are not quite JSON (bare NaN, a key twice), as result files are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count
from json import JSONDecoder
from typing import Any

import msgspec

from bot.evaluation.finding import Finding
from bot.evaluation.verdict import Judgement

LENIENT = JSONDecoder(parse_int=str, parse_float=str)  # a number may have more digits than Python reads
SPACE = re.compile(r"[ \t\r\n]*")
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
    at = skip(text, start)
    is_object = text.startswith("{", at)
    if not is_object and not text.startswith("[", at):
        return
    for number in count():
        begin = skip(text, at + 1)
        try:
            name, key_end = decoder.raw_decode(text, begin) if is_object else (number, begin)
            at = skip(text, skip(text, key_end) + 1) if is_object else begin
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield JsonPlace(name, begin, key_end, at, end, value)
        at = skip(text, end)
        if not text.startswith(",", at):
            return


class Locator:
    """Finds lines in one file; it remembers the objects that it has decoded, for findings come in dozens."""

    def __init__(self, data: bytes) -> None:
        self._text = data.decode("utf-8", "replace")
        self._known: dict[int, dict[str, int]] = {}

    def line_of(self, pointer: str) -> int:
        """The line of what `pointer` names, or of the deepest part of it that is looked up; 0 for the whole file.

        What is no JSON, such as an archive, has no lines.
        """
        if not pointer or not self._members(0):
            return 0
        start = 0
        for part in pointer[1:].split("/", DEEPEST)[:DEEPEST]:
            inner = self._members(start).get(part.replace("~1", "/").replace("~0", "~"))
            if inner is None:
                break
            start = inner
        return self._text.count("\n", 0, start) + 1

    def _members(self, start: int) -> dict[str, int]:
        """Where the values of the object or array at a position begin; of one key twice the last."""
        if start not in self._known:
            self._known[start] = {str(one.name): one.start for one in places(self._text, start)}
        return self._known[start]


def with_lines(judgement: Judgement, read: Callable[[str], bytes | None]) -> Judgement:
    """The judgement with the line of every finding.

    `read` gives a file's bytes by its path, None if there are none any more. One file at a time stays in memory.
    """

    @lru_cache(maxsize=1)
    def locator(path: str) -> Locator | None:
        data = read(path)
        return None if data is None else Locator(data)

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
