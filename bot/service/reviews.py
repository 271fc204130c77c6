"""Reviews of requests at the source: one comment on each says what merging does and how files were judged."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from bot.errors import DiscussionsDisabled, Gone, Locked
from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Waiver
from bot.platforms.hub.discussions import Comment, HubDiscussions, Listed, Thread
from bot.platforms.hub.source import HubSource
from bot.publishing.publication import Marker, find_marker
from bot.publishing.verdict_texts import Effects, merged_text, review_text
from bot.service import quotas
from bot.service.commands import AnswerContext, answer_commands, waivers_in
from bot.service.context import WatchContext
from bot.service.folders import describe
from bot.service.items import Item, Mark, marks
from bot.service.links import request_links
from bot.service.outcome import Report
from bot.service.previews import Preview, preview_of
from bot.service.proposals import SourceRequest, read_proposal
from bot.service.reconcile import retry_write

STATE = "review "  # what the cursors of reviews begin with
ENDED = (Locked, DiscussionsDisabled, Gone)  # refusals that end a review: nobody waits for another try


class ReviewState(msgspec.Struct, frozen=True):
    """What is remembered of a review.

    `seen` is its head and how many comments the list counted: while both are the same, nothing is asked. `memo` stands
    for all that the review depends on, and `keys` are the rows that it is about.
    """

    seen: str = ""
    memo: str = ""
    keys: tuple[str, ...] = ()


def is_newest(thread: Thread, comment: Comment, head: str) -> bool:
    """Whether a comment was written when `head` was the newest commit of its request already, and it still is."""
    return bool(thread.commits) and thread.commits[-1][0] == head and thread.commits[-1][1] < comment.place


def admitted(rows: Iterable[Listed], maintainers: Sequence[str]) -> list[int]:
    """The requests that are reviewed: all of maintainers, and of strangers so many each and together, oldest first."""
    counts: Counter[str] = Counter()
    found = []
    for row in sorted(rows, key=lambda row: row.num):
        if row.author not in maintainers:
            if counts[row.author] >= quotas.REVIEWS_OF_ONE or counts.total() >= quotas.REVIEWS_OF_ALL:
                continue
            counts[row.author] += 1
        found.append(row.num)
    return found


@dataclass
class Reviews:
    """Reviews the open requests at the source of one watch, one item each."""

    context: WatchContext
    source: HubSource
    discussions: HubDiscussions
    report: Report

    def list_requests(self, item: Item) -> None:
        """Mark each open request of others in which something happened; one list and the refs are asked for."""
        us, store, name = self.discussions.client.user, self.context.store, self.context.name
        try:
            rows = [row for row in self.discussions.listed("pull_request", "open") if row.author != us]
        except DiscussionsDisabled as refusal:
            self.report.say("unchanged", "reviews", str(refusal))
            store.finish([item])
            return
        refs = self.source.refs(requests=True) if rows else {}
        known = self._known()
        nums = admitted(rows, self.context.watch.maintainers)
        moved = [num for num in nums if not self._is_seen(num, refs, known.get(num))]
        closed = known.keys() - {row.num for row in rows}
        with store.transaction():
            store.mark(name, marks("review", map(str, [*moved, *sorted(closed)])), self.context.clock())
            store.finish([item])

    def settle(self, items: Sequence[Item]) -> None:
        """Bring every review up to date; one that fails is noted, and the others go on."""
        if items:
            self.report.attempt(items, lambda: self._settle_all(items), finish=False)

    # what is remembered

    def _known(self) -> dict[int, ReviewState]:
        found = self.context.store.cursors(self.context.name, STATE)
        return {int(subject.removeprefix(STATE)): parse_state(value) for subject, value in found.items()}

    def _keep(self, num: int, state: ReviewState | None) -> None:
        value = msgspec.json.encode(state).decode() if state is not None else None
        self.context.store.set_cursor(self.context.name, f"{STATE}{num}", value)

    def _seen(self, num: int, refs: Mapping[str, str]) -> str:
        """What the list and the refs tell of a request; "" where the list does not count its comments."""
        count = self.discussions.counts.get(num)
        return f"{refs.get(f'refs/pr/{num}', '')} {count} {self._rules()}" if count is not None else ""

    def _is_seen(self, num: int, refs: Mapping[str, str], state: ReviewState | None) -> bool:
        seen = self._seen(num, refs)
        return bool(seen) and state is not None and state.seen == seen

    def _rules(self) -> str:
        """What decides over every review, as one word."""
        rules = [self.context.leaderboard.scoring_digest, sorted(self.context.watch.maintainers)]
        return hashlib.sha256(json.dumps([*rules, self.context.watch.owners]).encode()).hexdigest()[:12]

    def _memo(self, thread: Thread, head: str) -> str:
        """What a review depends on, as one word: while it is the same, nothing is read again."""
        comments = [(comment.id, comment.text) for comment in thread.comments]
        return hashlib.sha256(json.dumps([head, self._rules(), comments]).encode()).hexdigest()

    # one review after the other

    def _settle_all(self, items: Sequence[Item]) -> None:
        refs, known = self.source.refs(requests=True), self._known()
        for item in items:
            num = int(item.subject)
            state = known.get(num, ReviewState())
            self.report.attempt([item], lambda n=num, s=state: self._settle_one(n, refs, s))  # type: ignore[misc]

    def _settle_one(self, num: int, refs: Mapping[str, str], state: ReviewState) -> None:
        head, seen = refs.get(f"refs/pr/{num}"), self._seen(num, refs)
        try:
            thread = self.discussions.read(num)
            if not thread.is_open:
                self._close(num, thread, state)
            elif head is None:
                self._end(num, state, seen, f"refs/pr/{num} is not there, so there is nothing to judge")
            elif state.memo == self._memo(thread, head):
                self._keep(num, msgspec.structs.replace(state, seen=seen))
            else:
                self._update(num, head, refs["refs/heads/main"], thread, seen)
        except ENDED as refusal:
            self._end(num, state, seen, str(refusal))

    def _close(self, num: int, thread: Thread, state: ReviewState) -> None:
        """Leave a closed request; once merged, its review links what is proposed at the targets.

        The rows follow in the same pass, so that links are looked for in its next round.
        """
        ours = self._ours(thread, num)
        if thread.status != "merged" or not ours or not state.keys:
            self._keep(num, None)
        elif state.memo != thread.status:
            self._keep(num, msgspec.structs.replace(state, memo=thread.status))
            self.context.store.mark(self.context.name, [Mark("review", str(num))], self.context.clock())
        else:
            links = request_links(self.context, state.keys)
            body = merged_text(ours[0].text, links, self._mark(num))
            if links and body.strip() != ours[0].text.strip():
                self.discussions.edit(num, ours[0].id, body)
            self._keep(num, None)

    def _end(self, num: int, state: ReviewState, seen: str, why: str) -> None:
        """Leave a review as it stands until something happens there."""
        self._keep(num, msgspec.structs.replace(state, seen=seen))
        self.report.say("unchanged", f"review #{num}", why)

    def _update(self, num: int, head: str, main: str, thread: Thread, seen: str) -> None:
        """Judge, answer and write."""
        self._learn(waivers_in(thread, self.discussions.client.user, self.context.watch.maintainers))
        proposal = read_proposal(self.context, self.source, head, main)
        keys: list[str] = []
        waiting: list[int] = []
        retry_write(lambda: self._look_and_write(num, proposal, keys, waiting))
        self.report.say("published", f"review #{num}", "the comment is up to date")
        state = ReviewState(seen, self._memo(self.discussions.read(num), head), tuple(keys))
        if waiting:  # commands beyond the quota have their turn later
            store, name = self.context.store, self.context.name
            store.mark(name, [Mark("review", str(num))], self.context.clock() + quotas.HOUR)
            state = msgspec.structs.replace(state, memo="")
        self._keep(num, state)

    def _look_and_write(self, num: int, proposal: SourceRequest, keys: list[str], waiting: list[int]) -> None:
        """Answer what was asked, then bring the sticky comment to what is so."""
        thread, us, maintainers = (
            self.discussions.read(num),
            self.discussions.client.user,
            self.context.watch.maintainers,
        )
        held = waivers_in(thread, us, maintainers)
        judgements = self._judge(proposal, held)
        about = self._answers(judgements, thread, proposal.head)
        answered = answer_commands(self.discussions, thread, about, quotas.CommandQuota(self.context).take)
        waiting[:] = [answered.waiting] if answered.waiting else []
        if answered.waivers != held:
            judgements = self._judge(proposal, answered.waivers)
        self._learn(answered.waivers)
        if not proposal.is_empty or self._ours(thread, num):
            preview = preview_of(self.context, proposal)
            keys[:] = preview.keys
            self._write(num, self._body(num, proposal, judgements, preview))

    def _learn(self, waivers: Sequence[Waiver]) -> None:
        """Keep waivers that were given here."""
        self.context.waivers += [waiver for waiver in waivers if waiver not in self.context.waivers]

    def _judge(self, proposal: SourceRequest, waivers: Sequence[Waiver]) -> list[Judgement]:
        """Judge each file with what was waived here."""
        context = replace(self.context, waivers=[*self.context.waivers, *waivers])
        return [context.judge([file]) for file in proposal.files]

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

    # the sticky comment

    def _body(self, num: int, proposal: SourceRequest, judgements: Sequence[Judgement], preview: Preview) -> str:
        worst = sorted(judgements, key=lambda judgement: judgement.verdicts[0].status != "rejected")
        said = [
            describe(judgement, self.context.source.name, proposal.head, self.context.declaration)
            for judgement in worst
        ]
        effects = Effects(
            proposal.unread,
            proposal.deleted,
            proposal.replaced,
            proposal.others,
            preview.comparisons,
            preview.removed,
            preview.unchanged,
            preview.contested,
            preview.refused,
            preview.is_cut,
        )
        return review_text(proposal.head, said, effects, self._mark(num)).body

    def _mark(self, num: int) -> Marker:
        """The mark of the sticky comment."""
        return Marker("verdict", f"#{num}", self.context.leaderboard.id)

    def _ours(self, thread: Thread, num: int) -> list[Comment]:
        """Our sticky comments; one where no other process posted a second."""
        ours = thread.comments_of(self.discussions.client.user)
        return [comment for comment in ours if find_marker(comment.text) == self._mark(num)]

    def _write(self, num: int, body: str) -> None:
        """Post or edit the sticky comment."""
        ours = self._ours(self.discussions.read(num), num)
        if not ours:
            self.discussions.comment(num, body)
        elif ours[0].text.strip() != body.strip():
            self.discussions.edit(num, ours[0].id, body)


def parse_state(text: str) -> ReviewState:
    """A state from its text; an empty one where the text is another version's."""
    try:
        return msgspec.json.decode(text, type=ReviewState)
    except msgspec.DecodeError:
        return ReviewState()
