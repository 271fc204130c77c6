"""The discussions about pushed files: one for each folder with faults, edited in place, closed when corrected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from urllib.parse import quote

from bot.errors import DiscussionsDisabled, Gone, Stale
from bot.evaluation.verdict import Judgement, Row
from bot.platforms.discussions import Discussions, Thread
from bot.publishing.answers import faults_corrected, opened_twice
from bot.publishing.publication import Marker, MarkerKind, PostText, find_marker
from bot.publishing.repeat import check_command, when_kept
from bot.publishing.verdict_texts import preformatted, push_text, rival_line, success_text
from bot.reporting.markdown import judgement_markdown
from bot.service.context import WatchContext
from bot.service.judge.reading import BATCH, judged, mark_changed
from bot.service.publish.reconcile import retry_write
from bot.service.publish.targets import row_links
from bot.service.store.database import batches
from bot.service.store.items import Item, Mark
from bot.service.store.memory import DISCUSSION
from bot.service.store.sources import StoredSubmission, folder_of
from bot.service.talk.commands import (
    SOURCE_COMMANDS,
    SourcePlace,
    answer_commands,
    commands_line,
    may_be_answered,
    names_of,
    unanswered,
)
from bot.service.talk.waivers import add_waivers, keep_waivers, shown_in, waivers_in
from bot.service.watch.outcome import Report

ALL = "*"
EXPLAINED = 50  # files of one discussion whose scores `/explain` shows
FILES_NAMED = 3  # of a row that others measured otherwise
RIVALS = 20  # rows of one folder that are named because files elsewhere measured them otherwise


@dataclass(frozen=True, slots=True)
class FolderFault:
    """A rejected file that no newer file of its folder corrects, and the text about it.

    The verdict is not kept: it holds all that was read of the file, and there may be thousands.
    """

    path: str
    sha256: str
    text: str


def unresolved(judged_files: Iterable[tuple[float, str, str | None, bool]]) -> list[str]:
    """The rejected files of one folder of which no newer file measures the same model.

    Of each file it takes the date, the path, the model if there is one, and whether it is rejected.
    """
    open_faults: dict[str, str | None] = {}
    for _, path, model, is_rejected in sorted(judged_files, key=lambda one: one[:2]):
        open_faults = {old: of for old, of in open_faults.items() if of is None or of != model}
        if is_rejected:
            open_faults[path] = model
    return list(open_faults)


def describe(judgement: Judgement, source: str, commit: str, declaration: str) -> str:
    """Files and their row as Markdown, with the command that repeats the verdict under the declaration of that name."""
    call = check_command(source, commit, [one.path for one in judgement.verdicts], declaration)
    digests = "".join(f"SHA-256 `{one.sha256}`\n\n" for one in judgement.verdicts if one.sha256)
    return f"{judgement_markdown(judgement)}\n{digests}{preformatted(call)}"


@dataclass
class Folders:
    """Keeps the discussions about pushes at one source."""

    context: WatchContext
    discussions: Discussions
    report: Report

    @property
    def ours(self) -> Mapping[str, list[int]]:
        """The numbers of the bot's discussions about pushes with faults, by folder."""
        return self._by_kind["verdict"]

    @cached_property
    def _by_kind(self) -> Mapping[MarkerKind, dict[str, list[int]]]:
        """The numbers of the bot's discussions, oldest first, by kind and folder."""
        found: dict[MarkerKind, dict[str, list[int]]] = defaultdict(dict)
        for num, row in self.discussions.ours("discussion"):
            mark = find_marker(row["mark"])
            if mark is not None and mark.leaderboard == self.context.leaderboard.id:
                found[mark.kind].setdefault(mark.key, []).append(num)
        return found

    def open_ones(self) -> dict[str, int]:
        """The discussions of the bot that were open when the list was read: folder and number."""
        is_open = self._open_nums()
        return {folder: nums[0] for folder, nums in self.ours.items() if nums[0] in is_open}

    def _open_nums(self) -> set[int]:
        """The numbers of the bot's open discussions, as far as is remembered."""
        return {num for num, _ in self.discussions.known.open_since("discussion")}

    def settle(self, items: Sequence[Item]) -> None:
        """Update the discussions of these folders: open where a file is faulty, else closed.

        Beyond the limit of new ones, all folders without a discussion share one.
        """
        try:
            _ = self.ours
        except DiscussionsDisabled as refusal:
            self.report.say("unchanged", "folders", str(refusal))
            self.context.finish(items)
            return
        by_folder = {item.subject.removeprefix("/"): item for item in items if item.subject}
        lost = [item for item in items if not item.subject]
        # After a loss of the state, what was said earlier may be corrected meanwhile.
        self.report.attempt(lost, lambda: self._settle_known(by_folder))
        self.report.attempt(list(by_folder.values()), lambda: self._settle_all(by_folder), finish=False)

    def _settle_known(self, known: Mapping[str, Item]) -> None:
        state = self.context.state
        is_whole = not state.items.count("file")
        for folder in self.ours.keys() - known.keys() - {ALL}:
            if is_whole or not state.items.is_waiting("file", state.files.in_folder(folder)):
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
            self._settle_accepted(folder, may_open=False)

    def _settle_pushed(self, folder: str, faults: Sequence[FolderFault], *, few: bool) -> None:
        """Say what is wrong in a folder, and what is accepted where the watch wants that."""
        self._settle_folder(folder, faults, few=few)
        self._settle_accepted(folder, may_open=few)

    def faults(self, folder: str) -> list[FolderFault]:
        """The rejected files of a folder that no newer file corrects."""
        known = self.context.state.submissions
        lines = known.in_folder(folder)
        if all(one.status != "rejected" for one in lines):
            return []
        paths = unresolved(self._judged(one.path for one in lines))
        return [self._fault(one) for some in batches(paths, BATCH) for one in map(known.at(some).__getitem__, some)]

    def _judged(self, paths: Iterable[str]) -> Iterator[tuple[float, str, str | None, bool]]:
        """What `unresolved` asks of these files; no more than a batch of them is in memory."""
        for some in batches(paths, BATCH):
            for one in self.context.judge(list(self.context.state.submissions.at(some).values())).verdicts:
                yield one.date, one.path, one.result.model.id if one.result else None, one.status == "rejected"

    def _fault(self, one: StoredSubmission) -> FolderFault:
        context, sha256 = self.context, one.parsed.sha256 if one.parsed is not None else ""
        text = describe(context.judge([one]), context.source.name, one.commit, context.declaration)
        link = context.page_link("Current state", f"submissions/{context.name}/{quote(one.path)}")
        return FolderFault(one.path, sha256, f"{text}\n{link}\n" if link else text)

    def shared_faults(self) -> list[FolderFault]:
        """The faults in all folders that have no discussion of their own."""
        folders = self.context.state.submissions.rejected_folders()
        return [fault for folder in folders if folder not in self.ours for fault in self.faults(folder)]

    def _settle_folder(self, folder: str, faults: Sequence[FolderFault], *, few: bool = False) -> None:
        """Update one discussion; where `few` folders changed, one is opened for rivals alone, too."""
        mark = Marker("verdict", folder, self.context.leaderboard.id)
        is_said = folder != ALL and (few or faults or folder in self.ours)
        rivals = rival_lines(self.context, folder) if is_said else []
        texts = [fault.text for fault in faults]
        later = when_kept(self.context.declaration)
        text = push_text(folder, texts, mark, commands_line(), rivals, later=later) if faults or rivals else None

        if not self.context.dry_run and (text is not None or folder in self.ours):
            self._unless_disabled("verdict", folder, text)

    def _unless_disabled(self, kind: MarkerKind, folder: str, text: PostText | None) -> None:
        """Write to a discussion; where people disabled them, nothing waits for it. GitHub says so only then."""
        try:
            retry_write(lambda: self._write(kind, folder, text))
        except DiscussionsDisabled as refusal:
            self.report.say("unchanged", f"folder /{folder}", str(refusal))

    def _write(self, kind: MarkerKind, folder: str, text: PostText | None) -> None:
        """Open, edit, reopen or close a discussion; nothing if it is as it should be.

        One about accepted files is never reopened: nobody has to act there.
        """
        self.__dict__.pop("_by_kind", None)
        nums = self._by_kind[kind].get(folder, [])
        if not nums:
            if text is not None:
                self.discussions.open_discussion(text.title, text.body)
                self.__dict__.pop("_by_kind", None)
            return
        for num in self._open_nums().intersection(nums[1:]):
            self.discussions.set_status(num, "closed", opened_twice(nums[0]))
        thread = self.read_own(nums[0])
        if text is None:
            if thread.is_open:
                self.discussions.set_status(thread.num, "closed", faults_corrected(folder))
            return
        is_same = thread.description.strip() == text.body.strip()
        if is_same and (thread.is_open or thread.closed_by != self.discussions.us):
            return  # a person who closed it has read it
        if kind == "accepted" and not thread.is_open:
            return
        if not thread.is_open:
            self.discussions.set_status(thread.num, "open")
        if not is_same:
            self.discussions.edit_description(thread.num, text.body)

    def read_own(self, num: int) -> Thread:
        """Read a discussion of the bot. Raises Stale, and forgets it, where it was deleted, or the number is another's.

        It is another's where the repository was made again under its name.
        """
        with suppress(Gone):
            thread = self.discussions.read(num)
            if thread.author == self.discussions.us:
                return thread
        self.discussions.known.note(num, {"mark": "", "status": "closed"})
        raise Stale(f"{self.context.source.name} #{num} is not there any more")

    # what is accepted

    def _settle_accepted(self, folder: str, *, may_open: bool) -> None:
        """Update the discussion about accepted files; where many folders changed at once, none is opened."""
        state, board = self.context.state, self.context.leaderboard.id
        if not self.context.watch.say_success or self.context.dry_run:
            return
        accepted = [one for one in state.submissions.in_folder(folder) if one.status == "accepted" and one.key]
        keys = {one.key for one in accepted if one.key}
        if folder not in self._by_kind["accepted"] and not (may_open and keys):
            return
        judgement = self.context.judge(self.context.submissions_of(keys))
        ours = {judgement.key_of_path[one.path] for one in accepted}
        rows = [row for row in judgement.rows if row.key.text in ours and row.status != "rejected"]
        said = [(row.key.text, row.scores.average) for row in rows]
        links, _ = row_links(self.context, sorted(ours))
        self._unless_disabled("accepted", folder, success_text(folder, said, links, Marker("accepted", folder, board)))


