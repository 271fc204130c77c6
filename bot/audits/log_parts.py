"""Split a sample log into parts that can be read on their own, so that several processes can share it."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path

from bot.audits.records import MAX_RECORD, Record, SkippedRecord, is_array, open_log, read_lines, read_records

# Large enough that counting the outcomes of a part costs little beside reading it.
PART = 16 << 20


@dataclass(frozen=True, slots=True)
class LogPart:
    """`size` bytes of a log from `start` on, which end with a line; the whole log where `size` is None."""

    path: Path
    start: int = 0
    size: int | None = None

    @property
    def length(self) -> int:
        """The number of bytes to read, 0 if nobody knows it."""
        return self.path.stat().st_size if self.size is None else self.size


def split_log(path: Path, part: int = PART) -> list[LogPart]:
    """Return the parts of a log, in order: JSON lines in a plain file are split; gzip, arrays and pipes stay whole.

    Raises CallError if the log cannot be opened.
    """
    if path.exists() and not path.is_file():
        return [LogPart(path)]  # opening a pipe would take its first bytes
    with open_log(path) as log:
        if isinstance(log, gzip.GzipFile) or is_array(log):
            return [LogPart(path)]
        return list(_ranges(path, log, part))


def _ranges(path: Path, log: BufferedReader[FileIO], part: int) -> Iterator[LogPart]:
    size = log.seek(0, 2)
    log.seek(0)
    start = len(codecs.BOM_UTF8) if log.peek(3).startswith(codecs.BOM_UTF8) else 0
    while size - start > part:
        log.seek(start + part)
        while (line := log.readline(MAX_RECORD)) and not line.endswith(b"\n"):
            pass
        yield LogPart(path, start, log.tell() - start)
        start = log.tell()
    yield LogPart(path, start, size - start)


class PartReader:
    """Reads the records of a part; lines count from 1 at its start."""

    def __init__(self, part: LogPart) -> None:
        self._part = part
        self.lines = 0
        """The number of lines, once all records are read; only known where the part is one of several."""

    def __iter__(self) -> Iterator[Record | SkippedRecord]:
        """Yield the records. Raises CallError if the log cannot be opened."""
        part = self._part
        with open_log(part.path) as log:
            if part.size is None:
                yield from read_records(log)
            else:
                log.seek(part.start)
                self.lines = yield from read_lines(log, part.size)
