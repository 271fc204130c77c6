"""A verdict in, the way of every number out: raw value, bound, clip, score, mean, to be followed with a calculator."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from os.path import commonprefix
from textwrap import fill

from bot.leaderboard import Leaderboard, Task
from bot.pipeline import Verdict
from bot.score import LeafScore, TaskScore

RIGHT = "right / of"


def explain(verdict: Verdict, task_id: str = "") -> str:
    """The explanation of one task, or of all and the average."""
    if verdict.scores is None:
        return "no score: the file could not be read\n"
    declared = {task.id: task for task in verdict.leaderboard.tasks}
    lines: list[str] = []
    for score in verdict.scores.tasks:
        if task_id in {"", score.id}:
            lines += [*_explain_task(declared[score.id], score, verdict), ""]
    if not task_id:
        lines += list(_explain_average(verdict))
    return "\n".join(lines).rstrip() + "\n"


def _explain_task(task: Task, score: TaskScore, verdict: Verdict) -> Iterator[str]:
    result = f"{score.score:.4f}" if score.score is not None else "no score"
    yield f"{task.title}: {result}"
    if not score.leaves:
        yield "  none of its subtasks is in the file"
        return
    yield from _leaf_table(task, score.leaves)
    yield from _aggregate(task, score, verdict)


def _leaf_table(task: Task, leaves: tuple[LeafScore, ...]) -> Iterator[str]:
    """A line for each leaf; the score only where it is made leaf by leaf."""
    names, counts = _names(task, leaves), [_right_answers(leaf, task) for leaf in leaves]
    width, space = max(map(len, names)), max(len(RIGHT), *map(len, counts))
    by_leaf = task.normalize == "leaf"
    head = f"  {'':{width}}  {RIGHT:>{space}}  {'raw':>8}"
    yield head + (f"  {_bound_name(task):>5}  {'score':>7}" if by_leaf else "")
    for name, count, leaf in zip(names, counts, leaves, strict=True):
        line = f"  {name:{width}}  {count:>{space}}  {leaf.raw:8.4f}"
        if by_leaf:
            sign = "*" if _is_clipped(leaf) else ""
            line += f"  {leaf.lower_bound:>5}  {leaf.score if leaf.score is not None else float('nan'):7.2f}{sign}"
        yield line
    if by_leaf and any(map(_is_clipped, leaves)):
        yield f"  * {_clipped(task)}"


def _is_clipped(leaf: LeafScore) -> bool:
    return leaf.score == 0 and leaf.raw != float(Fraction(leaf.lower_bound))


def _names(task: Task, leaves: tuple[LeafScore, ...]) -> list[str]:
    """What tells the lines of a task apart: the metric, or the subtask without what all their names begin with."""
    if len(task.metrics) > 1:
        return [leaf.metric for leaf in leaves]
    common = commonprefix([leaf.id for leaf in leaves]) if len(leaves) > 1 else ""  # noqa: RUF071 - names, not paths
    return [leaf.id.removeprefix(common[: common.rfind("_") + 1]) for leaf in leaves]


def _right_answers(leaf: LeafScore, task: Task) -> str:
    metric = next(metric for metric in task.metrics if metric.name == leaf.metric)
    declared = next(declared for declared in task.leaves if declared.id == leaf.id)
    samples = leaf.samples or metric.samples or declared.samples
    if not metric.integral:
        return f"mean of {samples}"
    share = leaf.raw / (100 if task.unit == "percent" else 1)
    return f"{round(share * samples)} / {samples}" if isfinite(share) else f"? / {samples}"


def _bound_name(task: Task) -> str:
    """What a lower bound is called: mostly it is what guessing gives."""
    return "guess" if task.higher_is_better else "bound"


def _clipped(task: Task) -> str:
    return "below guessing, so 0" if task.higher_is_better else "worse than the bound, so 0"


def _aggregate(task: Task, score: TaskScore, verdict: Verdict) -> Iterator[str]:
    """From the lines of the leaves to the task's raw value and score, or why there is none."""
    if score.raw is None or score.score is None:
        why = {finding.rule for finding in verdict.findings if finding.task in {task.id, "*"}}
        yield f"  no score: {', '.join(sorted(why)) or 'a subtask is missing'}"
    elif task.normalize == "leaf":
        yield from _one_leaf(task, score.leaves)
        yield from _mean_of_leaves(task, score)
    else:
        yield f"  raw   = {_how_raw(task, score)} = {score.raw:.6f}"
        yield from _whole_task(task, score.raw, score.score)


