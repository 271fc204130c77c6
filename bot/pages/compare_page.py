"""The page that compares rows: made by the server, and in an exported site by its script from the data beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from bot.evaluation.compare import (
    ComparedTask,
    KnownEffect,
    MeasuredRun,
    RunComparison,
    effects,
    said_of,
    task_of_score,
)
from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import owner_and_name
from bot.evaluation.score import TaskScore
from bot.evaluation.statistics import LEVEL, without_error
from bot.pages.content import UNFOLDED, PageContent
from bot.pages.drawing import Figure, differences, fitting
from bot.pages.environment import points, rule_title, signed
from bot.pages.titles import with_end, without_shared
from bot.publishing.board import BoardRow
from bot.publishing.compared_rows import compared_rows, run_of_entry
from bot.publishing.entry import Entry
from bot.publishing.models import billions
from bot.reporting.comparison import over_tasks, sentence_of
from bot.reporting.escape import visible

MOST_COMPARED_ROWS = 4  # rows that are compared
PLACES = ("first", "second", "third", "fourth")  # of the rows that are compared
OFFERED, FIRST = 2_000, 12  # names that the fields offer, and rows that are offered below them
LONGEST = 48  # letters of a name in sentences and heads; its row and its field have all of it
MOST_DIFFERENT = 10  # of many tasks those that are shown before one asks for the others
NEAR = 3  # rows above one and below it that it is compared with
STYLES = {"higher": "well", "lower": "warn"}  # the classes of the style sheet for verdicts that tell rows apart
ROUNDED = "Differences are taken before rounding."
UNTESTED = f"The files give no standard errors, so no difference is tested by itself. {ROUNDED}"
SCORES = (
    "Each difference has ±, half of its 95 % interval. The verdicts allow for the number of "
    "tasks by the method of Holm, so a difference a little above its ± may be not separable. "
    f"{ROUNDED}"
)

ODD = "“?” is before a score that the other columns of its row make unlikely: to look at, and no proof."


def _begin(content: PageContent) -> list[tuple[str, BoardRow]]:
    """The first rows of the board, with which a reader may begin, by their names."""
    return [(name, row) for name, row in list(content.rows.items())[:FIRST] if row.rank is not None]


def _near(content: PageContent, name: str) -> list[tuple[str, str]]:
    """The ranked rows beside one on the board, with what a field shows for them."""
    place = list(content.rows).index(name)
    rows = list(content.rows.items())[max(0, place - NEAR) : place + NEAR + 1]
    return [(other, _shortest(content, other)) for other, row in rows if other != name and row.rank is not None]


# A row is a list in the data, without the names of its four parts.
NAMED = b"""globalThis.leaderboard.rows = globalThis.leaderboard.rows.map(([average, error, kind, tasks]) => (
  { average, error, kind, tasks }));
