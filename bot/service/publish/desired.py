"""Compute the desired rows of a target from the submissions and the target's current state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.platforms.target import Target
from bot.publishing.entry import FOLDER, Entry, choose, digest_of, entry_path, is_same_row
from bot.publishing.plan import planned_row
from bot.publishing.publication import CurrentState, Form, Marker, PostText, rolling_mark
from bot.publishing.texts import migration_text, request_text, rolling_text, row_text, with_places, withdrawn_text
from bot.reporting.escape import code
from bot.service.publish.reconcile import DesiredState, PublishResult, parsed, reconcile

MIGRATED = "the declaration or the bot changed"


@dataclass(frozen=True, slots=True)
class DesiredRow:
    """One row of a leaderboard: its entry, or None if `source` has withdrawn it.

    `source` is "" for the rows of one call, which compete with the row at the target, whoever published it.
    `before` is the row at the target when it was read, `contested` the folder of another first submitter,
    `target` the target's name, `places` links to the other targets of the row.
    """

    leaderboard: str
    key: str
    source: str
    entry: Entry | None
    before: Entry | None = None
    contested: str = ""
    target: str = ""
    places: Sequence[str] = ()

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
        there = parsed(state.files.get(self.path))
        is_ours = bool(self.source) and there is not None and is_from(there, self.source)
        if self.entry is not None:
            return self._with_entry(self.entry, there, is_ours=is_ours, state=state, form=form)
        if self._is_of_another_source(state):
            return DesiredState(_present_text(state), state.request.files if state.request else state.files)
        files = {self.path: None if is_ours else state.files.get(self.path)}
        return DesiredState(withdrawn_text(self.path, self.mark), files)

    def _with_entry(
        self, new: Entry, there: Entry | None, *, is_ours: bool, state: CurrentState, form: Form
    ) -> DesiredState:
        proposed = parsed(state.request.files.get(self.path)) if state.request else None
        rival = (proposed or there) if not self.source else None if is_ours else there
        entry = as_published(choose([new], rival), [proposed, self.before, there])
        if form == "comment":
            is_said = state.comment is not None and self.before is not None and self.before == entry
            text = row_text(entry, there, self.mark, self.target)
            return DesiredState(_present_text(state) if is_said else with_places(text, self.places, self.mark), {})
        text = request_text(entry, there, self.mark, target=self.target, first=self.contested)
        text = with_places(text, self.places, self.mark)
        return DesiredState(text, {self.path: entry.to_bytes()})

    def _is_of_another_source(self, state: CurrentState) -> bool:
        """Tell whether what is proposed or said about the row comes from another source, so that it is left alone."""
        if state.comment is not None:
            return code(self.source) not in state.comment.body
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
) -> DesiredState:
    """The desired state of all rows of a shared request: these again, the others as they are proposed.

    `derived` are files that ride in it because nobody may write them to main, `without` the paths of declined rows,
    `places` links to the other targets of the rows.
    """
    files: dict[str, bytes | None] = {**(state.request.files if state.request else {}), **(derived or {})}
    for row in rows:
        files.update(row.at(state, form).files)
    kept = {path: data for path, data in files.items() if path not in without}
    new = {path: data for path, data in kept.items() if not is_same_row(state.files.get(path), data)}
    pairs = [
        (parsed(state.files.get(path)), parsed(data))
        for path, data in sorted(new.items())
        if path.startswith(f"{FOLDER}/")
    ]
    return DesiredState(with_places(_shared_text(mark, pairs), places, mark), new)


def _shared_text(mark: Marker, pairs: Sequence[tuple[Entry | None, Entry | None]]) -> PostText:
    """The text for rows as they stand and as they should be."""
    if mark.kind != "migration":
        return rolling_text(pairs, mark)
    rows = [planned_row(known.key, old, new, MIGRATED) for old, new in pairs if (known := new or old) is not None]
    return migration_text(rows, mark)


def is_from(entry: Entry, source: str) -> bool:
    """Tell whether a row comes from a source."""
    return any(file.source == source for file in entry.evidence)


def as_published(entry: Entry, published: Iterable[Entry | None]) -> Entry:
    """The entry at the target where it is the same row, so that the commits that it names stay."""
    for there in published:
        if there is not None and digest_of(there) == digest_of(entry):
            return there
    return entry


def _present_text(state: CurrentState) -> PostText:
    """The text of the open request, or of the comment."""
    return (
        state.request.text if state.request is not None else PostText("", state.comment.body if state.comment else "")
    )


def publish(entries: Iterable[Entry], target: Target, form: Form, *, dry_run: bool = False) -> list[PublishResult]:
    """Publish rows; of several entries with one key the most complete, then the newest is the row's."""
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        by_key.setdefault(entry.key, []).append(entry)
    return [_publish_row(choose(rivals), target, form, dry_run=dry_run) for rivals in by_key.values()]


def _publish_row(entry: Entry, target: Target, form: Form, *, dry_run: bool) -> PublishResult:
    """Publish one row where it is proposed already, else in a request of its own."""
    row = DesiredRow(entry.leaderboard.id, entry.key, "", entry, target=target.name)
    shared = rolling_mark(entry.leaderboard.id)
    if form == "pull-request":
        request = target.read_state(shared, (row.path,)).request
        if request is not None and row.path in request.files:
            done = reconcile(
                target,
                shared,
                tuple(request.files),
                lambda state: desired_together(shared, [row], state, form),
                form,
                dry_run=dry_run,
            )
            return PublishResult(entry.key, done.decision, done.where)
    return reconcile(target, row.mark, (row.path,), lambda state: row.at(state, form), form, dry_run=dry_run)
