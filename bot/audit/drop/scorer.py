"""A generation and its gold answers in, em and f1 as lm-evaluation-harness gives them out, to the last bit.

Source: lm_eval/tasks/drop/utils.py at 4e7e0d47f, which scores as lm_eval/tasks/drop.py did at b281b0921.
The harness hands its scorer one generation for each sample, so the assignment between several predicted and
several gold spans comes down to the best gold span: no matrix, no numpy, no scipy.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

Golds = tuple[tuple[str, ...], ...]
"""The accepted answers of one question, each a tuple of its spans."""

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# A validation split has 9,536 questions; a model's vocabulary of tokens is some 100,000.
CACHED_GOLDS, CACHED_TOKENS, CACHED_TOKEN_LENGTH = 1 << 16, 1 << 18, 64


class Score(NamedTuple):
    """em is 0 or 1; f1 lies in 0..1 and has two decimals."""

    em: float
    f1: float


class GoldSpan(NamedTuple):
    """One span of a gold answer: its set of normalized words, and those among them that are numbers."""

    bag: frozenset[str]
    numbers: frozenset[str]


class GoldAnswer(NamedTuple):
    """One gold answer: the normalized text if it has a single span, else None; its spans."""

    text: str | None
    spans: tuple[GoldSpan, ...]


def is_number(text: str) -> bool:
    """Whether float() takes it: " 10 ", "1e3", "1_000", "nan", "inf" and digits of any script are numbers."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def split_tokens(text: str) -> list[str]:
    """Split at each space and each hyphen, at no other white space: that is the first flaw of the scorer."""
    return text.replace("-", " ").split(" ")


def normalize_token(token: str) -> str:
    """Lower-case; a number becomes str(float), anything else loses punctuation and articles."""
    text = token.lower()
    if not is_number(text):
        text = text.translate(DELETE_PUNCTUATION)
    text = str(float(text)) if is_number(text) else ARTICLES.sub(" ", text)
    return " ".join(text.split())


def round_half_even(value: float) -> float:
    """Round to two decimals as numpy does, rint(v * 100) / 100: 0.025 gives 0.02, and round() 0.03."""
    return round(value * 100) / 100


class _Tokens(dict[str, str]):
    """Normal forms of the tokens seen; bounded, since a stream of generations never runs out of new ones."""

    def __missing__(self, token: str) -> str:
        normal = normalize_token(token)
        if len(token) <= CACHED_TOKEN_LENGTH:
            if len(self) >= CACHED_TOKENS:
                self.clear()
            self[token] = normal
        return normal


class Scorer:
    """Scores samples, and remembers tokens and golds: the golds repeat with each model of a board."""

    def __init__(self) -> None:
        self._tokens = _Tokens()
        self._golds: dict[Golds, tuple[GoldAnswer, ...]] = {}

    def normalize(self, text: str) -> str:
        """Give the normal form that answers are compared in."""
        return " ".join(filter(None, map(self._tokens.__getitem__, split_tokens(text))))

    def score(self, prediction: str, golds: Golds) -> Score:
        """Score one generation: the best em and f1 over all golds whose first span is not blank."""
        normal = self.normalize(prediction)
        bag = set(normal.split())
        best = 0.0
        for answer in self._golds.get(golds) or self._remember(golds):
            if answer.text == normal:
                return Score(1.0, 1.0)
            best = max(best, _best_span(bag, answer.spans) / len(answer.spans))
        return Score(0.0, round_half_even(best))

    def _remember(self, golds: Golds) -> tuple[GoldAnswer, ...]:
        if len(self._golds) >= CACHED_GOLDS:
            self._golds.clear()
        answers = tuple(self._gold_answer(spans) for spans in golds if spans[0].strip())
        self._golds[golds] = answers
        return answers

    def _gold_answer(self, spans: tuple[str, ...]) -> GoldAnswer:
        normals = [self.normalize(span) for span in spans]
        return GoldAnswer(normals[0] if len(normals) == 1 else None, tuple(map(_gold_span, normals)))


def _gold_span(normal: str) -> GoldSpan:
    bag = frozenset(normal.split())
    return GoldSpan(bag, frozenset(filter(is_number, bag)))


def _best_span(bag: set[str], spans: tuple[GoldSpan, ...]) -> float:
    return max(_f1(bag, span) for span in spans)


def _f1(bag: set[str], gold: GoldSpan) -> float:
    """F1 of two sets of words; 0 if the gold has numbers and the prediction none of them."""
    if gold.numbers and gold.numbers.isdisjoint(bag):
        return 0.0
    common = len(gold.bag & bag)
    if not common:
        return 0.0 if gold.bag or bag else 1.0
    precision, recall = common / len(bag), common / len(gold.bag)
    # The harness's own order of operations: another one differs in the last bit, and then in the rounding.
    return (2 * precision * recall) / (precision + recall)
