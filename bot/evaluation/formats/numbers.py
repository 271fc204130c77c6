"""Numbers that files and tables write as texts: `88.71%`, `0,85`, `<b>12.7</b>`."""

from __future__ import annotations

import re

from bot.evaluation.formats.fields import number

LONGEST_TEXT = 200  # characters of a text that may be a number
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
UNIT = r"\s*(?:%|[a-zA-Zµ$€£/°]{1,12})?"
PLAIN = re.compile(rf"[$€£]?\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{{1,3}})?){UNIT}")
GROUPED = re.compile(rf"[$€£]?\s*([-+]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?){UNIT}")
COMMA = re.compile(rf"[$€£]?\s*([-+]?\d*,\d+){UNIT}")
BEGINS = re.compile(r"[-+.,]?\d")
GAPS = frozenset({"", "-", "--", "–", "—", "n/a", "na", "nan", "none", "null", "?", "??", "tbd", "tba", "missing"})


def is_placeholder(value: object) -> bool:
    """Tell whether a value is a text that stands for "not measured"."""
    return isinstance(value, str) and bare(value).lower() in GAPS


def bare(text: str) -> str:
    """A text without tags, marks of Markdown and white space around it."""
    return TAG.sub("", text[:LONGEST_TEXT]).replace("*", "").replace("`", "").replace("\N{MINUS SIGN}", "-").strip()


def number_of(value: object) -> tuple[float | None, str]:
    """A number, also one that is written as a text with or without a unit; and "" or why a text is not sure to be one.

    A decimal comma counts as a point where no thousand can be meant.
    """
    if not isinstance(value, str):
        return number(value), ""
    text, why = bare(value), ""
    spelled: str | None = None
    if found := PLAIN.fullmatch(text):
        spelled = found[1]
    elif found := GROUPED.fullmatch(text):
        is_sure = found[1].count(",") > 1 or "." in found[1]
        is_decimal = found[1].lstrip("+-").startswith("0")
        why = "" if is_sure or is_decimal else "which may be thousands or a decimal comma"
        spelled = None if why else found[1].replace(",", "" if is_sure else ".")
    elif found := COMMA.fullmatch(text):
        spelled = found[1].replace(",", ".")
    elif BEGINS.match(text.lstrip("$€£ ")):
        why = "which is not one number"
    if len(value) > LONGEST_TEXT:
        return None, "which is too long for a number"
    return (None if spelled is None else float(spelled)), why
