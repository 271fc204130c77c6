"""The common part of both repositories of a demo-leaderboard board: a change's row, file names, file reading.

The board's readers drop a model without a message where a task is missing, a value is not a number, or its folder
holds a file that is not JSON; an unknown key in a request file stops the back end for everybody. So a row is complete
or refused, and only the status of a request file changes. The caller writes both with the commit that was read as
parent, because the back end overwrites request files without a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.errors import Unwritable
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.tables.mapping import TemplateOptions
from bot.reporting.escape import brief

HUB_ID = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+", re.ASCII)
Drafted = tuple[str, bytes | None, tuple[CellChange, ...]]  # a path, its bytes, the text for a person


class TemplateFiles:
    """The files of one of the repositories."""

    def __init__(self, options: TemplateOptions) -> None:
        self.options = options

    def subject(self, change: RowChange) -> Entry:
        """The row that a change is about. Raises Unwritable if it is unknown, or cannot be on the board."""
        entry = change.entry or change.published
        if entry is None:
            raise Unwritable("its submission was withdrawn, and the bot has no record of its row")
        if not HUB_ID.fullmatch(entry.model.id):
            raise Unwritable(f"{brief(entry.model.id, 60)!r} is not the id of a model on the Hub, as the board needs")
        if precision_of(entry) not in self.options.precisions:
            raise Unwritable(f"the board does not know the precision {brief(entry.model.precision, 40)!r}")
        return entry

    def each(self, changes: Sequence[RowChange], place: Callable[[Entry], str]) -> tuple[str, ...]:
        """A path for every row that the board can have."""
        found = []
        for change in changes:
            try:
                found.append(place(self.subject(change)))
            except Unwritable:
                continue
        return tuple(dict.fromkeys(found))


def draft_each(changes: Sequence[RowChange], one: Callable[[RowChange], Drafted | None]) -> Draft:
    """Draft each row on its own; `one` returns None if nothing changes."""
    files: dict[str, bytes | None] = {}
    refused: dict[str, str] = {}
    cells: dict[str, tuple[CellChange, ...]] = {}
    for change in changes:
        try:
            drafted = one(change)
        except Unwritable as error:
            refused[change.key] = str(error)
            continue
        if drafted is not None and drafted[0] in files:
            refused[change.key] = "another revision of the model uses the same file; the board has one row for both"
        elif drafted is not None:
            files[drafted[0]], cells[change.key] = drafted[1:]
    return Draft(files, refused, cells)


def precision_of(entry: Entry) -> str:
    """A precision as the board writes it, without the library's name."""
    return entry.model.precision.removeprefix("torch.")


def json_object(data: bytes | None) -> Mapping[str, Any]:
    """The object in a file, an empty one if there is none."""
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
