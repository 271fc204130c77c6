"""Rows that are files of their own, or comments: each in its own request, many in a shared one, or as commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import ClassVar
from urllib.parse import quote, unquote

from bot.evaluation.row_key import key_start
from bot.pages.addresses import usual_page
from bot.publishing.board import proposed_rank
from bot.publishing.decisions import Place, RowDecision
from bot.publishing.entries import DesiredRow, EntryLayout, is_from, parsed
from bot.publishing.entry import FOLDER, Entry, digest_of, entry_path
from bot.publishing.layout import Layout
from bot.publishing.publication import CurrentState, Marker, Request, migration_mark, rolling_mark, row_mark
from bot.publishing.row_requests import (
    RowRequest,
    SeenRow,
    SharedRequests,
    Shares,
    SharingRules,
    place_in,
    see_row,
    share_out,
    standing,
)
from bot.service.context import target_link
from bot.service.publish.gate import Look
from bot.service.publish.ledger import OpenRequests, observe_main
from bot.service.publish.made_rows import MadeRow, RowMaker
from bot.service.publish.publisher import FoundRow, PlacedRows, Proposal, TargetRows, admission
from bot.service.store.items import Item, RowJob, marks
from bot.service.store.sources import RowLine
from bot.service.waits import FIRST_RETRY

MOST_BESIDE = 20  # other rows of a model that are looked for on main
FEW_COMMENTS = 3  # rows in comments of which the files on main are asked for one by one


def _open_requests(
    shared: Sequence[Request], alone: AbstractSet[str], merged: AbstractSet[str], accepted: AbstractSet[str]
) -> OpenRequests:
    """What the open requests, the shared ones and those of single keys, do to the rows on main.

    A row that is not accepted any more has a request of its own to be removed; where it is not on main, its request is
    from before, and waits with a plan.
    """
    paths = {path: data for one in shared for path, data in one.files.items() if path.startswith(f"{FOLDER}/")}
    there, removed = set(map(entry_path, merged)), {path for path, data in paths.items() if data is None}
    leaving = (alone - accepted) & merged
    written = (paths.keys() | set(map(entry_path, alone - leaving))) - removed
    changed = len(written & there)
    return OpenRequests(len(shared) + len(alone), len(written) - changed, changed, len(removed) + len(leaving))


@dataclass
class EntryRows(TargetRows[SeenRow]):
    """Rows of which each is a file or a comment of the bot.

    A row at the target that came from the watch's source, and of which the source has nothing any more, was withdrawn;
    rows from elsewhere compete like any other submission. `shared` are the requests that propose many rows, `ranks`
    those that proposed rows would have, by key.
    """

    layout: ClassVar[type[Layout]] = EntryLayout
    shared: SharedRequests = field(default_factory=SharedRequests)
    ranks: dict[str, str] = field(default_factory=dict)

    # looking

    def observe(self) -> None:
        """Mark the rows that people changed or removed on main."""
        if self.settings.form != "comment":
            observe_main(self.context, self.target, self.settings.to)

    def look(self, items: Sequence[Item]) -> list[Look[SeenRow]]:
        """The present and the intended state of rows, and of the requests that many rows share."""
        self.shared = self._read_shared(tuple(entry_path(item.subject) for item in items))
        maker = RowMaker(self.context, self.report, self._standing, self.why, self.shared.requests)
        made = [self._with_own_closed(one) for one in maker.make(items)]
        decided = {} if self.settings.form == "comment" else self.context.state.decided(self.settings.to)
        beside = self._beside(made)
        return [self._look(one, decided.get(one.key, ()), beside.get(one.key, ())) for one in made]

    def _look(self, made: MadeRow, decided: Sequence[RowDecision], beside: Sequence[Entry]) -> Look[SeenRow]:
        row = DesiredRow(
            self._mark(made.key).leaderboard,
            made.key,
            self.context.source.name,
            made.entry,
            made.before,
            made.disputed,
            self.target.name,
            [*made.left, *self.context.notes_at(self.settings.to)],
            beside,
            reason=made.reason if made.entry is None else "",
            rank=self._rank,
        )
        seen = see_row(row, made.state, self.shared, made.reason, decided=decided, contains=self.target.contains)
        return Look(seen.planned, (made.item,), made.entry, seen)

    def _with_own_closed(self, made: MadeRow) -> MadeRow:
        row = row_mark(entry_path(made.key), digest_of(made.entry) if made.entry is not None else "")
        return replace(made, state=self.with_closed(self.target, made.state, lambda: [row]))

    def _not_on_main(self) -> list[str]:
        """The marks of the accepted rows that main lacks or has otherwise."""
        merged = self._merged()
        rows = self.context.state.rows.accepted().items()
        return [row_mark(entry_path(key), digest) for key, digest in rows if merged.get(key) != digest]

    def _beside(self, made: Sequence[MadeRow]) -> dict[str, Sequence[Entry]]:
        """The other rows on main of the models of new rows, by the key of the new one; only those of this source."""
        if self.settings.form == "comment":
            return {}
        new = [one.key for one in made if one.entry and parsed(one.state.files.get(entry_path(one.key))) is None]
        keys = {key: self.context.state.rows.beside(key)[:MOST_BESIDE] for key in new}
        files = self.target.read_files({entry_path(one) for found in keys.values() for one in found})
        rows = {key: [parsed(files.get(entry_path(one))) for one in found] for key, found in keys.items()}
        return {key: [one for one in found if one is not None] for key, found in rows.items()}

    def _read_shared(self, paths: tuple[str, ...]) -> SharedRequests:
        if self.settings.form == "comment":
            if len(paths) > FEW_COMMENTS:
                self.target.scan_entries()  # the rows on main, in one listing
            return SharedRequests()
        found = (self.target.read_state(mark(self._board), paths) for mark in (rolling_mark, migration_mark))
        return SharedRequests(*(self.with_closed(self.target, state, self._not_on_main) for state in found))

    def _standing(self, key: str) -> tuple[Entry | None, CurrentState]:
        """A row at the target, merged or proposed, and all that is there for its own mark."""
        path = entry_path(key)
        state = self.target.read_state(self._mark(key), (path,))
        return standing(path, state, self.shared.files, self.settings.form), state

    @property
    def _board(self) -> str:
        return self.context.leaderboard.id

    def _mark(self, key: str) -> Marker:
        """The mark of a row; one from before the declaration had this id has that of its time."""
        is_of_today = key.startswith(key_start(self._board))
        return Marker("entry", key, self._board if is_of_today else unquote(key.partition("/")[0]))

    def entries(self) -> list[Entry]:
        """The merged entries."""
        return self.target.scan_entries().of(self._board)

    def size(self) -> int:
        """How many rows there are, merged or proposed."""
        proposed = self._read_shared(()).files
        merged = {entry_path(entry.key) for entry in self.entries()}
        return len({*merged, *map(entry_path, self.target.read_keys(self._board)), *proposed})

    def places(self, accepted: Mapping[str, str]) -> PlacedRows:
        """Where these rows are: on main with this digest, proposed, or declined by a person."""
        if self.settings.form == "comment":
            return PlacedRows(dict.fromkeys(accepted.keys() & self.target.read_keys(self._board), "main"))
        merged = self._merged()
        found: dict[str, Place] = {key: "main" for key, digest in accepted.items() if merged.get(key) == digest}
        shared, alone = self._read_shared(()), self.target.read_keys(self._board)
        proposed = shared.files
        requests = _open_requests(shared.requests, alone, set(merged), accepted.keys())
        moot = {key for key in found if key in alone or entry_path(key) in proposed}
        moot |= set(list(found)[:1]) if any(not one.files for one in shared.requests) else set()
        left = accepted.keys() - found.keys()
        found |= {key: "open" for key in left if key in alone or entry_path(key) in proposed}
        known = self.context.state.decided(self.settings.to)
        for key in left - found.keys() - known.keys():
            own = self.target.read_state(self._mark(key), (entry_path(key),))
            if place_in(entry_path(key), accepted[key], own, shared) == "declined":
                found[key] = "declined"
        older = len(merged.keys() & {key for key in accepted if found.get(key) != "main"})
        leaving = alone | {key for key in merged if entry_path(key) in proposed}
        notes = self._staying(merged.keys() - accepted.keys() - leaving)
        return PlacedRows(found, requests=requests, moot=moot, notes=notes, older=older)

    def _staying(self, others: AbstractSet[str]) -> Sequence[str]:
        """Sentences about rows on main that are not accepted now, and that nothing proposes to remove."""
        state = self.context.state
        waiting = {item.subject for item in state.items.at("row", self.settings.to)} if others else set[str]()
        made = state.rows.digests(sorted(others - waiting)) if others else {}
        return [f"{key}: stays on main, although its files make no row now" for key, one in made.items() if not one]

    def find(self, rows: Mapping[str, str]) -> dict[str, FoundRow]:
        """Where a few rows are, each with the request that proposes it and the links to its file and page."""
        name, link = self.target.name, target_link(self.settings)
        if self.settings.form == "comment":
            return {key: FoundRow(place, None, name, link) for key, place in self.places(rows).places.items()}
        shared, found = self._read_shared(tuple(map(entry_path, rows))), {}
        for key, digest in rows.items():
            path = entry_path(key)
            state = self.target.read_state(self._mark(key), (path,))
            request = state.request or next((one for one in shared.requests if path in one.files), None)
            page = self.context.page_link("page", f"board/{self._board_name}/{usual_page(key)}")
            link = target_link(self.settings, path) + (f" ({page})" if page else "")
            found[key] = FoundRow(place_in(path, digest, state, shared), request, name, link)
        return found

    @property
    def _board_name(self) -> str:
        """The name of the board in addresses: that of the watch for the first board, else with its number."""
        first, name = self.context.first_board, self.context.name
        number = [one for _, one in self.context.targets].index(self.settings) + 1
        return quote(name if first and first[1] == self.settings else f"{name}@{number}", safe="@")

    def _merged(self) -> Mapping[str, str]:
        """The digests of the rows on main, by key."""
        state, to = self.context.state, self.settings.to
        kept = state.boards.at(to)
        if kept is not None and kept.head == self.target.head():
            return state.boards.rows(to)
        return {entry.key: digest_of(entry) for entry in self.entries()}

    # after the state was lost

    def restore(self, items: Sequence[Item]) -> None:
        """Mark the rows of the bot at the target that the source has no longer.

        While a file could not be read, nobody knows which row it makes.
        """
        context, state = self.context, self.context.state
        if state.items.count("file"):
            for item in items:
                state.items.postpone(item, context.clock() + FIRST_RETRY)
            return
        gone = self._keys() - state.rows.all_keys()
        with state.transaction():
            state.rows.keep(dict.fromkeys(gone, RowLine("")), {})
            context.mark(marks("row", sorted(gone), [self.settings.to]))
            context.finish(items)

    def _keys(self) -> set[str]:
        """The keys of this source's rows at the target, merged or proposed."""
        keys = self.target.read_keys(self._board)
        if self.settings.form == "comment":
            return keys
        proposed = [parsed(data) for one in self._read_shared(()).requests for data in one.files.values()]
        rows = [row for row in [*proposed, *self.target.scan_entries().entries] if row is not None]
        board, source = self._board, self.context.source.name
        return keys | {row.key for row in rows if row.leaderboard.id == board and is_from(row, source)}

    # what is to be written

    def proposals(self, admitted: Sequence[Look[SeenRow]]) -> Iterator[Proposal]:
        """Each row in a comment or request of its own, or many in a shared one."""
        items, queue = {look.key: look.items[0] for look in admitted}, self.context.queue
        shares = self._shares(admitted)
        self.context.finish([items[one.row.key] for one in shares.done])
        own = {one.rows[0].row.key for one in shares.own} if self.settings.form != "comment" else set[str]()
        name, to = self.context.name, self.settings.to
        jobs = [RowJob(name, to, one.key, items[one.key].marked, admission(one)) for one in admitted if one.key in own]
        if queue is not None and len(jobs) > 1 and queue.put_rows(jobs):
            self.context.had_workers = True
        else:
            yield from (self._proposal(one, items) for one in shares.own)
        yield from (self._proposal(one, items) for one in shares.others)

    def publish_admitted(self, item: Item, admitted: str) -> None:
        """Publish one row as the safety catch admitted it, if it has a request of its own.

        One that is another by now waits for the next pass.
        """

        def call() -> None:
            looks = self.look([item])
            same = [one for one in looks if one.planned.action == "unchanged" or admission(one) == admitted]
            shares = self._shares(same)
            self.context.finish([item] if shares.done else [])
            self._write(self._proposal(one, {item.subject: item}) for one in shares.own)

        self.report.attempt([item], call, finish=False)

    def _shares(self, looks: Sequence[Look[SeenRow]]) -> Shares:
        watch = self.context.watch
        rules = SharingRules(
            rolling_mark(self._board),
            self.settings.form,
            self.is_bulk or watch.pull_requests == "rolling",
            watch.backfill_limit,
            self.context.notes_at(self.settings.to),
            self.why,
            is_discussed=self.target.comments is not None,
        )
        return share_out([look.seen for look in looks], self.shared, rules)

    def _proposal(self, one: RowRequest, items: Mapping[str, Item]) -> Proposal:
        waiting = [items[seen.row.key] for seen in one.rows]
        return Proposal(waiting, self.target, one.mark, one.paths, one.desire, one.form, is_restored=one.is_restored)

    def _rank(self, entry: Entry) -> str:
        """Where a row would stand on the board, as the state keeps it; each is asked for once."""
        if entry.key not in self.ranks:
            standing_there = self.context.state.boards.standing(self.settings.to, entry)
            self.ranks[entry.key] = proposed_rank(entry, standing_there)
        return self.ranks[entry.key]
