"""The one reconciler: look at a target, decide, write once, and look again until it has what it should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

from bot.errors import MalformedEntry
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.declarations import declaration_at
from bot.platforms.net import Backoff, is_overtaken
from bot.platforms.target import Target
from bot.publishing.board import Board, make_board, proposed_rank, rank_entries, standing_among
from bot.publishing.changes import why_rescored
from bot.publishing.entry import FOLDER, Declared, Entry, choose, digest_of, entry_path, is_same_row, parse_entry
from bot.publishing.plan import planned_row
from bot.publishing.publication import (
    Commit,
    CurrentState,
    Decision,
    Form,
    Marker,
    PostText,
    decide,
    entry_in,
    rolling_mark,
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
    with_places,
    withdrawn_text,
)
from bot.reporting.escape import code

# One item waits at most 10 seconds for a service, for others could go on; then it is left to a later pass.
RETRY = Backoff(pause=0.2, longest=10.0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The desired state of a target: files (None: not there) and the text that proposes them."""

    text: PostText
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result for one row or request: the decision, and where it can be seen ("" if nothing was done)."""

    subject: str
    decision: Decision
    where: str = ""


def reconcile(
    target: Target,
    mark: Marker,
    paths: tuple[str, ...],
    desire: Callable[[CurrentState], DesiredState],
    form: Form,
    *,
    dry_run: bool = False,
    is_restored: bool = False,
) -> PublishResult:
    """Look, decide and apply until nothing is left to do: the last decision, and where its result can be seen.

    In commit form, a request from the time when the target took requests is closed after the commit. What `is_restored`
    is proposed although a person closed the same once.
    """

    def write_once() -> PublishResult:
        done: PublishResult | None = None
        while True:
            state = target.read_state(mark, paths)
            state = replace(state, declined=()) if is_restored else state
            wanted = desire(state)
            decision = decide(mark, wanted.text, wanted.files, state, form)
            if decision.publication is None or dry_run:
                return done or PublishResult(mark.key, decision)
            result = PublishResult(mark.key, decision, target.apply(decision.publication))
            if isinstance(decision.publication, Commit) and state.request is not None:
                done = result
            elif not state.duplicates:
                return done or result

    return retry_write(write_once)


def retry_write(write_once: Callable[[], T]) -> T:
    """Call what looks before it writes; where the write failed or was overtaken, call it again."""
    return RETRY(write_once, is_overtaken)


def publish_comment(mark: Marker, text: PostText, target: Target, *, may_open: bool) -> str:
    """Update the comment of a mark, and give its URL; "" if nothing was to be done.

    Where there is none yet, one is written only if `may_open`.
    """
    if not may_open and target.read_state(mark, ()).comment is None:
        return ""
    return reconcile(target, mark, (), lambda _: DesiredState(text, {}), "comment").where


def parsed(data: bytes | None) -> Entry | None:
    """The entry in a file; None for a file that holds no entry, and is then overwritten."""
    try:
        return parse_entry(data) if data is not None else None
    except MalformedEntry:
        return None


def entries_of(target: Target, leaderboard: Leaderboard) -> list[Entry]:
    """The entries of one leaderboard at the target."""
    return of_leaderboard(target.scan_entries().entries, leaderboard)


def of_leaderboard(entries: Iterable[Entry], leaderboard: Leaderboard) -> list[Entry]:
    """The entries of one leaderboard."""
    return [entry for entry in entries if entry.leaderboard.id == leaderboard.id]


def board_at(target: Target, leaderboard: Leaderboard) -> Board:
    """The board of a target's entries."""
    there = target.scan_entries().entries
    return replace(make_board(of_leaderboard(there, leaderboard), leaderboard), rival=rival_of(leaderboard, there))


def rival_of(leaderboard: Leaderboard, there: Iterable[Entry]) -> str:
    """The other leaderboard that has most rows at a target, and so the table there; "" if there is none."""
    counts = Counter(entry.leaderboard.id for entry in there)
    first = max(counts, key=lambda board: (counts[board], board), default=leaderboard.id)
    return "" if first == leaderboard.id else first


def rebuild_board(target: Target, leaderboard: Leaderboard) -> bool:
    """Update the table at the target to its entries of this leaderboard; tell whether anything was written."""

    def write_once() -> bool:
        return target.rebuild_board(board_at(target, leaderboard))

    return retry_write(write_once)


