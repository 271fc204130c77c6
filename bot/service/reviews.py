"""Pull requests at the source in, one sticky comment on each out: the verdict, what would change, the answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.submission import Submission
from bot.platforms.hub.discussions import HubDiscussions, Thread
from bot.platforms.hub.source import HubSource
from bot.publishing.board import Board, make_board
from bot.publishing.entry import Entry, Evidence, entry_of
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import Comparison, Place, review_text
from bot.service.commands import AnswerContext, answer_commands, waivers_in
from bot.service.pushes import retry_write
from bot.service.reading import Reader, wanted
from bot.service.store import Store

MOST = 50  # files of one request that are judged; more are told to come in parts
ReadEntries = Callable[[], list[Entry]]


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


@dataclass(frozen=True)
class Reviews:
    """Reviews the open requests at one source; `state` is what else a review depends on, such as the target's head."""

    name: str
    source: HubSource
    talk: HubDiscussions
    reader: Reader
    store: Store
    patterns: Sequence[str]
    maintainers: Sequence[str]
    today: date
    read_entries: ReadEntries
    state: str

    def settle(self) -> tuple[list[str], list[Waiver]]:
        """Bring every review up to date: the requests about which something was said, and what was waived there."""
        said: list[str] = []
        waivers: list[Waiver] = []
        listed = [row for row in self.talk.listed("pull_request", "open") if row.author != self.talk.client.user]
        refs = self.source.refs(requests=True) if listed else {}
        for row in listed:
            talk = self.talk.read(row.num)
            head = refs.get(f"refs/pr/{row.num}")
            waivers += waivers_in(talk, self.talk.client.user, self.maintainers)
            if head is None or self.store.cursor(self.name, f"review {row.num}") == self.memo(talk, head):
                continue
            new = self.review(row.num, head, refs["refs/heads/main"])
            waivers += [waiver for waiver in new if waiver not in waivers]
            said.append(f"#{row.num}")
            self.store.set_cursor(self.name, f"review {row.num}", self.memo(self.talk.read(row.num), head))
        return said, waivers

    def memo(self, talk: Thread, head: str) -> str:
        """What a review depends on, as one word: while it is the same, nothing is read again."""
        comments = [(comment.id, comment.text) for comment in talk.comments]
        text = json.dumps([head, self.state, self.reader.leaderboard.digest, comments])
        return hashlib.sha256(text.encode()).hexdigest()

    def review(self, num: int, head: str, main: str) -> list[Waiver]:
        """Answer what was asked, then bring the sticky comment to the verdict."""
        base = self.source.fork_point(head, main)
        changes = wanted(self.source.changes(base, head), self.patterns)
        files = [self.reader.read(change, head) for change in changes[:MOST] if change.oid is not None]
        waivers: list[Waiver] = []

        def look_and_write() -> None:
            talk = self.talk.read(num)
            held = waivers_in(talk, self.talk.client.user, self.maintainers)
            judgements = self.judge(files, held)
            waivers[:] = answer_commands(self.talk, talk, self.context(judgements))
            if waivers != held:
                judgements = self.judge(files, waivers)
            self.write(num, self.body(head, judgements, num) if judgements else None)

        retry_write(look_and_write)
        return waivers

    def judge(self, files: Sequence[Submission], waivers: Sequence[Waiver]) -> list[Judgement]:
        """Judge the files with what was waived here."""
        facts = replace(self.reader.facts, waivers=(*self.reader.facts.waivers, *waivers))
        return [self.reader.judge(file, self.reader.leaderboard, facts) for file in files]

    def context(self, judgements: Sequence[Judgement]) -> AnswerContext:
        """What answers are made of."""
        verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
        return AnswerContext(
            self.maintainers,
            self.reader.leaderboard.id,
            self.today,
            [verdict.sha256 for verdict in verdicts],
            judgements,
            [verdict.status for verdict in verdicts],
        )

    def body(self, head: str, judgements: Sequence[Judgement], num: int) -> str:
        """The sticky comment."""
        verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
        places = {one.path: Evidence(source=self.source.name, path=one.path, commit=head) for one in verdicts}
        made = [entry_of(row, places) for judgement in judgements for row in judgement.rows]
        rows = [entry for entry in made if entry is not None]
        comparisons = compare(self.read_entries(), rows, self.reader.leaderboard) if rows else []
        said = [self.reader.describe(judgement, head) for judgement in judgements]
        return review_text(head, said, comparisons, self.mark(num)).body

    def mark(self, num: int) -> Marker:
        """The mark of the sticky comment."""
        return Marker("verdict", f"#{num}", self.reader.leaderboard.id)

    def write(self, num: int, body: str | None) -> None:
        """Post or edit the sticky comment; one that has nothing to say any more stays as it is."""
        talk, us = self.talk.read(num), self.talk.client.user
        ours = [c for c in talk.comments if c.author == us and find_marker(c.text) == self.mark(num)]
        if body is None:
            return
        if not ours:
            self.talk.comment(num, body)
        elif ours[0].text.strip() != body.strip():
            self.talk.edit(num, ours[0].id, body)
