"""The page of a board: its table of scores, or of the raw values that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from bot.evaluation.finding import counted
from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import column_page, row_page
from bot.pages.content import PageContent
from bot.pages.drawing import Figure, against_size, averages, fitting, over_time
from bot.pages.environment import MISSING, points, raw
from bot.publishing.board import TIE, BoardRow, average_without
from bot.publishing.entry import Entry
from bot.publishing.models import billions, other_size
from bot.reporting.escape import visible

TINTS = 6  # of a column's cells, the lowest without colour
LONG = 30  # characters of a model's name that two lines of a phone show
FEW = 2  # rows and days that a figure needs at least
DAY = len("2026-03-02")
ABSENT = TaskScore("", "", None, None, None, ())  # of a task that a row does not have
Line = tuple[Markup, Markup]  # a row in the table of scores, and in that of raw values


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head; `name` is that of the CSV, `kind` says how it sorts.

    "" sorts as numbers, the largest first; "rank" and "low" the smallest first; "text" as text.
    """

    name: str
    title: str
    kind: str = ""
    href: str = ""


def board_page(content: PageContent, lines: Callable[[], Sequence[Line]], *, is_raw: bool = False) -> bytes:
    """The page of all rows, of which `lines` are the lines; the incomplete ones stand apart."""
    board = content.board
    rows = [line[is_raw] for line in lines()]
    return content.page(
        "raw.html" if is_raw else "index.html",
        "board.html",
        is_raw=is_raw,
        is_scaled=is_scaled(content),
        has_marks=any(content.is_marked(row.entry) for row in board.rows),
        columns=_columns(content, is_raw=is_raw),
        precisions=len({(row.entry.model.precision or "unknown").lower() for row in board.rows}),
        chats=len({row.entry.model.chat_template for row in board.rows}),
        rows=rows[: content.ranked],
        best=_best(content),
        sentence=content.rank_sentence(board.rows[0]) if content.ranked else "",
        holes=rows[content.ranked :],
        bare=sum(row.entry.stderr is None for row in board.rows[: content.ranked]),
        models=len({row.entry.model.id for row in board.rows}),
        newest=max((row.entry.date for row in board.rows), default="")[:10],
        figures=() if is_raw else tuple(_figures(content)),
    )


def is_scaled(content: PageContent) -> bool:
    """Tell whether the score of any task is another number than its raw value in percent."""
    tasks = content.board.leaderboard.tasks
    return any(one.has_bounds or one.upper_bound != (100 if one.unit == "percent" else 1) for one in tasks)


def _best(content: PageContent) -> tuple[str, Entry, float]:
    """The first row with its page, and half of its average's interval."""
    first = content.board.rows[0].entry
    return row_page(content.names[first.key]), first, TIE * (first.stderr or 0.0)


def _figures(content: PageContent) -> Iterator[Figure]:
    """The averages against size where sizes are known, else with their intervals; and how they rose over time."""
    rows = [row.entry for row in content.board.rows[: content.ranked]]
    if len(rows) < FEW:
        return
    shown = [(entry.model.id or "(no name)", entry.average or 0.0, TIE * (entry.stderr or 0.0)) for entry in rows]
    sizes = [content.facts_of(entry).params for entry in rows]
    sized = [(name, params, value) for (name, value, _), params in zip(shown, sizes, strict=True) if params]
    if len({params for _, params, _ in sized}) >= FEW:
        missing = (
            f" ({counted(len(rows) - len(sized), 'row')} of unknown size left out)" if len(sized) < len(rows) else ""
        )
        title = f"All ranked rows by size, and the best up to each size{missing}."
        yield against_size(title, sized, fitting("average (points)", [value for _, _, value in sized]))
    elif any(reach for _, _, reach in shown):
        yield averages("Averages; those on one band are not separable from its best.", shown)
    dated = sorted(
        (entry.date, name, value) for entry, (name, value, _) in zip(rows, shown, strict=True) if len(entry.date) >= DAY
    )
    if len({date[:DAY] for date, _, _ in dated}) >= FEW:
        points = [(name, date, value) for date, name, value in dated]
        axis = fitting("average (points)", [value for _, _, value in dated])
        yield over_time("All ranked rows by the date of measuring, and the best up to each day.", points, axis)


def _columns(content: PageContent, *, is_raw: bool) -> list[Column]:
    tasks = content.board.leaderboard.tasks
    without = [Column("average_without_quarantined", "Without quarantined")] if content.has_quarantined else []
    return [
        Column("rank", "Rank", "rank", "scores.html#ranks"),
        Column("model", "Model", "text"),
        Column("average", "Average", "", "scores.html#uncertainty"),
        *without,
        *(_column(task, is_raw=is_raw) for task in tasks),
        *([Column("evidence", "Evidence", "text")] if content.has_evidence else []),
        *([Column("size", "Size (B)")] if content.has_sizes else []),
        *([Column("licence", "Licence", "text"), Column("type", "Type", "text")] if content.has_licences else []),
        Column("precision", "Precision", "text"),
        Column("chat", "Template", "text"),
        Column("date", "Date", "text"),
        Column("warnings", "Warnings"),
    ]


