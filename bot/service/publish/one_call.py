"""Publish the rows of one call of a command or of the Action: nothing is held, and nothing waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bot.errors import CallError
from bot.evaluation.finding import grouped
from bot.evaluation.row_key import model_folder
from bot.platforms.target import Target
from bot.publishing.board import proposed_rank, rank_entries, standing_among
from bot.publishing.entries import DesiredRow
from bot.publishing.entry import Entry, choose, entry_path
from bot.publishing.publication import (
    CLOSED_BEFORE,
    Decision,
    Form,
    commit_mark,
    decide,
    migration_mark,
    rolling_mark,
)
from bot.publishing.row_requests import (
    NEW_FILES,
    SeenRow,
    SharedRequests,
    SharingRules,
    see_row,
    share_out,
    standing,
)
from bot.service.publish.reconcile import PublishResult, reconcile


def publish(
    entries: Iterable[Entry], target: Target, form: Form, there: Sequence[Entry] = (), *, dry_run: bool = False
) -> list[PublishResult]:
    """Publish rows; of several entries with one key the most complete, then the newest is the row's.

    A row that is proposed already stays in that request; each other one gets its own. As commits, the rows of a
    leaderboard that change are stored together. `there` are the rows at the target: what is said of a new one compares
    it with another of its model. Raises CallError for files that a comment cannot keep.
    """
    chosen = [choose(rivals) for rivals in grouped((entry.key, entry) for entry in entries).values()]
    if form == "comment" and (files := [file for entry in chosen for file in entry.evidence if file.kept]):
        why = "can change at any time, and a comment cannot keep its files: publish a pull request or a commit"
        raise CallError(f"{files[0].source} {why}")
    results: dict[str, PublishResult] = {}
    for board in dict.fromkeys(entry.leaderboard.id for entry in chosen):
        call = OneCall(target, form, board, [one for one in there if one.leaderboard.id == board])
        results |= call.publish([one for one in chosen if one.leaderboard.id == board], dry_run=dry_run)
    return [results[one.key] for one in chosen]


@dataclass(frozen=True)
class OneCall:
    """The rows of one leaderboard in one call; `there` are its rows at the target."""

    target: Target
    form: Form
    board: str
    there: Sequence[Entry]

    def publish(self, entries: Sequence[Entry], *, dry_run: bool) -> dict[str, PublishResult]:
        """Look at the rows, share them out over requests, and write these one after the other."""
        shared, mark = SharedRequests(), rolling_mark(self.board)
        if self.form == "pull-request":
            paths = tuple(entry_path(entry.key) for entry in entries)
            marks = (mark, migration_mark(self.board))
            shared = SharedRequests(*(self.target.read_state(each, paths) for each in marks))
        elif self.form == "commit":  # what a request proposes has no part in it
            mark = commit_mark(self.board)
        rules = SharingRules(mark, self.form, is_discussed=self.target.comments is not None)
        shares = share_out([self._see(entry, shared) for entry in entries], shared, rules)
        found = {one.row.key: PublishResult(one.row.key, self._why_not(one)) for one in shares.done}
        for one in (*shares.own, *shares.others):
            done = reconcile(
                self.target, one.mark, one.paths, one.desire, one.form, dry_run=dry_run, is_restored=one.is_restored
            )
            for seen in one.rows:
                found.setdefault(seen.row.key, replace(done, subject=seen.row.key))
        return found

    def _see(self, entry: Entry, shared: SharedRequests) -> SeenRow:
        row = DesiredRow(
            self.board,
            entry.key,
            "",
            entry,
            target=self.target.name,
            beside=[one for one in self._of_model.get(model_folder(entry.key), ()) if one.key != entry.key],
            rank=lambda one: proposed_rank(one, standing_among(one, self._ranked)),
        )
        state = self.target.read_state(row.mark, (row.path,))
        before = standing(row.path, state, shared.files, self.form)
        return see_row(replace(row, before=before), state, shared, NEW_FILES)

    @cached_property
    def _of_model(self) -> dict[str, list[Entry]]:
        return grouped((model_folder(entry.key), entry) for entry in self.there)

    @cached_property
    def _ranked(self) -> list[Entry]:
        return [row.entry for row in rank_entries(self.there)]

    def _why_not(self, one: SeenRow) -> Decision:
        """Why nothing is to be done for a row."""
        wanted = one.row.at(one.state, self.form)
        decision = decide(one.row.mark, wanted.text, wanted.files, one.state, self.form)
        return decision if decision.publication is None else Decision(None, CLOSED_BEFORE)
