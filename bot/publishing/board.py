"""The board of a leaderboard: its rows in order with ranges of ranks, and the table as CSV and Parquet.

Row j is better than row i beyond chance where average_j - average_i > 1.96 sqrt(se_i^2 + se_j^2), the standard error of
a difference of independent measurements. The best rank of a row is one more than the rows that are better beyond
chance, its worst the number of rows less those that it is better than beyond chance.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import fsum, hypot, inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from bot.errors import CallError
from bot.evaluation.evidence import STRENGTH, EvidenceWord
from bot.evaluation.finding import examples, grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.likeness import LikeRows, Peer
from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import reading_of, twins
from bot.evaluation.rules.rule import KnownDocuments
from bot.evaluation.score import LeafScore, Scores, TaskScore, average_of, group_scores, normalize
from bot.evaluation.statistics import FEWEST_TASKS
from bot.publishing.entry import Entry, EntrySamples, Remark
from bot.publishing.models import UNKNOWN, ModelFacts, Verified, fact_columns, verified_columns
from bot.publishing.over_tasks import distinct_tasks, is_better, ranges_over_tasks
from bot.reporting.escape import brief, inert
from bot.reporting.scores import NamedRow, row_names

if TYPE_CHECKING:
    from bot.audits.score_table import PublishedTable

# In points, and for raw values in their unit. A double keeps 15 digits and people see two decimals: sums in another
# order, or bounds as doubles, move a score by less than 1e-11; whoever wants to gain by a change needs far more.
TOLERANCE = 1e-6
LONGEST_FAULT = 500  # characters of a sentence: the names in it are a stranger's


def contradiction(entry: Entry) -> str:
    """The first number of an entry that does not follow from its others, as a sentence; "" if all of them do.

    A column is the mean of its leaves, plain or by their samples. Where the entry cannot say which samples were
    declared, because some are unknown or a waiver excuses them, the column must lie between its leaves.
    """
    return brief(next(_contradictions(entry), ""), LONGEST_FAULT)


def is_ranked(entry: Entry) -> bool:
    """Tell whether an entry with an average may have a rank, whatever other rows there are."""
    return not contradiction(entry) and all(one.rule != WEAK for one in entry.warnings)


def disbelief(entry: Entry, why: str) -> str:
    """A sentence about a row whose numbers contradict each other."""
    return f"{brief(entry.key, LONGEST_FAULT)} is not to be believed: {why}"


def _contradictions(entry: Entry) -> Iterator[str]:
    for task in entry.tasks:
        yield from _in_task(task, has_waivers=bool(entry.waivers))
    yield from _in_logs(entry)
    groups = group_scores(entry.tasks, {group.title: group.tasks for group in entry.groups})
    if len(groups) < len(entry.groups):
        yield "two groups have one title"
        return
    for said, given in zip(entry.groups, groups, strict=True):
        if not (_is_close(said.score, given.score) and _is_close(said.stderr, given.stderr)):
            yield "the group {} is {}, and its tasks give {}".format(said.title, *_apart(said.score, given.score))
    averaged = groups if entry.average_over == "groups" else entry.tasks
    scores = Scores(average_of([one.score for one in averaged]), entry.tasks, groups, over=entry.average_over)
    if not _is_close(entry.average, scores.average):
        own, other = _apart(entry.average, scores.average)
        yield f"the average is {own}, and the mean of the {entry.average_over} is {other}"
    if not _is_close(entry.stderr, scores.stderr):
        own, other = _apart(entry.stderr, scores.stderr)
        yield f"the standard error of the average is {own}, and the {entry.average_over} give {other}"
    if (entry.verdict == "accepted") != (entry.average is not None):
        yield f"the verdict is {entry.verdict}, and the average is {_shown(entry.average)}"


def _in_logs(entry: Entry) -> Iterator[str]:
    if STRENGTH[entry.rests_on] < STRENGTH["samples"]:
        return
    shown = {log.leaf: log.shows for log in entry.samples}
    for leaf in (leaf.id for task in entry.tasks for leaf in task.leaves):
        if STRENGTH[shown.get(leaf, "file")] < STRENGTH[entry.rests_on]:
            yield f"it says that it rests on {entry.rests_on}, and it names no log of {leaf} that shows this"


def _in_task(task: TaskScore, *, has_waivers: bool) -> Iterator[str]:
    for leaf in task.leaves:
        if leaf.score is not None and not _is_close(leaf.score, score := _score_of(leaf, leaf.raw)):
            yield "{}: the score of {} is {}, and its raw value gives {}".format(
                task.id, leaf.id, *_apart(leaf.score, score)
            )
    if (task.raw is None) != (task.score is None):
        yield f"{task.id}: the raw value is {_shown(task.raw)}, and the score is {_shown(task.score)}"
    if task.raw is None or task.score is None:
        return
    weights = _weights(task) if not has_waivers else None
    if not _is_mean(task.raw, [leaf.raw for leaf in task.leaves], weights):
        yield f"{task.id}: the raw value is {_shown(task.raw)}, which its subtasks do not give"
    if _is_mean(task.score, [leaf.score or 0.0 for leaf in task.leaves], weights):
        return
    bounded = {(leaf.lower_bound, leaf.upper_bound): leaf for leaf in task.leaves}.values()
    if not any(_is_close(task.score, _score_of(leaf, task.raw)) for leaf in bounded):
        yield f"{task.id}: the score is {_shown(task.score)}, which neither its raw value nor its subtasks give"


def _weights(task: TaskScore) -> list[int] | None:
    """The sample counts of a task's leaves; None where they are unknown, or do not decide the mean."""
    samples = [leaf.samples for leaf in task.leaves if leaf.samples]
    is_plain = len({leaf.id for leaf in task.leaves}) == len(task.leaves) == len(samples)
    return samples if is_plain else None


