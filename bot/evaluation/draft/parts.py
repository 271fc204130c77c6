"""Models whose files make several rows only because some of them record no commit or no precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from bot.evaluation.finding import grouped
from bot.evaluation.identity import is_served
from bot.evaluation.result import Result
from bot.evaluation.row_key import key_of


class InParts(NamedTuple):
    """A model, and the revision and the precision that some of its files record and others leave out; "" where none."""

    model: str
    revision: str
    precision: str


def models_in_parts(results: Sequence[Result]) -> list[InParts]:
    """The models that would have one row if all of their files said what some of them say."""
    found = []
    for model, of in grouped((one.model.id, one.model) for one in results if not is_served(one.model)).items():
        revisions, precisions = {one.revision for one in of}, {one.precision for one in of}
        is_one = len({bool(one.chat_template) for one in of}) == 1
        if model and is_one and len({key_of("", one) for one in of}) > 1 and all(
            len(said - {""}) <= 1 for said in (revisions, precisions)
        ):  # fmt: skip
            found.append(InParts(model, *(max(said) if "" in said else "" for said in (revisions, precisions))))
    return found


def as_one(results: Sequence[Result]) -> list[Result]:
    """The results with what other files of the same model say, so that each model has one row."""
    parts = {one.model: one for one in models_in_parts(results)}

    def whole(one: Result) -> Result:
        of, model = parts[one.model.id], one.model
        said = replace(model, revision=model.revision or of.revision, precision=model.precision or of.precision)
        return replace(one, model=said)

    return [whole(one) if one.model.id in parts else one for one in results]
