"""The alarm about columns of a board that do not follow the rest.

The alarm that would have caught DROP at its first push. Columns that the declaration quarantines are known to be in
doubt and are not named again. Where no column is named any more, the comment says so; none is opened to say that.
"""

from __future__ import annotations

from bot.audits.board.audit import audit_board
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.target import Target
from bot.publishing.board import board_of
from bot.publishing.texts import alarm_mark, alarm_text
from bot.service.reconcile import entries_of, publish_comment

FEWEST = 3  # columns: a column is held against the mean of at least two others


def watch_columns(target: Target, leaderboard: Leaderboard) -> str:
    """Look at the columns of what stands there, and give the URL of what was said, "" if nothing was."""
    entries = entries_of(target, leaderboard)
    columns = [task.id for task in leaderboard.tasks if task.quarantined is None]
    if not entries or len(columns) < FEWEST:
        return ""
    found = audit_board(board_of(entries, leaderboard.id, columns))
    mark = alarm_mark(leaderboard.id)
    return publish_comment(mark, alarm_text(found, target.name, mark), target, may_open=bool(found.named))