def _is_mean(value: float, values: list[float], weights: list[int] | None) -> bool:
    """Tell whether a value is the plain or weighted mean of values; without weights, whether it lies between them."""
    if not values:
        return False
    if weights is None:
        return min(values) - TOLERANCE <= value <= max(values) + TOLERANCE
    if _is_close(value, fsum(values) / len(values)):
        return True
    return _is_close(value, fsum([one * weight for one, weight in zip(values, weights, strict=True)]) / sum(weights))


def _score_of(leaf: LeafScore, raw: float) -> float | None:
    """The score of a raw value under a leaf's bounds; None where the bounds are not two different numbers."""
    lower, span = _bounds(leaf.lower_bound, leaf.upper_bound)
    return normalize(raw, lower, span) if span else None


@lru_cache(maxsize=1_000)
def _bounds(lower: str, upper: str) -> tuple[float, float]:
    """The lower bound and the way from it to the upper one as doubles, cached because a board has few of them."""
    low, high = float(Fraction(lower)), float(Fraction(upper))
    return low, high - low


def _is_close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.12g}"


def _apart(one: float | None, other: float | None) -> tuple[str, str]:
    """Two numbers with as few digits as tell them apart, two behind the point at least."""
    if one is None or other is None:
        return _shown(one), _shown(other)
    pairs = ((str(half_up(one, digits)), str(half_up(other, digits))) for digits in (2, 4, 6))
    return next((pair for pair in pairs if pair[0] != pair[1]), (_shown(one), _shown(other)))


# Two averages are tied where they differ by at most this many standard errors of their difference (95 %).
TIE = 1.96


