"""Files of one row in different folders with different values: the bot tells both sides."""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.row import Row
from bot.reporting.escape import brief, code
from bot.service.context import WatchContext
from bot.service.store import folder_of

MOST = 20  # rows of one folder that are named


def rival_lines(context: WatchContext, folder: str) -> list[str]:
    """For each row of a folder that files elsewhere measured otherwise, a line that names both sides."""
    keys = context.store.shared_keys(context.name, folder, MOST)
    if not keys:
        return []
    found = list(context.store.submissions_of(context.name, keys).values())
    return [line for row in context.judge(found).rows for line in _lines(row, folder)]


def _lines(row: Row, folder: str) -> Iterator[str]:
    files = list(dict.fromkeys(run.file for repeat in row.repeats for run in repeat.runs))
    here = [path for path in files if folder_of(path) == folder]
    there = [path for path in files if folder_of(path) != folder]
    if here and there:
        counts = ", ".join(code(file.path) for file in row.files[:3])
        yield (
            f"- The row of {code(brief(row.model.id))} has other values in {code(here[0])} than in {code(there[0])}. "
            f"The newest value counts for each subtask; the row comes from {counts}. "
            "It changes only by a request that names who submitted it first."
        )
