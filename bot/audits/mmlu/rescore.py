"""Score samples of MMLU again under every implementation that they allow, and say what is missing for the others."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import fsum, inf
from typing import NamedTuple

from bot.evaluation.benchmarks.mmlu_family import LETTERS, Family, family_of_prompt

NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Question:
    """One question: four choices, and the index of the right one (0 to 3)."""

    question: str
    choices: tuple[str, str, str, str]
    answer: int


def first_best(values: Sequence[float]) -> int:
    """Return the index of the largest value, the first where several are (numpy.argmax)."""
    return max(range(len(values)), key=values.__getitem__)


def by_likelihood(logprobs: Sequence[float], answer: int) -> bool:
    """Score letters, or texts without regard to length: acc of the harness, and the original's argmax."""
    return first_best(logprobs) == answer


def by_likelihood_per_character(logprobs: Sequence[float], choices: Sequence[str], answer: int) -> bool:
    """Score texts by log-probability per character of the choice: acc_norm of the harness."""
    each = [value / len(choice) if choice else -inf for value, choice in zip(logprobs, choices, strict=True)]
    return first_best(each) == answer


def by_mapped_letter(completion: str, choices: Sequence[str], answer: int) -> bool:
    """Score as HELM: the one generated token, stripped, is mapped to its choice, whose text must be the gold text."""
    letter = completion.strip()
    chosen = choices[LETTERS.index(letter)] if letter in LETTERS else ""
    return bool(chosen) and chosen.strip() == choices[answer].strip()


def by_generated_letter(response: str, answer: int) -> bool:
    """Score as mmlu_generative: the first line, stripped, without case and punctuation, is the letter."""
    line = re.split(r"\n", response, maxsplit=1)[0].strip()
    return line.translate(NO_PUNCTUATION).lower() == LETTERS[answer].lower()


LETTER_FAMILIES = frozenset({Family.LETTERS, Family.ONE_NEWLINE})
TEXT_FAMILIES = frozenset({Family.HARNESS_2023, Family.CONTINUATION})


@dataclass(slots=True)
class MmluSample:
    """One question as it was put and what came back.

    `logprobs` are those of `continuations`, in order, `greedy` whether each is what the model would have written;
    both are empty where the answer was generated (`generated`, else None). `logged` are the metrics beside it.
    """

    question: Question
    subject: str
    prompt: str
    continuations: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    generated: str | None = None
    logged: dict[str, float] = field(default_factory=dict)


class Fidelity(StrEnum):
    """How reliable a re-scored number is."""

    OWN = "its own scoring"
    ALIKE = "alike: the prompt or the token differs"
    AT_LEAST = "lower bound, on a prompt that differs"


class FamilyMetric(NamedTuple):
    """An implementation and its metric."""

    family: Family
    metric: str


@dataclass(frozen=True, slots=True)
class ImplementationScore:
    """One implementation's score on a log: `micro` over questions, `macro` over subjects, None if not to be had.

    `differing` counts samples whose logged metric is another, None if the log has none; `missing` says what the log
    would have to hold.
    """

    family: Family
    metric: str
    micro: float | None = None
    macro: float | None = None
    samples: int = 0
    subjects: int = 0
    standing: Fidelity | None = None
    differing: int | None = None
    missing: str = ""


