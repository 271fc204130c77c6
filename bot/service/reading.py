"""A source and the commit it was last read at in, what each changed file came to out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import msgspec

from bot.evaluation.dates import iso_date
from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import Submission
from bot.platforms.inputs import read_bounded
from bot.platforms.patterns import is_wanted
from bot.platforms.source import Change, Source
from bot.publishing.entry import Entry, Evidence, entry_of, parse_entry
from bot.service.judging import Judge

THREADS = 8
BATCH = 100  # files between two notes of how far a reading came


class CachedVerdict(msgspec.Struct, frozen=True):
    """What one file came to.

    `oid` names the content that was judged, `commit` the one that last touched the file, `key` the row that the file
    measures (None where it measures none), `entry` that row's bytes, `said` the verdict as Markdown where something is
    wrong, `date` when it was measured ("" where unknown), `sha256` the content's own digest.
    """

    path: str
    oid: str
    commit: str
    status: str
    key: str | None
    entry: bytes | None
    said: str
    date: str
    sha256: str

    def row(self) -> Entry | None:
        """The row, read back."""
        return parse_entry(self.entry, self.path) if self.entry is not None else None


ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(CachedVerdict)


def encode(judged: CachedVerdict) -> tuple[str | None, bytes]:
    """As the store keeps it: key and data."""
    return judged.key, ENCODER.encode(judged)


def decode(data: bytes) -> CachedVerdict:
    """As the store kept it."""
    return DECODER.decode(data)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads and judges files of one source, at named commits."""

    source: Source
    leaderboard: Leaderboard
    judge: Judge
    facts: Facts
    describe: Callable[[Judgement, str], str]

    def read_all(self, changes: Iterable[Change], commit: str) -> Iterator[list[CachedVerdict]]:
        """Judge the changed files that are there, in batches."""
        for batch in batches((change for change in changes if change.oid is not None), BATCH):
            touched = self.source.touched([change.path for change in batch], commit)
            with ThreadPoolExecutor(THREADS) as pool:
                submissions = list(pool.map(lambda change: self.read(change, commit), batch))
            pairs = zip(batch, submissions, strict=True)
            yield [self.judged(change, read, touched.get(change.path, commit)) for change, read in pairs]

    def read(self, change: Change, commit: str) -> Submission:
        """Read a file within the limit."""
        return read_bounded(self.source, change, commit)

    def judgement(self, submission: Submission) -> Judgement:
        """Judge one submission."""
        return self.judge(submission, self.leaderboard, self.facts)

    def judged(self, change: Change, submission: Submission, commit: str) -> CachedVerdict:
        """Judge, and keep what publication needs."""
        judgement = self.judgement(submission)
        (verdict,) = judgement.verdicts
        place = Evidence(source=self.source.name, path=verdict.path, commit=commit)
        entry = next((entry_of(row, {verdict.path: place}) for row in judgement.rows), None)
        return CachedVerdict(
            path=change.path,
            oid=change.oid or "",
            commit=commit,
            status=next((row.status for row in judgement.rows), verdict.status),
            key=entry.key if entry else None,
            entry=entry.to_bytes() if entry else None,
            said=self.describe(judgement, commit) if verdict.status == "rejected" else "",
            date=iso_date(verdict.date),
            sha256=verdict.sha256,
        )


def wanted(changes: Iterable[Change], patterns: Iterable[str]) -> list[Change]:
    """The changes that are result files."""
    patterns = tuple(patterns)
    return [change for change in changes if is_wanted(change.path, patterns)]


T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
