"""The common parts of all tables of a declaration: the base of their models, and the types of their values."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainSerializer,
    StringConstraints,
)

from bot.evaluation.formats import find_format, format_ids
from bot.evaluation.toml_words import spelled


def _known_format(value: str) -> str:
    """Refuse the id of a format that is not installed."""
    if find_format(value) is None:
        raise ValueError(f"there is no result format {value!r}; there are {', '.join(sorted(format_ids()))}")
    return value


FormatId = Annotated[str, AfterValidator(_known_format)]
FRACTION = re.compile(r"[-+]?\d{1,18}(/0*[1-9]\d{0,17}|\.\d{1,18})?")
MmluFamily = Literal[
    "original",
    "helm",
    "harness_2023",
    "harness_letters",
    "harness_letters_one_newline",
    "harness_generative",
    "harness_continuation",
]
Revision = Annotated[str, spelled(r"[0-9a-f]{7,40}", "write a commit: 7 to 40 of the characters 0 to 9 and a to f")]
Dataset = Annotated[str, spelled(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", "write org/name of the dataset")]
Text = Annotated[str, StringConstraints(min_length=1)]
Id = Annotated[
    str,
    spelled(
        r"[A-Za-z0-9][A-Za-z0-9_.:-]*", "write letters, digits and _ . : - without spaces; first a letter or digit"
    ),
]


def _fraction(value: object) -> Fraction:
    """Read "1/3", "0" or 1; a float is refused, for 0.333 is not a third."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError('write an exact fraction in quotes, such as "1/3"')
    if FRACTION.fullmatch(str(value)) is None:
        raise ValueError(f'{str(value)[:40]!r} is not a fraction; write one in quotes, such as "1/3"')
    return Fraction(value)


def canonical_version(value: object) -> str:
    """Spell a task version one way, whatever type the file gives it: 1, 1.0 and "1.0" are all "1"."""
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value)


Limit = Annotated[FiniteFloat, Field(ge=-1e15, le=1e15)]
Bound = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str)]
Version = Annotated[str, BeforeValidator(canonical_version)]


class DeclarationModel(BaseModel):
    """A table of a declaration: an unknown key is refused."""

    # built together with the model that holds it, not one by one: the cold start of `check` has a bar
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
