"""The ledger of a target: every accepted row is on main, open, held, declined, or else unexplained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from bot.evaluation.finding import counted
from bot.evaluation.row_key import model_folder
from bot.platforms.target import Target
from bot.publishing.decisions import Fate, Place, RowDecision, RowStatus, Waiting, status_of
from bot.publishing.entries import is_from, parsed
from bot.publishing.entry import digest_of
from bot.reporting.escape import brief
from bot.service.context import WatchContext
from bot.service.store.items import Mark, marks
from bot.service.store.memory import LEDGER, RECOUNT, REPOSITORY, KeptLedger, SeenRepository
from bot.service.store.state import WatchState
from bot.service.waits import COUNT_EVERY, COUNT_SHARE

LEDGER_PLACES: tuple[tuple[Fate, str], ...] = (
    ("main", "on main"),
    ("open", "open"),
    ("held", "held"),
    ("declined", "declined"),
)
LEDGER_ROWS_NAMED = 20  # unexplained and declined rows that are named


class OpenRequests(msgspec.Struct, frozen=True):
    """The open requests of the bot at a target: their number, and what merging all of them does to the rows on main."""

    count: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def text(self) -> str:
        """The same in words; "" if there is no open request."""
        rows = ((self.added, "to add"), (self.changed, "to change"), (self.removed, "to remove"))
        effect = ", ".join(f"{counted(count, 'row')} {what}" for count, what in rows if count)
        waits = f"{counted(self.count, 'request')} {'waits' if self.count == 1 else 'wait'} to be merged"
        return f"{waits}{f': {effect}' if effect else ''}" if self.count else ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accepted rows of one watch at one target: how many are at each place, and why the others are nowhere.

    `declined` are the keys of those that people declined. `name` is how people call the target. `waiting` counts the
    unexplained rows that the bot tries by itself. `leaving` says what becomes of rows that are not accepted any more.
    `requests` are those that wait for a merge, `moot` the keys of rows that one of them proposes as they are on main.
    `head` is the commit at main then, "" where there is no such branch. `own_sources` are the repositories of rows on
    main that nobody watches and no other row uses. `incomplete` counts the accepted rows that lack a task, `older`
    those that main has with other numbers. `notes` are sentences for people about single rows.
    """

    target: str
    counts: Mapping[Fate, int]
    unexplained: Mapping[str, str]
    declined: Sequence[str] = ()
    name: str = ""
    waiting: int = 0
    leaving: str = ""
    requests: OpenRequests = field(default_factory=OpenRequests)
    moot: Collection[str] = ()
    head: str = ""
    own_sources: Mapping[str, str] = field(default_factory=dict)
    incomplete: int = 0
    notes: Sequence[str] = ()
    older: int = 0

    @property
    def accepted(self) -> int:
        """The number of accepted rows."""
        return sum(self.counts.values()) + len(self.unexplained)

    @property
    def line(self) -> str:
        """The ledger in one line."""
        counts = ", ".join(f"{self.counts.get(place, 0)} {words}" for place, words in LEDGER_PLACES)
        line = f"{self.accepted} accepted: {counts}, {len(self.unexplained)} unexplained"
        older = f"{self.older} of them {'is' if self.older == 1 else 'are'} on main with other numbers"
        lacking = f"{self.incomplete} of them {'is' if self.incomplete == 1 else 'are'} incomplete"
        said = {older: self.older, lacking: self.incomplete, self.leaving: self.leaving}
        return "; ".join([line, *(text for text, is_so in said.items() if is_so)])

    @property
    def lines(self) -> list[str]:
        """The line, and each unexplained row with its reason, which rows with the same one share."""
        by_reason: dict[str, list[str]] = {}
        for key, why in sorted(self.unexplained.items()):
            by_reason.setdefault(why, []).append(key)
        alone = [f"unexplained {keys[0]}: {why}" for why, keys in by_reason.items() if len(keys) == 1]
        lines = [f"{self.name or self.target}: {self.line}", *_first(alone, "unexplained row")]
        for why, keys in by_reason.items():
            if len(keys) > 1:
                named = (f"  {line}" for line in _first(keys, "row"))
                lines += [f"  {len(keys):,} rows are unexplained: {why}", *named]
        return lines + _first(self.notes, "such row")

    @property
    def whole(self) -> list[str]:
        """The lines, the requests that wait to be merged, and each row that people declined."""
        waits = [f"  {self.requests.text}"] if self.requests.count else []
        own = [
            f"{key}: its files are of {brief(where, 160)}, which no watch and no other row uses"
            for key, where in self.own_sources.items()
        ]
        declined = [f"declined {key}" for key in self.declined]
        return [*self.lines, *waits, *_first(own, "such row"), *_first(declined, "declined row")]

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        counts: dict[str, int] = {place: self.counts.get(place, 0) for place, _ in LEDGER_PLACES}
        rows = {"unexplained": dict(self.unexplained), "declined_rows": list(self.declined)}
        requests = msgspec.to_builtins(self.requests)
        own = {"own_sources": dict(self.own_sources)}
        numbers = {"accepted": self.accepted, "incomplete": self.incomplete, **counts}
        return {"target": self.target, **numbers, **rows, "requests": requests, **own}


