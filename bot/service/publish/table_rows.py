"""Rows of tables that people keep: one request for all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from bot.errors import CallError
from bot.evaluation.finding import examples
from bot.evaluation.row_key import RowKey, model_folder
from bot.platforms.target import Target
from bot.publishing.decisions import Place, RowDecision, status_of, taken_why
from bot.publishing.entries import parsed
from bot.publishing.entry import Entry, declaration_path, digest_of, entry_path, parse_entry
from bot.publishing.layout import CellChange, Draft, Layout, RowChange, is_absent
from bot.publishing.plan import PlannedRow, RowAction
from bot.publishing.publication import CurrentState, DesiredState, Marker, rolling_mark
from bot.publishing.row_requests import EDITED
from bot.publishing.tables.desired import DesiredTable, WantedTable, WrittenRow, desired_table, effect_of
from bot.publishing.tables.table_layout import TableLayout, table_layout
from bot.publishing.texts import below_text, renamed_text
from bot.service.context import target_link
from bot.service.publish.gate import Look
from bot.service.publish.ledger import OpenRequests, observe_rows
from bot.service.publish.made_rows import MadeRow, RowMaker
from bot.service.publish.publisher import FoundRow, PlacedRows, Proposal, TargetRows
from bot.service.store.items import Item, marks
from bot.service.store.memory import TABLE

FOREIGN = "its cells differ from what files and mapping give"


def planned_cells(
    look: MadeRow, cells: Sequence[CellChange], decided: Sequence[RowDecision], refused: str = ""
) -> PlannedRow:
    """The planned change of a row of a table, by the cells that change on main.

    `decided` may say that it was taken, `refused` why the table cannot have it.
    """
    action: RowAction = "changed"
    taken = taken_why(decided, digest_of(look.entry)) if look.entry is not None else ""
    if not cells:
        action = "unchanged"
    elif is_absent(cells):
        action = "restored" if taken else "added"
    known = look.entry or look.before
    shown = ", ".join(f"{cell.column} {cell.before or '–'} → {cell.after or '–'}" for cell in cells)
    if action == "changed" and look.entry is not None:
        shown += f"; from {examples([one.path for one in look.entry.evidence])}"
    reason = FOREIGN if look.reason in {"", EDITED} else look.reason  # the settings may show the same row otherwise
    reason = reason if action == "changed" else ""
    reason = taken if action == "restored" else reason or refused
    digest = hashlib.sha256(repr([(cell.column, cell.before, cell.after) for cell in cells]).encode()).hexdigest()
    return PlannedRow(look.key, known.model.id if known else "", action, reason=reason, digest=digest, values=shown)


@dataclass
class TableRows(TargetRows[str]):
    """The rows of one watch in one table. What a look has besides is the folder of another first submitter.

    What would change is read from main: the record of what the bot wrote last only says which rows are its own.
    `count` is the number of rows of the table; `seen` is the table of the last look, with its state.
    """

    layout: ClassVar[type[Layout]] = TableLayout  # type: ignore[type-abstract]  # its format says which
    known: dict[str, WrittenRow] = field(default_factory=dict)
    count: int = 0
    seen: tuple[WantedTable, DesiredTable, CurrentState] | None = None

    def look(self, items: Sequence[Item]) -> list[Look[str]]:
        """The rows, each with the cells that would change."""
        self.known = self._written(self.settings.to)
        self.known |= self._recorded([item.subject for item in items if item.subject not in self.known])
        made = RowMaker(self.context, self.report, self._standing, self.why).make(items)
        rows = [one if self._is_wanted(one.key) else replace(one, entry=None) for one in made]
        wanted = self._wanted({row.key: (row.entry, row.disputed) for row in rows})
        read = self.target.read_state(self._mark, self._paths(wanted))
        state = self.with_closed(self.target, read, lambda: [wanted.row_mark(*one) for one in wanted.entries.items()])
        table = desired_table(wanted, state)
        self.seen = wanted, table, state
        shown = {key: cells for key, cells in table.draft.cells.items() if key not in table.proposed}
        decided = self.context.state.decided(self.settings.to)
        why = {**dict.fromkeys(table.draft.below, below_text(1)), **table.refused}
        planned = [
            planned_cells(row, shown.get(row.key, ()), decided.get(row.key, ()), why.get(row.key, "")) for row in rows
        ]
        taken = sum(one.action == "restored" for one in planned)
        self.count = max(len(self.known) - taken, wanted.layout.count(state.files))
        return [Look(one, (row.item,), row.entry, row.disputed) for row, one in zip(rows, planned, strict=True)]

    def accepted(self) -> dict[str, str]:
        """The accepted rows but for those of models that get no row here."""
        return {key: digest for key, digest in super().accepted().items() if self._is_wanted(key)}

    def _is_wanted(self, key: str) -> bool:
        return model_folder(key) not in self._without

    @cached_property
    def _without(self) -> dict[str, str]:
        """The models that get no row here, by how their keys begin."""
        models = self.settings.table.without if self.settings.table is not None else ()
        return {model_folder(RowKey(self.context.leaderboard.id, one, "", "", False).text): one for one in models}  # noqa: FBT003

    def observe(self) -> None:
        """Keep which of the written rows are in the table, and mark those that people changed there or removed.

        Where rows are proposed and no open request merges, the rows that are not in the table are marked, too.
        """
        state, to, head = self.context.state, self.settings.to, self.target.head()
        kept = state.recall(TABLE, target=to)
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
        is_proposing = self.settings.form == "pull-request"
        request = self.target.read_state(self._mark, ()).request if is_proposing else None
        is_blocked = is_proposing and (request is None or bool(request.conflicts))
        with state.transaction():
            observe_rows(self.context, self.target, to, known, there, since=kept or "")
            if is_blocked:
                self.context.mark(marks("row", sorted(written.keys() - known.keys()), [to]))
            state.published.keep(to, merged)
            state.remember(TABLE, head, target=to)

    def _drafted(self, written: Mapping[str, WrittenRow]) -> Draft:
        """The changes that the table would need to have rows as they were written."""
        layout = self._layout()
        # A row that waits for the merge of a change is found by what was there before.
        rows = [RowChange(key, row.entry, row.earlier or row.entry) for key, row in sorted(written.items())]
        return layout.draft(rows, self.target.read_files(files_of(layout, self.target, rows)))

    def places(self, accepted: Mapping[str, str]) -> PlacedRows:
        """Which rows the table has, which the open request proposes, and which people left out."""
        name, to = self.context.name, self.settings.to
        looks = self.look([Item(name, "row", to, key) for key in sorted(accepted)])
        if self.seen is None:
            return PlacedRows({})
        wanted, table, state = self.seen
        below = set(table.draft.below)
        there = {look.key for look in looks if look.planned.action == "unchanged"} - table.refused.keys() - below
        places: dict[str, Place] = dict.fromkeys(there, "main")
        places |= dict.fromkeys(there & table.proposed, "open")
        places |= dict.fromkeys(there & table.left, "declined")
        requests = OpenRequests(int(state.request is not None), *effect_of(wanted, table, state))
        moot = sorted(there)[:1] if state.request is not None and not table.proposed else ()
        notes = [renamed_text(*one) for one in sorted(table.draft.renamed.items())]
        notes += [below_text(len(below))] if below else []
        return PlacedRows(places, table.refused, requests, moot, [*notes, *self._without_a_row()], below)

    def _without_a_row(self) -> Iterator[str]:
        """Say which names of `without` are those of no accepted row."""
        folders = {model_folder(key) for key in super().accepted()}
        if idle := [name for folder, name in self._without.items() if folder not in folders]:
            yield f"`without` names {examples(idle)}, and no accepted row is of such a model"

    def find(self, rows: Mapping[str, str]) -> dict[str, FoundRow]:
        """Where a few rows are, with the one request of the table where that proposes the row."""
        placed, state = self.places(rows), self.seen[2] if self.seen is not None else CurrentState()
        name, link = self.target.name, target_link(self.settings)
        return {
            key: FoundRow(place, state.request if place == "open" else None, name, link)
            for key, place in placed.places.items()
        }

    def _standing(self, key: str) -> tuple[Entry | None, CurrentState]:
        """The entry that was written last."""
        return self.known[key].entry if key in self.known else None, CurrentState()

    def size(self) -> int:
        return self.count

    def entries(self) -> list[Entry]:
        """The rows that were written."""
        return [row.entry for row in self.known.values()]

    def proposals(self, admitted: Sequence[Look[str]]) -> Iterator[Proposal]:
        """All rows at once."""
        if not admitted:
            return
        wanted = self._wanted({look.key: (look.entry, look.seen) for look in admitted})
        items = [item for look in admitted for item in look.items]
        found: list[DesiredTable] = []

        def desire(state: CurrentState) -> DesiredState:
            found[:] = [desired_table(wanted, state)]
            return found[0].desired

        form, paths = self.settings.form, self._paths(wanted)
        yield Proposal(items, self.target, self._mark, paths, desire, form, lambda _: self._note(items, found[0]))

    def _layout(self, others: Sequence[Entry] = ()) -> TableLayout:
        if self.settings.table is None:
            raise CallError(f"{self.settings.to}: there are no settings of a table")
        return table_layout(self.settings.table, self.context.leaderboard, others)

    def _wanted(self, rows: Mapping[str, tuple[Entry | None, str]]) -> WantedTable:
        """What is wanted of these rows, each with the folder of another first submitter, "" where there is none."""
        known = self.context.state.decided(self.settings.to)
        digests = {key: digest_of(entry) for key, (entry, _) in rows.items() if entry is not None and key in known}
        statuses = {key: status_of(digest, None, known[key]) for key, digest in digests.items()}
        others = {row.entry.key: row.entry for row in self.known.values()}
        others |= {key: entry for key, (entry, _) in rows.items() if entry is not None}
        return WantedTable(
            self._layout([*others.values()]),
            self._mark,
            self.settings.form,
            {key: entry for key, (entry, _) in rows.items()},
            self.known,
            {key: folder for key, (_, folder) in rows.items() if folder},
            {key for key, status in statuses.items() if status.fate == "declined"},
            self.context.leaderboard if self._keeps_records else None,
            self.context.notes_at(self.settings.to),
            is_discussed=self.target.comments is not None,
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

    def _paths(self, wanted: WantedTable) -> tuple[str, ...]:
        """The files of the rows that are looked at, and of those that were written; and those beside the table."""
        current = {key: row.entry for key, row in self.known.items()}
        rows = {**current, **wanted.rows}
        changes = [RowChange(key, entry, current.get(key)) for key, entry in sorted(rows.items())]
        paths = files_of(wanted.layout, self.target, changes)
        if not self._keeps_records:
            return paths
        records = (entry_path(change.key) for change in changes)
        return (*paths, declaration_path(self.context.leaderboard.digest), *records)

    def _note(self, items: Sequence[Item], table: DesiredTable) -> str:
        """Report the rows that cannot be written, and remember the others."""
        by_key = {item.subject: item for item in items}
        for key, why in sorted(table.refused.items()):
            self.report.refuse(by_key[key], why)
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


def files_of(layout: TableLayout, target: Target, changes: Sequence[RowChange]) -> tuple[str, ...]:
    """The files of a target that a layout reads for these rows."""
    listed = [path for folder in layout.folders(changes) for path in target.list_folder(folder)]
    return layout.paths(changes, listed)
