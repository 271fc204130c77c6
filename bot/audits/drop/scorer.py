"""DROP's em and f1, equal to those of lm-evaluation-harness to the last bit.

Source: lm_eval/tasks/drop/utils.py at 4e7e0d47f, which scores as lm_eval/tasks/drop.py did at b281b0921.
The harness gives its scorer one generation for each sample, so the assignment between several predicted and
several gold spans comes down to the best gold span: no matrix, no numpy, no scipy.
"""

from __future__ import annotations

from typing import NamedTuple

from bot.audits.drop.answers import AnswersCache, GoldAnswers, Golds
from bot.audits.drop.tokens import MAX_CHARACTERS, TokenCache, split_tokens


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
