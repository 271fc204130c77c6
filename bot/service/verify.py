"""Recompute rows from their evidence: the files at their commits, under the declaration that each row names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal

from bot.errors import BotError, CallError, MalformedDeclaration, MalformedEntry
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, Waiver, load_shipped, parse_leaderboard, shipped
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import Parsed
from bot.platforms.registry import Opener
from bot.platforms.target import Target
from bot.publishing.card import declaration_path
from bot.publishing.entry import Entry, Evidence, entry_of
from bot.publishing.row_difference import Difference, differences
from bot.service.model_lookup import ModelLookup, ModelState
from bot.service.verify_evidence import EvidenceReader, Unfounded
from bot.service.verify_table import TableCells

Outcome = Literal[
    "follows", "differs", "table", "declaration", "evidence", "gone", "model", "untraceable", "unavailable"
]


@dataclass(frozen=True, slots=True)
class VerifiedRow:
    """Whether a row follows from its evidence.

    `follows`: every number is the same. `differs`: a number is another under the row's own declaration. `table`: the
    row follows, and the table that people read says another thing. `declaration`: only under today's. `evidence`: a
    file has other bytes than the row names. `gone`: a file, its commit or its repository is gone. `model`: the revision
    of the model is gone, so that nobody can run it again. `untraceable`: no repository is named, or no declaration that
    can be read. `unavailable`: a service could not be asked. `notice` is something to know of a row with which nothing
    is wrong.
    """

    key: str
    outcome: Outcome
    why: str = ""
    differences: tuple[Difference, ...] = ()
    notice: str = ""

    @property
    def follows(self) -> bool:
        """Tell whether nothing is wrong with the row."""
        return self.outcome == "follows"


@dataclass
class Verifier:
    """Recomputes the rows of one target; `today` is the declaration to compare with, where there is one.

    With `asks_models` the Hub is asked whether the revision of each model is still there; `table` is the one that the
    rows stand beside, where there is one. `sources` are the folders in which evidence may be read.
    """

    target: Target
    opener: Opener
    today: Leaderboard | None = None
    asks_models: bool = False
    table: TableCells | None = None
    sources: Sequence[Path] = ()
    _declared: dict[str, Leaderboard | None] = field(default_factory=dict, repr=False)

    def verify(self, wanted: Sequence[str] = ()) -> Iterator[VerifiedRow]:
        """Each row of the target, or those that are named by key, by path or by model.

        Raises CallError for a name that no row has, and for a target without rows: its address may be mistyped.
        """
        stored = self.target.scan_entries()
        if not stored.entries and not stored.skipped:
            raise CallError(f"{self.target.name}: there is no entry to verify")
        entries = {entry.key: entry for entry in stored.entries}
        keys = list(dict.fromkeys(key for name in wanted for key in _named(name, entries))) if wanted else list(entries)
        for key in keys:
            yield self._checked(entries[key])
        if not wanted:
            yield from (VerifiedRow(path, "untraceable", why) for path, why in stored.skipped.items())

    def _checked(self, entry: Entry) -> VerifiedRow:
        try:
            return self._row(entry)
        except Unfounded as unfounded:
            return VerifiedRow(entry.key, unfounded.outcome, str(unfounded))
        except BotError as failure:
            return VerifiedRow(entry.key, "unavailable", str(failure))

    def _row(self, entry: Entry) -> VerifiedRow:
        declared = self._declaration(entry)
        read = [(file, *self._evidence.read(file)) for file in entry.evidence]
        found = _recomputed(entry, read, declared)
        wrong = differences(entry, found)
        if wrong:
            return VerifiedRow(entry.key, "differs", "the evidence gives other numbers", wrong)
        if self.table is not None:
            why, cells = self.table.look(entry, declared)
            if why:
                return VerifiedRow(entry.key, "table", why, cells)
        if self.today is not None and self.today.scoring_digest != entry.leaderboard.scoring_digest:
            other = differences(entry, _recomputed(entry, read, self.today))
            if other:
                return VerifiedRow(entry.key, "declaration", "today's declaration gives other numbers", other)
        model = self._models.look(entry.model.id, entry.model.revision) if self.asks_models else ModelState()
        if model.is_gone:
            return VerifiedRow(entry.key, "model", model.said)
        moved = [said for file in entry.evidence if (said := self._evidence.since(file))]
        return VerifiedRow(entry.key, "follows", notice="; ".join(filter(None, [*moved, model.said])))

    @cached_property
    def _evidence(self) -> EvidenceReader:
        return EvidenceReader(self.opener, self.sources)

    @cached_property
    def _models(self) -> ModelLookup:
        return ModelLookup(self.opener)

    def _declaration(self, entry: Entry) -> Leaderboard:
        """The declaration that a row names: kept at the target, shipped, or today's."""
        digest, board = entry.leaderboard.digest, entry.leaderboard.id
        if digest not in self._declared:
            known = [self.today, *([load_shipped(board)] if board in shipped() else []), self._kept(digest, board)]
            self._declared[digest] = next((one for one in known if one and one.digest == digest), None)
        found = self._declared[digest]
        if found is None:
            path = declaration_path(digest)
            raise Unfounded("untraceable", f"the target does not keep its declaration: {path} is missing or different")
        return found

    def _kept(self, digest: str, board: str) -> Leaderboard | None:
        path = declaration_path(digest)
        data = self.target.read_files([path]).get(path)
        try:
            return parse_leaderboard(data.decode(), board, path) if data else None
        except (UnicodeDecodeError, MalformedDeclaration):
            return None


def _named(name: str, entries: Mapping[str, Entry]) -> list[str]:
    keys = [key for key, entry in entries.items() if name in {key, entry.path, entry.model.id}]
    if not keys:
        raise CallError(f"{name}: no row at the target has this key, path or model")
    return keys


def _recomputed(
    entry: Entry, read: Sequence[tuple[Evidence, Parsed, float | None]], declared: Leaderboard
) -> Entry | None:
    """The row that the evidence gives under a declaration, None if it gives none."""
    waived = [
        Waiver(rule=one.rule, submission=f"sha256:{file.sha256}", reason=one.reason, who=one.who, until=one.until)
        for one in entry.waivers
        for file, _, _ in read
    ]
    facts = Facts(
        today=min((date.fromisoformat(one.until) for one in entry.waivers), default=None),
        waivers=tuple(waived),
        committed={file.path: when for file, _, when in read if when is not None},
    )
    rows = judge_all([parsed for _, parsed, _ in read], declared, facts).rows
    places = {file.path: file for file, _, _ in read}
    try:
        made = [entry_of(row, places) for row in rows]
    except MalformedEntry:
        return None
    return next((one for one in made if one is not None and one.key == entry.key), None)
