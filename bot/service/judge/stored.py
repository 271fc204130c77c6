"""Judge the submissions that a watch has stored, for its passes and for its pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.submission import UnreadPath
from bot.evaluation.verdict import Judgement, Row, Verdict
from bot.service.judge.facts import Judge, LookUp, no_look_up
from bot.service.settings.config import Watch
from bot.service.store import Store, StoredSubmission

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


def judge_for(
    watch: Watch,
    leaderboard: Leaderboard,
    today: date,
    waivers: Sequence[Waiver],
    look_up: LookUp,
) -> Judge:
    """Return what judges the submissions of a watch, for its passes and its pages alike."""
    return Judge(leaderboard, today, waivers, watch.owners, look_up=look_up if watch.look_up_commits else no_look_up)


def judge_stored(judge: Judge, found: Iterable[StoredSubmission]) -> Judgement:
    """Judge stored submissions and join them into rows; files that are not results are left out."""
    results = [one for one in found if one.parsed is not None]
    committed = {one.path: one.committed for one in results if one.committed is not None}
    return judge.judge([one.parsed for one in results if one.parsed is not None], committed)


def verdict_on(judge: Judge, store: Store, name: str, path: str) -> SubmissionVerdict | None:
    """The verdict on the submission of a watch at a path, None if there is no submission."""
    stored = store.submissions_at(name, [path]).get(path)
    if stored is None:
        return None
    others = store.submissions_of(name, [stored.key]) if stored.key else {}
    judged = judge_stored(judge, {path: stored, **dict(sorted(others.items())[:MOST_FILES])}.values())
    verdict = next((one for one in judged.verdicts if one.path == path), None)
    row = next((row for row in judged.rows if any(file.path == path for file in row.files)), None)
    return SubmissionVerdict(stored, verdict, row)
