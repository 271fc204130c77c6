"""The page of a row: each of its numbers explained, with the files that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from math import sqrt
from os.path import commonprefix

from bot.evaluation.definition import digest_of_leaves
from bot.evaluation.evidence import DOES_NOT_SHOW, SHOWS
from bot.evaluation.finding import counted, first_few
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rounding import half_up, significant
from bot.evaluation.row_key import SHORT, WHOLE
from bot.evaluation.score import GroupScore, LeafScore, TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import row_page
from bot.pages.badge import BADGED, badge_path
from bot.pages.content import FAULTS, SEVERAL, UNFOLDED, FieldPlace, PageContent
from bot.pages.environment import full, harness_line, raw
from bot.publishing.addresses import model_url
from bot.publishing.board import TIE, BoardRow
from bot.publishing.changes import request_of
from bot.publishing.entry import Entry
from bot.publishing.repeat import HUB, declaration_name, explain_command, measure_commands, verify_command


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A leaf's value of one metric, and where it comes from; `right` is `156/250`, or what else is known.

    `whole` has all digits of the raw value, and `error` is its error; "" where the counts of `right` give them or there
    is none.
    """

    leaf: LeafScore
    right: str
    whole: str
    error: str
    shots: str
    version: str
    harness: str


@dataclass(frozen=True, slots=True)
class TaskPart:
    """The explanation of one task; `shared` says what is the same for all of its leaves and has no column.

    The names of leaves are shown without `prefix`, with which all of them begin, and with their metrics where
    `has_metrics`. `steps` says how the score follows from them.
    """

    score: TaskScore
    interval: float | None
    place: FieldPlace | None
    lines: list[LeafLine]
    prefix: str
    has_metrics: bool
    shared: str
    steps: str
    quarantined: str


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """A property of leaves: its title, and how it is read from a line."""

    title: str
    read: Callable[[LeafLine], str]
    is_long: bool = False  # and gets a line of its own on a phone


HARNESS = LeafColumn("harness", lambda line: line.harness, is_long=True)  # is said where the row has several
FEW_TASKS, STRENGTHS_NAMED = 2, 3  # tasks among which one is the weakest, and that the sentence about strengths names
METRIC = LeafColumn("metric", lambda line: line.leaf.metric)  # stands beside the name where it differs
DAY, MINUTE = len("2026-11-30"), len("2026-11-30T10:00")
USUAL = ("upper bound", "1")  # needs no word
SAME_POINTS = 1e-3  # by which a score may differ from its formula, of what rounding leaves
LEAF_COLUMNS = (
    LeafColumn("lower bound", lambda line: line.leaf.lower_bound),
    LeafColumn("upper bound", lambda line: line.leaf.upper_bound),
    LeafColumn("shots", lambda line: line.shots),
    LeafColumn("version", lambda line: line.version),
    LeafColumn("file", lambda line: line.leaf.file, is_long=True),
)


