"""Submissions: the bytes of one result, the outcome of reading them, and the date of the measurement."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.finding import shown
from bot.evaluation.formats import Content, parse_parts
from bot.evaluation.formats.form_reading import FilePart
from bot.evaluation.formats.format import Format
from bot.evaluation.result import CheckedSamples, Result

MAX_PATH = 1_000  # bytes; the name of a file has at most 255 on a disk
PART = re.compile(r"#\d+$")  # what the path of a further measurement in a file ends in

log = logging.getLogger(__name__)


def sha256_of(digests: Mapping[str, str]) -> str:
    """The SHA-256 of a submission's file; of several, that of the lines `SHA-256, two spaces, name`.

    The lines are what `sha256sum` prints in the folder, in the order of their names.
    """
    if digests.keys() == {""}:
        return digests[""]
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Why a submission could not be read as a result: a sentence without its subject, where, and what to do.

    `is_damage` says that the bytes are not whole JSON, or hold more than is read, so that it may have been a result;
    `is_recognised` that a format recognised it as its own.
    """

    why: str
    pointer: str = ""
    line: int = 0
    hint: str = ""
    is_damage: bool = False
    is_recognised: bool = False


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """The outcome of reading a submission: a `result`, or the `problem` that prevented one.

    All that judging needs, without the bytes. `sha256` is "" if the submission was too large to be read. `samples` is
    what the sample logs beside it show, None where nobody looked at them.

    A file with the measurements of several models is a submission for each: the first has its path and the others in
    `further`, whose paths end in `#2`, `#3` and so on; `of` is how many they are together. The `sha256` of each is then
    that of the canonical JSON of its own rows, so that a row that is added changes none of the others.
    `files` has the SHA-256 of each file, by its name as `parse_submission` has it, where `sha256` is another.
    """

    path: str
    sha256: str
    size: int
    result: Result | None = None
    problem: Problem | None = None
    samples: tuple[CheckedSamples, ...] | None = None
    further: tuple[Parsed, ...] = ()
    of: int = 1
    files: dict[str, str] = {}

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each of its files, by its name as `parse_submission` has it."""
        return self.files or {"": self.sha256}

    @property
    def parts(self) -> list[Parsed]:
        """The submission, and the further ones in its file, each by itself."""
        return [msgspec.structs.replace(self, further=()), *self.further] if self.further else [self]

    @property
    def file(self) -> str:
        """The path of the file that it is in."""
        return PART.sub("", self.path) if self.of > 1 else self.path

    @property
    def format(self) -> str | None:
        """The id of the submission's format, None if no format took it."""
        return self.result.format if self.result else None

    def to_bytes(self) -> bytes:
        """The bytes to be stored; `from_bytes` reads them back."""
        return ENCODER.encode(self)

    @staticmethod
    def from_bytes(data: bytes) -> Parsed:
        """Decode the bytes of `to_bytes`. Raises msgspec.DecodeError for anything else."""
        return DECODER.decode(data)


ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(Parsed)


class UnreadPath(msgspec.Struct, frozen=True, gc=False):
    """A file that was found and is not a result: the id of its kind, and what to do with it."""

    path: str
    kind: str
    why: str


def parse_submission(
    path: str, files: Mapping[str, bytes], lies_at: str = "", forms: Sequence[Format] = (), *, alone: bool = False
) -> Parsed:
    """Read the result in a submission; never raises for what its bytes hold.

    `files` has the bytes by name: "" for a file that is the submission, else those below the run's folder at `path`.
    `forms` are those of the declaration, which are tried first, or `alone`.
    `lies_at` is its whole path where its own is only a part of it: in some formats the path alone names the model.
    """
    problem, size = None, len(path.encode("utf-8", "surrogateescape"))
    parts: list[FilePart] = []
    if size > MAX_PATH:  # every text about it would repeat it
        why = f"has a path of {size:,} bytes; more than {MAX_PATH:,} are not read"
        problem = Problem(why, hint="give it a shorter name")
    else:
        try:
            parts = parse_parts(Content(files, lies_at or path), forms, alone=alone)
        except MalformedResult as error:
            is_damage = not isinstance(error, UnknownFormat)
            place = error.pointer, error.line
            problem = Problem(error.why, *place, error.hint, is_damage, error.is_recognised)
        except Exception as error:
            log.exception("a format failed on %s", path)
            problem = Problem(f"could not be read: {shown(f'{type(error).__name__}: {error}', 200)}")
    size = sum(map(len, files.values()))
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    if len(parts) < 2:
        own = {} if digests.keys() == {""} else digests
        return Parsed(path, sha256_of(digests), size, parts[0].result if parts else None, problem, files=own)
    names = [path, *(f"{path}#{number}" for number in range(2, len(parts) + 1))]
    first, *further = [
        Parsed(name, _sha256_of_rows(part.rows), size, part.result, of=len(parts), files=digests)
        for name, part in zip(names, parts, strict=True)
    ]
    return msgspec.structs.replace(first, further=tuple(further))


def _sha256_of_rows(rows: Any) -> str:
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


STAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2})[-:](\d{2})[-:](\d{2})")
LATEST = 4e9  # Unix seconds, in 2096
DAY = 86_400.0  # seconds that a clock or a time zone may be ahead


def own_date(result: Result | None, path: str) -> float | None:
    """The date in the file itself (Unix seconds): its own field, else the time in its name."""
    if result is not None and result.date is not None and result.date > 0 and isfinite(result.date):
        return result.date
    stamp = STAMP.search(path.rpartition("/")[2])
    if stamp is None:
        return None
    try:
        return datetime(*map(int, stamp.groups()), tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def latest_date(today: date | None, committed: float | None) -> float:
    """The latest possible date of a file (Unix seconds): that of the commit that brought it, else the end of today.

    A day is added, because names of files have the local time. A commit of the future is not believed either.
    """
    end = _end_of(today)
    return end if committed is None else min(committed + DAY, end)


@lru_cache(maxsize=8)
def _end_of(today: date | None) -> float:
    if today is None:
        return LATEST
    try:
        return datetime.combine(today + timedelta(days=1), time(), UTC).timestamp() + DAY
    except OverflowError:  # the last day that there is
        return LATEST


def believed_date(own: float | None, committed: float | None, today: date | None = None) -> float:
    """A file's date in Unix seconds, believed no further than the commit that brought it; 0 if nothing is known.

    Without a commit a date after today is not believed at all: who writes it would be the newest for ever.
    """
    latest, end = latest_date(today, committed), latest_date(today, None)
    believed = [known for known, limit in ((own, latest), (committed, end)) if known is not None and known <= limit]
    return min(believed, default=0.0)


def iso_date(date: float | None) -> str:
    """A date in Unix seconds as ISO 8601 in UTC, "" if there is none."""
    return datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if date else ""
