"""The current verdict on one submission, from the state alone, without a request to a service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.row import Row
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import UnreadPath
from bot.evaluation.verdict import Verdict
from bot.service.settings.config import Watch
from bot.service.store import Store, StoredSubmission
from bot.service.talk.waivers import parse_waivers

MOST_FILES = 200  # of one row that are judged for a page


@dataclass(frozen=True, slots=True)
class SubmissionVerdict:
    """A submission, the verdict on it, and the row that it measures with others; None if there is none."""

    stored: StoredSubmission
    verdict: Verdict | None
    row: Row | None

    @property
    def unread(self) -> UnreadPath | None:
        """Why it is not a result, None for one that was read."""
        return self.stored.content if isinstance(self.stored.content, UnreadPath) else None


def verdict_on(store: Store, watch: Watch, board: Leaderboard, path: str, today: date) -> SubmissionVerdict | None:
    """The verdict on the submission at a path, None if there is no submission."""
    stored = store.submissions_at(watch.name, [path]).get(path)
    if stored is None:
        return None
    others = store.submissions_of(watch.name, [stored.key]) if stored.key else {}
    together = {path: stored, **dict(sorted(others.items())[:MOST_FILES])}
    found = [one for one in together.values() if one.parsed is not None]
    facts = Facts(
        today=today,
        waivers=tuple(parse_waivers(store.cursor(watch.name, "waivers"))),
        committed={one.path: one.committed for one in found if one.committed is not None},
        owners=watch.owners,
    )
    judged = judge_all([one.parsed for one in found if one.parsed is not None], board, facts)
    verdict = next((one for one in judged.verdicts if one.path == path), None)
    row = next((row for row in judged.rows if any(file.path == path for file in row.files)), None)
    return SubmissionVerdict(stored, verdict, row)
