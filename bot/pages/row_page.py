"""The page of a row: each of its numbers explained, with the files that they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os.path import commonprefix

from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import REVISION, evidence_url, model_url, row_page, target_url
from bot.pages.content import FieldPlace, PageContent
from bot.pages.steps import LeafLine, leaf_lines, way
from bot.publishing.board import TIE, BoardRow
from bot.publishing.entry import Entry, EntryHarness, Evidence
from bot.publishing.repeat import explain_command, measure_command, verify_command


@dataclass(frozen=True, slots=True)
class TaskPart:
    """The explanation of one task. `shared` says what is the same for all leaves, `shown` which columns differ.

    The names of leaves are shown without `prefix`, with which all of them begin.
    """

    score: TaskScore
    interval: float | None
    place: FieldPlace | None
    lines: list[LeafLine]
    prefix: str
    shared: str
    shown: tuple[LeafColumn, ...]
    way: list[str]
    quarantined: str


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """A property of leaves: its title, how it is read from a line, and whether it is a number."""

    title: str
    read: Callable[[LeafLine], str]
    is_number: bool = True


LEAF_COLUMNS = (
    LeafColumn("metric", lambda line: line.leaf.metric, is_number=False),
    LeafColumn("lower bound", lambda line: line.leaf.lower_bound),
    LeafColumn("upper bound", lambda line: line.leaf.upper_bound),
    LeafColumn("shots", lambda line: line.shots),
    LeafColumn("version", lambda line: line.version, is_number=False),
    LeafColumn("file", lambda line: line.leaf.file, is_number=False),
)


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
    places = content.places_in_field(row)
    return content.page(
        "row.html",
        row_page(name),
        stamp=content.stamp(row),
        row=row,
        entry=entry,
        name=name,
        standing=content.standing(row),
        model_url=model_url(entry.model.id) if entry.model.id.count("/") == 1 else "",
        commit_url=_commit_url(entry),
        entry_url=target_url(content.target, entry.path),
        verify=verify_command(content.target, entry.path),
        measure=measure_command(entry.model, entry.harness, entry.coverage.missing),
        moved_to=_moved_to(content, entry),
        moved_seen=content.days.get(entry.model.id, ""),
        interval=None if entry.stderr is None else TIE * entry.stderr,
        tasks=[_task_part(entry, score, declared.get(score.id), places.get(score.id)) for score in entry.tasks],
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


def _commit_url(entry: Entry) -> str:
    """The page of the measured commit of a model on the Hub, "" if the row names none."""
    model = entry.model
    known = model.id.count("/") == 1 and len(model.revision) == REVISION
    return f"{model_url(model.id)}/tree/{model.revision}" if known else ""


def _task_part(entry: Entry, score: TaskScore, task: Task | None, place: FieldPlace | None) -> TaskPart:
    interval = None if score.stderr is None or score.score is None else TIE * score.stderr
    quarantined = (task.quarantined or "") if task else ""
    lines = leaf_lines(entry, score, task)
    names = [line.leaf.id for line in lines]
    prefix = commonprefix(names).rpartition("_")[0] + "_" if len(names) > 1 else ""  # noqa: RUF071 - letters of names
    known = LEAF_COLUMNS if len(entry.evidence) > 1 else LEAF_COLUMNS[:-1]
    values = {column: {column.read(line) for line in lines} for column in known}
    shared = ", ".join(f"{column.title} {one}" for column, (one, *more) in values.items() if not more) if lines else ""
    shown = tuple(column for column in known if len(values[column]) > 1)
    return TaskPart(
        score, interval, place, lines, prefix if len(prefix) > 1 else "", shared, shown, way(score, task), quarantined
    )


def _file_part(content: PageContent, entry: Entry, file: Evidence) -> FilePart:
    command = explain_command(file, entry.leaderboard, content.target)
    return FilePart(file, evidence_url(file), _harness(file.harness), command)


def _harness(harness: EntryHarness) -> str:
    """The harness, its version and its commit, in one line."""
    known = (harness.repository, harness.version, harness.git_hash)
    return " ".join([harness.name or "unknown", *(text for text in known if text)])
