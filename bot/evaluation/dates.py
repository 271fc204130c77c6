"""When a result was measured: from the file, its name, or the commit that brought it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from bot.evaluation.result import Result

STAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2})[-:](\d{2})[-:](\d{2})")
LATEST = 4e9  # Unix seconds, in 2096


def own_date(result: Result | None, path: str) -> float | None:
    """The date that a file gives itself, in Unix seconds: its own field, else the time in its name."""
    if result is not None and result.date is not None and 0 < result.date < LATEST:
        return result.date
    stamp = STAMP.search(path.rpartition("/")[2])
    if stamp is None:
        return None
    try:
        return datetime(*map(int, stamp.groups()), tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def believed_date(own: float | None, committed: float | None) -> float:
    """A file's date in Unix seconds, believed no further than the commit that brought it; 0 where nothing is known."""
    known = [date for date in (own, committed) if date is not None]
    return min(known, default=0.0)


def iso_date(date: float | None) -> str:
    """A date in Unix seconds as ISO 8601 in UTC, "" where there is none."""
    return datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if date else ""
