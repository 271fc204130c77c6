"""Entries as files of a target: what a row, or the rows of a shared request, should be, and the text that says so.

`EntryLayout` says how rows lie in files. A row in a request, commit or comment of its own is a `DesiredRow`;
`desired_together` is for the rows that share one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from bot.errors import MalformedEntry
from bot.publishing.entry import FOLDER, Entry, choose, digest_of, entry_path, is_same_row, parse_entry
from bot.publishing.layout import Draft, RowChange, Sharing
from bot.publishing.plan import planned_row
from bot.publishing.publication import (
    MOST_MARKED,
    CurrentState,
    DesiredState,
    Form,
    Marker,
    PostText,
    entry_in,
    file_marks,
    row_mark,
    says,
)
from bot.publishing.repeat import label_of
from bot.publishing.texts import (
    migration_text,
    rank_line,
    rank_line_in,
    request_text,
    rolling_text,
    row_text,
    says_withdrawn,
    shared_steps,
    with_notes,
    withdrawn_text,
)
from bot.reporting.escape import code

Why = Callable[[Entry, Entry | None], str]


def parsed(data: bytes | None) -> Entry | None:
    """The entry in a file; None for a file that holds no entry, and is then overwritten."""
    try:
        return parse_entry(data) if data is not None else None
    except MalformedEntry:
        return None


@dataclass(frozen=True)
class EntryLayout:
    """Each row is a JSON file of its own, and what the bot wrote is known by the source that its evidence names.

    `source` is "" for the rows of one call, which compete with the row at the target, whoever published it.
    """

    source: str
    sharing: ClassVar[Sharing] = "row"

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The files of the rows that change. What another source published goes only for a row that is better."""
        files: dict[str, bytes | None] = {}
        for change in changes:
            path = entry_path(change.key)
            there = parsed(current.get(path))
            is_ours = bool(self.source) and there is not None and is_from(there, self.source)
            if change.entry is None:
                files |= {path: None} if is_ours else {}
                continue
            rival = None if is_ours else there if self.source else change.published or there
            data = as_published(choose([change.entry], rival), there, [change.published]).to_bytes()
            files |= {} if is_same_row(current.get(path), data) else {path: data}
        return Draft(files)


@dataclass(frozen=True, slots=True)
class DesiredRow:
    """One row of a leaderboard: its entry, or None if `source` has withdrawn it.

    `source` is as in `EntryLayout`. `before` is the row at the target when it was read, `disputed` the folder of its
    first submitter, `target` the target's name, `notes` sentences about the watch, `beside` other rows of
    its model there. `reason` says why a withdrawn row goes, "" where that is said already. `rank` says where an entry
    would stand.
    """

    leaderboard: str
    key: str
    source: str
    entry: Entry | None
    before: Entry | None = None
    disputed: str = ""
    target: str = ""
    notes: Sequence[str] = ()
    beside: Sequence[Entry] = ()
    reason: str = ""
    rank: Callable[[Entry], str] = field(default=lambda _: "", compare=False)

    @property
    def mark(self) -> Marker:
        """The mark of all that is about the row."""
        return Marker("entry", self.key, self.leaderboard)

    @property
    def path(self) -> str:
        """The path of its entry."""
        return entry_path(self.key)

    def at(self, state: CurrentState, form: Form) -> DesiredState:
        """The desired state: the entry, or nothing if it was withdrawn."""
        files = self.files_at(state)
        if self.entry is not None:
            return DesiredState(self._text(files[self.path], state, form), {} if form == "comment" else files)
        said = present_text(state, form)
        if self._is_of_another_source(state):
            return DesiredState(said, files)
        is_said = not self.reason and says_withdrawn(said, self.path)
        is_request = form == "pull-request"
        mark = self.mark.about([row_mark(self.path, "")]) if is_request else self.mark
        text = withdrawn_text(self.path, mark, self.reason, is_request=is_request)
        return DesiredState(said if is_said else text, files)

    def files_at(self, state: CurrentState) -> Mapping[str, bytes | None]:
        """Its files alone: a request of many rows has a text of its own."""
        if self.entry is None and self._is_of_another_source(state):
            return state.request.files if state.request else state.files
        proposed = parsed(state.request.files.get(self.path)) if state.request else None
        change = RowChange(self.key, self.entry, proposed or self.before if self.source else proposed)
        draft = EntryLayout(self.source).draft([change], state.files)
        return {self.path: draft.files.get(self.path, state.files.get(self.path))}

    def _text(self, data: bytes | None, state: CurrentState, form: Form) -> PostText:
        entry, there, said = parse_entry(data or b""), parsed(state.files.get(self.path)), present_text(state, form)
        if form == "comment":
            is_said = state.comment is not None and self.before is not None and self.before == entry
            comment = with_notes(row_text(entry, there, self.mark, self.target), self.notes)
            return said if is_said else comment
        text: PostText | None = None
        if state.request is not None or form == "commit":
            text = self._request_text(entry, there, state, form, rank_line_in(said))
        # What only moved on the board since does not change the text of a request.
        if text is None or (form == "pull-request" and not says(said, text)):
            text = self._request_text(entry, there, state, form, rank_line(self.rank(entry)))
        return text

    def _request_text(self, entry: Entry, there: Entry | None, state: CurrentState, form: Form, rank: str) -> PostText:
        text = request_text(
            entry,
            there,
            self.mark if form == "commit" else self.mark.about([row_mark(self.path, digest_of(entry))]),
            target=self.target,
            first=self.disputed,
            is_commit=form == "commit",
            beside=self.beside,
            rank=rank,
        )
        return with_notes(text, self.notes, state.request)

    def _is_of_another_source(self, state: CurrentState) -> bool:
        """Tell whether what is proposed or said about the row comes from another source, so that it is left alone."""
        if state.comment is not None:
            said = entry_in(state.comment.body)
            is_ours = is_from(said, self.source) if said else code(label_of(self.source)) in state.comment.body
            return not is_ours
        proposed = parsed(state.request.files.get(self.path)) if state.request else None
        return proposed is not None and not is_from(proposed, self.source)


