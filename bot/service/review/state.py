"""The state of the reviews of a watch, and a digest text of everything that a review depends on."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Container, Iterable

import msgspec

from bot.platforms.discussions import Comment, Listed, Thread
from bot.publishing.publication import Marker, find_marker
from bot.service.context import WatchContext
from bot.service.talk import quotas
from bot.service.talk.waivers import dump_waivers


class ReviewState(msgspec.Struct, frozen=True):
    """The remembered state of a review.

    `seen` is its head and how many comments the list counted when it was marked last: while both are the same, nothing
    is asked. `memo` stands for the conversation and `basis` for the source, the board and the rules that its text was
    made of; `said` is the digest of that text, "" if nothing was said.
    """

    seen: str = ""
    memo: str = ""
    said: str = ""
    basis: str = ""


def parse_state(text: str) -> ReviewState:
    """A state from its text; an empty one where the text is another version's."""
    try:
        return msgspec.json.decode(text, type=ReviewState)
    except msgspec.DecodeError:
        return ReviewState()


def known_states(context: WatchContext, num: int | None = None) -> dict[int, ReviewState]:
    """The remembered states of all reviews, or of one, by number."""
    if num is not None:
        value = context.store.cursor(context.name, "review", str(num))
        return {} if value is None else {num: parse_state(value)}
    found = context.store.cursors(context.name, "review")
    return {int(subject): parse_state(value) for subject, value in found.items()}


def keep_state(context: WatchContext, num: int, state: ReviewState | None) -> None:
    """Remember a review; None forgets it."""
    value = msgspec.json.encode(state).decode() if state is not None else None
    context.store.set_cursor(context.name, "review", value, str(num))
    if state is None:
        context.store.set_proposal(context.name, num, None)


def rules_of(context: WatchContext) -> str:
    """Everything that decides over every review, as one word."""
    rules = [context.leaderboard.scoring_digest, sorted(context.watch.maintainers), context.watch.owners]
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:12]


def memo_of(context: WatchContext, thread: Thread, head: str) -> str:
    """The conversation of a request at a head, as one word."""
    comments = [(comment.id, comment.text) for comment in thread.comments]
    return hashlib.sha256(json.dumps([head, rules_of(context), comments]).encode()).hexdigest()


def basis_of(context: WatchContext, head: str) -> str:
    """A digest of what a review depends on: the source, the head of the first target, the rules and the waivers."""
    source = context.store.cursor(context.name, "source")
    parts = [source, head, context.definition(), dump_waivers(context.waivers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def digest_of_text(body: str) -> str:
    """A text as one word."""
    return hashlib.sha256(body.strip().encode()).hexdigest()[:16]


def review_mark(context: WatchContext, num: int) -> Marker:
    """The mark of the sticky comment."""
    return Marker("verdict", f"#{num}", context.leaderboard.id)


def stickies(context: WatchContext, thread: Thread, us: str) -> list[Comment]:
    """Our sticky comments on a request; one where no other process posted a second."""
    return [one for one in thread.comments_of(us) if find_marker(one.text) == review_mark(context, thread.num)]


def admitted(rows: Iterable[Listed], maintainers: Container[str]) -> list[int]:
    """The requests that are reviewed: all of maintainers, and of strangers so many each and together, oldest first."""
    counts: Counter[str] = Counter()
    found = []
    for row in sorted(rows, key=lambda row: row.num):
        if row.author not in maintainers:
            if counts[row.author] >= quotas.REVIEWS_OF_ONE or counts.total() >= quotas.REVIEWS_OF_ALL:
                continue
            counts[row.author] += 1
        found.append(row.num)
    return found