"""


def compare_data(content: PageContent) -> bytes:
    """A script that holds the scores of all rows: a page on a disk may load a script, and no data.

    Scores and errors are in points, rounded to six digits after the point.
    """
    seen, ways, rows = SharedTexts(), dict[bytes, MeasuredWay](), list[tuple[Any, ...]]()
    for row in content.rows.values():
        if (way := _way(row.entry)) not in ways:
            ways[way] = MeasuredWay(len(ways), row.entry, _shapes(row.entry, seen))
        rows.append(_row(content, row.entry, ways[way]))
    tasks = [task.id for task in content.board.leaderboard.tasks]
    runs = [run_of_entry("", way.example) for way in ways.values()]
    known = _known(runs)
    data = {
        "names": list(content.rows),
        "titles": {name: title for name, title in titles_of(content).items() if name != title},
        "tasks": without_shared([task.title for task in content.board.leaderboard.tasks]),
        "ids": tasks,
        "odd": {
            place: [tasks.index(task) for task in odd]
            for place, row in enumerate(content.rows.values())
            if (odd := content.odd.get(row.entry.key))
        },
        "settings": [[one.title, one.what.partition(" (")[0] if one.breaks else ""] for one in known],
        "rows": rows,
        "kinds": [
            (_kind(content, run, known, seen), seen.text(_warned(way.example)))
            for run, way in zip(runs, ways.values(), strict=True)
        ],
        "shapes": list(seen.shapes),
        "texts": list(seen.texts),
    }
    return b'"use strict";\nglobalThis.leaderboard = ' + msgspec.json.encode(data) + b";\n" + NAMED


@dataclass
class SharedTexts:
    """What many rows share, each once, with its place in the data: texts, and shapes of a task."""

    texts: dict[str, int] = field(default_factory=dict)
    shapes: dict[tuple[int, float | None, int | None], int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        """The place of a text."""
        return self.texts.setdefault(text, len(self.texts))


class MeasuredWay(NamedTuple):
    """A way of measuring that rows share: its place, a row that has it, and the place of the shape of each task."""

    place: int
    example: Entry
    shapes: Mapping[str, int]


def titles_of(content: PageContent) -> dict[str, str]:
    """The text that people read for each row's name; the name in the address encodes letters of other scripts."""
    return {
        name: visible(f"{row.entry.model.id or '(no name)'}/{name.rpartition('/')[2]}")
        for name, row in content.rows.items()
    }


def offered_of(row: BoardRow, title: str) -> str:
    """What a suggestion says of a row beside its name."""
    average = "incomplete" if row.entry.average is None else points(row.entry.average)
    size = f", {billions(row.entry.model.parameters)}B" if row.entry.model.parameters else ""
    return f"{title}: {average}{size}"


def _way(entry: Entry) -> bytes:
    """How a row was measured: all that `_kind`, `_warned` and `_shapes` read. Most rows share one of a few ways."""
    leaves = [leaf for task in entry.tasks for leaf in task.leaves]
    files = [(file.format, file.harness) for file in entry.evidence]
    parts = (
        entry.model.precision, entry.model.chat_template, entry.harness, files, entry.versions, entry.num_fewshot,
        entry.num_samples, entry.definitions, _warned(entry),
        [(task.id, len(task.leaves), task.score is None) for task in entry.tasks],
        [(leaf.id, leaf.metric, leaf.samples, leaf.lower_bound, leaf.upper_bound) for leaf in leaves],
        [entry.evidence.index(file) if (file := entry.evidence_of(leaf)) else None for leaf in leaves]
        if len(files) > 1
        else (),
    )  # fmt: skip
    return msgspec.json.encode(parts)


def _kind(content: PageContent, run: MeasuredRun, known: Sequence[KnownEffect], seen: SharedTexts) -> list[list[int]]:
    """The texts of each setting, for each task that the row has."""
    tasks = [task.id for task in content.board.leaderboard.tasks if task.id in run.tasks]
    return [[seen.text(visible(_said(run, effect, task))) for task in tasks] for effect in known]


def _warned(entry: Entry) -> str:
    """What the rules that warn of a row found."""
    return " ".join(sorted({visible(rule_title(one.rule)) for one in entry.warnings}))


def _known(runs: Sequence[MeasuredRun]) -> list[KnownEffect]:
    """The settings that the rows record, those that matter most first."""
    recorded = {name for run in runs for name in (*run.settings, *run.of_leaves)}
    return [one for one in effects() if one.setting in recorded and not one.weak]


def _said(run: MeasuredRun, effect: KnownEffect, task: str) -> str:
    name = effect.setting
    return run.settings.get(name) or said_of(run.of_leaves.get(name, {}), run.tasks[task].leaves)


def _shapes(entry: Entry, seen: SharedTexts) -> dict[str, int]:
    """The place of the shape of each task of a row that has a score."""
    found = dict[str, int]()
    for task in (task_of_score(one) for one in entry.tasks if one.score is not None):
        shape = (seen.text(visible(task.metric)), task.span, task.samples)
        found[task.id] = seen.shapes.setdefault(shape, len(seen.shapes))
    return found