def row_page_of(content: PageContent, row: BoardRow) -> bytes:
    """The page of one row."""
    entry, name = row.entry, content.names[row.entry.key]
    declared = {task.id: task for task in content.board.leaderboard.tasks}
    lines = {score.id: [_line(entry, leaf, declared.get(score.id)) for leaf in score.leaves] for score in entry.tasks}
    shown = _shown(entry, lines.values())
    places = content.places_in_field(row)
    near = _near(content, entry)
    page = model_url(entry.model.id) if entry.model.id.count("/") == 1 else ""
    head = content.head_of(entry.model.id)
    tasks = [
        _task_part(entry, score, declared.get(score.id), places.get(score.id), lines[score.id], shown=shown)
        for score in entry.tasks
    ]
    return content.page(
        row_page(name),
        "row.html",
        stamp=content.stamp(row),
        row=row,
        faults=FAULTS,
        entry=entry,
        name=name,
        model_url=page,
        commit_url=f"{page}/tree/{entry.model.revision}" if page and len(entry.model.revision) == WHOLE else "",
        verify=verify_command(content.target, entry.path),
        missing="; ".join(_missing(entry, content.board.leaderboard)),
        measure=measure_commands(entry, content.board.leaderboard, set(entry.coverage.missing), content.formats),
        moved_to=head if head and entry.model.revision and head != entry.model.revision else "",
        when=_when(entry),
        standing=_standing(content, row),
        strengths=_strengths(content, row, places),
        beside=[
            (other, other.position < row.position, _higher_in(content, row, other)) for other in content.beside(row)
        ],
        twins=content.twins_of(entry),
        odd=content.odd.get(entry.key, {}),
        warned={task.id for task, _ in content.named_by_warnings(entry)},
        naming=[remark for _, remark in content.named_by_warnings(entry)],
        badge=badge_path(name) if row.position <= BADGED and row.rank is not None else "",
        badged=BADGED,
        interval=None if entry.stderr is None else TIE * entry.stderr,
        tasks=tasks,
        grouped=list(_grouped(entry, tasks)),
        is_long=len(tasks) > UNFOLDED,
        forms={form.id for form in content.board.leaderboard.formats},
        shown=shown,
        has_errors=any(line.error for parts in lines.values() for line in parts),
        is_clipped=any(leaf.is_clipped for score in entry.tasks for leaf in score.leaves),
        files=entry.evidence,
        again=explain_command(entry.evidence, entry.leaderboard, content.target, is_merged=True, declaration=near),
        near=near,
        evidence=entry.shown if row.evidence == entry.rests_on else (SHOWS[row.evidence], DOES_NOT_SHOW[row.evidence]),
        changes=[(one, request_of(one, content.target)) for one in content.changes_by_key.get(entry.key, [])],
    )


def _near(content: PageContent, entry: Entry) -> str:
    """The declaration as a file of the site, "" where every reader finds it by the name that commands give it."""
    board, name = content.board.leaderboard, declaration_name(entry.leaderboard, [content.target])
    is_here = entry.leaderboard.scoring_digest == board.scoring_digest and name != board.id and not name.startswith(HUB)
    return f"{board.id}.toml" if is_here else ""


def _grouped(entry: Entry, parts: Sequence[TaskPart]) -> Iterator[tuple[GroupScore | None, list[TaskPart]]]:
    """The tasks below the group that holds them, and those of no group; of many tasks the weakest come first."""
    if len(parts) > UNFOLDED:
        parts = sorted(parts, key=lambda part: _height(part.place) if part.place else -1)
    for group in entry.groups:
        yield group, [part for part in parts if part.score.id in group.tasks]
    held = {task for group in entry.groups for task in group.tasks}
    yield None, [part for part in parts if part.score.id not in held]


def _standing(content: PageContent, row: BoardRow) -> str:
    """The rank in a sentence: over tasks that by the average, and the ranks that chance leaves."""
    if not row.is_over_tasks:
        return content.rank_sentence(row)
    is_every = (row.rank, row.worst) == (1, content.ranked)
    left = "no other rank" if row.rank == row.worst else f"any rank from {row.rank:,} to {row.worst:,}"
    left = "any rank" if is_every else left
    return f"Rank {row.position:,} of {content.ranked:,} by its average; over its tasks, chance allows {left}."


def _when(entry: Entry) -> str:
    """When a row was measured: a moment, or the days of its files, and how many of them do not say it."""
    if not entry.when:
        return "on an unknown day"
    own = sorted(file.date for file in entry.evidence if file.date and not (file.dated_by or file.quoted_from))
    first, last = (own[0][:DAY], own[-1][:DAY]) if own else ("", "")
    moment = entry.when[:MINUTE].replace("T", " ") + (" (UTC)" if len(entry.when) > DAY else "")
    said = f"{first} to {last}" if first != last else moment
    silent = len(entry.evidence) - len(own)
    if not own:
        return f"{said}; no file says when it was measured"
    does = "does" if silent == 1 else "do"
    return f"{said}; {counted(silent, 'file')} of {len(entry.evidence)} {does} not say when" if silent else said


def _higher_in(content: PageContent, row: BoardRow, other: BoardRow) -> str:
    """In how many tasks a neighbour is on the side of its average; "" where averages have errors."""
    if not row.is_over_tasks:
        return ""
    tested = content.tested_beside(other, row)
    explained = "chance does not explain that" if tested.is_more else "that may be chance"
    return f"that row is {tested.counted}; {explained}"