def _one_leaf(task: Task, leaves: tuple[LeafScore, ...]) -> Iterator[str]:
    """The formula, and its numbers for the first leaf that is not clipped."""
    first = next((leaf for leaf in leaves if not _is_clipped(leaf)), leaves[0])
    bound, lower, upper = _bound_name(task), Fraction(first.lower_bound), task.upper_bound
    floor = "0 below guessing" if task.higher_is_better else "0 beyond it"
    yield f"  each score = 100 × (raw - {bound}) / ({upper} - {bound}), {floor}; such as"
    yield f"    100 × ({first.raw:.6g} - {lower}) / ({upper} - {lower}) = {_points(first.raw, lower, upper)}"


def _mean_of_leaves(task: Task, score: TaskScore) -> Iterator[str]:
    count = len(score.leaves)
    if task.aggregation == "size-weighted":
        yield f"  score = the scores weighted by samples = {score.score:.4f}"
        yield f"  raw   = the raw values weighted by samples = {score.raw:.6f}"
    else:
        yield f"  score = sum of {count} scores / {count} = {score.score:.4f}"
        yield f"  raw   = sum of {count} raw values / {count} = {score.raw:.6f} (plain mean, not by size)"


def _whole_task(task: Task, raw: float, score: float) -> Iterator[str]:
    """The formula with the numbers of a task that is scored as a whole."""
    lower, upper = task.lower_bound, task.upper_bound
    if lower == 0 and upper == 1:
        yield f"  score = 100 × {raw:.6f} = {score:.4f}"
        return
    clip = f"; {_clipped(task)}" if score == 0 and raw != float(lower) else ""
    yield f"  score = 100 × ({raw:.6f} - {lower}) / ({upper} - {lower}) = {_points(raw, lower, upper)}{clip}"
    if task.bound_reason:
        yield f"          {lower} is {task.bound_reason}"


def _points(raw: float, lower: Fraction, upper: Fraction) -> str:
    """What the formula gives before the clip."""
    return f"{float(100 * (Fraction(raw) - lower) / (upper - lower)):.4f}"


def _how_raw(task: Task, score: TaskScore) -> str:
    count = len(score.leaves)
    if count == 1:
        return "the value itself"
    if task.aggregation == "size-weighted":
        samples = sum(leaf.samples for leaf in task.leaves)
        right = round((score.raw or 0.0) / (100 if task.unit == "percent" else 1) * samples)
        return f"all right answers / all samples = {right} / {samples}"
    what = "metrics" if len(task.leaves) == 1 else "raw values"
    return f"mean of {count} {what}"


def _explain_average(verdict: Verdict) -> Iterator[str]:
    scores = verdict.scores
    if scores is None:
        return
    if scores.average is None:
        holes = [task.title for task in scores.tasks if task.score is None]
        yield f"Average: none, for {', '.join(holes)} {'has' if len(holes) == 1 else 'have'} no score"
        yield "  a mean over the others would look plausible and be wrong"
        return
    terms = " + ".join(f"{task.score:.4f}" for task in scores.tasks)
    yield f"Average: {scores.average:.4f}"
    yield fill(
        f"({terms}) / {len(scores.tasks)} = {scores.average:.4f}", 78, initial_indent="  ", subsequent_indent="  "
    )


def describe_leaderboard(leaderboard: Leaderboard) -> str:
    """A declaration as a table: columns, how they are made, what they need."""
    lines = [f"{leaderboard.title}  ({leaderboard.id})", leaderboard.description, leaderboard.digest, ""]
    width = max(len(task.title) for task in leaderboard.tasks)
    lines.append(f"{'':{width}}  {'subtasks':>8}  {'samples':>8}  {'shots':>5}  score")
    for task in leaderboard.tasks:
        samples = sum(leaf.samples for leaf in task.leaves)
        lines.append(f"{task.title:{width}}  {len(task.leaves):8}  {samples:8,}  {task.num_fewshot:5}  {_way(task)}")
    lines.append("")
    lines += [f"quarantined: {task.title}: {task.quarantined}" for task in leaderboard.tasks if task.quarantined]
    lines += [f"harness: {span.repository}: {span.reason}" for span in leaderboard.harness.accepted]
    lines += [f"waived: {waiver.rule} for {waiver.submission} until {waiver.until}" for waiver in leaderboard.waivers]
    return "\n".join(lines) + "\n"


def _way(task: Task) -> str:
    if task.normalize == "leaf":
        return "each subtask from guessing to 100, then the plain mean"
    pooled = "pooled" if task.aggregation == "size-weighted" else "mean"
    bound = f" from {task.lower_bound}" if task.lower_bound else ""
    return ("value" if len(task.leaves) == len(task.metrics) == 1 else f"{pooled} value") + f"{bound} to 100"
