"""The discussions about pushed files: one for each folder with faults, edited in place, closed when corrected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import quote

from bot.errors import BotError, DiscussionsDisabled
from bot.evaluation.judgement import Judgement
from bot.evaluation.verdict import Verdict
from bot.platforms.discussions import Discussions
from bot.publishing.publication import Marker, PostText, find_marker
from bot.publishing.repeat import check_command, when_kept
from bot.publishing.verdict_texts import mended_text, preformatted, push_text
from bot.reporting.markdown import judgement_markdown
from bot.service.context import WatchContext
from bot.service.items import Item
from bot.service.reconcile import retry_write
from bot.service.rivals import rival_lines
from bot.service.store import StoredSubmission
from bot.service.successes import Successes
from bot.service.watch.outcome import Report

ALL = "*"


@dataclass(frozen=True, slots=True)
class FolderFault:
    """A rejected file that no newer file of its folder corrects: its verdict, and the text about it."""

    verdict: Verdict
    text: str


def unresolved(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The rejected files of one folder of which no newer file measures the same model."""
    open_faults: list[Verdict] = []
    for verdict in sorted(verdicts, key=lambda one: (one.date, one.path)):
        model = verdict.result.model.id if verdict.result else None
        open_faults = [old for old in open_faults if old.result is None or old.result.model.id != model]
        if verdict.status == "rejected":
            open_faults.append(verdict)
    return open_faults


def describe(judgement: Judgement, source: str, commit: str, declaration: str) -> str:
    """A file and its row as Markdown, with the command that repeats the verdict under the declaration of that name."""
    verdict = judgement.verdicts[0]
    call = check_command(source, commit, verdict.path, declaration)
    digest = f"SHA-256 `{verdict.sha256}`\n\n" if verdict.sha256 else ""
    later = when_kept(declaration)
    return f"{judgement_markdown(judgement)}\n{digest}{preformatted(call)}" + (f"\n\n{later}" if later else "")