def rank_ranges(averages: Sequence[float], errors: Sequence[float]) -> list[tuple[int, int]]:
    """The best and the worst rank of each row, 1 being the best; the averages come from the largest down.

    Only rows whose difference lies between the smallest and the largest threshold are compared one by one.
    """
    falling = [-average for average in averages]
    least, largest = min(errors, default=0.0), max(errors, default=0.0)
    ranges = []
    for fell, error in zip(falling, errors, strict=True):
        near, far = TIE * sqrt(error * error + least * least), TIE * sqrt(error * error + largest * largest)
        better = bisect_left(falling, fell - far)
        worse = bisect_right(falling, fell + far)
        doubtful = range(better, bisect_left(falling, fell - near))
        better += sum(fell - falling[j] > TIE * sqrt(error * error + errors[j] * errors[j]) for j in doubtful)
        doubtful = range(bisect_right(falling, fell + near), worse)
        beaten = sum(falling[j] - fell > TIE * sqrt(error * error + errors[j] * errors[j]) for j in doubtful)
        ranges.append((better + 1, worse - beaten))
    return ranges


CSV_NAME = "leaderboard.csv"
JSON_NAME = "leaderboard.json"
CONTRADICTS = "contradicts-itself"  # the warning of a row whose own numbers do not follow from each other
WEAK = "evidence-below-least"  # the warning of a row whose evidence is weaker than the board ranks
SPELLED = "spelled-otherwise"  # the warning of a row beside one that a reader cannot tell from it
LACKS, HAS_MORE = "missing-task", "extra-task"  # the warnings of a row whose average is over other tasks
WITHOUT = "average_without_quarantined"
PARQUET_NAME = "leaderboard.parquet"
ROWS_OF_A_SENTENCE = 2  # rows that the sentence about a row names


@dataclass(frozen=True, slots=True)
class BoardRow:
    """An entry on the board; `position` is its place in the file, from 1.

    `rank` is the best and `worst` the worst rank that it may have, see `rank_ranges`; both are None for an
    incomplete row. `fault` says why a row is not ranked although its entry has an average, "" for every other row; its
    entry is shown without the average, and with the fault as its first warning. `evidence` is what the row rests on.
    Where no row has a standard error, the ranks are those of `ranges_over_tasks`, and `over_tasks` are the places of
    the tasks that count in them; else it is empty.
    """

    position: int
    rank: int | None
    worst: int | None
    entry: Entry
    fault: str = ""
    evidence: EvidenceWord = "file"
    over_tasks: tuple[int, ...] = ()

    @property
    def ranks(self) -> str:
        """The range of ranks as text: two numbers with a dash, one number, or a dash for a row without rank."""
        if self.rank is None:
            return "–"
        return f"{self.rank}" if self.rank == self.worst else f"{self.rank}–{self.worst}"

    @property
    def is_over_tasks(self) -> bool:
        """Whether its ranks are over tasks."""
        return bool(self.over_tasks)

    @property
    def place(self) -> str:
        """The range of ranks, but where it is over tasks the place by the average: few tasks leave wide ranges."""
        return str(self.position) if self.is_over_tasks else self.ranks


@dataclass(frozen=True, slots=True)
class Board:
    """All rows: the complete ones from the best down, then the incomplete ones by name.

    `rival` is the id of another leaderboard that has the one table at the target, "" if there is none.
    """

    leaderboard: Leaderboard
    rows: tuple[BoardRow, ...]
    rival: str = ""


def make_board(
    entries: Iterable[Entry], leaderboard: Leaderboard, words: Mapping[str, EvidenceWord] | None = None
) -> Board:
    """The board of a leaderboard's entries; `words` has, by key, what more than the entry says rows rest on."""
    return Board(leaderboard, rank_entries(entries, words, leaderboard))


