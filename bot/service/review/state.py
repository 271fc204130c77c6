"""What is remembered of reviews, what a review depends on, and the last update of the review of a merged request."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass
from math import inf

from bot.platforms.discussions import Comment, Discussions, Listed, Thread
from bot.platforms.source import is_wanted
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import is_merged_text, merged_text
from bot.service.context import WatchContext
from bot.service.publish.links import row_links
from bot.service.publish.reconcile import retry_write
from bot.service.review.proposals import subjects_of
from bot.service.store.items import Item
from bot.service.store.memory import REVIEW, ReviewState
from bot.service.talk.commands import commands_line
from bot.service.talk.waivers import dump_waivers
from bot.service.waits import FIRST_RETRY, LONGEST_RETRY
from bot.service.watch.outcome import Report

REVIEWS_OF_ONE = 20  # open requests of one account that are reviewed, the oldest first
REVIEWS_OF_ALL = 200  # open requests of all strangers that are reviewed


def state_of(context: WatchContext, num: int) -> ReviewState:
    """The remembered state of one review, an empty one if there is none."""
    return context.state.recall(REVIEW, str(num)) or ReviewState()


def known_states(context: WatchContext) -> dict[int, ReviewState]:
    """The remembered states of all reviews, by number."""
    return {int(subject): value for subject, value in context.state.recall_all(REVIEW).items()}


def keep_state(context: WatchContext, num: int, state: ReviewState | None) -> None:
    """Remember a review; None forgets it."""
    context.state.remember(REVIEW, state, str(num))
    if state is None:
        context.state.set_proposal(num, None)


def rules_of(context: WatchContext) -> str:
    """A digest of the settings that every review depends on."""
    rules = [
        context.leaderboard.scoring_digest,
        sorted(context.watch.maintainers),
        context.watch.owners,
        [one.value for one in context.watch.identity],
    ]
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:12]


def memo_of(context: WatchContext, thread: Thread, head: str) -> str:
    """A digest of what was said on a request, at a head."""
    comments = [(comment.id, comment.text) for comment in thread.comments]
    return hashlib.sha256(json.dumps([head, rules_of(context), comments]).encode()).hexdigest()


def basis_of(context: WatchContext, head: str) -> str:
    """A digest of what a review depends on: the source, the head of the first target, the rules and the waivers.

    The files that are still to be read belong to the source.
    """
    state = context.state
    source = [state.commit, state.items.count_due("file", inf)]
    parts = [source, head, context.definition(), dump_waivers(context.waivers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def digest_of_text(body: str) -> str:
    """A short digest of a text."""
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
            if counts[row.author] >= REVIEWS_OF_ONE or counts.total() >= REVIEWS_OF_ALL:
                continue
            counts[row.author] += 1
        found.append(row.num)
    return found


@dataclass
class MergedReviews:
    """Updates the reviews of merged requests: each then says that it was merged, and where its rows are."""

    context: WatchContext
    discussions: Discussions
    report: Report

    def settle(self, items: Collection[Item]) -> None:
        """Update these reviews; those whose rows are not published yet wait for that."""
        for item in items:
            self.report.attempt([item], lambda one=item: self._settle_one(one), finish=False)  # type: ignore[misc]

    def _settle_one(self, item: Item) -> None:
        num, state = int(item.subject), self.context.state
        source = self.discussions.source
        head, main = source.closed_head(num), source.head()
        found = source.changes(source.fork_point(head, main), head) if head is not None else ()
        wanted = {change.path for change in found if is_wanted(change.path, self.context.watch.paths)}
        subjects = {subject for path in wanted for subject in subjects_of(path)}
        keys = sorted({one.key for one in state.submissions.of_files(subjects).values() if one.key})
        is_read = state.commit == main and not state.items.is_waiting("file", subjects)
        if not is_read or state.items.is_waiting("row", [*keys, ""]):  # its rows are not published yet
            now = self.context.clock()  # a target may be out of reach for weeks
            state.items.postpone(item, now + min(max(now - item.since, FIRST_RETRY), LONGEST_RETRY))
            return
        retry_write(lambda: self._write(num, head or "", keys))
        self.context.finish([item])

    def _write(self, num: int, head: str, keys: Collection[str]) -> None:
        thread = self.discussions.read(num)
        ours = stickies(self.context, thread, self.discussions.us)
        if thread.status != "merged" or not ours or is_merged_text(ours[0].text):
            return
        said = ours[0].text.replace(f"{commands_line()}\n\n", "")  # nobody answers them there any more
        body = merged_text(said, head, *row_links(self.context, keys), review_mark(self.context, num))
        self.discussions.edit(num, ours[0].id, body)
        self.report.say("written", f"review #{num}", "says that the request was merged")