def _first(rows: Sequence[str], what: str) -> list[str]:
    """The first rows, and how many more there are."""
    more = [f"  and {counted(len(rows) - LEDGER_ROWS_NAMED, f'more {what}')}"] if len(rows) > LEDGER_ROWS_NAMED else []
    return [*(f"  {row}" for row in rows[:LEDGER_ROWS_NAMED]), *more]


def row_statuses(
    context: WatchContext,
    to: str,
    rows: Mapping[str, str],
    places: Mapping[str, Place],
    refused: Mapping[str, str] | None = None,
) -> dict[str, RowStatus]:
    """The status of rows at a target, by key: `rows` has their digests, `places` where a look found them there.

    `refused` are the reasons for those that the target cannot have.
    """
    state, plan = context.state, context.state.plans.at(to)
    waiting = {
        item.subject: Waiting(is_held=item.is_held, failure=item.reason or "") for item in state.items.at("row", to)
    }
    decided, is_plan_declined = state.decided(to), plan is not None and plan.is_declined
    return {
        key: status_of(
            digest,
            places.get(key),
            decided.get(key, ()),
            waiting.get(key),
            (refused or {}).get(key, ""),
            is_plan_declined=is_plan_declined,
        )
        for key, digest in rows.items()
    }


def make_ledger(
    context: WatchContext,
    to: str,
    accepted: Mapping[str, str],
    places: Mapping[str, Place],
    refused: Mapping[str, str],
) -> Ledger:
    """The ledger of a target: `accepted` are the digests of its rows, the rest as in `row_statuses`."""
    statuses = row_statuses(context, to, accepted, places, refused)
    known = {fate for fate, _ in LEDGER_PLACES}
    counts = Counter(status.fate for status in statuses.values() if status.fate in known)
    why = {key: status.reason for key, status in statuses.items() if status.fate not in known}
    declined = sorted(key for key, status in statuses.items() if status.fate == "declined")
    waiting = context.state.items.at("row", to)
    tried = len(why.keys() & {item.subject for item in waiting})
    leaving = sum(item.is_held and item.subject not in accepted for item in waiting)
    plan = context.state.plans.at(to)
    ends = ", of which the removal was declined" if plan and plan.is_declined else " would be removed by a plan"
    # People call a target by its address, and a folder that is written with dots only by its own name.
    is_dots = "://" not in to and not Path(to).name.strip(".")
    name = Path(context.targets_by_address[to][0].name).resolve().name if is_dots else to
    gone = f"{counted(leaving, 'other row')}{ends}" if leaving else ""
    incomplete = len(context.state.rows.incomplete() & accepted.keys())
    return Ledger(to, counts, why, declined, name, tried, gone, incomplete=incomplete)


