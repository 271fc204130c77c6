"""Recompute rows from their evidence: the files at their commits, under the declaration that each row names."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from bot.errors import BotError, CallError
from bot.evaluation.finding import counted, examples
from bot.evaluation.leaderboard import Leaderboard, Waiver, shipped
from bot.evaluation.likeness import LikeRows, nearest_of
from bot.evaluation.rules.rule import KnownDocuments
from bot.evaluation.submission import Parsed
from bot.evaluation.verdict import RowFacts
from bot.platforms.declarations import board_declaration, declaration_at
from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.publishing.board import KnownBoardRows, known_logs, like_rows, own_sources
from bot.publishing.changes import OF_DECLARATION, OF_OTHER_FILES, Difference, differences
from bot.publishing.entry import Entry, Evidence, declaration_path, digest_of, make_entries
from bot.publishing.layout import CellChange, RowChange, StoredEntries
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.table_layout import TableLayout, table_layout
from bot.reporting.escape import brief
from bot.service.checks.verify_evidence import (
    EvidenceReader,
    ModelState,
    Unfounded,
    model_state,
    refuse_many_sources,
)
from bot.service.judge.facts import Judge, LookUp, no_look_up
from bot.service.judge.samples import as_recorded
from bot.service.settings.config import load_settings

LONGEST_DIFFERENCE = 200  # letters of a value that differs
Outcome = Literal[
    "follows", "differs", "table", "declaration", "evidence", "gone", "model", "untraceable", "unavailable", "board"
]


@dataclass(frozen=True, slots=True)
class VerifiedRow:
    """Whether a row follows from its evidence.

    `follows`: every field is the same. `differs`: a field is another under the row's own declaration. `table`: the
    row follows, and the table that people read says another thing. `declaration`: only under today's. `evidence`: a
    file has other bytes than the row names. `gone`: a file, its commit or its repository is gone. `model`: the revision
    of the model is gone, so that nobody can run it again. `untraceable`: no repository is named, or no declaration that
    can be read. `unavailable`: a service could not be asked. `board`: no row, but a file that readers see and the
    entries do not give. `notice` is something to know of a row with which nothing is wrong, and `digest` tells which
    row it was, see `digest_of`. `evidence` is what the row rests on.
    """

    key: str
    outcome: Outcome
    why: str = ""
    differences: tuple[Difference, ...] = ()
    notice: str = ""
    digest: str = ""
    evidence: str = ""

    @property
    def follows(self) -> bool:
        """Tell whether nothing is wrong with the row."""
        return self.outcome == "follows"

    def named(self, limit: int) -> list[str]:
        """The first fields that differ, each with both values on a line, and how many more there are.

        Empty where the evidence gives no row: the reason then says everything.
        """
        if all(one.computed is None for one in self.differences):
            return []
        lines = [
            f"{brief(one.name)}: published {brief(str(one.published), LONGEST_DIFFERENCE)}, "
            f"computed {brief(str(one.computed), LONGEST_DIFFERENCE)}"
            for one in self.differences[:limit]
        ]
        more = len(self.differences) - limit
        return lines + ([f"and {counted(more, 'more field')}"] if more > 0 else [])


@dataclass
class Verifier:
    """Recomputes the rows of one target; `today` is the declaration to compare with, where there is one.

    With `asks_models` the Hub is asked whether the revision of each model is still there; `table` is the one that the
    rows stand beside, where there is one. `sources` are folders in which evidence may be read. `look_up`
    asks again about the harness commits that a row says were looked up. With `reads_samples` the sample logs are read
    again; without, the row is believed about them; None reads them where the row's declaration requires them.
    """

    target: Target
    opener: Opener
    today: Leaderboard | None = None
    asks_models: bool = False
    table: TableCells | None = None
    sources: Sequence[Path] = ()
    look_up: LookUp = no_look_up
    reads_samples: bool | None = None
    _declared: dict[str, Leaderboard | None] = field(default_factory=dict, repr=False)
    _of_boards: dict[str, Leaderboard | None] = field(default_factory=dict, repr=False)
    _own_sources: dict[str, str] = field(default_factory=dict, repr=False)
    _logged: Counter[str] = field(default_factory=Counter, repr=False)
    _like: LikeRows = field(default_factory=LikeRows, repr=False)
    _logs: tuple[dict[tuple[str, str], KnownDocuments], dict[str, str]] = field(default=({}, {}), repr=False)

    def verify(self, wanted: Sequence[str] = ()) -> Iterator[VerifiedRow]:
        """Each row of the target, or those that are named by key, by path or by model.

        Raises CallError for a name that no row has, and for a target without rows: its address may be mistyped.
        """
        stored = self.stored
        if not stored.entries and not stored.skipped:
            what = "check the address, or publish a row there and merge its request"
            raise CallError(f"{self.target.name}: there is no entry to verify; {what}")
        entries = {entry.key: entry for entry in stored.entries}
        self._logs = known_logs(stored.entries)
        self._like = like_rows(stored.entries)
        self._logged = Counter(one.leaf for entry in stored.entries for one in entry.samples)
        self._own_sources = own_sources(stored.entries)
        keys = list(dict.fromkeys(key for name in wanted for key in _named(name, entries))) if wanted else list(entries)
        self._evidence.expect(file for key in keys for file in entries[key].evidence)
        try:
            for key in keys:
                entry = entries[key]
                yield dataclasses.replace(self._checked(entry), digest=digest_of(entry), evidence=entry.rests_on)
        finally:
            self._evidence.close()
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
        declared = self.declaration(entry)
        refuse_many_sources(entry)
        self._evidence.forms = declared.formats
        read = [(file, *self._read(entry, file, declared)) for file in entry.evidence]
        computed, why = self._recomputed(entry, read, declared)
        wrong = differences(entry, computed)
        if wrong:
            return VerifiedRow(entry.key, "differs", why or "the evidence gives another row", wrong)
        if self.table is not None:
            why, cells = self.table.look(entry, declared)
            if why:
                return VerifiedRow(entry.key, "table", why, cells)
        if self.today is not None and self.today.judging_digest != declared.judging_digest:
            found, why = self._recomputed(entry, read, self.today)
            other = differences(entry, found, OF_DECLARATION)
            if other:
                why = f"under today's declaration {why}" if why else "today's declaration gives another row"
                return VerifiedRow(entry.key, "declaration", why, other)
        model = self._look(entry.model.id, entry.model.revision) if self.asks_models else ModelState()
        if model.is_gone:
            return VerifiedRow(entry.key, "model", model.said)
        moved = [said for file in entry.evidence if (said := self._evidence.since(file))]
        believed = [*_own_words(entry, declared), *self._unasked(entry)]
        if entry.samples and not self._reads_logs(entry, declared):
            what = f"what its {counted(len(entry.samples), 'sample log')} show was not read again"
            believed.append(f"{what}: that it rests on {entry.rests_on} is the row's own word")
        told = [*moved, self._alike(entry), model.said, *self._unusual(entry, read), *believed]
        if alone := self._alone(entry, declared):
            what = (
                f"which questions {examples(alone)} has"
                if len(alone) == 1
                else f"which questions {examples(alone)} have"
            )
            told.append(f"no other row and no declaration says {what}: that they are the task's is the row's own word")
        remarks = filter(None, [*told, *_other_warnings(entry, computed)])
        return VerifiedRow(entry.key, "follows", notice="; ".join(remarks))

    def _read(self, entry: Entry, file: Evidence, declared: Leaderboard) -> tuple[Parsed, float | None]:
        """A submission with its sample logs, read again or taken from the row, and the time of its commit."""
        parsed, when = self._evidence.read(file)
        if not self._reads_logs(entry, declared):
            return as_recorded(parsed, entry, declared), when
        return self._evidence.with_samples(parsed, file, entry), when

    def _reads_logs(self, entry: Entry, declared: Leaderboard) -> bool:
        """Tell whether the sample logs of a row are read again."""
        asked = declared.requires_samples if self.reads_samples is None else self.reads_samples
        return asked and bool(entry.samples)

    def _unusual(self, entry: Entry, read: Sequence[tuple[Evidence, Parsed, float | None]]) -> Iterator[str]:
        """A sentence for a row of a source that no other has, or that the board's own declaration makes another."""
        if where := self._own_sources.get(entry.key):
            yield f"its files are of {brief(where, 160)}, where no other row has any"
        named, board = entry.leaderboard, self.board_declaration(entry.leaderboard.id)
        if board is None or board.scoring_digest == named.scoring_digest:
            return
        if differences(entry, self._recomputed(entry, read, board)[0], OF_DECLARATION):
            whose = "the one that is shipped" if board.id in shipped() else "the board's"
            what = f"its declaration of {brief(board.id)} is not {whose}, which gives another row"
            yield f"{what}: {declaration_path(named.digest)}"

    def board_declaration(self, board: str) -> Leaderboard | None:
        """The declaration that a board at the target stands for, None if it is not kept."""
        if board not in self._of_boards:
            self._of_boards[board] = board_declaration(self.target, board, self.stored.of(board))
        return self._of_boards[board]

    def _alone(self, entry: Entry, declared: Leaderboard) -> list[str]:
        """The leaves with a sample log whose questions nothing else names."""
        pinned = {leaf for task in declared.tasks for leaf in task.documents}
        return [one.leaf for one in entry.samples if one.leaf not in pinned and self._logged[one.leaf] == 1]

    def _alike(self, entry: Entry) -> str:
        """A sentence for a row that is like one of another model, where neither of both says so; "" for others."""
        row = entry.fingerprint
        alike = None if row.named else nearest_of(row, [one.row for one in self._like.with_one_of(row.marks)])
        return f"it has {alike.what} of the row of {brief(alike.model)}, and neither says so" if alike else ""

    def _unasked(self, entry: Entry) -> Iterator[str]:
        """A sentence for each harness commit that GitHub did not answer about: there the row is believed."""
        recorded = entry.facts.commits if entry.facts else {}
        asked = self.look_up(recorded, self.declaration(entry)) if recorded else {}
        for commit in recorded:
            if commit not in asked:
                yield f"that commit {commit[:40]} is {recorded[commit].answer} is the row's own word"

    def _recomputed(
        self, entry: Entry, read: Sequence[tuple[Evidence, Parsed, float | None]], declared: Leaderboard
    ) -> tuple[Entry | None, str]:
        """The row that the evidence gives under a declaration; None, and why, if it gives none."""
        committed = {file.path: when for file, _, when in read if when is not None}
        judgement = _judge_of(entry, declared, self.look_up, self._logs).judge(
            [parsed for _, parsed, _ in read], committed
        )
        places = {file.path: replace(file, submitter="") for file, _, _ in read}  # no source says who brought a file
        made = make_entries(judgement.rows, places)
        found = next((one for one in made.entries if one.key == entry.key), None)
        if found is not None or made.entries:
            return found, "" if found else f"the evidence gives the row {made.entries[0].key}"
        findings = [finding for verdict in judgement.verdicts for finding in verdict.findings]
        errors = [f"{finding.rule}: {finding.message}" for finding in findings if finding.is_error]
        return None, next(iter([*made.refused.values(), *errors]), "the evidence gives no row")

    @cached_property
    def stored(self) -> StoredEntries:
        """The entries of the target, read once."""
        return self.target.scan_entries()

    @cached_property
    def _evidence(self) -> EvidenceReader:
        folders = [*self.sources, *(self.table.sources if self.table else ())]
        return EvidenceReader(self.opener, folders, self.target)

    @cached_property
    def _look(self) -> Callable[[str, str], ModelState]:
        """A function that asks the Hub about the revision of a model, once for each revision."""
        return cache(partial(model_state, self.opener))

    def declaration(self, entry: Entry) -> Leaderboard:
        """The declaration that a row names: kept at the target, shipped, or today's."""
        digest, today = entry.leaderboard.digest, self.today
        if digest not in self._declared:
            is_today = today is not None and today.digest == digest
            self._declared[digest] = today if is_today else declaration_at(self.target, entry.leaderboard)
        found = self._declared[digest]
        if found is None:
            path = declaration_path(digest)
            raise Unfounded("untraceable", f"the target does not keep its declaration: {path} is missing or different")
        return found


