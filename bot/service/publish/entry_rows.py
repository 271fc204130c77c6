"""Rows that are files of their own, or comments: each in its own request, many in a shared one, or as commits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import unquote

from msgspec import structs

from bot.errors import Unavailable
from bot.evaluation.row_key import key_start
from bot.platforms.source import is_wanted
from bot.publishing.board import proposed_rank
from bot.publishing.decisions import RowDecision
from bot.publishing.entries import DesiredRow, desired_together, is_from, parsed, present_text
from bot.publishing.entry import FOLDER, Entry, Evidence, digest_of, entry_path
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
    migration_mark,
    rolling_mark,
    row_mark,
)
from bot.publishing.status import Place, RowStatus, status_of
from bot.publishing.texts import first_named_in
from bot.service.judge.reading import why_rejected
from bot.service.publish.ledger import REWRITTEN, TAKEN, OpenRequests, observe_main, taken_why
from bot.service.publish.publisher import ItemLook, L, Proposal, TargetRows, admission
from bot.service.publish.reconcile import entries_of
from bot.service.store import StoredSubmission, batches, folder_of
from bot.service.store.items import Item, RowJob, marks
from bot.service.watch.outcome import FIRST_WAIT

NO_WAIVERS = "the discussions cannot be read, and this row may need a waiver that somebody gave there"
AT_ONCE = 50  # rows whose submissions are in memory together
MOST_BESIDE = 20  # other rows of a model that are looked for on main
FEW = 3  # rows in comments of which the files on main are asked for one by one
NEW_FILES = "its files changed"
EDITED = "somebody changed the row on main"
OTHER_SOURCE = "its files come from another repository now"


@dataclass(frozen=True, slots=True)
class RowLook(ItemLook):
    """One row as it is and as it should be.

    `entry` is what its submissions make, None if they make nothing; `before` is the row at the target, merged or
    proposed; `state` is all that the target has for the row's own mark; `disputed` names the folder of its first
    submitter where a file of `entry` comes from another folder. `taken` says how this very row was taken from main, ""
    if it was not, `status` what becomes of it as it is now, None for one that was withdrawn. `beside` are other rows of
    its model on main, where it is not there itself.
    """

    entry: Entry | None
    before: Entry | None
    is_merged: bool
    reason: str
    disputed: str = ""
    state: CurrentState = field(default_factory=CurrentState)
    taken: str = ""
    status: RowStatus | None = None
    beside: Sequence[Entry] = ()

    @property
    def path(self) -> str:
        """The path of its entry."""
        return entry_path(self.key)

    @property
    def is_declined(self) -> bool:
        """Tell whether people do not want it as it is now."""
        return self.status is not None and self.status.fate == "declined"

    @property
    def planned(self) -> PlannedRow:
        """The planned change of the row."""
        planned = planned_row(self.key, self.before, self.entry, self.reason)
        if planned.action in {"added", "changed"} and self.is_declined and not self.is_merged:
            return structs.replace(planned, action="unchanged")
        return structs.replace(planned, action="restored", reason=self.taken) if self.taken else planned

    @property
    def is_migration(self) -> bool:
        """Tell whether a merged row changes although no submission of it did."""
        is_rescored = self.reason not in {NEW_FILES, OTHER_SOURCE, EDITED}
        return is_rescored and self.is_merged and self.planned.action == "changed"


@dataclass(frozen=True)
class RollingRequests:
    """The requests that many rows of one target share."""

    rolling: CurrentState = field(default_factory=CurrentState)
    migration: CurrentState = field(default_factory=CurrentState)

    @property
    def requests(self) -> list[Request]:
        """The open ones."""
        return [one.request for one in (self.rolling, self.migration) if one.request is not None]

    @cached_property
    def files(self) -> dict[str, bytes | None]:
        """The files that they change."""
        return {path: data for request in reversed(self.requests) for path, data in request.files.items()}


@dataclass
class SubmittedRows(TargetRows[L]):
    """Rows that submissions make: what they should be, what the target has, and why the two differ.

    `shared` are the requests that propose many rows.
    """

    shared: RollingRequests = field(default_factory=RollingRequests)

    @abstractmethod
    def standing(self, key: str) -> tuple[Entry | None, bool, CurrentState]:
        """A row at the target, merged or proposed, whether it is merged, and all that is there for its own mark."""

    def compare(self, items: Sequence[Item]) -> list[RowLook]:
        """Look at each row; one that cannot be looked at is noted as failed, and the others go on."""
        return [look for some in batches(items, AT_ONCE) for look in self._compare_some(some)]

    def _compare_some(self, items: Sequence[Item]) -> list[RowLook]:
        keys = [item.subject for item in items]
        submissions: dict[str, list[StoredSubmission]] = {key: [] for key in keys}
        found = list(self.context.state.submissions.of(keys).values())
        for one in found:
            submissions[one.key or ""].append(one)
        rows = self.context.judge(found).rows
        made = self.context.made_of(rows, found)
        entries = {entry.key: entry for entry in made.entries}
        with_numbers = [row for row in rows if row.lead.status == "accepted" and row.measurements.present]
        of_sound_files = {row.key.text: row.findings for row in with_numbers}
        gone = {key: why_rejected(some) for key, some in of_sound_files.items() if key not in entries}
        for key, why in (gone | dict(made.refused)).items():
            self.report.say("rejected", key, why)
        looks = []
        for item in items:
            try:
                looks.append(self._compare(item, submissions[item.subject], entries.get(item.subject)))
            except Exception as failure:  # noqa: BLE001 - one row never stops the others; the report logs it
                self.report.fail(item, failure)
        return looks

    def _compare(self, item: Item, submissions: Sequence[StoredSubmission], entry: Entry | None) -> RowLook:
        key = item.subject
        if not self.context.has_waivers and any(one.status == "rejected" for one in submissions):
            raise Unavailable(self.context.source.name, NO_WAIVERS)
        before, is_merged, state = self.standing(key)
        if entry is None and before is not None and not is_from(before, self.context.source.name):
            before = None  # this source must not remove a row of another source
        requests = [one for one in (state.request, *self.shared.requests) if one is not None]
        if entry is None and any(one.files.get(entry_path(key), b"") is None for one in requests):
            before = None  # its removal waits in a request already, and is no new one
        reason = self._reason(entry, before, submissions)
        first = first_folder(entry, before) or named_first(entry, state.request)
        return RowLook(item, entry, before, is_merged, reason, first, state)

    def _reason(self, entry: Entry | None, before: Entry | None, found: Sequence[StoredSubmission]) -> str:
        """Why a row changes or goes."""
        if before is None:
            return ""
        if entry is not None:
            if hashes(entry) != hashes(before):
                return NEW_FILES
            if {one.source for one in entry.evidence} != {one.source for one in before.evidence}:
                return OTHER_SOURCE
            is_same = (entry.leaderboard, entry.tool, entry.facts) == (before.leaderboard, before.tool, before.facts)
            return EDITED if is_same else self.why(before, entry)
        if found:
            is_same = hashes(before) == {one.parsed.sha256 for one in found if one.parsed is not None}
            why = self.why(before, None) if is_same else "the files are not accepted"
            verdicts = self.context.judge(found).verdicts
            rules = sorted({one.rule for verdict in verdicts for one in verdict.findings if one.is_error})[:5]
            return f"{why}: {', '.join(rules) or 'no sound number'}"
        return self._gone_why(before)

    def _gone_why(self, before: Entry) -> str:
        """Why no file makes a row any more."""
        there = self.context.state.submissions.at([file.path for file in before.evidence])
        if there:
            is_row = any(one.key for one in there.values())
            return "its files make another row now" if is_row else "its files hold no result any more"
        if not any(is_wanted(file.path, self.context.watch.paths) for file in before.evidence):
            return "the settings no longer select the files"
        return "the files are gone from the source"


def _is_over(shared: CurrentState) -> bool:
    """Tell whether a shared request has to be closed: it has a duplicate, or proposes only what main has already."""
    return bool(shared.duplicates) or (shared.request is not None and not shared.request.files)


def hashes(entry: Entry) -> set[str]:
    """The SHA-256 of the files that a row comes from."""
    return {file.sha256 for file in entry.evidence}


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


def _open_requests(
    shared: Sequence[Request], alone: AbstractSet[str], merged: AbstractSet[str], accepted: AbstractSet[str]
) -> OpenRequests:
    """What the open requests, the shared ones and those of single keys, do to the rows on main.

    A row that is not accepted any more has a request of its own to be removed; where it is not on main, its request is
    from before, and waits with a plan.
    """
    paths = {path: data for one in shared for path, data in one.files.items() if path.startswith(f"{FOLDER}/")}
    there, removed = set(map(entry_path, merged)), {path for path, data in paths.items() if data is None}
    leaving = (alone - accepted) & merged
    written = (paths.keys() | set(map(entry_path, alone - leaving))) - removed
    changed = len(written & there)
    return OpenRequests(len(shared) + len(alone), len(written) - changed, changed, len(removed) + len(leaving))


@dataclass
class EntryRows(SubmittedRows[RowLook]):
    """Rows of which each is a file or a comment of the bot.

    A row at the target that came from the watch's source, and of which the source has nothing any more, was withdrawn;
    rows from elsewhere compete like any other submission. `ranks` are those that proposed rows would have, by key.
    """

    in_parts = True
    ranks: dict[str, str] = field(default_factory=dict)

    # looking

    def observe(self) -> None:
        """Mark the rows that people changed or removed on main."""
        if self.settings.form != "comment":
            observe_main(self.context, self.target, self.settings.to)

    def look(self, items: Sequence[Item]) -> list[RowLook]:
        """The present and the intended state of rows, and of the requests that many rows share."""
        self.shared = self._read_rolling(tuple(entry_path(item.subject) for item in items))
        looks = [self._with_own_closed(look) for look in self.compare(items)]
        decided = {} if self.settings.form == "comment" else self.context.state.decided(self.settings.to)
        beside = self._beside(looks)
        taken = {look.key: self._taken(look, decided.get(look.key, ())) for look in looks}
        return [
            replace(
                look,
                taken=taken[look.key],
                status=self._status(look, decided.get(look.key, ()), is_taken=bool(taken[look.key])),
                beside=beside.get(look.key, ()),
            )
            for look in looks
        ]

    def _with_own_closed(self, look: RowLook) -> RowLook:
        row = row_mark(look.path, digest_of(look.entry) if look.entry is not None else "")
        return replace(look, state=self.with_closed(self.target, look.state, lambda: [row]))

    def _not_on_main(self) -> list[str]:
        """The marks of the accepted rows that main lacks or has otherwise."""
        merged = self._merged()
        rows = self.context.state.rows.accepted().items()
        return [row_mark(entry_path(key), digest) for key, digest in rows if merged.get(key) != digest]

    def _status(self, look: RowLook, decided: Sequence[RowDecision], *, is_taken: bool) -> RowStatus | None:
        if look.entry is None:
            return None
        digest = digest_of(look.entry)
        place: Place | None = None
        merged = parsed(look.state.files.get(look.path))
        if merged is not None and digest_of(merged) == digest:
            place = "main"
        elif self._is_closed(look) and not is_taken:
            place = "declined"
        elif look.state.request is not None or look.path in self.shared.files:
            place = "open"
        return status_of(digest, place, decided)

    def _is_closed(self, look: RowLook) -> bool:
        """Tell whether a person closed a request, own or shared, with this very row, and no open one has it."""
        if look.entry is None or look.state.request is not None or look.path in self.shared.files:
            return False
        data, shared = look.entry.to_bytes(), (self.shared.rolling, self.shared.migration)
        return any(one.is_declined(look.path, data) for one in (look.state, *shared))

    def _beside(self, looks: Sequence[RowLook]) -> dict[str, Sequence[Entry]]:
        """The other rows on main of the models of new rows, by the key of the new one; only those of this source."""
        if self.settings.form == "comment":
            return {}
        new = [look.key for look in looks if look.entry is not None and not look.is_merged]
        keys = {key: self.context.state.rows.beside(key)[:MOST_BESIDE] for key in new}
        files = self.target.read_files({entry_path(one) for found in keys.values() for one in found})
        rows = {key: [parsed(files.get(entry_path(one))) for one in found] for key, found in keys.items()}
        return {key: [one for one in found if one is not None] for key, found in rows.items()}

    def _taken(self, look: RowLook, decided: Sequence[RowDecision]) -> str:
        """How a row that was on main as it is now was taken away, "" if it was not; `decided` is what was noted of it.

        Where its request was merged by a commit that main has no longer, the history was rewritten.
        """
        if look.entry is None or look.is_merged or (look.before and digest_of(look.before) == digest_of(look.entry)):
            return ""
        digest, merged = digest_of(look.entry), parsed((look.state.merged or {}).get(look.path))
        if merged is not None and digest_of(merged) == digest and look.state.merged_at:
            return TAKEN if self.target.contains(look.state.merged_at) else REWRITTEN
        noted = taken_why(decided, digest)
        return noted or (TAKEN if merged is not None and digest_of(merged) == digest else "")

    def _read_rolling(self, paths: tuple[str, ...]) -> RollingRequests:
        if self.settings.form == "comment":
            if len(paths) > FEW:
                self.target.scan_entries()  # the rows on main, in one listing
            return RollingRequests()
        found = (self.target.read_state(mark(self._board), paths) for mark in (rolling_mark, migration_mark))
        return RollingRequests(*(self.with_closed(self.target, state, self._not_on_main) for state in found))

    def standing(self, key: str) -> tuple[Entry | None, bool, CurrentState]:
        """A row at the target."""
        path = entry_path(key)
        state = self.target.read_state(self._mark(key), (path,))
        merged = parsed(state.files.get(path))
        return self._proposed(state, path) or merged, merged is not None, state

    def _proposed(self, state: CurrentState, path: str) -> Entry | None:
        if self.settings.form == "comment":
            return entry_in(state.comment.body) if state.comment else None
        own = state.request.files.get(path) if state.request else None
        return parsed(own) or parsed(self.shared.files.get(path))

    @property
    def _board(self) -> str:
        return self.context.leaderboard.id

    def _mark(self, key: str) -> Marker:
        """The mark of a row; one from before the declaration had this id has that of its time."""
        is_of_today = key.startswith(key_start(self._board))
        return Marker("entry", key, self._board if is_of_today else unquote(key.partition("/")[0]))

    def entries(self) -> list[Entry]:
        """The merged entries."""
        return entries_of(self.target, self.context.leaderboard)

    def size(self) -> int:
        """How many rows there are, merged or proposed."""
        proposed = self._read_rolling(()).files
        merged = {entry_path(entry.key) for entry in self.entries()}
        return len({*merged, *map(entry_path, self.target.read_keys(self._board)), *proposed})

    def places(self, accepted: Mapping[str, str]) -> dict[str, Place]:
        """Where these rows are: on main with this digest, proposed, or declined by a person."""
        if self.settings.form == "comment":
            return dict.fromkeys(accepted.keys() & self.target.read_keys(self._board), "main")
        merged = self._merged()
        found: dict[str, Place] = {key: "main" for key, digest in accepted.items() if merged.get(key) == digest}
        shared, alone = self._read_rolling(()), self.target.read_keys(self._board)
        proposed = shared.files
        self.waiting = _open_requests(shared.requests, alone, set(merged), accepted.keys())
        self.moot = {key for key in found if key in alone or entry_path(key) in proposed}
        self.moot |= set(list(found)[:1]) if any(not one.files for one in shared.requests) else set()
        left = accepted.keys() - found.keys()
        found |= {key: "open" for key in left if key in alone or entry_path(key) in proposed}
        known = self.context.state.decided(self.settings.to)
        for key in left - found.keys() - known.keys():
            own = self.target.read_state(self._mark(key), (entry_path(key),))
            row = row_mark(entry_path(key), accepted[key])
            if any(state.has_declined(row) for state in (own, shared.rolling, shared.migration)):
                found[key] = "declined"
        return found

    def _merged(self) -> Mapping[str, str]:
        """The digests of the rows on main, by key."""
        state, to = self.context.state, self.settings.to
        kept = state.boards.at(to)
        if kept is not None and kept.head == self.target.head():
            return state.boards.rows(to)
        return {entry.key: digest_of(entry) for entry in self.entries()}

    # after the state was lost

    def restore(self, items: Sequence[Item]) -> None:
        """Mark the rows of the bot at the target that the source has no longer.

        While a file could not be read, nobody knows which row it makes.
        """
        context, state = self.context, self.context.state
        if state.items.count("file"):
            for item in items:
                state.items.postpone(item, context.clock() + FIRST_WAIT)
            return
        gone = self._keys() - state.rows.all_keys()
        with state.transaction():
            state.rows.keep(dict.fromkeys(gone, ""))
            context.mark(marks("row", sorted(gone), [self.settings.to]))
            context.finish(items)

    def _keys(self) -> set[str]:
        """The keys of this source's rows at the target, merged or proposed."""
        keys = self.target.read_keys(self._board)
        if self.settings.form == "comment":
            return keys
        proposed = [parsed(data) for one in self._read_rolling(()).requests for data in one.files.values()]
        rows = [row for row in [*proposed, *self.target.scan_entries().entries] if row is not None]
        board, source = self._board, self.context.source.name
        return keys | {row.key for row in rows if row.leaderboard.id == board and is_from(row, source)}

    # what is to be written

    def proposals(self, admitted: Sequence[RowLook]) -> Iterator[Proposal]:
        """Each row in a comment or request of its own, or many in a shared one."""
        if self.settings.form == "comment":
            yield from self._comments(admitted)
            return
        declined = {look.path for look in admitted if look.is_declined}
        left = declined - self.shared.files.keys()
        gone = [look for look in admitted if look.path in left]
        self.context.finish([look.item for look in gone if not look.state.request])
        yield from (self._alone(look, self.settings.form, closes=True) for look in gone if look.state.request)
        single, rolling, migration = self._parted([look for look in admitted if look.path not in left])
        name, to, queue = self.context.name, self.settings.to, self.context.queue
        jobs = [RowJob(name, to, look.key, look.item.marked, admission(look)) for look, _ in single]
        if queue is not None and len(jobs) > 1 and queue.put_rows(jobs):
            self.context.had_workers = True
        else:
            yield from (self._alone(look, form) for look, form in single)
        if rolling or _is_over(self.shared.rolling):
            yield self._together(rolling_mark(self._board), rolling, self.shared.rolling, declined)
        if self.settings.form == "commit":  # their requests are of the time when the target took requests
            yield from (self._alone(look, "commit") for look in rolling if look.state.request)
        if migration or _is_over(self.shared.migration):
            yield self._together(migration_mark(self._board), migration, self.shared.migration, declined)

    def publish_admitted(self, item: Item, admitted: str) -> None:
        """Publish one row as the safety catch admitted it, if it has a request of its own.

        One that is another by now waits for the next pass.
        """

        def call() -> None:
            looks = self.look([item])
            same = [one for one in looks if one.planned.action == "unchanged" or admission(one) == admitted]
            self._write(self._alone(look, form) for look, form in self._parted(same)[0])

        self.report.attempt([item], call, finish=False)

    def _comments(self, looks: Sequence[RowLook]) -> Iterator[Proposal]:
        """A comment for each row; a withdrawn row without one needs none."""
        for look in looks:
            if look.entry is None and look.state.comment is None:
                self.context.finish(look.items)
            else:
                yield self._alone(look, self.settings.form)

    def _parted(self, looks: Sequence[RowLook]) -> tuple[list[tuple[RowLook, Form]], list[RowLook], list[RowLook]]:
        """The rows that are published one by one, those of the rolling request, and those of the migration.

        A row stays in the request that proposes it. New ones share the rolling request beyond the limit.
        """
        single: list[tuple[RowLook, Form]] = []
        rolling: list[RowLook] = []
        migration: list[RowLook] = []
        new: list[RowLook] = []
        done: list[Item] = []
        shared = self.shared
        for look in looks:
            if shared.rolling.request and look.path in shared.rolling.request.files:
                rolling.append(look)
            elif look.is_migration or (shared.migration.request and look.path in shared.migration.request.files):
                migration.append(look)
            elif look.disputed and (look.planned.action != "unchanged" or look.state.request is not None):
                single.append((look, "pull-request"))
            elif self.settings.form == "commit":
                rolling.append(look)
            else:
                self._sort_out(look, single, new, done)
        self.context.finish(done)
        is_bulk = self.is_bulk or len(new) > self.context.watch.backfill_limit
        if self.context.watch.pull_requests == "rolling" or is_bulk:
            return single, [*rolling, *new], migration
        return [*single, *((look, self.settings.form) for look in new)], rolling, migration

    def _sort_out(
        self, look: RowLook, single: list[tuple[RowLook, Form]], new: list[RowLook], done: list[Item]
    ) -> None:
        """Put a row where it belongs: nowhere if nothing is to be done, or if a person declined this very row."""
        row = self._row(look)
        wanted = row.at(look.state, self.settings.form)
        state = replace(look.state, declined=()) if look.taken else look.state
        decision = decide(row.mark, wanted.text, wanted.files, state, self.settings.form)
        shared, new_file = (self.shared.rolling, self.shared.migration), wanted.files[look.path]
        is_declined = not look.taken and any(one.is_declined(look.path, new_file) for one in shared)
        if decision.publication is None or (isinstance(decision.publication, OpenRequest) and is_declined):
            done.append(look.item)
        elif isinstance(decision.publication, OpenRequest):
            new.append(look)
        else:
            single.append((look, self.settings.form))

    def _row(self, look: RowLook) -> DesiredRow:
        """The row as it should be."""
        return DesiredRow(
            self._mark(look.key).leaderboard,
            look.key,
            self.context.source.name,
            look.entry,
            look.before,
            look.disputed,
            self.target.name,
            self.context.other_places(self.settings.to),
            look.beside,
            reason=look.reason if look.entry is None else "",
            rank=self._rank,
        )

    def _rank(self, entry: Entry) -> str:
        """Where a row would stand on the board, as the state keeps it; each is asked for once."""
        if entry.key not in self.ranks:
            standing = self.context.state.boards.standing(self.settings.to, entry)
            self.ranks[entry.key] = proposed_rank(entry, standing)
        return self.ranks[entry.key]

    def _alone(self, look: RowLook, form: Form, *, closes: bool = False) -> Proposal:
        """A row in a request or comment of its own; one that `closes` leaves nothing in a declined row's request."""
        row = self._row(look)

        def desire(state: CurrentState) -> DesiredState:
            return DesiredState(present_text(state), {}) if closes else row.at(state, form)

        is_restored = bool(look.taken) and not closes
        return Proposal(look.items, self.target, row.mark, (look.path,), desire, form, is_restored=is_restored)

    def _together(
        self, mark: Marker, looks: Sequence[RowLook], state: CurrentState, without: Collection[str] = ()
    ) -> Proposal:
        """Rows in a shared request, or in one commit; `without` are paths of declined rows."""
        proposed = state.request.files if state.request else ()
        paths = tuple(dict.fromkeys([*(look.path for look in looks), *proposed]))
        rows, places = [self._row(look) for look in looks], self.context.other_places(self.settings.to)
        form: Form = "pull-request" if mark.kind == "migration" else self.settings.form
        return Proposal(
            [look.item for look in looks],
            self.target,
            mark,
            paths,
            lambda state: desired_together(
                mark,
                rows,
                state,
                form,
                without=without,
                places=places,
                why=self.why,
                is_discussed=self.target.comments is not None,
            ),
            form,
        )