def _strengths(content: PageContent, row: BoardRow, places: Mapping[str, FieldPlace]) -> str:
    """In which tasks a row has the highest score, and where it stands worst among the others; "" where few compare."""
    fields = content.fields
    places = {task: place for task, place in places.items() if fields[task][0] < fields[task][-1]}  # tells rows apart
    if row.rank is None or content.ranked < SEVERAL or len(places) < FEW_TASKS:
        return ""
    titles = {score.id: score.title for score in row.entry.tasks}
    alike = content.alike.get(row.entry.key, {})

    def told(task: str, ends: Sequence[str]) -> str:
        """A title with what chance leaves; beside others of which that is said, also where it leaves nothing."""
        is_apart = alike.get(task) == 0 and any(alike.get(other) for other in ends)
        others = "all others" if is_apart else counted(alike.get(task, 0), "other")
        said = f" ({'' if is_apart else 'not '}separable from {others})"
        return titles[task] + (said if is_apart or alike.get(task) else "")

    best, lowest = (
        [told(task, ends) for task in ends]
        for end in (100, 0)
        for ends in [[task for task, place in places.items() if place.better == end]]
    )
    named = STRENGTHS_NAMED if len(places) > UNFOLDED else 1
    weak = nsmallest(named, places, key=lambda task: _height(places[task]))
    above = _height(places[weak[-1]])
    if named == 1:  # all that are as weak
        weak = [task for task in places if _height(places[task]) == above]
    parts = [f"highest in {_listed(best)}"] if best else []
    if len(lowest) >= named:
        parts.append(f"lowest in {_listed(lowest)}")
    elif above < 100:
        limit = "than" if named == 1 else "than at most"
        parts.append(
            f"weakest in {_listed([titles[task] for task in weak])}, where it is better {limit} {above} % of the others"
        )
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _height(place: FieldPlace) -> int:
    """How high a score stands in its column; one that shares the highest place beats few others, and is not weak."""
    return 100 if place.own == 100 else place.better


def _listed(titles: Sequence[str]) -> str:
    """The first titles, the last of a short list with an "and"."""
    if not 1 < len(titles) <= STRENGTHS_NAMED:
        return first_few(titles, STRENGTHS_NAMED)
    return f"{', '.join(titles[:-1])} and {titles[-1]}"


def _missing(entry: Entry, leaderboard: Leaderboard) -> Iterator[str]:
    """What a row lacks: the number of subtasks for a task without any, else the names of the missing ones."""
    left = set(entry.coverage.missing)
    for task in leaderboard.tasks:
        names = [leaf.id for leaf in task.leaves if leaf.id in left]
        left.difference_update(names)
        if names:
            yield f"all {len(names)} of {task.title}" if 1 < len(names) == len(task.leaves) else ", ".join(names)
    if left:
        yield ", ".join(sorted(left))


def _shown(entry: Entry, parts: Iterable[Sequence[LeafLine]]) -> list[LeafColumn]:
    """The columns that differ between leaves of one task; the file only where there are several."""
    known, had = (HARNESS, *LEAF_COLUMNS) if len(entry.evidence) > 1 else LEAF_COLUMNS[:-1], list(parts)
    return [column for column in known if any(len({column.read(line) for line in lines}) > 1 for lines in had)]


