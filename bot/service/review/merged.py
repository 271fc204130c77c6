"""Update the reviews of merged requests: each says so, and links the proposed rows at the targets.

The text follows from the Hub alone: from what the request changed, from the files at the source now, and from the open
requests at the targets. Once it says so it is left alone, for those requests are closed one day.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.platforms.discussions import Discussions, ReviewedSource
from bot.platforms.source import is_wanted
from bot.publishing.verdict_texts import is_merged_text, merged_text
from bot.service.context import WatchContext
from bot.service.items import FIRST_WAIT, LONGEST_WAIT, Item
from bot.service.publish.links import row_links
from bot.service.publish.reconcile import retry_write
from bot.service.review.proposals import subjects_of
from bot.service.review.state import review_mark, stickies
from bot.service.watch.outcome import Report


@dataclass
class MergedReviews:
    """Brings the reviews of merged requests to their last word."""

    context: WatchContext
    source: ReviewedSource
    discussions: Discussions
    report: Report

    def settle(self, items: Collection[Item]) -> None:
        """Let each say that its request was merged; those whose rows are not published yet wait for that."""
        for item in items:
            self.report.attempt([item], lambda one=item: self._settle_one(one), finish=False)  # type: ignore[misc]

    def _settle_one(self, item: Item) -> None:
        num, store = int(item.subject), self.context.store
        refs = self.source.refs(requests=True)
        head, main = refs.get(f"refs/pr/{num}"), refs["refs/heads/main"]
        subjects = self._subjects(head, main) if head is not None else set()
        keys = sorted({one.key for one in store.submissions_at(self.context.name, subjects).values() if one.key})
        if self._is_pending(main, subjects, keys):
            now = self.context.clock()  # a target may be out of reach for weeks
            store.postpone(item, now + min(max(now - item.since, FIRST_WAIT), LONGEST_WAIT))
            return
        retry_write(lambda: self._write(num, keys))
        store.finish([item])

    def _subjects(self, head: str, main: str) -> set[str]:
        """The submissions that a request brought or changed."""
        found = self.source.changes(self.source.fork_point(head, main), head)
        wanted = {change.path for change in found if is_wanted(change.path, self.context.watch.paths)}
        return {subject for path in wanted for subject in subjects_of(path)}

    def _is_pending(self, main: str, subjects: Collection[str], keys: Collection[str]) -> bool:
        """Tell whether the source is not read so far, or rows of the request are not published yet."""
        store, name = self.context.store, self.context.name
        if store.cursor(name, "source") != main:
            return True
        return store.is_waiting(name, "file", subjects) or store.is_waiting(name, "row", [*keys, ""])

    def _write(self, num: int, keys: Collection[str]) -> None:
        thread = self.discussions.read(num)
        ours = stickies(self.context, thread, self.discussions.client.user)
        if thread.status != "merged" or not ours or is_merged_text(ours[0].text):
            return
        links = row_links(self.context, keys)
        body = merged_text(ours[0].text, links.proposed, links.standing, review_mark(self.context, num))
        self.discussions.edit(num, ours[0].id, body)
        self.report.say("published", f"review #{num}", "says that the request was merged")
