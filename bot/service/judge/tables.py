"""Rows that the tables of a board's watches cannot have: found before anything is written, in a check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from bot.errors import Unwritable
from bot.evaluation.finding import examples
from bot.evaluation.verdict import Judgement
from bot.publishing.entry import entry_of
from bot.publishing.layout import RowChange
from bot.publishing.tables.rows import MappedRows

if TYPE_CHECKING:
    from bot.service.settings.config import Watch


class RefusedRows(NamedTuple):
    """What a table refuses; `is_whole` tells whether one of the rows has all tasks, so that nothing may still come."""

    text: str
    is_whole: bool


def refused_by_tables(judgement: Judgement, watches: Iterable[Watch]) -> Iterator[RefusedRows]:
    """Which rows have no place in the tables of these watches, and why."""
    tables = [one.table for watch in watches for one in watch.targets if one.table is not None]
    entries = [entry for row in judgement.rows if (entry := entry_of(row)) is not None] if tables else []
    for table in tables:
        mapped, refused = MappedRows(table, judgement.leaderboard), dict[str, list[str]]()
        whole: set[str] = set()
        for entry in entries:
            try:
                mapped.row(RowChange(entry.key, entry), entry)
            except Unwritable as error:
                if entry.model.id not in table.without:
                    refused.setdefault(str(error), []).append(entry.model.id)
                    whole |= set() if entry.coverage.missing else {str(error)}
        for why, models in refused.items():
            yield RefusedRows(f"{table.path} gets no row of {examples(models)}: {why}", why in whole)
