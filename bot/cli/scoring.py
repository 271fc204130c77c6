"""Scores the rows of very many files: each part of them in any process, which hands back rows and not results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.cli.judging import MANY, are_local, jobs_for, parse_names, parse_places
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.identity import with_names
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.rule import Facts
from bot.evaluation.score_table import ScoreTable, merged, parted, score_table
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.waiving import names_hash
from bot.platforms.inputs import Place, find_places
from bot.processes import share_work, without_collector
from bot.service.settings.environment import read_access

PART = 64  # files that are read and joined at once: the files of most rows follow each other


def score_paths(
    paths: list[str],
    leaderboard: Leaderboard,
    *,
    names: list[str] | None = None,
    quiet: bool = False,
    max_bytes: int = MAX_BYTES,
    jobs: int = 1,
) -> ScoreTable:
    """Return the scores of the rows that `judge_paths` makes, and drop each result as soon as it is scored.

    If the files of one row are in several parts, these files are read again, together.
    """
    places = find_places(paths, read_access(), max_bytes)
    scorer = _Scorer(places, parse_names(names or []), leaderboard, Facts(today=datetime.now(UTC).date()))
    with without_collector():
        if not are_local(places):
            return scorer.table(parse_places(places, [], quiet=quiet))
        parts = [range(start, min(start + PART, len(places))) for start in range(0, len(places), PART)]
        quiet = quiet or len(places) < MANY
        tables = share_work(scorer, parts, jobs_for(places, jobs), label="reading", quiet=quiet)
        again = parted(tables)
        return merged(tables, scorer.read([place for place in places if place.name in again]))


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores a part of all places."""

    places: Sequence[Place]
    names: Mapping[str, str]
    leaderboard: Leaderboard
    facts: Facts

    def __call__(self, part: range) -> ScoreTable:
        return self.read([self.places[number] for number in part])

    def read(self, places: Iterable[Place]) -> ScoreTable:
        """Return the score table of local places. Their files are read again if their rows are joined.

        The SHA-256 of a file matters only then, or if a waiver names one.
        """
        known = {place.name: place for place in places}
        needs_hash = names_hash(self.leaderboard, self.facts)
        return score_table(
            self._named(place.parse(is_hashed=needs_hash) for place in known.values()),
            self.leaderboard,
            self.facts,
            lambda paths: self._named(known[path].parse() for path in paths),
            lambda parsed: known[parsed.path].hashed(parsed),
        )

    def table(self, submissions: Iterable[Parsed]) -> ScoreTable:
        """Return the score table of submissions."""
        return score_table(self._named(submissions), self.leaderboard, self.facts)

    def _named(self, found: Iterable[Parsed | UnreadPath]) -> Iterator[Parsed]:
        """Yield the submissions with the names of their models, and leave out files that are not one."""
        for one in found:
            if isinstance(one, Parsed):
                yield with_names(one, self.names)
