"""What one path of MMLU results holds, and how result files are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, isclose
from pathlib import Path

from bot.audits.mmlu.rescore import ImplementationScore
from bot.errors import CallError
from bot.evaluation.aggregates import samples_behind_key, whole
from bot.evaluation.benchmarks.mmlu_family import Family, recognise, subjects_of
from bot.evaluation.result import LeafResult, Result

# What stands for an implementation where it reports several metrics: the investigation's column of the early harness
# is acc_norm.
MAIN_METRIC = {
    Family.HARNESS_2023: "acc_norm",
    Family.CONTINUATION: "acc_norm",
    Family.GENERATIVE: "exact_match",
    Family.HELM: "exact_match",
}


class NotMmlu(CallError):
    """A file that is sound and holds nothing of MMLU."""


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return the bytes of a file, or the first of them. Raises CallError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A metric over the subjects of a result.

    `macro` is the mean of subjects, `micro` of questions (None if the numbers of questions are unknown). `reported`
    is the file's own aggregate, `reported_as` says which of the two it is.
    """

    metric: str
    macro: float
    micro: float | None
    subjects: int
    reported: float | None = None
    reported_as: str = ""


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """Records of a log that were left out: why, how many, and the first line (from 1)."""

    why: str
    count: int
    line: int


@dataclass(frozen=True, slots=True)
class MmluSource:
    """What one path holds. `aggregates` come from a result's numbers, `scores` from samples."""

    path: str
    kind: str
    model: str
    family: Family
    evidence: tuple[str, ...]
    against: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    scores: tuple[ImplementationScore, ...] = ()
    skipped: tuple[SkippedPart, ...] = ()
    samples: int = 0
    num_fewshot: int | None = None
    chat_template: bool | None = None
    limit: float | None = None

    def main(self) -> Aggregate | None:
        """The aggregate that stands for the source in a comparison, None if it has no numbers."""
        wanted = MAIN_METRIC.get(self.family, "acc")
        return next((one for one in self.aggregates if one.metric == wanted), None)


METRICS = ("acc", "acc_norm", "exact_match")
WHOLE_TEST = frozenset({"mmlu", "mmlu_generative", "mmlu_continuation"})


def of_result(path: str, result: Result) -> MmluSource:
    """Judge a result file. Raises NotMmlu if it holds no MMLU subject."""
    found = recognise(result)
    if found is None:
        raise NotMmlu(f"{path}: holds no subject of MMLU")
    subjects = subjects_of(result)
    shots = {leaf.num_fewshot for leaf in subjects.values()}
    return MmluSource(
        path,
        f"result file, {result.format}",
        result.model.id,
        found.family,
        found.evidence,
        found.against,
        tuple(_aggregates(result, subjects)),
        num_fewshot=shots.pop() if len(shots) == 1 else None,
        chat_template=result.model.chat_template,
        limit=result.limit,
    )


def _aggregates(result: Result, subjects: Mapping[str, LeafResult]) -> Iterable[Aggregate]:
    for metric in METRICS:
        values = {subject: _value(leaf.numbers, metric) for subject, leaf in subjects.items()}
        had = {subject: value for subject, value in values.items() if value is not None}
        if not had:
            continue
        macro = fsum(had.values()) / len(had)
        sizes = [_size(subjects[subject], metric) for subject in had]
        known = [size for size in sizes if size is not None]
        micro = None
        if len(known) == len(sizes):
            micro = fsum(value * size for value, size in zip(had.values(), known, strict=True)) / sum(known)
        whole_test = (_value(row.numbers, metric) for row in result.groups if row.key in WHOLE_TEST)
        reported = next((value for value in whole_test if value is not None), None)  # the file's own aggregate
        yield Aggregate(metric, macro, micro, len(had), reported, _named(reported, micro, macro))


def _value(numbers: Mapping[str, object], metric: str) -> float | None:
    """Return a metric of a subject, whatever the answer filter is called; None if it is not a share (NaN, too)."""
    for key, value in numbers.items():
        if key.partition(",")[0] == metric and (type(value) is float or type(value) is int) and abs(value) <= 1:
            return float(value)
    return None


def _size(leaf: LeafResult, metric: str) -> int | None:
    """Return the number of questions: as recorded, else as value and standard error give it."""
    if leaf.samples is not None:
        return leaf.samples
    keys = (key for key in leaf.numbers if key.partition(",")[0] == metric)
    return whole(next(filter(None, (samples_behind_key(leaf, key) for key in keys)), None))


def _named(reported: float | None, micro: float | None, macro: float) -> str:
    """Say which average the file's own aggregate is."""
    if reported is None:
        return ""
    if micro is not None and isclose(reported, micro, abs_tol=1e-9):
        return "micro (mean over questions)"
    return "macro (mean over subjects)" if isclose(reported, macro, abs_tol=1e-9) else "neither micro nor macro"
