"""Read the records of a sample log one by one: plain text or gzip, JSON lines or one JSON array."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, FileIO
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from bot.errors import CallError, MalformedResult, MalformedSamples

MAX_RECORD = 16 << 20
MOST_UNPACKED = 2 << 30  # bytes that a packed log unpacks to
CHUNK = 1 << 20
LINE_FEED = 10
BUFFER = 1 << 18  # with Python's 8 KiB, reading a line takes twice as long
GZIP_MAGIC = b"\x1f\x8b"
DAMAGE = (EOFError, OSError, zlib.error)
# How many lines are named of those that were skipped for one reason.
LINES_SHOWN = 5

NOT_JSON = "not valid JSON"
POINTER = "a Git LFS pointer; run `git lfs pull` to get the file"
NESTED = "nested too deeply"
TOO_LONG = "longer than 16 MiB"
CUT_GZIP = "the gzip stream is truncated or damaged, and the rest cannot be read"
CUT_ARRAY = "the JSON array is truncated or damaged, and the rest cannot be read"
TOO_MUCH = "it unpacks to more than 2 GiB, and the rest is not read"
UNREADABLE = "the rest of the file cannot be read"

Log: TypeAlias = "BufferedReader[FileIO] | gzip.GzipFile"
T = TypeVar("T")
S = TypeVar("S")


class Record(NamedTuple):
    """The text of one sample; `line` is where it begins, counted from 1."""

    line: int
    data: bytes


class SkippedRecord(NamedTuple):
    """A record that no figure counts, and why; `line` counts from 1."""

    line: int
    why: str


@dataclass(slots=True)
class SkippedRecords:
    """How many records were skipped for one reason, and the lines of the first five."""

    why: str
    count: int = 0
    lines: list[int] = field(default_factory=list)


class Skipped(dict[str, SkippedRecords]):
    """Skipped records by reason, in the order of their first lines; the reasons are a fixed few."""

    def add(self, record: SkippedRecord) -> None:
        """Count one record."""
        group = self.setdefault(record.why, SkippedRecords(record.why))
        group.count += 1
        if len(group.lines) < LINES_SHOWN:
            group.lines.append(record.line)

    @property
    def total(self) -> int:
        """How many records were skipped."""
        return sum(group.count for group in self.values())


def is_own_file(path: Path) -> bool:
    """Tell whether a path is a file and no link: what a link in a stranger's folder leads to is not read."""
    return path.is_file() and not path.is_symlink()


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """The files below a folder whose names match, without links."""
    return filter(is_own_file, folder.rglob(pattern))


@contextmanager
def open_log(path: Path) -> Iterator[Log]:
    """Open a log for reading; its first two bytes tell whether it is gzip, not its name.

    Raises CallError if it is not there, cannot be read, or is not a file (a directory, a device).
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(BufferedReader(path.open("rb", buffering=0), BUFFER))
            if stat.S_ISCHR(path.stat().st_mode) and not stream.isatty():
                raise CallError(f"{path}: cannot be read: it is a device")
            packed = stream.peek(2)[:2] == GZIP_MAGIC
        except (OSError, ValueError) as error:
            raise CallError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
        yield stack.enter_context(gzip.GzipFile(fileobj=stream)) if packed else stream


def read_records(log: Log) -> Iterator[Record | SkippedRecord]:
    """Yield each record; one that is too long, and the place where a damaged file ends, as SkippedRecord.

    Memory stays within a few times MAX_RECORD, whatever the size of the file.
    """
    try:
        is_array = log.peek(64).lstrip(codecs.BOM_UTF8 + b" \t\r\n").startswith(b"[")
    except DAMAGE:
        yield SkippedRecord(1, _damage(log))
        return
    if log.peek(3).startswith(codecs.BOM_UTF8):
        log.read(3)
    yield from array_elements(log) if is_array else read_lines(log)


def _damage(log: Log) -> str:
    return CUT_GZIP if isinstance(log, gzip.GzipFile) else UNREADABLE


def read_lines(log: Log) -> Iterator[Record | SkippedRecord]:
    """Yield the lines of a log; blank lines are passed over."""
    number, left, is_tail = 0, _most(log), False
    try:
        while data := log.readline(MAX_RECORD):
            if left <= 0:
                yield SkippedRecord(number + 1, TOO_MUCH)
                return
            left -= len(data)
            is_cut = data[-1] != LINE_FEED and len(data) == MAX_RECORD
            number += not is_tail
            if is_cut or is_tail:
                if not is_tail:
                    yield SkippedRecord(number, TOO_LONG)
                is_tail = is_cut
            elif not data.isspace():
                yield Record(number, data)
    except DAMAGE:
        yield SkippedRecord(number + 1, _damage(log))


def read_each(
    numbered: Iterable[tuple[int, T] | SkippedRecord], read: Callable[[T], S | None]
) -> Iterator[S | SkippedRecord]:
    """Yield what `read` makes of each part of a log, by its number; a part of which it makes None is passed over."""
    for part in numbered:
        if isinstance(part, SkippedRecord):
            yield part
            continue
        number, data = part
        try:
            sample = read(data)
        except (MalformedResult, MalformedSamples) as error:
            yield SkippedRecord(number, str(error))
        except RecursionError:
            yield SkippedRecord(number, NESTED)
        else:
            if sample is not None:
                yield sample


def array_elements(log: Log, key: str = "") -> Iterator[Record | SkippedRecord]:
    """Yield the elements of the log's JSON array, or of all arrays under `key` where the log is one object."""
    array = _Array(log, re.compile(rf'"{key}"\s*:\s*\[' if key else r"\["))
    while array.open():
        while (end := array.next_end()) is not None:
            yield Record(array.line, array.text[array.at : end].encode())
            array.advance(end)
        if array.damage:
            yield SkippedRecord(array.line, array.damage)
        if array.damage or not key:
            return


def _most(log: Log) -> float:
    """How many bytes of a log are read as a whole: only a packed one can be far longer than its file."""
    return MOST_UNPACKED if isinstance(log, gzip.GzipFile) else inf


class _Array:
    """The unread part of a JSON array: `text` from `at` on, which is in line `line`."""

    _BLANK = re.compile(r"[\s,]*")
    # The decoder only finds where an element ends: numbers stay text, whatever their length.
    _DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
    # The longest literal or escape that the end of a chunk can cut: "-Infinity", "\\ud83d\\ude00".
    _CUT = 16

    def __init__(self, log: Log, opening: re.Pattern[str]) -> None:
        self._log, self._opening = log, opening
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self.text, self.at, self.line, self.damage = "", 0, 1, ""
        self._left = _most(log)

    def open(self) -> bool:
        """Move into the next array; False where there is none."""
        while (found := self._opening.search(self.text, self.at)) is None and self._fill():
            pass
        self.advance(found.end() if found else len(self.text))
        return found is not None

    def advance(self, end: int) -> None:
        """Move past everything before `end`."""
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def next_end(self) -> int | None:
        """Move `at` to the next element and return its end; None after the last one, or before the damage."""
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
        if self._left < 0:
            self.damage = TOO_MUCH
        if self.damage or len(self.text) - self.at > MAX_RECORD:
            return False
        try:
            # As much again as is there: what is read twice stays in proportion to the log.
            data = self._log.read(max(CHUNK, len(self.text) - self.at))
            more = self._decode(data)
        except UnicodeDecodeError:
            return False
        except DAMAGE:
            self.damage = _damage(self._log)
            return False
        self.text, self.at, self._left = self.text[self.at :] + more, 0, self._left - len(data)
        return bool(data)
