"""Short names of rows in one table: rows of the same model show precision, revision or template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

REVISION = 8  # letters of a commit that people read
NO_REVISION, NO_PRECISION = "unpinned", "unknown"


class NamedRow(NamedTuple):
    """What tells a row from others, as in its key; `model` is what people call it."""

    model: str
    revision: str
    precision: str
    chat_template: bool


def row_names(rows: Iterable[NamedRow]) -> list[str]:
    """The model of each row, and in brackets what tells it from other rows of that model; a template always."""
    rows = list(rows)
    same: dict[str, list[NamedRow]] = {}
    for row in rows:
        same.setdefault(row.model, []).append(row)
    fields = {model: _telling(rivals) for model, rivals in same.items()}
    marks = [_marks(row, fields[row.model]) for row in rows]
    return [f"{row.model} ({', '.join(mark)})" if mark else row.model for row, mark in zip(rows, marks, strict=True)]


def _telling(rows: Sequence[NamedRow]) -> tuple[str, ...]:
    """The fewest fields that tell rows of one model apart, for a line has little room."""
    choices: tuple[tuple[str, ...], ...] = ((), ("precision",), ("revision",))
    return next(
        (one for one in choices if len({_marks(row, one) for row in rows}) == len(rows)), choices[1] + choices[2]
    )


def _marks(row: NamedRow, fields: Sequence[str]) -> tuple[str, ...]:
    shown = {"precision": row.precision or NO_PRECISION, "revision": row.revision[:REVISION] or NO_REVISION}
    return (*[shown[field] for field in fields], *(["chat"] if row.chat_template else []))
