"""Write verified rows for other programs: as JSON, and as a badge in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from bot.errors import CallError
from bot.reporting.badge import badge_json, badge_of, badge_svg
from bot.service.checks.verify import VerifiedRow


def to_json(row: VerifiedRow) -> dict[str, object]:
    """A row with its outcome, and both values of each number that differs."""
    return {
        "key": row.key,
        "outcome": row.outcome,
        "why": row.why,
        "notice": row.notice,
        "differences": msgspec.to_builtins(row.differences),
    }


def write_badge(path: Path, rows: Sequence[VerifiedRow]) -> None:
    """Write a badge: what an endpoint of shields.io gives where the name ends in `.json`, else an SVG.

    Raises CallError if it cannot be written.
    """
    unavailable = sum(row.outcome == "unavailable" for row in rows)
    wrong = sum(not row.follows for row in rows) - unavailable
    badge = badge_of(len(rows), wrong, unavailable)
    try:
        path.write_text(badge_json(badge) if path.suffix == ".json" else badge_svg(badge), encoding="utf-8")
    except OSError as error:
        raise CallError(f"{path}: cannot be written: {error.strerror}") from None