def _own_words(entry: Entry, declared: Leaderboard) -> Iterator[str]:
    """A sentence for each decision of people behind the row that only the row itself records."""
    known = {(one.rule, one.who, one.reason, one.until.isoformat()) for one in declared.waivers}
    for one in entry.waivers:
        if (one.rule, one.who, one.reason, one.until) not in known:
            yield f"that {brief(one.who, 40)} waived {one.rule} until {one.until} is the row's own word"
    facts = entry.facts or RowFacts()
    for name, model in facts.names.items():
        yield f"that {brief(name)} is {brief(model)} is the row's own word"
    if facts.today:
        yield f"that it was judged on {facts.today} is the row's own word"


def _other_warnings(entry: Entry, computed: Entry | None) -> Iterator[str]:
    """A sentence for each kind of warning that is not compared: it is about other files, or of another version."""
    own, others = ({one.rule for one in row.warnings} if row else set() for row in (entry, computed))
    if told := own & OF_OTHER_FILES:
        yield f"what it says of files that it is not made of ({', '.join(sorted(told))}) is the row's own word"
    if untold := (others - own) & OF_OTHER_FILES:
        yield f"beside the rows that are there now it would say {', '.join(sorted(untold))}"
    if rules := (own ^ others) - OF_OTHER_FILES:
        yield f"version {brief(entry.tool, 40)} wrote it, and this version warns otherwise: {examples(sorted(rules))}"


