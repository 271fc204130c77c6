"""Verdicts and a target in, what was done for each row out: choose, look, decide, carry out; twice changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.errors import MalformedEntry, Stale, Unavailable
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.target import Target
from bot.publishing.board import make_board
from bot.publishing.entry import Entry, choose, parse_entry
from bot.publishing.publication import CurrentState, Decision, Form, Marker, PostText, decide, entry_marker
from bot.publishing.texts import request_text, row_text

ATTEMPTS = 4  # writes that may fail before a row is left to the next call
PAUSE = 0.1  # seconds before what stands is read again; doubled each time
LONGEST_WAIT = 120.0  # seconds that a service may ask for


@dataclass(frozen=True, slots=True)
class PublishResult:
    """What became of one row: the decision, and where it can be seen ("" where nothing was done)."""

    entry: Entry
    decision: Decision
    where: str = ""


def publish(entries: Iterable[Entry], target: Target, form: Form, *, dry_run: bool = False) -> list[PublishResult]:
    """Publish the rows of one call; of several submissions with one key the newest complete one is the row's."""
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    return [publish_row(rivals, target, form, dry_run=dry_run) for rivals in by_key.values()]


def publish_row(rivals: list[Entry], target: Target, form: Form, *, dry_run: bool = False) -> PublishResult:
    """Publish one row; where another process was faster or a write failed, read again and decide again."""
    mark, path = entry_marker(rivals[0]), rivals[0].path
    chosen = rivals[0]

    def wish(standing: CurrentState) -> DesiredState:
        nonlocal chosen
        there = parsed(standing.files.get(path), path)
        proposed = parsed(standing.request.files.get(path), path) if standing.request else None
        chosen = choose(rivals, proposed or there)
        text = (row_text if form == "comment" else request_text)(chosen, there, mark)
        return DesiredState(text, {path: chosen.to_bytes()})

    decision, where = reconcile(target, mark, (path,), wish, form, dry_run=dry_run)
    return PublishResult(chosen, decision, where)


@dataclass(frozen=True, slots=True)
class DesiredState:
    """What should stand at a target: files (None: not there) and the text that proposes them."""

    text: PostText
    files: Mapping[str, bytes | None]


def reconcile(
    target: Target,
    mark: Marker,
    paths: tuple[str, ...],
    wish: Callable[[CurrentState], DesiredState],
    form: Form,
    *,
    dry_run: bool = False,
) -> tuple[Decision, str]:
    """Look, wish, decide and carry out: the last decision, and where it can be seen ("" where nothing was done).

    A write that failed may have landed, and another process may have been faster: both times it looks again.
    """
    failures = 0
    while True:
        standing = target.read_state(mark, paths)
        wanted = wish(standing)
        decision = decide(mark, wanted.text, wanted.files, standing, form)
        if decision.publication is None or dry_run:
            return decision, ""
        try:
            where = target.apply(decision.publication)
        except (Stale, Unavailable) as failure:
            failures += 1
            if failures == ATTEMPTS:
                raise
            _wait(failure, failures)
            continue
        if not standing.duplicates:
            return decision, where


def publish_note(mark: Marker, text: PostText, target: Target, *, may_open: bool) -> str:
    """Bring the comment of a mark to what it should say, and give its URL; "" where nothing was to be done.

    Where none stands there yet, one is written only if `may_open`.
    """
    if not may_open and target.read_state(mark, ()).note is None:
        return ""
    return reconcile(target, mark, (), lambda _: DesiredState(text, {}), "comment")[1]


def _wait(failure: Stale | Unavailable, count: int) -> None:
    """Give a service time to finish what it may be doing with the write that it answered with an error."""
    if isinstance(failure, Unavailable):
        asked = failure.retry_after
        if asked is not None and asked > LONGEST_WAIT:
            raise failure
        time.sleep(PAUSE * 2**count if asked is None else asked)


def parsed(data: bytes | None, path: str) -> Entry | None:
    """The entry that stands there; what is none is written over."""
    try:
        return parse_entry(data, path) if data is not None else None
    except MalformedEntry:
        return None


def rebuild_board(target: Target, leaderboard: Leaderboard) -> bool:
    """Bring the table at the target to what its entries of this leaderboard give."""
    for attempt in range(ATTEMPTS):
        entries = [entry for entry in target.read_entries() if entry.leaderboard.id == leaderboard.id]
        try:
            return bool(entries) and target.rebuild_board(make_board(entries, leaderboard))
        except Stale:  # another process changed the entries in between
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")
