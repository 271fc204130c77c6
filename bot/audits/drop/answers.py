"""The gold answers of a question, with values that are computed once for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from bot.audits.drop.tokens import NUMBER_WORDS, is_number
from bot.errors import MalformedSamples

Golds = tuple[tuple[str, ...], ...]
"""The accepted answers of one question, each a tuple of its spans."""

DECIMAL = re.compile(r"\s*[-+]?\d[\d,]*\.\d+\s*")
# The validation split has 9,536 questions, of some 40 characters of answers each.
MAX_QUESTIONS, MAX_CHARACTERS = 1 << 14, 1 << 22
# Golds are kept in memory: a log must not fill it with answers that nobody needs.
MAX_GOLDS = 20_000
BAD_GOLDS = "the gold answers are not lists of texts"
NO_WORDS: frozenset[str] = frozenset()
LONG_GOLDS = "the gold answers have more than 20,000 characters"


class GoldSpan(NamedTuple):
    """One span of a gold answer: its set of normalized words, and those among them that are numbers."""

    bag: frozenset[str]
    numbers: frozenset[str]


class GoldAnswer(NamedTuple):
    """One gold answer: the normalized text if it has a single span, else None; its spans."""

    text: str | None
    spans: tuple[GoldSpan, ...]


class GoldAnswers(NamedTuple):
    """The gold answers of one question.

    `scored` leaves out answers whose first span is blank, as the harness does. `kind` is "decimal" if each answer is
    one decimal number, "integer" if each is one whole number. `integer_parts` holds what a stop word "." leaves of
    decimal answers: "12" for "12.25". `words` are the normalized words of all, `length` counts those of the first.
    """

    scored: tuple[GoldAnswer, ...]
    kind: Literal["decimal", "integer", "other"]
    integer_parts: frozenset[str]
    words: frozenset[str]
    length: int


class AnswersCache(dict[Golds, GoldAnswers]):
    """Answers by golds: the golds repeat with each model of a board. Bounded in number and size."""

    def __init__(self, normalize: Callable[[str], str]) -> None:
        super().__init__()
        self._normalize = normalize
        self._characters = 0

    def __missing__(self, golds: Golds) -> GoldAnswers:
        """Compute the answers. Raises MalformedSamples if one is empty, or all are too long."""
        if not golds or not all(golds):
            raise MalformedSamples(BAD_GOLDS)
        characters = sum(len(span) + 1 for answer in golds for span in answer)
        if characters > MAX_GOLDS:
            raise MalformedSamples(LONG_GOLDS)
        if len(self) >= MAX_QUESTIONS or self._characters > MAX_CHARACTERS:
            self.clear()
            self._characters = 0
        self._characters += characters
        self[golds] = answers = self._answers(golds)
        return answers

    def _answers(self, golds: Golds) -> GoldAnswers:
        scored = tuple([self._answer(spans) for spans in golds if spans[0].strip()])
        single = [spans[0].strip() for spans in golds if len(spans) == 1]
        integer_parts = frozenset(
            [text.partition(".")[0] for text in single if "." in text and DECIMAL.fullmatch(text)]
        )
        words = frozenset().union(*[span.bag for answer in scored for span in answer.spans])
        length = len(golds[0][0].split()) if len(golds[0]) == 1 else sum(map(len, map(str.split, golds[0])))
        return GoldAnswers(scored, _kind(golds, single), integer_parts, words, length)

    def _answer(self, spans: tuple[str, ...]) -> GoldAnswer:
        normals = list(map(self._normalize, spans))
        return GoldAnswer(normals[0] if len(normals) == 1 else None, tuple(map(_span, normals)))


def _span(normal: str) -> GoldSpan:
    bag = frozenset(normal.split())
    # Every word that float() accepts ends in a digit, or is one of three words.
    numbers = [word for word in bag if word[-1].isdecimal() or word in NUMBER_WORDS]
    return GoldSpan(bag, frozenset(filter(is_number, numbers)) if numbers else NO_WORDS)


def _kind(golds: Golds, single: list[str]) -> Literal["decimal", "integer", "other"]:
    if len(single) < len(golds):
        return "other"
    if all(map(str.isdecimal, single)):
        return "integer"
    return "decimal" if all(map(DECIMAL.fullmatch, single)) else "other"
