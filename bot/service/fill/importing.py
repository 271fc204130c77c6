"""Fill a new board: read all results of a source, and write the new rows in large commits.

It is made of the parts of the service: the source is observed into the same index and items, read and judged by the
same reading, and each row is what the service would publish. So a second call goes on where the first was killed. Rows
that stand at the target already are left alone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.errors import BotError, LeaseLost, Stale, Unavailable
from bot.evaluation.finding import counted
from bot.platforms.net import bulk_work, is_overtaken
from bot.platforms.target import BulkWriter, Target
from bot.publishing.entry import Entry, entry_path, is_same_row
from bot.publishing.publication import CurrentState, Form, Marker, PostText, decide, rolling_mark
from bot.publishing.repeat import check_command
from bot.publishing.texts import import_text
from bot.service.context import WatchContext
from bot.service.judge.reading import BATCH, read_files
from bot.service.publish.reconcile import rebuild_board
from bot.service.settings.config import Watch, WatchTarget
from bot.service.store.items import Item
from bot.service.waits import IMPORT_RETRY
from bot.service.watch.observe import observe

IMPORTED_AT_ONCE = 2000  # rows that are looked at and written together, in commits of 100
MOST_ROWS = 2_000  # of a board that is rebuilt here
IMPORTED_NAMED, COMMANDS_SHOWN = 20, 3  # rows, and rejected files, that are named
WINDOW, ALLOWED = 300.0, 500  # seconds of the Hub's window, and half of what a free account may ask in it
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import will do: files and bytes of the source, files that are still to be read, rows at the target."""

    files: int
    size: int
    unread: int
    current: int

    @property
    def requests(self) -> int:
        """The estimated number of requests: for the listing, the dates and the commits."""
        return 30 + self.files // 500 + 2 * (self.unread // 100)

    @property
    def seconds(self) -> float:
        """The estimated time with half of the requests of a free account."""
        return self.requests / ALLOWED * WINDOW

    def lines(self, source: str, target: str) -> list[str]:
        """The lines to show before a person agrees."""
        minutes = counted(max(1, round(self.seconds / 60)), "minute")
        there = f"{counted(self.files, 'file')}, {self.size / 1e6:,.1f} MB"
        return [
            f"source  {source}: {there}, {self.unread:,} still to be read",
            f"target  {target}: {counted(self.current, 'row')}",
            f"cost    about {self.requests:,} requests; {minutes} with half of a free account's limit",
        ]


@dataclass
class ImportResult:
    """The result of an import: rows written and adopted, and those that were left alone with the reason.

    `incomplete` are the keys of written rows without an average; `rejected` counts files that give no number, and `why`
    has commands that show the reasons of the first.
    """

    written: int = 0
    adopted: int = 0
    incomplete: list[str] = field(default_factory=list)
    rejected: int = 0
    why: tuple[str, ...] = ()
    different: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unread: int = 0
    where: str = ""
    board: str = ""

    def lines(self) -> list[str]:
        """The lines to show at the end."""
        said = [f"wrote {counted(self.written, 'row')}{f' to {self.where}' if self.where else ''}"]
        said += [f"adopted {counted(self.adopted, 'row')} that the target already has"] if self.adopted else []
        said += _named(self.incomplete, "row", "without an average, because subtasks are missing")
        said += [f"rejected {counted(self.rejected, 'file')}; to see why, run:"] if self.rejected else []
        said += [f"  {command}" for command in self.why]
        said += _named(self.different, "row", "at the target with other numbers, left unchanged")
        said += _named(self.refused, "row", "that cannot be stored")
        said += [self.board] if self.board else []
        said += [f"{counted(self.unread, 'file')} could not be read; run the same command again"] if self.unread else []
        return said


