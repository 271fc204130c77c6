"""Decide for each implementation whether a model's answer to one question of MMLU counts as right."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from math import inf

from bot.evaluation.mmlu_family import LETTERS

NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def first_best(values: Sequence[float]) -> int:
    """Return the index of the largest value, the first where several are (numpy.argmax)."""
    return max(range(len(values)), key=values.__getitem__)


def by_likelihood(logprobs: Sequence[float], answer: int) -> bool:
    """ImplementationScore letters, or texts without regard to length: acc of the harness, and the original's argmax."""
    return first_best(logprobs) == answer


def by_likelihood_per_character(logprobs: Sequence[float], choices: Sequence[str], answer: int) -> bool:
    """ImplementationScore texts by log-probability per character of the choice: acc_norm of the harness."""
    each = [value / len(choice) if choice else -inf for value, choice in zip(logprobs, choices, strict=True)]
    return first_best(each) == answer


def by_mapped_letter(completion: str, choices: Sequence[str], answer: int) -> bool:
    """Score as HELM: the one generated token, stripped, is mapped to its choice, whose text must be the gold text."""
    letter = completion.strip()
    chosen = choices[LETTERS.index(letter)] if letter in LETTERS else ""
    return bool(chosen) and chosen.strip() == choices[answer].strip()


def by_generated_letter(response: str, answer: int) -> bool:
    """ImplementationScore as mmlu_generative: the first line, stripped, without case and punctuation, is the letter."""
    line = re.split(r"\n", response, maxsplit=1)[0].strip()
    return line.translate(NO_PUNCTUATION).lower() == LETTERS[answer].lower()
