"""Decodes the top level of a result file, and the part of it that files share only once.

Nine tenths of a file of lm-eval 0.4 are what was asked of the model: configurations, versions, shots and samples, side
by side and the same byte for byte in all files of one harness and one call. Where a file has that text at the top
level, only the rest is decoded.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec

from bot.evaluation.formats.filled_text import Pieces, pieces_of

Top = dict[str, msgspec.Raw]

TOP = msgspec.json.Decoder(Top)
SHARED = ("configs", "versions", "n-shot", "higher_is_better", "n-samples")  # in the order of the harness
FIRST = b'\n  "configs": {'
BEFORE = len(FIRST) - 1  # bytes of a text before its configurations
# What stands for the shared text while the rest is decoded: a key that no file can hold, for nobody can guess it.
MARK = os.urandom(16).hex()
MARKED = b'\n  "%s": 0' % MARK.encode()
KEPT, LARGEST_KEPT = 4, 262_144  # texts, and bytes of each


class SharedText(msgspec.Struct, eq=False):
    """Members of the top level as a text of several files. `decoded` is for what is made of them, by its name.

    A file may have other arguments of the model filled into its configurations: nothing in `decoded` depends on these.
    """

    text: bytes
    members: Top
    decoded: dict[str, Any] = {}

    def found_in(self, data: bytes, start: int) -> bytes | None:
        """The text where a file has it at this place, filled in for its own model; None elsewhere."""
        if data.startswith(self.text, start):
            return self.text
        if "pieces" not in self.decoded:
            self.decoded["pieces"] = pieces_of(self.text)
        pieces: Pieces | None = self.decoded["pieces"]
        return None if pieces is None else pieces.fill(data, start)

    def members_in(self, text: bytes) -> Top:
        """The members of a text that was found in a file: its own configurations, and all others as they are known."""
        if text is self.text:
            return self.members
        behind = len(self.text) - BEFORE - len(memoryview(self.members["configs"]))
        return self.members | {"configs": msgspec.Raw(memoryview(text)[BEFORE : len(text) - behind])}


class _Kept:
    """The texts that were met last, the newest first."""

    __slots__ = ("texts",)

    def __init__(self) -> None:
        self.texts: tuple[SharedText, ...] = ()

    def put_first(self, text: SharedText) -> None:
        """Keep a text and forget the oldest; one statement, for threads."""
        self.texts = (text, *[one for one in self.texts if one is not text])[:KEPT]


_kept = _Kept()


def decode_top(data: bytes) -> tuple[Top, SharedText | None]:
    """The members of a JSON object, and the text of them that other files have. Raises msgspec.MsgspecError."""
    start = data.find(FIRST)
    if start < 0:
        return TOP.decode(data), None
    for known in _kept.texts:
        text = known.found_in(data, start)
        if text is not None:
            top = _with_text(known, text, data, start)
            return (TOP.decode(data), None) if top is None else (top, known)
    top = TOP.decode(data)
    return top, _keep(data, top, start)


def _with_text(known: SharedText, text: bytes, data: bytes, start: int) -> Top | None:
    """The members of a file with this text; None if it is not at the top level, or a key of it stands twice.

    A key at the top level of what is left says that the text was there: both are members of one object.
    """
    rest = b"".join((data[:start], MARKED, data[start + len(text) :]))
    try:
        top = TOP.decode(rest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if top.pop(MARK, None) is None or not known.members.keys().isdisjoint(top):
        return None
    if known is not _kept.texts[0]:
        _kept.put_first(known)
    return top | known.members_in(text)


def _keep(data: bytes, top: Top, start: int) -> SharedText | None:
    """Keep the text of a file, where the harness wrote it; its members do not hold on to the file."""
    members = {key: bytes(top[key]) for key in SHARED if key in top}
    text = b"\n  " + b",\n  ".join(b'"%s": %s' % (key.encode(), raw) for key, raw in members.items())
    if len(text) > LARGEST_KEPT or not data.startswith(text, start):
        return None
    found = SharedText(text, {key: msgspec.Raw(raw) for key, raw in members.items()})
    _kept.put_first(found)
    return found