MOST_DECLARATIONS = 20  # that are read to say why rows are scored otherwise
Why = Callable[[Entry, Entry | None], str]


@dataclass
class Rescored:
    """Says why rows of a target have other numbers although their files are the same."""

    target: Target
    today: Leaderboard
    _declared: dict[Declared, Leaderboard | None] = field(default_factory=dict, repr=False)

    def __call__(self, before: Entry, after: Entry | None) -> str:
        """The reason for one row, with the keys of the declaration that changed."""
        named = before.leaderboard
        is_known = named.scoring_digest == self.today.scoring_digest
        if not is_known and named not in self._declared and len(self._declared) < MOST_DECLARATIONS:
            self._declared[named] = declaration_at(self.target, named)
        return why_rescored(before, after, self._declared.get(named), self.today)


@dataclass(frozen=True, slots=True)
class DesiredRow:
    """One row of a leaderboard: its entry, or None if `source` has withdrawn it.

    `source` is "" for the rows of one call, which compete with the row at the target, whoever published it.
    `before` is the row at the target when it was read, `disputed` the folder of another first submitter,
    `target` the target's name, `places` links to the other targets of the row, `beside` other rows of its model there.
    `reason` says why a withdrawn row goes, "" where that is said already. `rank` says where an entry would stand.
    """

    leaderboard: str
    key: str
    source: str
    entry: Entry | None
    before: Entry | None = None
    disputed: str = ""
    target: str = ""
    places: Sequence[str] = ()
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
        if self.entry is not None:
            return self._with_entry(self.entry, state, form)
        if self._is_of_another_source(state):
            return DesiredState(present_text(state), state.request.files if state.request else state.files)
        files = {self.path: None if self._is_ours(state) else state.files.get(self.path)}
        said = present_text(state)
        is_said = not self.reason and says_withdrawn(said, self.path)
        text = withdrawn_text(self.path, self.mark, self.reason, is_request=form == "pull-request")
        return DesiredState(said if is_said else text, files)

    def files_at(self, state: CurrentState, form: Form) -> Mapping[str, bytes | None]:
        """Its files alone: a request of many rows has a text of its own."""
        if self.entry is None:
            return self.at(state, form).files
        return {self.path: self._chosen(self.entry, state).to_bytes()}

    def _is_ours(self, state: CurrentState) -> bool:
        there = parsed(state.files.get(self.path))
        return bool(self.source) and there is not None and is_from(there, self.source)

    def _chosen(self, new: Entry, state: CurrentState) -> Entry:
        """The entry to publish: this one or its rival, with the commits that are named already."""
        there = parsed(state.files.get(self.path))
        proposed = parsed(state.request.files.get(self.path)) if state.request else None
        rival = (proposed or there) if not self.source else None if self._is_ours(state) else there
        return as_published(choose([new], rival), there, [proposed, self.before])

    def _with_entry(self, new: Entry, state: CurrentState, form: Form) -> DesiredState:
        entry, there, said = self._chosen(new, state), parsed(state.files.get(self.path)), present_text(state)
        if form == "comment":
            is_said = state.comment is not None and self.before is not None and self.before == entry
            comment = with_places(row_text(entry, there, self.mark, self.target), self.places, self.mark)
            return DesiredState(said if is_said else comment, {})
        text: PostText | None = None
        if state.request is not None or form == "commit":
            text = self._request_text(entry, there, state, form, rank_line_in(said))
        # What only moved on the board since does not change the text of a request.
        if text is None or (form == "pull-request" and not says(said, text)):
            text = self._request_text(entry, there, state, form, rank_line(self.rank(entry)))
        return DesiredState(text, {self.path: entry.to_bytes()})

    def _request_text(self, entry: Entry, there: Entry | None, state: CurrentState, form: Form, rank: str) -> PostText:
        text = request_text(
            entry,
            there,
            self.mark,
            target=self.target,
            first=self.disputed,
            is_commit=form == "commit",
            beside=self.beside,
            rank=rank,
        )
        return with_places(text, self.places, self.mark, state.request)

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
    places: Sequence[str] = (),
    why: Why | None = None,
    is_discussed: bool = False,
) -> DesiredState:
    """The desired state of all rows of a shared request: these again, the others as they are proposed.

    `derived` are files that ride in it because nobody may write them to main, `without` the paths of declined rows,
    `places` links to the other targets of the rows. `why` gives the reasons in the text of a migration, `is_discussed`
    says that people can comment at the target.
    """
    files: dict[str, bytes | None] = {**(state.request.files if state.request else {}), **(derived or {})}
    for row in rows:
        files.update(row.files_at(state, form))
    kept = {path: data for path, data in files.items() if path not in without}
    new = {path: data for path, data in kept.items() if not is_same_row(state.files.get(path), data)}
    pairs = [
        (parsed(state.files.get(path)), parsed(data))
        for path, data in sorted(new.items())
        if path.startswith(f"{FOLDER}/")
    ]
    steps = shared_steps(is_discussed=is_discussed) if form == "pull-request" else ""
    return DesiredState(with_places(_shared_text(mark, pairs, why, steps), places, mark, state.request), new)


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


