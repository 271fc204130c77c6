"""Which request brings which row: one of its own, the rolling one, the migration, or none.

All is decided from what was seen: the rows as they are and as they should be, and what the requests propose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from msgspec import structs

from bot.publishing.decisions import REWRITTEN, TAKEN, Place, RowDecision, RowStatus, status_of, taken_why
from bot.publishing.entries import DesiredRow, Why, desired_together, parsed, present_text
from bot.publishing.entry import Entry, digest_of, is_same_row
from bot.publishing.plan import PlannedRow, planned_row
from bot.publishing.publication import (
    CurrentState,
    DesiredState,
    Form,
    Marker,
    OpenRequest,
    Request,
    decide,
    entry_in,
    file_marks,
    find_marker,
    migration_mark,
    rolling_mark,
    row_mark,
)

NEW_FILES = "its files changed"
EDITED = "somebody changed the row on main"
OTHER_SOURCE = "its files come from another repository now"
Where = Literal["nowhere", "closing", "own", "reviewed", "new", "rolling", "migration"]


@dataclass(frozen=True)
class SharedRequests:
    """The requests that many rows of one target share, with what the target has for each."""

    rolling: CurrentState = field(default_factory=CurrentState)
    migration: CurrentState = field(default_factory=CurrentState)

    @property
    def requests(self) -> list[Request]:
        """The open ones."""
        return [one.request for one in (self.rolling, self.migration) if one.request is not None]

    @property
    def files(self) -> dict[str, bytes | None]:
        """The files that they change."""
        return {path: data for request in reversed(self.requests) for path, data in request.files.items()}


@dataclass(frozen=True, slots=True)
class SeenRow:
    """One row as it is at a target, and as it should be.

    `state` is all that the target has for the row's own mark, and `is_merged` says that main has an entry of it.
    `reason` says why the row changes or goes, and `taken` how this very row was taken from main, "" if it was not.
    `status` is what becomes of it as it is now, None for one that was withdrawn.
    """

    row: DesiredRow
    state: CurrentState
    is_merged: bool
    reason: str
    taken: str = ""
    status: RowStatus | None = None

    @property
    def is_declined(self) -> bool:
        """Tell whether people do not want it as it is now."""
        return self.status is not None and self.status.fate == "declined"

    @property
    def planned(self) -> PlannedRow:
        """The planned change of the row."""
        planned = planned_row(self.row.key, self.row.before, self.row.entry, self.reason)
        if planned.action in {"added", "changed"} and self.is_declined and not self.is_merged:
            return structs.replace(planned, action="unchanged")
        return structs.replace(planned, action="restored", reason=self.taken) if self.taken else planned

    @property
    def is_migration(self) -> bool:
        """Tell whether a merged row changes although no submission of it did."""
        is_rescored = self.reason not in {NEW_FILES, OTHER_SOURCE, EDITED}
        return is_rescored and self.is_merged and self.planned.action == "changed"


def standing(path: str, state: CurrentState, shared: Mapping[str, bytes | None], form: Form) -> Entry | None:
    """The row at a target: as a comment shows it, as its own request or a shared one proposes it, else on main."""
    if form == "comment":
        said = entry_in(state.comment.body) if state.comment else None
    else:
        said = parsed(state.request.files.get(path) if state.request else None) or parsed(shared.get(path))
    return said or parsed(state.files.get(path))


def place_in(path: str, digest: str, state: CurrentState, shared: SharedRequests) -> Place | None:
    """Where a row with this content is; `state` is what the target has for its own mark."""
    main = parsed(state.files.get(path))
    if main is not None and digest_of(main) == digest:
        return "main"
    if state.request is not None or path in shared.files:
        return "open"
    is_closed = any(one.has_declined(row_mark(path, digest)) for one in (state, shared.rolling, shared.migration))
    return "declined" if is_closed else None


def see_row(
    row: DesiredRow,
    state: CurrentState,
    shared: SharedRequests,
    reason: str,
    *,
    decided: Collection[RowDecision] = (),
    contains: Callable[[str], bool] = lambda _: True,
) -> SeenRow:
    """A row with how it was taken from main, and its status. `decided` is what people decided about it.

    `contains` tells whether main has a commit. Where it lost the one that merged the row, the history was rewritten.
    """
    main = parsed(state.files.get(row.path))
    if row.entry is None:
        return SeenRow(row, state, main is not None, reason)
    digest, merged = digest_of(row.entry), parsed((state.merged or {}).get(row.path))
    was_merged = merged is not None and digest_of(merged) == digest
    taken = ""
    if main is None and not (row.before and digest_of(row.before) == digest):
        taken = taken_why(decided, digest) or (TAKEN if was_merged else "")
        if was_merged and state.merged_at:
            taken = TAKEN if contains(state.merged_at) else REWRITTEN
    place = place_in(row.path, digest, state, shared)
    place = None if taken and place == "declined" else place  # a person is asked once more
    return SeenRow(row, state, main is not None, reason, taken, status_of(digest, place, decided))


@dataclass(frozen=True)
class SharingRules:
    """How the rows of a leaderboard share requests at a target.

    New rows share one where `is_rolling` says so, and where there are more of them than `limit`. `mark` is that of the
    request or commit of many rows. The rest is as in `desired_together`.
    """

    mark: Marker
    form: Form
    is_rolling: bool = False
    limit: float = float("inf")
    notes: Sequence[str] = ()
    why: Why | None = None
    is_discussed: bool = False


@dataclass(frozen=True)
class RowRequest:
    """One request, commit or comment, and the rows that it brings in step; `paths` are read before `desire` is asked.

    `is_restored` says that a person wants it although the same was closed once.
    """

    rows: Sequence[SeenRow]
    mark: Marker
    paths: tuple[str, ...]
    desire: Callable[[CurrentState], DesiredState]
    form: Form
    is_restored: bool = False


@dataclass
class Shares:
    """The rows by what is to be done: nothing, requests of single rows, which have no order, then those of many."""

    done: list[SeenRow] = field(default_factory=list)
    own: list[RowRequest] = field(default_factory=list)
    others: list[RowRequest] = field(default_factory=list)


def share_out(rows: Sequence[SeenRow], shared: SharedRequests, rules: SharingRules) -> Shares:
    """Share out rows over requests: new ones beyond the limit share one, and so do the rows of a commit."""
    parts: dict[Where, list[SeenRow]] = defaultdict(list)
    for one in rows:
        parts[where_to(one, shared, rules.form)].append(one)
    own, rolling, form = parts["own"], parts["rolling"], rules.form
    if rules.is_rolling or len(parts["new"]) > rules.limit:
        rolling += parts["new"]
    else:
        own += parts["new"]
    if form == "commit" and len(rolling) == 1 and shared.rolling.request is None:  # it has a text of its own
        own, rolling = [*own, *rolling], []
    found = Shares(parts["nowhere"], [_alone(one, form) for one in own])
    found.own += [_alone(one, "pull-request") for one in parts["reviewed"]]
    found.others += [_alone(one, form, closes=True) for one in parts["closing"]]
    declined = {one.row.path for one in rows if one.is_declined}
    if rolling or _is_unsettled(shared.rolling):
        found.others.append(_together(rules, rules.mark, rolling, shared.rolling, declined))
    if form == "commit" and rules.mark == rolling_mark(rules.mark.leaderboard):
        # Of a watch: their requests are of the time when the target took requests.
        found.others += [_alone(one, form) for one in rolling if one.state.request]
    if parts["migration"] or _is_unsettled(shared.migration):
        mark = migration_mark(rules.mark.leaderboard)
        found.others.append(_together(rules, mark, parts["migration"], shared.migration, declined))
    return found


def where_to(one: SeenRow, shared: SharedRequests, form: Form) -> Where:
    """Which request a row belongs into: the first of these that holds."""
    row, request = one.row, one.state.request
    if form == "comment":
        return "nowhere" if row.entry is None and one.state.comment is None else "own"
    # Nobody wants it as it is now; what is open of it alone is closed.
    if one.is_declined and row.path not in shared.files:
        return "closing" if request is not None else "nowhere"
    # A row stays in the request that proposes it.
    if _proposes(shared.rolling, row.path):
        return "rolling"
    # Other numbers of the same files: a changed declaration brings many such rows, and one person decides on all.
    if one.is_migration or _proposes(shared.migration, row.path):
        return "migration"
    # Another submitter brought files of the row: a person decides, also where rows are commits.
    if row.disputed and (one.planned.action != "unchanged" or request is not None):
        return "reviewed"
    if form == "commit":
        wanted = row.files_at(one.state)
        is_there = all(is_same_row(one.state.files.get(path), data) for path, data in wanted.items())
        return "rolling" if not is_there else "own" if request is not None else "nowhere"
    state = replace(one.state, declined=()) if one.taken else one.state
    desired = row.at(state, form)
    done = decide(row.mark, desired.text, desired.files, state, form).publication
    if not isinstance(done, OpenRequest):
        return "nowhere" if done is None else "own"
    # A person closed a shared request with this very row.
    is_closed = any(each.is_declined(row.path, desired.files[row.path]) for each in (shared.rolling, shared.migration))
    return "nowhere" if is_closed and not one.taken else "new"


def _proposes(shared: CurrentState, path: str) -> bool:
    return shared.request is not None and path in shared.request.files


def _is_unsettled(shared: CurrentState) -> bool:
    """Tell whether a shared request has to change, whatever the rows are that are looked at.

    It has a duplicate, proposes only what main has already, or names other rows than it proposes: a process may
    have ended between its files and its text.
    """
    request = shared.request
    if request is None or shared.duplicates or not request.files:
        return request is not None or bool(shared.duplicates)
    said = find_marker(request.text.body)
    return said is not None and said.rows is not None and set(said.rows) != file_marks(request.files)


def _alone(one: SeenRow, form: Form, *, closes: bool = False) -> RowRequest:
    """A row in a request, commit or comment of its own; where it `closes` one, nothing is left in that."""
    row = one.row

    def desire(state: CurrentState) -> DesiredState:
        return DesiredState(present_text(state, form), {}) if closes else row.at(state, form)

    return RowRequest([one], row.mark, (row.path,), desire, form, is_restored=bool(one.taken) and not closes)


def _together(
    rules: SharingRules, mark: Marker, rows: Sequence[SeenRow], state: CurrentState, without: Collection[str]
) -> RowRequest:
    """Rows in a shared request, or in one commit; `without` are paths of declined rows."""
    proposed = state.request.files if state.request else ()
    form: Form = "pull-request" if mark.kind == "migration" else rules.form
    desire = partial(
        desired_together,
        mark,
        [one.row for one in rows],
        form=form,
        without=without,
        notes=rules.notes,
        why=rules.why,
        is_discussed=rules.is_discussed,
    )
    paths = tuple(dict.fromkeys([*(one.row.path for one in rows), *proposed]))
    return RowRequest(rows, mark, paths, desire, form)
