"""Reviews of requests at the source: one comment on each with the verdict, what would change, and the answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.evaluation.discovery import ListedFile, candidates_in, read_candidate
from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.submission import Parsed
from bot.platforms.hub.discussions import Comment, HubDiscussions, Thread
from bot.platforms.hub.source import HubSource
from bot.platforms.inputs import read_whole_files
from bot.platforms.patterns import is_wanted
from bot.publishing.board import Board, make_board
from bot.publishing.entry import Entry, Evidence, entry_of
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import Comparison, Place, review_text
from bot.service.commands import AnswerContext, answer_commands, waivers_in
from bot.service.context import WatchContext
from bot.service.folders import describe
from bot.service.items import Item, marks
from bot.service.outcome import Report
from bot.service.quotas import CommandQuota
from bot.service.reading import is_named_as_result
from bot.service.reconcile import retry_write
from bot.service.store import StoredSubmission, folder_of

MOST = 50  # files of one request that are judged


def place_on(board: Board, key: str) -> Place | None:
    """Where a row stands, None where it is not there."""
    row = next((row for row in board.rows if row.entry.key == key), None)
    if row is None:
        return None
    tied = sum(other.rank == row.rank for other in board.rows) - 1 if row.rank is not None else 0
    ranked = sum(other.rank is not None for other in board.rows)
    return Place(row.entry.average, row.rank, tied, ranked)


def compare(entries: Sequence[Entry], proposed: Sequence[Entry], leaderboard: Leaderboard) -> list[Comparison]:
    """What the proposed rows would change on the board of the entries."""
    by_key = {entry.key: entry for entry in entries if entry.leaderboard.id == leaderboard.id}
    before = make_board(by_key.values(), leaderboard)
    after = make_board((by_key | {entry.key: entry for entry in proposed}).values(), leaderboard)
    found = [(entry, place_on(before, entry.key), place_on(after, entry.key)) for entry in proposed]
    return [Comparison(entry.model.id, was, now) for entry, was, now in found if now is not None]


def is_newest(thread: Thread, comment: Comment, head: str) -> bool:
    """Whether a comment was written when `head` was the newest commit of its request already, and it still is."""
    return bool(thread.commits) and thread.commits[-1][0] == head and thread.commits[-1][1] < comment.place


@dataclass
class Reviews:
    """Reviews the open requests at the source of one watch, one item each."""

    context: WatchContext
    source: HubSource
    discussions: HubDiscussions
    report: Report

    def list_requests(self, item: Item) -> None:
        """Mark each open request of others, and forget the items of those that are closed."""
        us, store, name = self.discussions.client.user, self.context.store, self.context.name
        nums = [row.num for row in self.discussions.listed("pull_request", "open") if row.author != us]
        with store.transaction():
            store.mark(name, marks("review", map(str, nums)), self.context.clock())
            store.finish([item])

    def settle(self, items: Sequence[Item]) -> None:
        """Bring every review up to date; one that fails is noted, and the others go on."""
        if items:
            self.report.attempt(items, lambda: self._settle_all(items), finish=False)

    def _settle_all(self, items: Sequence[Item]) -> None:
        refs = self.source.refs(requests=True)
        for item in items:
            self.report.attempt([item], lambda item=item: self._settle_one(int(item.subject), refs))  # type: ignore[misc]

    def _settle_one(self, num: int, refs: Mapping[str, str]) -> None:
        thread = self.discussions.read(num)
        head = refs.get(f"refs/pr/{num}")
        self._learn(waivers_in(thread, self.discussions.client.user, self.context.watch.maintainers))
        store, name, cursor = self.context.store, self.context.name, f"review {num}"
        if head is None or not thread.is_open or store.cursor(name, cursor) == self._memo(thread, head):
            return
        self._learn(self._review(num, head, refs["refs/heads/main"]))
        self.report.say("published", f"review #{num}", "the comment is up to date")
        store.set_cursor(name, cursor, self._memo(self.discussions.read(num), head))

    def _learn(self, waivers: Sequence[Waiver]) -> None:
        """Keep waivers that were given here."""
        self.context.waivers += [waiver for waiver in waivers if waiver not in self.context.waivers]

    def _memo(self, thread: Thread, head: str) -> str:
        """What a review depends on, as one word: while it is the same, nothing is read again."""
        comments = [(comment.id, comment.text) for comment in thread.comments]
        state = self.context.targets[0][0].head()
        text = json.dumps([head, state, self.context.leaderboard.digest, comments])
        return hashlib.sha256(text.encode()).hexdigest()

    def _review(self, num: int, head: str, main: str) -> list[Waiver]:
        """Answer what was asked, then bring the sticky comment to the verdict."""
        files = self._read(head, main)
        waivers: list[Waiver] = []

        def look_and_write() -> None:
            thread, us = self.discussions.read(num), self.discussions.client.user
            held = waivers_in(thread, us, self.context.watch.maintainers)
            judgements = self._judge(files, held)
            about = self._answers(judgements, thread, head)
            answered = answer_commands(self.discussions, thread, about, CommandQuota(self.context).take)
            waivers[:] = answered.waivers
            if waivers != held:
                judgements = self._judge(files, waivers)
            if judgements:
                self._write(num, self._body(num, head, judgements))

        retry_write(look_and_write)
        return waivers

    def _read(self, head: str, main: str) -> list[StoredSubmission]:
        """The submissions that a request adds or changes, read at its head."""
        base = self.source.fork_point(head, main)
        changes = [one for one in self.source.changes(base, head) if is_wanted(one.path, self.context.watch.paths)]
        listing = [ListedFile(change.path, change.size) for change in changes if change.oid is not None]
        limit = self.context.watch.max_file_bytes
        read = read_whole_files(self.source, head, max_bytes=limit)
        found = [
            read_candidate(candidate, read, is_named=is_named_as_result(candidate.path), max_bytes=limit)
            for candidate in candidates_in(listing)[:MOST]
        ]
        return [
            StoredSubmission(one.path, folder_of(one.path), None, "unread", "", head, None, one)
            for one in found
            if isinstance(one, Parsed)
        ]

    def _judge(self, files: Sequence[StoredSubmission], waivers: Sequence[Waiver]) -> list[Judgement]:
        """Judge each file with what was waived here."""
        context = replace(self.context, waivers=[*self.context.waivers, *waivers])
        return [context.judge([file]) for file in files]

    def _answers(self, judgements: Sequence[Judgement], thread: Thread, head: str) -> AnswerContext:
        """What answers are made of."""
        verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
        return AnswerContext(
            self.context.watch.maintainers,
            self.context.leaderboard.id,
            self.context.today,
            lambda comment: [one.sha256 for one in verdicts] if is_newest(thread, comment, head) else [],
            judgements,
            [verdict.status for verdict in verdicts],
        )

    def _body(self, num: int, head: str, judgements: Sequence[Judgement]) -> str:
        """The sticky comment."""
        source = self.context.source.name
        verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
        places = {one.path: Evidence(source=source, path=one.path, commit=head) for one in verdicts}
        made = [entry_of(row, places) for judgement in judgements for row in judgement.rows]
        rows = [entry for entry in made if entry is not None]
        entries = self.context.targets[0][0].read_entries() if rows else []
        comparisons = compare(entries, rows, self.context.leaderboard) if rows else []
        said = [describe(judgement, source, head) for judgement in judgements]
        return review_text(head, said, comparisons, self._mark(num)).body

    def _mark(self, num: int) -> Marker:
        """The mark of the sticky comment."""
        return Marker("verdict", f"#{num}", self.context.leaderboard.id)

    def _write(self, num: int, body: str) -> None:
        """Post or edit the sticky comment."""
        thread, us = self.discussions.read(num), self.discussions.client.user
        ours = [c for c in thread.comments if c.author == us and find_marker(c.text) == self._mark(num)]
        if not ours:
            self.discussions.comment(num, body)
        elif ours[0].text.strip() != body.strip():
            self.discussions.edit(num, ours[0].id, body)
