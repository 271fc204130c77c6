"""Forms in a declaration: the tables `[[formats]]`, checked, and the formats that they make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, model_validator

from bot.evaluation.formats import find_format
from bot.evaluation.formats.form import format_of_form
from bot.evaluation.formats.format import Format
from bot.evaluation.task import DeclarationModel, Id, Text

MOST_FORMS, MOST_VALUES = 30, 500
GAP = "gap"  # in place of what a text counts: the trial is left out
Count = Annotated[int, Field(gt=0, le=10**9, strict=True)] | Text


def _outcome(value: object) -> object:
    if value == GAP or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1):
        return value
    raise ValueError(f'write a number from 0 to 1, or "{GAP}"')


Outcome = Annotated[Any, AfterValidator(_outcome)]


class FormValue(DeclarationModel):
    """Where one kind of number lies and what it is called.

    The number is at `value`; or it is `right` of `of`, counts, with the `value` that the file has beside them if it has
    one; or it is made from `solved`, a list of ids, and `of`, a list or a number; or from `trials`, outcomes that
    `reduce` makes one number, as it makes the counts of several runs. `outcomes` says what a text of a trial counts,
    "gap" as if the trial were not there. `question` tells which question a trial is of. `samples` is the number of
    questions behind it, `stderr` its standard error, `interval` half of its 95 % confidence interval.
    """

    value: Text | None = None
    right: Text | None = None
    solved: Text | None = None
    trials: Text | None = None
    of: Count | None = None
    reduce: Text | None = None
    outcomes: dict[str, Outcome] | None = None
    question: Text | None = None
    leaf: Text
    metric: Text | None = None
    unit: Literal["fraction", "percent", "count", "plain"] = "fraction"
    higher_is_better: StrictBool = True
    samples: Count | None = None
    stderr: Text | None = None
    interval: Text | None = None


class DeclaredForm(DeclarationModel):
    """A form of result files: where in a file the measurements, their models, settings and numbers are.

    `files` is a pattern of paths, `has` what a file of the form has; at least one number where neither is given.
    """

    id: Id
    title: Text | None = None
    files: Text | None = None
    has: tuple[Text, ...] = ()
    rows: Text | None = None
    model: Text | None = None
    revision: Text | None = None
    date: Text | None = None
    precision: Text | None = None
    chat_template: StrictBool | Text | None = None
    harness: Text | None = None
    version: Text | None = None
    agent: Text | None = None
    settings: tuple[Text, ...] = ()
    values: Annotated[tuple[FormValue, ...], Field(min_length=1, max_length=MOST_VALUES)]

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        known = find_format(self.id)
        if known is not None and not known.is_form:
            raise ValueError(f"there is a format {self.id} already: give the form another id")
        self.format  # noqa: B018 - raises ValueError
        return self

    @cached_property
    def format(self) -> Format:
        """The format that it makes."""
        return format_of_form(self.model_dump(exclude_defaults=True))

    def __getstate__(self) -> dict[Any, Any]:
        """What is pickled: without the format, which is made anew."""
        state = super().__getstate__()
        return {**state, "__dict__": {key: one for key, one in state["__dict__"].items() if key != "format"}}


def form_ids(data: Mapping[str, Any]) -> frozenset[str]:
    """The ids of the forms in what is written in a declaration, whatever else is wrong in it."""
    tables = data.get("formats")
    ids = [one.get("id") for one in tables if isinstance(one, dict)] if isinstance(tables, list) else []
    return frozenset(one for one in ids if isinstance(one, str))
