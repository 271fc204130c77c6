"""Carry out the commands that maintainers write at a target, on the bot's requests and in the discussion of plans.

The target decides: a command without an answer of the bot is still open, and the answers record what was declined. The
state remembers how many comments were seen, so that nothing is requested where nobody wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bot.errors import TooLong
from bot.platforms.discussions import Comment, Conversation, MarkedComments
from bot.platforms.target import Target
from bot.publishing.answers import answer_text, other_commit_merged, plan_changed
from bot.publishing.decisions import RowDecision
from bot.publishing.publication import find_marker, plan_mark
from bot.service.context import WatchContext
from bot.service.publish.ledger import let_go
from bot.service.store.items import Item, Mark, marks
from bot.service.store.memory import DECLINES, PLAN_COMMENTS, REQUEST
from bot.service.talk.commands import (
    ANSWERED_AT_REQUESTS,
    PLAN_COMMANDS,
    PlanPlace,
    RequestPlace,
    answer_commands,
    answers_of,
    declines_in,
    dropped_in,
    last_answer,
    may_be_answered,
    names_of,
    unanswered,
)
from bot.service.watch.outcome import Report

PLAN_COMMENTS_KEPT = 1_000  # comments about plans whose ids are remembered
MERGED = "merged"  # what the answer about another merged commit is about, in the place of a comment


@dataclass
class TargetCommands:
    """Carries out what maintainers write on the requests of one target."""

    context: WatchContext
    target: Target
    comments: MarkedComments
    to: str
    report: Report

    def observe(self) -> None:
        """Mark the requests on which somebody wrote since they were read last."""
        self._find_declines()
        state = self.context.state
        counts = self.target.comment_counts()
        known = state.recall_all(REQUEST, target=self.to)
        moved = {num: count for num, count in counts.items() if known.get(num) != count}
        with state.transaction():
            for num, count in moved.items():
                state.remember(REQUEST, count, num, target=self.to)
            written = [num for num, count in moved.items() if count > 1]  # its text alone is no command
            self.context.mark(marks("request", written, [self.to]))

    def settle(self, items: Sequence[Item]) -> None:
        """Carry out and answer the commands on these requests; one that fails is tried again, the others go on."""
        for item in items:
            self.report.attempt([item], lambda one=item: self._settle_one(one.subject))  # type: ignore[misc]

    def _find_declines(self) -> None:
        """After a loss of the state, or where others are maintainers, find again what was declined."""
        maintainers = sorted(self.context.watch.maintainers_at(self.to))
        if self.context.state.recall(DECLINES, target=self.to) == maintainers:
            return
        us = self.comments.discussions.us
        for num in self.target.shared_requests() if maintainers else ():
            try:
                request = self.target.conversation(num)
            except TooLong as failure:  # somebody wrote very much there
                self.report.say("failed", f"request {num}", str(failure))
                continue
            if request is not None:
                note_declines(self.context, self.to, declines_in(request.comments, us, maintainers))
        self.context.state.remember(DECLINES, maintainers, target=self.to)

    def _settle_one(self, num: str) -> None:
        request = self.target.conversation(num)
        if request is None or request.mark is None or request.mark.leaderboard != self.context.leaderboard.id:
            return
        us, maintainers = self.comments.discussions.us, self.context.watch.maintainers_at(self.to)
        board, say = self.context.leaderboard.id, partial(self.comments.say, num)
        where = f"{self.to} #{num}"
        place = RequestPlace(where, maintainers, board, say, self.context, self.target, us, request, self.report)
        for one in unanswered(request.comments, us, names_of(ANSWERED_AT_REQUESTS)):
            if not may_be_answered(self.context, one.comment.author):
                self.context.state.remember(REQUEST, None, num, target=self.to)  # it waits
            elif not answer_commands(ANSWERED_AT_REQUESTS, place, [one]):
                break  # it is merged: later comments there need no answer
        after = self.target.conversation(num)
        if after is not None:
            note_declines(self.context, self.to, declines_in(after.comments, us, maintainers))
            self._tell_other(after, answers_of(request.comments, us))

    def _tell_other(self, request: Conversation, answered: Collection[str]) -> None:
        """Say so where a commit arrived while the bot merged, so that another one was merged than was checked."""
        us, head = self.comments.discussions.us, request.head
        said = [find_marker(one.text) for one in request.comments if one.author == us]
        ours = [mark.decided.commit for mark in said if mark and mark.decided and mark.decided.commit]
        if request.status != "merged" or MERGED in answered or not ours or not head or head == ours[-1]:
            return
        answer = other_commit_merged(head, ours[-1])
        self.comments.say(request.name, answer_text(answer, MERGED, self.context.leaderboard.id))
        self.report.say("failed", f"request {request.name}", answer.words, status=1)


# the discussion of plans


def learn_approvals(context: WatchContext, target: Target, to: str) -> None:
    """Approve or decline the plan that waits at a target where a maintainer wrote so; each comment counts once."""
    plan, comments = context.state.plans.at(to), target.comments
    if plan is None or plan.is_approved or comments is None:
        return
    mark, maintainers = plan_mark(context.leaderboard.id, context.source.name), context.watch.maintainers_at(to)
    taken = {row.key: row.digest.rpartition(">")[2] for row in plan.plan.having("restored")}
    place = PlanPlace(
        mark.key,
        maintainers,
        context.leaderboard.id,
        lambda text: comments.answer(mark, text),
        plan.plan,
        taken,
        lambda: context.state.plans.approve(plan.digest),
        lambda: context.state.plans.decline(plan.digest),
    )
    replies, us = comments.replies(mark), comments.discussions.us
    used = context.state.recall(PLAN_COMMENTS, target=to) or []
    # A command that is older than what the bot shows was about another plan, or is carried out.
    shown = max((one.changed for one in replies if one.author == us and find_marker(one.text) == mark), default=0.0)

    def note_used(comment: Comment) -> None:
        used.append(comment.id)
        context.state.remember(PLAN_COMMENTS, used[-PLAN_COMMENTS_KEPT:], target=to)

    asked, answer = last_answer(plan.plan, replies, us, maintainers)
    if answer == "declined":
        place.decline()
    elif asked is not None and asked.id not in used and asked.at >= shown:  # stopped before it did what it says
        place.approve()
        note_used(asked)
    for one in unanswered(replies, us, names_of(PLAN_COMMANDS)):
        # Whoever takes the bot's answer away must not make a command count once more, nor for a later plan.
        if one.comment.id in used or not may_be_answered(context, one.comment.author):
            continue
        is_older = one.comment.author in maintainers and one.comment.at < shown
        if is_older:
            comments.answer(mark, place.text(plan_changed(), one.comment))
        else:
            answer_commands(PLAN_COMMANDS, place, [one])
        if one.comment.author in maintainers:
            note_used(one.comment)
    dropped = taken.items() & dropped_in(replies, us, maintainers)
    let_go(context, to, [key for key, _ in dropped])  # with other rows in an earlier plan
    context.mark(marks("row", sorted(key for key, _ in dropped), [to]))


# the rows that were declined


def note_declines(context: WatchContext, to: str, found: Mapping[str, Collection[RowDecision]]) -> None:
    """Remember what was declined, forget what was taken back, and mark those rows."""
    state = context.state
    with state.transaction():
        decided = state.decided(to)
        for key, declined in found.items():
            before = decided.get(key, ())
            known = {one.digest for one in before if one.what == "declined"}
            added = [one for one in declined if one.digest not in known]
            kept = [one for one in before if one.what != "declined" or declined]
            if added or len(kept) < len(before):
                state.decide(to, key, [*kept, *added])
                context.mark([Mark("row", key, to)])