def desired_together(
    mark: Marker,
    rows: Iterable[DesiredRow],
    state: CurrentState,
    form: Form,
    *,
    derived: Mapping[str, bytes | None] | None = None,
    without: Collection[str] = (),
    notes: Sequence[str] = (),
    why: Why | None = None,
    is_discussed: bool = False,
) -> DesiredState:
    """The desired state of all rows of a shared request: these again, the others as they are proposed.

    `derived` are files that ride in it because nobody may write them to main, `without` the paths of declined rows,
    `notes` sentences about the watch. `why` gives the reasons in the text of a migration, `is_discussed`
    says that people can comment at the target.
    """
    files: dict[str, bytes | None] = {**(state.request.files if state.request else {}), **(derived or {})}
    for row in rows:
        files.update(row.files_at(state))
    kept = {path: data for path, data in files.items() if path not in without}
    new = {path: data for path, data in kept.items() if not is_same_row(state.files.get(path), data)}
    pairs = [
        (parsed(state.files.get(path)), parsed(data))
        for path, data in sorted(new.items())
        if path.startswith(f"{FOLDER}/")
    ]
    steps = shared_steps(is_discussed=is_discussed) if form == "pull-request" else ""
    said = mark.about(file_marks(new)) if form == "pull-request" and len(new) <= MOST_MARKED else mark
    return DesiredState(with_notes(_shared_text(said, pairs, why, steps), notes, state.request), new)


def _shared_text(
    mark: Marker, pairs: Sequence[tuple[Entry | None, Entry | None]], why: Why | None, steps: str
) -> PostText:
    """The text for rows as they are on main and as they should be."""
    if why is None or mark.kind != "migration":
        return rolling_text(pairs, mark, steps)
    reasons = {old.key: why(old, new) for old, new in pairs if old is not None}
    known = [(one.key, old, new) for old, new in pairs if (one := new or old) is not None]
    return migration_text([planned_row(key, old, new, reasons.get(key, "")) for key, old, new in known], mark, steps)


def is_from(entry: Entry, source: str) -> bool:
    """Tell whether a row comes from a source."""
    return any(file.source == source for file in entry.evidence)


def as_published(entry: Entry, there: Entry | None, proposed: Iterable[Entry | None]) -> Entry:
    """The entry on main where it is the same row, so that its commits stay; else the proposed one, else the new one.

    A proposed entry stays only if its files are where it says: after a rewritten history they have other commits.
    """
    if there is not None and digest_of(there) == digest_of(entry):
        return there
    places = [(file.path, file.commit) for file in entry.evidence]
    same = (one for one in proposed if one is not None and digest_of(one) == digest_of(entry))
    return next((one for one in same if [(file.path, file.commit) for file in one.evidence] == places), entry)


def present_text(state: CurrentState, form: Form) -> PostText:
    """The text of the open request, or that of the comment where rows are comments or nothing is open."""
    if state.request is not None and form != "comment":
        return state.request.text
    return PostText("", state.comment.body if state.comment else "")
