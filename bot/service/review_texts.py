"""The text of a review: the content of a request, the verdicts on its files, and the effect of a merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.evaluation.judgement import Judgement
from bot.publishing.publication import Marker
from bot.publishing.verdict_texts import Effects, review_text, status_line
from bot.service.context import WatchContext
from bot.service.folders import describe
from bot.service.previews import Preview
from bot.service.proposals import SourceRequest


def review_body(
    context: WatchContext, proposal: SourceRequest, judgements: Sequence[Judgement], preview: Preview, mark: Marker
) -> str:
    """The desired text of the sticky comment; rejected files come first."""
    worst = sorted(judgements, key=lambda judgement: judgement.verdicts[0].status != "rejected")
    said = [describe(judgement, context.source.name, proposal.head, context.declaration) for judgement in worst]
    effects = Effects(
        proposal.unread,
        proposal.deleted,
        proposal.replaced,
        proposal.others,
        preview.comparisons,
        preview.removed,
        preview.unchanged,
        preview.contested,
        preview.refused,
        preview.is_cut,
    )
    return review_text(proposal.head, said, effects, mark).body


def review_status(
    proposal: SourceRequest, judgements: Sequence[Judgement]
) -> tuple[Literal["success", "failure"], str]:
    """The commit's status: whether anything prevents merging the request, and the reason in one line."""
    return status_line([_status_of(one) for one in judgements], proposal.unread)


def _status_of(judgement: Judgement) -> str:
    """The status of a file: that of its row, which may lack tasks, unless the file itself is at fault."""
    verdict = judgement.verdicts[0].status
    return judgement.rows[0].status if judgement.rows and verdict != "rejected" else verdict
