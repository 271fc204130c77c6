"""Where a file has a number that its format does not read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.numbers import number_of
from bot.evaluation.places import key_text
from bot.evaluation.reported import Reported
from bot.evaluation.result import Result, escape_pointer

OF_SAMPLES = frozenset({"samples", "configs", "config"})  # what a file of a harness has of questions and settings
MOST_PLACES = 3  # of one number that are named


def unread_places(data: bytes, path: str, result: Result, reported: Reported) -> list[str]:
    """The first places of a file whose numbers print as the reported one, and of which the result has none."""
    try:
        whole = Content({"": data}, path).document.value
    except MalformedResult:
        return []
    read = {result.pointer_to("value", key, name) for key, leaf in result.leaves.items() for name in leaf.numbers}
    found = (
        place
        for place, pointer, value in _numbers(whole)
        if pointer not in read and reported.fits(value * 100 if reported.top > 1 >= abs(value) else value)
    )
    return list(islice(found, MOST_PLACES))


def _numbers(whole: Any) -> Iterator[tuple[str, str, float]]:
    """Every number of a file with its place, as forms write it, and its JSON pointer, in the file's order."""
    left = [("", "", whole)]
    while left:
        place, pointer, value = left.pop()
        if isinstance(value, dict):
            dot = "." if place else ""
            parts = [
                (f"{place}{dot}{key_text(key)}", f"{pointer}/{escape_pointer(key)}", one)
                for key, one in value.items()
                if place or key not in OF_SAMPLES
            ]
            left += reversed(parts)
        elif isinstance(value, list):
            left += [(f"{place}[{at}]", f"{pointer}/{at}", one) for at, one in reversed([*enumerate(value)])]
        elif not isinstance(value, bool) and (number := number_of(value)[0]) is not None:
            yield place, pointer, number
