"""Reconcile a target for one mark: look, decide, write once, and look again until it has what it should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bot.evaluation.evidence import EvidenceWord
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.declarations import declaration_at
from bot.platforms.net import is_overtaken
from bot.platforms.target import Target
from bot.publishing.board import Board, make_board
from bot.publishing.changes import why_rescored
from bot.publishing.entry import Declared, Entry
from bot.publishing.publication import (
    Commit,
    CurrentState,
    Decision,
    DesiredState,
    Form,
    Marker,
    PostText,
    decide,
)
from bot.publishing.remeasured import REMEASURED_FOLDER, remeasured_in, words_of
from bot.service.waits import WRITE_RETRY

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result for one row or request: the decision, and where it can be seen ("" if nothing was done)."""

    subject: str
    decision: Decision
    where: str = ""


def reconcile(
    target: Target,
    mark: Marker,
    paths: tuple[str, ...],
    desire: Callable[[CurrentState], DesiredState],
    form: Form,
    *,
    dry_run: bool = False,
    is_restored: bool = False,
) -> PublishResult:
    """Look, decide and apply until nothing is left to do: the last decision, and where its result can be seen.

    In commit form, a request from the time when the target took requests is closed after the commit. What `is_restored`
    is proposed although a person closed the same once.
    """

    def write_once() -> PublishResult:
        done: PublishResult | None = None
        while True:
            state = target.read_state(mark, paths)
            state = replace(state, declined=()) if is_restored else state
            wanted = desire(state)
            stays = Decision(None, "the open request stays as it is")
            decision = stays if wanted.stays else decide(mark, wanted.text, wanted.files, state, form)
            if decision.publication is None or dry_run:
                return done or PublishResult(mark.key, decision)
            result = PublishResult(mark.key, decision, target.apply(decision.publication))
            if isinstance(decision.publication, Commit) and state.request is not None:
                done = result
            elif not state.duplicates:
                return done or result

    return retry_write(write_once)


def retry_write(write_once: Callable[[], T]) -> T:
    """Call what looks before it writes; where the write failed or was overtaken, call it again."""
    return WRITE_RETRY(write_once, is_overtaken)


def publish_comment(mark: Marker, text: PostText, target: Target, *, may_open: bool) -> str:
    """Update the comment of a mark, and give its URL; "" if nothing was to be done.

    Where there is none yet, one is written only if `may_open`.
    """
    if not may_open and target.read_state(mark, ()).comment is None:
        return ""
    return reconcile(target, mark, (), lambda _: DesiredState(text, {}), "comment").where


def entries_of(target: Target, leaderboard: Leaderboard) -> list[Entry]:
    """The entries of one leaderboard at the target."""
    return of_leaderboard(target.scan_entries().entries, leaderboard)


def of_leaderboard(entries: Iterable[Entry], leaderboard: Leaderboard) -> list[Entry]:
    """The entries of one leaderboard."""
    return [entry for entry in entries if entry.leaderboard.id == leaderboard.id]


def board_at(target: Target, leaderboard: Leaderboard) -> Board:
    """The board of a target's entries."""
    there = target.scan_entries().entries
    own = of_leaderboard(there, leaderboard)
    return replace(make_board(own, leaderboard, words_at(target, own)), rival=rival_of(leaderboard, there))


def words_at(target: Target, entries: Iterable[Entry]) -> dict[str, EvidenceWord]:
    """What rows at a target rest on, where another run of some of their questions says more than they do."""
    paths = [path for path in target.list_folder(REMEASURED_FOLDER) if path.endswith(".json")]
    remeasured = remeasured_in(target.read_files(paths)) if paths else {}
    return words_of((one for one in entries if one.key in remeasured), remeasured)


def rival_of(leaderboard: Leaderboard, there: Iterable[Entry]) -> str:
    """The other leaderboard that has most rows at a target, and so the table there; "" if there is none."""
    counts = Counter(entry.leaderboard.id for entry in there)
    first = max(counts, key=lambda board: (counts[board], board), default=leaderboard.id)
    return "" if first == leaderboard.id else first


def rebuild_board(target: Target, leaderboard: Leaderboard) -> bool:
    """Update the table at the target to its entries of this leaderboard; tell whether anything was written."""

    def write_once() -> bool:
        return target.rebuild_board(board_at(target, leaderboard))

    return retry_write(write_once)


MOST_DECLARATIONS = 20  # that are read to say why rows are scored otherwise


@dataclass
class Rescored:
    """Says why rows of a target have other numbers although their files are the same."""

    target: Target
    today: Leaderboard
    _declared: dict[Declared, Leaderboard | None] = field(default_factory=dict, repr=False)

    def __call__(self, before: Entry, after: Entry | None) -> str:
        """The reason for one row, with the keys of the declaration that changed."""
        named = before.leaderboard
        is_known = named.scoring_digest == self.today.scoring_digest
        if not is_known and named not in self._declared and len(self._declared) < MOST_DECLARATIONS:
            self._declared[named] = declaration_at(self.target, named)
        return why_rescored(before, after, self._declared.get(named), self.today)
