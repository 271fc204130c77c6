"""Review requests at the source: one comment on each shows the verdicts and the effect of a merge.

After the merge it says so, and where the rows are.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf

import msgspec

from bot.errors import BotError, DiscussionsDisabled, Gone
from bot.evaluation.finding import file_of
from bot.evaluation.join import judgements_of_rows
from bot.evaluation.verdict import Judgement
from bot.platforms.discussions import Comment, Discussions, Listed, ReviewedSource, Thread, repeated_comments
from bot.platforms.source import is_wanted
from bot.platforms.target import Target
from bot.publishing.board import Board, make_board, rank_sentence
from bot.publishing.compared_rows import beside_line
from bot.publishing.entries import is_from
from bot.publishing.entry import Entry, MadeEntries, choose, digest_of
from bot.publishing.publication import Marker, find_marker
from bot.publishing.repeat import when_kept
from bot.publishing.verdict_texts import (
    BoardPlace,
    Comparison,
    Effects,
    is_merged_text,
    left_text,
    merged_text,
    review_text,
    status_line,
)
from bot.service.context import WatchContext
from bot.service.judge.facts import with_near
from bot.service.judge.reading import judged
from bot.service.publish.made_rows import first_folder
from bot.service.publish.reconcile import retry_write
from bot.service.publish.targets import row_links
from bot.service.review.proposals import SourceRequest, parse_cached, read_proposal, subjects_of
from bot.service.store.items import Item, Mark, marks
from bot.service.store.memory import REVIEW, REVIEWS, ReviewsListed, ReviewState
from bot.service.talk.commands import (
    HOUR,
    SOURCE_COMMANDS,
    SourcePlace,
    about,
    answer_commands,
    commands_line,
    may_be_answered,
    names_of,
    unanswered,
)
from bot.service.talk.folders import describe
from bot.service.talk.waivers import add_waivers, dump_waivers, seen_files, waivers_in
from bot.service.waits import FIRST_RETRY, LONGEST_RETRY, REVIEWS_EVERY
from bot.service.watch.outcome import Report

REVIEWS_OF_ONE = 20  # open requests of one account that are reviewed, the oldest first
REVIEWS_OF_ALL = 200  # open requests of all strangers that are reviewed
REVIEW_ROWS = 500  # rows of one request that are compared with the board
ENDED = (DiscussionsDisabled, Gone)  # refusals that end a review: nobody waits for another try
GO_ON = "compare"  # has another pass go on with the reviews that are known; it lists none
REFRESHED = 20  # reviews of one pass that are compared with what moved on the board
SHORT_LIST = 50  # open requests that are listed in each pass
LOST = 50  # merged requests, the newest, that are looked at after a loss of the state


@dataclass(frozen=True)
class TargetBoard:
    """The rows with which a review compares, by key, and the board that they make."""

    entries: Mapping[str, Entry]
    board: Board


def effects_of(context: WatchContext, proposal: SourceRequest, read_board: Callable[[], TargetBoard | None]) -> Effects:
    """Compare the rows as they stand with those that the source would make after the merge."""
    touched = sorted(proposal.touched)
    gone = context.state.submissions.of_files(touched[:REVIEW_ROWS])
    new = judged(context, proposal.files)
    found = sorted({one.key for one in [*gone.values(), *new] if one.key is not None})
    keys = with_near(found[:REVIEW_ROWS], context.leaderboard, context.state)
    current = list(context.state.submissions.of(keys).values()) if keys else []
    left = [one for one in current if not {one.path, file_of(one.path)} & proposal.touched]
    after = left + [one for one in new if one.key in keys]
    is_cut = len(touched) > REVIEW_ROWS or len(found) > REVIEW_ROWS
    effects = Effects(proposal.unread, proposal.deleted, proposal.replaced, proposal.others, is_cut=is_cut)
    if not keys:
        return effects
    return _with_rows(effects, context, keys, (context.made(current), context.made(after)), read_board())


def _with_rows(
    effects: Effects,
    context: WatchContext,
    keys: Sequence[str],
    made: tuple[MadeEntries, MadeEntries],
    current: TargetBoard | None,
) -> Effects:
    """The effects with what happens to the rows, compared with a board, or else with what the source makes now."""
    was, will = made
    before = {entry.key: entry for entry in was.entries}
    board = current or TargetBoard(before, make_board(was.entries, context.leaderboard))
    there = board.entries
    after = {entry.key: _chosen(entry, there.get(entry.key), context.source.name) for entry in will.entries}
    moved = [key for key in keys if _digest(before.get(key)) != _digest(after.get(key))]
    removed = [key for key in moved if key in before and key not in after]
    proposed = [after[key] for key in moved if key in after]
    models = {key: (after.get(key) or before[key]).model.id for key in keys if key in after or key in before}
    disputed = {one.model.id: first_folder(one, before.get(one.key) or there.get(one.key)) for one in proposed}
    gone = frozenset(removed)
    kept = {key: entry for key, entry in there.items() if key not in gone}
    new = {entry.key: entry for entry in proposed}
    after_merge = make_board((kept | new).values(), context.leaderboard)
    return replace(
        effects,
        comparisons=compare(board.board, after_merge, proposed, list(there.values())),
        removed=[models[key] for key in removed],
        unchanged=[models[key] for key in keys if key in models and key not in moved],
        disputed={model: folder for model, folder in disputed.items() if folder},
        refused=will.refused,
        has_ranks=current is not None,
    )


def _chosen(entry: Entry, there: Entry | None, source: str) -> Entry:
    """The entry that would stand at the target: a row of another source competes, as at publication."""
    rival = there if there is not None and not is_from(there, source) else None
    return choose([entry], rival)


def _digest(entry: Entry | None) -> str:
    return digest_of(entry) if entry is not None else ""


def compare(before: Board, after: Board, proposed: Iterable[Entry], there: Sequence[Entry] = ()) -> list[Comparison]:
    """The places of the proposed rows before and after a merge, and how each differs from another row of its model."""
    found = [(entry, place_on(before, entry.key), place_on(after, entry.key)) for entry in proposed]
    return [
        Comparison(entry.model.id, was, now, beside_line(entry, there)) for entry, was, now in found if now is not None
    ]


def place_on(board: Board, key: str) -> BoardPlace | None:
    """The place of a row on a board, None if it has none."""
    row = next((row for row in board.rows if row.entry.key == key), None)
    if row is None:
        return None
    ranked = sum(other.rank is not None for other in board.rows)
    return BoardPlace(row.entry.average, rank_sentence(row, board.rows, ranked))


# what is remembered of a review, and what it depends on


def state_of(context: WatchContext, num: int) -> ReviewState:
    """The remembered state of one review, an empty one if there is none."""
    return context.state.recall(REVIEW, str(num)) or ReviewState()


def known_states(context: WatchContext) -> dict[int, ReviewState]:
    """The remembered states of all reviews, by number."""
    return {int(subject): value for subject, value in context.state.recall_all(REVIEW).items()}


def keep_state(context: WatchContext, num: int, state: ReviewState | None) -> None:
    """Remember a review; None forgets it."""
    context.state.remember(REVIEW, state, str(num))
    if state is None:
        context.state.set_proposal(num, None)


def rules_of(context: WatchContext) -> str:
    """A digest of the settings that every review depends on."""
    rules = [
        context.leaderboard.judging_digest,
        sorted(context.watch.maintainers),
        context.watch.owners,
        [one.value for one in context.watch.identity],
    ]
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:12]


def memo_of(context: WatchContext, thread: Thread, head: str) -> str:
    """A digest of what was said on a request, at a head."""
    comments = [(comment.id, comment.text) for comment in thread.comments]
    return hashlib.sha256(json.dumps([head, rules_of(context), comments]).encode()).hexdigest()


def basis_of(context: WatchContext, head: str) -> str:
    """A digest of what a review depends on: the source, the head of the first target, the rules and the waivers.

    The files that are still to be read belong to the source.
    """
    state = context.state
    source = [state.commit, state.items.count_due("file", inf)]
    parts = [source, head, context.definition(), dump_waivers(context.waivers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def digest_of_text(body: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(body.strip().encode()).hexdigest()[:16]


def review_mark(context: WatchContext, num: int) -> Marker:
    """The mark of the sticky comment."""
    return Marker("verdict", f"#{num}", context.leaderboard.id)


def stickies(context: WatchContext, thread: Thread, us: str) -> list[Comment]:
    """Our sticky comments on a request; one where no other process posted a second."""
    return [one for one in thread.comments_of(us) if find_marker(one.text) == review_mark(context, thread.num)]


def admitted(rows: Iterable[Listed], maintainers: Container[str]) -> list[int]:
    """The requests that are reviewed: all of maintainers, and of strangers so many each and together, oldest first."""
    counts: Counter[str] = Counter()
    found = []
    for row in sorted(rows, key=lambda row: row.num):
        if row.author not in maintainers:
            if counts[row.author] >= REVIEWS_OF_ONE or counts.total() >= REVIEWS_OF_ALL:
                continue
            counts[row.author] += 1
        found.append(row.num)
    return found


@dataclass
class Reviews:
    """Reviews the open requests at the source of one watch; each is an item."""

    context: WatchContext
    discussions: Discussions
    report: Report

    @property
    def source(self) -> ReviewedSource:
        """The same repository, for reading."""
        return self.discussions.source

    @property
    def _target(self) -> Target | None:
        """The first target that keeps rows as files and so has a board; None if there is none."""
        return self.context.first_board[0] if self.context.first_board is not None else None

    @cached_property
    def _head(self) -> str:
        """The commit of that target when it was first looked at in this pass."""
        return self._target.head() if self._target is not None else ""

    def must_be_listed(self) -> bool:
        """Tell whether a pass lists the requests without a hint: always while they are few, else from time to time."""
        known = self.context.state.recall(REVIEWS)
        return known is None or known.count <= SHORT_LIST or not 0 <= self.context.clock() - known.at < REVIEWS_EVERY

    def list_requests(self, item: Item) -> None:
        """Mark each request of others in which something happened; this costs one list and the refs."""
        us, state = self.discussions.us, self.context.state
        try:
            listed = self.discussions.listed("pull_request", "open")
        except DiscussionsDisabled as refusal:
            self.report.say("unchanged", "reviews", str(refusal))
            self.context.finish([item])
            return
        rows = [row for row in listed if row.author != us]
        refs = self.source.refs(requests=True) if rows else {}
        known = known_states(self.context)
        nums = admitted(rows, self.context.maintainers)
        found = {num: (self._seen(num, refs), known.get(num, ReviewState())) for num in nums}
        moved = {num: (seen, was) for num, (seen, was) in found.items() if not seen or seen != was.seen}
        ended = {*(known.keys() - {row.num for row in rows}), *self._lost()}
        with state.transaction():
            for num, (seen, was) in moved.items():
                keep_state(self.context, num, msgspec.structs.replace(was, seen=seen))
            self.context.mark(marks("review", map(str, [*moved, *sorted(ended)])))
            state.remember(REVIEWS, ReviewsListed(self.context.clock(), len(listed)))
            self.context.finish([item])

    def _lost(self) -> list[int]:
        """After a loss of the state, the newest merged requests of others: their reviews may not say so yet."""
        if self.context.state.recall(REVIEWS) is not None:
            return []
        us, rows = self.discussions.us, self.discussions.listed("pull_request", "closed")
        return sorted(row.num for row in rows if row.status == "merged" and row.author != us)[-LOST:]

    def settle(self, items: Sequence[Item]) -> None:
        """Update every review; one that fails is noted, and the others go on."""
        if items:
            self.report.attempt(items, lambda: self._settle_all(items), finish=False)

    def refresh(self) -> None:
        """Compare a few open reviews with what changed on the board since; only those that change are written."""
        known = known_states(self.context)
        if not known:
            return
        basis = basis_of(self.context, self._head)
        behind = [(num, state) for num, state in sorted(known.items()) if state.said and state.basis != basis]
        stale = {num for num, state in behind[:REFRESHED] if not self._is_same(num, state, basis)}
        state = self.context.state
        with state.transaction():
            for num in stale:  # nothing of it is up to date
                keep_state(self.context, num, msgspec.structs.replace(known[num], memo="", basis=basis))
            more = [Mark("reviews", GO_ON)] if len(behind) > REFRESHED else []
            self.context.mark([*marks("review", map(str, sorted(stale))), *more])
        self.settle([item for item in self.context.due("review") if int(item.subject) in stale])

    def _is_same(self, num: int, state: ReviewState, basis: str) -> bool:
        """Tell whether a review would still say the same, without a request to the Hub.

        One that cannot be looked at counts as changed: it then fails alone, when it is its turn.
        """
        with suppress(BotError):
            kept, main = parse_cached(self.context.state.proposal(num)), self.context.state.commit or ""
            proposal = read_proposal(self.context, self.source, kept.head, main, kept) if kept.head else None
            if proposal and digest_of_text(self._body(num, proposal, self._judge(proposal))) == state.said:
                keep_state(self.context, num, msgspec.structs.replace(state, basis=basis))
                return True
        return False

    # what is remembered

    def _seen(self, num: int, refs: Mapping[str, str]) -> str:
        """A text that changes when a request changes; "" if the list does not count its comments."""
        count = self.discussions.counts.get(num)
        return f"{refs.get(f'refs/pr/{num}', '')} {count} {rules_of(self.context)}" if count is not None else ""

    # one review after the other

    def _settle_all(self, items: Sequence[Item]) -> None:
        refs = self.source.refs(requests=True)
        main = refs.get("refs/heads/main") or self.source.head()
        for item in items:
            num = int(item.subject)
            self.report.attempt([item], partial(self._settle_one, num, refs.get(f"refs/pr/{num}"), main))

    def _settle_one(self, num: int, head: str | None, main: str) -> None:
        state = state_of(self.context, num)
        try:
            thread = self.discussions.read(num)
            if not thread.is_open:
                self._close(num, thread)
            elif head is None:
                why = f"refs/pr/{num} is not there, or is for another branch, so there is nothing to judge"
                self.report.say("unchanged", f"review #{num}", why)
                if stickies(self.context, thread, self.discussions.us):
                    self._write(num, left_text(review_mark(self.context, num)))
            elif state.memo != memo_of(self.context, thread, head):
                self._update(num, head, main, state)
        except ENDED as refusal:
            self.report.say("unchanged", f"review #{num}", str(refusal))

    def _close(self, num: int, thread: Thread) -> None:
        """Forget a closed request; once it is merged, its review will link what is proposed at the targets."""
        with self.context.state.transaction():
            keep_state(self.context, num, None)
            if thread.status == "merged" and stickies(self.context, thread, self.discussions.us):
                self.context.mark([Mark("merged", str(num))])

    def _update(self, num: int, head: str, main: str, was: ReviewState) -> None:
        """Judge the files, answer the commands, and write the review."""
        kept = parse_cached(self.context.state.proposal(num))
        basis = basis_of(self.context, self._head)
        proposal = read_proposal(self.context, self.source, head, main, kept)
        self.context.state.set_proposal(num, kept.to_bytes())
        said, must_wait = retry_write(lambda: self._look_and_write(num, proposal))
        if said:
            self.report.say("written", f"review #{num}", "the comment is up to date")
        else:
            self.report.say("unchanged", f"review #{num}", "it changes no result file")
        memo = memo_of(self.context, self._without_repeated(self.discussions.read(num)), head)
        if must_wait:  # commands beyond the quota have their turn later
            self.context.mark([Mark("review", str(num))], HOUR)
            memo = ""
        keep_state(self.context, num, ReviewState(was.seen, memo, said, basis))

    def _without_repeated(self, thread: Thread) -> Thread:
        """The thread after removing what another process said there at the same moment."""
        found = repeated_comments(thread, self.discussions.us)
        for one in found:
            self.discussions.remove_duplicate(one)
        return self.discussions.read(thread.num) if found else thread

    def _look_and_write(self, num: int, proposal: SourceRequest) -> tuple[str, bool]:
        """Answer the commands, then update the sticky comment.

        Gives the digest of the comment, "" if there is none, and whether commands wait for another hour.
        """
        us, maintainers = self.discussions.us, self.context.maintainers
        thread, board = self.discussions.read(num), self.context.leaderboard.id
        comments = about(board, thread.comments, us)
        held = waivers_in(comments, us, maintainers)
        add_waivers(self.context, held)
        judgements = self._judge(proposal)
        asked = unanswered(comments, us, names_of(SOURCE_COMMANDS))
        now = [one for one in asked if may_be_answered(self.context, one.comment.author)]
        if answer_commands(SOURCE_COMMANDS, self._place(judgements, thread, proposal.head), now):
            given = waivers_in(about(board, self.discussions.read(num).comments, us), us, maintainers)
            add_waivers(self.context, given)
            judgements = self._judge(proposal) if given != held else judgements
        said = ""
        if not proposal.is_empty or stickies(self.context, thread, us):
            body = self._body(num, proposal, judgements)
            said = digest_of_text(body)
            name = f"leaderboard-bot/{self.context.leaderboard.id}"
            status, why = status_line([_status_of(one) for one in judgements], proposal.unread)
            self.discussions.show_verdict(proposal.head, name, status, why)
            self._write(num, body)
        return said, len(now) < len(asked)

    def _judge(self, proposal: SourceRequest) -> list[Judgement]:
        """The judgement of each row that the files make, under the waivers that are known."""
        return judgements_of_rows(self.context.judge(proposal.files))

    def _place(self, judgements: Sequence[Judgement], thread: Thread, head: str) -> SourcePlace:
        """The request as a place for commands."""
        verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
        ours = next(iter(stickies(self.context, thread, self.discussions.us)), None)
        return SourcePlace(
            f"{self.context.source.name} #{thread.num}",
            self.context.maintainers,
            self.context.leaderboard.id,
            lambda text: self.discussions.comment(thread.num, text),
            self.context.today,
            lambda comment: seen_files(comment, [one.sha256 for one in verdicts], thread, head, ours),
            judgements,
            [verdict.status for verdict in verdicts],
        )

    # the sticky comment

    def _body(self, num: int, proposal: SourceRequest, judgements: Sequence[Judgement]) -> str:
        """The desired text of the sticky comment; rejected rows come first."""
        context, effects = self.context, effects_of(self.context, proposal, lambda: self._board)
        worst = sorted(judgements, key=lambda judgement: _status_of(judgement) != "rejected")
        said = [describe(judgement, context.source.name, proposal.head, context.declaration) for judgement in worst]
        later, mark = when_kept(context.declaration), review_mark(context, num)
        files = sum(len(judgement.verdicts) for judgement in judgements)
        return review_text(proposal.head, said, effects, mark, commands_line(), files=files, later=later).body

    @cached_property
    def _board(self) -> TargetBoard | None:
        """The board at the target, read once."""
        board = self.context.leaderboard
        if self._target is None:
            return None
        there = {entry.key: entry for entry in self._target.scan_entries().of(board.id)}
        return TargetBoard(there, make_board(there.values(), board))

    def _write(self, num: int, body: str) -> None:
        """Post or edit the sticky comment."""
        ours = stickies(self.context, self.discussions.read(num), self.discussions.us)
        if not ours:
            self.discussions.comment(num, body)
        elif ours[0].text.strip() != body.strip():
            self.discussions.edit(num, ours[0].id, body)


def _status_of(judgement: Judgement) -> str:
    """The status of a row, which may lack tasks, unless a file is rejected that it does not do without."""
    is_rejected = not judgement.rows or any(one.status == "rejected" for one in judgement.counting)
    return "rejected" if is_rejected else judgement.rows[0].status


@dataclass
class MergedReviews:
    """Updates the reviews of merged requests: each then says that it was merged, and where its rows are."""

    context: WatchContext
    discussions: Discussions
    report: Report

    def settle(self, items: Collection[Item]) -> None:
        """Update these reviews; those whose rows are not published yet wait for that."""
        for item in items:
            self.report.attempt([item], lambda one=item: self._settle_one(one), finish=False)  # type: ignore[misc]

    def _settle_one(self, item: Item) -> None:
        num, state = int(item.subject), self.context.state
        source = self.discussions.source
        head, main = source.closed_head(num), source.head()
        found = source.changes(source.fork_point(head, main), head) if head is not None else ()
        wanted = {change.path for change in found if is_wanted(change.path, self.context.watch.paths)}
        subjects = {subject for path in wanted for subject in subjects_of(path)}
        keys = sorted({one.key for one in state.submissions.of_files(subjects).values() if one.key})
        is_read = state.commit == main and not state.items.is_waiting("file", subjects)
        if not is_read or state.items.is_waiting("row", [*keys, ""]):  # its rows are not published yet
            now = self.context.clock()  # a target may be out of reach for weeks
            state.items.postpone(item, now + min(max(now - item.since, FIRST_RETRY), LONGEST_RETRY))
            return
        retry_write(lambda: self._write(num, head or "", keys))
        self.context.finish([item])

    def _write(self, num: int, head: str, keys: Collection[str]) -> None:
        thread = self.discussions.read(num)
        ours = stickies(self.context, thread, self.discussions.us)
        if thread.status != "merged" or not ours or is_merged_text(ours[0].text):
            return
        said = ours[0].text.replace(f"{commands_line()}\n\n", "")  # nobody answers them there any more
        body = merged_text(said, head, *row_links(self.context, keys), review_mark(self.context, num))
        self.discussions.edit(num, ours[0].id, body)
        self.report.say("written", f"review #{num}", "says that the request was merged")
