"""Report the audit of a board: the named columns and why, their effect, and the figures."""

from __future__ import annotations

from typing import Any

import msgspec

from bot.audits.board.audit import BoardAudit, ColumnFigures
from bot.evaluation.finding import counted
from bot.evaluation.rounding import half_up, significant
from bot.reporting.prose import Section, markdown
from bot.reporting.table import Table

SCHEMA = "leaderboard-bot/audit-board/1"
MOVED_SHOWN = 10
DEFINITIONS = (
    "Range: the column without its extreme 2 % on each side. Floor: share of the rows in the lowest tenth of the "
    "range; next: in the tenth above it; mean above: on average in each of the eight higher tenths. Misplaced: rows on "
    "the floor that the other columns do not place among as many weakest, and their share of what chance would give. "
    "Ordered: of a row on the floor and one above, how often the upper is the stronger by the other columns. "
    "Rho: Spearman's rank correlation with the mean of the other columns, with its 95 % interval. Tau: Kendall's, "
    "between the orders with and without the column."
)


def board_json(audit: BoardAudit, source: str) -> dict[str, Any]:
    """Return the report for a program."""
    return {"schema": SCHEMA, "source": source, **msgspec.to_builtins(audit)}


def board_markdown(audit: BoardAudit, source: str) -> str:
    """Return the report for a discussion or a step summary."""
    return markdown(*document(audit, source))


def document(audit: BoardAudit, source: str) -> tuple[str, str, list[Section]]:
    """Return title, lead and sections of the report."""
    named = ", ".join(audit.named)
    title = f"Columns of {source}"
    wrong = [_wrong(audit)] if audit.wrong_means else []
    wrong += [_repeated(audit)] if audit.repeated else []
    if audit.silent:
        return title, f"No column is judged: {audit.silent}.", [*wrong, *([_left_out(audit)] if audit.left_out else [])]
    lead = (
        f"{named}: {'does' if len(audit.named) == 1 else 'do'} not follow the rest."
        if named
        else "No column stands out: each follows the rest."
    )
    left_out = counted(audit.incomplete, "incomplete row")
    lead += f" {counted(audit.rows, 'row')}, {len(audit.columns)} columns; left out: {left_out}."
    lead += " Less is better in them: they are judged, and shown, with a minus." if audit.less_is_better else ""
    sections = [*wrong, *_why(audit), Section("Figures", [_figures(audit), DEFINITIONS])]
    return title, lead, [*sections, _left_out(audit)] if audit.left_out else sections


def _wrong(audit: BoardAudit) -> Section:
    """Return the rows with an average that their columns do not give."""
    rows = tuple((one.row, one.column, one.there, round(one.computed, 3)) for one in audit.wrong_means)
    return Section(
        "Averages that do not follow from their columns", [Table(("row", "column", "there", "computed"), rows)]
    )


def _repeated(audit: BoardAudit) -> Section:
    """Return the names that several rows have and that no other column tells apart."""
    return Section("Names that several rows have", [Table(("name", "rows"), tuple(audit.repeated.items()))])


def _why(audit: BoardAudit) -> list[Section]:
    """Return what is named, and the board with and without it; nothing if no column is named."""
    effect = audit.with_and_without
    if effect is None:
        return []
    judged = [column for column in audit.columns if column.column in audit.named]
    reasons = [f"{column.column}: {alarm.why}." for column in judged for alarm in column.alarms]
    names = ", ".join(audit.named)
    without, mean = half_up(effect.mean_without, 2), half_up(effect.mean_with, 2)
    change = (
        f"Without {names} the mean of all averages is {without} instead of {mean}; "
        f"{effect.rows_moved} of {audit.rows} rows change their rank, by up to {effect.largest_move}; {effect.leader}."
    )
    rows = tuple(
        (row.name, row.average_with, row.average_without, row.rank_with, row.rank_without)
        for row in audit.moved[:MOVED_SHOWN]
    )
    columns = ("row", "average with", "average without", "rank with", "rank without")
    return [
        Section("Columns that do not follow the rest", reasons),
        Section(f"With and without {names}", [change, Table(columns, rows, "the rows that move most")]),
    ]


def _figures(audit: BoardAudit) -> Table:
    columns = (
        "column", "range", "floor", "next", "mean above", "misplaced", "of chance", "ordered", "rho", "95 %",
        "tau without", "largest move",
    )  # fmt: skip
    return Table(columns, tuple(map(_row, audit.columns)))


def _row(column: ColumnFigures) -> tuple[str | float | int | None, ...]:
    low, high = column.correlation_low, column.correlation_high
    return (
        column.column,
        f"{significant(column.low, 4)} to {significant(column.high, 4)}",
        f"{column.floor_mass:.1%}",
        f"{column.next_mass:.1%}",
        f"{column.mean_mass:.1%}",
        column.misplaced,
        f"{column.misplacement:.0%}",
        f"{column.ordered:.0%}",
        None if column.correlation is None else round(column.correlation, 2),
        "-" if low is None or high is None else f"{half_up(low, 2)} to {half_up(high, 2)}",
        None if column.effect.tau is None else round(column.effect.tau, 3),
        column.effect.largest_move,
    )


def _left_out(audit: BoardAudit) -> Section:
    rows = tuple((column or "(no heading)", why) for column, why in audit.left_out.items())
    return Section("Left out", [Table(("column", "why"), rows)])
