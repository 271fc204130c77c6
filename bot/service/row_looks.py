"""Compare rows with a target: the row from its submissions, the row at the target, and why they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.errors import MalformedEntry
from bot.platforms.source import is_wanted
from bot.platforms.target import Target
from bot.publishing.comment_row import entry_in
from bot.publishing.entry import Entry, entry_path
from bot.publishing.plan import PlannedRow, planned_row
from bot.publishing.publication import CurrentState, Form, Marker
from bot.service.context import WatchContext
from bot.service.desired import MIGRATED, is_from
from bot.service.items import Item
from bot.service.reconcile import parsed
from bot.service.store import StoredSubmission, folder_of
from bot.service.watch.outcome import Report

NEW_FILES = "its files changed"


@dataclass(frozen=True, slots=True)
class RowLook:
    """One row as it stands and as it should be.

    `entry` is what its submissions make, None if they make nothing; `before` what stands at the target, merged or
    proposed; `state` all that stands there for the row's own mark; `contested` names the folder of its first submitter
    where a file of `entry` comes from another folder.
    """

    item: Item
    entry: Entry | None
    before: Entry | None
    is_merged: bool
    reason: str
    contested: str = ""
    state: CurrentState = field(default_factory=CurrentState)

    @property
    def key(self) -> str:
        """The row's key."""
        return self.item.subject

    @property
    def items(self) -> tuple[Item, ...]:
        """The item that waits for it."""
        return (self.item,)

    @property
    def path(self) -> str:
        """The path of its entry."""
        return entry_path(self.key)

    @property
    def planned(self) -> PlannedRow:
        """The planned change of the row."""
        return planned_row(self.key, self.before, self.entry, self.reason)

    @property
    def is_migration(self) -> bool:
        """Tell whether a merged row changes although no submission of it did."""
        return self.reason == MIGRATED and self.is_merged and self.planned.action == "changed"


@dataclass(frozen=True, slots=True)
class PlannedLook:
    """What is kept of a row that was looked at, while many others are: enough for the safety catch."""

    item: Item
    planned: PlannedRow
    entry: Entry | None = None

    @property
    def key(self) -> str:
        """The row's key."""
        return self.item.subject

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that wait for it."""
        return (self.item,)


@dataclass(frozen=True)
class SharedStates:
    """The requests at one target that many rows share, as they stand."""

    rolling: CurrentState = field(default_factory=CurrentState)
    migration: CurrentState = field(default_factory=CurrentState)

    def proposed(self, path: str) -> bytes | None:
        """The bytes that the shared requests propose for a path, None if there are none."""
        for state in (self.rolling, self.migration):
            if state.request is not None and path in state.request.files:
                return state.request.files[path]
        return None


@dataclass(frozen=True)
class StandingRow:
    """What stands at a target for one row: `entry`, merged or proposed, and all that stands for the row's own mark."""

    entry: Entry | None
    is_merged: bool = False
    state: CurrentState = field(default_factory=CurrentState)


@dataclass
class RowLooker:
    """Looks at the rows of one watch at one target."""

    context: WatchContext
    target: Target
    form: Form
    report: Report

    def look(self, items: Sequence[Item], shared: SharedStates) -> list[RowLook]:
        """Look at each row; one that cannot be looked at is noted as failed, and the others go on."""
        keys = [item.subject for item in items]
        submissions: dict[str, list[StoredSubmission]] = {key: [] for key in keys}
        for one in self.context.store.submissions_of(self.context.name, keys).values():
            submissions[one.key or ""].append(one)
        looks = []
        for item in items:
            try:
                looks.append(self._look(item, submissions[item.subject], shared))
            except Exception as failure:  # noqa: BLE001 - one row never stops the others; the report logs it
                self.report.fail(item, failure)
        return looks

    def _look(self, item: Item, submissions: Sequence[StoredSubmission], shared: SharedStates) -> RowLook:
        key = item.subject
        standing = self.standing(key, shared)
        before = standing.entry
        try:
            entry = next(iter(self.context.entries(submissions)), None)
        except MalformedEntry as error:
            self.report.say("rejected", key, str(error))
            entry = None
        if entry is None and before is not None and not is_from(before, self.context.source.name):
            before = None  # this source must not remove a row of another source
        if entry is None and _is_removal_proposed(entry_path(key), [standing.state, shared.rolling, shared.migration]):
            before = None  # its removal waits in a request already, and is no new one
        reason = self._reason(entry, before, submissions)
        first = first_folder(entry, before)
        return RowLook(item, entry, before, standing.is_merged, reason, first, standing.state)

    def standing(self, key: str, shared: SharedStates) -> StandingRow:
        """The current state of a row at the target."""
        path = entry_path(key)
        state = self.target.read_state(Marker("entry", key, self.context.leaderboard.id), (path,))
        merged = parsed(state.files.get(path))
        return StandingRow(self._proposed(state, path, shared) or merged, merged is not None, state)

    def _proposed(self, state: CurrentState, path: str, shared: SharedStates) -> Entry | None:
        if self.form == "comment":
            return entry_in(state.comment.body) if state.comment else None
        own = state.request.files.get(path) if state.request else None
        return parsed(own) or parsed(shared.proposed(path))

    def _reason(self, entry: Entry | None, before: Entry | None, found: Sequence[StoredSubmission]) -> str:
        """Why a row changes or goes."""
        if before is None:
            return ""
        if entry is not None:
            return MIGRATED if hashes(entry) == hashes(before) else NEW_FILES
        if found:
            return f"no longer accepted: {', '.join(self._rules(found)) or 'no sound number'}"
        if not any(is_wanted(file.path, self.context.watch.paths) for file in before.evidence):
            return "the settings no longer select its files"
        return "its files are gone from the source"

    def _rules(self, found: Sequence[StoredSubmission]) -> list[str]:
        """The rules that reject these submissions."""
        verdicts = self.context.judge(found).verdicts
        return sorted({finding.rule for verdict in verdicts for finding in verdict.findings if finding.is_error})[:5]


def _is_removal_proposed(path: str, states: Sequence[CurrentState]) -> bool:
    """Tell whether an open request takes a row away."""
    return any(state.request is not None and state.request.files.get(path, b"") is None for state in states)


def hashes(entry: Entry) -> set[str]:
    """The SHA-256 of the files that a row comes from."""
    return {file.sha256 for file in entry.evidence}


def folders_of(entry: Entry) -> set[tuple[str, str]]:
    """Where a row's files lie: sources and folders."""
    return {(file.source, folder_of(file.path)) for file in entry.evidence}


def first_folder(entry: Entry | None, before: Entry | None) -> str:
    """The folder of a row's first submitter where a file of the new row lies in another folder, else ""."""
    if entry is None or before is None or not folders_of(entry) - folders_of(before):
        return ""
    source, folder = min(folders_of(before))
    return folder or source
