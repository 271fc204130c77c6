"""Rows in a JSONL file: each line is an object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import Cell, Way
from bot.publishing.tables.json_sheet import JsonSheet, nested
from bot.publishing.tables.json_text import JsonValue, load, ordinary
from bot.publishing.tables.serializer import as_double
from bot.publishing.tables.sheet import Splice, line_end, lines


@dataclass(frozen=True)
class JsonLinesSheet(JsonSheet):
    """The rows of a JSONL text."""

    @cached_property
    def places(self) -> Sequence[JsonValue]:
        """The lines that are not blank."""
        found = []
        for number, (start, end) in enumerate(lines(self.text), start=1):
            line = self.text[start:end]
            if not line.strip():
                continue
            row = load(line)
            if not isinstance(row.value, dict):
                raise Unwritable(f"line {number} is not an object")
            found.append(JsonValue(start + row.start, start + row.end, row.value))
        return found

    def _gap(self) -> str:
        return line_end(self.text)

    def _first(self, rows: Sequence[Mapping[Way, Cell]]) -> Splice:
        new = "".join(json.dumps(nested(cells), default=as_double) + "\n" for cells in rows)
        return Splice(0, len(self.text), new)

    def ordinary(self) -> list[Any]:
        """The rows as Python's own reader gives them, line by line."""
        return [ordinary(self.text[start:end]) for start, end in lines(self.text) if self.text[start:end].strip()]
