"""Recognise a known text in which the harness only filled in other values for each configuration.

Harness 0.4.9 and newer write the arguments of the model into the `metadata` of every configuration, the newest also the
path of the task's own file: `"pretrained": "org/name", "config_source": "/…/lm_eval/tasks/…"`. So no two models have
the same text. What is filled in is the same in all configurations of one file, and nothing reads it.
"""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

LONGEST = 500  # characters of one argument's name or value
STRING = rb'"[ !#-\[\]-~]{0,%d}"' % LONGEST  # plain ASCII, nothing escaped
NUMBER = rb"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,20})?"
MEMBER = rb'"[\w.-]{1,%d}": (?:%s|%s|true|false|null)' % (LONGEST, STRING, NUMBER)
SOURCE = rb'"config_source": "[ !#-\[\]-~]{0,%d}?/lm_eval/tasks/' % LONGEST
# What is filled in: some members of an object up to its end, or up to the part of the path that is the task's own.
FILLING = re.compile(rb"(?:%s,\n {8}){0,50}?(?:(%s)|%s(?=\n {6}\}))" % (MEMBER, SOURCE, MEMBER))
FIRST_FILLED = re.compile(rb'\n {6}"metadata": \{\n {8}(?:"version": [^\n]{1,100},\n {8})?')
# A member that no file can hold, for nobody can guess its name.
MARK = os.urandom(16).hex()
MARKED = b'"%s": 0' % MARK.encode()


class _Marked(msgspec.Struct):
    """A configuration as far as it tells where marks lie."""

    metadata: dict[str, msgspec.Raw] = {}


class _Probe(msgspec.Struct):
    """The members of a text as far as they tell it."""

    configs: dict[str, _Marked] = {}


PROBE = msgspec.json.Decoder(_Probe)


class Pieces(msgspec.Struct, eq=False):
    """The fixed texts around the filled-in value, and whether the value ends within a path."""

    texts: list[bytes]
    ends_in_path: bool
    size: int

    def fill(self, data: bytes, start: int) -> bytes | None:
        """The text at this place of a file where it is these pieces, filled in like the known text; None elsewhere."""
        first = self.texts[0]
        if not data.startswith(first, start):
            return None
        filling = FILLING.match(data, start + len(first))
        if filling is None or (filling[1] is not None) != self.ends_in_path:
            return None
        if self.size + len(filling[0]) * (len(self.texts) - 1) > len(data) - start:
            return None
        text = filling[0].join(self.texts)
        return text if data.startswith(text, start) else None


def pieces_of(text: bytes) -> Pieces | None:
    """The pieces of a text of members; None if nothing is filled in, or also elsewhere than in `metadata`."""
    first = FIRST_FILLED.search(text)
    filling = None if first is None else FILLING.match(text, first.end())
    if filling is None:
        return None
    texts = text.split(filling[0])
    ends_in_path = filling[1] is not None
    mark = MARKED + b',\n        "config_source": "' if ends_in_path else MARKED
    if _marks_in_metadata(b"{%s}" % mark.join(texts)) != len(texts) - 1:
        return None
    return Pieces(texts, ends_in_path, sum(map(len, texts)))


def _marks_in_metadata(data: bytes) -> int:
    """How many configurations have a mark among their `metadata`, each of which counts once."""
    try:
        probe: Any = PROBE.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0
    return sum([MARK in config.metadata for config in probe.configs.values()])
