"""The YAML at the top of a card (README.md), between two lines of three dashes."""

from __future__ import annotations

import re

FENCES = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?=\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def front_matter(text: str) -> tuple[int, int] | None:
    """Where the YAML of a card begins and ends, None if the card has none."""
    found = FENCES.match(text)
    return None if found is None else found.span(1)
