"""The one reconciler: look at a target, decide, write once, and look again where a write is in doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.errors import MalformedEntry
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.net import Backoff, is_overtaken
from bot.platforms.target import Target
from bot.publishing.board import make_board
from bot.publishing.entry import Entry, parse_entry
from bot.publishing.publication import Commit, CurrentState, Decision, Form, Marker, PostText, decide

# One item waits at most 10 seconds for a service, for others could go on; then it is left to a later pass.
RETRY = Backoff(pause=0.2, longest=10.0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The desired state of a target: files (None: not there) and the text that proposes them."""

    text: PostText
    files: Mapping[str, bytes | None]


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
    """Look, decide and apply until nothing is to be done: the last decision, and where it can be seen.

    A request of the time when the target took requests is closed after the commit. What `is_restored` is proposed
    although a person closed the same once.
    """

    def write_once() -> PublishResult:
        done: PublishResult | None = None
        while True:
            state = target.read_state(mark, paths)
            state = replace(state, declined=None) if is_restored else state
            wanted = desire(state)
            decision = decide(mark, wanted.text, wanted.files, state, form)
            if decision.publication is None or dry_run:
                return done or PublishResult(mark.key, decision)
            result = PublishResult(mark.key, decision, target.apply(decision.publication))
            if isinstance(decision.publication, Commit) and state.request is not None:
                done = result
            elif not state.duplicates:
                return done or result

    return retry_write(write_once)


def retry_write(write_once: Callable[[], T]) -> T:
    """Do something that looks before it writes; where a write failed or was overtaken, look and do it again."""
    return RETRY(write_once, is_overtaken)


def publish_comment(mark: Marker, text: PostText, target: Target, *, may_open: bool) -> str:
    """Bring the comment of a mark to what it should say, and give its URL; "" if nothing was to be done.

    Where there is none yet, one is written only if `may_open`.
    """
    if not may_open and target.read_state(mark, ()).comment is None:
        return ""
    return reconcile(target, mark, (), lambda _: DesiredState(text, {}), "comment").where


def parsed(data: bytes | None) -> Entry | None:
    """The current entry; a file that is not an entry is overwritten."""
    try:
        return parse_entry(data) if data is not None else None
    except MalformedEntry:
        return None


def entries_of(target: Target, leaderboard: Leaderboard) -> list[Entry]:
    """The entries of one leaderboard that stand at the target."""
    return [entry for entry in target.scan_entries().entries if entry.leaderboard.id == leaderboard.id]


def rebuild_board(target: Target, leaderboard: Leaderboard) -> bool:
    """Bring the table at the target to what its entries of this leaderboard give."""

    def write_once() -> bool:
        return target.rebuild_board(make_board(entries_of(target, leaderboard), leaderboard))

    return retry_write(write_once)
