"""The outcome of another run beside a row: `remeasured/<key>.json`, which never changes the row's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from bot.evaluation.evidence import EvidenceWord
from bot.publishing.entry import Entry, digest_of
from bot.publishing.publication import Marker

REMEASURED_FOLDER = "remeasured"
REMEASURED_SCHEMA: Literal["leaderboard-bot/remeasured/1"] = "leaderboard-bot/remeasured/1"
MAX_REMEASURED = 256 * 1024  # bytes of one record


class RemeasuredTask(msgspec.Struct, frozen=True):
    """One task that was run again, see `Agreement`."""

    leaf: str
    questions: int
    row: float
    again: float
    only_row: int
    only_again: int
    p: float
    smallest: float | None
    outcome: str


class Remeasured(msgspec.Struct, frozen=True):
    """What another run said of the row of a key with a digest, see `digest_of`.

    `plan` is the SHA-256 of the plan, `seed` the text of its draw, `logs` the SHA-256 of the new logs; `date` and `by`
    say when and by whom it was run.
    """

    schema: Literal["leaderboard-bot/remeasured/1"]
    key: str
    row: str
    outcome: Literal["agrees", "does not agree", "too few to say"]
    questions: int
    smallest: float | None
    date: str
    by: str
    seed: str
    plan: str
    logs: tuple[str, ...]
    tasks: tuple[RemeasuredTask, ...]

    @property
    def path(self) -> str:
        """Its path at the target."""
        return f"{REMEASURED_FOLDER}/{self.key}.json"

    def to_bytes(self) -> bytes:
        """Canonical bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


DECODER = msgspec.json.Decoder(Remeasured)


def remeasured_mark(entry: Entry) -> Marker:
    """The mark of the request with the outcome of another run of a row."""
    return Marker("remeasured", entry.key, entry.leaderboard.id)


def remeasured_in(files: Mapping[str, bytes]) -> dict[str, Remeasured]:
    """The records of these files by the keys of their rows; what is none, or lies elsewhere, is left out."""
    found: dict[str, Remeasured] = {}
    for path, data in files.items():
        try:
            record = DECODER.decode(data) if len(data) <= MAX_REMEASURED else None
        except (msgspec.DecodeError, RecursionError):
            record = None
        if record is not None and record.path == path:
            found[record.key] = record
    return found


def evidence_of_row(entry: Entry, remeasured: Mapping[str, Remeasured]) -> EvidenceWord:
    """What a row rests on: `remeasured` where another run of this very row agreed."""
    record = remeasured.get(entry.key)
    has_agreed = record is not None and record.outcome == "agrees" and record.row == digest_of(entry)
    return "remeasured" if has_agreed else entry.rests_on


def words_of(entries: Iterable[Entry], remeasured: Mapping[str, Remeasured]) -> dict[str, EvidenceWord]:
    """What rows rest on by their keys."""
    return {entry.key: evidence_of_row(entry, remeasured) for entry in entries}