def _column(task: Task, *, is_raw: bool) -> Column:
    is_low = is_raw and not task.higher_is_better
    title = task.title + ", lower is better" * is_low + ", quarantined" * bool(task.quarantined)
    return Column(task.id, title, "low" if is_low else "", column_page(task.id))


def board_lines(content: PageContent) -> list[Line]:
    """The lines of all rows."""
    rows = content.board.rows
    columns = {task.id: content.fields.get(task.id) or [0.0] for task in content.board.leaderboard.tasks}
    # the lowest score of each column, and the width of one tint
    tints = {task: (scores[0], (scores[-1] - scores[0]) / TINTS) for task, scores in columns.items()}
    longest = max((row.entry.average or 0.0) + TIE * (row.entry.stderr or 0.0) for row in rows)
    return [_line(content, row, tints, longest) for row in rows]


def _line(content: PageContent, row: BoardRow, tints: Mapping[str, tuple[float, float]], longest: float) -> Line:
    had, sentence = {score.id: score for score in row.entry.tasks}, content.rank_sentence(row)
    scores = raws = ""
    for task, (low, width) in tints.items():
        score = had.get(task, ABSENT)
        level = 0 if score.score is None or not width else min(TINTS - 1, int((score.score - low) / width))
        begin = f"<td class=q{level}>" if level else "<td>"
        scores += begin + _with_error(score.score, score.stderr)
        raws += begin + raw(score.raw)
    title = f' title="{_text(sentence)}"' if sentence else ""
    before, after = _before(content, row, longest), _after(content, row)
    lines = f"<tr><td{title}>{before}{scores}{after}", f"<tr><td>{before}{raws}{after}"
    return Markup(lines[0]), Markup(lines[1])  # noqa: S704 - every text in them is escaped


def _before(content: PageContent, row: BoardRow, longest: float) -> str:
    """The cells before the scores of a row: its ranks, its model and its average."""
    entry = row.entry
    model, page = entry.model.id or "(no name)", row_page(content.names[entry.key])
    organization, slash, name = model.rpartition("/")
    kind = " class=long" if len(name) > LONG else ""
    link = f'<a{kind} href="{_text(page)}"><bdi><i>{_text(organization + slash)}</i>{_text(name)}</bdi></a>'
    if setup := content.setups.get(entry.key):
        link += f" <small>{_text(setup)}</small>"
    average = _bar(content, entry, longest) + (_lack(content, entry) or _with_error(entry.average, entry.stderr))
    without = content.has_quarantined and f"<td>{points(average_without(entry, content.board.leaderboard))}"
    return f"{row.ranks}<th scope=row>{link}{average}{without or ''}"


def _after(content: PageContent, row: BoardRow) -> str:
    """The cells after the scores of a row: what is known of it, and how it was measured."""
    entry = row.entry
    chat, facts = "chat" if entry.model.chat_template else "plain", "".join(_facts(content, row))
    known = f"<td>{_text(entry.model.precision or 'unknown')}"
    return f"{facts}{known}<td>{chat}<td>{_text(entry.date[:DAY])}<td>{len(entry.warnings)}"


def _text(text: str) -> str:
    return escape(visible(text))


def _facts(content: PageContent, row: BoardRow) -> list[str]:
    """What the row rests on and what is known of its model, as cells of the columns that this board has."""
    entry = row.entry
    facts, cells = content.facts_of(entry), list[str]()
    if content.has_evidence:
        followed = ", follows" if content.is_verified(entry) else ""
        cells.append(f"<td class=known>{row.evidence}{followed}")
    if content.has_sizes:
        other = other_size(entry.model.id, facts.params)
        begin = f'<td class=warned title="the name says {other}">' if other else "<td>"
        cells.append(begin + (billions(facts.params) if facts.params else MISSING))
    if content.has_licences:
        cells += [f"<td>{_text(text or MISSING)}" for text in (facts.licence, facts.kind)]
    return cells


def _bar(content: PageContent, entry: Entry, longest: float) -> str:
    """The beginning of a cell with the average's bar, as long as its share of the longest, and its interval."""
    value, kinds = entry.average, ["warned"] if content.is_marked(entry) else []
    if value is not None and value > 0 and longest > 0:
        reach = min(20, round(100 * TIE * (entry.stderr or 0.0) / longest))
        kinds += ["bar", f"w{round(100 * value / longest)}", *([f"e{reach}"] if reach else [])]
    return f'<td class="{" ".join(kinds)}">' if kinds else "<td>"


def _lack(content: PageContent, entry: Entry) -> str:
    """The text in place of a missing average: the column without a score; "" if none is missing."""
    had = {score.id for score in entry.tasks if score.score is not None}
    lacking = [task.title for task in content.board.leaderboard.tasks if task.id not in had]
    if not lacking or entry.average is not None:
        return ""
    return f"<small>{_text(f'no {lacking[0]}' if len(lacking) == 1 else f'no {len(lacking)} columns')}</small>"


def _with_error(value: float | None, stderr: float | None) -> str:
    if value is None or stderr is None:
        return points(value)
    return f"{value:.2f} <small>±{TIE * stderr:.1f}</small>"
