"""The issue about rows that do not follow from their evidence, and the text that closes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import HOME
from bot.evaluation.finding import counted
from bot.publishing.publication import Marker, PostText
from bot.publishing.repeat import quoted
from bot.publishing.texts import fitted
from bot.reporting.escape import brief, code, visible

SHOWN = 100  # rows that a text names
FOOT = f"[leaderboard-bot]({HOME}) wrote this issue, updates it with each check, and closes it when all rows follow."
ALL_FOLLOW = "All rows follow from their evidence again."


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row that does not follow from its evidence, with the outcome and the reason."""

    key: str
    outcome: str
    why: str


def verify_mark(target: str) -> Marker:
    """The mark of the issue about one target."""
    return Marker("verify", target)


def broken_rows_text(target: str, rows: Sequence[BrokenRow], mark: Marker) -> PostText:
    """The issue: a line for each row, and the command that checks it again."""
    lines = [
        f"- {code(brief(row.key))}: **{visible(row.outcome)}**, {code(brief(row.why, 300))}" for row in rows[:SHOWN]
    ]
    more = f"… and {len(rows) - SHOWN:,} more." if len(rows) > SHOWN else ""
    do = "does" if len(rows) == 1 else "do"
    head = f"{counted(len(rows), 'row')} of {code(target)} {do} not follow from the evidence:"
    call = f"Check again: {code(f'leaderboard-bot verify {quoted(target)}')}"
    parts = [head, "\n".join(lines), more, call, FOOT]
    return fitted("Rows of the board do not follow from their evidence", "\n\n".join(filter(None, parts)), mark)