def rank_entries(
    entries: Iterable[Entry],
    words: Mapping[str, EvidenceWord] | None = None,
    declared: Leaderboard | None = None,
) -> tuple[BoardRow, ...]:
    """Put the entries in order, with the ranks that chance leaves to each.

    An entry that is at fault has neither rank nor average, see `faults_of`. `words` are as for `make_board`.
    """
    found, known = list(entries), words or {}
    faults = faults_of(found, known, declared)
    for place, entry in enumerate(found):
        if fault := faults.get(entry.key):
            warnings = tuple(dict.fromkeys((fault, *entry.warnings)))
            found[place] = replace(entry, verdict="incomplete", average=None, stderr=None, warnings=warnings)
    complete = sorted((e for e in found if e.average is not None), key=lambda e: (-(e.average or 0.0), e.key))
    partial = sorted((e for e in found if e.average is None), key=lambda e: e.key)
    if over_tasks := tasks_of_ranks(complete):
        ranges = ranges_over_tasks([_scores(e, over_tasks) for e in complete])
    else:
        ranges = rank_ranges([e.average or 0.0 for e in complete], [e.stderr or 0.0 for e in complete])
    places = enumerate(zip(ranges, complete, strict=True), start=1)
    ranked = [BoardRow(i, *ranks, e, "", known.get(e.key, e.rests_on), over_tasks) for i, (ranks, e) in places]
    unranked = enumerate(partial, start=len(complete) + 1)
    return (
        *ranked,
        *(
            BoardRow(i, None, None, e, faults[e.key].message if e.key in faults else "", known.get(e.key, e.rests_on))
            for i, e in unranked
        ),
    )


def tasks_of_ranks(entries: Sequence[Entry]) -> tuple[int, ...]:
    """The places of the tasks over which entries are ranked; none where one has an error, or tasks are too few."""
    named = {tuple(task.id for task in entry.tasks) for entry in entries}
    if len(named) != 1 or any(entry.stderr is not None for entry in entries):
        return ()
    found = distinct_tasks([_scores(entry, range(len(entry.tasks))) for entry in entries])
    return found if len(found) >= FEWEST_TASKS else ()


def _scores(entry: Entry, tasks: Iterable[int]) -> tuple[float, ...]:
    return tuple(entry.tasks[task].score or 0.0 for task in tasks)


def faults_of(
    entries: Iterable[Entry],
    words: Mapping[str, EvidenceWord] | None = None,
    declared: Leaderboard | None = None,
) -> dict[str, Remark]:
    """Why entries are not ranked, by key.

    Their numbers contradict each other, they are another row's twins, their evidence is weaker than the board asks, or
    their average is not over the tasks of `declared`.

    Of rows whose models or settings differ in case, in spaces or by a shortened commit alone the one that was measured
    first is ranked.
    """
    everything = list(entries)
    found = _of_other_tasks(everything, declared) if declared is not None else {}
    first = twins((entry.date or "~", entry.key) for entry in everything)
    for entry in everything:
        if why := contradiction(entry):
            found[entry.key] = Remark(CONTRADICTS, why)
        elif other := first.get(entry.key):
            how = "otherwise, in case, in spaces or by a shortened commit alone"
            text = f"{brief(other, 500)} spells its model or a setting {how}"
            found[entry.key] = Remark(SPELLED, text)
        elif (words or {}).get(entry.key) != "remeasured" and (
            weak := [one for one in entry.warnings if one.rule == WEAK]
        ):
            found[entry.key] = weak[0]
    return found


def _of_other_tasks(entries: Sequence[Entry], declared: Leaderboard) -> dict[str, Remark]:
    """The rows that wait for a merge under a declaration of other tasks, while others have an average over its own."""
    titles = {task.id: task.title for task in declared.tasks}
    averaged = [(entry, {task.id for task in entry.tasks}) for entry in entries if entry.average is not None]
    if all(tasks != titles.keys() for _, tasks in averaged):
        return {}
    found = {}
    for entry, tasks in averaged:
        if lacking := [title for task, title in titles.items() if task not in tasks]:
            found[entry.key] = Remark(LACKS, f"its average is without {examples(lacking)}, unlike those of other rows")
        elif more := [task.title for task in entry.tasks if task.id not in titles]:
            text = f"its average is also over {brief(examples(more), LONGEST_FAULT)}, unlike those of other rows"
            found[entry.key] = Remark(HAS_MORE, text)
    return found


