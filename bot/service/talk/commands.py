"""The commands that people write in comments: how they are read, one table of them, and what the answers record.

The bot answers each command once, with a reply that names the comment. What a command granted stands in that reply:
later edits of the comment change nothing, and a reply that somebody edited grants nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Generic, Literal, TypeVar

from bot.errors import Refused, Stale
from bot.evaluation.rules import ALL_RULES
from bot.evaluation.verdict import Judgement
from bot.platforms.discussions import Comment, Conversation
from bot.platforms.target import Target
from bot.publishing import answers
from bot.publishing.answers import Answer, answer_text
from bot.publishing.decisions import Decided, RowDecision
from bot.publishing.plan import DIGEST, Plan
from bot.publishing.publication import find_marker, parse_row_marks
from bot.publishing.verdict_texts import preformatted
from bot.reporting.escape import brief
from bot.reporting.explanation import column_named, explain
from bot.service.context import WatchContext
from bot.service.judge.reading import row_lines
from bot.service.store.memory import ANSWERED
from bot.service.watch.outcome import Report

Who = Literal["anybody", "maintainers"]
Where = Literal["source", "plan", "request", "shared"]
# A code block is indented by four spaces or a tab.
COMMAND = re.compile(r" {0,3}/([a-z]+)(?![^ \t\r])")
COMMANDS_OF_ONE = 20  # commands of one account that are answered in an hour
COMMANDS_OF_ALL = 100  # commands of all strangers that are answered in an hour
HOUR = 3600.0  # seconds
EVERYBODY = "*"  # no account has this name


@dataclass(frozen=True, slots=True)
class RequestedCommand:
    """A command that somebody wrote: its name and the words after it."""

    name: str
    words: str
    comment: Comment


def command_in(text: str) -> tuple[str, str] | None:
    """The name of the command in a comment and the words after it; None if the comment does not begin with one.

    A comment that begins with a code block, a quotation or an HTML comment holds no command. A lone half of a character
    becomes a question mark: the state takes none.
    """
    line = next((line for line in text.split("\n") if line.strip()), "").encode(errors="replace").decode()
    found = COMMAND.match(line)
    return (found[1], line[found.end() :].strip().strip("`")) if found else None


def answers_of(comments: Iterable[Comment], us: str) -> dict[str, Comment]:
    """The bot's answers, by the id of the comment that each answers."""
    ours = ((find_marker(one.text), one) for one in comments if one.author == us)
    return {mark.key: one for mark, one in ours if mark is not None and mark.kind == "reply"}


def about(board: str, comments: Iterable[Comment], us: str) -> list[Comment]:
    """The comments without what the bot said for other leaderboards, for which the same request may be reviewed."""
    marked = ((one, find_marker(one.text) if one.author == us else None) for one in comments)
    return [one for one, mark in marked if mark is None or mark.leaderboard == board]


def unanswered(comments: Sequence[Comment], us: str, names: Container[str]) -> list[RequestedCommand]:
    """The commands of these names in the comments of others that the bot has not answered."""
    answered = answers_of(comments, us)
    open_ones = ((one, command_in(one.text)) for one in comments if one.author != us and one.id not in answered)
    return [RequestedCommand(*found, one) for one, found in open_ones if found is not None and found[0] in names]


def decisions_in(comments: Sequence[Comment], us: str, people: Container[str]) -> Iterator[tuple[Comment, Decided]]:
    """Each comment of these people that decided something, and the decision, as the bot's answer records it.

    An answer that somebody edited after the bot posted it records nothing.
    """
    answered = answers_of(comments, us)
    for one in comments:
        answer = answered.get(one.id) if one.author != us and one.author in people else None
        mark = find_marker(answer.text) if answer is not None and not answer.edited else None
        if mark is not None and mark.decided is not None:
            yield one, mark.decided


