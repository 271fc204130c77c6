"""The page of a board: its table of scores, or of the raw values that they are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup, escape

from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Column as DeclaredColumn
from bot.evaluation.rounding import half_up
from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import column_page, row_page
from bot.pages.content import FAULTS, UNFOLDED, PageContent
from bot.pages.drawing import FOREST_ROWS, Figure, ForestRow, against_size, fitting, forest, over_time
from bot.pages.environment import MISSING, points, raw
from bot.pages.titles import breakable, heads, in_lines, longest_part, with_end, without_middle
from bot.publishing.board import TIE, BoardRow, average_without
from bot.publishing.entry import Entry
from bot.publishing.models import OPEN_LICENCES, billions, other_size
from bot.reporting.escape import visible
from bot.reporting.scores import column_number

TINTS = 10  # of a column's cells, the lowest without colour
TINTED = 5  # rows of a board whose cells have tints: among fewer a shade would say too much
LONGEST = 40  # letters of a model's name that surely fit into two lines
BRIEF, NARROW, WORDY, WIDEST = (
    6,
    9,
    12,
    14,
)  # letters of a title in the narrowest column, and of a part of one in each other
HEAD = 42  # letters of a column's title
LACKING = 24  # letters of the column that a row lacks
SMALLEST = 3  # rows of a board on which one searches
FEWEST_SHOWN = 2  # rows and days that a figure needs at least
DAY = len("2026-03-02")
NOT_SAID = "not said"  # of what no file says
NO_BASE = "base unknown"  # the type of a model whose page on the Hub names none that it was made from
ABSENT = TaskScore("", "", None, None, None, ())  # of a task that a row does not have
TEXTS = {"licence": "Licence", "type": "Type", "precision": "Precision", "chat": "Template"}  # columns and their titles
Line = tuple[Markup, Markup]  # a row in the table of scores, and in that of raw values


class BoardLines(NamedTuple):
    """The lines of all rows, and the facts in which rows differ, by the names of their columns."""

    lines: Sequence[Line]
    differing: frozenset[str]


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column's head; `name` is that of the CSV, `kind` says how it sorts.

    "" sorts as numbers, the largest first; "rank" and "low" the smallest first; "text" as text.
    """

    name: str
    title: str
    kind: str = ""
    href: str = ""
    full: str = ""  # the whole title where the head shows less
    group: str = ""  # what stands above the title
    style: str = ""  # "task" or, of a group's only one, "alone"; a foldable group's class, and "first" of another's
    holds: int = 0  # the number of tasks of a group that can be folded
    span: int = 0  # the number of columns over which the group's name stands


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores: of a task, or where there is none of a group; `kinds` are the classes of all of its cells."""

    task: Task | None
    group: str
    title: str
    kinds: tuple[str, ...]
    span: int = 0


TintedColumn = tuple[ScoreColumn, float, float]  # with its lowest score, and the width of one tint


def board_page(content: PageContent, lines: Callable[[], BoardLines], *, is_raw: bool = False) -> bytes:
    """The page of all rows, of which `lines` are the lines; the incomplete ones stand apart."""
    board = content.board
    made, differing = lines()
    rows, columns = [line[is_raw] for line in made], _columns(content, differing, is_raw=is_raw)
    longest = longest_part(text for column in columns for text in (column.title, column.group))
    return content.page(
        "raw.html" if is_raw else "index.html",
        "board.html",
        is_raw=is_raw,
        is_scaled=is_scaled(content),
        to_look_at=content.has_doubts,
        has_warnings=content.warnings_differ,
        has_marks=any(content.is_marked(row.entry) for row in board.rows),
        has_twins=any(content.twins_of(row.entry) for row in board.rows),
        has_other_sizes=any(_other_size(content, row.entry) for row in board.rows),
        columns=columns,
        precisions=len({(row.entry.model.precision or "unknown").lower() for row in board.rows}),
        chats=len({row.entry.model.chat_template for row in board.rows}),
        differing=differing,
        common=_common(content, differing),
        rows=rows[: content.ranked],
        best=list(_best(content)),
        holes=rows[content.ranked :],
        bare=sum(row.entry.stderr is None for row in board.rows[: content.ranked]),
        models=len({row.entry.model.id for row in board.rows}),
        figures=() if is_raw else tuple(_figures(content)),
        over_tasks=any(row.is_over_tasks for row in board.rows),
        has_same_tasks=any(0 < len(row.over_tasks) < len(row.entry.tasks) for row in board.rows),
        is_bare=is_bare(board.rows),
        is_many=len(board.leaderboard.tasks) > UNFOLDED,
        is_brief=all(len(one.title) <= BRIEF and not one.group for one in columns if "task" in one.style),
        is_full=_is_wide(board.rows),
        is_wide=_is_wide(board.rows) or longest > NARROW,
        is_wordy=longest > WORDY,
        widest=WIDEST,
        is_searched=len(board.rows) >= SMALLEST,
        is_tinted=len(board.rows) >= TINTED,
        open_licences=sorted(OPEN_LICENCES & {facts.licence for facts in content.known.values()}),
    )


def is_bare(rows: Sequence[BoardRow]) -> bool:
    """Tell whether no number in a cell has an error beside it."""
    entries = [row.entry for row in rows]
    return all(entry.stderr is None and all(score.stderr is None for score in entry.tasks) for entry in entries)


def _is_wide(rows: Sequence[BoardRow]) -> bool:
    """Tell whether a number in a cell has a digit more than most boards need, such as 100.00 ±3.1 and 52.00 ±10.4."""
    scores = [score for row in rows for score in row.entry.tasks]
    return any((score.score or 0.0) >= 99.995 or TIE * (score.stderr or 0.0) >= 9.95 for score in scores)


def is_scaled(content: PageContent) -> bool:
    """Tell whether the score of any task is another number than its raw value in percent."""
    tasks = content.board.leaderboard.tasks
    return any(one.has_bounds or one.upper_bound != (100 if one.unit == "percent" else 1) for one in tasks)


@dataclass(frozen=True, slots=True)
class FirstRow:
    """A row, its page, half of its average's interval, what one may doubt, and of the first what chance leaves."""

    entry: Entry
    page: str
    reach: float
    doubts: Sequence[str]
    sentence: str


