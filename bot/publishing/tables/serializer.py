"""Finds the setting of Python's JSON serializer that writes a file as it is, for tables without rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.json_text import JsonValue
from bot.publishing.tables.sheet import Splice

INDENTS = (2, 4, None, 1, 3, "\t")
TIGHT = (",", ":")


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
