"""Compute the desired rows of a table from its current rows, the open request and the declined rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from bot.evaluation.leaderboard import Leaderboard
from bot.pages.addresses import evidence_links
from bot.publishing.card import declaration_path
from bot.publishing.entry import Entry, entry_path, is_same_row
from bot.publishing.layout import Draft, Layout, RowChange
from bot.publishing.publication import CurrentState, Form, Marker
from bot.publishing.tables.texts import contested_remark, table_text
from bot.publishing.texts import with_places
from bot.service.reconcile import DesiredState
from bot.service.row_looks import RowLook

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """The cells of a row that the bot wrote last, and the cells that were there before."""

    entry: Entry
    earlier: Entry | None = None


@dataclass
class DesiredTable:
    """One table and the rows that are brought in step.

    `known` is the record of what was written, `declined` the keys of rows that a maintainer left out. Where
    `declaration` is given, it and the entries of rows that change are kept beside the table. `places` are links to the
    other targets. After `at`, `refused` has the reasons for rows that cannot be written, `written` what the record
    should say then, and `gone` the keys that it should forget.
    """

    layout: Layout
    mark: Marker
    form: Form
    looks: Sequence[RowLook]
    known: Mapping[str, WrittenRow]
    declined: AbstractSet[str] = frozenset()
    declaration: Leaderboard | None = None
    places: Sequence[str] = ()
    refused: dict[str, str] = field(default_factory=dict)
    written: dict[str, WrittenRow] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def at(self, state: CurrentState) -> DesiredState:
        """The files with these rows, and with those that the open request proposes already."""
        main = state.files
        standing = self._rows_in(main, {key: row.entry for key, row in self.known.items()})
        published = {key: row.entry if key in standing else row.earlier for key, row in self.known.items()}
        wanted = {look.key: look.entry for look in self.looks if look.entry is not None}
        touched = standing | self._keys
        others = {key: row.entry for key, row in self.known.items() if key not in touched}
        asked = self._proposed(state, {**wanted, **others}) - self.declined
        on_main = self._rows_in(main, wanted)
        left = self._declined(state, wanted) - asked - on_main | self._contested_keys() | self.declined
        chosen = asked | (wanted.keys() - left)
        rows = {key: entry for key, entry in {**wanted, **others}.items() if key in chosen}
        changes = [_change(key, entry, published.get(key)) for key, entry in sorted(rows.items())]
        draft = self.layout.draft([*changes, *self._withdrawals()], main)
        self._note(draft, {key: wanted[key] for key in wanted.keys() - left}, on_main, published)
        if state.request is not None and self._only_repeats(draft, asked, on_main):
            self.refused, self.written = {}, {}
            return DesiredState(state.request.text, state.request.files)
        kept = self._records(draft, rows, main)
        text = with_places(table_text(draft, self._remarks(), self.mark), self.places, self.mark)
        return DesiredState(text, {**main, **draft.files, **kept})

    def _records(self, draft: Draft, rows: Mapping[str, Entry], main: Files) -> dict[str, bytes]:
        """The entries of rows that the draft changes, and the declaration that they name."""
        changed = {key: entry for key, entry in rows.items() if key in draft.cells}
        if self.declaration is None or not changed:
            return {}
        files = {entry_path(key): entry.to_bytes() for key, entry in changed.items()}
        path = declaration_path(self.declaration.digest)
        if self.declaration.text and path not in main:
            files[path] = self.declaration.text.encode()
        return {path: main[path] if is_same_row(main.get(path), data) else data for path, data in files.items()}

    def _withdrawals(self) -> list[RowChange]:
        """The rows that the source has no longer, as they were written last; of others there is nothing to say."""
        gone = [look.key for look in self.looks if look.entry is None and look.key in self.known]
        return [_change(key, None, self.known[key].entry) for key in sorted(gone)]

    @property
    def _keys(self) -> set[str]:
        return {look.key for look in self.looks}

    def _rows_in(self, files: Files, rows: Mapping[str, Entry]) -> set[str]:
        """Which of these rows the files have exactly so."""
        draft = self.layout.draft([_change(key, entry, entry) for key, entry in sorted(rows.items())], files)
        return rows.keys() - draft.cells.keys() - draft.refused.keys()

    def _proposed(self, state: CurrentState, rows: Mapping[str, Entry]) -> set[str]:
        """Which of these rows the open request proposes."""
        return set() if state.request is None else self._rows_in(_over(state.files, state.request.files), rows)

    def _declined(self, state: CurrentState, rows: Mapping[str, Entry]) -> set[str]:
        """Which of these rows a person declined with the request that had them."""
        return set() if state.declined is None else self._rows_in(_over(state.files, state.declined), rows)

    def _contested_keys(self) -> set[str]:
        """The rows that nobody would review, although another folder submitted them first."""
        return {look.key for look in self.looks if look.contested and self.form == "commit"}

    def _remarks(self) -> list[str]:
        return [contested_remark(look.entry, look.contested) for look in self.looks if look.contested and look.entry]

    def _only_repeats(self, draft: Draft, asked: set[str], on_main: set[str]) -> bool:
        """Tell whether the request proposes all of this already, and only a lost record keeps it from a new draft."""
        refused = draft.refused.keys()
        return bool(refused & asked) and {look.key for look in self.looks} <= asked | on_main | refused

    def _note(
        self, draft: Draft, written: Mapping[str, Entry], on_main: set[str], published: Mapping[str, Entry | None]
    ) -> None:
        """Note how each row ends."""
        withdrawn = {look.key for look in self.looks if look.entry is None}
        self.refused = {key: why for key, why in draft.refused.items() if key in self._keys}
        for look in self.looks:
            if look.key in self._contested_keys():
                self.refused[look.key] = f"first submitted in {look.contested} by other files; a person has to decide"
        self.written = {
            key: WrittenRow(entry, entry if key in on_main else published.get(key))
            for key, entry in written.items()
            if key not in draft.refused
        }
        self.gone = withdrawn - draft.refused.keys()


def _over(main: Files, changed: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The files of a request: those of main, but for what it changes."""
    return {path: data for path, data in {**main, **changed}.items() if data is not None}


def _change(key: str, entry: Entry | None, published: Entry | None) -> RowChange:
    return RowChange(key, entry, published, evidence_links(entry), evidence_links(published))
