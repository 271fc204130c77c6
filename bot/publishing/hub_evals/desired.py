"""What the repository of one model should hold, and the text that proposes it: one function of what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, is_ours
from bot.publishing.hub_evals.model_layout import model_mark, model_request_text, model_withdrawn_text
from bot.publishing.layout import Draft, RowChange
from bot.publishing.publication import CurrentState, DesiredState, Marker, PostText
from bot.publishing.texts import with_notes

NOTHING = PostText("", "")
CLOSED = "its owner closed a request with these values; they are not proposed again"
CLOSED_TWICE = "its owner closed more than one request; nothing more is proposed there"


@dataclass(frozen=True)
class WantedModel:
    """What is wanted of one model's repository, whatever it holds.

    `changes` are all rows of the model, `notes` sentences about the watch, `closings` how many requests of the bot
    people closed there: what the last one proposed is final, and after a second one everything is.
    """

    model: str
    layout: EvalResultsLayout
    changes: Sequence[RowChange]
    notes: Sequence[str] = ()
    closings: int = 0

    @property
    def mark(self) -> Marker:
        """The mark of the request."""
        return model_mark(self.model, self.layout.leaderboard.id)


@dataclass(frozen=True)
class DesiredModel:
    """What a model's repository should be. `draft` has the files against main without those that `closed` leaves out.

    `closed` says why some are left out, "" if none is.
    """

    desired: DesiredState
    draft: Draft
    closed: str = ""


def desired_model(wanted: WantedModel, state: CurrentState) -> DesiredModel:
    """The files of a model's results, and the text that proposes them."""
    layout, request = wanted.layout, state.request
    full = layout.draft(wanted.changes, state.files)
    draft, closed = full, ""
    if request is None and state.declined:
        is_final = wanted.closings > 1
        draft = replace(full, files={}, cells={}) if is_final else layout.without(full, state.declined[0])
        if draft.files != full.files:
            closed = CLOSED_TWICE if is_final else CLOSED
    proposed: Mapping[str, bytes | None] = request.files if request is not None else {}
    row = layout.row(wanted.changes)
    # A proposed file stays where somebody edited it, or where values are disputed.
    stays = {
        path: data
        for path, data in proposed.items()
        if row is not None and (draft.refused or (data is not None and not is_ours(data, layout.leaderboard.id)))
    }
    if not draft.files and not draft.refused and not stays:
        return DesiredModel(DesiredState(NOTHING, {} if row is not None else dict.fromkeys(proposed)), draft, closed)
    files: dict[str, bytes | None] = dict(stays)
    for path, data in draft.files.items():
        there = proposed.get(path)
        files[path] = there if there is not None and layout.is_same(there, data) else data
    if request is not None and files == proposed and not draft.files:
        return DesiredModel(DesiredState(request.text, files), draft, closed)
    mark, title = wanted.mark.about(layout.marks(files)), layout.leaderboard.title
    if row is None:
        return DesiredModel(DesiredState(model_withdrawn_text(wanted.model, title, mark), files), draft, closed)
    text = with_notes(model_request_text(row.entry, title, draft, mark), wanted.notes)
    return DesiredModel(DesiredState(text, files), draft, closed)
