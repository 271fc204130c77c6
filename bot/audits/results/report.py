"""Report the audit of result files: contradictions first, then everything else about each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from bot.audits.results import numbers
from bot.audits.results.audit import NO_LOG, FileForensics, ResultsAudit
from bot.audits.results.numbers import CountCheck
from bot.evaluation.finding import counted, examples, first_few
from bot.reporting.prose import Block, Section
from bot.reporting.table import Table

SCHEMA = "leaderboard-bot/audit-results/1"
TITLE = "Inconsistencies in result files"
SHOWN = 60
FEW = 3  # sound files that are shown with every count, and files of one cell
NOTE = (
    "n recovered is 1 + p(1 - p) / se^2, whole for a metric that is 0 or 1 on each sample; right is p n. A group "
    "agrees where it is the mean of its leaves, weighted by samples or plain. The samples beside the file are checked "
    "as a leaderboard checks them."
)


def results_json(found: ResultsAudit) -> dict[str, Any]:
    """Return the report for a program."""
    return {"schema": SCHEMA, "sound": found.is_sound, **msgspec.to_builtins(found)}


def document(found: ResultsAudit) -> tuple[str, str, list[Section]]:
    """Return title, lead and sections of the report."""
    return TITLE, _lead(found), list(_sections(found))


def _lead(found: ResultsAudit) -> str:
    """Say how much is wrong."""
    bad = counted(sum(not file.is_sound for file in found.files), "unsound or unreadable file")
    copies = counted(sum(len(one.models) > 1 for one in found.duplicates), "group")
    mixed = f" {counted(len(found.mixed), 'task')} asked in several ways." if found.mixed else ""
    return (
        f"{counted(len(found.files), 'file')}: {bad}; {copies} of files with the same numbers under other names.{mixed}"
    )


def _sections(found: ResultsAudit) -> Iterator[Section]:
    for file in found.files:
        if not file.is_sound:
            yield Section(file.path, list(_file(file)))
    if found.duplicates:
        columns = ("files", "models", "values")
        rows = tuple(
            (
                first_few(one.paths, FEW),
                ", ".join(one.models) or "(no name)",
                one.values,
            )
            for one in found.duplicates
        )
        yield Section("The same values, to the last bit", [Table(columns, rows)])
    if found.mixed:
        yield Section("Asked in several ways", [_mixed(found)])
    sound = [file for file in found.files if file.is_sound]
    if len(sound) > FEW:
        models = counted(len({file.model for file in sound}), "model")
        said = f"{counted(len(sound), 'file')} of {models}: {_said(*sound)}. --format json has every count."
        yield Section("Without a contradiction", [said])
    else:
        yield from (Section(file.path, list(_file(file))) for file in sound)
    yield Section("Terms", [NOTE])


def _mixed(found: ResultsAudit) -> Table:
    """A line for each difference between the two most frequent ways, with the tasks that have it."""
    tasks: dict[tuple[str, str, str, tuple[tuple[str, ...], ...]], list[str]] = {}
    for one in found.mixed:
        for field, usual, other in one.fields:
            tasks.setdefault((field, usual, other, one.paths), []).append(one.task)
    rows = tuple(
        (examples(names), field, usual, len(paths[0]), other, len(paths[1]), paths[1][0])
        for (field, usual, other, paths), names in tasks.items()
    )
    return Table(("tasks", "field", "value", "files", "other value", "files", "such as"), rows)


def _file(file: FileForensics) -> Iterator[Block]:
    if file.problem:
        yield f"It {file.problem}."
        return
    yield f"{file.format} of {file.model or 'a model without a name'}: {_said(file)}"
    bad = [count for count in file.counts if count.verdict in numbers.BAD]
    yield from _counts(bad, "contradictions")
    yield from _counts([count for count in file.counts if count.verdict not in numbers.BAD], "counts behind the values")
    groups = [group for group in file.groups if group.verdict in numbers.BAD]
    if groups:
        rows = tuple((one.group, one.metric, one.value, one.weighted, one.plain, one.verdict) for one in groups)
        yield Table(("group", "metric", "value", "leaves weighted", "leaves plain", "verdict"), rows)
    logs = tuple((one.task, one.samples, one.verdict, one.why) for one in file.logs if one.verdict != NO_LOG)
    if logs:
        yield Table(("task", "samples", "verdict", "what"), logs, "samples of the file")


def _said(*files: FileForensics) -> str:
    """How many values, groups and tasks have each verdict."""
    verdicts = Counter[tuple[str, str]]()
    for file in files:
        for kind, found in (("value", file.counts), ("group", file.groups), ("task", file.logs)):
            verdicts.update((kind, one.verdict) for one in found)
    counts = [f"{counted(count, kind)}: {verdict}" for (kind, verdict), count in verdicts.items()]
    return ", ".join(counts) or "nothing to recover"


def _counts(counts: list[CountCheck], caption: str) -> Iterable[Table]:
    if not counts:
        return
    rows = tuple(
        (one.task, one.metric, one.value, one.recorded, None if one.recovered is None else round(one.recovered, 3),
         one.right, one.verdict)
        for one in counts[:SHOWN]
    )  # fmt: skip
    more = f", the first {SHOWN} of {len(counts)}" if len(counts) > SHOWN else ""
    columns = ("task", "metric", "value", "n recorded", "n recovered", "right", "verdict")
    yield Table(columns, rows, f"{caption}{more}")
