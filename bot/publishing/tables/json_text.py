"""The positions of values in a JSON text, so that one value can be replaced and the rest of the text kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, as_text, short
from bot.publishing.tables.sheet import Names, Splice, follow
from bot.reporting.locate import JsonPlace, places, skip

INDENTS = (2, 4, None, 1, 3, "\t")
TIGHT = (",", ":")
SETTINGS = ("indent", "ensure_ascii", "separators")  # of the serializer


def _refuse_constant(name: str) -> Any:
    raise Unwritable(f"it holds {name}, which is not valid JSON")


DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse_constant)


def load(text: str) -> JsonPlace:
    """Parse a JSON text; numbers become decimals. Raises Unwritable if it is not strict JSON."""
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise Unwritable("it is nested too deeply") from None
    except ValueError as error:
        raise Unwritable(f"it is not valid JSON: {error}") from None
    start = skip(text, 0)
    return JsonPlace("", start, start, start, len(text.rstrip(" \t\r\n")), value)


def children(text: str, here: JsonPlace) -> Iterator[JsonPlace]:
    """The members of an object, or the items of an array, of a text that `load` has read."""
    return places(text, here.start, DECODER)


def resolve(text: str, pointer: str) -> tuple[JsonPlace, Names]:
    """What a pointer refers to in a text, and the path to it. Raises Unwritable."""

    def named(here: JsonPlace) -> Iterator[tuple[str | int, JsonPlace]]:
        return ((each.name, each) for each in children(text, here))

    return follow(load(text), pointer, named, lambda here: as_text(here.value))


def ordinary(text: str) -> Any:
    """The value as Python's own reader gives it. Raises Unwritable."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unwritable(f"Python's reader refuses it: {error}") from None


def token(cell: Cell, *, ascii_only: bool) -> str:
    """A cell as JSON. Raises Unwritable for one that is absent."""
    if cell is ABSENT:
        raise Unwritable("a cell that is there cannot be left out again")
    if isinstance(cell, Decimal):
        return short(cell)
    return json.dumps(cell, ensure_ascii=ascii_only)


def dumped_like(text: str, container: JsonPlace, new: Any) -> Splice:
    """Replace an empty list or object by `new`. Raises Unwritable if no setting writes the file as it is."""
    value, body = json.loads(text), text.rstrip()
    choices = product(INDENTS, (True, False), (None, TIGHT))
    tried: Iterator[dict[str, Any]] = (dict(zip(SETTINGS, choice, strict=True)) for choice in choices)
    settings = next((each for each in tried if json.dumps(value, **each) == body), None)
    if settings is None:
        raise Unwritable("it has no row to copy the layout of, and no setting of a serializer writes the file as it is")
    line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
    base = line[: len(line) - len(line.lstrip(" \t"))]
    written = json.dumps(new, default=as_double, **settings)
    return Splice(container.start, container.end, written.replace("\n", f"\n{base}"))


def as_double(value: Any) -> int | float:
    """A decimal as the serializer takes it."""
    if not isinstance(value, Decimal):
        raise TypeError(type(value).__name__)
    return int(value) if value == value.to_integral_value() else float(value)
