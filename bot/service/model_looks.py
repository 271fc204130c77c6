"""Compare the page of one model with its rows: their values, the page's values, and the next step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import unquote

from bot.publishing.entry import Entry
from bot.publishing.hub_evals.model_layout import ModelLayout, model_mark, model_request_text, model_withdrawn_text
from bot.publishing.layout import Draft, RowChange
from bot.publishing.plan import PlannedRow, RowAction
from bot.publishing.publication import CurrentState, Decision, Marker, PostText, decide
from bot.publishing.texts import with_places
from bot.service.items import Item
from bot.service.reconcile import DesiredState

NOTHING = PostText("", "")
CLOSED = "its owner closed a request with these values; they are not proposed again"
CLOSED_TWICE = "its owner closed more than one request; nothing more is proposed there"


@dataclass
class DesiredModel:
    """The desired state of one model's repository, given its current state.

    `changes` are all rows of the model, `places` links to the other targets, `closings` how many requests of the bot
    people closed there: what the last one proposed is final, and after a second one everything is. After `at`, `draft`
    has the files against main, and `closed` says why some are left out, "" if none is.
    """

    model: str
    layout: ModelLayout
    changes: Sequence[RowChange]
    places: Sequence[str] = ()
    closings: int = 0
    draft: Draft = field(default_factory=Draft)
    closed: str = ""

    @property
    def mark(self) -> Marker:
        """The mark of the request."""
        return model_mark(self.model, self.layout.leaderboard.id)

    def at(self, state: CurrentState) -> DesiredState:
        """The files, and the text that proposes them."""
        self.draft, request = self.layout.draft(self.changes, state.files), state.request
        if request is None and state.declined is not None:
            self._leave_out(state.declined)
        proposed: Mapping[str, bytes | None] = request.files if request is not None else {}
        if not self.draft.files and not self.draft.refused:
            is_withdrawn = self.layout.row(self.changes) is None
            return DesiredState(NOTHING, dict.fromkeys(proposed) if is_withdrawn else {})
        files = {path: self._kept(path, data, proposed) for path, data in self.draft.files.items()}
        if self.draft.refused and request is not None:
            files = {**proposed, **files}  # disputed values stay unchanged on both sides
        if request is not None and files == proposed and not self.draft.files:
            return DesiredState(request.text, files)
        return DesiredState(self._text(), files)

    def _leave_out(self, closed: Mapping[str, bytes | None]) -> None:
        """Take from the draft what an owner does not want; all of it where nobody can tell what was closed."""
        asked = self.draft.files
        is_final = self.closings > 1 or not closed
        self.draft = replace(self.draft, files={}, cells={}) if is_final else self.layout.without(self.draft, closed)
        if self.draft.files != asked:
            self.closed = CLOSED_TWICE if is_final else CLOSED

    def _kept(self, path: str, data: bytes | None, proposed: Mapping[str, bytes | None]) -> bytes | None:
        """A file as it is proposed already, where that says the same."""
        there = proposed.get(path)
        return there if there is not None and self.layout.is_same(self.changes, path, there, data) else data

    def _text(self) -> PostText:
        row = self.layout.row(self.changes)
        title = self.layout.leaderboard.title
        if row is None:
            return model_withdrawn_text(self.model, title, self.mark)
        text = model_request_text(row.entry, title, self.draft, row.links, self.mark)
        return with_places(text, self.places, self.mark)


@dataclass(frozen=True)
class ModelLook:
    """One model as it stands: `state` is that of its repository at `paths`, of which `desired` was asked."""

    model: str
    items: Sequence[Item]
    paths: tuple[str, ...]
    desired: DesiredModel
    state: CurrentState

    @property
    def key(self) -> str:
        """Its name in the plan."""
        return self.model

    @property
    def entry(self) -> Entry | None:
        """The entry that counts."""
        row = self.desired.layout.row(self.desired.changes)
        return row.entry if row is not None else None

    @cached_property
    def decision(self) -> Decision:
        """The decision for the model."""
        wanted = self.desired.at(self.state)
        return decide(self.desired.mark, wanted.text, wanted.files, self.state, "pull-request")

    @property
    def is_known(self) -> bool:
        """Whether something of the bot stands or stood there: whoever lost the state was allowed to write before."""
        read = self.desired.layout.read(RowChange("", None), self.state.files)
        return read is not None or self.state.request is not None or self.state.declined is not None

    @property
    def planned(self) -> PlannedRow:
        """The planned change of the model's results."""
        done = self.decision.publication
        files: Mapping[str, bytes | None] = getattr(done, "files", {})
        action: RowAction = "changed" if self.is_known else "added"
        if done is None:
            action = "unchanged"
        elif not any(data is not None for data in files.values()):
            action = "removed"
        cells = [cell for each in self.desired.draft.cells.values() for cell in each]
        written = ", ".join(f"{cell.column} {cell.before or '–'} → {cell.after}" for cell in cells)
        shown = "; ".join(filter(None, [written, *self.desired.draft.refused.values()]))
        digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
        reason = "its rows changed" if action in {"changed", "removed"} else ""
        return PlannedRow(self.model, self.model, action, reason=reason, digest=digest, values=shown)


def model_of(key: str) -> str:
    """The model that a row is about."""
    return "/".join(unquote(part) for part in key.split("/")[1:3])
