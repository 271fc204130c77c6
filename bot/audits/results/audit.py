"""Audits result files: what is inconsistent in each, and which of them hold the same values under another name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.audits.results import hashes, numbers
from bot.audits.results.hashes import HashCheck, hashes_of
from bot.audits.results.numbers import CountCheck, GroupCheck, counts_of, groups_of, sizes_of
from bot.errors import MalformedResult
from bot.evaluation.formats import parse_result
from bot.evaluation.result import Result

# Two runs of two models can agree in a value or two; that they do in this many, to the last bit, is a copy.
FEWEST_EQUAL = 3


@dataclass(frozen=True, slots=True)
class FileForensics:
    """What is found in one result file. `problem` says why it cannot be read, "" where it can."""

    path: str
    model: str = ""
    format: str = ""
    counts: tuple[CountCheck, ...] = ()
    groups: tuple[GroupCheck, ...] = ()
    hashes: tuple[HashCheck, ...] = ()
    problem: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether nothing in it contradicts itself."""
        return not (
            self.problem
            or any(count.verdict in numbers.BAD for count in self.counts)
            or any(group.verdict in numbers.BAD for group in self.groups)
            or any(one.verdict in hashes.BAD for one in self.hashes)
        )


@dataclass(frozen=True, slots=True)
class DuplicateResult:
    """Files whose values agree to the last bit: `values` of them; `models` are the names they go by."""

    paths: tuple[str, ...]
    models: tuple[str, ...]
    values: int
    same_samples: bool


@dataclass(frozen=True, slots=True)
class ResultsAudit:
    """What is found in all files."""

    files: tuple[FileForensics, ...]
    duplicates: tuple[DuplicateResult, ...]

    @property
    def is_sound(self) -> bool:
        """Whether no file contradicts itself, and none repeats another under a second name."""
        return all(file.is_sound for file in self.files) and not any(len(one.models) > 1 for one in self.duplicates)


def audit_results(files: Sequence[tuple[str, bytes | None]]) -> ResultsAudit:
    """Judge result files, each (path, bytes); None for bytes over the size limit."""
    found: list[FileForensics] = []
    read: list[tuple[str, Result]] = []
    for path, data in files:
        if data is None:
            found.append(FileForensics(path, problem="is larger than a result file may be"))
            continue
        try:
            result = parse_result(data)
        except MalformedResult as error:
            found.append(FileForensics(path, problem=error.why))
            continue
        read.append((path, result))
        found.append(_judge(path, result))
    return ResultsAudit(tuple(found), tuple(duplicates_of(read)))


def _judge(path: str, result: Result) -> FileForensics:
    counts = tuple(counts_of(result))
    return FileForensics(
        path,
        result.model.id,
        result.format,
        counts,
        tuple(groups_of(result, sizes_of(counts))),
        tuple(hashes_of(Path(path), result)),
    )


def duplicates_of(read: Sequence[tuple[str, Result]]) -> list[DuplicateResult]:
    """GroupCheck results by all values of their leaves, to the last bit."""
    alike: defaultdict[tuple[tuple[str, str, float], ...], list[tuple[str, Result]]] = defaultdict(list)
    for path, result in read:
        values = tuple(
            (task, key, value)
            for task, leaf in sorted(result.leaves.items())
            for key, value in sorted(leaf.numbers.items())
            if type(value) is float and "_stderr" not in key
        )
        alike[values].append((path, result))
    return [
        DuplicateResult(
            tuple(path for path, _ in group),
            tuple(sorted({result.model.id for _, result in group})),
            len(values),
            _same_samples([result for _, result in group]),
        )
        for values, group in alike.items()
        if len(group) > 1 and len(values) >= FEWEST_EQUAL
    ]


def _same_samples(results: Sequence[Result]) -> bool:
    first = dict(results[0].task_hashes)
    return bool(first) and all(dict(result.task_hashes) == first for result in results)
