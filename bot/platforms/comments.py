"""The bot's comments at a target, each found by its mark: those on rows, and those about columns and plans."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import Gone, Stale
from bot.platforms.discussions import Comment, Discussions, Duplicate, Thread, repeated_comments
from bot.publishing.publication import Marker, PostedComment, PostText, find_marker, holder_of
from bot.publishing.texts import board_text


@dataclass
class MarkedComments:
    """The comments in one repository; `discussion` is the number of the one for rows, None for one of our own."""

    discussions: Discussions
    discussion: int | None = None

    @property
    def us(self) -> str:
        """Our account."""
        return self.discussions.us

    def find(self, mark: Marker) -> PostedComment | None:
        """The comment that carries a mark; its name is discussion and comment, as `12 64f1…`."""
        thread = self._thread(mark)
        return self._find_in(thread, mark) if thread else None

    def _find_in(self, thread: Thread, mark: Marker) -> PostedComment | None:
        found = (one for one in self._ours(thread) if find_marker(one.text) == mark)
        return next((PostedComment(f"{thread.num} {one.id}", one.text) for one in found), None)

    def _ours(self, thread: Thread) -> list[Comment]:
        return [one for one in thread.comments if one.author == self.us]

    def keys(self, leaderboard: str) -> set[str]:
        """The rows of a leaderboard that the bot's comments are about."""
        thread = self._thread(Marker("entry", "", leaderboard))
        marks = [find_marker(one.text) for one in (self._ours(thread) if thread else ())]
        return {mark.key for mark in marks if mark and mark.kind == "entry" and mark.leaderboard == leaderboard}

    def replies(self, mark: Marker) -> list[Comment]:
        """The comments in the discussion that holds a comment of the bot, but for the opening one."""
        thread = self._thread(mark)
        return thread.replies if thread else []

    def answer(self, mark: Marker, text: str) -> None:
        """Add a comment to the discussion that holds the one of a mark."""
        thread = self._thread(mark)
        if thread is not None:
            self.discussions.comment(thread.num, text)

    def _thread(self, mark: Marker) -> Thread | None:
        """The discussion that holds a comment, None if it is still to be opened."""
        if self.discussion is not None and not mark.has_own_discussion:
            return self.discussions.read(self.discussion)
        nums = self._holders(holder_of(mark))
        return self.discussions.read(nums[0]) if nums else None

    def _holders(self, holder: Marker, *, only_open: bool = False) -> list[int]:
        rows = [(num, row) for num, row in self.discussions.ours("discussion") if row["mark"] == holder.render()]
        return [num for num, row in rows if not only_open or row["status"] == "open"]

    def post(self, mark: Marker, text: PostText) -> PostedComment:
        """Add a comment, in a discussion that is opened where there is none: the comment that stays.

        Where another process was faster, its comment stays, and says this.
        """
        thread = self._thread(mark)
        num = thread.num if thread else self._open(holder_of(mark))
        self.discussions.comment(num, text.body)
        thread = self.discussions.read(num)
        for duplicate in repeated_comments(thread, self.us):
            if duplicate.mark == mark:
                self.discussions.remove_duplicate(duplicate)
        first = self._find_in(thread, mark)
        if first is None:
            raise Stale(f"the comment on discussion #{num} is not there any more")
        if first.body.strip() != text.body.strip():
            self.edit(first, text)
        return first

    def edit(self, comment: PostedComment, text: PostText) -> int:
        """Replace the text of a comment: the number of its discussion. Raises Stale if it was deleted."""
        num, _, comment_id = comment.name.partition(" ")
        try:
            self.discussions.edit(int(num), comment_id, text.body)
        except Gone as gone:
            raise Stale(f"comment {comment_id} was deleted after it was read: {gone}") from gone
        return int(num)

    def _open(self, holder: Marker) -> int:
        """Open the discussion that holds comments; where another process was faster, ours is closed: its number."""
        text = board_text(holder)
        num = self.discussions.open_discussion(text.title, text.body)
        first = min([num, *self._holders(holder, only_open=True)])
        if first != num:
            self.discussions.remove_duplicate(Duplicate("discussion", holder, str(num), str(first)))
        return first