def _task_part(
    entry: Entry,
    score: TaskScore,
    task: Task | None,
    place: FieldPlace | None,
    lines: list[LeafLine],
    *,
    shown: Sequence[LeafColumn],
) -> TaskPart:
    interval = None if score.stderr is None or score.score is None else TIE * score.stderr
    names = [line.leaf.id for line in lines]
    prefix = commonprefix(names).rpartition("_")[0] + "_" if len(names) > 1 else ""  # noqa: RUF071 - letters of names
    has_metrics = len({line.leaf.metric for line in lines}) > 1
    is_by_leaf = task is not None and task.normalize == "leaf"
    known = (METRIC, *LEAF_COLUMNS[:-1]) if is_by_leaf else (METRIC, *LEAF_COLUMNS[2:-1])  # the steps name the bounds
    known = (*known, HARNESS) if len(entry.harnesses) > 1 else known
    shared = ", ".join(
        f"{column.title} {column.read(lines[0])}"
        for column in known
        if lines
        and column not in shown
        and not (column is METRIC and has_metrics)
        and (column.title, column.read(lines[0])) != USUAL
    )
    asked = digest_of_leaves(entry.definitions, [line.leaf.id for line in lines])
    shared += f", definition {asked[:SHORT]}" if asked else ""
    quarantined = (task.quarantined or "") if task else ""
    begin = prefix if len(prefix) > 1 else ""
    return TaskPart(
        score, interval, place, lines, begin, has_metrics, shared.capitalize(), _steps(score, task), quarantined
    )


def _line(entry: Entry, leaf: LeafScore, task: Task | None) -> LeafLine:
    """The line of a leaf and metric; `task` is None if the declaration has no such task any more."""
    right, is_exact = _right(entry, leaf, task)
    return LeafLine(
        leaf,
        right,
        "" if is_exact else full(leaf.raw),
        "" if leaf.stderr is None or (is_exact and _follows(leaf, right)) else raw(leaf.stderr),
        str(entry.num_fewshot.get(leaf.id, "–")),
        entry.versions.get(leaf.id, "–"),
        harness_line(file.harness if (file := entry.evidence_of(leaf)) else entry.harness),
    )


def _right(entry: Entry, leaf: LeafScore, task: Task | None) -> tuple[str, bool]:
    """The right answers of the questions as text, and whether these counts give the raw value to its last digit."""
    metric = next((metric for metric in task.metrics if metric.name == leaf.metric), None) if task else None
    declared = next((one.samples for one in task.leaves if one.id == leaf.id), None) if task else None
    samples = leaf.samples or (metric.samples if metric else None) or entry.num_samples.get(leaf.id) or declared
    if samples is None:
        return "–", False
    if task is None or metric is None or not metric.integral:
        return f"mean of {samples}", False
    whole = 100 if task.unit == "percent" else 1
    right = round(leaf.raw / whole * samples)
    return f"{right}/{samples}", whole * right / samples == leaf.raw


def _follows(leaf: LeafScore, right: str) -> bool:
    """Tell whether a leaf's error is that of its counts, `right` such as `156/250`, to the digits that are shown."""
    got, count = (int(part) for part in right.split("/"))
    return 0 <= got <= count > 1 and raw(sqrt(got / count * (1 - got / count) / (count - 1))) == raw(leaf.stderr)


def _steps(score: TaskScore, task: Task | None) -> str:
    """How the task's score follows from its leaves, in one sentence.

    The bounds are those of the entry: an older row explains itself by what it was scored with.
    """
    if score.score is None or score.raw is None:
        return "No score: at least one of its subtasks is missing or has no number that counts."
    if not score.leaves:
        return f"{half_up(score.score, 4)}, of which the entry names no subtask."
    first, count, shown = score.leaves[0], len(score.leaves), half_up(score.score, 2)
    lower, upper = Fraction(first.lower_bound), Fraction(first.upper_bound)
    mean = "the mean weighted by samples" if task and task.aggregation == "size-weighted" else "the plain mean"
    if task is not None and task.normalize == "leaf" and count > 1:
        return f"{shown} is {mean} of {count} scores; that of the raw values is {significant(score.raw)}."
    given = 100 * (score.raw - float(lower)) / float(upper - lower)
    is_clipped = score.score == 0 and given < 0
    clip = "; what is worse than the lower bound counts as 0" if is_clipped else ""
    above = f"({significant(score.raw)} − {lower})" if lower else significant(score.raw)
    formula = f"100 × {above}{f' / ({upper} − {lower})' if lower else f' / {upper}' if upper != 1 else ''}"
    if not is_clipped and abs(given - score.score) > SAME_POINTS:
        return f"The score says {shown}, but {formula} is {half_up(given, 2)}: they contradict each other."
    return f"{shown} = {formula}{clip}{f'; the raw value is {mean} of {count}' if count > 1 else ''}."
