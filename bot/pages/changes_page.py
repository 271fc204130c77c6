"""The page of the changes of a board, and its Atom feed."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import quote
from uuid import UUID

from bot.evaluation.finding import first_few
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.drawing import fitting, over_time
from bot.pages.environment import templates
from bot.publishing.addresses import target_url
from bot.publishing.changes import BoardChange, request_of

NUMBERED = re.compile(r" \(#[0-9]+\)$")
FIRST_PLACES, ROWS_OF_A_PLACE = 10, 3  # places that people look at first, and the rows of them that a sentence names
LEAST_OF_A_BATCH = 4  # changes of one kind in one commit that are one line until it is opened
CHANGES_SHOWN, CHANGES_FED = 100, 50  # changes on the page, and in the feed; the file has all


def changes_page(content: PageContent) -> bytes:
    """The page: the average over time, and what came, changed and went."""
    changes = content.changes
    values = [(c.model, c.date, c.after) for c in reversed(changes) if c.after is not None and len(c.date) >= 10]
    dated = sorted(values, key=lambda value: (value[1], -value[2]))
    axis = fitting("average (points)", [value for _, _, value in dated])
    counts = Counter((_week_of(change), change.kind) for change in changes)
    moves = _moves(content)
    title = "The average of each row by the day of its change, and the best up to each day."
    return content.page(
        "changes.html",
        figure_=over_time(title, dated, axis) if len({day[:10] for _, day, _ in dated}) > 1 else None,
        weeks=[_week(week, list(some), counts) for week, some in groupby(moves, lambda move: _week_of(move.change))],
        lately=_lately(changes) if changes else "",
        leader=moves[0].leader if moves else "",
        first=_among_first(moves, changes),
        more=max(0, len(changes) - CHANGES_SHOWN),
    )


@dataclass(frozen=True, slots=True)
class Move:
    """A change with the page of its row, "" if the row is gone, and the row's places by average before and after it.

    A place counts from 1 among the rows of that moment, and is None for a row without average. `leader` is the model at
    the first place after the change, "" if there was none. `link` is the address of the request or the
    commit that made it, and `linked` says which; the reason leaves the request's number to it.
    """

    change: BoardChange
    page: str
    before: int | None
    after: int | None
    leader: str
    link: str
    linked: str
    reason: str


def _among_first(moves: Sequence[Move], changes: Sequence[BoardChange]) -> str:
    """What the seven days up to the newest change did to the first ten, in a sentence; "" where nothing is known."""
    begin = _begin_of(changes)
    lately = [move for move in moves if move.change.date[:10] >= begin]
    came = {move.change.key: move for move in reversed(lately) if move.after and move.after <= FIRST_PLACES}
    left = {
        move.change.key: move.change.model
        for move in lately
        if move.before and move.before <= FIRST_PLACES and move.change.key not in came
    }
    new = sorted(came.values(), key=lambda move: move.after or 0)
    parts = [f"{move.change.model or '(no name)'} at {move.after}" for move in new]
    said = [f"new in the first ten: {first_few(parts, ROWS_OF_A_PLACE)}"] if parts else []
    if len(came) >= FIRST_PLACES and not left:
        said = ["the first ten are all new"]
    said += [f"no longer there: {first_few(list(left.values()), ROWS_OF_A_PLACE)}"] if left else []
    text = "; ".join(said) or ("the first ten did not change" if lately else "")
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _moves(content: PageContent) -> list[Move]:
    """The newest changes with places: the board of today, from which one commit after the other is taken back."""
    averages = {row.entry.key: row.entry.average for row in content.board.rows if row.entry.average is not None}
    models = {row.entry.key: row.entry.model.id for row in content.board.rows}
    ordered, found = sorted((-average, key) for key, average in averages.items()), list[Move]()
    for _, group in groupby(content.changes, key=lambda change: change.commit or id(change)):
        if len(found) >= CHANGES_SHOWN:
            break
        together = list(group)
        leader = models.get(ordered[0][1], "") if ordered else ""
        after = [_place(ordered, averages.get(change.key)) for change in together]
        for change in together:
            models.setdefault(change.key, change.model)
            if (now := averages.pop(change.key, None)) is not None:
                del ordered[bisect_left(ordered, (-now, change.key))]
            if change.before is not None:
                averages[change.key] = change.before
                insort(ordered, (-change.before, change.key))
        before = [_place(ordered, change.before) for change in together]
        found += (_move(content, *one, leader) for one in zip(together, before, after, strict=True))
    return found[:CHANGES_SHOWN]


def _move(content: PageContent, change: BoardChange, before: int | None, after: int | None, leader: str) -> Move:
    place = target_url(content.target)
    commit = f"{place}/commit/{quote(change.commit)}" if place and change.commit else ""
    request = request_of(change, content.target)
    linked = f"request {request.rpartition('/')[2]}" if request else f"commit {change.commit[:7]}"
    reason = NUMBERED.sub("", change.reason) if request else change.reason
    return Move(change, _page_of(content, change), before, after, leader, request or commit, linked, reason)


def _place(ordered: Sequence[tuple[float, str]], average: float | None) -> int | None:
    """The place of an average among those of a board; equal averages share a place."""
    return None if average is None else bisect_left(ordered, (-average, "")) + 1


def _week_of(change: BoardChange) -> str:
    """The Monday of the week of a change, "" if its date is unknown."""
    try:
        day = date.fromisoformat(change.date[:10])
    except ValueError:
        return ""
    return (day - timedelta(days=day.weekday())).isoformat()


@dataclass(frozen=True, slots=True)
class Week:
    """The changes of a week: its title, how many it had, those that are listed, and whether older ones of it are not.

    `parts` are the listed ones in order: each a batch, which is closed at first, or changes for one table.
    """

    title: str
    sums: str
    moves: Sequence[Move]
    is_cut: bool
    parts: Sequence[tuple[bool, Sequence[Move]]]


def _week(monday: str, moves: list[Move], counts: Mapping[tuple[str, Any], int]) -> Week:
    had = {kind: count for (week, kind), count in counts.items() if week == monday}
    title = f"Week of {monday}" if monday else "Unknown date"
    return Week(title, _sums(had), moves, len(moves) < sum(had.values()), list(_parts(moves)))


def _parts(moves: Sequence[Move]) -> Iterator[tuple[bool, Sequence[Move]]]:
    """The batches of some changes, whether each is one, and what lies between them."""
    alone: list[Move] = []
    for (commit, _), group in groupby(moves, lambda move: (move.change.commit, move.change.kind)):
        together = list(group)
        if not commit or len(together) < LEAST_OF_A_BATCH:
            alone += together
            continue
        if alone:
            yield False, alone
        alone = []
        yield True, sorted(together, key=lambda move: move.after or move.before or len(moves))
    if alone:
        yield False, alone


def _lately(changes: Sequence[BoardChange]) -> tuple[str, str]:
    """The seven days up to the newest change, with their number of changes; all changes where its date is unknown."""
    newest, begin = changes[0].date[:10], _begin_of(changes)
    counts = Counter(change.kind for change in changes if change.date[:10] >= begin)
    return f"In the seven days to {newest}" if begin else "Up to now", _sums(counts)


def _begin_of(changes: Sequence[BoardChange]) -> str:
    """The first of the seven days up to the newest change, "" where its date is unknown."""
    try:
        return (date.fromisoformat(changes[0].date[:10]) - timedelta(days=6)).isoformat() if changes else ""
    except ValueError:
        return ""


def _sums(counts: Mapping[Any, int]) -> str:
    kinds = ("added", "changed", "removed")
    return ", ".join(f"{counts[kind]:,} {kind}" for kind in kinds if counts.get(kind))


def _page_of(content: PageContent, change: BoardChange) -> str:
    """The page of the row that changed, "" if it is gone."""
    name = content.names.get(change.key)
    return row_page(name) if name else ""


def atom_feed(content: PageContent) -> bytes:
    """The newest changes as a feed (RFC 4287); its links are relative, for nobody knows where the site will stand."""
    fed = [
        (one, _page_of(content, one), _uuid(f"{one.key} {one.kind} {one.date} {one.after!r} {one.commit}"))
        for one in content.changes[:CHANGES_FED]
    ]
    declared = content.board.leaderboard
    updated = max((change.date for change, _, _ in fed), default="")
    made = (
        templates()
        .get_template("changes.atom")
        .render(title=declared.title, urn=_uuid(declared.id), updated=_moment(updated), changes=fed, moment=_moment)
    )
    return made.encode()


def _moment(date: str) -> str:
    """A date and time in the form of RFC 3339; the Unix epoch for an unknown one."""
    if len(date) >= 19:
        return f"{date[:19].rstrip('Z')}Z"
    return f"{date[:10]}T00:00:00Z" if len(date) >= 10 else "1970-01-01T00:00:00Z"


def _uuid(text: str) -> str:
    return f"urn:uuid:{UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=5)}"