def ledgers_due(state: WatchState) -> float | None:
    """When the ledgers of a watch are to be made again (Unix seconds); None if nothing happened since the last time."""
    return state.recall(RECOUNT)


def count_pause(state: WatchState, targets: Iterable[str]) -> float:
    """Seconds between two times that the ledgers of a watch are made: each time reads all accepted rows."""
    known = [one.took for to in targets if (one := state.recall(LEDGER, target=to))]
    return max(COUNT_EVERY, COUNT_SHARE * max(known, default=0.0))


def count_later(state: WatchState, targets: Collection[str], *, is_over: bool = False) -> None:
    """Have the ledgers of a watch made again once their pause is over, because something changed or failed.

    While a service is out of reach they wait for longer; `is_over` says that it is back.
    """
    if is_over or ledgers_due(state) is None:
        known = [state.recall(LEDGER, target=to) for to in targets]
        last = min((one.at if one else 0.0 for one in known), default=0.0)
        state.remember(RECOUNT, last + count_pause(state, targets))


def next_look(state: WatchState) -> float | None:
    """When a watch has something to do (Unix seconds): an item is due, or the ledgers are. None if nothing waits.

    Before the source was read once, nothing else can be done.
    """
    if state.commit is None and (source := state.items.get("source", "", "")) is not None:
        return source.due
    return min((due for due in (state.items.next_due(), ledgers_due(state)) if due is not None), default=None)


def note_ledgers(context: WatchContext, ledgers: Iterable[Ledger], took: float = 0.0) -> None:
    """Store the ledgers for the health check and the pages, which ask no service.

    `took` is how long it took to make all of them, in seconds.
    """
    for one in ledgers:
        known = KeptLedger(
            line=one.line,
            unexplained=len(one.unexplained),
            waiting=one.waiting,
            declined=list(one.declined[:LEDGER_ROWS_NAMED]),
            at=context.clock(),
            took=took,
            requests=one.requests.text,
            head=one.head,
        )
        context.state.remember(LEDGER, known, target=one.target)


# what people do at a target


def follow_repository(context: WatchContext, target: Target, to: str) -> bool:
    """Start again from nothing where a target's repository was deleted and made again; tell whether it was."""
    state, head = context.state, target.head()
    known, ledger = state.recall(REPOSITORY, target=to), state.recall(LEDGER, target=to)
    if ledger is not None and ledger.head != head:
        count_later(state, context.targets_by_address)
    if known is not None and known.head == head:
        return False
    seen = target.identity()
    is_another = known is not None and known.id not in {"", seen}  # "" before there was one
    with state.transaction():
        if is_another:
            target.forget()
            state.forget_target(to)
            rows = marks("row", sorted(state.rows.all_keys()), [to], "lost")
            context.mark([*rows, Mark("board", "", to)])
        state.remember(REPOSITORY, SeenRepository(seen, head), target=to)
    return is_another


def observe_requests(context: WatchContext, target: Target, to: str) -> None:
    """Mark the rows of open requests to which others pushed."""
    state, keys = context.state, set[str]()
    for mark in target.pushed_requests():
        if mark.leaderboard != context.leaderboard.id:
            continue
        request = target.read_state(mark, ()).request if mark.is_shared else None
        rows = [parsed(data) for data in request.files.values()] if request is not None else []
        found = {row.key for row in rows if row is not None} if mark.is_shared else {mark.key}
        keys |= found or state.rows.all_keys()  # a table does not say by its files which rows are proposed
    context.mark(marks("row", sorted(keys), [to]))


def observe_main(context: WatchContext, target: Target, to: str) -> None:
    """Mark the rows that changed on main since they were stored, and are not as the source has them."""
    state = context.state
    kept, head = state.boards.at(to), target.head()
    if kept is not None and kept.head not in {"", head}:
        entries = target.scan_entries().of(context.leaderboard.id)
        there = {entry.key: digest_of(entry) for entry in entries}
        ours = {entry.key for entry in entries if is_from(entry, context.source.name)}
        observe_rows(context, target, to, state.boards.rows(to), there, since=kept.head, ours=ours)


