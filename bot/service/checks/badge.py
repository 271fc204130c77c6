"""Write verified rows for other programs: as JSON, as a record for `site`, and as a badge, an SVG or for shields.io."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

import msgspec

from bot.errors import CallError
from bot.evaluation.evidence import EVIDENCE_WORDS
from bot.publishing.models import VERIFIED_SCHEMA, Verified, VerifiedRecord
from bot.service.checks.verify import VerifiedRow

LABEL = "rows that follow"
COLORS = {"good": "#2e7d32", "bad": "#c62828", "unknown": "#616161"}  # white text on each has a contrast above 5
SIZE = 7  # about the width of a character, in pixels


def badge_of(rows: int, wrong: int, unavailable: int, word: str = "", *, has_board: bool = True) -> tuple[str, str]:
    """The text of a badge, and its mood: of so many rows, some do not follow, and some could not be checked.

    `word` is what all of them rest on; without `has_board` the table that readers see is not what the rows give.
    """
    if wrong:
        return f"{wrong:,} of {rows:,} do not follow", "bad"
    if not has_board:
        return "the table differs from the rows", "bad"
    if unavailable or not rows:
        return f"{unavailable:,} of {rows:,} not checked" if rows else "no rows", "unknown"
    return f"{rows:,} of {rows:,}{f', evidence {word}' if word else ''}", "good"


def badge_json(message: str, mood: str) -> str:
    """The badge as an endpoint of shields.io reads it: https://shields.io/badges/endpoint-badge."""
    words = {"schemaVersion": 1, "label": LABEL, "message": message, "color": COLORS[mood]}
    return json.dumps(words | {"isError": mood == "bad"}, indent=2) + "\n"


def badge_svg(message: str, mood: str) -> str:
    """The badge as an image that needs no font and no script."""
    left, right = (SIZE * len(text) + 12 for text in (LABEL, message))
    said, color = escape(f"{LABEL}: {message}"), COLORS[mood]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{said}">
<title>{said}</title>
<rect width="{left}" height="20" fill="#424242"/><rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{left / 2:g}" y="14">{escape(LABEL)}</text><text x="{left + right / 2:g}" y="14">{escape(message)}</text>
</g>
</svg>
"""


def to_json(row: VerifiedRow) -> dict[str, object]:
    """A row with its outcome, and both values of each field that differs."""
    return {
        "key": row.key,
        "outcome": row.outcome,
        "why": row.why,
        "notice": row.notice,
        "evidence": row.evidence,
        "differences": msgspec.to_builtins(row.differences),
    }


def check_badge(path: Path) -> None:
    """Raise CallError for a name that is that of no badge, or in a folder that is not there."""
    if path.suffix not in {".svg", ".json"}:
        raise CallError(f"{path}: the name of a badge ends in .svg, or in .json for shields.io")
    if not path.parent.is_dir():
        raise CallError(f"{path}: there is no folder for it")


def write_badge(path: Path, rows: Sequence[VerifiedRow], shown: Sequence[VerifiedRow] = ()) -> None:
    """Write a badge, see `check_badge` for its name; `shown` are files that differ from the rows.

    Raises CallError if it cannot be written.
    """
    unavailable = sum(row.outcome == "unavailable" for row in rows)
    wrong = sum(not row.follows for row in rows) - unavailable
    words = [one for one in EVIDENCE_WORDS if any(row.evidence == one for row in rows)]
    badge = badge_of(len(rows), wrong, unavailable, words[0] if words else "", has_board=not shown)
    _write(path, badge_json(*badge) if path.suffix == ".json" else badge_svg(*badge))


def write_record(path: Path, rows: Sequence[VerifiedRow], day: str) -> None:
    """Write what was found on a day, for `site --verified`. Raises CallError if it cannot be written."""
    found = tuple(Verified(row.key, row.outcome, day, row.digest, row.why) for row in rows)
    _write(path, msgspec.json.encode(VerifiedRecord(VERIFIED_SCHEMA, found)).decode() + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CallError(f"{path}: cannot be written: {error.strerror}") from None