def rival_lines(context: WatchContext, folder: str) -> list[str]:
    """A line for each row of a folder that files elsewhere measured with other values, naming both sides."""
    keys = context.state.submissions.shared_keys(folder, RIVALS)
    if not keys:
        return []
    found = list(context.state.submissions.of(keys).values())
    return [line for row in context.judge(found).rows for line in _lines(row, folder)]


def _lines(row: Row, folder: str) -> Iterator[str]:
    files = list(dict.fromkeys(run.file for repeat in row.repeats for run in repeat.runs))
    here = [path for path in files if folder_of(path) == folder]
    there = [path for path in files if folder_of(path) != folder]
    if here and there:
        yield rival_line(row.model.id, here[0], there[0], [file.path for file in row.files[:FILES_NAMED]])


def answer_folders(folders: Folders) -> None:
    """Answer the commands in open discussions about pushes, and judge again what they concern."""
    context = folders.context
    try:
        open_ones = folders.open_ones()
    except DiscussionsDisabled as refusal:
        folders.report.say("unchanged", "discussions", str(refusal))
        return
    for folder, num in open_ones.items():
        count = folders.discussions.counts.get(num)
        if count is not None and context.state.recall(DISCUSSION, str(num)) == count:
            continue  # no new comments since
        folders.report.attempt([], lambda f=folder, n=num: retry_write(lambda: _answer(folders, n, f)))  # type: ignore[misc]


