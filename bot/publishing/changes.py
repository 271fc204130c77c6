"""The rows that were added, changed or removed on a board, as records in the order of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from bot.publishing.entry import Entry, digest_of

SCHEMA = "leaderboard-bot/change/1"


class BoardChange(msgspec.Struct, frozen=True):
    """One change of one row; `date` is ISO 8601 in UTC, "" if it is unknown.

    `before` and `after` are the averages, None if there was no row or the row has no average. `commit` is where it
    happened at the target, "" if only the row's evidence is known.
    """

    date: str
    kind: Literal["added", "changed", "removed"]
    key: str
    model: str
    before: float | None
    after: float | None
    reason: str
    commit: str = ""
    schema: str = SCHEMA


def additions(entries: Iterable[Entry]) -> tuple[BoardChange, ...]:
    """The rows as added when they were measured: what is known of a board whose history was not read; newest first."""
    found = [
        BoardChange(entry.date, "added", entry.key, entry.model.id, None, entry.average, _source(entry))
        for entry in entries
    ]
    return tuple(sorted(found, key=lambda change: (change.date, change.key), reverse=True))


def change_of(before: Entry | None, after: Entry | None, date: str) -> BoardChange | None:
    """What happened to one row between two states of a board, None if every number stayed."""
    entry = after or before
    if entry is None or (before and after and digest_of(before) == digest_of(after)):
        return None
    averages = (before.average if before else None, after.average if after else None)
    if after is None:
        return BoardChange(date, "removed", entry.key, entry.model.id, *averages, "is not on the board any more")
    if before is None:
        return BoardChange(date, "added", entry.key, entry.model.id, *averages, _source(after))
    is_rescored = before.leaderboard.scoring_digest != after.leaderboard.scoring_digest
    reason = "scored under a changed declaration" if is_rescored else _source(after)
    return BoardChange(date, "changed", entry.key, entry.model.id, *averages, reason)


def _source(entry: Entry) -> str:
    newest = entry.evidence[0] if entry.evidence else None
    return f"measured; {newest.source or 'a file'} {newest.path}".rstrip() if newest else "measured"


def to_jsonl(changes: Iterable[BoardChange]) -> bytes:
    """One JSON object for each line, newest first."""
    return b"".join(msgspec.json.encode(change) + b"\n" for change in changes)