def _named(name: str, entries: Mapping[str, Entry]) -> list[str]:
    keys = [key for key, entry in entries.items() if name in {key, entry.path, entry.model.id}]
    if not keys:
        raise CallError(f"{name}: no row at the target has this key, path or model")
    return keys


def _judge_of(
    entry: Entry,
    declared: Leaderboard,
    look_up: LookUp,
    logs: tuple[dict[tuple[str, str], KnownDocuments], dict[str, str]],
) -> Judge:
    """The judge with the facts that the row records, except for those that can be looked up again.

    `logs` are what the rows at the target name, see `known_logs`.
    """
    facts = entry.facts or RowFacts()
    try:
        days = [facts.today] if facts.today else [waiver.until for waiver in entry.waivers]
        waivers = [
            Waiver(rule=one.rule, submission=f"sha256:{file.sha256}", reason=one.reason, who=one.who, until=one.until)
            for one in entry.waivers
            for file in entry.evidence
        ]
        today = min(map(date.fromisoformat, days), default=None)
    except ValueError:
        raise Unfounded("untraceable", "a date or a waiver of the row is malformed") from None
    dates = [facts.today, *(file.date[:10] for file in entry.evidence)]
    if (last := max(dates)) > datetime.now(UTC).date().isoformat():
        raise Unfounded("untraceable", f"the row names a day that is to come: {brief(last, 20)}")
    return Judge(
        declared,
        today,
        waivers,
        facts.owners,
        facts.names,
        lambda texts, board: {**facts.commits, **look_up([one for one in texts if one in facts.commits], board)},
        KnownBoardRows({}, *logs),
        {entry.key: facts},
    )


