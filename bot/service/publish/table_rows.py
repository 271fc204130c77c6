"""Rows of tables that people keep: one request for all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from bot.errors import CallError
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.target import Target
from bot.publishing.entry import Entry, declaration_path, digest_of, entry_path, is_same_row, parse_entry
from bot.publishing.layout import CellChange, Draft, Layout, RowChange
from bot.publishing.plan import PlannedRow, RowAction
from bot.publishing.publication import CurrentState, Form, Marker, rolling_mark
from bot.publishing.tables.table_layout import table_layout
from bot.publishing.texts import (
    KEY_OF_TABLE,
    adopted_line,
    disputed_remark,
    shared_steps,
    table_text,
    with_places,
)
from bot.service.publish.entry_rows import EDITED, RowLook, SubmittedRows
from bot.service.publish.ledger import GoneRow, OpenRequests, Place, mark_moved
from bot.service.publish.publisher import PlannedLook, Proposal
from bot.service.publish.reconcile import DesiredState, parsed
from bot.service.store.items import Item

FOREIGN = "its cells differ from what files and mapping give"
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """The cells of a row that the bot wrote last, and the cells that were there before."""

    entry: Entry
    earlier: Entry | None = None


def is_absent(cells: Sequence[CellChange]) -> bool:
    """Tell whether the table has no row for these cells."""
    return all(cell.before is None for cell in cells)


def planned_cells(look: RowLook, cells: Sequence[CellChange], gone: GoneRow | None) -> PlannedRow:
    """The planned change of a row of a table, by the cells that change on main; `gone` if somebody took it."""
    action: RowAction = "changed"
    if not cells:
        action = "unchanged"
    elif look.entry is None:
        action = "removed"
    elif is_absent(cells):
        is_taken = gone is not None and gone.digest == digest_of(look.entry)
        action = "restored" if is_taken else "added"
    known = look.entry or look.before
    shown = ", ".join(f"{cell.column} {cell.before or '–'} → {cell.after or '–'}" for cell in cells)
    reason = FOREIGN if look.reason in {"", EDITED} else look.reason  # the settings may show the same row otherwise
    reason = reason if action in {"changed", "removed"} else ""
    if action == "restored" and gone is not None:
        reason = gone.reason
    digest = hashlib.sha256(repr([(cell.column, cell.before, cell.after) for cell in cells]).encode()).hexdigest()
    return PlannedRow(look.key, known.model.id if known else "", action, reason=reason, digest=digest, values=shown)


@dataclass
class DesiredTable:
    """One table and the rows that are brought in step.

    `known` is the record of what was written, `withdrawn` has rows that the bot asked to remove, and `declined` are the
    keys of rows that a maintainer left out. Where `declaration` is given, it and the entries of rows are kept beside
    the table: of those that change, and with them of those that the table has already. `places` are links to the other
    targets, `is_discussed` says that people can comment there. After `at`, `draft` has the files against main,
    `proposed` the keys of the rows that the open request proposes already and main lacks, `left` of those that people
    left out and main lacks, `refused` the reasons for rows that cannot be written, `written` what the record should say
    then, and `gone` the keys that it should forget.
    `removed` are the rows that the request then removes, of which `asked_away` are those that it removes already.
    """

    layout: Layout
    mark: Marker
    form: Form
    looks: Sequence[RowLook | PlannedLook]
    known: Mapping[str, WrittenRow]
    withdrawn: Mapping[str, Entry] = field(default_factory=dict)
    declined: AbstractSet[str] = frozenset()
    declaration: Leaderboard | None = None
    places: Sequence[str] = ()
    is_discussed: bool = False
    draft: Draft = field(default_factory=Draft)
    proposed: AbstractSet[str] = frozenset()
    left: AbstractSet[str] = frozenset()
    refused: dict[str, str] = field(default_factory=dict)
    written: dict[str, WrittenRow] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    removed: Mapping[str, Entry] = field(default_factory=dict)
    asked_away: AbstractSet[str] = frozenset()

    def at(self, state: CurrentState) -> DesiredState:
        """The desired files and text: with these rows, and with those that the open request proposes already."""
        main = state.files
        wanted = {look.key: look.entry for look in self.looks if look.entry is not None}
        current = self._rows_in(main, {key: row.entry for key, row in self.known.items()})
        others = {key: row.entry for key, row in self.known.items() if key not in current | self._keys}
        on_main = self._rows_in(main, wanted)
        asked = self._asked(state, {**wanted, **others})
        left = self._left(state, wanted, asked | on_main)
        published = {key: row.entry if key in current else row.earlier for key, row in self.known.items()}
        rows = {
            key: entry for key, entry in {**wanted, **others}.items() if key in asked or key in wanted.keys() - left
        }
        gone = self._withdrawn_rows(state, wanted)
        # Of rows with the same key columns that comes first which the table has, then which the bot wrote.
        there = {key: self.known[key].entry for key in current - self._keys} | rows
        first = sorted(there, key=lambda key: (key not in current | on_main, key not in self.known, key))
        changes = [RowChange(key, there[key], published.get(key)) for key in first]
        withdrawals = [RowChange(key, None, entry) for key, entry in sorted(gone.items())]
        draft = self.draft = self.layout.draft([*changes, *withdrawals], main)
        self.removed = {key: entry for key, entry in gone.items() if key in draft.cells}
        self.proposed, self.left = asked - on_main, left - on_main
        self._note(draft, {key: wanted[key] for key in wanted.keys() - left}, on_main, published)
        refused = draft.refused.keys()
        # It proposes all of this already, and only a lost record keeps it from a new draft.
        if state.request is not None and refused & asked and self._keys <= asked | on_main | refused:
            self.refused = {key: why for key, why in self.refused.items() if key not in asked}
            self.written = {}
            return DesiredState(state.request.text, state.request.files)
        standing = rows | {key: self.known[key].entry for key in current - self._keys}
        return self._desired(state, rows, {key: row for key, row in standing.items() if key in current | on_main})

    def _asked(self, state: CurrentState, rows: Mapping[str, Entry]) -> set[str]:
        """The rows that the open request proposes, and no maintainer declined."""
        proposed = state.request.files if state.request is not None else None
        return self._rows_over(state.files, proposed, rows) - self.declined

    def _left(self, state: CurrentState, wanted: Mapping[str, Entry], there: set[str]) -> set[str]:
        """The rows that people left out, by a command or by closing a request, unless they are `there` now."""
        closed = {key for files in state.declined for key in self._rows_over(state.files, files, wanted)}
        return closed - there | self._disputed_keys() | self.declined

    def _withdrawn_rows(self, state: CurrentState, wanted: Mapping[str, Entry]) -> dict[str, Entry]:
        """The rows to remove: those that are withdrawn now, and those that the open request removes already."""
        now = {key: self.known[key].entry for key in self.known.keys() & self._keys - wanted.keys()}
        earlier = {key: entry for key, entry in self.withdrawn.items() if key not in wanted}
        proposed = state.request.files if state.request is not None else None
        self.asked_away = self._rows_without(state.files, proposed, {**earlier, **now})
        return now | {key: entry for key, entry in earlier.items() if key in self.asked_away}

    def _desired(self, state: CurrentState, rows: Mapping[str, Entry], right: Mapping[str, Entry]) -> DesiredState:
        """The files and the text of the draft; `right` are rows that main has as they should be."""
        main, draft = state.files, self.draft
        changed = {key: entry for key, entry in rows.items() if key in draft.cells}
        there = {key: entry for key, entry in right.items() if entry_path(key) not in main}
        equal = {key: entry for key, entry in there.items() if key not in changed}
        kept = self._records({**changed, **equal}, main) if changed else {}
        remarks = [disputed_remark(look.entry, look.disputed) for look in self.looks if look.disputed and look.entry]
        steps = shared_steps(KEY_OF_TABLE, is_discussed=self.is_discussed) if self.form == "pull-request" else ""
        steps = f"{adopted_line(len(equal))}\n\n{steps}".rstrip() if kept and equal else steps
        text = table_text(draft, remarks, self.mark, steps, changed)
        text = with_places(text, self.places, self.mark, state.request)
        return DesiredState(text, {**main, **draft.files, **kept})

    def waiting(self, state: CurrentState) -> OpenRequests:
        """The effect of the open request on the rows on main. Call `at` before."""
        if state.request is None:
            return OpenRequests()
        cells = [self.draft.cells.get(key, ()) for key in self.proposed]
        added = sum(map(is_absent, cells))
        proposed = _over(state.files, state.request.files)
        removed = self.layout.count(state.files) + added - self.layout.count(proposed)
        return OpenRequests(1, added, len(cells) - added, max(0, removed))

    def _records(self, rows: Mapping[str, Entry], main: Files) -> dict[str, bytes]:
        """The entries of rows, and the declaration that they name, where the settings keep them."""
        if self.declaration is None:
            return {}
        files = {entry_path(key): entry.to_bytes() for key, entry in rows.items()}
        path = declaration_path(self.declaration.digest)
        if path not in main:
            files[path] = self.declaration.text.encode()
        return {path: main[path] if is_same_row(main.get(path), data) else data for path, data in files.items()}

    @property
    def _keys(self) -> set[str]:
        return {look.key for look in self.looks}

    def _rows_in(self, files: Files, rows: Mapping[str, Entry]) -> set[str]:
        """The rows that the files hold exactly as given."""
        draft = self.layout.draft([RowChange(key, entry, entry) for key, entry in sorted(rows.items())], files)
        return rows.keys() - draft.cells.keys() - draft.refused.keys()

    def _rows_over(
        self, main: Files, changed: Mapping[str, bytes | None] | None, rows: Mapping[str, Entry]
    ) -> set[str]:
        """The rows that the files of a request hold; none where there is no request."""
        return set() if changed is None else self._rows_in(_over(main, changed), rows)

    def _rows_without(
        self, main: Files, changed: Mapping[str, bytes | None] | None, rows: Mapping[str, Entry]
    ) -> set[str]:
        """The rows of main that a request removes; none where there is no request."""
        if changed is None or not rows:
            return set()
        removals = [RowChange(key, None, entry) for key, entry in sorted(rows.items())]
        there, left = (self.layout.draft(removals, files) for files in (main, _over(main, changed)))
        return there.cells.keys() - left.cells.keys() - left.refused.keys()

    def _disputed_keys(self) -> set[str]:
        """The rows of other first submitters, where the form is one without review."""
        return {look.key for look in self.looks if look.disputed and self.form == "commit"}

    def _note(
        self, draft: Draft, written: Mapping[str, Entry], on_main: set[str], published: Mapping[str, Entry | None]
    ) -> None:
        """Note how each row ends."""
        withdrawn = {look.key for look in self.looks if look.entry is None}
        self.refused = {key: why for key, why in draft.refused.items() if key in self._keys}
        for look in self.looks:
            if look.key in self._disputed_keys():
                self.refused[look.key] = f"first submitted in {look.disputed} by other files; a person has to decide"
        self.written = {
            key: WrittenRow(entry, entry if key in on_main else published.get(key))
            for key, entry in written.items()
            if key not in draft.refused
        }
        self.gone = withdrawn - draft.refused.keys()


def _over(main: Files, changed: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The files after the merge of a request: those of main with its changes."""
    return {path: data for path, data in {**main, **changed}.items() if data is not None}


