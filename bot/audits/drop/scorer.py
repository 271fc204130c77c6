"""DROP's em and f1, equal to those of lm-evaluation-harness to the last bit.

Source: lm_eval/tasks/drop/utils.py at 4e7e0d47f, which scores as lm_eval/tasks/drop.py did at b281b0921.
The harness gives its scorer one generation for each sample, so the assignment between several predicted and
several gold spans comes down to the best gold span: no matrix, no numpy, no scipy.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Literal, NamedTuple

from bot.errors import MalformedSamples

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
ARTICLE_WORDS = frozenset({"a", "an", "the"})
# The words that float() accepts; any other run of ASCII letters is not a number and has no punctuation.
NUMBER_WORDS = frozenset({"nan", "inf", "infinity"})
DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# The words that occur again and again are some ten thousand; longer tokens are rarely seen twice.
MAX_TOKEN_LENGTH, MAX_CHARACTERS = 32, 1 << 19


def is_number(text: str) -> bool:
    """Tell whether float() accepts it: " 10 ", "1e3", "1_000", "nan", "inf" and digits of any script are numbers."""
    if _is_word(text):
        return text.lower() in NUMBER_WORDS
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_word(text: str) -> bool:
    """Tell whether a text is a run of ASCII letters; asked first, because a failing float() takes ten times as long."""
    return text.isascii() and text.isalpha()


def split_tokens(text: str) -> list[str]:
    """Split at each space and each hyphen, and at no other white space: that is the first flaw of the scorer."""
    return text.replace("-", " ").split(" ")


def normalize_token(token: str) -> str:
    """Lower the case; a number becomes str(float), anything else loses its punctuation and articles."""
    text = token.lower()
    if _is_word(text) and text not in NUMBER_WORDS:
        return "" if text in ARTICLE_WORDS else text
    if not is_number(text):
        text = text.translate(DELETE_PUNCTUATION)
    text = str(float(text)) if is_number(text) else ARTICLES.sub(" ", text)
    return " ".join(text.split())


def is_glued(token: str) -> bool:
    r"""Tell whether a token holds white space, and a number among the pieces it separates, such as "10\n\nPassage:".

    The scorer splits at spaces and hyphens alone, so this is one token and no number, and no gold answer with a number
    can match it.
    """
    pieces = token.lower().split()
    return len(pieces) > 1 and any(is_number(piece.translate(DELETE_PUNCTUATION)) for piece in pieces)


class TokenCache(dict[str, str]):
    """The normal form of each token that was seen; bounded, because a stream of generations always brings new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.wide: set[str] = set()
        """The normal forms of several words."""
        self.glued: set[str] = set()
        """The tokens with a glued number."""
        self.characters = 0
        """The length of all tokens that are kept."""

    def __missing__(self, token: str) -> str:
        normal = normalize_token(token)
        if len(token) <= MAX_TOKEN_LENGTH and self.characters < MAX_CHARACTERS:
            self[token] = normal
            self.characters += len(token)
        if " " in normal:
            self.wide.add(normal)
            self.characters += len(token)
        # All white space but the space is unprintable.
        if not token.isprintable() and is_glued(token):
            self.glued.add(token)
            self.characters += len(token)
        return normal

    def forget(self) -> None:
        """Drop everything; to be called between two texts: `wide` and `glued` must know all tokens of a text."""
        self.clear()
        self.wide.clear()
        self.glued.clear()
        self.characters = 0

    def text(self, tokens: list[str]) -> str:
        """Return the normalized text of tokens."""
        return " ".join(filter(None, map(self.__getitem__, tokens)))


Golds = tuple[tuple[str, ...], ...]
"""The accepted answers of one question, each a tuple of its spans."""

DECIMAL = re.compile(r"\s*[-+]?\d[\d,]*\.\d+\s*")
# The validation split has 9,536 questions, of some 40 characters of answers each.
MAX_QUESTIONS, MAX_GOLD_CHARACTERS = 1 << 14, 1 << 22
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
    decimal answers: "12" for "12.25". `words` are the normalized words of all.
    """

    scored: tuple[GoldAnswer, ...]
    kind: Literal["decimal", "integer", "other"]
    integer_parts: frozenset[str]
    words: frozenset[str]


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
        if len(self) >= MAX_QUESTIONS or self._characters > MAX_GOLD_CHARACTERS:
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
        return GoldAnswers(scored, _kind(golds, single), integer_parts, words)

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


class DropScore(NamedTuple):
    """em is 0 or 1; f1 lies in 0..1 and has two decimals. Scores compare by em, then by f1."""

    em: float
    f1: float

    @property
    def hundredths(self) -> int:
        """f1 in hundredths: sums of whole numbers are exact."""
        return round(self.f1 * 100)


RIGHT = DropScore(1.0, 1.0)
# Every score of a wrong answer, by its hundredths: a lookup is faster than a new tuple.
PARTIAL = tuple(DropScore(0.0, hundredths / 100) for hundredths in range(101))


class Scorer:
    """Scores generations. It remembers tokens and gold answers, which each model of a board repeats."""

    def __init__(self) -> None:
        self.tokens = TokenCache()
        self.answers = AnswersCache(self.normalize)
        self._normal = self.tokens.__getitem__

    def normalize(self, text: str) -> str:
        """Return the normal form in which answers are compared."""
        return self.tokens.text(split_tokens(text))

    def score(self, prediction: str, golds: Golds) -> DropScore:
        """Return the best em and f1 over all gold answers whose first span is not blank."""
        self.trim()
        return self.score_tokens(split_tokens(prediction), self.answers[golds])

    def trim(self) -> None:
        """Forget the tokens if there are too many; to be called between two texts."""
        if self.tokens.characters >= MAX_CHARACTERS:
            self.tokens.forget()

    def score_tokens(self, tokens: list[str], answers: GoldAnswers) -> DropScore:
        """Score a generation that is split into tokens already."""
        bag = set(map(self._normal, tokens))
        bag.discard("")
        wide = self.tokens.wide
        if wide and not bag.isdisjoint(wide):
            for normal in bag & wide:
                bag.remove(normal)
                bag.update(normal.split())
        if bag and answers.words.isdisjoint(bag):
            return PARTIAL[0]
        best = self._best(bag, tokens, answers)
        return RIGHT if best is None else PARTIAL[round_half_even(best)]

    def _best(self, bag: set[str], tokens: list[str], answers: GoldAnswers) -> float | None:
        """Return the best f1 before it is rounded, None for an exact match."""
        best, size = 0.0, len(bag)
        for text, spans in answers.scored:
            f1 = 0.0
            for gold, numbers in spans:
                common = len(gold & bag)
                if not common:
                    f1 = f1 if gold or size else 1.0
                elif not numbers or not numbers.isdisjoint(bag):
                    precision, recall = common / size, common / len(gold)
                    # The harness's own order of operations: another one differs in the last bit.
                    f1 = max(f1, (2 * precision * recall) / (precision + recall))
            # Equal texts have equal bags: only an f1 of 1 can be an exact match.
            if f1 == 1.0 and text is not None and text == self.tokens.text(tokens):
                return None
            if f1:
                best = max(best, f1 / len(spans))
        return best


def round_half_even(value: float) -> int:
    """Return hundredths as numpy rounds them, rint(v * 100): 0.025 gives 2, where round(0.025, 2) gives 0.03."""
    return round(value * 100)
