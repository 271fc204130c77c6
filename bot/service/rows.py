"""Publishing changed rows at one target: in requests of their own, one rolling request, commits or comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.platforms.target import Target
from bot.publishing.entry import Entry, choose, entry_path, is_same_row
from bot.publishing.publication import CurrentState, Decision, Form, Marker, OpenRequest, PostText, decide
from bot.publishing.texts import request_text, rolling_text, row_text, withdrawn_text
from bot.reporting.escape import code
from bot.service.reconcile import DesiredState, parsed, reconcile

Rivals = Mapping[str, Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of one row, or of one rolling request: what was decided, and where it can be seen."""

    subject: str
    decision: Decision
    where: str


def standing_wish(standing: CurrentState) -> tuple[PostText, Mapping[str, bytes | None]]:
    """What stands at a target, as a wish: nothing is to be done."""
    if standing.request is not None:
        return standing.request.text, standing.request.files
    return PostText("", standing.note.body if standing.note else ""), standing.files


def is_from(entry: Entry, source: str) -> bool:
    """Whether a row's evidence lies in a source."""
    return any(file.source == source for file in entry.evidence)


@dataclass(frozen=True)
class RowPublisher:
    """Publishes the rows of one watch to one target.

    `source` is the source's name: a row at the target that came from it, and of which it has nothing any more, was
    withdrawn; rows from elsewhere are rivals like any other.
    """

    target: Target
    form: Form
    leaderboard_id: str
    source: str
    is_rolling: bool
    limit: int
    dry_run: bool = False

    def settle(self, rivals: Rivals) -> list[RowResult]:
        """Bring the target to these rows: by key, all submissions at the source that measure it (none: withdrawn)."""
        if not rivals:
            return []
        if self.form == "comment":
            return [done for key in rivals if (done := self.settle_note(key, rivals[key]))]
        if self.form == "commit":
            return [self.settle_many(rivals)]
        shared = self.target.read_state(self.rolling_mark, tuple(map(entry_path, rivals)))
        single, many = self.parted(rivals, shared)
        settled = [self.settle_one(key, rivals[key]) for key in single]
        if many or shared.duplicates:
            settled.append(self.settle_many({key: rivals[key] for key in many}))
        return settled

    @property
    def rolling_mark(self) -> Marker:
        """The mark of the request that rows share."""
        return Marker("rolling", f"rolling/{self.leaderboard_id}", self.leaderboard_id)

    def mark(self, key: str) -> Marker:
        """The mark of all that is about one row."""
        return Marker("entry", key, self.leaderboard_id)

    def parted(self, rivals: Rivals, shared: CurrentState) -> tuple[list[str], list[str]]:
        """The keys that are settled one by one, and those that share a request.

        A row stays in the request in which it stands; new ones share one beyond the limit.
        """
        proposed = shared.request.files if shared.request else {}
        many = [key for key in rivals if entry_path(key) in proposed]
        single: list[str] = []
        new: list[str] = []
        for key in rivals:
            if key not in many:
                self.sort_out(key, rivals[key], shared, single, new)
        if self.is_rolling or len(new) > self.limit:
            return single, [*many, *new]
        return [*single, *new], many

    def sort_out(
        self, key: str, rivals: Sequence[Entry], shared: CurrentState, single: list[str], new: list[str]
    ) -> None:
        """Put a key where it belongs: nowhere if nothing is to be done or a person declined it."""
        mark, path = self.mark(key), entry_path(key)
        standing = self.target.read_state(mark, (path,))
        wish = self.wish(key, rivals, standing)
        decision = decide(mark, wish.text, wish.files, standing, self.form)
        declined = (shared.declined or {}).get(path)
        if not isinstance(decision.publication, OpenRequest):
            if decision.publication is not None:
                single.append(key)
        elif declined is None or not is_same_row(declined, wish.files[path]):
            new.append(key)

    def wish(self, key: str, rivals: Sequence[Entry], standing: CurrentState) -> DesiredState:
        """What should stand for one row: the best submission's, or nothing where all were withdrawn."""
        mark, path = self.mark(key), entry_path(key)
        there = parsed(standing.files.get(path), path)
        is_ours = there is not None and is_from(there, self.source)
        if rivals:
            entry = choose(rivals, None if is_ours else there)
            text = (row_text if self.form == "comment" else request_text)(entry, there, mark)
            return DesiredState(text, {path: entry.to_bytes()})
        if self.is_another_s(standing, path):
            return DesiredState(*standing_wish(standing))
        return DesiredState(withdrawn_text(path, mark), {path: None if is_ours else standing.files.get(path)})

    def is_another_s(self, standing: CurrentState, path: str) -> bool:
        """Whether what is proposed or said about a row comes from another source, so that we leave it alone."""
        if standing.note is not None:
            return code(self.source) not in standing.note.body
        proposed = parsed(standing.request.files.get(path), path) if standing.request else None
        return proposed is not None and not is_from(proposed, self.source)

    def lost_keys(self) -> set[str]:
        """The rows at the target that may have come from our source: what was withdrawn while nobody remembers."""
        keys = self.target.read_keys(self.leaderboard_id)
        if self.form == "comment":
            return keys
        shared = self.target.read_state(self.rolling_mark, ()).request if self.form == "pull-request" else None
        proposed = [parsed(data, path) for path, data in (shared.files if shared else {}).items()]
        rows = [row for row in [*proposed, *self.target.read_entries()] if row is not None]
        return keys | {row.key for row in rows if is_from(row, self.source)}

    def settle_one(self, key: str, rivals: Sequence[Entry]) -> RowResult:
        """Publish one row in a request of its own."""
        decision, where = reconcile(
            self.target,
            self.mark(key),
            (entry_path(key),),
            lambda standing: self.wish(key, rivals, standing),
            self.form,
            dry_run=self.dry_run,
        )
        return RowResult(key, decision, where)

    def settle_note(self, key: str, rivals: Sequence[Entry]) -> RowResult | None:
        """Publish one row as a comment; one that was withdrawn says so where it was said before."""
        if not rivals and self.target.read_state(self.mark(key), ()).note is None:
            return None
        return self.settle_one(key, rivals)

    def settle_many(self, rivals: Rivals) -> RowResult:
        """Publish all of these rows together: in the rolling request, or in one commit."""
        paths = tuple(map(entry_path, rivals))
        decision, where = reconcile(
            self.target,
            self.rolling_mark,
            paths,
            lambda standing: self.wish_many(rivals, standing),
            self.form,
            dry_run=self.dry_run,
        )
        return RowResult(self.rolling_mark.key, decision, where)

    def wish_many(self, rivals: Rivals, standing: CurrentState) -> DesiredState:
        """What should stand for all rows of the rolling request: these anew, the others as they are proposed."""
        files: dict[str, bytes | None] = dict(standing.request.files) if standing.request else {}
        for key, entries in rivals.items():
            files.update(self.wish(key, entries, standing).files)
        new = {path: data for path, data in files.items() if not is_same_row(standing.files.get(path), data)}
        return DesiredState(self.many_text(new), new)

    def many_text(self, files: Mapping[str, bytes | None]) -> PostText:
        """The text of a request or commit for many rows."""
        rows = [parsed(data, path) for path, data in sorted(files.items())]
        return rolling_text([row for row in rows if row is not None], self.rolling_mark)