@dataclass
class TableRows(SubmittedRows[PlannedLook]):
    """The rows of one watch in one table.

    What would change is read from main: the record of what the bot wrote last only says which rows are its own.
    `count` is the number of rows of the table; of the last look, `seen` is the table with its state, and `proposed` are
    the keys of the open request.
    """

    known: dict[str, WrittenRow] = field(default_factory=dict)
    count: int = 0
    proposed: AbstractSet[str] = frozenset()
    seen: tuple[DesiredTable, CurrentState] | None = None

    def look(self, items: Sequence[Item]) -> list[PlannedLook]:
        """The rows, each with the cells that would change."""
        self.known = self._written(self.settings.to)
        self.known |= self._recorded([item.subject for item in items if item.subject not in self.known])
        rows = self.compare(items)
        table = self._table(rows, self.declined(rows))
        state = self.target.read_state(self._mark, self._paths(table))
        table.at(state)
        self.proposed, self.refused, self.seen = table.proposed, table.refused, (table, state)
        waits = table.proposed | table.asked_away
        shown = {key: cells for key, cells in table.draft.cells.items() if key not in waits}
        gone = self.context.state.cursors("gone", target=self.settings.to)
        planned = [planned_cells(row, shown.get(row.key, ()), GoneRow.parse(gone.get(row.key))) for row in rows]
        taken = sum(one.action == "restored" for one in planned)
        self.count = max(len(self.known) - taken, table.layout.count(state.files))
        return [PlannedLook(row.item, one, row.entry, row.disputed) for row, one in zip(rows, planned, strict=True)]

    def observe(self) -> None:
        """Keep which of the written rows are in the table, and mark those that people changed there or removed."""
        state, to, head = self.context.state, self.settings.to, self.target.head()
        kept = state.cursor("table", target=to)
        if kept == head:
            return
        written = self._written(to)
        draft = self._drafted(written)
        gone = {key for key, cells in draft.cells.items() if is_absent(cells)}
        digests = {key: digest_of(row.entry) for key, row in written.items()}
        there = {
            key: "" if key in draft.cells or key in draft.refused else digests[key] for key in written.keys() - gone
        }
        earlier = {key: digest_of(row.earlier) for key, row in written.items() if row.earlier is not None}
        known = {key: digests[key] for key, digest in earlier.items() if digest == digests[key]}
        merged = {
            key: (written[key].entry.to_bytes(),) * 2 for key, digest in there.items() if digest and key not in known
        }
        with state.transaction():
            mark_moved(self.context, self.target, to, known, there, since=kept or "")
            state.published.keep(to, merged)
            state.set_cursor("table", head, target=to)

    def _drafted(self, written: Mapping[str, WrittenRow]) -> Draft:
        """The changes that the table would need to have rows as they were written."""
        layout = self._layout()
        rows = [RowChange(key, row.entry, row.entry) for key, row in sorted(written.items())]
        return layout.draft(rows, self.target.read_files(files_of(layout, self.target, rows)))

    def places(self, accepted: Mapping[str, str]) -> dict[str, Place]:
        """Which rows the table has, which the open request proposes, and which people left out."""
        name, to = self.context.name, self.settings.to
        looks = self.look([Item(name, "row", to, key) for key in sorted(accepted)])
        there = {look.key for look in looks if look.planned.action == "unchanged"} - self.refused.keys()
        left: AbstractSet[str] = frozenset()
        if self.seen is not None:  # it reads the whole table twice more, so not in every look
            table, state = self.seen
            left = table.left & there
            self.waiting = table.waiting(state)
            is_over = state.request is not None and not table.proposed and not table.asked_away
            self.moot = sorted(there)[:1] if is_over else ()
        return {key: "declined" if key in left else "open" if key in self.proposed else "main" for key in there}

    def standing(self, key: str) -> tuple[Entry | None, bool, CurrentState]:
        """The entry that was written last; whether it was merged is not known here."""
        return self.known[key].entry if key in self.known else None, False, CurrentState()

    def size(self) -> int:
        """The number of rows of the table."""
        return self.count

    def entries(self) -> list[Entry]:
        """The rows that were written."""
        return [row.entry for row in self.known.values()]

    def proposals(self, admitted: Sequence[PlannedLook]) -> Iterator[Proposal]:
        """All rows at once."""
        if not admitted:
            return
        table = self._table(admitted, self.declined(admitted))
        yield Proposal(
            [look.item for look in admitted],
            self.target,
            self._mark,
            self._paths(table),
            table.at,
            self.settings.form,
            lambda _: self._note(table),
        )

    def _layout(self) -> Layout:
        if self.settings.table is None:
            raise CallError(f"{self.settings.to}: there are no settings of a table")
        return table_layout(self.settings.table, self.context.leaderboard)

    def _table(self, looks: Sequence[RowLook | PlannedLook], declined: AbstractSet[str]) -> DesiredTable:
        declared = self.context.leaderboard if self._keeps_records else None
        places = self.context.other_places(self.settings.to)
        layout, form = self._layout(), self.settings.form
        is_discussed = self.target.comments is not None
        withdrawn = {key: row.entry for key, row in self._written(self._asked_away).items()}
        return DesiredTable(
            layout, self._mark, form, looks, self.known, withdrawn, declined, declared, places, is_discussed
        )

    @property
    def _mark(self) -> Marker:
        return rolling_mark(self.context.leaderboard.id)

    def _written(self, name: str) -> dict[str, WrittenRow]:
        """The rows that the state keeps under a name as written there."""
        found = self.context.state.published.at(name)
        return {
            key: WrittenRow(parse_entry(entry, key), None if earlier is None else parse_entry(earlier, key))
            for key, (entry, earlier) in found.items()
        }

    @property
    def _asked_away(self) -> str:
        """The name under which the state keeps the rows that the open request removes."""
        return f"removals {self.settings.to}"

    @property
    def _keeps_records(self) -> bool:
        return self.settings.table is not None and self.settings.table.records

    def _recorded(self, keys: Sequence[str]) -> dict[str, WrittenRow]:
        """The rows that the state does not know as written, from the records beside the table."""
        if not self._keeps_records or not keys:
            return {}
        paths = {entry_path(key): key for key in keys}
        files = self.target.read_state(self._mark, tuple(paths)).files
        found = {paths[path]: parsed(data) for path, data in files.items()}
        return {key: WrittenRow(entry) for key, entry in found.items() if entry is not None}

    def _paths(self, table: DesiredTable) -> tuple[str, ...]:
        """The files of the rows that are looked at, and of those that were written; and those beside the table."""
        wanted = {key: row.entry for key, row in self.known.items()} | {look.key: look.entry for look in table.looks}
        current = {key: row.entry for key, row in self.known.items()}
        changes = [RowChange(key, entry, current.get(key)) for key, entry in sorted(wanted.items())]
        changes += [RowChange(key, None, entry) for key, entry in sorted(table.withdrawn.items())]
        paths = files_of(table.layout, self.target, changes)
        if not self._keeps_records:
            return paths
        records = (entry_path(change.key) for change in changes)
        return (*paths, declaration_path(self.context.leaderboard.digest), *records)

    def _note(self, table: DesiredTable) -> str:
        """Report the rows that cannot be written, and remember the others."""
        items = {look.key: item for look in table.looks for item in look.items}
        for key, why in sorted(table.refused.items()):
            self.report.refuse(items[key], why)
        if not self.context.dry_run:
            self._remember(table)
        return ""

    def _remember(self, table: DesiredTable) -> None:
        state, to = self.context.state, self.settings.to
        rows = {
            key: (row.entry.to_bytes(), None if row.earlier is None else row.earlier.to_bytes())
            for key, row in table.written.items()
        }
        with state.transaction():
            state.published.keep(to, rows)
            state.published.forget(to, table.gone)
            state.published.forget(self._asked_away, table.withdrawn.keys() - table.removed.keys())
            state.published.keep(self._asked_away, {key: (row.to_bytes(), None) for key, row in table.removed.items()})


def files_of(layout: Layout, target: Target, changes: Sequence[RowChange]) -> tuple[str, ...]:
    """The files of a target that a layout reads for these rows."""
    listed = [path for folder in layout.folders(changes) for path in target.list_folder(folder)]
    return layout.paths(changes, listed)
