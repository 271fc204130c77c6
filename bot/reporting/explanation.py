"""Explain a row: each number from the raw value through bound and clip to the mean, so that a reader can check it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from os.path import commonprefix
from textwrap import fill, wrap

from bot.evaluation.aggregates import right_answers
from bot.evaluation.definition import digest_of_leaves, lost_fields
from bot.evaluation.finding import examples, grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import definitions_of
from bot.evaluation.rounding import significant
from bot.evaluation.rules.other_task_definition import other_task_definition
from bot.evaluation.score import LeafScore, Scores, TaskScore
from bot.evaluation.task import Task
from bot.evaluation.verdict import Judgement, Row
from bot.reporting.escape import brief, cell, visible

RIGHT = "right / of"
AVERAGE = "average"  # no column has this id


@dataclass(frozen=True, slots=True)
class Explained:
    """The content of an explanation, of a judged row or of one on a board: its scores, number of files, and gaps.

    `blocked` names the leaves that were only measured with errors, with the rules; `missing` are those in no file.
    `definitions` has the digest of each leaf's definition, `differences` by task how it differs from the accepted ones.
    `origins` says of the files of a board's row which bytes they were, and at which commit. `lost` has by leaf the
    places of its definition that are functions without their text.
    """

    leaderboard: Leaderboard
    scores: Scores
    files: int
    missing: Collection[str]
    blocked: Mapping[str, tuple[str, ...]]
    definitions: Mapping[str, str]
    differences: Mapping[str, Sequence[str]]
    origins: Mapping[str, str]
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)


def explained(row: Row) -> Explained:
    """The content of an explanation of a judged row."""
    missing = {required.leaf.id for required in row.measurements.missing}
    found = [finding for finding in row.lead.findings if finding.rule == other_task_definition.id]
    differences = grouped((finding.task, finding.message) for finding in found)
    definitions = definitions_of(row.measurements)
    lost_in = {file.path: lost_fields(file.result) for file in row.files if file.result is not None}
    lost = {
        one.required.leaf.id: places
        for one in row.measurements.present
        if (places := lost_in.get(one.file, {}).get(one.leaf.definition))
    }
    return Explained(
        row.leaderboard, row.scores, len(row.files), missing, row.blocked, definitions, differences, {}, lost
    )


def explanation_text(judgement: Judgement, task_id: str = "") -> str:
    """The explanation of every row, each below its model's name where there are several."""
    rows = judgement.rows
    heads = [f"{brief(row.model.id) or '(no model)'}\n\n" if len(rows) > 1 else "" for row in rows]
    return "\n".join(f"{head}{explain(row, task_id)}" for head, row in zip(heads, rows, strict=True))


def column_named(leaderboard: Leaderboard, name: str) -> str:
    """The id of the column with this id or title, whatever its case, or AVERAGE; "" if there is none."""
    named = name.casefold()
    found = (task.id for task in leaderboard.tasks if named in {task.id.casefold(), task.title.casefold()})
    return next(found, AVERAGE if named == AVERAGE else "")


def explain(row: Row | Explained, task_id: str = "") -> str:
    """The explanation of one task or of the average, or of all."""
    row = explained(row) if isinstance(row, Row) else row
    declared = {task.id: task for task in row.leaderboard.tasks}
    lines: list[str] = []
    for score in row.scores.tasks:
        if task_id in {"", score.id}:
            lines += [*_explain_task(declared[score.id], score, row), ""]
    if task_id in {"", AVERAGE}:
        lines += list(_explain_average(row))
    return "\n".join(lines).rstrip() + "\n"


def _explain_task(task: Task, score: TaskScore, row: Explained) -> Iterator[str]:
    result = cell(score.score, 4) if score.score is not None else "no score"
    yield f"{task.title}: {result}"
    if score.leaves:
        yield from _files(score, row)
        yield from _leaf_table(task, score.leaves)
        yield from _definitions(task, row)
    yield from _aggregate(task, score, row)


def _files(score: TaskScore, row: Explained) -> Iterator[str]:
    """The files that the numbers come from, where the row has several or lies on a board."""
    if row.files > 1 or row.origins:
        files = list(dict.fromkeys(leaf.file for leaf in score.leaves))
        yield from (f"  from {visible(row.origins.get(file, file))}" for file in files)


