"""What pushed files came to in, one discussion for each folder with faults out: edited in place, closed when mended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.errors import Stale, Unavailable
from bot.platforms.hub.discussions import HubDiscussions
from bot.publishing.publication import Marker, PostText, find_marker
from bot.publishing.verdict_texts import mended_text, push_text
from bot.service.reading import CachedVerdict
from bot.service.reconcile import ATTEMPTS, PAUSE

ALL = "*"


def folder_of(path: str) -> str:
    """The subject of what is said about a file: its folder."""
    return path.rpartition("/")[0]


def by_folder(rows: Mapping[str, CachedVerdict | None]) -> dict[str, dict[str, CachedVerdict | None]]:
    """Files with what they came to, parted by folder."""
    folders: dict[str, dict[str, CachedVerdict | None]] = {}
    for path, row in rows.items():
        folders.setdefault(folder_of(path), {})[path] = row
    return folders


def unresolved(rows: Iterable[CachedVerdict]) -> list[CachedVerdict]:
    """The files of one folder that were not taken and that no newer one of it mends."""
    rows = sorted(rows, key=lambda row: (row.date, row.path))
    open_faults: list[CachedVerdict] = []
    for row in rows:
        if not row.said and row.status != "failed":
            open_faults = [old for old in open_faults if old.key is not None and old.key != row.key]
        elif row.status != "failed":
            open_faults = [old for old in open_faults if old.key is None or old.key != row.key]
            open_faults.append(row)
    return open_faults


def retry_write(call: Callable[[], None]) -> None:
    """Do something that looks before it writes; where a write failed or was overtaken, look and do it again."""
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except (Stale, Unavailable) as failure:
            if attempt + 1 == ATTEMPTS or (isinstance(failure, Unavailable) and (failure.retry_after or 0) > 60):
                raise
            time.sleep(PAUSE * 2**attempt)
    return None


@dataclass
class Pushes:
    """Keeps the discussions about pushes at one source."""

    talk: HubDiscussions
    leaderboard_id: str
    limit: int

    @cached_property
    def ours(self) -> dict[str, list[int]]:
        """The numbers of our discussions about pushes, by folder."""
        found: dict[str, list[int]] = {}
        for num, row in self.talk.ours("discussion"):
            mark = find_marker(row["mark"])
            if mark is not None and mark.kind == "verdict" and mark.leaderboard == self.leaderboard_id:
                found.setdefault(mark.key, []).append(num)
        return found

    def open_ones(self) -> dict[str, int]:
        """The discussions of ours that were open when the list was read: folder and number."""
        is_open = {num for num, row in self.talk.ours_known("discussion") if row["status"] == "open"}
        return {folder: nums[0] for folder, nums in self.ours.items() if nums[0] in is_open}

    def mark(self, folder: str) -> Marker:
        """The mark of what is said about a folder."""
        return Marker("verdict", folder, self.leaderboard_id)

    def settle(
        self, folders: Mapping[str, Sequence[CachedVerdict]], everything: Callable[[], Iterable[CachedVerdict]]
    ) -> list[str]:
        """Say what is wrong in these folders, and no more where nothing is; the folders about which something was said.

        Beyond the limit of new ones, all that have no discussion of their own share one; `everything` gives its rows.
        """
        faults = {folder: unresolved(rows) for folder, rows in folders.items()}
        new = [folder for folder, rows in faults.items() if rows and folder not in self.ours]
        is_shared = ALL in self.ours or len(new) > self.limit
        said = [
            folder
            for folder, rows in sorted(faults.items())
            if not (is_shared and folder in new) and self.settle_folder(folder, rows)
        ]
        if is_shared and self.settle_folder(ALL, self.shared_faults(everything())):
            said.append(ALL)
        return said

    def shared_faults(self, rows: Iterable[CachedVerdict]) -> list[CachedVerdict]:
        """The faults in all folders that have no discussion of their own."""
        folders: dict[str, list[CachedVerdict]] = {}
        for row in rows:
            folders.setdefault(folder_of(row.path), []).append(row)
        return [fault for name in sorted(folders) if name not in self.ours for fault in unresolved(folders[name])]

    def settle_folder(self, folder: str, faults: Sequence[CachedVerdict]) -> bool:
        """Bring one discussion to what should be said; whether anything was written."""
        text = push_text(folder, [row.said for row in faults], self.mark(folder)) if faults else None
        if text is None and folder not in self.ours:
            return False
        wrote = False

        def look_and_write() -> None:
            nonlocal wrote
            self.__dict__.pop("ours", None)
            wrote = self.write(folder, text) or wrote

        retry_write(look_and_write)
        return wrote

    def write(self, folder: str, text: PostText | None) -> bool:
        """Open, edit, open again or close; nothing where it stands as it should."""
        nums = self.ours.get(folder, [])
        if not nums:
            if text is not None:
                self.talk.open_discussion(text.title, text.body)
                self.__dict__.pop("ours", None)
            return text is not None
        talk = self.talk.read(nums[0])
        for num in set(nums[1:]) & {
            row for row, known in self.talk.ours_known("discussion") if known["status"] == "open"
        }:
            self.talk.set_status(num, "closed", f"Two processes said this at once; #{nums[0]} stays.")
        if text is None:
            if talk.is_open:
                self.talk.set_status(talk.num, "closed", mended_text(folder))
            return talk.is_open
        is_same = talk.description.strip() == text.body.strip()
        if is_same and (talk.is_open or talk.closed_by != self.talk.client.user):
            return False  # a person who closed it has read it
        if not talk.is_open:
            self.talk.set_status(talk.num, "open")
        if not is_same:
            self.talk.edit(talk.num, talk.comments[0].id, text.body)
        return True