@dataclass
class TableCells:
    """The cells of one table at a target, found by its mapping; its files are read once.

    `sources` are the folders from which the service gets the rows.
    """

    target: Target
    options: TableOptions
    sources: Sequence[Path] = ()
    _files: Mapping[str, bytes] | None = field(default=None, repr=False)

    def look(self, entry: Entry, leaderboard: Leaderboard) -> tuple[str, tuple[Difference, ...]]:
        """What is wrong with the table's row of an entry ("" if nothing is), and the cells that differ."""
        # What would be written over it, if everything might be, is what differs.
        options = self.options.model_copy(update={"on_existing": "update", "hand_edited": True})
        layout = table_layout(options, leaderboard)
        change = RowChange(entry.key, entry)
        draft = layout.draft([change], self._read(layout, change))
        if why := draft.refused.get(entry.key):
            return why if why.startswith(f"{self.options.path}: ") else f"{self.options.path}: {why}", ()
        cells = draft.cells.get(entry.key, ())
        if cells and all(cell.before is None for cell in cells):
            return f"{self.options.path} has no such row", ()
        said = f"{self.options.path} differs from the entry beside it" if cells else ""
        return said, tuple(map(_difference, cells))

    def _read(self, layout: TableLayout, change: RowChange) -> Mapping[str, bytes]:
        if self._files is None:
            listed = [path for folder in layout.folders([change]) for path in self.target.list_folder(folder)]
            self._files = self.target.read_files(layout.paths([change], listed))
        return self._files


def _difference(cell: CellChange) -> Difference:
    return Difference(cell.column, cell.before, cell.after)


def table_at(target: Target, name: str, settings: Path) -> TableCells:
    """The table at a target that the settings of a service describe. Raises CallError if they describe none.

    A source that is a folder may be read: the operator named it, and not a row.
    """
    wanted, beside = _place(name, Path.cwd()), settings.resolve().parent
    watches = [(one, watch) for watch in load_settings(settings).watches for one in watch.targets if one.table]
    found = [(one.table, watch) for one, watch in watches if one.to == name or _place(one.to, beside) == wanted]
    if not found or found[0][0] is None:
        raise CallError(
            f'{settings}: no target is {name} with kind = "table": name the settings of this table, or none'
        )
    local = [Path(_place(watch.source, beside)) for _, watch in found if "://" not in watch.source]
    return TableCells(target, found[0][0], [folder for folder in local if folder.is_dir()])


def sources_beside(target: str) -> list[Path]:
    """The folders from which the settings beside a folder of rows bring them; none where no settings name it."""
    beside = Path(target).resolve().parent
    if "://" in target or not (beside / "bot.toml").is_file():
        return []
    try:
        watches = load_settings(beside / "bot.toml").watches
    except BotError:
        return []  # which are not asked to be right here
    ours = [one for one in watches if _place(target, Path.cwd()) in {_place(to.to, beside) for to in one.targets}]
    return [folder for one in ours if "://" not in one.source and (folder := Path(_place(one.source, beside))).is_dir()]


def _place(name: str, folder: Path) -> str:
    """An address unchanged, or the absolute path of a folder; a relative one begins at `folder`."""
    return name if "://" in name else str((folder / name).resolve())