def _definitions(task: Task, row: Explained) -> Iterator[str]:
    """The digest of what the task asked; of several leaves one digest for all of their definitions."""
    found = [leaf.id for leaf in task.leaves if leaf.id in row.definitions]
    if found:
        what = "definition" if len(found) == 1 else f"{len(found)} definitions, together"
        lost = [*dict.fromkeys(place for leaf in found for place in row.lost.get(leaf, ()))]
        without = f", without the text of {examples(lost)}" if lost else ""
        yield f"  asked = {what} {digest_of_leaves(row.definitions, found)}{without}"


def _leaf_table(task: Task, leaves: tuple[LeafScore, ...]) -> Iterator[str]:
    """A line for each leaf; the score only where it is made leaf by leaf."""
    names, counts = _names(task, leaves), [_right_answers(leaf, task) for leaf in leaves]
    width, space = max(map(len, names)), max(len(RIGHT), *map(len, counts))
    by_leaf = task.normalize == "leaf"
    head = f"  {'':{width}}  {RIGHT:>{space}}  {'raw':>8}"
    yield head + (f"  {_bound_name(task):>5}  {'score':>7}" if by_leaf else "")
    for name, count, leaf in zip(names, counts, leaves, strict=True):
        line = f"  {name:{width}}  {count:>{space}}  {cell(leaf.raw, 4):>8}"
        if by_leaf:
            sign = "*" if leaf.is_clipped else ""
            line += f"  {leaf.lower_bound:>5}  {cell(leaf.score, 2):>7}{sign}"
        yield line
    if by_leaf and any(leaf.is_clipped for leaf in leaves):
        yield f"  * {_clipped(task)}"


def _names(task: Task, leaves: tuple[LeafScore, ...]) -> list[str]:
    """The names of a task's lines: the metric, or the subtask without the common beginning of all names."""
    if len(task.metrics) > 1:
        return [leaf.metric for leaf in leaves]
    common = commonprefix([leaf.id for leaf in leaves]) if len(leaves) > 1 else ""  # noqa: RUF071 - names, not paths
    return [leaf.id.removeprefix(common[: common.rfind("_") + 1]) for leaf in leaves]


def _right_answers(leaf: LeafScore, task: Task) -> str:
    metric = next(metric for metric in task.metrics if metric.name == leaf.metric)
    declared = next(declared for declared in task.leaves if declared.id == leaf.id)
    samples = leaf.samples or metric.samples or declared.samples
    if samples is None:
        return "–"
    share = leaf.raw / (100 if task.unit == "percent" else 1)
    if not isfinite(share):
        return f"? / {samples}"
    right = right_answers(share, samples) if metric.integral else None
    return f"mean of {samples}" if right is None else f"{right} / {samples}"


def _bound_name(task: Task) -> str:
    """The name of a lower bound, which is usually the guessing value."""
    return "guess" if task.higher_is_better else "bound"


def _clipped(task: Task) -> str:
    return "below guessing, so 0" if task.higher_is_better else "worse than the bound, so 0"


def _aggregate(task: Task, score: TaskScore, row: Explained) -> Iterator[str]:
    """From the lines of the leaves to the task's raw value and score, or why there is none."""
    if score.raw is None or score.score is None:
        yield from _holes(task, row)
    elif task.normalize == "leaf":
        yield from _one_leaf(task, score.leaves)
        yield from _mean_of_leaves(task, score)
    else:
        yield f"  raw   = {_how_raw(task, score)} = {cell(score.raw, 6)}"
        yield from _whole_task(task, score.raw, score.score)


def _holes(task: Task, row: Explained) -> Iterator[str]:
    """Why a task has no score: which leaves were only measured with errors, and which are in no file."""
    leaves = [leaf.id for leaf in task.leaves]
    rules = dict.fromkeys(rule for leaf in leaves for rule in row.blocked.get(leaf, ()))
    blocked = [leaf for leaf in leaves if leaf in row.blocked]
    missing = set(row.missing).intersection(leaves) - set(blocked)
    names = f": {examples(blocked)}" if len(blocked) < len(leaves) else ""
    if blocked:
        yield from _wrapped(f"no score: {', '.join(rules)}{names}")
        yield from (line for message in row.differences.get(task.id, ()) for line in _wrapped(visible(message)))
    if missing and len(missing) == len(leaves):
        yield "  no score: none of its subtasks is there" if len(leaves) > 1 else "  no score: it is in no file"
    elif missing:
        yield from _wrapped(f"no score: missing {examples([leaf for leaf in leaves if leaf in missing])}")