def present_text(state: CurrentState) -> PostText:
    """The text of the open request, or of the comment."""
    return (
        state.request.text if state.request is not None else PostText("", state.comment.body if state.comment else "")
    )


def publish(
    entries: Iterable[Entry], target: Target, form: Form, there: Sequence[Entry] = (), *, dry_run: bool = False
) -> list[PublishResult]:
    """Publish rows; of several entries with one key the most complete, then the newest is the row's.

    As commits, the rows of a leaderboard that change are stored together. `there` are the rows at the target: what is
    said of a new one compares it with another of its model.
    """
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    chosen = [choose(rivals) for rivals in by_key.values()]
    stored: dict[str, PublishResult] = {}
    if form == "commit":
        for board in dict.fromkeys(entry.leaderboard.id for entry in chosen):
            stored |= _stored_together([one for one in chosen if one.leaderboard.id == board], target, dry_run=dry_run)
    by_model: dict[str, list[Entry]] = {}
    for entry in there:
        by_model.setdefault(_model_in(entry.key), []).append(entry)

    @cache
    def ranked(board: str) -> list[Entry]:
        return [row.entry for row in rank_entries(one for one in there if one.leaderboard.id == board)]

    def rank(one: Entry) -> str:
        return proposed_rank(one, standing_among(one, ranked(one.leaderboard.id)))

    rows = [replace(_row_of(one, target, by_model.get(_model_in(one.key), ())), rank=rank) for one in chosen]
    return [stored.get(row.key) or _publish_row(row, target, form, dry_run=dry_run) for row in rows]


def _stored_together(entries: Sequence[Entry], target: Target, *, dry_run: bool) -> dict[str, PublishResult]:
    """Store those rows of one leaderboard that change in one commit; nothing where fewer than two do.

    What requests propose has no part in it.
    """
    rows = [_row_of(entry, target) for entry in entries]
    mark, paths = rolling_mark(rows[0].leaderboard), tuple(row.path for row in rows)

    def write_once() -> dict[str, PublishResult]:
        state = CurrentState(target.read_state(mark, paths).files)
        wanted = desired_together(mark, rows, state, "commit")
        if len(wanted.files) < 2:  # one row alone has a commit with a text of its own
            return {}
        decision = decide(mark, wanted.text, wanted.files, state, "commit")
        where = target.apply(decision.publication) if decision.publication and not dry_run else ""
        return {row.key: PublishResult(row.key, decision, where) for row in rows if row.path in wanted.files}

    return retry_write(write_once) if len(rows) > 1 else {}


def _model_in(key: str) -> str:
    """The leaderboard and the model of a key."""
    return key.rpartition("/")[0]


def _row_of(entry: Entry, target: Target, of_model: Sequence[Entry] = ()) -> DesiredRow:
    beside = [one for one in of_model if one.key != entry.key]
    return DesiredRow(entry.leaderboard.id, entry.key, "", entry, target=target.name, beside=beside)


def _publish_row(row: DesiredRow, target: Target, form: Form, *, dry_run: bool) -> PublishResult:
    """Publish one row where it is proposed already, else in a request of its own."""
    shared = rolling_mark(row.leaderboard)
    if form == "pull-request":
        request = target.read_state(shared, (row.path,)).request
        if request is not None and row.path in request.files:
            done = reconcile(
                target,
                shared,
                tuple(request.files),
                lambda state: desired_together(shared, [row], state, form, is_discussed=target.comments is not None),
                form,
                dry_run=dry_run,
            )
            return PublishResult(row.key, done.decision, done.where)
    return reconcile(target, row.mark, (row.path,), lambda state: row.at(state, form), form, dry_run=dry_run)