def _best(content: PageContent) -> Iterator[FirstRow]:
    """The first row, and where that is in doubt the first one that is not."""
    for row in content.board.rows[: content.ranked]:
        entry, is_doubted = row.entry, content.is_doubted(row.entry)
        if row.position == 1 or not is_doubted:
            page, reach = row_page(content.names[entry.key]), TIE * (entry.stderr or 0.0)
            said = _said_of_first(content, row) if row.position == 1 else ""
            yield FirstRow(entry, page, reach, content.doubts(entry), said)
        if not is_doubted:
            return


def _said_of_first(content: PageContent, row: BoardRow) -> str:
    """What chance leaves of the first row's rank, over tasks with the next row."""
    said = content.rank_sentence(row)
    if row.is_over_tasks and content.ranked > 1 and row.worst:
        other = content.board.rows[1]
        tested = content.tested_beside(row, other)
        if not tested.is_more:
            more, worse = row.worst - 2, content.ranked - row.worst
            others = f" and {counted(more, 'other')}" if more > 0 else ""
            than = f"; better than {worse:,}" if worse else ""
            named = content.named(other.entry)
            beside = f"{tested.counted}, p = {tested.p:.3f}"
            return f"Not separable from {named} ({beside}){others}{than}."
    _, _, rest = said.partition("; ")
    return rest[:1].upper() + rest[1:] if rest else said


def _figures(content: PageContent) -> Iterator[Figure]:
    """The averages against size where sizes are known, else those of the first rows; and how they rose over time."""
    rows = [row.entry for row in content.board.rows[: content.ranked]]
    if len(rows) < SMALLEST:
        return
    shown = [(entry.model.id or "(no name)", entry.average or 0.0) for entry in rows]
    sizes = [content.facts_of(entry).params for entry in rows]
    sized = [(name, params, value) for (name, value), params in zip(shown, sizes, strict=True) if params]
    if len({params for _, params, _ in sized}) >= FEWEST_SHOWN:
        missing = (
            f"; {counted(len(rows) - len(sized), 'row')} of unknown size left out" if len(sized) < len(rows) else ""
        )
        title = f"Average by size, with the best up to each size{missing}"
        yield against_size(title, sized, fitting("average (points)", [value for _, _, value in sized]))
    elif any(entry.stderr for entry in rows):
        first = [
            ForestRow(
                entry.model.id, row_page(content.names[entry.key]), entry.average or 0.0, TIE * (entry.stderr or 0.0)
            )
            for entry in rows[:FOREST_ROWS]
        ]
        which = "rows" if len(first) == len(rows) else "first rows"
        yield forest(f"The {len(first)} {which} with their intervals; the line is the lower end of the best", first)
    dated = sorted(
        (entry.measured, name, value)
        for entry, (name, value) in zip(rows, shown, strict=True)
        if len(entry.measured) >= DAY
    )
    if len({date[:DAY] for date, _, _ in dated}) >= FEWEST_SHOWN:
        points = [(name, date, value) for date, name, value in dated]
        axis = fitting("average (points)", [value for _, _, value in dated])
        yield over_time("Average by the date of measuring, with the best up to each day", points, axis)


