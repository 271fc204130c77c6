"""Files of two sources in one row, such as those of a harness and those of a form: which can stand beside each other.

A file of one source may not say what one of the other says of the model: a form has no place for the commit, a harness
has no chat template. Such a file stands in the row of the files beside it, where these agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from bot.evaluation.finding import grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.verdict import Verdict


class SourceFiles(NamedTuple):
    """A format, some of the leaves that its files measured, and what these say of the model: "" or None for nothing."""

    format: str
    leaves: frozenset[str]
    said: tuple[str, str, bool | None] = ("", "", None)


def are_apart(one: SourceFiles, other: SourceFiles, board: Leaderboard) -> bool:
    """Tell whether the leaves of two sources are others, and such that the format of one never has those of the other.

    Where both could measure all, two harnesses give two rows; a form is no harness, and has no arguments to compare.
    """
    if one.format == other.format or one.leaves & other.leaves or not (one.leaves and other.leaves):
        return False
    if _never_has(one.format, other.leaves, board) or _never_has(other.format, one.leaves, board):
        return True
    return not board.harness.accepted and not board.forms.isdisjoint({one.format, other.format})


def _never_has(format_id: str, leaves: Collection[str], board: Leaderboard) -> bool:
    return not any(format_id in board.formats_of(leaf) for _, leaf in board.leaves() if leaf.id in leaves)


def told_beside(verdicts: Iterable[Verdict], board: Leaderboard) -> tuple[Verdict, ...]:
    """The verdicts with the models as the files beside them name them, see `Verdict.own`.

    Only what is not said is filled in, and only if all files of the model that could stand beside it say one thing, and
    one of them says all of it: then that file makes the row.
    """
    found = tuple(verdicts)
    if not board.has_sources:
        return found
    of_model = grouped((one.result.model.id, one) for one in found if one.result is not None)
    known = {
        model: dict.fromkeys(map(_source, (one for one in files if one.status == "accepted" and one.measurements)))
        for model, files in of_model.items()
        if len({one.parsed.format for one in files}) > 1
    }
    return tuple([_told(one, known[model], board) if (model := _model(one)) in known else one for one in found])


def _model(verdict: Verdict) -> str | None:
    return verdict.result.model.id if verdict.result is not None else None


def _source(verdict: Verdict) -> SourceFiles:
    result, measured = verdict.result, verdict.measurements
    leaves = frozenset(one.required.leaf.id for one in measured.present) if measured is not None else frozenset()
    if result is None:
        return SourceFiles("", leaves)
    model = result.model
    return SourceFiles(result.format, leaves, (model.revision, model.precision, model.chat_template))


def _told(verdict: Verdict, known: Iterable[SourceFiles], board: Leaderboard) -> Verdict:
    ours, result = _source(verdict), verdict.result
    if result is None or all(map(_is_said, ours.said)):
        return verdict
    beside = [one for one in known if one.format != ours.format and _agree(ours, one)]
    values = [{one.said[at] for one in beside if _is_said(one.said[at])} for at in range(len(ours.said))]
    unsaid = [at for at, value in enumerate(ours.said) if not _is_said(value) and values[at]]
    if any(len(values[at]) > 1 for at in unsaid) or not all(are_apart(ours, one, board) for one in beside):
        return verdict
    revision, precision, template = (
        next(iter(values[at])) if at in unsaid else value for at, value in enumerate(ours.said)
    )
    model = replace(result.model, revision=revision, precision=precision, chat_template=template)
    makers = {(*one.said[:2], bool(one.said[2])) for one in beside}
    if model == result.model or (revision, precision, bool(template)) not in makers:
        return verdict
    return replace(verdict, parsed=replace(verdict.parsed, result=replace(result, model=model)), own=result.model)


def _is_said(value: object) -> bool:
    return value is not None and value != ""


def _agree(one: SourceFiles, other: SourceFiles) -> bool:
    """Tell whether nothing that both say differs."""
    pairs = zip(one.said, other.said, strict=True)
    return all(here == there for here, there in pairs if _is_said(here) and _is_said(there))
