"""Finds keys that an object of a result file has twice with different values.

Decoders keep the last value and say nothing. Decoding every file a second time would double the time of `score`, so the
parts that scores are made of are compared with the number of keys that were decoded of them: each key has one colon.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from bot.evaluation.finding import shown
from bot.evaluation.formats.document import Document, count_keys
from bot.evaluation.result import RepeatedKey, escape_pointer

MOST = 20  # keys that one result lists
MAX_BYTES = 8 * 1024 * 1024  # a larger file is not decoded a second time


INDENTED, BESIDE = b'{\n  "', 8  # how the harness writes: eight more bytes for each key beside key and value, and two
ENCODE = msgspec.json.Encoder().encode
PARTS = ("results", "versions", "n-shot", "n-samples")


class _Object(dict[str, Any]):
    """An object that remembers which of its keys it had several times, with all their values."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: dict[str, list[Any]] = {}
        if len(self) < len(pairs):
            for key, value in pairs:
                self.repeated.setdefault(key, []).append(value)


def repeated_keys(data: bytes, document: Document | None = None) -> tuple[RepeatedKey, ...]:
    """The keys of a JSON file that stand in one object with different values; none if it is not JSON.

    `document` is what the file was decoded to, where it is one of lm-eval or the like: this saves decoding it again.
    """
    if len(data) > MAX_BYTES or (document is not None and _has_each_key_once(data, document)):
        return ()
    try:
        top = json.loads(data, object_pairs_hook=_Object, parse_int=str)
    except (ValueError, RecursionError):
        return ()
    return tuple(islice(_different(top), MOST))


def _has_each_key_once(data: bytes, document: Document) -> bool:
    """Tell whether no key of the top level and of the parts can stand twice; "no" where that takes a second look.

    At the top, what a dropped key leaves is a gap among the values. In a part, it leaves a colon: there is one after
    each key, and a text with a colon elsewhere than in `config` takes a second look.
    """
    top = document.top
    if top is None or not data.startswith(INDENTED):
        return False
    used = sum([len(memoryview(raw)) for raw in top.values()]) + sum(map(len, top)) + BESIDE * len(top) + 2
    if len(data.rstrip()) != used:
        return False
    rows = (document.results, document.versions, document.num_fewshot, document.num_samples)
    config = bytes(top.get("config", b"{}"))
    # written again, the configuration has a colon after each key that was decoded, and those in its texts
    return config.count(b":") == ENCODE(document.config or {}).count(b":") and all(
        _is_simple(name, document, row) for name, row in zip(PARTS, rows, strict=True) if row is not None
    )


def _is_simple(name: str, document: Document, row: dict[str, Any]) -> bool:
    """Tell whether a part has no colons but those of its keys; of what files share this is known already."""
    if name in document.parts:
        return document.parts[name].has_each_key_once
    return bytes((document.top or {})[name]).count(b":") == count_keys(row)


def _different(top: Any) -> Iterator[RepeatedKey]:
    """The repeated keys with different values, from the outermost object inwards."""
    waiting: list[tuple[str, Any]] = [("", top)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, _Object):
            inner = [(f"{pointer}/{escape_pointer(key)}", one) for key, one in value.items()]
            for key, values in value.repeated.items():
                if len({repr(one) for one in values}) > 1:
                    yield RepeatedKey(f"{pointer}/{escape_pointer(key)}", tuple(shown(one) for one in values[:MOST]))
        else:
            inner = [(f"{pointer}/{place}", one) for place, one in enumerate(value)] if isinstance(value, list) else []
        waiting += [(place, one) for place, one in reversed(inner) if isinstance(one, dict | list)]
