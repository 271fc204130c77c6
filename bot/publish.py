"""Verdicts and a target in, what was done for each row out: choose, look, decide, carry out; twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.board import make_board
from bot.comment import request_text, row_text
from bot.entry import Entry, choose, parse_entry
from bot.errors import MalformedEntry, Stale, Unavailable
from bot.forges.target import Target
from bot.leaderboard import Leaderboard
from bot.publication import Decision, Form, decide, entry_mark

ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one row: the decision, and where it can be seen ("" where nothing was done)."""

    entry: Entry
    decision: Decision
    where: str = ""


def publish(entries: Iterable[Entry], target: Target, form: Form, *, dry_run: bool = False) -> list[Done]:
    """Publish the rows of one call; of several submissions with one key the newest complete one is the row's."""
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    return [publish_row(rivals, target, form, dry_run=dry_run) for rivals in by_key.values()]


def publish_row(rivals: list[Entry], target: Target, form: Form, *, dry_run: bool = False) -> Done:
    """Publish one row; where another process was faster or a write failed, read again and decide again."""
    mark, path = entry_mark(rivals[0]), rivals[0].path
    for attempt in range(ATTEMPTS):
        standing = target.read_standing(mark, (path,))
        there = _parsed(standing.files.get(path), path)
        proposed = _parsed(standing.request.files.get(path), path) if standing.request else None
        entry = choose(rivals, proposed or there)
        text = (row_text if form == "comment" else request_text)(entry, there, mark)
        decision = decide(mark, text, {path: entry.to_bytes()}, standing, form)
        if decision.publication is None or dry_run:
            return Done(entry, decision)
        try:
            return Done(entry, decision, target.carry_out(decision.publication))
        except (Stale, Unavailable):  # a write that failed may have landed: look before another
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _parsed(data: bytes | None, path: str) -> Entry | None:
    """The entry that stands there; what is none is written over."""
    try:
        return parse_entry(data, path) if data is not None else None
    except MalformedEntry:
        return None


def rebuild_board(target: Target, leaderboard: Leaderboard) -> bool:
    """Bring the table at the target to what its entries of this leaderboard give."""
    entries = [entry for entry in target.read_entries() if entry.leaderboard.id == leaderboard.id]
    return bool(entries) and target.rebuild_board(make_board(entries, leaderboard))
