"""A badge for a README: how many rows of a board follow from their evidence, as SVG or for shields.io."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

LABEL = "rows verified"
COLORS = {"good": "#2e7d32", "bad": "#c62828", "unknown": "#616161"}  # white text on each has a contrast above 5
SIZE = 7  # about the width of a character, in pixels


@dataclass(frozen=True, slots=True)
class Badge:
    """The content of a badge: `mood` gives its color."""

    message: str
    mood: str


def badge_of(rows: int, wrong: int, unavailable: int) -> Badge:
    """The badge for so many rows, of which some do not follow, and some could not be asked about."""
    if wrong:
        return Badge(f"{wrong:,} of {rows:,} do not follow", "bad")
    if unavailable or not rows:
        return Badge(f"{unavailable:,} of {rows:,} not checked" if rows else "no rows", "unknown")
    return Badge(f"{rows:,} of {rows:,}", "good")


def badge_json(badge: Badge) -> str:
    """The badge as an endpoint of shields.io reads it: https://shields.io/badges/endpoint-badge."""
    words = {"schemaVersion": 1, "label": LABEL, "message": badge.message, "color": COLORS[badge.mood]}
    return json.dumps(words | {"isError": badge.mood == "bad"}, indent=2) + "\n"


def badge_svg(badge: Badge) -> str:
    """The badge as an image that needs no font and no script."""
    left, right = (SIZE * len(text) + 12 for text in (LABEL, badge.message))
    said, color = escape(f"{LABEL}: {badge.message}"), COLORS[badge.mood]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{said}">
<title>{said}</title>
<rect width="{left}" height="20" fill="#424242"/><rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{left / 2:g}" y="14">{escape(LABEL)}</text><text x="{left + right / 2:g}" y="14">{escape(badge.message)}</text>
</g>
</svg>
"""
