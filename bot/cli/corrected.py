"""The board on a corrected set of questions: `rescore --without`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from bot.audits.samples.check import digest_of_log, is_extra, metric_in_log
from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import Sample
from bot.cli.judging import open_places, warn
from bot.cli.leaderboards import declared_at
from bot.cli.remeasure import addresses_of
from bot.errors import BotError, CallError
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.rounding import half_up
from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.publishing.corrected import (
    MOST_IDS,
    CorrectedBoard,
    CorrectedRow,
    Remainder,
    Rest,
    corrected,
    corrected_board,
    matches,
    read_ids,
)
from bot.publishing.entry import Entry
from bot.reporting.escape import plain_json, visible, without_commands
from bot.service.judge.samples import LogsBeside
from bot.service.settings.config import load_settings
from bot.service.settings.environment import read_access


def boards_of(settings: Path, watch: str) -> Iterator[tuple[Target, list[Path]]]:
    """The targets with a board of the watches in a settings file, and the sources of each that are folders."""
    found = load_settings(settings)
    opener = Opener(read_access(), settings.resolve().parent)
    for one in (found.only(watch) if watch else found).watches:
        local = [] if "://" in one.source else [opener.folder / one.source]
        for target in one.targets:
            if target.kind != "models":
                yield opener.target(target.to), local


def rescore_without(
    file: Path, target: Target, *, tasks: Sequence[str], field: str, sources: Sequence[Path], form: str, is_needed: bool
) -> None:  # fmt: skip
    """Show the board at a target without the questions of a file, or which rows lack the logs for that."""
    ids = read_ids(file.read_text(encoding="utf-8-sig", errors="replace")) if file.name else frozenset[str]()
    if len(ids) > MOST_IDS:
        raise CallError(f"{file}: has more than {MOST_IDS:,} ids")
    target.check_readable()
    entries = target.scan_entries().entries
    declared = declared_at(target, target.name, entries)
    had = [entry for entry in entries if entry.leaderboard.id == declared.id]
    unknown = sorted(set(tasks) - {task.id for task in declared.tasks} - {leaf.id for _, leaf in declared.leaves()})
    if unknown:
        raise CallError(f"--task {unknown[0]}: the board has no such task")
    wanted = {leaf.id for task, leaf in declared.leaves() if not tasks or task.id in tasks or leaf.id in tasks}
    if any(one.isdecimal() for one in ids) and len(wanted) > 1 and not field:
        raise CallError("a number is that of a document of one task: name it with --task, or a field with --field")
    if is_needed:
        lacking = [entry for entry in had if wanted - {log.leaf for log in entry.samples}]
        typer.echo("\n".join(visible(entry.key) for entry in lacking) or "every row names the logs of these tasks")
        return
    rows = [_corrected(entry, declared, wanted, target, ids=ids, field=field, sources=sources) for entry in had]
    found = corrected_board(rows, declared)
    typer.echo(plain_json(json.dumps(_as_json(found), indent=2)) if form == "json" else _text(found))
    if ids and not any(row.excluded for row in rows):
        warn(f"{file}: none of its {counted(len(ids), 'id')} is that of a question in a log")


def _corrected(
    entry: Entry,
    declared: Leaderboard,
    wanted: set[str],
    target: Target,
    *,
    ids: frozenset[str],
    field: str,
    sources: Sequence[Path],
) -> CorrectedRow:
    """One row on the rest of the questions; as it is, and why, where it has no logs for that."""
    named = {log.leaf: log.sha256 for log in entry.samples}
    if lacking := sorted(wanted & {leaf.id for task in entry.tasks for leaf in task.leaves} - named.keys()):
        return CorrectedRow(entry, entry, why=f"no log of {', '.join(lacking[:3])}")
    rests: dict[tuple[str, str], Rest] = {}
    try:
        for place, result, _ in open_places(list(addresses_of(entry, sources, target))):
            with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
                logs = LogsBeside().logs(place, result, Path(scratch))
                read: dict[Path, str] = {}
                for one in take_measurements(result, declared, "").present:
                    leaf, log = one.required.leaf.id, logs.get(one.required.leaf_key)
                    if leaf not in wanted:
                        continue
                    if log is None:
                        raise CallError(f"the log of {leaf} does not lie beside {place.name}")
                    if read.setdefault(log, digest_of_log(log)) != named[leaf]:
                        raise CallError(f"the log of {leaf} is not the one that the row names: its SHA-256 differs")
                    samples = _samples(log, result.format, one.required.leaf_key, one.required.value_key)
                    if (rest := _rest(samples, ids, field)) is not None:
                        rests[leaf, one.required.metric.name] = rest
    except BotError as error:
        return CorrectedRow(entry, entry, why=str(error))
    after = corrected(entry, declared, rests)
    return CorrectedRow(entry, after, sum(rest.excluded for rest in rests.values()))


def _samples(log: Path, format_id: str, leaf: str, key: str) -> Iterator[tuple[Sample, float]]:
    name, _, answer_filter = key.partition(",")
    name = metric_in_log(format_id, leaf, name if answer_filter else key)
    for sample in read_log(log):
        if isinstance(sample, SkippedRecord) or is_extra(sample) or name not in sample.metrics:
            continue
        if not answer_filter or sample.row.get("filter") is None or sample.filter == answer_filter:
            yield sample, sample.metrics[name]


def _rest(samples: Iterator[tuple[Sample, float]], ids: frozenset[str], field: str) -> Rest | None:
    found = Remainder()
    for sample, value in samples:
        own = sample.doc.get(field) if field and isinstance(sample.doc, dict) else None
        if matches(ids, [own] if field else [sample.doc_id, sample.doc_hash]):
            found.excluded += 1
        else:
            found.add(value)
    return found.rest


def _text(board: CorrectedBoard) -> str:
    lines = []
    for row, was, now in board.ranks():
        before, after = (
            "–" if one is None else str(half_up(one, 2)) for one in (row.before.average, row.after.average)
        )
        said = f"stays: {row.why}" if row.why else f"{counted(row.excluded, 'sample')} left out"
        lines.append(f"{visible(row.before.model.id)}  {before} → {after}  rank {was} → {now}  ({visible(said)})")
        for old, task in zip(row.before.tasks, row.after.tasks, strict=True):
            if task is not old and old.score is not None and task.score is not None:
                lines.append(f"  {visible(task.title)}  {half_up(old.score, 2)} → {half_up(task.score, 2)}")
    return without_commands("\n".join(lines))


def _as_json(board: CorrectedBoard) -> dict[str, Any]:
    return {
        "schema": "leaderboard-bot/corrected/1",
        "rows": [
            {
                "key": row.before.key,
                "before": row.before.average,
                "after": row.after.average,
                "rank_before": was,
                "rank_after": now,
                "excluded": row.excluded,
                "why": row.why,
                "tasks": {
                    task.id: {"before": old.score, "after": task.score}
                    for old, task in zip(row.before.tasks, row.after.tasks, strict=True)
                },
            }
            for row, was, now in board.ranks()
        ],
    }
