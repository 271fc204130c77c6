"""Answer good pushes if the watch asks for it: one discussion for each folder, edited in place."""

from __future__ import annotations

from dataclasses import dataclass

from bot.platforms.discussions import Discussions
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import success_text
from bot.service.context import WatchContext
from bot.service.links import row_links
from bot.service.reconcile import retry_write


@dataclass
class Successes:
    """Keeps what is said about accepted files at one source."""

    context: WatchContext
    discussions: Discussions

    def settle(self, folder: str, *, may_open: bool) -> None:
        """Bring the discussion of a folder up to date; where many folders changed at once, none is opened."""
        if not self.context.watch.say_success or self.context.dry_run:
            return
        num = self._known().get(folder)
        if num is not None or may_open:
            self._settle_one(folder, num)

    def _known(self) -> dict[str, int]:
        """Our discussions about accepted files by folder, the oldest of each."""
        found: dict[str, int] = {}
        for num, row in self.discussions.ours("discussion"):
            mark = find_marker(row["mark"])
            if mark is not None and mark.kind == "accepted" and mark.leaderboard == self.context.leaderboard.id:
                found.setdefault(mark.key, num)
        return found

    def _settle_one(self, folder: str, num: int | None) -> None:
        store, name, board = self.context.store, self.context.name, self.context.leaderboard.id
        keys = {one.key for one in store.submissions_in(name, folder).values() if one.status == "accepted" and one.key}
        if num is None and not keys:
            return
        rows = self.context.judge(list(store.submissions_of(name, keys).values())).rows
        said = [(row.model.id, row.scores.average) for row in rows if row.status != "rejected"]
        text = success_text(
            folder, said, row_links(self.context, sorted(keys)).proposed, Marker("accepted", folder, board)
        )
        retry_write(lambda: self._write(folder, num, text.title, text.body))

    def _write(self, folder: str, num: int | None, title: str, body: str) -> None:
        num = num or self._known().get(folder)
        if num is None:
            self.discussions.open_discussion(title, body)
            return
        thread = self.discussions.read(num)
        if thread.is_open and thread.description.strip() != body.strip():
            self.discussions.edit_description(num, body)
