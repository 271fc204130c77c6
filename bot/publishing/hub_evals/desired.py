"""What the repository of one model should hold, and the text that proposes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, is_ours
from bot.publishing.hub_evals.model_layout import model_mark, model_request_text, model_withdrawn_text
from bot.publishing.layout import Draft, RowChange
from bot.publishing.publication import ClosedRequest, CurrentState, DesiredState, Marker, PostText
from bot.publishing.texts import with_places

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
    layout: EvalResultsLayout
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
        if request is None and state.declined:
            self._leave_out(state.declined[0])
        proposed: Mapping[str, bytes | None] = request.files if request is not None else {}
        is_withdrawn = self.layout.row(self.changes) is None
        stays = {path: data for path, data in proposed.items() if self._stays(data) and not is_withdrawn}
        if not self.draft.files and not self.draft.refused and not stays:
            return DesiredState(NOTHING, dict.fromkeys(proposed) if is_withdrawn else {})
        files = stays | {path: self._kept(path, data, proposed) for path, data in self.draft.files.items()}
        if request is not None and files == proposed and not self.draft.files:
            return DesiredState(request.text, files)
        return DesiredState(self._text(files), files)

    def _leave_out(self, closed: ClosedRequest) -> None:
        """Remove from the draft what the owner declined, and everything after a second time."""
        asked, is_final = self.draft.files, self.closings > 1
        self.draft = replace(self.draft, files={}, cells={}) if is_final else self.layout.without(self.draft, closed)
        if self.draft.files != asked:
            self.closed = CLOSED_TWICE if is_final else CLOSED

    def _stays(self, data: bytes | None) -> bool:
        """Tell whether a proposed file stays: somebody edited it, or values are disputed."""
        is_theirs = data is not None and not is_ours(data, self.layout.leaderboard.id)
        return is_theirs or bool(self.draft.refused)

    def _kept(self, path: str, data: bytes | None, proposed: Mapping[str, bytes | None]) -> bytes | None:
        """The proposed file where it says the same as the new one, else the new one."""
        there = proposed.get(path)
        return there if there is not None and self.layout.is_same(there, data) else data

    def _text(self, files: Mapping[str, bytes | None]) -> PostText:
        mark = self.mark.about(self.layout.marks(files))
        row = self.layout.row(self.changes)
        title = self.layout.leaderboard.title
        if row is None:
            return model_withdrawn_text(self.model, title, mark)
        text = model_request_text(row.entry, title, self.draft, mark)
        return with_places(text, self.places)