def _row(content: PageContent, entry: Entry, way: MeasuredWay) -> tuple[Any, ...]:
    """A row's average with its error, how it was measured, and what its comparison needs of each task."""
    found = {task.id: _measured(task, way.shapes[task.id]) for task in entry.tasks if task.score is not None}
    tasks = [found.get(task.id) for task in content.board.leaderboard.tasks]
    return _rounded(entry.average), _rounded(entry.stderr), way.place, tasks


def _measured(task: TaskScore, shape: int) -> tuple[float | int | None, ...]:
    counts = task_of_score(task).counts if len(task.leaves) == 1 else None
    return _rounded(task.score), _rounded(task.stderr), shape, *(counts or ())


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, its class of the style sheet, and what stands small behind the text."""

    text: str
    style: str = "n"
    note: str = ""


@dataclass(frozen=True, slots=True)
class CompareTable:
    """A table with its caption; each line has a head and cells. The heads after the first are the compared rows.

    One with a `summary` is folded.
    """

    caption: str
    titles: tuple[str, ...]
    lines: Sequence[tuple[str, Sequence[Cell]]]
    summary: str = ""


def compare_page(content: PageContent, asked: Sequence[str] | None = None) -> bytes:
    """The page with the rows that were asked for by name or by a part of it, complete without script.

    Where nobody can be asked, as in an exported site, its script compares; the rows stand in its address.
    """
    is_live = asked is not None
    wanted = [name.strip() for name in asked or () if name.strip()][:MOST_COMPARED_ROWS]
    titles = titles_of(content)
    found = [find(titles, text) for text in wanted]
    chosen = list(dict.fromkeys(name for name, _ in found if name))
    values: dict[str, Any] = {
        "asked": [_shortest(content, name) or text for text, (name, _) in zip(wanted, found, strict=True)],
        "offered": [
            (short, offered_of(row, short))
            for name, row in list(content.rows.items())[:OFFERED]
            for short in [_shortest(content, name)]
        ]
        if is_live
        else (),
        "status": " ".join(_status(content, wanted, found, chosen)) if is_live else "",
        "is_live": is_live,
        "near": _near(content, chosen[0]) if len(chosen) == 1 else (),
        "begin": () if chosen else _begin(content),
        **dict.fromkeys(("chosen", "verdicts", "figures", "tables"), ()),
    }
    if len(chosen) > 1:
        values |= _compared(content, [titles[name] for name in chosen], chosen)
    return content.page("compare.html", **values)


def find(titles: Mapping[str, str], text: str) -> tuple[str, int]:
    """The best row whose name or title has all words of a text, "" if none has, and how many rows have them.

    The number is 0 where the text can mean no other row: it is the whole name of the row or of its model.
    """
    if text in titles:
        return text, 0
    sought, words = text.casefold(), text.casefold().split()
    fitting = [name for name, title in titles.items() if all(word in f"{title} {name}".casefold() for word in words)]
    whole = [name for name in fitting if titles[name].casefold().startswith(f"{sought}/")]
    exact = whole or [name for name in fitting if f"/{sought}/" in titles[name].casefold()]
    if len(exact) == 1:
        return exact[0], 0
    found = exact or fitting
    return next(iter(found), ""), len(found)


def _shortest(content: PageContent, name: str) -> str:
    """What a field shows for a row: the id of its model where no other row has it, so that more of it is seen."""
    model = content.rows[name].entry.model.id if name else ""
    return model if model and "," not in model and len(content.rows_of[model]) == 1 else name


def _status(
    content: PageContent, wanted: Sequence[str], found: Sequence[tuple[str, int]], chosen: Sequence[str]
) -> Iterator[str]:
    for text, (name, count) in zip(wanted, found, strict=True):
        if not name:
            yield f"No row has “{visible(text)}” in its name."
        elif count > 1:
            best = f"{visible(_shortest(content, name))}, the best of {count} rows that have it in their names"
            yield f"“{visible(text)}” is taken as {best}."
    twice = "This is one row twice. " if sum(bool(name) for name, _ in found) > 1 else ""
    few = f"{twice}Choose a second row." if chosen else "Choose two to four rows."
    yield f"{len(chosen)} rows are compared." if len(chosen) > 1 else few


def _compared(content: PageContent, titles: Sequence[str], chosen: Sequence[str]) -> dict[str, Any]:
    entries = [content.rows[name].entry for name in chosen]
    shown = _short(titles)
    declared = content.board.leaderboard.tasks
    names = without_shared([task.title for task in declared])
    have = {task.id for entry in entries for task in entry.tasks if task.score is not None}
    titled = {task.id: name for task, name in zip(declared, names, strict=True) if task.id in have}
    base, *others = zip(entries, shown, strict=True)
    compared = [_upward(base, other) for other in others]
    are_whole = [None not in (entries[0].average, other.average) for other in entries[1:]]
    found = [_by_task(one, has_averages=is_whole) for (one, *_), is_whole in zip(compared, are_whole, strict=True)]
    first, rest = _in_order(titled, found[0])
    average = {"average": "Average"} if any(entry.average is not None for entry in entries) else {}
    tasks = {**average, **first}
    scores = [_score_cells(content, entry) for entry in entries]
    minus = [f"{high} minus {low}" for _, low, high in compared]
    heads = list(_heads(compared, base[1]))
    table = _score_table(tasks, shown, heads, scores, found)
    odd = ODD if any(content.odd.get(entry.key) for entry in entries) else ""
    of_one = f"Difference: {minus[0]}." if len(minus) == 1 else ""
    notes = (of_one, table.caption, odd) if any(found) else (odd,)
    folded = _score_table(rest, shown, heads, scores, found)
    differ = any(one is not None and not one.is_same for one, *_ in compared)
    return {
        "chosen": chosen,
        "verdicts": [_verdict(*each) for each in compared],
        "figures": _figures(tasks, minus, found) if differ else [],
        "is_part": bool(rest) and differ,
        "tables": (
            replace(table, caption=" ".join(filter(None, notes))),
            *([replace(folded, caption="", summary=f"The other {len(rest)} tasks")] if rest else []),
            _setting_table(titled, shown, entries),
        ),
    }


def _upward(first: tuple[Entry, str], second: tuple[Entry, str]) -> tuple[RunComparison | None, str, str]:
    """The comparison of the lower row with the higher one, and their names in this order."""
    (one, low), (other, high) = first, second
    comparison = compared_rows(one, other, (low, high))
    if comparison and comparison.average and comparison.average.contrast.difference < 0:
        return compared_rows(other, one, (high, low)), high, low
    return comparison, low, high


def _heads(compared: Sequence[tuple[RunComparison | None, str, str]], base: str) -> Iterator[str]:
    """The heads of the columns of differences: names would be longer than the numbers below them."""
    for place, (_, _, high) in zip(PLACES[1:], compared, strict=False):
        pair = (PLACES[0], place) if high == base else (place, PLACES[0])
        yield f"{pair[0]} minus {pair[1]}".capitalize() if len(compared) > 1 else "Difference"


def _in_order(tasks: Mapping[str, str], found: Mapping[str, ComparedTask]) -> tuple[Mapping[str, str], dict[str, str]]:
    """The tasks in the order of the board; of many those that differ most, and the others apart."""
    if len(tasks) <= UNFOLDED:
        return tasks, {}
    off = {task: abs(one.contrast.difference) for task, one in found.items() if not one.why}
    order = sorted(tasks, key=lambda task: -off.get(task, -1))
    first, rest = order[:MOST_DIFFERENT], order[MOST_DIFFERENT:]
    return {task: tasks[task] for task in first}, {task: tasks[task] for task in rest}


def _short(titles: Sequence[str]) -> Sequence[str]:
    """The shortest names that tell rows apart: of models, with organizations, or of the setups of one model."""
    models, setups = zip(*((title.rpartition("/")[0], title.rpartition("/")[2]) for title in titles), strict=True)
    names = [owner_and_name(model)[1] for model in models]
    if len(set(models)) == 1:
        return setups
    told = next((each for each in (names, models) if len(set(each)) == len(each)), titles)
    cut = [with_end(name, LONGEST) for name in told]
    return cut if len(set(cut)) == len(cut) else told


def _figures(
    tasks: Mapping[str, str], minus: Sequence[str], found: Sequence[Mapping[str, ComparedTask]]
) -> list[Figure]:
    """The differences of each pair of rows, all on one axis."""
    drawn = [
        [
            (title, one.contrast.difference, _half(one), one.conclusion != "not separable")
            for task, title in tasks.items()
            if (one := by_task.get(task)) is not None and not one.why
        ]
        for by_task in found
    ]
    ends = [end for rows in drawn for _, value, reach, _ in rows for end in (value - reach, value + reach)]
    axis = fitting("difference (points)", [*ends, 0.0])
    return [differences(title, rows, axis) for title, rows in zip(minus, drawn, strict=True)]


def _by_task(comparison: RunComparison | None, *, has_averages: bool) -> dict[str, ComparedTask]:
    """The comparisons of the tasks by id, and that of the averages where both rows have one."""
    if comparison is None:
        return {}
    average = {"average": comparison.average} if comparison.average and has_averages else {}
    if average and over_tasks(comparison):  # the test of the average is that of the tasks, in the sentence
        alone = without_error(average["average"].contrast.difference)
        average["average"] = replace(average["average"], contrast=alone, conclusion="not tested")
    return average | {one.id: one for one in comparison.tasks}


def sentence(comparison: RunComparison | None, first: str, second: str) -> str:
    """What `compare` says of two rows; None are two without a common task."""
    if comparison is None:
        return f"{first} and {second} have no task in common: there is nothing to compare."
    return sentence_of(comparison, first, second)


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """What the page says first of two rows: the verdict, the class of its chip, by how much, a sentence.

    `higher` is the row that is higher by that much, "" where the verdict names it.
    """

    words: str
    style: str
    difference: str
    half: str
    higher: str
    sentence: str


def _verdict(comparison: RunComparison | None, first: str, second: str) -> ShownVerdict:
    said = sentence(comparison, first, second)
    whole = comparison.average if comparison else None
    if comparison is None or whole is None:
        return ShownVerdict("" if comparison else "nothing to compare", "", "", "", "", said)
    if comparison.is_same:
        return ShownVerdict("the same numbers", "", "", "", "", said)
    tested = over_tasks(comparison)
    words = whole.conclusion if tested is None else tested.side if tested.is_more else "not separable"
    is_apart = words == "higher"
    # Over tasks more than chance, and by the answers to their questions not: both are said, and neither in green.
    by_questions = whole.contrast.p is not None and whole.conclusion == "not separable"
    is_split = tested is not None and is_apart and by_questions
    verdict = f"{second} higher{' in most tasks' if tested else ''}" if is_apart else words
    verdict += ", by questions not separable" if is_split else ""
    if whole.why:
        return ShownVerdict(verdict, "", "", "", "", said)
    half = f"±{half_up(_half(whole), 2)}" if whole.contrast.p is not None and not tested else ""
    off = str(half_up(abs(whole.contrast.difference), 2))
    higher = second if float(off) and not is_apart else ""
    return ShownVerdict(verdict, "well" if is_apart and not is_split else "", off, half, higher, said)


def _half(task: ComparedTask) -> float:
    """Half of the interval of a difference, 0 where its error is unknown."""
    if task.contrast.stderr is None:
        return 0.0
    low, high = task.contrast.interval(LEVEL)
    return (high - low) / 2


def _setting_table(tasks: Mapping[str, str], shown: Sequence[str], entries: Sequence[Entry]) -> CompareTable:
    """The settings that differ in the tasks that all rows have; the caption names those that are the same."""
    runs = [run_of_entry("", entry) for entry in entries]
    shared = [(task, title) for task, title in tasks.items() if all(task in run.tasks for run in runs)]
    lines, same, unsaid = [], list[str](), list[str]()
    for effect in _known(runs):
        said = [(title, [visible(_said(run, effect, task)) for run in runs]) for task, title in shared]
        apart = [(title, texts) for title, texts in said if len(set(texts)) > 1]
        if apart:
            which = f": {', '.join(title for title, _ in apart)}" if len(apart) < len(said) else ""
            values = zip(*(texts for _, texts in apart), strict=True)
            cells = [Cell(", ".join(filter(None, dict.fromkeys(one))) or "not recorded", "wrap") for one in values]
            lines.append((effect.title + which, cells))
        elif said:
            (same if any(any(texts) for _, texts in said) else unsaid).append(effect.title)
    caption = "Measured differently; where this differs, the numbers may not be comparable." if lines else ""
    equal = f"Measured alike: {', '.join(same)}." if same else ""
    silent = f"{'Neither says' if len(runs) == 2 else 'None says'}: {', '.join(unsaid)}." if unsaid else ""
    unlike = ""
    if len(set(warned := [_warned(entry) for entry in entries])) > 1:
        lines.append(("warnings", [Cell(text or "none", "wrap") for text in warned]))
        unlike = "The warnings differ."
    return CompareTable(" ".join(filter(None, (caption, equal, silent, unlike))), ("Setting", *shown), lines)


def _score_cells(content: PageContent, entry: Entry) -> dict[str, Cell]:
    """The average and the score of each task, with the mark of one that the other columns make unlikely."""
    odd = content.odd.get(entry.key, {})
    tasks = {one.id: Cell(points(one.score), "n odd" if one.id in odd else "n") for one in entry.tasks}
    return {"average": Cell(points(entry.average)), **tasks}


def _score_table(
    tasks: Mapping[str, str],
    shown: Sequence[str],
    heads: Sequence[str],
    rows: Sequence[Mapping[str, Cell]],
    found: Sequence[Mapping[str, ComparedTask]],
) -> CompareTable:
    """The scores, and the difference of each pair of rows with its verdict."""
    counts = [
        sum(test.contrast.p is not None and not test.why for name, test in one.items() if name != "average")
        for one in found
    ]
    lines = [
        (
            title,
            [
                *(row.get(task, Cell(points(None))) for row in rows),
                *(_difference(one.get(task), tests) for one, tests in zip(found, counts, strict=True)),
            ],
        )
        for task, title in tasks.items()
    ]
    is_tested = any(counts)
    return CompareTable(SCORES if is_tested else UNTESTED, ("Score", *shown, *heads), lines)


def _difference(task: ComparedTask | None, tests: int) -> Cell:
    """A difference with its verdict among so many tests; where only the correction for them decides, it is named."""
    if task is None:
        return Cell(points(None))
    if task.why:
        return Cell(points(None), "n", task.conclusion)
    value = signed(task.contrast.difference)
    if task.contrast.p is None:
        return Cell(value)
    low, high = task.contrast.interval(LEVEL)
    is_corrected = task.conclusion == "not separable" and (low > 0 or high < 0) and tests > 1
    among = f" among {tests} tests" if is_corrected else ""
    style = f"n apart {STYLES[task.conclusion]}" if task.conclusion in STYLES else "n"
    return Cell(value, style, f"±{half_up(_half(task), 2)} {task.conclusion}{among}")