def _answer(folders: Folders, num: int, folder: str) -> None:
    context, discussions = folders.context, folders.discussions
    thread, us = folders.read_own(num), discussions.us
    asked = unanswered(thread.comments, us, names_of(SOURCE_COMMANDS))
    granted = waivers_in(thread.comments, us, context.maintainers)  # a process may have ended after its answer
    if not asked and all(waiver in context.waivers for waiver in granted):
        context.state.remember(DISCUSSION, discussions.counts.get(num), str(num))
        return
    faults = folders.shared_faults() if folder == ALL else folders.faults(folder)
    paths = [fault.path for fault in faults]
    explained = context.state.submissions.at(paths[:EXPLAINED])
    place = SourcePlace(
        f"{context.source.name} #{num}",
        context.maintainers,
        context.leaderboard.id,
        lambda text: discussions.comment(num, text),
        context.today,
        lambda comment: shown_in(thread.opening, comment, [fault.sha256 for fault in faults]),
        [context.judge([one]) for one in explained.values()],
        ["rejected"] * len(paths),
    )
    if thread.opening is not None and thread.opening.changed == inf:  # another's words, until the bot writes anew
        context.mark([Mark("folder", f"/{folder_of(path)}") for path in paths[:1]])
    answer_commands(SOURCE_COMMANDS, place, (one for one in asked if may_be_answered(context, one.comment.author)))
    add_waivers(context, waivers_in(discussions.read(num).comments, us, context.maintainers))
    with context.state.transaction():
        keep_waivers(context)
        for some in batches(paths, BATCH):
            found = context.state.submissions.at(some)
            again = judged(context, list(found.values()))
            context.state.submissions.set_verdicts(again)
            mark_changed(context, [], again, found)
