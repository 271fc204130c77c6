"""A sample log in, plain or gzip, JSON lines or one JSON array; its records out, one by one, with lines."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from bot.errors import CallError

MAX_RECORD = 16 << 20
CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
DAMAGE = (EOFError, OSError, zlib.error)

NOT_JSON = "not JSON"
TOO_LONG = "longer than 16 MiB"
CUT_GZIP = "the gzip stream ends early or is damaged: nothing can be read from here on"
CUT_ARRAY = "the JSON array ends early or is damaged: nothing can be read from here on"
UNREADABLE = "the file could not be read from here on"

Log = BufferedReader | gzip.GzipFile


@dataclass(frozen=True, slots=True)
class Record:
    """The text of one sample; `line` is where it begins, counted from 1."""

    line: int
    data: bytes | str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that was kept out of all figures, and why; `line` counts from 1."""

    line: int
    why: str


@contextmanager
def open_log(path: Path) -> Iterator[Log]:
    """Open a log for reading; gzip is told by its first two bytes, not by its name.

    Raises CallError where there is no such file or it may not be read.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(path.open("rb"))
            packed = stream.peek(2)[:2] == GZIP_MAGIC
        except OSError as error:
            raise CallError(f"{path}: {error.strerror or error}") from error
        yield stack.enter_context(gzip.GzipFile(fileobj=stream)) if packed else stream


def read_records(log: Log) -> Iterator[Record | LeftOut]:
    """Yield each record; one that is too long, and the place where a damaged file ends, as LeftOut.

    Memory stays within a few MAX_RECORD bytes, whatever the file's size.
    """
    try:
        is_array = log.peek(64).lstrip(codecs.BOM_UTF8 + b" \t\r\n").startswith(b"[")
    except DAMAGE:
        yield LeftOut(1, _damage(log))
        return
    yield from _array_elements(log) if is_array else _lines(log)


def _damage(log: Log) -> str:
    return CUT_GZIP if isinstance(log, gzip.GzipFile) else UNREADABLE


def _lines(log: Log) -> Iterator[Record | LeftOut]:
    number, is_tail = 1, False
    while True:
        try:
            data = log.readline(MAX_RECORD)
        except DAMAGE:
            yield LeftOut(number, _damage(log))
            return
        if not data:
            return
        is_whole = data.endswith(b"\n") or len(data) < MAX_RECORD
        if is_whole and not is_tail and not data.isspace():
            yield Record(number, data.removeprefix(codecs.BOM_UTF8) if number == 1 else data)
        elif not is_whole and not is_tail:
            yield LeftOut(number, TOO_LONG)
        is_tail = not is_whole
        number += is_whole


def _array_elements(log: Log) -> Iterator[Record | LeftOut]:
    array = _Array(log)
    while (end := array.next_end()) is not None:
        yield Record(array.line, array.text[array.at : end])
        array.advance(end)
    if array.damage:
        yield LeftOut(array.line, array.damage)


class _Array:
    """The unread part of a JSON array: `text` from `at` on, which stands in line `line`."""

    _BLANK = re.compile(r"[\s,]*")
    # Only where an element ends is asked: numbers stay text, whatever their length.
    _DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
    # The longest literal or escape that the end of a chunk can cut: "-Infinity", "\\ud83d\\ude00".
    _CUT = 16

    def __init__(self, log: Log) -> None:
        self._log = log
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.text, self.at, self.line, self.damage = "", 0, 1, ""
        while "[" not in self.text and self._fill():
            pass
        self.advance(self.text.find("[") + 1)

    def advance(self, end: int) -> None:
        """Leave everything before `end` behind."""
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def next_end(self) -> int | None:
        """Move `at` to the next element and return its end; None after the last, or before the damage."""
        while True:
            blank = self._BLANK.match(self.text, self.at)
            self.advance(blank.end() if blank else self.at)
            if self.text.startswith("]", self.at):
                return None
            end = self._element_end()
            if end is not None and (end < len(self.text) or not self._fill()):
                return end
            if end is None and not (self._may_be_cut and self._fill()):
                self.damage = self.damage or CUT_ARRAY
                return None

    def _element_end(self) -> int | None:
        try:
            return self._DECODER.raw_decode(self.text, self.at)[1]
        except json.JSONDecodeError as error:
            near_end = error.pos >= len(self.text) - self._CUT
            self._may_be_cut = near_end or error.msg.startswith("Unterminated string")
        except RecursionError:
            self._may_be_cut = False
        return None

    def _fill(self) -> bool:
        """Read on; False at the end, at damage, and where one element passes MAX_RECORD."""
        if len(self.text) - self.at > MAX_RECORD:
            return False
        try:
            data = self._log.read1(CHUNK)
            more = self._decode(data)
        except UnicodeDecodeError:
            return False
        except DAMAGE:
            self.damage = _damage(self._log)
            return False
        self.text, self.at = self.text[self.at :] + more, 0
        return bool(data)
