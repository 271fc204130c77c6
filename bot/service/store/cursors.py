"""Small facts of a watch: one text for each kind, target and subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sqlalchemy import delete, literal_column, select

from bot.service.store.engine import Part, batches, same
from bot.service.store.tables import cursors

CursorKind = Literal[
    # of the watch
    "source",  # the commit up to which the source was read
    "selection",  # the files that the settings selected then
    "definition",  # a digest of everything that decided the verdicts
    "forms",  # a digest of the forms of result files in the declaration
    "pass",  # how the last pass ended, for other processes
    "tried",  # when the last pass began, in Unix seconds
    "moved",  # when an item was last brought in step, in Unix seconds, give or take ten
    "clock",  # when the last pass ended, in Unix seconds
    "recount",  # when the ledgers are made anew (Unix seconds), there if something happened since they were made
    "failures",  # the causes of the failures of the last pass, as JSON
    "swept",  # the day of the last search for duplicates
    "waivers",  # the waivers that the bot's answers record, as JSON
    "maintainers",  # the accounts that `waivers` was read for, as JSON
    "reviews",  # when the requests at the source were listed, and how many there were
    "site",  # where the web site was written last
    "models asked",  # when the Hub was last asked about models
    "models moved",  # when anything new was last learned of models, from the Hub
    # by subject
    "review",  # number of a request at the source: its ReviewState
    "discussion",  # number of a discussion about a push: how many comments were answered
    "commands",  # account: when its commands of the last hour were answered, as JSON
    "model",  # model: what the Hub said of it, and when, as JSON
    "target",  # address of a target of the settings: a digest of the settings that decide about its rows
    # by target
    "repository",  # the id of its repository, and the commit at its main branch in the last pass
    "board",  # the commit that the board was rebuilt from
    "evidence words",  # by key, what rows rest on where another run says more than their entries, as JSON
    "table",  # the commit of main at which the written rows were compared
    "place",  # by model: where its results were found at the last look, or why they are nowhere
    "first write",  # whether a person approved the first write to models
    "declines",  # the accounts for which the declined rows were read, as JSON
    # by target and subject
    "request",  # number of a request of the bot: how many comments were read
    "decided",  # key of a row: what people decided about it, a list of RowDecision as JSON
    "ledger",  # the last ledger of a target, as JSON (it has no subject)
    "plan discussion",  # where people answer the plan that waits at a target (no subject)
    "plan comment",  # whether the comment about plans at a target is still to be looked at after a sweep (no subject)
    "plan comments",  # the comments that approved or declined a plan at a target, as JSON (no subject)
]

_OF_ALL = select(cursors.c.kind, cursors.c.target, cursors.c.value).where(
    same(cursors, "watch"), cursors.c.subject == literal_column("''")
)
_ONE = select(cursors.c.value).where(same(cursors, "watch", "kind", "target", "subject"))
_OF_KIND = select(cursors.c.subject, cursors.c.value).where(same(cursors, "watch", "kind", "target"))
_FORGET = delete(cursors).where(same(cursors, "watch", "kind", "target", "subject"))


class Cursors(Part):
    """A kind that has no target or subject leaves them empty. In a phase, all facts without a subject are one read."""

    def get(self, kind: CursorKind, subject: str = "", *, target: str = "") -> str | None:
        """What is remembered; None if nothing is."""
        if subject or not self.db.is_in_phase:
            value: str | None = self.value(_ONE, kind=kind, target=target, subject=subject)
            return value
        return self._of_all().get((kind, target))

    def _of_all(self) -> dict[tuple[str, str], str]:
        def read() -> dict[tuple[str, str], str]:
            return {(row.kind, row.target): row.value for row in self.select(_OF_ALL)}

        return self.db.once((self.watch, "cursors", ""), read)

    def all(self, kind: CursorKind, *, target: str = "") -> Mapping[str, str]:
        """All that is remembered of a kind, by subject."""

        def read() -> dict[str, str]:
            return {row.subject: row.value for row in self.select(_OF_KIND, kind=kind, target=target)}

        return self.db.once((self.watch, "cursors", kind, target), read)

    def set(self, kind: CursorKind, value: str | None, subject: str = "", *, target: str = "") -> None:
        """Remember a value; None forgets it. In a phase, one that is known is not written again."""
        is_fact = not subject and self.db.is_in_phase
        if is_fact and self._of_all().get((kind, target)) == value:
            return
        if value is None:
            self.change(_FORGET, kind=kind, target=target, subject=subject)
        else:
            self.upsert(cursors, [{"kind": kind, "target": target, "subject": subject, "value": value}])
        self.db.forget_read(self.watch, "cursors", kind, target)
        if is_fact:
            known = self._of_all()
            known.pop((kind, target), None)
            if value is not None:
                known[kind, target] = value

    def set_many(self, kind: CursorKind, values: Mapping[str, str]) -> None:
        """Remember many values of one kind, by subject."""
        rows = [{"kind": kind, "target": "", "subject": one, "value": values[one]} for one in values]
        with self.db.transaction():
            for some in batches(rows):
                self.upsert(cursors, some)
        self.db.forget_read(self.watch, "cursors", kind, "")