def may_be_answered(context: WatchContext, author: str) -> bool:
    """Count a command of an account if it may be answered now; tell whether it may. Only strangers have a quota."""
    if author in context.maintainers:
        return True
    state, now = context.state, context.clock()
    limits = {author: COMMANDS_OF_ONE, EVERYBODY: COMMANDS_OF_ALL}
    with state.transaction():
        known = {who: state.recall(ANSWERED, who) or [] for who in limits}
        recent = {who: [at for at in times if now - HOUR < at <= now] for who, times in known.items()}
        if any(len(recent[who]) >= most for who, most in limits.items()):
            return False
        for who, times in recent.items():
            state.remember(ANSWERED, [*times, now], who)
    return True


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Where commands are written: its name, the maintainers, the leaderboard, and what posts an answer."""

    name: str
    maintainers: Container[str]
    leaderboard_id: str
    post: Callable[[str], object]

    def text(self, answer: Answer, comment: Comment) -> str:
        """The text of an answer, with what it decides."""
        return answer_text(
            answer, comment.id, self.leaderboard_id, who=comment.author, where=self.name, when=comment.at
        )


P_contra = TypeVar("P_contra", bound=CommandPlace, contravariant=True)


@dataclass(frozen=True, slots=True)
class Command(Generic[P_contra]):
    """One command: how it is written, where and by whom, what it does in a few words, and the function that does it.

    `words` matches what follows the name. `do` gives the answer, None where it was posted already.
    """

    usage: str
    where: Where
    who: Who
    does: str
    words: re.Pattern[str]
    do: Callable[[P_contra, RequestedCommand, re.Match[str]], Answer | None]
    hint: str = ""

    @property
    def name(self) -> str:
        """The word after the slash."""
        return self.usage.partition(" ")[0].removeprefix("/")

    def answer(self, place: P_contra, asked: RequestedCommand) -> Answer | None:
        """Carry the command out if it is allowed, and give the answer."""
        if self.who == "maintainers" and asked.comment.author not in place.maintainers:
            return answers.not_a_maintainer(place.leaderboard_id)
        if asked.comment.edited:
            return answers.comment_was_edited()
        words = self.words.fullmatch(asked.words)
        return answers.command_unreadable(self.usage, self.hint) if words is None else self.do(place, asked, words)


def answer_commands(commands: Iterable[Command[P_contra]], place: P_contra, asked: Iterable[RequestedCommand]) -> int:
    """Answer these commands in their order, each in a comment of its own; returns how many answers were posted here."""
    table, posted = {command.name: command for command in commands}, 0
    for one in asked:
        answer = table[one.name].answer(place, one)
        if answer is not None:
            place.post(place.text(answer, one.comment))
            posted += 1
    return posted


# At the source: /recheck, /explain, /ignore

# Without a number nothing can be published; of two rows that read alike one counts.
NEVER_WAIVED = frozenset({"non-finite-value", "malformed-file", "spelled-otherwise"})


@dataclass(frozen=True, slots=True)
class SourcePlace(CommandPlace):
    """A discussion or request at the source, with the files that it is about and their verdicts.

    `seen` gives the SHA-256 of the files that the author of a comment saw when it was written.
    """

    today: date
    seen: Callable[[Comment], Sequence[str]]
    judgements: Sequence[Judgement]
    states: Sequence[str]


def recheck(place: SourcePlace, _: RequestedCommand, __: re.Match[str]) -> Answer:
    """Give the present verdicts: this very pass judged the files again."""
    return answers.files_rechecked(place.leaderboard_id, place.states)


def explain_scores(place: SourcePlace, asked: RequestedCommand, _: re.Match[str]) -> Answer:
    """Show how each number became a score, or those of one task."""
    rows = [row for judgement in place.judgements for row in judgement.rows]
    if not rows:
        return answers.nothing_to_explain()
    leaderboard = rows[0].leaderboard
    task = column_named(leaderboard, asked.words)
    if asked.words and not task:
        return answers.task_unknown(asked.words, place.leaderboard_id, [one.id for one in leaderboard.tasks])
    return Answer("\n\n".join(preformatted(explain(row, task)) for row in rows))


def ignore(place: SourcePlace, asked: RequestedCommand, words: re.Match[str]) -> Answer:
    """Waive a rule for exactly the files that the maintainer saw, or say why nothing is waived."""
    rule, reason = words[1], brief(words[3], answers.REASON_LIMIT)
    if rule in NEVER_WAIVED:
        return answers.rule_never_waived(rule)
    if rule not in {one.id for one in ALL_RULES}:
        return answers.rule_unknown(rule)
    try:
        until = date.fromisoformat(words[2])
    except ValueError:
        return answers.day_unreadable(words[2])
    if until < place.today:
        return answers.day_passed(until)
    files = [sha for sha in place.seen(asked.comment) if sha]
    return answers.rule_waived(rule, until, reason, files) if files else answers.files_changed()


# On the bot's requests at a target: /merge, /decline


@dataclass(frozen=True, slots=True)
class RequestPlace(CommandPlace):
    """A request of the bot at a target."""

    context: WatchContext
    target: Target
    us: str
    request: Conversation
    report: Report


def merge(place: RequestPlace, asked: RequestedCommand, words: re.Match[str]) -> Answer | None:
    """Merge a request at the commit that the maintainer saw or named, or say why not."""
    request, commit = place.request, words[1] or ""
    if request.status != "open":
        return answers.request_is_over(request.status)
    if not commit and request.head and not request.is_ours:
        return answers.newest_commit_of_others(request.head)
    if not (request.head == commit if commit else asked.comment.saw_head):
        return answers.commit_came_later()
    try:
        done = place.text(answers.request_merged(request.head), asked.comment)
        place.target.merge(request.name, request.head, done)
    except Refused as refusal:
        return answers.merge_not_allowed(refusal)
    except Stale as failure:
        return answers.merge_not_possible(failure)
    text = f"merged at {request.head[:12]}, as {asked.comment.author} asked"
    place.report.say("written", f"request {request.name}", text)
    return None


def decline(place: RequestPlace, _: RequestedCommand, words: re.Match[str]) -> Answer:
    """Leave a row out of a request that holds many."""
    mark, key = place.request.mark, words[1]
    if mark is None or not mark.is_shared:
        return answers.request_has_one_row()
    digest = row_lines(place.context, [key])[key].digest
    return answers.row_declined(key, digest) if digest else answers.row_unknown(key)


def restore(place: RequestPlace, _: RequestedCommand, words: re.Match[str]) -> Answer:
    """Propose a row again that was declined on this request."""
    is_declined = declines_in(place.request.comments, place.us, place.maintainers).get(words[1])
    return answers.row_restored(words[1]) if is_declined else answers.row_not_declined(words[1])


def say_where(_: RequestPlace, asked: RequestedCommand, __: re.Match[str]) -> Answer:
    """Say where a command of the source is written."""
    return answers.command_is_of_the_source(asked.name)


def declines_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> dict[str, list[RowDecision]]:
    """What the present maintainers declined on a request, by row; nothing where they took that back."""
    found: dict[str, list[RowDecision]] = {}
    for asked, one in decisions_in(comments, us, maintainers):
        for key, digest in {} if one.plan else one.rows.items():
            before = found.setdefault(key, [])
            if one.what == "declined":
                before.append(RowDecision(digest, "declined", asked.author, one.where, one.when))
            else:
                before.clear()
    return found


# In the discussion of plans at a target: /approve, /decline


@dataclass(frozen=True, slots=True)
class PlanPlace(CommandPlace):
    """The discussion of plans at a target, with the `plan` that waits there.

    `taken` are the rows of it that people took from main, by key with their digests.
    """

    plan: Plan
    taken: Mapping[str, str]
    approve: Callable[[], object]
    decline: Callable[[], object]


def approve(place: PlanPlace, asked: RequestedCommand, words: re.Match[str]) -> Answer | None:
    """Approve the plan that waits."""
    return _answer_plan(place, asked, words[1], answers.plan_approved(place.plan, place.taken), place.approve)


def decline_plan(place: PlanPlace, asked: RequestedCommand, words: re.Match[str]) -> Answer | None:
    """Leave the rows of the plan that waits as they are."""
    return _answer_plan(place, asked, words[1], answers.plan_declined(place.plan, place.taken), place.decline)


def _answer_plan(
    place: PlanPlace, asked: RequestedCommand, digest: str, answer: Answer, do: Callable[[], object]
) -> Answer | None:
    """Answer, and only then do it, so that no comment counts twice."""
    if place.plan.digest != digest:
        return answers.plan_unknown(digest, place.plan.digest)
    place.post(place.text(answer, asked.comment))
    do()
    return None


def last_answer(
    plan: Plan, comments: Sequence[Comment], us: str, maintainers: Container[str]
) -> tuple[Comment | None, str]:
    """The last answered comment of a maintainer about this plan, and whether it was `approved` or `declined`.

    An approval is also about what is left of its plan.
    """
    rows = set(plan.row_marks)
    found: tuple[Comment | None, str] = (None, "")
    for asked, one in decisions_in(comments, us, maintainers):
        is_rest = bool(rows) and one.what == "approved" and rows <= set(parse_row_marks(one.marks) or ())
        if one.plan and (one.plan == plan.digest or is_rest):
            found = asked, one.what
    return found


def dropped_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> set[tuple[str, str]]:
    """The rows that the present maintainers let go, with their digests; the last answer about a row counts."""
    found: set[tuple[str, str]] = set()
    for _, one in decisions_in(comments, us, maintainers):
        rows = one.rows.items() if one.plan else ()
        found = found.union(rows) if one.what == "declined" else found.difference(rows)
    return found


# The table of commands

ANY = re.compile(r".*")
# Commits and plans are named in full: of 12 digits, two that begin alike are made in a minute.
WHOLE_DIGEST = re.compile(rf"([0-9a-f]{{{DIGEST}}})")
SOURCE_COMMANDS: tuple[Command[SourcePlace], ...] = (
    Command("/recheck", "source", "anybody", "checks the files again, against the current board", ANY, recheck),
    Command("/explain [TASK]", "source", "anybody", "shows how each number became a score", ANY, explain_scores),
    Command(
        "/ignore RULE until YYYY-MM-DD because REASON",
        "source",
        "maintainers",
        f"waives a rule for exactly the files that were there when the command was written, "
        f"at most {answers.MOST_WAIVED} of them",
        re.compile(r"([a-z0-9-]+)\s+until\s+(\d{4}-\d{2}-\d{2})\s+because\s+(\S.*)"),
        ignore,
        ", with a rule of `leaderboard-bot rules`",
    ),
)
REQUEST_COMMANDS: tuple[Command[RequestPlace], ...] = (
    Command(
        "/merge [COMMIT]",
        "request",
        "maintainers",
        "merges the request at this commit; without COMMIT, at the bot's newest commit if no other commit follows it",
        re.compile(r"([0-9a-f]{40})?"),
        merge,
        ", where COMMIT is all 40 digits of the request's newest commit",
    ),
    Command(
        "/decline KEY",
        "shared",
        "maintainers",
        "leaves the row out, and never proposes it again with the same content",
        re.compile(r"(\S+)"),
        decline,
        ", where KEY names the row",
    ),
    Command(
        "/restore KEY",
        "shared",
        "maintainers",
        "takes back a decline of the row on this request",
        re.compile(r"(\S+)"),
        restore,
        ", where KEY names the row",
    ),
)
ANSWERED_AT_REQUESTS: tuple[Command[RequestPlace], ...] = (
    *REQUEST_COMMANDS,
    *(Command(one.usage, "source", "anybody", one.does, ANY, say_where) for one in SOURCE_COMMANDS),
)
APPROVE_PLAN: Command[PlanPlace] = Command(
    "/approve DIGEST",
    "plan",
    "maintainers",
    "carries out the plan with this digest, once",
    WHOLE_DIGEST,
    approve,
    ", where DIGEST is all 32 digits of the plan's digest",
)
DECLINE_PLAN: Command[PlanPlace] = replace(
    APPROVE_PLAN,
    usage="/decline DIGEST",
    does="leaves the rows of the plan with this digest as they are",
    do=decline_plan,
)
PLAN_COMMANDS: tuple[Command[PlanPlace], ...] = (
    APPROVE_PLAN,
    DECLINE_PLAN,
    replace(APPROVE_PLAN, usage="/restore DIGEST", does="proposes the rows again that somebody took from main"),
    replace(DECLINE_PLAN, usage="/drop DIGEST", does="lets the rows go that somebody took from main"),
)


def names_of(commands: Iterable[Command[Any]]) -> frozenset[str]:
    """The names of these commands."""
    return frozenset(command.name for command in commands)


def commands_line() -> str:
    """The commands at a source in one line, those of the maintainers last."""
    by_who = [", ".join(f"`{c.usage}`" for c in SOURCE_COMMANDS if c.who == who) for who in ("anybody", "maintainers")]
    return f"Commands: {by_who[0]}; maintainers: {by_who[1]}"