def rank_sentence(row: BoardRow, rows: Sequence[BoardRow], ranked: int) -> str:
    """Where a row stands among the `ranked` first of `rows`, in one sentence; "" for a row without rank.

    For example: "Rank 2 to 3 of 31; not separable from org/model; better than 28." Where other rows have no rank, it
    is "of 31 (ranked rows)". An average without a standard error is above others, and not said to be better. Where the
    tasks tell it from no other row, the sentence says that in place of a rank.
    """
    if row.rank is None or row.worst is None:
        return ""
    tied = row.worst - row.rank
    names = _told_apart([row, *_tied(row, rows, tied)])[1:] if tied <= ROWS_OF_A_SENTENCE else []
    others = Standing(row.rank - 1, ranked - row.worst, ranked - 1, len(rows) - 1, row.over_tasks)
    return _rank_words(row.entry, others, names)


def _told_apart(rows: Sequence[BoardRow]) -> list[str]:
    """The models of some rows, with what tells those of one model apart."""
    models = [row.entry.model for row in rows]
    if len({one.id for one in models}) == len(models):
        return [one.id or "(no name)" for one in models]
    return row_names(NamedRow(one.id, one.revision, one.precision, one.chat_template) for one in models)


def proposed_rank(entry: Entry, others: Standing) -> str:
    """`rank_sentence` of an entry that would join `others`; "" without a rank, or where no other has one."""
    if entry.average is None or not others.ranked or not is_ranked(entry):
        return ""
    return _rank_words(entry, others)


class Standing(NamedTuple):
    """How many other rows are better or worse than an entry beyond chance, are ranked, and are there."""

    better: int
    worse: int
    ranked: int
    rows: int
    over_tasks: tuple[int, ...] = ()


def standing_among(entry: Entry, rows: Iterable[Entry]) -> Standing:
    """The standing of an entry among rows, in place of the row of its key; one at fault has no average, see `Board`."""
    others = [row for row in rows if row.key != entry.key]
    ranked = [row for row in others if row.average is not None]
    over_tasks = tasks_of_ranks([entry, *ranked]) if entry.average is not None else ()
    apart = [(row.average or 0.0) > (entry.average or 0.0) for row in ranked if _differ(row, entry, over_tasks)]
    return Standing(sum(apart), apart.count(False), len(ranked), len(others), over_tasks)


def _rank_words(entry: Entry, others: Standing, names: Sequence[str] = ()) -> str:
    count, best, worst = others.ranked + 1, others.better + 1, others.ranked + 1 - others.worse
    ranks = f"{best:,}" if best == worst else f"{best:,} to {worst:,}"
    if others.over_tasks and others.better == others.worse == 0 < others.ranked:
        each = f"each of the {others.ranked:,} other rows" if others.ranked > 1 else "the other row"
        once = " with different numbers" if len(others.over_tasks) < len(entry.tasks) else ""
        return f"Over its {len(others.over_tasks)} tasks{once} chance explains its difference to {each}."
    place = f"Rank {ranks} of {count:,}{' (ranked rows)' if others.ranked < others.rows else ''}"
    if others.over_tasks and count > 1:
        place += " over tasks"
    elif entry.stderr is None and count > 1:
        return f"{place} by the averages alone: {_why_no_error(entry)}."
    parts, tied = [place], worst - best
    if tied:
        many = f"{tied:,} others" if tied > 1 else "1 other"
        parts.append(f"not separable from {' and '.join(names) or many}")
    if count > 1:
        beaten = "all others" if others.worse == others.ranked else f"{others.worse:,}" if others.worse else "none"
        parts.append(f"better than {beaten}")
    return "; ".join(parts) + "."


def _why_no_error(entry: Entry) -> str:
    """Why an average has no standard error: no column has one, or these have none."""
    bare = [task.title for task in entry.tasks if task.stderr is None]
    if len(bare) == len(entry.tasks):
        return "its files give no standard error"
    return f"{examples(bare)} {'has' if len(bare) == 1 else 'have'} no standard error, so the average has none"


def _tied(row: BoardRow, rows: Sequence[BoardRow], count: int) -> list[BoardRow]:
    """The rows that chance cannot separate from one row, searched outwards from its place."""
    found: list[BoardRow] = []
    here = row.position - 1
    for step in range(1, len(rows)):
        near = [rows[place] for place in (here - step, here + step) if 0 <= place < len(rows)]
        found += [
            other for other in near if other.rank is not None and not _differ(row.entry, other.entry, row.over_tasks)
        ]
        if len(found) >= count:
            break
    return sorted(found, key=lambda other: other.position)[:count]


