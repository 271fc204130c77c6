"""Find the date when a result was measured: from the file, its name, or the commit that added it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from math import isfinite

from bot.evaluation.result import Result

STAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2})[-:](\d{2})[-:](\d{2})")
LATEST = 4e9  # Unix seconds, in 2096
DAY = 86_400.0  # seconds that a clock or a time zone may be ahead


def own_date(result: Result | None, path: str) -> float | None:
    """The date that a file gives itself, in Unix seconds: its own field, else the time in its name."""
    if result is not None and result.date is not None and result.date > 0 and isfinite(result.date):
        return result.date
    stamp = STAMP.search(path.rpartition("/")[2])
    if stamp is None:
        return None
    try:
        return datetime(*map(int, stamp.groups()), tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def latest_date(today: date | None, committed: float | None) -> float:
    """After what a file cannot have been measured, in Unix seconds: the commit that brought it, else the end of today.

    A day is added, for names of files have the local time. A commit of the future is not believed either.
    """
    end = LATEST if today is None else datetime.combine(today + timedelta(days=1), time(), UTC).timestamp() + DAY
    return end if committed is None else min(committed + DAY, end)


def believed_date(own: float | None, committed: float | None, today: date | None = None) -> float:
    """A file's date in Unix seconds, believed no further than the commit that brought it; 0 if nothing is known.

    Without a commit a date after today is not believed at all: who writes it would be the newest for ever.
    """
    latest, end = latest_date(today, committed), latest_date(today, None)
    believed = [known for known, limit in ((own, latest), (committed, end)) if known is not None and known <= limit]
    return min(believed, default=0.0)


def iso_date(date: float | None) -> str:
    """A date in Unix seconds as ISO 8601 in UTC, "" if there is none."""
    return datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if date else ""
