"""What a table should hold, and the text that says so: one function of what is wanted and of what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry, declaration_path, entry_path, is_same_row
from bot.publishing.layout import Draft, RowChange, is_absent
from bot.publishing.publication import CurrentState, DesiredState, Form, Marker, row_mark
from bot.publishing.tables.table_layout import TableLayout
from bot.publishing.texts import (
    KEY_OF_TABLE,
    adopted_line,
    disputed_remark,
    renamed_text,
    shared_steps,
    table_text,
    with_notes,
)

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """The cells of a row that the bot wrote last, and the cells that were there before."""

    entry: Entry
    earlier: Entry | None = None


@dataclass(frozen=True)
class WantedTable:
    """What is wanted of a table, whatever it holds.

    `rows` are the rows that are looked at, None for one that was withdrawn, and `known` is the record of what the bot
    wrote. `disputed` has, by key, the folder of another first submitter, and `declined` are the keys of rows that a
    maintainer left out. Where `declaration` is given, it and the entries of rows are kept beside the table: of those
    that change, and with them of those that the table has already. `notes` are sentences about the watch,
    `is_discussed` says that people can comment there.
    """

    layout: TableLayout
    mark: Marker
    form: Form
    rows: Mapping[str, Entry | None]
    known: Mapping[str, WrittenRow]
    disputed: Mapping[str, str] = field(default_factory=dict)
    declined: AbstractSet[str] = frozenset()
    declaration: Leaderboard | None = None
    notes: Sequence[str] = ()
    is_discussed: bool = False

    @property
    def entries(self) -> dict[str, Entry]:
        """The rows that the table should have, of those that are looked at."""
        return {key: entry for key, entry in self.rows.items() if entry is not None}

    def row_mark(self, key: str, entry: Entry) -> str:
        """The mark of a row with what the table shows of it."""
        return row_mark(key, self.layout.digest(entry))

    def rows_in(self, files: Files, rows: Mapping[str, Entry]) -> set[str]:
        """The rows that the files hold exactly as given, also where others have the same key columns."""
        found, left = set[str](), dict(rows)
        while left:
            draft = self.layout.draft([RowChange(key, entry, entry) for key, entry in sorted(left.items())], files)
            found |= left.keys() - draft.cells.keys() - draft.refused.keys()
            again = {key: left[key] for key in draft.refused.keys() & left.keys()}
            left = again if len(again) < len(left) else {}
        return found


@dataclass(frozen=True)
class DesiredTable:
    """What a table should be: the files and the text, and what becomes of each row that is looked at.

    `draft` has the files against main. `proposed` are the rows that the open request proposes already and main lacks,
    `left` those that people left out and main lacks, and `refused` has the reasons for those that cannot be written.
    `written` is what the record of the bot says once this is done, `gone` are the keys that it then forgets.
    """

    desired: DesiredState
    draft: Draft
    proposed: AbstractSet[str]
    left: AbstractSet[str]
    refused: Mapping[str, str]
    written: Mapping[str, WrittenRow]
    gone: AbstractSet[str]


def desired_table(wanted: WantedTable, state: CurrentState) -> DesiredTable:
    """The table with the wanted rows, and with those that the open request proposes already."""
    main, known, layout, rows = state.files, wanted.known, wanted.layout, wanted.entries
    current = wanted.rows_in(main, {key: row.entry for key, row in known.items()})
    others = {key: row.entry for key, row in known.items() if key not in current | wanted.rows.keys()}
    on_main = wanted.rows_in(main, rows)
    request = state.request
    merged = {} if request is None else _over(main, request.files)
    asked = wanted.rows_in(merged, {**rows, **others}) - wanted.declined if state.request is not None else set()
    disputed = wanted.disputed.keys() if wanted.form == "commit" else set()  # a commit nobody reviews
    closed = {key for key, entry in rows.items() if state.has_declined(wanted.row_mark(key, entry))}
    left = (closed - asked - on_main) | disputed | wanted.declined

    # Of rows with the same key columns that comes first which the table has, then which the bot wrote.
    published = {key: row.entry if key in current else row.earlier for key, row in known.items()}
    standing = {key: known[key].entry for key in current - wanted.rows.keys()}
    going = {key: entry for key, entry in {**rows, **others}.items() if key in asked or key in rows.keys() - left}
    there = {**standing, **going}
    order = sorted(there, key=lambda key: (key not in current | on_main, key not in known, key))
    gone = sorted(key for key in known.keys() & wanted.rows.keys() if key not in rows)
    changes = [RowChange(key, there[key], published.get(key)) for key in order]
    changes += [RowChange(key, None, known[key].entry) for key in gone]
    draft = layout.draft(changes, main)
    # Edits of people in the open request stay, unless a row leaves it: their rows are edited there.
    is_kept = request is not None and bool(request.pushes) and not request.conflicts and bool(draft.files)
    is_kept &= known.keys() - current <= going.keys()
    is_kept &= layout.count(merged) == layout.count(main) + sum(map(is_absent, draft.cells.values()))
    of_request = [replace(one, published=known[one.key].entry) if one.key in known else one for one in changes]
    edited = layout.draft(of_request, merged) if is_kept else None
    if edited is not None and edited.refused.keys() <= draft.refused.keys():
        new = _over(merged, edited.files)
        draft = replace(
            _with_names(draft, edited.renamed),
            files={path: new[path] for path in draft.files},
            remarks=layout.remarks_on(changes, main, new),
        )

    refused = {key: why for key, why in draft.refused.items() if key in wanted.rows}
    refused |= {
        key: f"first submitted in {folder} by other files; a person has to decide"
        for key, folder in wanted.disputed.items()
        if key in disputed
    }
    proposes = draft.refused.keys()
    # The request proposes all of this already, and only a lost record keeps it from a new draft.
    if state.request is not None and proposes & asked and wanted.rows.keys() <= asked | on_main | proposes:
        desired = DesiredState(state.request.text, state.request.files, stays=True)
        refused, written = {key: why for key, why in refused.items() if key not in asked}, {}
    else:
        right = {key: entry for key, entry in there.items() if key in (current | on_main).difference(draft.below)}
        desired = _drafted(wanted, state, draft, going, right)
        written = {
            key: WrittenRow(entry, entry if key in on_main else published.get(key))
            for key, entry in rows.items()
            if key not in left and key not in draft.refused and key not in draft.below
        }
    withdrawn = (wanted.rows.keys() - rows.keys()) - draft.refused.keys()
    return DesiredTable(desired, draft, asked - on_main, left - on_main, refused, written, withdrawn)


def _with_names(draft: Draft, renamed: Mapping[str, Mapping[str, str]]) -> Draft:
    """A draft that shows the names that people gave to its rows."""
    cells = {
        key: tuple(replace(one, after=renamed.get(key, {}).get(one.column, one.after)) for one in cells)
        for key, cells in draft.cells.items()
    }
    return replace(draft, cells=cells, renamed={**draft.renamed, **renamed})


def _over(main: Files, changed: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The files after the merge of a request: those of main with its changes."""
    return {path: data for path, data in {**main, **changed}.items() if data is not None}


