"""The bot's comments at a target on the Hub: rows, alarms and plans, each under its mark in its discussion."""

from __future__ import annotations

from dataclasses import dataclass

from bot.platforms.duplicates import Duplicate
from bot.platforms.hub.discussions import HubDiscussions, Thread
from bot.publishing.publication import Marker, PostedComment, PostText, Reply, find_marker, holder_of
from bot.publishing.texts import board_text


@dataclass
class HubComments:
    """The comments in one repository; `discussion` is the number of the one for rows, None for one of our own."""

    discussions: HubDiscussions
    discussion: int | None = None

    def find(self, mark: Marker) -> PostedComment | None:
        """The comment that carries a mark; its name is discussion and comment, as `12 64f1…`."""
        thread = self._thread(mark)
        for comment in thread.comments if thread else ():
            if comment.author == self.discussions.client.user and find_marker(comment.text) == mark:
                return PostedComment(f"{thread.num} {comment.id}" if thread else "", comment.text)
        return None

    def texts(self, leaderboard: str) -> list[str]:
        """The bot's comments about the rows of a leaderboard."""
        thread, us = self._thread(Marker("entry", "", leaderboard)), self.discussions.client.user
        return [comment.text for comment in (thread.comments if thread else ()) if comment.author == us]

    def replies(self, mark: Marker) -> list[Reply]:
        """The comments of others in the discussion that holds a comment of the bot."""
        thread, us = self._thread(mark), self.discussions.client.user
        return [
            Reply(one.author, one.text, one.edited) for one in (thread.comments if thread else ()) if one.author != us
        ]

    def _thread(self, mark: Marker) -> Thread | None:
        """The discussion that holds a comment, None if it is still to be opened."""
        if self.discussion is not None and not mark.has_own_discussion:
            return self.discussions.read(self.discussion)
        nums = self._open_ones(holder_of(mark), also_closed=True)
        return self.discussions.read(nums[0]) if nums else None

    def _open_ones(self, holder: Marker, *, also_closed: bool = False) -> list[int]:
        rows = self.discussions.look("discussion").with_mark(holder.render())
        return [num for num, row in rows if also_closed or row["status"] == "open"]

    def post(self, mark: Marker, text: PostText) -> int:
        """Add a comment, in a discussion that is opened where there is none: the number of the discussion."""
        thread = self._thread(mark)
        num = thread.num if thread else self._open(holder_of(mark))
        self.discussions.comment(num, text.body)
        for duplicate in self.discussions.repeated_comments(num):
            if duplicate.mark == mark:
                self.discussions.remove_duplicate(duplicate)
        return num

    def _open(self, holder: Marker) -> int:
        """Open the discussion that holds comments; where another process was faster, ours is closed: its number."""
        text = board_text(holder)
        num = self.discussions.open_discussion(text.title, text.body)
        first = min([num, *self._open_ones(holder)])
        if first != num:
            self.discussions.remove_duplicate(Duplicate("discussion", holder, str(num), str(first)))
        return first