def _named(keys: Sequence[str], noun: str, what: str) -> list[str]:
    more = f" and {len(keys) - IMPORTED_NAMED:,} more" if len(keys) > IMPORTED_NAMED else ""
    return [f"{counted(len(keys), noun)} {what}: {', '.join(keys[:IMPORTED_NAMED])}{more}"] if keys else []


def import_watch(source: str, to: str, form: Form, leaderboard: str) -> Watch:
    """The watch that an import keeps; its name is the same each time, so that a second call goes on."""
    name = hashlib.sha256(f"{source} {to} {form} {leaderboard}".encode()).hexdigest()[:16]
    target = WatchTarget(to=to, form=form)
    return Watch(name=f"import-{name}", leaderboard=leaderboard, source=source, comments=False, targets=(target,))


@dataclass
class Import:
    """One import. `tell` is called with what is done, how much, and how much there is; `sleep` waits."""

    context: WatchContext
    tell: Tell = lambda *_: None
    sleep: Callable[[float], None] = time.sleep
    result: ImportResult = field(default_factory=ImportResult)

    def plan(self) -> ImportPlan:
        """List the source and the target. Raises Unavailable or Refused."""
        observe(self.context)
        files, size = self.context.state.files.count()
        return ImportPlan(files, size, self.context.state.items.count("file"), len(self.bulk_writer.paths()))

    def run(self) -> ImportResult:
        """Read what is unread, and write what is new."""
        with bulk_work():
            self._patiently(self._read, ends=False)  # an unreadable file does not stop the others
            self._patiently(self._write, ends=True)
        self.result.unread = self.context.state.items.count("file")
        self.result.rejected = self.context.state.submissions.counts().get("rejected", 0)
        self.result.why = tuple(self._why())
        self._patiently(self._rebuild_board, ends=False)  # the first settlement rebuilds it, too
        return self.result

    def _rebuild_board(self) -> None:
        """Bring the table and the kept declaration to the rows on main; rows of a request come there when it is merged.

        A table holds all rows at once, so a very large one is left to the first settlement: memory stays flat here.
        """
        target, settings = self.context.targets[0]
        if settings.form != "commit" or not len(self.bulk_writer.paths()) + self.result.written:
            return
        if len(self.bulk_writer.paths()) + self.result.written > MOST_ROWS:
            self.result.board = f"the first settlement makes the table: it has more than {MOST_ROWS:,} rows"
            return
        try:
            if rebuild_board(target, self.context.leaderboard):
                self.result.board = "rebuilt the table, and kept the declaration"
        except (Unavailable, Stale, LeaseLost):
            raise
        except BotError as failure:  # such as a table that somebody else made
            self.result.board = f"the table was not rebuilt: {failure}"

    def __post_init__(self) -> None:
        target, settings = self.context.targets[0]
        place = rolling_mark(self.context.leaderboard.id), settings.form
        self.bulk_writer: BulkWriter = target.bulk_writer(*place) or PlainBulkWriter(target, *place)

    def _patiently(self, step: Callable[[], None], *, ends: bool) -> None:
        """Finish a step, and wait as long as a service asks; what is done stays done.

        Where nothing moves any more and `ends` is set, the failure ends the import; else the step is left unfinished.
        """

        def waits(seconds: float, failure: BaseException | None) -> None:
            self.tell(f"waiting {seconds:.0f} s: {failure}", 0, 0)

        while True:
            left = self._left()
            try:
                replace(IMPORT_RETRY, sleep=self.sleep)(step, is_overtaken, waits)
            except (Unavailable, Stale):
                if self._left() != left:
                    continue
                if ends:
                    raise
            return

    def _left(self) -> tuple[int, int]:
        return self.context.state.items.count("file"), self.context.state.items.count("row")

    # reading

    def _read(self) -> None:
        """Read every file that waits. Raises Unavailable if a service failed for one, once the others are read."""
        state = self.context.state
        state.items.retry_all(self.context.clock())
        total, failures = state.items.count("file"), list[Exception]()

        def fail(item: Item, failure: Exception) -> None:
            state.items.fail(item, str(failure)[:500], self.context.clock() + 1.0)
            if isinstance(failure, Unavailable):
                failures.append(failure)

        commit, done, now = state.commit or "", 0, self.context.clock()
        with self.context.source.in_bulk(commit, total) as source:
            while items := state.items.due("file", now, BATCH):
                read_files(self.context, items, fail, source)
                done += len(items)
                self.tell("read", done, total)
        if failures:
            raise failures[0]

    # writing

    def _write(self) -> None:
        """Write the rows that wait, many at a time."""
        state = self.context.state
        rest = state.items.get("row", self.context.targets[0][1].to, "")
        self.context.finish([rest] if rest else [])  # it asks for rows that no file makes, which are left alone here
        total, done, now = state.items.count("row"), 0, self.context.clock()
        while items := state.items.due("row", now, IMPORTED_AT_ONCE):
            self._write_rows(items, total)
            self.context.finish(items)
            done += len(items)
            self.tell("written", done, total)

    def _write_rows(self, items: Sequence[Item], total: int) -> None:
        entries = self._entries([item.subject for item in items])
        files = {entry_path(entry.key): entry.to_bytes() for entry in entries}
        current = self.bulk_writer.current(files)
        new = {path: data for path, data in files.items() if path not in current}
        if new:
            text = import_text(total, self.context.source.name, rolling_mark(self.context.leaderboard.id))
            self.result.where = self.bulk_writer.write(new, text)
        same = {path for path, data in current.items() if is_same_row(data, files[path])}
        self.result.written += len(new)
        self.result.adopted += len(same)
        self.result.incomplete += [one.key for one in entries if entry_path(one.key) in new and one.average is None]
        self.result.different += [entry.key for entry in entries if entry_path(entry.key) in current.keys() - same]

    def _entries(self, keys: Sequence[str]) -> list[Entry]:
        """The entries of these rows; one that cannot be stored is named, and the others go on."""
        made = self.context.made(self.context.submissions_of(keys))
        self.result.refused += [f"{key}: {why}" for key, why in made.refused.items() if key in keys]
        return [entry for entry in made.entries if entry.key in keys]

    def _why(self) -> Iterator[str]:
        """The commands that show why the first rejected files give no number."""
        watch = self.context.watch
        for line in self.context.state.submissions.page("rejected", limit=COMMANDS_SHOWN):
            path = line.path if "://" in watch.source else f"{watch.source}/{line.path}"
            yield check_command(watch.source, line.commit, [path], watch.leaderboard)