def _differ(one: Entry, other: Entry, over_tasks: Sequence[int]) -> bool:
    if over_tasks:
        better, worse = sorted((one, other), key=lambda entry: entry.average or 0.0, reverse=True)
        return is_better(_scores(better, over_tasks), _scores(worse, over_tasks))
    return is_separable((one.average or 0.0, one.stderr), (other.average or 0.0, other.stderr))


def is_separable(one: tuple[float, float | None], other: tuple[float, float | None]) -> bool:
    """Tell whether two scores differ by more than TIE standard errors; each is given with its own, None counts as 0."""
    return abs(one[0] - other[0]) > TIE * hypot(one[1] or 0.0, other[1] or 0.0)


def columns(leaderboard: Leaderboard) -> tuple[str, ...]:
    """The columns of the table, in order."""
    tasks = [task.id for task in leaderboard.tasks]
    front: tuple[str, ...] = ("rank_best", "rank_worst", "model", "revision", "precision", "chat_template")
    front = (*front, "average", "average_stderr")
    if any(task.quarantined for task in leaderboard.tasks):
        front = (*front, WITHOUT)
    behind = (f"{task}_{part}" for task in tasks for part in ("raw", "stderr"))
    others = (column.id for column in leaderboard.columns)
    end = ("verdict", "missing", "warnings", "entry", "date", "evidence")
    return (*front, *leaderboard.groups, *tasks, *others, *end, *behind)


def average_without(entry: Entry, leaderboard: Leaderboard) -> float | None:
    """The plain mean of the tasks that are not quarantined, None if a score is missing, or the row is at fault."""
    if any(remark.rule in {CONTRADICTS, SPELLED} for remark in entry.warnings[:1]):
        return None
    doubted = {task.id for task in leaderboard.tasks if task.quarantined}
    kept = [task for task in entry.tasks if task.id not in doubted]
    if {task.id for task in kept} != {task.id for task in leaderboard.tasks} - doubted:
        return None
    if entry.average_over == "tasks":
        return average_of([task.score for task in kept])
    left = {group.title: [one for one in group.tasks if one not in doubted] for group in entry.groups}
    return average_of([one.score for one in group_scores(kept, left) if one.tasks])


Record = dict[str, str | int | float | bool | None]


def records(
    board: Board, facts: Mapping[str, ModelFacts] | None = None, verified: Mapping[str, Verified] | None = None
) -> list[Record]:
    """The rows as plain values, keyed by column; a task without a score is None.

    With `facts`, by the keys of rows, also what is known of any model; with `verified` what `verify` said of rows.
    """
    table, named = [], columns(board.leaderboard)
    known = {name for one in (facts or {}).values() for name, value in fact_columns(one).items() if value}
    for row in board.rows:
        entry = row.entry
        scores = {task.id: task for task in entry.tasks}
        groups = {group.title: group.score for group in entry.groups}
        shown = {column.id: column.value for column in entry.columns}
        without = {WITHOUT: average_without(entry, board.leaderboard)} if WITHOUT in named else {}
        table.append(
            {
                "rank_best": row.rank,
                "rank_worst": row.worst,
                "model": entry.model.id,
                "revision": entry.model.revision,
                "precision": entry.model.precision,
                "chat_template": entry.model.chat_template,
                "average": entry.average,
                "average_stderr": entry.stderr,
                **without,
                **{title: groups.get(title) for title in board.leaderboard.groups},
                **{task.id: getattr(scores.get(task.id), "score", None) for task in board.leaderboard.tasks},
                **{column.id: shown.get(column.id) for column in board.leaderboard.columns},
                "verdict": entry.verdict,
                "missing": " ".join(entry.coverage.missing),
                "warnings": " ".join(dict.fromkeys(remark.rule for remark in entry.warnings)),
                "entry": entry.path,
                "date": entry.when,
                "evidence": row.evidence,
                **{
                    f"{task.id}_{part}": getattr(scores.get(task.id), part, None)
                    for task in board.leaderboard.tasks
                    for part in ("raw", "stderr")
                },
                **{k: v for k, v in fact_columns((facts or {}).get(entry.key, UNKNOWN)).items() if k in known},
                **({} if verified is None else verified_columns(verified.get(entry.key))),
            }
        )
    return table


