"""Audit result files: inconsistencies in each, the same values under another name, and tasks asked in several ways."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.audits.results import numbers
from bot.audits.results.numbers import CountCheck, GroupCheck, counts_of, groups_of, sizes_of
from bot.audits.samples.check import check_leaf
from bot.audits.samples.find import find_logs
from bot.audits.samples.inline import write_logs
from bot.evaluation.definition import differences
from bot.evaluation.finding import grouped
from bot.evaluation.formats.sameness import model_name
from bot.evaluation.result import CheckedSamples, Result
from bot.evaluation.rounding import significant
from bot.evaluation.submission import Parsed

# Two runs of two models can agree in a value or two, and in any number of zeros; that they do in this many others, to
# the last bit, is a copy.
FEWEST_EQUAL = 3
EQUAL, NO_LOG, NO_HASH = "equal", "no samples beside it", "no hash recorded"
NOT_SCORED = "not scored again"
IN_FILE = "in the file"  # where a log is that the result holds itself
BAD = UNREADABLE, DIFFERENT, VALUE_DIFFERS, RESCORED = (
    "the samples cannot be read to the end",
    "the samples or their order are others",
    "the samples give another value",
    "a sample has another score than its answer gives",
)


@dataclass(frozen=True, slots=True)
class LogCheck:
    """One task's log held against the result: its samples, the verdict, and why where it is one of `BAD`."""

    task: str
    log: str
    samples: int
    verdict: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class FileForensics:
    """The findings in one result file. `problem` says why it cannot be read, "" if it can."""

    path: str
    model: str = ""
    format: str = ""
    counts: tuple[CountCheck, ...] = ()
    groups: tuple[GroupCheck, ...] = ()
    logs: tuple[LogCheck, ...] = ()
    problem: str = ""

    @property
    def is_sound(self) -> bool:
        """Tell whether nothing in it contradicts itself."""
        return not (
            self.problem
            or any(count.verdict in numbers.BAD for count in self.counts)
            or any(group.verdict in numbers.BAD for group in self.groups)
            or any(one.verdict in BAD for one in self.logs)
        )


@dataclass(frozen=True, slots=True)
class DuplicateResult:
    """Files whose values agree to the last bit, three at least that are not 0: `values` of them.

    `models` are the names they go by.
    """

    paths: tuple[str, ...]
    models: tuple[str, ...]
    values: int


@dataclass(frozen=True, slots=True)
class MixedTask:
    """A task that files of one format asked in several ways.

    `paths` has the files of each way, those of the most files first; `fields` are what differs between the first two
    ways: a field of the definition with both values.
    """

    task: str
    paths: tuple[tuple[str, ...], ...]
    fields: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class ResultsAudit:
    """The findings in all files."""

    files: tuple[FileForensics, ...]
    duplicates: tuple[DuplicateResult, ...]
    mixed: tuple[MixedTask, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Tell whether no file contradicts itself, and none repeats another under a second name."""
        return all(file.is_sound for file in self.files) and not any(len(one.models) > 1 for one in self.duplicates)


@dataclass(frozen=True, slots=True)
class ExaminedFile:
    """What is found in one file, and what it is compared with others by: all values of its leaves, and its result."""

    found: FileForensics
    values: tuple[tuple[str, str, float], ...] = ()
    result: Result | None = None


def audit_of(files: Sequence[ExaminedFile]) -> ResultsAudit:
    """Put together what was found in each file."""
    return ResultsAudit(tuple(file.found for file in files), tuple(duplicates_of(files)), tuple(mixed_tasks(files)))


def mixed_tasks(files: Sequence[ExaminedFile]) -> Iterator[MixedTask]:
    """Yield each task that files of one format asked in several ways, as far as they record it."""
    ways: defaultdict[tuple[str, str], defaultdict[str, dict[str, Result]]] = defaultdict(lambda: defaultdict(dict))
    for file in files:
        if file.result is not None:
            for key, leaf in file.result.leaves.items():
                if leaf.definition:
                    ways[file.result.format, key][leaf.definition][file.found.path] = file.result
    for (_, key), found in ways.items():
        ordered = sorted(found.values(), key=len, reverse=True)
        first = [next(iter(some.values())) for some in ordered[:2]]
        if len(ordered) > 1 and (fields := differences(first[0], key, first[1], key)):
            yield MixedTask(key, tuple(map(tuple, ordered)), tuple(fields))


def examine(parsed: Parsed) -> ExaminedFile:
    """Judge the result of a file or of a run's folder, or say why it could not be read."""
    path, result = parsed.path, parsed.result
    if result is None:
        return ExaminedFile(FileForensics(path, problem=parsed.problem.why if parsed.problem else ""))
    values = tuple(
        (task, key, value)
        for task, leaf in sorted(result.leaves.items())
        for key, value in sorted(leaf.numbers.items())
        if type(value) is float and "_stderr" not in key
    )
    counts = tuple(counts_of(result))
    groups, logs = tuple(groups_of(result, sizes_of(counts))), tuple(_logs(Path(path), result))
    return ExaminedFile(
        FileForensics(path, model_name(result.model.id), result.format, counts, groups, logs), values, result
    )


def _logs(path: Path, result: Result) -> Iterator[LogCheck]:
    """Check each task that has a hash or a log."""
    beside = find_logs(path, result)
    with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
        own = write_logs(path.read_bytes(), result, Path(scratch)) if not beside and path.is_file() else {}
        for task in result.leaves:
            log = beside.get(task) or own.get(task)
            name = log.name if log is not None and beside else IN_FILE
            checked = check_leaf(result, task, log, name) if log is not None else None
            if checked is not None:
                yield LogCheck(task, checked.path, checked.count, *_verdict(checked, result))
            elif result.task_hashes.get(task):
                yield LogCheck(task, "", 0, NO_LOG)


def _verdict(checked: CheckedSamples, result: Result) -> tuple[str, str]:
    if checked.unreadable:
        return UNREADABLE, checked.unreadable
    if checked.others:
        return DIFFERENT, checked.others
    for key, mean in checked.means.items():
        value = result.leaves[checked.leaf].numbers[key]
        if type(value) is float and not isclose(value, mean, rel_tol=1e-9, abs_tol=1e-9):
            return VALUE_DIFFERS, f"{key} is {significant(value)} in the file and {significant(mean)} in the samples"
    if checked.wrong:
        return RESCORED, f"{checked.wrong[0].metric} of {checked.wrong[0].first}"
    unscored = "; ".join(f"{key.removesuffix(',none')}: {why}" for key, why in checked.unknown.items())
    if unscored and not checked.answers:
        return NOT_SCORED, unscored
    said = f"not scored again: {unscored}" if unscored else ""
    return EQUAL if result.task_hashes.get(checked.leaf) else NO_HASH, said


def duplicates_of(files: Sequence[ExaminedFile]) -> list[DuplicateResult]:
    """Group the files that could be read by all values of their leaves, to the last bit."""
    alike = grouped((file.values, file) for file in files if not file.found.problem)
    return [
        DuplicateResult(
            tuple(file.found.path for file in group),
            tuple(sorted({file.found.model for file in group})),
            len(values),
        )
        for values, group in alike.items()
        if len(group) > 1 and sum(value != 0 for _, _, value in values) >= FEWEST_EQUAL
    ]
