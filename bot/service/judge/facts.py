"""The one way to a verdict: gather the facts for whoever asks, then judge, also what a watch has stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import CommitFact, Judgement, Row, Verdict
from bot.service.settings.config import Watch
from bot.service.store import Store, StoredSubmission

LookUp = Callable[[Iterable[str], Leaderboard], Mapping[str, CommitFact]]


def no_look_up(git_hashes: Iterable[str], leaderboard: Leaderboard) -> Mapping[str, CommitFact]:
    """Look nothing up."""
    del git_hashes, leaderboard
    return {}


@dataclass(frozen=True)
class Judge:
    """Judges submissions for one caller: a command, the Action, a watch, a page, or `verify`.

    `today`, `waivers`, `owners`, `names` and `same_values` are the facts of these names, see `Facts`. `look_up` answers
    for harness commits, by `git_hash`, that the declaration and the shipped tables do not settle.
    """

    leaderboard: Leaderboard
    today: date | None
    waivers: Sequence[Waiver] = ()
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    same_values: Mapping[tuple[float, ...], str] = field(default_factory=dict)
    look_up: LookUp = no_look_up

    def judge(
        self,
        submissions: Iterable[Parsed],
        committed: Mapping[str, float] | None = None,
        unread: Iterable[UnreadPath] = (),
    ) -> Judgement:
        """Judge submissions and join them into rows.

        `committed` has, by path, the date in Unix seconds of the commit that brought a file, where that is known.
        """
        found = list(submissions)
        return judge_all(found, self.leaderboard, self._facts(found, committed or {}), unread=unread)

    def _facts(self, found: Iterable[Parsed], committed: Mapping[str, float]) -> Facts:
        commits = self._commits(found)
        return Facts(
            today=self.today,
            commits={text: one.answer for text, one in commits.items()},
            reasons={text: one.why for text, one in commits.items()},
            repositories={text: one.repository for text, one in commits.items() if one.repository},
            same_values=self.same_values,
            waivers=tuple(self.waivers),
            committed=committed,
            owners=self.owners,
            names=self.names,
        )

    def _commits(self, found: Iterable[Parsed]) -> Mapping[str, CommitFact]:
        """The answers about the commits that files and declaration alone do not settle."""
        if self.look_up is no_look_up:
            return {}
        harnesses = [one.result.harness for one in found if one.result is not None]
        unknown = (
            harness.git_hash
            for harness in harnesses
            if harness.git_hash and judge_harness(harness, self.leaderboard, NO_FACTS).answer == "unknown"
        )
        return self.look_up(unknown, self.leaderboard)


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
