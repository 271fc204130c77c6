"""The page of the changes of a board, and its Atom feed."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from uuid import UUID

from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.drawing import fitting, over_time
from bot.pages.environment import templates
from bot.publishing.changes import BoardChange

SHOWN, FED = 500, 50  # changes on the page, and in the feed; the file has all


def changes_page(content: PageContent) -> bytes:
    """The page: the average over time, and what came, changed and went."""
    changes = content.changes
    values = [(c.model, c.date, c.after) for c in reversed(changes) if c.after is not None and len(c.date) >= 10]
    dated = sorted(values, key=lambda value: value[1])
    axis = fitting("average", [value for _, _, value in dated])
    drawn = over_time("Average of the rows over time, and the best up to each date", dated, axis)
    return content.page(
        "changes.html",
        "changes.html",
        figure_=drawn if dated else None,
        weeks=[_week(content, week, list(some)) for week, some in groupby(changes[:SHOWN], key=_week_of)],
        more=max(0, len(changes) - SHOWN),
        from_history=content.history is not None,
        is_partial=content.is_partial,
    )


@dataclass(frozen=True, slots=True)
class Week:
    """The changes of a calendar week, with the page of each row that is still there."""

    title: str
    sums: str
    changes: list[tuple[BoardChange, str]]


def _week_of(change: BoardChange) -> str:
    """The Monday of the week of a change, "" if its date is unknown."""
    try:
        day = date.fromisoformat(change.date[:10])
    except ValueError:
        return ""
    return (day - timedelta(days=day.weekday())).isoformat()


def _week(content: PageContent, monday: str, changes: list[BoardChange]) -> Week:
    counts = Counter(change.kind for change in changes)
    sums = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "changed", "removed") if counts[kind])
    title = f"Week of {monday}" if monday else "Unknown date"
    return Week(title, sums, [(change, _page_of(content, change)) for change in changes])


def _page_of(content: PageContent, change: BoardChange) -> str:
    """The page of the row that changed, "" if it is gone."""
    name = content.names.get(change.key)
    return row_page(name) if name else ""


def atom_feed(content: PageContent) -> bytes:
    """The newest changes as a feed (RFC 4287); its links are relative, for nobody knows where the site will stand."""
    fed = [(change, _page_of(content, change), _urn(change)) for change in content.changes[:FED]]
    declared = content.board.leaderboard
    updated = max((change.date for change, _, _ in fed), default="")
    made = (
        templates()
        .get_template("changes.atom")
        .render(title=declared.title, urn=_uuid(declared.id), updated=_moment(updated), changes=fed, moment=_moment)
    )
    return made.encode()


def _moment(date: str) -> str:
    """A date and time as RFC 3339 asks for it; an unknown one is the beginning of the count."""
    return (
        f"{date[:19].rstrip('Z')}Z"
        if len(date) >= 19
        else f"{date[:10]}T00:00:00Z"
        if len(date) >= 10
        else "1970-01-01T00:00:00Z"
    )


def _urn(change: BoardChange) -> str:
    return _uuid(f"{change.key} {change.kind} {change.date} {change.after!r} {change.commit}")


def _uuid(text: str) -> str:
    return f"urn:uuid:{UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=5)}"