def to_csv(board: Board, rows: Sequence[Record] | None = None) -> bytes:
    """The table of `records`, or those that are given, as CSV: full doubles, empty where there is no value."""
    found = records(board) if rows is None else rows
    text, named = io.StringIO(newline=""), found[0] if found else columns(board.leaderboard)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(named)
    shown: dict[type, Callable[[Any], str]] = {bool: lambda value: str(value).lower(), str: inert}
    for record in found:
        values = record.values()
        writer.writerow([shown[type(value)](value) if type(value) in shown else value for value in values])
    return text.getvalue().encode()


def to_parquet(board: Board) -> bytes | None:
    """The table as Parquet, None if the extra `tables` is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return None
    types = dict.fromkeys(columns(board.leaderboard), pa.string())
    tasks = [f"{task.id}{part}" for task in board.leaderboard.tasks for part in ("", "_raw", "_stderr")]
    tasks += [*board.leaderboard.groups, *(column.id for column in board.leaderboard.columns)]
    types |= dict.fromkeys(("average", "average_stderr", *tasks), pa.float64())
    types |= {WITHOUT: pa.float64()} if WITHOUT in types else {}
    types |= {"rank_best": pa.int64(), "rank_worst": pa.int64(), "chat_template": pa.bool_()}
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records(board), schema=pa.schema(types)), out)
    return out.getvalue()


def board_of(entries: Iterable[Entry], leaderboard: str = "", only: Sequence[str] = ()) -> PublishedTable:
    """Take the scores of entries; `leaderboard` is the id of theirs, "" if there is only one.

    Raises CallError if there are entries of no leaderboard or of several, or a named column is not among them.
    """
    from bot.audits.score_table import PublishedTable  # `check` starts without the audits

    had = [entry for entry in entries if leaderboard in {"", entry.leaderboard.id}]
    ids = sorted({entry.leaderboard.id for entry in had})
    if len(ids) != 1:
        found = (
            f"entries of several leaderboards, {', '.join(ids)}: name one" if ids else "no entries of this leaderboard"
        )
        raise CallError(f"there are {found}")
    tasks = list(dict.fromkeys(task.id for entry in had for task in entry.tasks))
    missing = [column for column in only if column not in tasks]
    if missing:
        raise CallError(f"there is no column {missing[0]!r}; the columns are {', '.join(tasks)}")
    scores = [{task.id: task.score for task in entry.tasks} for entry in had]
    columns = {task: tuple(row.get(task) for row in scores) for task in (only or tasks)}
    return PublishedTable(tuple(entry.model.id for entry in had), columns)


@dataclass(frozen=True)
class KnownBoardRows:
    """The rows of a board with which submissions are compared; `keys` are by `reading_of`, without twins."""

    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    documents: Mapping[tuple[str, str], KnownDocuments] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)  # by the SHA-256 of their sample logs
    like: LikeRows = field(default_factory=LikeRows)

    def logs(self, digests: Collection[str]) -> Mapping[str, str]:
        """The models whose rows name these sample logs."""
        return {one: self.models[one] for one in digests if one in self.models}

    def peers(self, marks: Iterable[str]) -> Iterable[Peer]:
        """The rows that have one of these marks."""
        return self.like.with_one_of(marks)

    def spellings(self, readings: Collection[str]) -> list[tuple[float, str, str]]:
        """The rows of these models; all of them are on the board."""
        return [(-inf, key, "") for one in readings for key in self.keys.get(one, ())]


def known_rows(entries: Iterable[Entry]) -> KnownBoardRows:
    """The rows of a board; of twins the one that was measured first."""
    found = sorted(entries, key=lambda one: one.key)
    ranked = {one.key for one in found} - twins((one.date or "~", one.key) for one in found).keys()
    return KnownBoardRows(grouped((reading_of(key), key) for key in ranked), *known_logs(found), like_rows(found))


def like_rows(entries: Iterable[Entry]) -> LikeRows:
    """The rows of a board by what alike rows share."""
    found = LikeRows()
    for entry in entries:
        found.add(Peer(0.0, 0.0, entry.key, entry.fingerprint, is_there=True))
    return found


def known_logs(entries: Iterable[Entry]) -> tuple[dict[tuple[str, str], KnownDocuments], dict[str, str]]:
    """By leaf and format the documents of most rows, see `of_most`, and the models of rows by the logs they name."""
    counts, sizes, models = Counter[LoggedKind](), dict[LoggedKind, int](), dict[str, str]()
    for entry in sorted(entries, key=lambda one: (one.date or "~", one.key)):  # who had a log first keeps it
        formats = formats_of_leaves(entry) if entry.samples else {}
        for one in entry.samples:
            models.setdefault(one.sha256, entry.model.id)
            which = kind_of_log(entry, one, formats)
            counts[which] += 1
            sizes[which] = min(sizes.get(which, one.samples), one.samples)
    return of_most((which, many, sizes[which]) for which, many in counts.items()), models


class LoggedKind(NamedTuple):
    """What logs of one kind share; `prompts` is "" with a chat template, which differs from model to model."""

    leaf: str
    format: str
    documents: str
    prompts: str
    scoring: str


def kind_of_log(entry: Entry, log: EntrySamples, formats: Mapping[str, str]) -> LoggedKind:
    """The kind of a log of a row."""
    prompts = "" if entry.model.chat_template else log.prompts
    return LoggedKind(log.leaf, formats.get(log.leaf, ""), log.documents, prompts, log.scoring)


def of_most(found: Iterable[tuple[LoggedKind, int, int]]) -> dict[tuple[str, str], KnownDocuments]:
    """By leaf and format the documents, prompts and scoring that most rows have, none where two are equally frequent.

    Each kind is given with its number of rows and of samples.
    """
    by_leaf = grouped(((kind.leaf, kind.format), (kind, rows, samples)) for kind, rows, samples in found)
    known = {}
    for which, kinds in by_leaf.items():
        sizes = {kind.documents: samples for kind, _, samples in sorted(kinds, key=lambda one: -one[2])}
        if documents := _of_most((kind.documents, rows) for kind, rows, _ in kinds):
            others = [_of_most((kind[part], rows) for kind, rows, _ in kinds if kind[part]) for part in (3, 4)]
            known[which] = KnownDocuments(documents, sizes[documents], *others)
    return known


def _of_most(found: Iterable[tuple[str, int]]) -> str:
    counts = Counter[str]()
    for value, rows in found:
        counts[value] += rows
    first, second = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return first[0] if first[1] > second[1] else ""


def formats_of_leaves(entry: Entry) -> dict[str, str]:
    """The format of the file of each leaf of a row."""
    formats = {name: file.format for file in entry.evidence for name in (file.path, f"{file.source}/{file.path}")}
    return {leaf.id: formats.get(leaf.file, "") for task in entry.tasks for leaf in task.leaves}


def own_sources(entries: Iterable[Entry], watched: Collection[str] = ()) -> dict[str, str]:
    """By key the repository of rows whose files lie where nobody watches and no other row has any."""
    found = list(entries)
    users = Counter(source for entry in found for source in {file.source for file in entry.evidence})
    others = [(entry.key, {file.source for file in entry.evidence}) for entry in found]
    return {
        key: ", ".join(sorted(one or "somebody's machine" for one in sources))
        for key, sources in others
        if sources and len(found) > 1 and not any(users[one] > 1 or one in watched for one in sources)
    }
