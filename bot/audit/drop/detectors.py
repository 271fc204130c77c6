"""A generation and its gold answers in; the known flaws of DROP's scoring that it shows out.

The definitions follow the public investigation of November 2023; docs/audit-drop.md gives each with its
story.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from bot.audit.drop.scorer import (
    CACHED_GOLDS,
    DELETE_PUNCTUATION,
    Golds,
    is_number,
    normalize_token,
    split_tokens,
)

DECIMAL = re.compile(r"\s*[-+]?\d[\d,]*\.\d+\s*")
# Bounded: tried at each of a million digits, an open end would take a million steps.
DECIMAL_INSIDE = re.compile(r"\d[\d,]{0,40}\.\d{1,40}")
# A few-shot target that renders the keys of an answer instead of the answer (harness 0.4, issue 2137).
RENDERED_KEYS = "number,date,spans,worker_id,hit_id"


class Flaw(StrEnum):
    """What is counted and shown with examples, in the order of the report."""

    GLUED_NUMBER = "glued-number"
    DECIMAL_CUT = "decimal-cut"
    DESTROYED_DECIMAL = "destroyed-decimal"
    RUNS_ON = "runs-on"
    ENDS_WITH_NUMBER = "ends-with-number"
    RENDERED_PROMPT = "rendered-prompt"
    RENDERED_TARGET = "rendered-target"


def glued_numbers(text: str) -> list[str]:
    r"""List the tokens that hold white space other than a space, and a number among the pieces it separates.

    The scorer splits at spaces and hyphens alone, so "10" and "Passage:" stay one token in
    "10\n\nPassage:", the number is none any more, and no gold with a number can match.
    """
    # All white space but the space is unprintable: most texts are done after one fast look.
    if text.isprintable():
        return []
    return [token for token in split_tokens(text) if not token.isprintable() and _is_glued(token)]


def _is_glued(token: str) -> bool:
    pieces = token.lower().split()
    return len(pieces) > 1 and any(is_number(piece.translate(DELETE_PUNCTUATION)) for piece in pieces)


def is_cut_decimal(prediction: str, golds: Golds) -> bool:
    """Whether the prediction, or its last word, is what the stop word "." leaves of a decimal gold."""
    integers = integer_parts(golds)
    if not integers:
        return False
    words = prediction.split()
    return bool(words) and (words[-1] in integers or prediction.strip() in integers)


@lru_cache(maxsize=CACHED_GOLDS)
def integer_parts(golds: Golds) -> frozenset[str]:
    """Collect the integer parts of the golds that are one decimal number, as written: "12" for "12.25"."""
    return frozenset(answer[0].strip().partition(".")[0] for answer in golds if _is_decimal(answer))


@lru_cache(maxsize=CACHED_GOLDS)
def gold_kind(golds: Golds) -> str:
    """Say "decimal" if each gold is one decimal number, "integer" if each is a whole one, else "other"."""
    if all(map(_is_decimal, golds)):
        return "decimal"
    return "integer" if all(len(answer) == 1 and answer[0].strip().isdecimal() for answer in golds) else "other"


def _is_decimal(answer: tuple[str, ...]) -> bool:
    return len(answer) == 1 and DECIMAL.fullmatch(answer[0]) is not None


def ends_with_number(text: str) -> bool:
    """Whether the last character but white space is a digit: the answer may have gone on after a "."."""
    return text.rstrip()[-1:].isdecimal()


def runs_on(text: str) -> bool:
    """Whether the generation goes on past the line that holds its answer."""
    return "\n" in text.strip()


def destroyed_decimals(text: str) -> list[str]:
    """List the tokens whose decimal number goes with their punctuation: "12.25%", "$12.25" become 1225.0."""
    if "." not in text:
        return []
    return [token for token in split_tokens(text) if _is_destroyed(token)]


def _is_destroyed(token: str) -> bool:
    decimal = DECIMAL_INSIDE.search(token)
    if decimal is None or is_number(token):
        return False
    rest = token[: decimal.start()] + token[decimal.end() :] + decimal.group().replace(".", "", 1)
    has_other_punctuation = rest != rest.translate(DELETE_PUNCTUATION)
    return has_other_punctuation and str(float(decimal.group().replace(",", ""))) not in (
        normalize_token(token).split()
    )