@dataclass(frozen=True)
class PlainBulkWriter:
    """Fills a target through the publications that any row uses."""

    target: Target
    mark: Marker
    form: Form

    def paths(self) -> set[str]:
        """The entries that stand there, or are proposed there."""
        request = self.target.read_state(self.mark, ()).request
        return {
            *(entry_path(entry.key) for entry in self.target.scan_entries().entries),
            *(request.files if request else ()),
        }

    def current(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current or proposed content at the paths of these files."""
        return _standing(files, self.target.read_state(self.mark, tuple(files)))

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files, and say where. Raises Stale if one of them is not new any more."""
        state = self.target.read_state(self.mark, tuple(files))
        if others := _standing(files, state):
            were = "row was" if len(others) == 1 else "rows were"
            raise Stale(f"{len(others):,} {were} written there meanwhile")
        proposed = dict(state.request.files) if state.request else {}
        decision = decide(self.mark, text, {**proposed, **files}, state, self.form)
        return self.target.apply(decision.publication) if decision.publication else ""


def _standing(files: Iterable[str], state: CurrentState) -> dict[str, bytes]:
    """The current or proposed content at these paths."""
    proposed = state.request.files if state.request else {}
    found = {path: proposed.get(path) or state.files.get(path) for path in files}
    return {path: data for path, data in found.items() if data is not None}
