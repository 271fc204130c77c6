"""Publish the rows of one call of the command line or the Action, with the service's reconciler."""

from __future__ import annotations

from collections.abc import Iterable

from bot.platforms.target import Target
from bot.publishing.entry import Entry, choose
from bot.publishing.publication import Form
from bot.service.desired import DesiredRow, desired_together, rolling_mark
from bot.service.reconcile import PublishResult, reconcile


def publish(entries: Iterable[Entry], target: Target, form: Form, *, dry_run: bool = False) -> list[PublishResult]:
    """Publish rows; of several entries with one key the most complete, then the newest is the row's."""
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    return [_publish_row(choose(rivals), target, form, dry_run=dry_run) for rivals in by_key.values()]


def _publish_row(entry: Entry, target: Target, form: Form, *, dry_run: bool) -> PublishResult:
    """Publish one row where it is proposed already, else in a request of its own."""
    row = DesiredRow(entry.leaderboard.id, entry.key, "", entry, target=target.name)
    shared = rolling_mark(entry.leaderboard.id)
    if form == "pull-request":
        request = target.read_state(shared, (row.path,)).request
        if request is not None and row.path in request.files:
            done = reconcile(
                target,
                shared,
                tuple(request.files),
                lambda state: desired_together(shared, [row], state, form),
                form,
                dry_run=dry_run,
            )
            return PublishResult(entry.key, done.decision, done.where)
    return reconcile(target, row.mark, (row.path,), lambda state: row.at(state, form), form, dry_run=dry_run)
