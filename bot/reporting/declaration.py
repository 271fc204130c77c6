"""A declaration as text: its columns, their scoring and subtasks, and the accepted harnesses."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.task import Task
from bot.reporting.text import WIDTH


def describe_leaderboard(leaderboard: Leaderboard) -> str:
    """The columns as a table, then the subtasks of those that have several, then harness and waivers."""
    lines = [f"{leaderboard.title}  ({leaderboard.id})", *wrap(leaderboard.description, WIDTH), leaderboard.digest, ""]
    width = max(len(task.title) for task in leaderboard.tasks)
    lines.append(f"{'':{width}}  {'subtasks':>8}  {'samples':>8}  {'shots':>5}  score")
    lines += [_column(task, width) for task in leaderboard.tasks]
    lines += [line for task in leaderboard.tasks if len(task.leaves) > 1 for line in ("", *_subtasks(task))]
    lines.append("")
    notes = [f"quarantined: {task.title}: {task.quarantined}" for task in leaderboard.tasks if task.quarantined]
    notes += [f"harness: {span.repository}: {span.reason}" for span in leaderboard.harness.accepted]
    notes += [f"waived: {waiver.rule} for {waiver.submission} until {waiver.until}" for waiver in leaderboard.waivers]
    lines += [line for note in notes for line in wrap(note, WIDTH, subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def _column(task: Task, width: int) -> str:
    sizes = [leaf.samples for leaf in task.leaves]
    samples = "–" if None in sizes else f"{sum(size or 0 for size in sizes):,}"
    shots = "–" if task.num_fewshot is None else str(task.num_fewshot)
    return f"{task.title:{width}}  {len(task.leaves):8}  {samples:>8}  {shots:>5}  {_way(task)}"


def _way(task: Task) -> str:
    if task.normalize == "leaf":
        return "each subtask from guessing to 100, then the plain mean"
    pooled = "pooled" if task.aggregation == "size-weighted" else "mean"
    bound = f" from {task.lower_bound}" if task.lower_bound else ""
    return ("value" if len(task.leaves) == len(task.metrics) == 1 else f"{pooled} value") + f"{bound} to 100"


def _subtasks(task: Task) -> Iterator[str]:
    source = f" (the catalogue's {task.group})" if task.group else ""
    yield f"{task.title} is made of{source}:"
    names = ", ".join(leaf.id for leaf in task.leaves)
    yield from wrap(names, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
