"""What submissions make of rows, beside the rows at a target, and why the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from msgspec import structs

from bot.errors import BotError, Unavailable
from bot.evaluation.finding import examples
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.declarations import declaration_at, declaration_in
from bot.platforms.source import is_wanted
from bot.platforms.target import Target
from bot.publishing.changes import why_rescored
from bot.publishing.entries import Why, is_from, parsed
from bot.publishing.entry import Declared, Entry, Evidence, entry_path
from bot.publishing.publication import CurrentState, Request
from bot.publishing.row_requests import EDITED, NEW_FILES, OTHER_SOURCE
from bot.publishing.texts import first_named_in, says_withdrawn
from bot.reporting.escape import code
from bot.service.context import WatchContext
from bot.service.judge.reading import why_rejected
from bot.service.store.database import batches
from bot.service.store.items import Item
from bot.service.store.memory import SOURCE
from bot.service.store.sources import StoredSubmission, folder_of
from bot.service.watch.outcome import Report

NO_WAIVERS = "the discussions cannot be read, and this row may need a waiver that somebody gave there"
UNREAD = "a file of this row could not be read yet, so nobody knows whether it still counts"
STAYS = "the row that is there stays, of its own files: "
FILES_GONE = "the files are gone from the source"
MOST_DECLARATIONS_READ = 20  # to say why rows of one target are scored otherwise
JUDGED_AT_ONCE = 50  # rows whose submissions are in memory together


@dataclass(frozen=True, slots=True)
class MadeRow:
    """One row as its submissions make it, beside the row at the target.

    `entry` is None if they make nothing; `before` is the row at the target, merged or proposed, and `reason` says why
    it changes or goes; `state` is all that the target has for the row's own mark. `disputed` names the folder of its
    first submitter where a file of `entry` comes from another folder. `left` are sentences about files of the row
    on main that are not accepted any more.
    """

    item: Item
    entry: Entry | None
    before: Entry | None
    reason: str
    disputed: str = ""
    state: CurrentState = field(default_factory=CurrentState)
    left: Sequence[str] = ()

    @property
    def key(self) -> str:
        return self.item.subject


@dataclass(frozen=True)
class RowMaker:
    """Makes rows from submissions.

    `standing` gives a row at the target, merged or proposed, and all that is there for its own mark; `why` says why a
    row has other numbers although its files are the same; `shared` are the open requests that propose many rows.
    """

    context: WatchContext
    report: Report
    standing: Callable[[str], tuple[Entry | None, CurrentState]]
    why: Why
    shared: Sequence[Request] = ()

    def make(self, items: Sequence[Item]) -> list[MadeRow]:
        """Look at each row; one that cannot be looked at is noted as failed, and the others go on."""
        made = [one for some in batches(items, JUDGED_AT_ONCE) for one in self._make_some(some)]
        wrong = self._not_gone({one.key: one.before for one in made if one.before and one.reason == FILES_GONE})
        for one in made:
            if one.key in wrong:
                self.report.fail(one.item, wrong[one.key])
        return [one for one in made if one.key not in wrong]

    def _make_some(self, items: Sequence[Item]) -> list[MadeRow]:
        keys = [item.subject for item in items]
        submissions: dict[str, list[StoredSubmission]] = {key: [] for key in keys}
        found = self.context.submissions_of(keys)
        judgement = self.context.judge(found)
        stand_in = judgement.key_of_path
        for one in found:
            submissions.setdefault(stand_in.get(one.path, one.key or ""), []).append(one)
        rows = [row for row in judgement.rows if row.key.text in keys]
        made = self.context.made_of(rows, found)
        entries = {entry.key: entry for entry in made.entries}
        with_numbers = [row for row in rows if row.lead.status == "accepted" and row.measurements.present]
        of_sound_files = {row.key.text: row.findings for row in with_numbers}
        gone = {key: why_rejected(some) for key, some in of_sound_files.items() if key not in entries}
        rejected = gone | dict(made.refused)
        errors = {row.key.text: {one.rule for one in row.findings if one.is_error} for row in rows}
        looks = []
        for item in items:
            key = item.subject
            try:
                looks.append(self._make(item, submissions[key], entries.get(key), errors.get(key, set())))
            except Exception as failure:  # noqa: BLE001 - one row never stops the others; the report logs it
                self.report.fail(item, failure)
        stay = {one.key: one.entry for one in looks if one.entry is not None}
        for key, why in rejected.items():
            files = examples([file.path for file in stay[key].evidence]) if key in stay else ""
            self.report.say("rejected", key, f"{why}; {STAYS}{files}" if files else why)
        return looks

    def _make(
        self, item: Item, submissions: Sequence[StoredSubmission], entry: Entry | None, errors: AbstractSet[str]
    ) -> MadeRow:
        """One row; `errors` are the rules that found an error in its files together."""
        key = item.subject
        if not self.context.has_waivers and any(one.status == "rejected" for one in submissions):
            raise Unavailable(self.context.source.name, NO_WAIVERS)
        before, state = self.standing(key)
        if entry is None and before is not None and not is_from(before, self.context.source.name):
            before = None  # this source must not remove a row of another source
        if entry is None and before is not None and submissions:
            entry = self._of_own_files(parsed(state.files.get(entry_path(key))) or before, submissions)
        if before is not None and self._is_unread(before, entry):
            raise Unavailable(self.context.source.name, UNREAD)
        path, own = entry_path(key), [state.request] if state.request is not None else []
        own = [one for one in own if says_withdrawn(one.text, path)]  # else a process ended before it gave the reason
        if entry is None and any(one.files.get(path, b"") is None for one in [*own, *self.shared]):
            before = None  # its removal waits in a request already, and is no new one
        reason = self._reason(entry, before, submissions, errors)
        first = first_folder(entry, before) or named_first(entry, state.request)
        return MadeRow(item, entry, before, reason, first, state, self._left(entry, parsed(state.files.get(path))))

    def _of_own_files(self, there: Entry, found: Sequence[StoredSubmission]) -> Entry | None:
        """The row that the files of the one at the target make alone; None if they make none, or one is gone.

        What people reviewed does not go because others pushed files beside it.
        """
        own = [one for one in found if one.parsed is not None and one.parsed.sha256 in hashes(there)]
        if len(own) == len(found) or hashes(there) - {one.parsed.sha256 for one in own if one.parsed is not None}:
            return None
        return next((entry for entry in self.context.made(own).entries if entry.key == there.key), None)

    def _left(self, entry: Entry | None, main: Entry | None) -> list[str]:
        """A sentence about each file of the row on main from which it has no number now, because it is rejected."""
        has = {file.path for file in entry.evidence} if entry is not None else set[str]()
        gone = [file.path for file in main.evidence if file.path not in has] if has and main is not None else []
        there = self.context.state.submissions.at(gone) if gone else {}
        return [
            f"{code(path)}, from which the row on the board has numbers, is not accepted any more: {one.why}."
            for path, one in sorted(there.items())
            if one.status == "rejected"
        ]

    def _is_unread(self, before: Entry, entry: Entry | None) -> bool:
        """Tell whether a file that the row at the target has, and that it lacks now, waits to be read."""
        there = {file.path for file in entry.evidence} if entry is not None else set[str]()
        missing = [file.path for file in before.evidence if file.path not in there]
        places = {place for path in missing for place in (path, folder_of(path))}
        return bool(places) and self.context.state.items.is_waiting("file", places)

    def _reason(
        self, entry: Entry | None, before: Entry | None, found: Sequence[StoredSubmission], errors: AbstractSet[str]
    ) -> str:
        """Why a row changes or goes."""
        if before is None:
            return ""
        if entry is not None:
            if hashes(entry) != hashes(before) and not only_tasks_differ(before, entry):
                return NEW_FILES
            if {one.source for one in entry.evidence} != {one.source for one in before.evidence}:
                return OTHER_SOURCE
            is_same = (entry.leaderboard, entry.tool, entry.facts) == (before.leaderboard, before.tool, before.facts)
            return EDITED if is_same else self.why(before, entry)
        if found:
            is_same = hashes(before) == {one.parsed.sha256 for one in found if one.parsed is not None}
            why = self.why(before, None) if is_same else "the files are not accepted"
            verdicts = self.context.judge(found).verdicts
            of_files = {one.rule for verdict in verdicts for one in verdict.findings if one.is_error}
            return f"{why}: {', '.join(sorted(of_files | errors)[:5]) or 'no sound number'}"
        return self._gone_why(before)

    def _gone_why(self, before: Entry) -> str:
        """Why no file makes a row any more."""
        there = self.context.state.submissions.at([file.path for file in before.evidence])
        if there:
            rows = sorted({one.key for one in there.values() if one.key})
            return f"its files make another row now, {examples(rows)}" if rows else "its files hold no result any more"
        if not self._wanted(before):
            return "the settings no longer select the files"
        return FILES_GONE

    def _wanted(self, row: Entry) -> list[str]:
        """The files of a row that the settings select."""
        source, paths = self.context.source.name, self.context.watch.paths
        return [file.path for file in row.evidence if file.source == source and is_wanted(file.path, paths)]

    def _not_gone(self, rows: Mapping[str, Entry]) -> dict[str, BotError]:
        """Why rows without files do not go: some are there although a listing lacked them, or nobody can tell.

        Where a listing was wrong, everything is listed anew.
        """
        known, source = self.context.state.recall(SOURCE), self.context.source
        files = {key: self._wanted(row) for key, row in rows.items()}
        if known is None or not files:
            return {}
        try:
            there = source.there(sorted({path for paths in files.values() for path in paths}), known.commit)
        except BotError as failure:
            return dict.fromkeys(files, failure)
        if there:
            self.context.state.remember(SOURCE, structs.replace(known, selection=""))
        said = f"the listing of commit {known.commit[:12]} lacks {{}}, which is there"
        found = {key: [path for path in paths if path in there] for key, paths in files.items()}
        return {key: Unavailable(source.name, said.format(paths[0])) for key, paths in found.items() if paths}


def hashes(entry: Entry) -> set[str]:
    """The SHA-256 of the files that a row comes from."""
    return {file.sha256 for file in entry.evidence}


def only_tasks_differ(before: Entry, after: Entry) -> bool:
    """Tell whether another declaration has other tasks, and those of both come from the same files."""
    shared = {task.id for task in before.tasks} & {task.id for task in after.tasks}
    is_other = before.leaderboard.scoring_digest != after.leaderboard.scoring_digest
    return is_other and _files_of(before, shared) == _files_of(after, shared)


def _files_of(entry: Entry, tasks: AbstractSet[str]) -> set[tuple[str, str]]:
    """The subtasks of tasks, each with the SHA-256 of its file."""
    leaves = [leaf for task in entry.tasks if task.id in tasks for leaf in task.leaves]
    files = [(leaf.id, entry.evidence_of(leaf) or next(iter(entry.evidence), None)) for leaf in leaves]
    return {(leaf, file.sha256) for leaf, file in files if file is not None}


def folders_of(files: Iterable[Evidence]) -> set[tuple[str, str]]:
    """The sources and folders of files."""
    return {(file.source, folder_of(file.path)) for file in files}


def first_folder(entry: Entry | None, before: Entry | None) -> str:
    """The folder of a row's first submitter where another file of the new row is in another folder, else ""."""
    if entry is None or before is None:
        return ""
    known, first = hashes(before), folders_of(before.evidence)  # a file that moved is the same file
    if not folders_of(file for file in entry.evidence if file.sha256 not in known) - first:
        return ""
    source, folder = min(first)
    return folder or source


def named_first(entry: Entry | None, request: Request | None) -> str:
    """The folder that an open request names as that of the first submitter, "" if all files of the row are there."""
    folder = first_named_in(request.text) if request is not None else ""
    places = {place or source for source, place in folders_of(entry.evidence)} if entry is not None else {folder}
    return folder if places - {folder} else ""


@dataclass
class Rescored:
    """Says why rows of a target have other numbers although their files are the same.

    `remembered` gives the text of the declaration of the last board, so that the target is not asked for it.
    """

    target: Target
    today: Leaderboard
    remembered: Callable[[], str] = lambda: ""
    _declared: dict[Declared, Leaderboard | None] = field(default_factory=dict, repr=False)

    def __call__(self, before: Entry, after: Entry | None) -> str:
        """The reason for one row, with the keys of the declaration that changed."""
        named = before.leaderboard
        is_known = named.scoring_digest == self.today.scoring_digest
        if not is_known and named not in self._declared and len(self._declared) < MOST_DECLARATIONS_READ:
            known = declaration_in(self.remembered().encode(), named)
            self._declared[named] = known or declaration_at(self.target, named)
        return why_rescored(before, after, self._declared.get(named), self.today)
