"""Write at a target, without a state: what a mark stands for, and the board that follows from what is there.

Each write is a reconciliation for one mark: look, decide, write once, and look again until nothing is left to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bot.evaluation.evidence import EvidenceWord
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.net import is_overtaken
from bot.platforms.target import Target
from bot.publishing.board import Board, make_board
from bot.publishing.entry import Entry
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
    """The result for one row or request: the decision, and where it can be seen ("" if nothing was done).

    `before` are the files at the main branch that the decision was made on.
    """

    subject: str
    decision: Decision
    where: str = ""
    before: Mapping[str, bytes] = field(default_factory=dict)


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
                return done or PublishResult(mark.key, decision, before=state.files)
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


def board_at(target: Target, leaderboard: Leaderboard) -> Board:
    """The board of a target's entries."""
    there = target.scan_entries()
    own = there.of(leaderboard.id)
    return replace(make_board(own, leaderboard, words_at(target, own)), rival=rival_of(leaderboard, there.entries))


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
    return retry_write(lambda: target.rebuild_board(board_at(target, leaderboard)))
