"""A JSON pointer and the bytes it points into, in; the line it stands on, out. Run only where something is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder

import msgspec

DECODER = JSONDecoder()
OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
KEY = re.compile(rb'[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*')
END = re.compile(rb"\s*\}")
LOOSE_KEY = re.compile(r'[\s,{]*(?=")')
COLON = re.compile(r"\s*:\s*")

Span = tuple[int, int]


class Locator:
    """Finds lines in one file; what it has taken apart it remembers, for findings come in dozens."""

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
        """The members of the object at a span, each with where its value stands; of one key twice the last."""
        if span not in self._known:
            strict = _members_strictly(self._data, *span)
            self._known[span] = dict(_members_loosely(self._data, *span)) if strict is None else strict
        return self._known[span]


def _members_strictly(data: bytes, start: int, end: int) -> dict[str, Span] | None:
    """The members by the fast decoder; None where the bytes are no strict JSON object of different keys."""
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