def observe_rows(
    context: WatchContext,
    target: Target,
    to: str,
    known: Mapping[str, str],
    there: Mapping[str, str],
    *,
    since: str,
    ours: Collection[str] = (),
) -> None:
    """Note the rows that somebody took from main, and mark those that are not there as the source has them.

    `known` are the digests of the rows on main at the commit `since`, and `there` of those that it has now: "" for one
    that cannot be read or has other cells. `ours` are those of them that say that they are of this source.
    """
    state, decided = context.state, context.state.decided(to)
    moved = {key for key in known.keys() | there.keys() if there.get(key) != known.get(key)}
    held = {item.subject for item in state.items.held(to) if item.kind == "row"}
    made, form = state.rows.digests([*moved, *held]), context.targets_by_address[to][1].form
    is_rewritten = cache(lambda: not target.contains(since))
    marked: set[str] = set()
    with state.transaction():
        for key in sorted(moved | held | decided.keys()):
            now, wanted, decisions = there.get(key), made.get(key), decided.get(key, ())
            is_removed = any(one.what == "removed" for one in decisions)
            # What was taken is there again, so if it goes once more, a person is asked once more. Where a rewritten
            # history lost the merge of a request, it lost the removal of its row, too: a person is asked.
            if decisions and (now is not None or (is_removed and form == "pull-request" and is_rewritten())):
                decisions = tuple(one for one in decisions if one.what == "declined")
                state.decide(to, key, decisions)
                marked |= {key} if is_removed else set()
            if key in held and now is not None and now == wanted:
                marked.add(key)  # a plan holds it, and somebody made the change by hand
            if key not in moved or (wanted and now == wanted):
                continue  # it was merged as it was proposed
            if not wanted:
                # The source does not make it: it is to be removed, or just gone; a row of another source is not ours.
                marked |= {key} if key in made or key in ours else set()
            elif now is not None or known[key] != wanted:
                marked.add(key)  # somebody edited it, or took a row that was out of date
            elif not any(one.digest == wanted for one in decisions):
                what: Literal["lost", "taken"] = "lost" if is_rewritten() else "taken"
                note = RowDecision(wanted, what, where=to, when=context.clock())
                state.decide(to, key, [*(one for one in decisions if one.what == "declined"), note])
                marked.add(key)
        marked |= _beside(state, moved, held, there)
        if form == "pull-request" and since and target.lost(since):  # open requests may bring what main lost
            target.note_lost()
            marked |= _proposed_rows(state, there) - held - state.decided(to).keys()
            marked |= target.read_keys(context.leaderboard.id) & state.rows.all_keys()
        context.mark(marks("row", sorted(marked), [to]))


def _proposed_rows(state: WatchState, there: Mapping[str, str]) -> set[str]:
    """The rows that are not on main as the source has them."""
    accepted = state.rows.accepted()
    return {key for key in state.rows.all_keys() if there.get(key, "") != accepted.get(key, "")}


def _beside(state: WatchState, moved: Collection[str], held: Collection[str], there: Collection[str]) -> set[str]:
    """The rows that main lacks of models of which a row moved: what their requests say of that one may be old."""
    models = {model_folder(key) for key in moved}
    waiting = state.rows.accepted().keys() - {*there, *moved, *held} if moved else set()
    return {key for key in waiting if model_folder(key) in models}


def let_go(context: WatchContext, to: str, keys: Iterable[str]) -> None:
    """Note that people do not want these rows as they are now."""
    state = context.state
    with state.transaction():
        decided = state.decided(to)
        for key, digest in state.rows.digests(keys).items():
            kept = [one for one in decided.get(key, ()) if one.what == "declined"]
            note = [RowDecision(digest, "removed", where=to, when=context.clock())] if digest else []
            state.decide(to, key, [*kept, *note])
