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
ARTICLE_WORDS = frozenset({"a", "an", "the"})
# The words that float() takes; every other run of ASCII letters is no number and has no punctuation.
NUMBER_WORDS = frozenset({"nan", "inf", "infinity"})
DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# A validation split has 9,536 questions; the words that come again and again are some ten thousand.
CACHED_GOLDS, CACHED_TOKENS, CACHED_TOKEN_LENGTH = 1 << 14, 1 << 16, 32


class Score(NamedTuple):
    """em is 0 or 1; f1 lies in 0..1 and has two decimals."""

    em: float
    f1: float


RIGHT, WRONG = Score(1.0, 1.0), Score(0.0, 0.0)


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
    if text.isascii() and text.isalpha() and text not in NUMBER_WORDS:
        return "" if text in ARTICLE_WORDS else text
    if not is_number(text):
        text = text.translate(DELETE_PUNCTUATION)
    text = str(float(text)) if is_number(text) else ARTICLES.sub(" ", text)
    return " ".join(text.split())


def round_half_even(value: float) -> float:
    """Round to two decimals as numpy does, rint(v * 100) / 100: 0.025 gives 0.02, and round() 0.03."""
    return round(value * 100) / 100


class _Tokens(dict[str, str]):
    """Normal forms of the tokens seen; bounded, since a stream of generations never runs out of new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.wide: set[str] = set()
        """The normal forms of more than one word, which a bag must not take for one."""

    def __missing__(self, token: str) -> str:
        normal = normalize_token(token)
        if len(token) <= CACHED_TOKEN_LENGTH:
            self[token] = normal
        if " " in normal:
            self.wide.add(normal)
        return normal

    def forget(self) -> None:
        """Drop everything, so that it can begin again."""
        self.clear()
        self.wide.clear()


class Scorer:
    """Scores samples, and remembers tokens and golds: the golds repeat with each model of a board."""

    def __init__(self) -> None:
        self._tokens = _Tokens()
        self._golds: dict[Golds, tuple[GoldAnswer, ...]] = {}

    def normalize(self, text: str) -> str:
        """Give the normal form that answers are compared in."""
        return _joined(self._normals(text))

    def score(self, prediction: str, golds: Golds) -> Score:
        """Score one generation: the best em and f1 over all golds whose first span is not blank."""
        normals = self._normals(prediction)
        bag = self._bag(normals)
        best = 0.0
        for answer in self._golds.get(golds) or self._remember(golds):
            f1 = _f1(bag, answer.spans)
            # Equal texts have equal bags: only an f1 of 1 can be an exact match.
            if f1 == 1.0 and answer.text is not None and answer.text == _joined(normals):
                return RIGHT
            best = max(best, f1)
        return Score(0.0, round_half_even(best)) if best else WRONG

    def _normals(self, text: str) -> list[str]:
        tokens = self._tokens
        # Between two texts, never inside one: the bag needs what its own text has put there.
        if len(tokens) > CACHED_TOKENS or len(tokens.wide) > CACHED_TOKENS:
            tokens.forget()
        return list(map(tokens.__getitem__, split_tokens(text)))

    def _bag(self, normals: list[str]) -> set[str]:
        bag = set(normals)
        bag.discard("")
        for several in self._tokens.wide.intersection(bag):
            bag.remove(several)
            bag.update(several.split())
        return bag

    def _remember(self, golds: Golds) -> tuple[GoldAnswer, ...]:
        if len(self._golds) >= CACHED_GOLDS:
            self._golds.clear()
        answers = tuple(self._gold_answer(spans) for spans in golds if spans[0].strip())
        self._golds[golds] = answers
        return answers

    def _gold_answer(self, spans: tuple[str, ...]) -> GoldAnswer:
        normals = [self.normalize(span) for span in spans]
        return GoldAnswer(normals[0] if len(normals) == 1 else None, tuple(map(_gold_span, normals)))


def _joined(normals: list[str]) -> str:
    return " ".join(filter(None, normals))


def _gold_span(normal: str) -> GoldSpan:
    bag = frozenset(normal.split())
    return GoldSpan(bag, frozenset(filter(is_number, bag)))


def _f1(bag: set[str], spans: tuple[GoldSpan, ...]) -> float:
    """F1 against one gold answer: that of its best span, over the number of spans.

    A span that holds numbers gives 0 to a bag with none of them.
    """
    best = 0.0
    for gold, numbers in spans:
        if numbers and numbers.isdisjoint(bag):
            continue
        if common := len(gold & bag):
            precision, recall = common / len(bag), common / len(gold)
            # The harness's own order of operations: another one differs in the last bit, then in the rounding.
            best = max(best, (2 * precision * recall) / (precision + recall))
        elif not gold and not bag:
            best = 1.0
    return best / len(spans)
