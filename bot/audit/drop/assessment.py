"""One sample with its golds in; its score as it stands and under each repair, and the flaws it shows, out."""

from __future__ import annotations

from dataclasses import dataclass

from bot.audit.drop.detectors import (
    RENDERED_KEYS,
    Flaw,
    destroyed_decimals,
    ends_with_number,
    glued_numbers,
    is_cut_decimal,
    runs_on,
)
from bot.audit.drop.samples import Sample
from bot.audit.drop.scorer import Golds, Score, Scorer

# Logs hold the scorer's own doubles: anything further off was computed by other code.
SAME = 1e-9


@dataclass(slots=True)
class Assessment:
    """What the scorer did to one generation, and what it would do to the repaired one.

    `first_line` is the score of what stands before the first line break, `first_text_line` the same after
    leading white space is dropped; both are `score` where there is no line break. `unglued` is the score
    with each run of white space as one space, None where no number is glued. `answer_line_ends` says that a
    line break follows the line of the answer, so that the answer was not cut by a stop word.
    """

    score: Score
    first_line: Score
    first_text_line: Score
    unglued: Score | None
    flaws: tuple[Flaw, ...]
    starts_with_break: bool
    answer_line_ends: bool
    differs_from_log: bool

    @property
    def glued_matters(self) -> bool:
        """Whether the glued number costs em or f1."""
        return self.unglued is not None and is_better(self.unglued, self.score)

    @property
    def literal_cut_is_worse(self) -> bool:
        """Whether the literal cut takes the answer of a generation that begins with a line break."""
        return self.starts_with_break and is_better(self.score, self.first_line)

    @property
    def is_distorted(self) -> bool:
        """Whether the score shows the format of the run rather than the answer of the model."""
        return (
            self.glued_matters
            or is_better(self.first_text_line, self.score)
            or (Flaw.DECIMAL_CUT in self.flaws and not self.score.em)
        )


def is_better(one: Score, other: Score) -> bool:
    """Whether a score rises: em decides, then f1 (a Score compares so)."""
    return one > other


def first_line(text: str) -> str:
    """Return what stands before the first line break: the investigation's repair, taken literally."""
    return text.partition("\n")[0]


def first_text_line(text: str) -> str:
    """Return the first line that holds text: the repair for generations that begin with a line break."""
    return text.lstrip().partition("\n")[0]


def assess(sample: Sample, golds: Golds, scorer: Scorer) -> Assessment:
    """Score a sample as it stands and repaired, and name its flaws."""
    text = sample.prediction
    score = scorer.score(text, golds)
    breaks = "\n" in text
    literal = scorer.score(first_line(text), golds) if breaks else score
    glued = bool(glued_numbers(text))
    return Assessment(
        score=score,
        first_line=literal,
        first_text_line=_first_text_line_score(text, golds, scorer, literal) if breaks else score,
        unglued=scorer.score(" ".join(text.split()), golds) if glued else None,
        flaws=tuple(_flaws(sample, golds, is_glued=glued)),
        starts_with_break=breaks and not first_line(text).strip(),
        answer_line_ends=breaks and "\n" in text.lstrip(),
        differs_from_log=differs(sample.em, score.em) or differs(sample.f1, score.f1),
    )


def _first_text_line_score(text: str, golds: Golds, scorer: Scorer, literal: Score) -> Score:
    return literal if first_line(text).strip() else scorer.score(first_text_line(text), golds)


def _flaws(sample: Sample, golds: Golds, *, is_glued: bool) -> list[Flaw]:
    text = sample.prediction
    seen = (
        (Flaw.GLUED_NUMBER, is_glued),
        (Flaw.DECIMAL_CUT, is_cut_decimal(text, golds)),
        (Flaw.DESTROYED_DECIMAL, bool(destroyed_decimals(text))),
        (Flaw.RUNS_ON, runs_on(text)),
        (Flaw.ENDS_WITH_NUMBER, ends_with_number(text)),
        (Flaw.RENDERED_PROMPT, RENDERED_KEYS in sample.prompt),
        (Flaw.RENDERED_TARGET, RENDERED_KEYS in sample.target),
    )
    return [flaw for flaw, is_there in seen if is_there]


def differs(logged: float | None, computed: float) -> bool:
    """Whether a logged metric is there and is not what the scorer gives; NaN differs from everything."""
    return logged is not None and not abs(logged - computed) <= SAME
