"""Proves that an edit of a text changed nothing but its own rows; without the proof nothing is written."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import Unwritable
from bot.publishing.tables.edit import Insertion, TableEdit, Update, says
from bot.publishing.tables.sheet import Sheet

Slot = int | Update | Insertion  # a row of somebody else by its old number, or an edited row


def sequence(rows: int, edit: TableEdit) -> list[Slot]:
    """The rows of a table after an edit, in order; `rows` is their number before."""
    updated: dict[int, Slot] = {update.row: update for update in edit.updates}
    slots: list[Slot] = []
    for row in range(rows + 1):
        slots += [new for new in edit.insertions if new.before == row]
        slots += [updated.get(row, row)] if row < rows else []
    return slots


def prove(before: Sheet, after: Sheet, edit: TableEdit) -> None:
    """Check an edited table. Raises Unwritable with what differs.

    Every character outside of the edited rows must be unchanged, the format's usual reader must see the same other
    rows, and the edited rows must read back as they were written.
    """
    slots = sequence(len(before), edit)
    if len(after) != len(slots):
        raise Unwritable(f"the edited table has {len(after)} rows, and not {len(slots)}")
    if len(before) and _foreign_before(before, edit) != _foreign_after(after, slots):
        raise Unwritable("the edit would change text outside of its rows")
    _prove_readers(before, after, slots)
    for number, slot in enumerate(slots):
        for way, cell in {} if isinstance(slot, int) else slot.cells.items():
            if way in after.ways and not says(after, after.cell(number, way), cell):
                raise Unwritable(f"{'.'.join(way)} does not read back as it was written")


def _foreign_before(sheet: Sheet, edit: TableEdit) -> str:
    """The text without the rows that are updated."""
    return _without(sheet.text, [sheet.spans[update.row] for update in edit.updates])


def _foreign_after(sheet: Sheet, slots: Sequence[Slot]) -> str:
    """The text without updated rows, and without new rows and the text that joins them to the next row."""
    cuts = []
    for number, slot in enumerate(slots):
        start, end = sheet.spans[number]
        if isinstance(slot, Update):
            cuts.append((start, end))
        elif isinstance(slot, Insertion) and slot.before:
            cuts.append((sheet.spans[number - 1][1], end))
        elif isinstance(slot, Insertion):
            cuts.append((start, sheet.spans[number + 1][0]))
    return _without(sheet.text, cuts)


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(cuts):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def _prove_readers(before: Sheet, after: Sheet, slots: Sequence[Slot]) -> None:
    """The usual reader must see the same other rows; they are compared as text, where 1, 1.0 and true differ."""
    old, new = before.ordinary(), after.ordinary()
    if len(old) != len(before) or len(new) != len(slots):
        raise Unwritable("the format's usual reader sees other rows")
    if any(isinstance(slot, int) and repr(old[slot]) != repr(row) for slot, row in zip(slots, new, strict=True)):
        raise Unwritable("the format's usual reader would see a change in another row")
