"""The verdicts on all submissions of one call, and the rows that they make."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.row import Row
from bot.evaluation.submission import UnreadPath
from bot.evaluation.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on submissions, the rows that they make, and what was found beside them."""

    leaderboard: Leaderboard
    verdicts: tuple[Verdict, ...]
    rows: tuple[Row, ...]
    unread: tuple[UnreadPath, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Tell whether anything of it has an error finding: a submission that is rejected, or a row with a gap."""
        return any(verdict.status == "rejected" for verdict in self.verdicts) or any(
            finding.is_error for row in self.rows for finding in row.findings
        )

    @property
    def unreadable(self) -> tuple[Verdict, ...]:
        """The verdicts on submissions that no format reads, which are in no row."""
        return tuple(verdict for verdict in self.verdicts if verdict.result is None)