def _score_columns(content: PageContent, *, is_raw: bool) -> list[ScoreColumn]:
    """The columns of scores: groups come first, but where a click opens their tasks, these stand beside them.

    A group of one task is its task. A group has no raw value.
    """
    board, is_folded = content.board.leaderboard, content.is_folded and not is_raw
    folded = [group for group, held in board.groups.items() if len(held) > 1 and is_folded]
    fold = {group: (f"g{place}",) for place, group in enumerate(folded)}
    shown = heads([task.title for task in board.tasks], [task.group for task in board.tasks])
    runs = [] if fold else [len([*run]) for _, run in groupby(shown, key=lambda head: head[0])]
    spans = {sum(runs[:place]): length for place, length in enumerate(runs)}
    tasks = [
        ScoreColumn(
            task,
            *head,
            fold.get(task.group or "", ("first",) if place in spans and len(runs) > 1 else ()),
            span if head[0] else 0,
        )
        for place, (task, head) in enumerate(zip(board.tasks, shown, strict=True))
        for span in [spans.get(place, 0)]
    ]
    groups = {name: ScoreColumn(None, name, name, ("group",)) for name in board.groups if not is_raw}
    if not is_folded:
        return [*groups.values(), *tasks]
    held = {name: [one for one in tasks if one.group == name] for name in groups}
    beside = {
        name: [group, *held[name]]
        if name in fold
        else [ScoreColumn(one.task, "", name, ("alone",)) for one in held[name]]
        for name, group in groups.items()
    }
    return [one for task in tasks for one in (beside.pop(task.group, []) if task.group in groups else [task])]


def _columns(content: PageContent, differing: Container[str], *, is_raw: bool) -> list[BoardColumn]:
    without = [BoardColumn("average_without_quarantined", "Without quarantined")] if content.has_quarantined else []
    return [
        BoardColumn("rank", "Rank", "rank", "scores.html#ranks"),
        BoardColumn("model", "Model", "text"),
        BoardColumn("average", "Average", "", "scores.html#uncertainty"),
        *without,
        *(_column(content, column, is_raw=is_raw) for column in _score_columns(content, is_raw=is_raw)),
        *(_other(column) for column in content.board.leaderboard.columns),
        *([BoardColumn("evidence", "Evidence", "text")] if content.has_evidence else []),
        *([BoardColumn("size", "Size (B)")] if "size" in differing else []),
        *(BoardColumn(name, title, "text") for name, title in TEXTS.items() if name in differing),
        BoardColumn("date", "Pushed" if content.newest[0] == "pushed" else "Date", "text"),
    ]


def _other(column: DeclaredColumn) -> BoardColumn:
    unit = f" ({column.unit})" if column.unit not in {"fraction", "percent", "plain"} else ""
    return BoardColumn(column.id, with_end(column.title, HEAD) + unit, "" if column.higher_is_better else "low")


def _column(content: PageContent, column: ScoreColumn, *, is_raw: bool) -> BoardColumn:
    task, shown = column.task, without_middle(column.title, HEAD)
    if task is None:
        holds = len(content.board.leaderboard.groups[column.group]) if content.is_folded else 0
        return BoardColumn(column.group, shown, "", "scores.html#columns", style="group", holds=holds)
    is_low = is_raw and not task.higher_is_better
    said = ", lower is better" * is_low + ", quarantined" * bool(task.quarantined)
    return BoardColumn(
        task.id,
        shown + said,
        "low" if is_low else "",
        column_page(task.id),
        task.title + said if shown != task.title else "",
        column.group,
        "alone" if "alone" in column.kinds else " ".join(("task", *column.kinds)),
        span=column.span,
    )


