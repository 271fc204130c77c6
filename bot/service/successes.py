"""Good pushes are answered where the watch says so: one discussion for each folder, edited in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.errors import Locked
from bot.platforms.hub.discussions import HubDiscussions
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import success_text
from bot.service.context import WatchContext
from bot.service.links import request_links
from bot.service.outcome import Report
from bot.service.reconcile import retry_write


@dataclass
class Successes:
    """Keeps what is said about accepted files at one source."""

    context: WatchContext
    discussions: HubDiscussions
    report: Report

    def settle(self, folders: Iterable[str]) -> None:
        """Bring the discussions of these folders up to date; of new ones no more than the watch's limit are opened."""
        if not self.context.watch.say_success or self.context.dry_run:
            return
        known = self._known()
        wanted = sorted(folders)
        news = [folder for folder in wanted if folder not in known]
        for folder in wanted:
            if folder in known or len(news) <= self.context.watch.backfill_limit:
                self.report.attempt([], lambda f=folder: self._settle_one(f, known.get(f)))  # type: ignore[misc]

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
        text = success_text(folder, said, request_links(self.context, sorted(keys)), Marker("accepted", folder, board))
        try:
            retry_write(lambda: self._write(folder, num, text.title, text.body))
        except Locked as refusal:
            self.report.say("unchanged", f"folder {folder}", str(refusal))

    def _write(self, folder: str, num: int | None, title: str, body: str) -> None:
        num = num or self._known().get(folder)
        if num is None:
            self.discussions.open_discussion(title, body)
            return
        thread = self.discussions.read(num)
        if thread.is_open and thread.description.strip() != body.strip():
            self.discussions.edit_description(num, body)