@dataclass(slots=True)
class MmluCounters:
    """Counts of one log: by target and subject, right and asked; and how the samples were put."""

    families: Counter[Family] = field(default_factory=Counter)
    right: dict[FamilyMetric, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    asked: dict[FamilyMetric, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    standings: dict[FamilyMetric, Fidelity] = field(default_factory=dict)
    compared: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    unflagged: int = 0

    def add(self, sample: MmluSample) -> None:
        """Count one sample."""
        family = family_of_prompt(sample.prompt, sample.continuations)
        self.families[family] += 1
        self.unflagged += bool(sample.logprobs) and not sample.greedy
        for target, standing, is_right in judged(sample, family):
            self.right[target][sample.subject] += is_right
            self.asked[target][sample.subject] += 1
            self.standings[target] = standing
            if standing is Fidelity.OWN and target.metric in sample.logged:
                self.compared[target.metric] += 1
                self.differing[target.metric] += sample.logged[target.metric] != is_right


def judged(sample: MmluSample, family: Family) -> list[tuple[FamilyMetric, Fidelity, bool]]:
    """Return the score of a sample under each implementation that it allows."""
    choices, answer = sample.question.choices, sample.question.answer
    if family in LETTER_FAMILIES:
        is_right = by_likelihood(sample.logprobs, answer)
        found = [(FamilyMetric(family, "acc"), Fidelity.OWN, is_right)]
        found.append((FamilyMetric(Family.ORIGINAL, "acc"), Fidelity.ALIKE, is_right))
        if sample.greedy:
            # HELM also takes the letter without a space before it, which was not asked for here.
            found.append((FamilyMetric(Family.HELM, "exact_match"), Fidelity.AT_LEAST, sample.greedy[answer]))
        return found
    if family in TEXT_FAMILIES and sample.logprobs:
        normed = by_likelihood_per_character(sample.logprobs, choices, answer)
        return [
            (FamilyMetric(family, "acc"), Fidelity.OWN, by_likelihood(sample.logprobs, answer)),
            (FamilyMetric(family, "acc_norm"), Fidelity.OWN, normed),
        ]
    if sample.generated is None:
        return []
    if family is Family.HELM:
        is_right = by_mapped_letter(sample.generated, choices, answer)
        return [(FamilyMetric(Family.HELM, "exact_match"), Fidelity.OWN, is_right)]
    if family is Family.GENERATIVE:
        alone = by_mapped_letter(sample.generated, choices, answer)
        return [
            (FamilyMetric(family, "exact_match"), Fidelity.OWN, by_generated_letter(sample.generated, answer)),
            (FamilyMetric(Family.HELM, "exact_match"), Fidelity.ALIKE, alone),
        ]
    return []


WANTED = (
    FamilyMetric(Family.ORIGINAL, "acc"),
    FamilyMetric(Family.HELM, "exact_match"),
    FamilyMetric(Family.HARNESS_2023, "acc"),
    FamilyMetric(Family.HARNESS_2023, "acc_norm"),
    FamilyMetric(Family.LETTERS, "acc"),
    FamilyMetric(Family.GENERATIVE, "exact_match"),
    FamilyMetric(Family.CONTINUATION, "acc"),
    FamilyMetric(Family.CONTINUATION, "acc_norm"),
)
MISSING = {
    Family.ORIGINAL: "the log-probabilities of the four letters after its prompt",
    Family.HELM: "the text of the one token that the model writes after its prompt",
    Family.HARNESS_2023: "the log-probabilities of the four choice texts after its prompt: run it again",
    Family.LETTERS: "the log-probabilities of the four letters after its prompt: run it again",
    Family.GENERATIVE: "the text that the model writes after its prompt",
    Family.CONTINUATION: "the log-probabilities of the four choice texts after its prompt: run it again",
}
NO_FLAG = "whether the gold letter is what the model would have written (is_greedy), which this log does not say"


def scores_of(counters: MmluCounters) -> tuple[ImplementationScore, ...]:
    """Return the score of every implementation, those that the log allows first."""
    wanted = dict.fromkeys((*counters.asked, *WANTED))
    letters = LETTER_FAMILIES & set(counters.families)
    if letters and Family.LETTERS not in counters.families:
        wanted.pop(FamilyMetric(Family.LETTERS, "acc"), None)
    had = [_score(counters, target) for target in wanted if target in counters.asked]
    lacking = [
        ImplementationScore(
            *target,
            missing=NO_FLAG
            if target.family is Family.HELM and counters.unflagged and letters
            else MISSING[target.family],
        )
        for target in wanted
        if target not in counters.asked
    ]
    return (*had, *lacking)


def _score(counters: MmluCounters, target: FamilyMetric) -> ImplementationScore:
    right, asked = counters.right[target], counters.asked[target]
    own = counters.standings[target] is Fidelity.OWN
    return ImplementationScore(
        *target,
        micro=right.total() / asked.total(),
        macro=fsum(right[subject] / asked[subject] for subject in asked) / len(asked),
        samples=asked.total(),
        subjects=len(asked),
        standing=counters.standings[target],
        differing=counters.differing[target.metric] if own and counters.compared[target.metric] else None,
    )