def board_lines(content: PageContent) -> BoardLines:
    """The lines of all rows, for both pages of the board."""
    rows = content.board.rows
    columns, of_raw = (
        [(column, *_tint(content, column)) for column in _score_columns(content, is_raw=is_raw)]
        for is_raw in (False, True)
    )
    longest = max((row.entry.average or 0.0) + TIE * (row.entry.stderr or 0.0) for row in rows)
    differing, is_told = _differing(content), content.warnings_differ
    lines = [_line(content, row, (columns, of_raw), longest, differing, is_told=is_told) for row in rows]
    return BoardLines(lines, differing)


def _tint(content: PageContent, column: ScoreColumn) -> tuple[float, float]:
    """The lowest score of a column, and the width of one tint; 0 of a board without tints."""
    if len(content.board.rows) < TINTED:
        return 0.0, 0.0
    if column.task is None:
        groups = (group for row in content.board.rows for group in row.entry.groups if group.title == column.group)
        scores = sorted(group.score for group in groups if group.score is not None)
    else:
        scores = content.fields.get(column.task.id, [])
    return (scores[0], (scores[-1] - scores[0]) / TINTS) if scores else (0.0, 0.0)


def _line(
    content: PageContent,
    row: BoardRow,
    columns: tuple[Sequence[TintedColumn], Sequence[TintedColumn]],
    longest: float,
    differing: frozenset[str],
    *,
    is_told: bool,
) -> Line:
    scores, raws = (_cells(content, row.entry, some, is_raw=some is columns[1]) for some in columns)
    values = {one.id: one.value for one in row.entry.columns}
    for other in content.board.leaderboard.columns:
        cell = f"<td class=other>{_text(column_number(values.get(other.id), other.unit))}"
        scores, raws = scores + cell, raws + cell
    before, after = _before(content, row, longest), _after(content, row, differing)
    warned = f" data-warnings={len(row.entry.warnings)}" if is_told and row.entry.warnings else ""
    if content.is_marked(entry := row.entry) and content.named_by_warnings(entry):
        warned += f' data-doubt="{_text("; ".join(content.warned(entry)))}"'
    if content.doubts(entry) and not content.is_doubted(entry):
        warned += " data-usual"
    lines = f"<tr{warned}>{before}{scores}{after}", f"<tr{warned}>{before}{raws}{after}"
    return Markup(lines[0]), Markup(lines[1])  # noqa: S704 - every text in them is escaped


def _cells(content: PageContent, entry: Entry, columns: Sequence[TintedColumn], *, is_raw: bool) -> str:
    """The cells of a row's scores, or of its raw values."""
    had = {score.id: score for score in entry.tasks}
    groups = {group.title: group for group in entry.groups}
    odd = content.odd.get(entry.key, {})
    cells = ""
    for column, low, width in columns:
        task, group = column.task, groups.get(column.group)
        score = had.get(task.id, ABSENT) if task else group or ABSENT
        level = 0 if score.score is None or not width else min(TINTS - 1, int((score.score - low) / width))
        is_odd = (
            task.id in odd if task else content.is_folded and not odd.keys().isdisjoint(group.tasks if group else ())
        )
        kinds = [*([f"q{level}"] if level > 0 else []), *(["odd"] if is_odd else []), *column.kinds]
        begin = f'<td class="{" ".join(kinds)}">' if len(kinds) > 1 else f"<td class={kinds[0]}>" if kinds else "<td>"
        cells += begin + (
            raw(score.raw) if isinstance(score, TaskScore) and is_raw else _with_error(score.score, score.stderr)
        )
    return cells


def _before(content: PageContent, row: BoardRow, longest: float) -> str:
    """The cells before the scores of a row: its ranks, its model and its average."""
    entry = row.entry
    model, page = entry.model.id or "(no name)", row_page(content.names[entry.key])
    whole = f' title="{_text(model)}"' if len(model) > LONGEST else ""
    setup = f" <small>{_text(content.setups[entry.key])}</small>" if entry.key in content.setups else ""
    link = f'<a href="{_text(page)}"{whole}>{in_lines(model, "")}{setup}</a>'
    average = _bar(content, entry, longest) + (_lack(content, entry) or _with_error(entry.average, entry.stderr))
    without = content.has_quarantined and f"<td>{points(average_without(entry, content.board.leaderboard))}"
    return f"<td{_place_of(row)}>{row.ranks}<th>{link}{average}{without or ''}"


def _place_of(row: BoardRow) -> str:
    """The place by the average, where it is not the rank itself."""
    return "" if row.rank is None or row.ranks == str(row.position) else f" data-place={row.position}"


