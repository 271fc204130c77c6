"""The content of one path of MMLU results: the type that readers make and that comparison and report use."""

from __future__ import annotations

from dataclasses import dataclass

from bot.audits.mmlu.rescore import ImplementationScore
from bot.errors import CallError
from bot.evaluation.mmlu_family import TITLES, Family

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

    @property
    def title(self) -> str:
        """The implementation in words."""
        return TITLES[self.family]

    def main(self) -> Aggregate | None:
        """The aggregate that stands for the source in a comparison, None if it has no numbers."""
        wanted = MAIN_METRIC.get(self.family, "acc")
        return next((one for one in self.aggregates if one.metric == wanted), None)
