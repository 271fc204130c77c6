"""The scores of rows and nothing else: what a table of scores shows, small enough for tens of thousands of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from bot.evaluation.finding import Status
from bot.evaluation.identity import with_names
from bot.evaluation.join import join_rows
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.row import Row
from bot.evaluation.row_key import RowKey, key_of
from bot.evaluation.rules.rule import Facts
from bot.evaluation.score import average_of, make_points
from bot.evaluation.sound_file import sound_scores
from bot.evaluation.submission import Parsed
from bot.evaluation.verdict import Verdict

ReadAgain = Callable[[Collection[str]], Iterable[Parsed]]
Hash = Callable[[Parsed], Parsed]
# The order of RowKey, whose comparison costs; all rows are of one leaderboard.
ORDER = attrgetter("key.model", "key.revision", "key.precision", "key.chat_template")


class ScoredRow(NamedTuple):
    """A row: the paths of its files (`files` of Row, or its lead), and of all submissions of its key; see Row.

    `average` and `scores`, in the order of the columns, are 0 to 100, None if a leaf is missing.
    """

    key: RowKey
    status: Status
    files: tuple[str, ...]
    submissions: tuple[str, ...]
    average: float | None
    scores: tuple[float | None, ...]
    has_errors: bool

    @property
    def model(self) -> str:
        """The model's id as the result has it."""
        return self.key.model


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Rows in the order of their keys, the paths of submissions that no format reads, and the number of submissions.

    `has_errors` says that one of them is rejected.
    """

    rows: tuple[ScoredRow, ...]
    unreadable: tuple[str, ...]
    submissions: int
    has_rejected: bool

    @property
    def has_errors(self) -> bool:
        """Tell whether a submission is rejected, or a row has an error finding, as a gap is."""
        return self.has_rejected or any(row.has_errors for row in self.rows)


def as_it_is(parsed: Parsed) -> Parsed:
    """A submission that has its SHA-256."""
    return parsed


def score_table(
    submissions: Iterable[Parsed],
    leaderboard: Leaderboard,
    facts: Facts,
    read_again: ReadAgain | None = None,
    with_hash: Hash = as_it_is,
) -> ScoreTable:
    """Judge submissions by every rule, join them and score the rows: those of `judge_all`.

    `read_again` reads those at some paths once more, so that none has to be kept in memory until its row is known.
    `with_hash` gives a submission of a row with others its SHA-256, which breaks ties among them.
    """
    if read_again is None:
        submissions = tuple(submissions)
        read_again = partial(_among, submissions)
    paths: dict[RowKey, list[str]] = {}
    sound, verdicts = _judge_each(submissions, leaderboard, facts, paths)
    together = {path for some in paths.values() if len(some) > 1 for path in some}
    alone = [row for row in sound if row.submissions[0] not in together]
    shared = {row.submissions[0] for row in sound if row.submissions[0] in together}
    verdicts = [replace(one, parsed=with_hash(one.parsed)) if one.path in together else one for one in verdicts]
    verdicts += [judge(parsed, leaderboard, facts) for parsed in (read_again(shared) if shared else ())]
    joined = join_rows(verdicts, leaderboard, facts, score=make_points)
    return ScoreTable(
        tuple(sorted([*alone, *[_scored(row, tuple(paths[row.key])) for row in joined]], key=ORDER)),
        tuple([verdict.path for verdict in verdicts if verdict.result is None]),
        len(verdicts) + len(alone),
        any(verdict.status == "rejected" for verdict in verdicts),
    )


def _judge_each(
    submissions: Iterable[Parsed], leaderboard: Leaderboard, facts: Facts, paths: dict[RowKey, list[str]]
) -> tuple[list[ScoredRow], list[Verdict]]:
    """The rows of the sound submissions, as if each were alone, and the verdicts of the others; notes paths by key."""
    sound: list[ScoredRow] = []
    verdicts: list[Verdict] = []
    for parsed in submissions:
        row = _sound_row(parsed, leaderboard, facts)
        if row is not None:
            sound.append(row)
            paths.setdefault(row.key, []).append(parsed.path)
            continue
        verdict = judge(parsed, leaderboard, facts)
        verdicts.append(verdict)
        if verdict.result is not None:
            paths.setdefault(key_of(leaderboard.id, verdict.result.model), []).append(parsed.path)
    return sound, verdicts


def _among(submissions: Iterable[Parsed], paths: Collection[str]) -> Iterable[Parsed]:
    return (parsed for parsed in submissions if parsed.path in paths)


def _sound_row(parsed: Parsed, leaderboard: Leaderboard, facts: Facts) -> ScoredRow | None:
    """The row of a submission that is known to be complete and without an error, where no other is of its key."""
    named = with_names(parsed, leaderboard.models)
    scores = sound_scores(named, leaderboard, facts)
    if scores is None or named.result is None:
        return None
    key, path = key_of(leaderboard.id, named.result.model), (named.path,)
    return ScoredRow(key, "accepted", path, path, average_of(scores), scores, has_errors=False)


def _scored(row: Row, submissions: tuple[str, ...]) -> ScoredRow:
    return ScoredRow(
        row.key,
        row.status,
        tuple([file.path for file in row.files or (row.lead,)]),
        submissions,
        row.scores.average,
        tuple([task.score for task in row.scores.tasks]),
        any(finding.is_error for finding in row.findings),
    )


def parted(tables: Sequence[ScoreTable]) -> set[str]:
    """The submissions of rows that stand in several tables, each with a part of the row's files."""
    tables_of = Counter(row.key for table in tables for row in table.rows)
    return {path for table in tables for row in table.rows if tables_of[row.key] > 1 for path in row.submissions}


def merged(tables: Sequence[ScoreTable], joined: ScoreTable) -> ScoreTable:
    """All tables as one; `joined` is the table of the submissions that are `parted` among them."""
    again = parted(tables)
    rows = [row for table in tables for row in table.rows if again.isdisjoint(row.submissions)]
    return ScoreTable(
        tuple(sorted([*rows, *joined.rows], key=ORDER)),
        tuple([path for table in tables for path in table.unreadable]),
        sum(table.submissions for table in tables),
        any(table.has_rejected for table in tables),
    )
