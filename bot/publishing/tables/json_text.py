"""The positions of values in a JSON text, so that one value can be replaced and the rest of the text kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, as_text, short
from bot.publishing.tables.sheet import Names, Splice, follow

SPACE = re.compile(r"[ \t\r\n]*")


INDENTS = (2, 4, None, 1, 3, "\t")
TIGHT = (",", ":")


def _refuse_constant(name: str) -> Any:
    raise Unwritable(f"it holds {name}, which is not valid JSON")


DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of an object, with the positions of its name and its value."""

    name: str
    key_start: int
    key_end: int
    start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value with its position."""

    start: int
    end: int
    value: Any


def load(text: str) -> JsonValue:
    """Parse a JSON text; numbers become decimals. Raises Unwritable if it is not strict JSON."""
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise Unwritable("it is nested too deeply") from None
    except ValueError as error:
        raise Unwritable(f"it is not valid JSON: {error}") from None
    return JsonValue(skip(text, 0), len(text.rstrip(" \t\r\n")), value)


def skip(text: str, at: int) -> int:
    """The next position that is not white space."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def members(text: str, start: int) -> Iterator[JsonMember]:
    """The members of the object that begins at `start`; the text is valid."""
    at = skip(text, start + 1)
    while text[at] != "}":
        name, key_end = DECODER.raw_decode(text, at)
        begin = skip(text, skip(text, key_end) + 1)
        value, end = DECODER.raw_decode(text, begin)
        yield JsonMember(name, at, key_end, begin, end, value)
        at = _next(text, end)


def items(text: str, start: int) -> Iterator[JsonValue]:
    """The values of the array that begins at `start`; the text is valid."""
    at = skip(text, start + 1)
    while text[at] != "]":
        value, end = DECODER.raw_decode(text, at)
        yield JsonValue(at, end, value)
        at = _next(text, end)


def _next(text: str, end: int) -> int:
    at = skip(text, end)
    return skip(text, at + 1) if text[at] == "," else at


def resolve(text: str, pointer: str) -> tuple[JsonValue, Names]:
    """What a pointer refers to in a text, and the path to it. Raises Unwritable."""
    return follow(load(text), pointer, lambda here: _children(text, here), lambda here: as_text(here.value))


def _children(text: str, here: JsonValue) -> Iterator[tuple[str | int, JsonValue]]:
    if isinstance(here.value, dict):
        yield from ((each.name, JsonValue(each.start, each.end, each.value)) for each in members(text, here.start))
    elif isinstance(here.value, list):
        yield from enumerate(items(text, here.start))


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


def dumped_like(text: str, container: JsonValue, new: Any) -> Splice:
    """Replace an empty list or object by `new`. Raises Unwritable if no setting writes the file as it is."""
    settings = next(_settings(text), None)
    if settings is None:
        raise Unwritable("it has no row to copy the layout of, and no setting of a serializer writes the file as it is")
    line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
    base = line[: len(line) - len(line.lstrip(" \t"))]
    written = json.dumps(new, default=as_double, **settings)
    return Splice(container.start, container.end, written.replace("\n", f"\n{base}"))


def _settings(text: str) -> Iterator[dict[str, Any]]:
    """The settings under which the serializer writes the text, apart from white space at its end."""
    value, body = json.loads(text), text.rstrip()
    for indent, ascii_only, tight in product(INDENTS, (True, False), (False, True)):
        settings: dict[str, Any] = {"indent": indent, "ensure_ascii": ascii_only}
        if tight:
            settings["separators"] = TIGHT
        if json.dumps(value, **settings) == body:
            yield settings


def as_double(value: Any) -> int | float:
    """A decimal as the serializer takes it."""
    if not isinstance(value, Decimal):
        raise TypeError(type(value).__name__)
    return int(value) if value == value.to_integral_value() else float(value)