@dataclass
class Folders:
    """Keeps the discussions about pushes at one source."""

    context: WatchContext
    discussions: Discussions
    report: Report

    @cached_property
    def ours(self) -> dict[str, list[int]]:
        """The numbers of the bot's discussions about pushes, by folder."""
        found: dict[str, list[int]] = {}
        for num, row in self.discussions.ours("discussion"):
            mark = find_marker(row["mark"])
            if mark is not None and mark.kind == "verdict" and mark.leaderboard == self.context.leaderboard.id:
                found.setdefault(mark.key, []).append(num)
        return found

    @cached_property
    def successes(self) -> Successes:
        """The texts about accepted files."""
        return Successes(self.context, self.discussions)

    def open_ones(self) -> dict[str, int]:
        """The discussions of the bot that were open when the list was read: folder and number."""
        is_open = {num for num, row in self.discussions.ours_known("discussion") if row["status"] == "open"}
        return {folder: nums[0] for folder, nums in self.ours.items() if nums[0] in is_open}

    def settle(self, items: Sequence[Item]) -> None:
        """Say what is wrong in these folders, and no more where nothing is.

        Beyond the limit of new ones, all that have no discussion of their own share one.
        """
        try:
            _ = self.ours
        except DiscussionsDisabled as refusal:
            self.report.say("unchanged", "folders", str(refusal))
            self.context.store.finish(items)
            return
        except BotError as failure:
            for item in items:
                self.report.fail(item, failure)
            return
        by_folder = {item.subject.removeprefix("/"): item for item in items if item.subject}
        lost = [item for item in items if not item.subject]
        # After a loss of the state, what was said earlier may be corrected meanwhile.
        self.report.attempt(lost, lambda: self._settle_known(by_folder))
        self.report.attempt(list(by_folder.values()), lambda: self._settle_all(by_folder), finish=False)

    def _settle_known(self, known: Mapping[str, Item]) -> None:
        for folder in self.ours.keys() - known.keys() - {ALL}:
            self._settle_folder(folder, self.faults(folder))

    def _settle_all(self, by_folder: Mapping[str, Item]) -> None:
        faults = {folder: self.faults(folder) for folder in sorted(by_folder)}
        new = [folder for folder, found in faults.items() if found and folder not in self.ours]
        few = len(by_folder) <= self.context.watch.backfill_limit
        shared = new if ALL in self.ours or len(new) > self.context.watch.backfill_limit else []
        for folder, found in faults.items():
            if folder not in shared:
                self.report.attempt([by_folder[folder]], partial(self._settle_pushed, folder, found, few=few))
        if shared or ALL in self.ours:
            items = [by_folder[folder] for folder in shared]
            self.report.attempt(items, partial(self._settle_shared, shared))

    def _settle_shared(self, folders: Sequence[str]) -> None:
        """Say in one discussion what is wrong in all folders that have none of their own."""
        self._settle_folder(ALL, self.shared_faults())
        for folder in folders:
            self.successes.settle(folder, may_open=False)

    def _settle_pushed(self, folder: str, faults: Sequence[FolderFault], *, few: bool) -> None:
        """Say what is wrong in a folder, and what is accepted where the watch wants that said."""
        self._settle_folder(folder, faults, few=few)
        self.successes.settle(folder, may_open=few)

    def faults(self, folder: str) -> list[FolderFault]:
        """The files of a folder that are not taken as they are."""
        return self._faults(self.context.store.submissions_in(self.context.name, folder))

    def shared_faults(self) -> list[FolderFault]:
        """The faults in all folders that have no discussion of their own."""
        folders = self.context.store.rejected_folders(self.context.name)
        return [fault for folder in folders if folder not in self.ours for fault in self.faults(folder)]

    def _faults(self, found: Mapping[str, StoredSubmission]) -> list[FolderFault]:
        verdicts = self.context.judge(list(found.values())).verdicts
        faults = []
        for verdict in unresolved(verdicts):
            one = found[verdict.path]
            text = describe(self.context.judge([one]), self.context.source.name, one.commit, self.context.declaration)
            page = f"submissions/{self.context.name}/{quote(verdict.path)}"
            link = self.context.page_link("Current state", page)
            faults.append(FolderFault(verdict, f"{text}\n{link}\n" if link else text))
        return faults

    def _settle_folder(self, folder: str, faults: Sequence[FolderFault], *, few: bool = False) -> None:
        """Bring one discussion to what should be said; where `few` folders changed, one is opened for rivals alone."""
        mark = Marker("verdict", folder, self.context.leaderboard.id)
        is_said = folder != ALL and (few or faults or folder in self.ours)
        rivals = rival_lines(self.context, folder) if is_said else []
        text = push_text(folder, [fault.text for fault in faults], mark, rivals) if faults or rivals else None

        def look_and_write() -> None:
            if text is None and folder not in self.ours:
                return
            self.__dict__.pop("ours", None)
            self._write(folder, text)

        if not self.context.dry_run:
            retry_write(look_and_write)

    def _write(self, folder: str, text: PostText | None) -> None:
        """Open, edit, open again or close; nothing if it stands as it should."""
        nums = self.ours.get(folder, [])
        if not nums:
            if text is not None:
                self.discussions.open_discussion(text.title, text.body)
                self.__dict__.pop("ours", None)
            return
        self._close_duplicates(nums)
        thread = self.discussions.read(nums[0])
        if text is None:
            if thread.is_open:
                self.discussions.set_status(thread.num, "closed", mended_text(folder))
            return
        is_same = thread.description.strip() == text.body.strip()
        if is_same and (thread.is_open or thread.closed_by != self.discussions.client.user):
            return  # a person who closed it has read it
        if not thread.is_open:
            self.discussions.set_status(thread.num, "open")
        if not is_same:
            self.discussions.edit_description(thread.num, text.body)

    def _close_duplicates(self, nums: Sequence[int]) -> None:
        is_open = {num for num, known in self.discussions.ours_known("discussion") if known["status"] == "open"}
        for num in set(nums[1:]) & is_open:
            self.discussions.set_status(num, "closed", f"Two processes opened this at once; #{nums[0]} stays.")
