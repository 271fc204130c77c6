"""A JSON pointer and the bytes it points into, in; the line it stands on, out. Run only where something is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder

import msgspec

DECODER = JSONDecoder()
OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
KEY = re.compile(rb'[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*')
LOOSE_KEY = re.compile(r'[\s,{]*(?=")')
COLON = re.compile(r"\s*:\s*")

Span = tuple[int, int]


class Locator:
    """Finds lines in one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def line_of(self, pointer: str) -> int:
        """The line of what `pointer` names, or of the deepest part of it that is there; 0 for the whole file."""
        if not pointer:
            return 0
        span = (0, len(self._data))
        for part in pointer[1:].split("/"):
            wanted = part.replace("~1", "/").replace("~0", "~")
            inner = next((place for name, place in _members(self._data, *span) if name == wanted), None)
            if inner is None:
                break
            span = inner
        return self._data.count(b"\n", 0, span[0]) + 1


def _members(data: bytes, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The members of the object at `start`, each with where its value begins and ends; none for anything else."""
    try:
        values = OBJECT.decode(memoryview(data)[start:end])
    except (msgspec.MsgspecError, RecursionError):
        yield from _members_loosely(data, start, end)
        return
    at = start
    for name, value in values.items():
        key = KEY.match(data, at, end)
        if key is None or (key[1] != f'"{name}"'.encode() and msgspec.json.decode(key[1]) != name):
            return  # a key stands twice: what follows is not told apart
        at = key.end() + len(memoryview(value))
        yield name, (key.end(), at)


def _members_loosely(data: bytes, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The same for what only Python reads (NaN), slower: values are decoded to find their ends."""
    text = data[start:end].decode("utf-8", "replace")
    at = 0
    while (key := LOOSE_KEY.match(text, at)) is not None and text.startswith("{"):
        try:
            name, after = DECODER.raw_decode(text, key.end())
            colon = COLON.match(text, after)
            if colon is None:
                return
            _, at = DECODER.raw_decode(text, colon.end())
        except (JSONDecodeError, RecursionError):
            return
        yield name, (start + len(text[: colon.end()].encode()), start + len(text[:at].encode()))
