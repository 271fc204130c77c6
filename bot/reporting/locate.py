"""Add line numbers to findings that are about to be shown: find the line of a JSON pointer in the bytes of a file.

No library does it on bytes that are not quite JSON (bare NaN, a key twice), as result files are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from json import JSONDecoder

import msgspec

from bot.evaluation.finding import Finding
from bot.evaluation.verdict import Judgement

DECODER = JSONDecoder()
OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
BEGIN = re.compile(rb"\s*\[")
ITEM = re.compile(r"[\s,]*")
KEY = re.compile(rb'[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*')
END = re.compile(rb"\s*\}")
LOOSE_KEY = re.compile(r'[\s,{]*(?=")')
COLON = re.compile(r"\s*:\s*")

Span = tuple[int, int]


class Locator:
    """Finds lines in one file; it remembers the objects that it has decoded, for findings come in dozens."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[Span, dict[str, Span]] = {}

    def line_of(self, pointer: str) -> int:
        """The line of what `pointer` names, or of the deepest part of it that is there; 0 for the whole file."""
        if not pointer:
            return 0
        span = (0, len(self._data))
        for part in pointer[1:].split("/"):
            inner = self._members(span).get(part.replace("~1", "/").replace("~0", "~"))
            if inner is None:
                break
            span = inner
        return self._data.count(b"\n", 0, span[0]) + 1

    def _members(self, span: Span) -> dict[str, Span]:
        """The members of the object or array at a span with the spans of their values; of one key twice the last."""
        if span not in self._known:
            if BEGIN.match(self._data, *span):
                self._known[span] = dict(_items(self._data, *span))
            else:
                strict = _members_strictly(self._data, *span)
                self._known[span] = dict(_members_loosely(self._data, *span)) if strict is None else strict
        return self._known[span]


def _members_strictly(data: bytes, start: int, end: int) -> dict[str, Span] | None:
    """The members by the fast decoder; None if the bytes are not a strict JSON object of different keys."""
    try:
        values = OBJECT.decode(memoryview(data)[start:end])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    members: dict[str, Span] = {}
    at = start
    for name, value in values.items():
        key = KEY.match(data, at, end)
        if key is None or (key[1] != f'"{name}"'.encode() and msgspec.json.decode(key[1]) != name):
            return None
        at = key.end() + len(memoryview(value))
        members[name] = (key.end(), at)
    return members if not members or END.match(data, at, end) else None


def _items(data: bytes, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The items of an array by their numbers."""
    text = data[start:end].decode("utf-8", "replace")
    at, passed, offset, number = text.index("[") + 1, 0, start, 0
    while (before := ITEM.match(text, at)) is not None:
        try:
            _, at = DECODER.raw_decode(text, before.end())
        except (ValueError, RecursionError):
            return
        begin = offset + len(text[passed : before.end()].encode())
        offset, passed = begin + len(text[before.end() : at].encode()), at
        yield str(number), (begin, offset)
        number += 1


def _members_loosely(data: bytes, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The same for what only Python reads (NaN, a key twice), slower: values are decoded to find their ends."""
    text = data[start:end].decode("utf-8", "replace")
    if not text.lstrip().startswith("{"):
        return
    at, passed, offset = 0, 0, start
    while (key := LOOSE_KEY.match(text, at)) is not None:
        try:
            name, after = DECODER.raw_decode(text, key.end())
            colon = COLON.match(text, after)
            if colon is None:
                return
            _, at = DECODER.raw_decode(text, colon.end())
        except (ValueError, RecursionError):
            return
        begin = offset + len(text[passed : colon.end()].encode())
        offset, passed = begin + len(text[colon.end() : at].encode()), at
        yield name, (begin, offset)


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
