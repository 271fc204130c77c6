"""The one way to a verdict: gather the facts for whoever asks, then judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import CommitFact, Judgement

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
