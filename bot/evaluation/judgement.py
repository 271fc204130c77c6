"""All submissions of one call, judged and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.evaluation.join import join_rows
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.row import Row
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import Verdict, judge


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


Judge = Callable[[Parsed, Leaderboard, Facts], Verdict]


def judge_all(
    submissions: Iterable[Parsed],
    leaderboard: Leaderboard,
    facts: Facts = NO_FACTS,
    *,
    judge_one: Judge = judge,
    unread: Iterable[UnreadPath] = (),
) -> Judgement:
    """Judge every submission and join them into rows."""
    verdicts = tuple(judge_one(parsed, leaderboard, facts) for parsed in submissions)
    return Judgement(leaderboard, verdicts, tuple(join_rows(verdicts, leaderboard, facts)), tuple(unread))