def _wrapped(text: str) -> list[str]:
    return wrap(text, 78, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _one_leaf(task: Task, leaves: tuple[LeafScore, ...]) -> Iterator[str]:
    """The formula, and its numbers for the first leaf that is not clipped."""
    first = next((leaf for leaf in leaves if not leaf.is_clipped), leaves[0])
    bound, lower, upper = _bound_name(task), Fraction(first.lower_bound), task.upper_bound
    floor = "0 below guessing" if task.higher_is_better else "0 beyond it"
    yield f"  each score = 100 × (raw - {bound}) / ({upper} - {bound}), {floor}; such as"
    yield f"    100 × ({significant(first.raw)} - {lower}) / ({upper} - {lower}) = {_points(first.raw, lower, upper)}"


def _mean_of_leaves(task: Task, score: TaskScore) -> Iterator[str]:
    count = len(score.leaves)
    if task.aggregation == "size-weighted":
        yield f"  score = the scores weighted by samples = {cell(score.score, 4)}"
        yield f"  raw   = the raw values weighted by samples = {cell(score.raw, 6)}"
    else:
        yield f"  score = sum of {count} scores / {count} = {cell(score.score, 4)}"
        yield f"  raw   = sum of {count} raw values / {count} = {cell(score.raw, 6)} (plain mean, not by size)"


def _whole_task(task: Task, raw: float, score: float) -> Iterator[str]:
    """The formula with the numbers of a task that is scored as a whole."""
    lower, upper = task.lower_bound, task.upper_bound
    if lower == 0 and upper == 1:
        yield f"  score = 100 × {cell(raw, 6)} = {cell(score, 4)}"
        return
    clip = f"; {_clipped(task)}" if score == 0 and raw != float(lower) else ""
    yield f"  score = 100 × ({cell(raw, 6)} - {lower}) / ({upper} - {lower}) = {_points(raw, lower, upper)}{clip}"
    if task.bound_reason:
        yield f"          {lower} is {task.bound_reason}"


def _points(raw: float, lower: Fraction, upper: Fraction) -> str:
    """What the formula gives before the clip."""
    return cell(float(100 * (Fraction(raw) - lower) / (upper - lower)), 4)


def _how_raw(task: Task, score: TaskScore) -> str:
    count = len(score.leaves)
    if count == 1:
        return "the value itself"
    if task.aggregation == "size-weighted":
        samples = sum(leaf.samples or 0 for leaf in task.leaves)
        right = round((score.raw or 0.0) / (100 if task.unit == "percent" else 1) * samples)
        return f"all right answers / all samples = {right} / {samples}"
    what = "metrics" if len(task.leaves) == 1 else "raw values"
    return f"mean of {count} {what}"


def _explain_average(row: Explained) -> Iterator[str]:
    scores = row.scores
    if scores.average is None:
        holes = [task.title for task in scores.tasks if task.score is None]
        why = f"none, because {', '.join(holes)} {'has' if len(holes) == 1 else 'have'} no score"
        yield fill(f"Average: {why}", 80, subsequent_indent="  ", break_on_hyphens=False)
        yield "  a mean over the others would look plausible and be wrong"
        return
    for group in scores.groups if scores.over == "groups" else ():
        members = " + ".join(cell(task.score, 4) for task in scores.tasks if task.id in group.tasks)
        formula = f"{group.title}: ({members}) / {len(group.tasks)} = {cell(group.score, 4)}"
        yield fill(formula, 78, initial_indent="  ", subsequent_indent="    ")
    terms = " + ".join(cell(one.score, 4) for one in scores.averaged)
    yield f"Average: {cell(scores.average, 4)}"
    yield fill(
        f"({terms}) / {len(scores.averaged)} = {cell(scores.average, 4)}",
        78,
        initial_indent="  ",
        subsequent_indent="  ",
    )
