"""The known flaws of DROP's scoring, and how to see each in a generation.

The definitions follow the public investigation of November 2023; docs/audit-drop.md explains each.
"""

from __future__ import annotations

import re
from enum import StrEnum

from bot.audits.drop.answers import GoldAnswers
from bot.audits.drop.tokens import DELETE_PUNCTUATION, is_number, normalize_token

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
