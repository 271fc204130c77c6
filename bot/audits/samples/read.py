"""Read a sample log of any harness as one stream of samples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bot.audits.samples import helm, inspect_log, lighteval
from bot.audits.samples.records import DAMAGE, SkippedRecord, open_log, read_each, read_records
from bot.audits.samples.sample import Sample, read_sample

ARCHIVE, PARQUET = b"PK\x03\x04", b"PAR1"
INSPECT_LOG = re.compile(rb'\s*\{\s*"(version|status|eval)"\s*:')


def read_log(path: Path) -> Iterator[Sample | SkippedRecord]:
    """Yield the samples of a log in its order, and what holds none as SkippedRecord with the reason.

    A folder is a HELM run; a file is told by its first bytes: an archive or a JSON log of Inspect, Parquet of
    lighteval, else the rows of lm-evaluation-harness, plain or gzip. One sample is held at a time.
    Raises CallError if it cannot be opened.
    """
    if path.is_dir():
        yield from helm.read_run(path)
        return
    head = _head(path)
    if head.startswith(ARCHIVE):
        yield from inspect_log.read_archive(path)
    elif head.startswith(PARQUET):
        yield from lighteval.read_details(path)
    elif INSPECT_LOG.match(head):
        yield from inspect_log.read_json(path)
    else:
        with open_log(path) as log:
            yield from read_each(read_records(log), read_sample)


def _head(path: Path) -> bytes:
    """Return the first bytes of a regular file, unpacked; of a pipe none, because they could not be read twice."""
    if not path.is_file():
        return b""
    with open_log(path) as log:
        try:
            return log.peek(64)[:64]
        except DAMAGE:
            return b""
