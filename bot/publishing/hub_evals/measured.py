"""Decide which parts of an entry go to its model's page: the row, the value, its unit and the notes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from bot.errors import Unwritable
from bot.evaluation.task import HubBenchmark, Task
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.eval_result import ADDRESS, LONGEST, HubEvalResult
from bot.publishing.tables.values import RowView, exact, scaled
from bot.reporting.escape import brief

COMMIT = re.compile(r"[0-9a-f]{40}")
SHORT = 12  # digits of a commit in the notes
TOP = {"percent": Decimal(100), "proportion": Decimal(1)}


def choose_row(rows: Iterable[Entry], head: str) -> Entry | None:
    """The complete row that counts: the newest one measured at the model's head, else the newest; or None."""
    complete = [row for row in rows if row.verdict == "accepted"]
    return max(complete, key=lambda row: (row.model.revision == head, row.date, row.key), default=None)


def eval_result_of(row: RowView, task: Task, hub: HubBenchmark, account: str, *, is_org: bool) -> HubEvalResult:
    """The entry of one task. Raises Unwritable with the reason where it must not be published."""
    if row.entry.verdict != "accepted":
        raise Unwritable("the row is incomplete")
    if task.quarantined:
        raise Unwritable(f"{task.id} is quarantined: {task.quarantined}")
    link = row.links.entry or row.links.evidence
    if not ADDRESS.fullmatch(link) or not COMMIT.search(link):
        raise Unwritable("there is no link to the entry or its evidence at a commit")
    return HubEvalResult(
        dataset_id=hub.dataset,
        task_id=hub.task_id,
        value=value_of(row, task, hub),
        date=row.date,
        source_url=link,
        source_name=_line(row.leaderboard.title),
        source_user="" if is_org else account,
        source_org=account if is_org else "",
        notes=notes_of(row, task, hub),
    )


def value_of(row: RowView, task: Task, hub: HubBenchmark) -> Decimal:
    """The raw value in the benchmark's unit: never the normalized score. Raises Unwritable if there is none."""
    scored = row.task(task.id)
    raws = [scored.raw] if hub.leaf is None else [leaf.raw for leaf in scored.leaves if leaf.id == hub.leaf]
    if len(raws) != 1 or raws[0] is None:
        raise Unwritable(f"{hub.leaf or task.id} does not have exactly one raw value")
    value = scaled(exact(raws[0]) or Decimal(0), row.unit(task.id), hub.unit).normalize()
    if not 0 <= value <= TOP[hub.unit]:
        raise Unwritable(f"{value:f} is not a {hub.unit}")
    return value


def notes_of(row: RowView, task: Task, hub: HubBenchmark) -> str:
    """One line: harness and version, shots, chat template, samples, and the commit of the model."""
    leaves = [leaf for leaf in row.task(task.id).leaves if hub.leaf in {None, leaf.id}]
    counts = {leaf.id: leaf.samples for leaf in leaves}
    samples = 0 if None in counts.values() else sum(count or 0 for count in counts.values())
    revision = row.entry.model.revision
    parts = [
        f"{row.entry.harness.name} {row.harness}".strip(),
        "" if task.num_fewshot is None else f"{task.num_fewshot}-shot",
        "chat template" if row.entry.model.chat_template else "",
        f"n={samples}" if samples else "",
        f"model revision {revision[:SHORT]}" if revision else "",
    ]
    return _line(", ".join(filter(None, parts)))


def _line(text: str) -> str:
    return brief(" ".join(text.split()), LONGEST // 2)