def _drafted(
    wanted: WantedTable, state: CurrentState, draft: Draft, rows: Mapping[str, Entry], right: Mapping[str, Entry]
) -> DesiredState:
    """The files and the text of a draft; `right` are rows that main has as they should be."""
    main = state.files
    changed = {key: entry for key, entry in rows.items() if key in draft.cells}
    equal = {key: one for key, one in right.items() if entry_path(key) not in main and key not in changed}
    kept = _records(wanted.declaration, {**changed, **equal}, main) if changed else {}
    remarks = [
        disputed_remark(one, wanted.disputed[key]) for key, one in wanted.entries.items() if key in wanted.disputed
    ]
    remarks += [f"- {renamed_text(key, names)}" for key, names in sorted(draft.renamed.items()) if key in changed]
    mark, steps = wanted.mark, ""
    if wanted.form == "pull-request":
        mark = mark.about({wanted.row_mark(key, entry) for key, entry in changed.items()})
        steps = shared_steps(KEY_OF_TABLE, is_discussed=wanted.is_discussed)
    if kept and equal:
        steps = f"{adopted_line(len(equal))}\n\n{steps}".rstrip()
    text = with_notes(table_text(draft, remarks, mark, steps, changed), wanted.notes, state.request)
    return DesiredState(text, {**main, **draft.files, **kept})


def _records(declaration: Leaderboard | None, rows: Mapping[str, Entry], main: Files) -> dict[str, bytes]:
    """The entries of rows, and the declaration that they name, where the settings keep them."""
    if declaration is None:
        return {}
    files = {entry_path(key): entry.to_bytes() for key, entry in rows.items()}
    path = declaration_path(declaration.digest)
    if path not in main:
        files[path] = declaration.text.encode()
    return {path: main[path] if is_same_row(main.get(path), data) else data for path, data in files.items()}


def effect_of(wanted: WantedTable, found: DesiredTable, state: CurrentState) -> tuple[int, int, int]:
    """How many rows the open request adds to main, changes, and removes there."""
    if state.request is None:
        return 0, 0, 0
    cells = [found.draft.cells.get(key, ()) for key in found.proposed]
    added, layout = sum(map(is_absent, cells)), wanted.layout
    removed = layout.count(state.files) + added - layout.count(_over(state.files, state.request.files))
    return added, len(cells) - added, max(0, removed)
