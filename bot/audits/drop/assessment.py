"""Score one sample as it is and under each repair, and note the known flaws of DROP's scoring that it shows.

The definitions follow the public investigation of November 2023; docs/audit-drop.md explains each.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from bot.audits.drop.samples import DropSample
from bot.audits.drop.scorer import (
    DELETE_PUNCTUATION,
    DropScore,
    GoldAnswers,
    Scorer,
    is_number,
    normalize_token,
    split_tokens,
)

# Bounded: tried at each of a million digits, an open end would take a million steps.
DECIMAL_INSIDE = re.compile(r"\d[\d,]{0,40}\.\d{1,40}")


class Flaw(StrEnum):
    """What is counted and shown with examples, in the order of the report."""

    GLUED_NUMBER = "glued-number"
    DECIMAL_CUT = "decimal-cut"
    DESTROYED_DECIMAL = "destroyed-decimal"
    RUNS_ON = "runs-on"
    ENDS_WITH_NUMBER = "ends-with-number"
    RENDERED_PROMPT = "rendered-prompt"
    RENDERED_TARGET = "rendered-target"


def is_cut_decimal(prediction: str, answers: GoldAnswers) -> bool:
    """Tell whether the prediction, or its last word, is what the stop word "." leaves of a decimal answer."""
    words = prediction.split()
    return bool(words) and (words[-1] in answers.integer_parts or prediction.strip() in answers.integer_parts)


def ends_with_number(text: str) -> bool:
    """Tell whether the last character, white space aside, is a digit: the answer may have gone on after a "."."""
    return text.rstrip()[-1:].isdecimal()


def runs_on(text: str) -> bool:
    """Tell whether the generation goes on past the line that holds its answer."""
    return "\n" in text.strip()


def destroyed_decimals(tokens: list[str]) -> list[str]:
    """Return the tokens whose decimal number goes with their punctuation: "12.25%", "$12.25" become 1225.0."""
    return [token for token in tokens if "." in token and _is_destroyed(token)]


def _is_destroyed(token: str) -> bool:
    decimal = DECIMAL_INSIDE.search(token)
    if decimal is None or is_number(token):
        return False
    rest = token[: decimal.start()] + token[decimal.end() :] + decimal.group().replace(".", "", 1)
    has_other_punctuation = rest != rest.translate(DELETE_PUNCTUATION)
    return has_other_punctuation and str(float(decimal.group().replace(",", ""))) not in (
        normalize_token(token).split()
    )


# Logs hold the scorer's own doubles: a value further off was computed by other code.
SAME = 1e-9


class SampleOutcome(msgspec.Struct, frozen=True, gc=False):
    """What the scorer did to a generation, and what it would do to the repaired one. Many samples share an outcome.

    `first_line` is the score of what is before the first line break, `first_text_line` the same after leading white
    space is dropped; both are `score` where there is no line break. `unglued` is the score with each run of white space
    as one space, None if no number is glued. `answer_line_ends` says that a line break follows the line of the
    answer, so that no stop word cut the answer. `kind` is that of the gold answers.
    """

    score: DropScore
    first_line: DropScore
    first_text_line: DropScore
    unglued: DropScore | None
    flaws: tuple[str, ...]
    starts_with_break: bool
    answer_line_ends: bool
    is_logged: bool
    differs_from_log: bool
    kind: str
    form: str
    until: str

    @property
    def glued_matters(self) -> bool:
        """Tell whether the glued number costs em or f1."""
        return self.unglued is not None and self.unglued > self.score

    @property
    def literal_cut_is_worse(self) -> bool:
        """Tell whether the literal cut removes the answer of a generation that begins with a line break."""
        return self.starts_with_break and self.score > self.first_line

    @property
    def is_distorted(self) -> bool:
        """Tell whether the score depends on the format of the generation rather than on the answer of the model."""
        return self.glued_matters or self.first_text_line > self.score or (CUT in self.flaws and not self.score.em)


def assess(scorer: Scorer, sample: DropSample, answers: GoldAnswers) -> SampleOutcome:
    """Return the outcome of a sample."""
    text = sample.prediction
    scorer.trim()
    tokens = split_tokens(text)
    score = literal = repaired = scorer.score_tokens(tokens, answers)
    unglued, starts_with_break, answer_line_ends = None, False, False
    # All white space but the space is unprintable: most generations are done after one fast look.
    if not text.isprintable():
        if "\n" in text:
            literal, repaired, starts_with_break = _cut(scorer, text, answers)
            answer_line_ends = not starts_with_break or "\n" in text.lstrip()
        glued = scorer.tokens.glued
        if glued and not glued.isdisjoint(tokens):
            unglued = scorer.score_tokens(split_tokens(" ".join(text.split())), answers)
    return SampleOutcome(
        score,
        literal,
        repaired,
        unglued,
        _flaws(sample, tokens, answers, answer_line_ends, unglued is not None),
        starts_with_break,
        answer_line_ends,
        sample.em is not None or sample.f1 is not None,
        (sample.em, sample.f1) != score and (differs(sample.em, score.em) or differs(sample.f1, score.f1)),
        answers.kind,
        sample.form,
        sample.until,
    )


def _cut(scorer: Scorer, text: str, answers: GoldAnswers) -> tuple[DropScore, DropScore, bool]:
    """Return the scores of the first line and of the first line with text, and whether the first is blank."""
    head = first_line(text)
    literal = scorer.score_tokens(split_tokens(head), answers)
    if head and not head.isspace():
        return literal, literal, False
    return literal, scorer.score_tokens(split_tokens(first_text_line(text)), answers), True


def first_line(text: str) -> str:
    """Return what is before the first line break: the investigation's repair, taken literally."""
    return text.partition("\n")[0]


def first_text_line(text: str) -> str:
    """Return the first line that holds text: the repair for generations that begin with a line break."""
    return text.lstrip().partition("\n")[0]


# As plain text: to look up the value of a member takes as long as to look for its flaw.
GLUED, CUT, DESTROYED, RUNS_ON, NUMBER, PROMPT, TARGET = (flaw.value for flaw in Flaw)


def _flaws(
    sample: DropSample,
    tokens: list[str],
    answers: GoldAnswers,
    answer_line_ends: bool,  # noqa: FBT001 - naming them takes a tenth of the time of this function
    is_glued: bool,  # noqa: FBT001
) -> tuple[str, ...]:
    text = sample.prediction
    flaws = [GLUED] if is_glued else []
    if answers.integer_parts and is_cut_decimal(text, answers):
        flaws.append(CUT)
    if "." in text and destroyed_decimals(tokens):
        flaws.append(DESTROYED)
    if answer_line_ends and runs_on(text):
        flaws.append(RUNS_ON)
    if ends_with_number(text):
        flaws.append(NUMBER)
    if sample.rendered_prompt:
        flaws.append(PROMPT)
    if sample.rendered_target:
        flaws.append(TARGET)
    return tuple(flaws)


def differs(logged: float | None, computed: float) -> bool:
    """Tell whether a logged metric is there and is not what the scorer gives; NaN differs from everything."""
    return logged is not None and not abs(logged - computed) <= SAME
