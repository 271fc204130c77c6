"""The page of the changes of a board, and its Atom feed."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from heapq import nlargest, nsmallest
from itertools import groupby, takewhile
from sys import maxsize
from typing import Any
from urllib.parse import quote
from uuid import UUID

from msgspec.structs import replace

from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import owner_and_name
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.drawing import fitting, over_time
from bot.pages.environment import templates
from bot.publishing.addresses import target_url
from bot.publishing.board import HAS_MORE, LACKS
from bot.publishing.changes import MEASURED, BoardChange, request_of

NUMBERED = re.compile(r" \(#[0-9]+\)$")
FIRST_PLACES, ROWS_OF_A_PLACE = 10, 3  # places that people look at first, and the rows that a sentence names
LEAST_OF_A_BATCH = 4  # changes of one kind at one moment that are one line until it is opened
CHANGES_SHOWN, CHANGES_FED = 100, 50  # changes on the page, and in the feed; the file has all
BATCH_SHOWN = 20  # changes of a batch on the page
MOST_MOVED = 5  # rows that a sentence names
DAY = len("2026-11-30")


def changes_page(content: PageContent) -> bytes:
    """The page: the average over time, and what came, changed and went."""
    changes = _compared(content)
    values = [(c.model, c.date, c.after) for c in reversed(changes) if c.after is not None and len(c.date) >= 10]
    dated = sorted(values, key=lambda value: (value[1], -value[2]))
    axis = fitting("average (points)", [value for _, _, value in dated])
    counts = Counter((_week_of(change), change.kind) for change in changes)
    parts = list(_parts(content))
    title = "The average of each row by the day of its change, and the best up to each day."
    return content.page(
        "changes.html",
        figure_=over_time(title, dated, axis) if len({day[:10] for _, day, _ in dated}) > 1 else None,
        weeks=[_week(week, list(some), counts) for week, some in groupby(parts, lambda part: part.week)],
        lately=_lately(changes) if changes else "",
        lead=_among_first(content),
        moved=_moved_most(content),
        named=ROWS_OF_A_PLACE,
        has_reasons=any(move.reason or move.change.details or move.link for part in parts for move in part.moves),
        more=max(0, len(changes) - sum(part.count for part in parts)),
    )


@dataclass(frozen=True, slots=True)
class Move:
    """A change with the page of its row, "" if the row is gone, and the row's places by average before and after it.

    A place counts from 1 among the rows of that moment, and is None for a row without average. `leader` is the model at
    the first place after the change, "" if there was none. `link` is the address of the request or the
    commit that made it, and `linked` says which; the reason is "" where the page or the line itself says it.
    """

    change: BoardChange
    page: str
    before: int | None
    after: int | None
    leader: str
    link: str
    linked: str
    reason: str

    @property
    def words(self) -> str:
        """The change in a few words, for a sentence about several."""
        change, model = self.change, _short(self.change.model)
        if change.kind == "changed" and change.before is not None and change.after is not None:
            return f"{model} {half_up(change.before, 2)} → {half_up(change.after, 2)}"
        place = f" at place {self.after}" if self.after else f" from place {self.before}" if self.before else ""
        return f"{model}{place}"


@dataclass(frozen=True, slots=True)
class Listing:
    """Changes for one table: a batch, which is closed at first and lists its largest ones, or changes one by one.

    `count` counts those of a batch that are not listed, too.
    """

    moves: Sequence[Move]
    count: int
    is_batch: bool = False

    @property
    def week(self) -> str:
        return _week_of(self.moves[0].change)


def _compared(content: PageContent) -> list[BoardChange]:
    """The changes; of rows that have no rank because their numbers contradict each other, without the averages."""
    ranked_once = {LACKS, HAS_MORE}
    faulty = {
        row.entry.key for row in content.board.rows if row.fault and row.entry.warnings[0].rule not in ranked_once
    }
    return [replace(one, before=None, after=None) if one.key in faulty else one for one in content.changes]


Standings = dict[str, tuple[float, str]]  # the average and the model of each row with one, by its key


def _standings(content: PageContent) -> Standings:
    """The board of today."""
    return {
        row.entry.key: (row.entry.average, row.entry.model.id)
        for row in content.board.rows
        if row.entry.average is not None
    }


def _take_back(there: Standings, change: BoardChange) -> None:
    """Make the board of a change that of the moment before it."""
    there.pop(change.key, None)
    if change.before is not None:
        there[change.key] = (change.before, change.model)


def _first_keys(there: Standings) -> list[str]:
    return nsmallest(FIRST_PLACES, there, key=lambda key: (-there[key][0], key))


@dataclass(frozen=True, slots=True)
class Mention:
    """A row in a sentence: its model, its page, "" if it is gone, and what is said of it."""

    model: str
    page: str
    note: str = ""

    @property
    def name(self) -> str:
        """The name without the organization."""
        return _short(self.model)


@dataclass(frozen=True, slots=True)
class Lead:
    """Who is first, who was before, None if the board was empty, and the rows that came into the first ten and left."""

    first: Mention
    before: Mention | None
    came: Sequence[Mention]
    left: Sequence[Mention]
    is_as_before: bool
    is_unmoved: bool


def _among_first(content: PageContent) -> Lead | None:
    """Who is first, and what the seven days to the newest change did to the first ten; None where nothing is known."""
    begin, now, there = _begin_of(content.changes), _standings(content), _standings(content)
    for change in takewhile(lambda one: one.date[:10] >= begin, _compared(content)):
        _take_back(there, change)
    if not now:
        return None
    first, before = _first_keys(now), _first_keys(there)

    def mention(key: str, note: str = "") -> Mention:
        return Mention((now.get(key) or there[key])[1], _page_of(content, key), note)

    return Lead(
        mention(first[0]),
        mention(before[0]) if before else None,
        [mention(key, f" at {place}") for place, key in enumerate(first, 1) if before and key not in before],
        [
            mention(key, "" if key in now else " (incomplete)" if key in content.names else " (removed)")
            for key in before
            if key not in first
        ],
        is_as_before=first[:1] == before[:1],
        is_unmoved=first == before,
    )


def _moved_most(content: PageContent) -> list[Mention]:
    """The rows whose averages moved most from the begin of those seven days to their end."""
    begin, moves = _begin_of(content.changes), dict[str, BoardChange]()
    for one in takewhile(lambda change: change.date[:10] >= begin, _compared(content)):
        if one.before is not None and one.after is not None:
            moves[one.key] = replace(moves.get(one.key, one), before=one.before)
    sizes = [
        (abs(one.after - one.before), one.model, one.key, f" {half_up(one.before, 2)} → {half_up(one.after, 2)}")
        for one in moves.values()
        if one.before is not None and one.after is not None and one.after != one.before
    ]
    return [Mention(model, _page_of(content, key), note) for _, model, key, note in nlargest(MOST_MOVED, sizes)]


def _short(model: str) -> str:
    return owner_and_name(model)[1] or "(no name)"


def _parts(content: PageContent) -> Iterator[Listing]:
    """The newest changes: the board of today, from which one moment after the other is taken back."""
    left, alone = CHANGES_SHOWN, list[Move]()
    for moves in _moments(content):
        for _, group in groupby(sorted(moves, key=_kind), _kind):
            together = list(group)
            is_batch = len(together) >= LEAST_OF_A_BATCH
            if alone and (is_batch or _week_of(alone[0].change) != _week_of(together[0].change)):
                yield Listing(alone, len(alone))
                alone = []
            if is_batch:
                yield Listing(nlargest(BATCH_SHOWN, together, key=_weight), len(together), is_batch=True)
                left -= min(BATCH_SHOWN, len(together))
            else:
                alone += together[:left]
                left -= len(together)
            if left <= 0:
                break
        if left <= 0:
            break
    if alone:
        yield Listing(alone, len(alone))


def _kind(move: Move) -> str:
    return move.change.kind


def _weight(move: Move) -> tuple[float, int]:
    """What puts a change of a batch before others: the size of its move, else its place."""
    change = move.change
    size = abs(change.after - change.before) if change.before is not None and change.after is not None else 0.0
    return size, -(move.after or move.before or maxsize)


def _moments(content: PageContent) -> Iterator[list[Move]]:
    """The changes of each commit, or of each moment where no commit is known, with their places."""
    there = _standings(content)
    ordered = sorted((-average, key) for key, (average, _) in there.items())
    for _, group in groupby(_compared(content), key=_moment_of):
        together = list(group)
        leader = there[ordered[0][1]][1] if ordered else ""
        after = [_place(ordered, there[one.key][0] if one.key in there else None) for one in together]
        for change in together:
            if change.key in there:
                del ordered[bisect_left(ordered, (-there[change.key][0], change.key))]
            _take_back(there, change)
            if change.before is not None:
                insort(ordered, (-change.before, change.key))
        before = [_place(ordered, change.before) for change in together]
        yield [_move(content, *one, leader) for one in zip(together, before, after, strict=True)]


def _moment_of(change: BoardChange) -> object:
    return change.commit or (change.date if len(change.date) > DAY else id(change))


def _move(content: PageContent, change: BoardChange, before: int | None, after: int | None, leader: str) -> Move:
    place = target_url(content.target)
    commit = f"{place}/commit/{quote(change.commit)}" if place and change.commit else ""
    request = request_of(change, content.target)
    linked = f"request {request.rpartition('/')[2]}" if request else f"commit {change.commit[:7]}"
    page, reason = _page_of(content, change.key), NUMBERED.sub("", change.reason) if request else change.reason
    # The bot's own titles, whose row and average stand beside them, and GitHub's of merges.
    ours = (
        rf"(?:Add|Update|Remove) [0-9,]+ rows? of \S+|(?:Add|Update) {re.escape(change.model)} \([^()]*\): [0-9.]+"
        rf"|Remove {re.escape(change.key)}|Merge pull request #[0-9]+ from \S+"
    )
    if re.fullmatch(ours, reason) or (page and reason.startswith(MEASURED)):
        reason = ""
    return Move(change, page, before, after, leader, request or commit, linked, reason)


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
    """The changes of a week: its title, how many it had, its parts, and how many are in them if not all."""

    title: str
    sums: str
    leader: str
    parts: Sequence[Listing]
    listed: int | None


def _week(monday: str, parts: list[Listing], counts: Mapping[tuple[str, Any], int]) -> Week:
    had = {kind: count for (week, kind), count in counts.items() if week == monday}
    title, listed = f"Week of {monday}" if monday else "Unknown date", sum(part.count for part in parts)
    return Week(
        title, _sums(had), _short(parts[0].moves[0].leader), parts, listed if listed < sum(had.values()) else None
    )


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


def _page_of(content: PageContent, key: str) -> str:
    """The page of a row, "" if it is gone."""
    name = content.names.get(key)
    return row_page(name) if name else ""


def atom_feed(content: PageContent) -> bytes:
    """The newest changes as a feed (RFC 4287); its links are relative, for nobody knows where the site will stand."""
    fed = [
        (one, _page_of(content, one.key), _uuid(f"{one.key} {one.kind} {one.date} {one.after!r} {one.commit}"))
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