def _facts(content: PageContent, entry: Entry) -> dict[str, str]:
    """What is known of a row's model and how it was measured, by the names of columns."""
    facts = content.facts_of(entry)
    return {
        "size": billions(facts.params) if facts.params else MISSING,
        "licence": facts.licence or MISSING,
        "type": facts.kind or (NO_BASE if facts.date and not facts.base else MISSING),
        "precision": entry.model.precision or "unknown",
        "chat": {True: "chat", False: "plain", None: NOT_SAID}[entry.model.chat_template],
    }


def _differing(content: PageContent) -> frozenset[str]:
    """The facts in which rows differ, by the names of columns: one word for all rows would tell none apart."""
    entries = [row.entry for row in content.board.rows]
    found = {(name, value) for entry in entries for name, value in _facts(content, entry).items()}
    times = Counter(name for name, _ in found)
    odd = any(_other_size(content, entry) for entry in entries)
    return frozenset({name for name, count in times.items() if count > 1} | ({"size"} if odd else set()))


def _other_size(content: PageContent, entry: Entry) -> str:
    """The size that a row's name says where its model has another; "" else."""
    return other_size(entry.model.id, content.facts_of(entry).params)


def _common(content: PageContent, differing: Container[str]) -> str:
    """What all rows have in common, in words; "" of a board without rows."""
    if not content.board.rows:
        return ""
    entry = content.board.rows[0].entry
    words = {name: value for name, value in _facts(content, entry).items() if name not in differing}
    template = {True: "used", False: "not used", None: NOT_SAID}[entry.model.chat_template]
    shown = {"size": f"{words.get('size')} billion parameters", "licence": f"licence {words.get('licence')}"}
    shown |= {"precision": entry.model.precision or "unknown precision", "chat": f"chat template {template}"}
    said = [shown.get(name, value) for name, value in words.items() if value != MISSING]
    return f"All rows: {', '.join(said)}." if said else ""


def _after(content: PageContent, row: BoardRow, differing: frozenset[str]) -> str:
    """The cells after the scores of a row: what it rests on, what is known of it, and how it was measured."""
    entry = row.entry
    followed = ", follows" if content.is_verified(entry) else ""
    cells = f"<td class=known>{row.evidence}{followed}" if content.has_evidence else ""
    for name, value in _facts(content, entry).items() if differing else ():
        if name in differing:
            other = _other_size(content, entry) if name == "size" else ""
            begin = f'<td class="size warned" title="the name says {other}">' if other else f"<td class={name}>"
            cells += f"{begin}{_text(value)}"
    is_told = not entry.measured and entry.date and content.newest[0] == "measured"
    pushed = " <small>pushed</small>" if is_told else ""
    return f"{cells}<td class=date>{_text(entry.when[:DAY])}{pushed}"


def _text(text: str) -> str:
    return escape(visible(text))


def _bar(content: PageContent, entry: Entry, longest: float) -> str:
    """The beginning of a cell with the average's bar, as long as its share of the longest, and its interval."""
    value, kinds = entry.average, ["warned"] if content.is_marked(entry) else []
    kinds += ["twin"] if content.twins_of(entry) else []
    if value is not None and value > 0 and longest > 0:
        reach = min(20, round(100 * TIE * (entry.stderr or 0.0) / longest))
        kinds += ["bar", f"w{round(100 * value / longest)}", *([f"e{reach}"] if reach else [])]
    return f'<td class="{" ".join(kinds)}">' if kinds else "<td>"


def _lack(content: PageContent, entry: Entry) -> str:
    """The text in place of a missing average: what is at fault, or the column without a score; "" if there is one."""
    if entry.average is None and entry.warnings and (fault := FAULTS.get(entry.warnings[0].rule)):
        return f"<small class=lack>{fault}</small>"
    had = {score.id for score in entry.tasks if score.score is not None}
    lacking = [task.title for task in content.board.leaderboard.tasks if task.id not in had]
    if not lacking or entry.average is not None:
        return ""
    said = breakable(with_end(f"no {lacking[0]}", LACKING)) if len(lacking) == 1 else f"{len(lacking)}&nbsp;missing"
    return f"<small class=lack>{said}</small>"


def _with_error(value: float | None, stderr: float | None) -> str:
    if value is None or stderr is None:
        return points(value)
    return f"{half_up(value, 2)} <small>±{half_up(TIE * stderr, 1)}</small>"
