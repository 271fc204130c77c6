"""The page of a row: each of its numbers explained, with the files that they come from."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import badge, card, evidence_url, row_page
from bot.pages.content import PageContent
from bot.pages.steps import LeafLine, leaf_lines, reasons, way
from bot.publishing.board import TIE, BoardRow
from bot.publishing.entry import Entry, EntryHarness, Evidence
from bot.publishing.repeat import explain_command


@dataclass(frozen=True, slots=True)
class TaskPart:
    """The explanation of one task; `files` names those that its leaves come from, where there are several."""

    score: TaskScore
    interval: float | None
    lines: list[LeafLine]
    way: list[str]
    reasons: list[str]
    quarantined: str


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file of the evidence: where it can be read, and the command that shows its numbers again."""

    file: Evidence
    url: str
    harness: str
    command: str


def row_page_of(content: PageContent, row: BoardRow) -> bytes:
    """The page of one row."""
    entry, name = row.entry, content.names[row.entry.key]
    declared = {task.id: task for task in content.board.leaderboard.tasks}
    return content.page(
        "row.html",
        row_page(name),
        stamp=content.stamp(row),
        row=row,
        entry=entry,
        name=name,
        badge=badge(name),
        card=card(name),
        moved_to=_moved_to(content, entry),
        moved_seen=content.days.get(entry.model.id, ""),
        interval=None if entry.stderr is None else TIE * entry.stderr,
        tasks=[_task_part(entry, score, declared.get(score.id)) for score in entry.tasks],
        files=[_file_part(content, entry, file) for file in entry.evidence],
        harness=_harness(entry.harness),
        is_older=entry.leaderboard.scoring_digest != content.board.leaderboard.scoring_digest,
        changes=content.changes_by_key.get(entry.key, []),
        target=content.target,
    )


def _moved_to(content: PageContent, entry: Entry) -> str:
    """The commit of the model's main branch; "" if the row measured that commit or the commit is not known."""
    head = content.head_of(entry.model.id)
    return head if head and entry.model.revision and head != entry.model.revision else ""


def _task_part(entry: Entry, score: TaskScore, task: Task | None) -> TaskPart:
    interval = None if score.stderr is None or score.score is None else TIE * score.stderr
    quarantined = (task.quarantined or "") if task else ""
    return TaskPart(
        score, interval, leaf_lines(entry, score, task), way(score, task), reasons(score, task), quarantined
    )


def _file_part(content: PageContent, entry: Entry, file: Evidence) -> FilePart:
    command = explain_command(file, entry.leaderboard, content.target)
    return FilePart(file, evidence_url(file), _harness(file.harness), command)


def _harness(harness: EntryHarness) -> str:
    """The harness, its version and its commit, in one line."""
    known = (harness.repository, harness.version, harness.git_hash)
    return " ".join([harness.name or "unknown", *(text for text in known if text)])
