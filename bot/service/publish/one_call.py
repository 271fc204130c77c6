"""Publish the rows of one call of a command or of the Action: without a state nothing is held, and nothing waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from bot.platforms.target import Target
from bot.publishing.board import proposed_rank, rank_entries, standing_among
from bot.publishing.entries import DesiredRow, desired_together
from bot.publishing.entry import Entry, choose
from bot.publishing.publication import CurrentState, Form, decide, rolling_mark
from bot.service.publish.reconcile import PublishResult, reconcile, retry_write


def publish(
    entries: Iterable[Entry], target: Target, form: Form, there: Sequence[Entry] = (), *, dry_run: bool = False
) -> list[PublishResult]:
    """Publish rows; of several entries with one key the most complete, then the newest is the row's.

    As commits, the rows of a leaderboard that change are stored together. `there` are the rows at the target: what is
    said of a new one compares it with another of its model.
    """
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    chosen = [choose(rivals) for rivals in by_key.values()]
    stored: dict[str, PublishResult] = {}
    if form == "commit":
        for board in dict.fromkeys(entry.leaderboard.id for entry in chosen):
            stored |= _stored_together([one for one in chosen if one.leaderboard.id == board], target, dry_run=dry_run)
    by_model: dict[str, list[Entry]] = {}
    for entry in there:
        by_model.setdefault(_model_in(entry.key), []).append(entry)

    @cache
    def ranked(board: str) -> list[Entry]:
        return [row.entry for row in rank_entries(one for one in there if one.leaderboard.id == board)]

    def rank(one: Entry) -> str:
        return proposed_rank(one, standing_among(one, ranked(one.leaderboard.id)))

    rows = [replace(_row_of(one, target, by_model.get(_model_in(one.key), ())), rank=rank) for one in chosen]
    return [stored.get(row.key) or _publish_row(row, target, form, dry_run=dry_run) for row in rows]


def _stored_together(entries: Sequence[Entry], target: Target, *, dry_run: bool) -> dict[str, PublishResult]:
    """Store those rows of one leaderboard that change in one commit; nothing where fewer than two do.

    What requests propose has no part in it.
    """
    rows = [_row_of(entry, target) for entry in entries]
    mark, paths = rolling_mark(rows[0].leaderboard), tuple(row.path for row in rows)

    def write_once() -> dict[str, PublishResult]:
        state = CurrentState(target.read_state(mark, paths).files)
        wanted = desired_together(mark, rows, state, "commit")
        if len(wanted.files) < 2:  # one row alone has a commit with a text of its own
            return {}
        decision = decide(mark, wanted.text, wanted.files, state, "commit")
        where = target.apply(decision.publication) if decision.publication and not dry_run else ""
        return {row.key: PublishResult(row.key, decision, where) for row in rows if row.path in wanted.files}

    return retry_write(write_once) if len(rows) > 1 else {}


def _model_in(key: str) -> str:
    """The leaderboard and the model of a key."""
    return key.rpartition("/")[0]


def _row_of(entry: Entry, target: Target, of_model: Sequence[Entry] = ()) -> DesiredRow:
    beside = [one for one in of_model if one.key != entry.key]
    return DesiredRow(entry.leaderboard.id, entry.key, "", entry, target=target.name, beside=beside)


def _publish_row(row: DesiredRow, target: Target, form: Form, *, dry_run: bool) -> PublishResult:
    """Publish one row where it is proposed already, else in a request of its own."""
    shared = rolling_mark(row.leaderboard)
    if form == "pull-request":
        request = target.read_state(shared, (row.path,)).request
        if request is not None and row.path in request.files:
            done = reconcile(
                target,
                shared,
                tuple(request.files),
                lambda state: desired_together(shared, [row], state, form, is_discussed=target.comments is not None),
                form,
                dry_run=dry_run,
            )
            return PublishResult(row.key, done.decision, done.where)
    return reconcile(target, row.mark, (row.path,), lambda state: row.at(state, form), form, dry_run=dry_run)
