"""The commands that people write in comments: how they are read, one table of them, and what the answers record.

The bot answers each command once, with a reply that names the comment. What a command granted stands in that reply:
later edits of the comment change nothing, and a reply that somebody edited grants nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Generic, Literal, TypeVar

from bot.errors import Refused, Stale
from bot.evaluation.finding import examples
from bot.evaluation.leaderboard import Waiver
from bot.evaluation.rules import ALL_RULES
from bot.evaluation.verdict import Judgement
from bot.platforms.discussions import Comment, Conversation
from bot.platforms.target import Target
from bot.publishing.plan import DIGEST, Plan
from bot.publishing.publication import find_marker
from bot.publishing.verdict_texts import preformatted, reply_text
from bot.reporting.escape import brief, code
from bot.reporting.explanation import column_named, explain
from bot.service.context import WatchContext
from bot.service.judge.reading import row_digests
from bot.service.watch.outcome import Report

Who = Literal["anybody", "maintainers"]
Where = Literal["source", "plan", "request", "shared"]
EDITED = (
    "This comment was edited after it was posted, so it is no command: others than its author may have edited it. "
    "Write the command in a new comment."
)
# A code block is indented by four spaces or a tab.
COMMAND = re.compile(r" {0,3}/([a-z]+)(?![^ \t\r])")
COMMANDS_OF_ONE = 20  # commands of one account that are answered in an hour
COMMANDS_OF_ALL = 100  # commands of all strangers that are answered in an hour
HOUR = 3600.0  # seconds
EVERYBODY = "*"  # no account has this name
NOT_A_MAINTAINER = "Only the maintainers that the bot's settings name for {board} may write this command."


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
    answers = answers_of(comments, us)
    open_ones = ((one, command_in(one.text)) for one in comments if one.author != us and one.id not in answers)
    return [RequestedCommand(*found, one) for one, found in open_ones if found is not None and found[0] in names]


def answered_to(comments: Sequence[Comment], us: str, people: Container[str]) -> Iterator[tuple[Comment, str]]:
    """Each answered comment of these people, and the text of the answer.

    The answer records what was granted. An answer that somebody edited after the bot posted it records nothing.
    """
    answers = answers_of(comments, us)
    for one in comments:
        answer = answers.get(one.id) if one.author != us and one.author in people else None
        if answer is not None and not answer.edited:
            yield one, answer.text


def may_be_answered(context: WatchContext, author: str) -> bool:
    """Count a command of an account if it may be answered now; tell whether it may. Only strangers have a quota."""
    if author in context.maintainers:
        return True
    state, now = context.state, context.clock()
    limits = {author: COMMANDS_OF_ONE, EVERYBODY: COMMANDS_OF_ALL}
    with state.transaction():
        known = {who: json.loads(state.cursor("commands", who) or "[]") for who in limits}
        recent = {who: [at for at in times if now - HOUR < at <= now] for who, times in known.items()}
        if any(len(recent[who]) >= most for who, most in limits.items()):
            return False
        for who, times in recent.items():
            state.set_cursor("commands", json.dumps([*times, now]), who)
    return True


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Where commands are written: who are the maintainers, for which leaderboard, and what posts an answer."""

    maintainers: Container[str]
    leaderboard_id: str
    post: Callable[[str], object]


P_contra = TypeVar("P_contra", bound=CommandPlace, contravariant=True)


@dataclass(frozen=True, slots=True)
class Command(Generic[P_contra]):
    """One command: how it is written, where and by whom, what it does in a few words, and the function that does it.

    `words` matches what follows the name. `do` gives the answer, "" where it was posted already.
    """

    usage: str
    where: Where
    who: Who
    does: str
    words: re.Pattern[str]
    do: Callable[[P_contra, RequestedCommand, re.Match[str]], str]
    hint: str = ""

    @property
    def name(self) -> str:
        """The word after the slash."""
        return self.usage.partition(" ")[0].removeprefix("/")

    def answer(self, place: P_contra, asked: RequestedCommand) -> str:
        """Carry the command out if it is allowed, and give the answer."""
        if self.who == "maintainers" and asked.comment.author not in place.maintainers:
            return NOT_A_MAINTAINER.format(board=code(place.leaderboard_id))
        if asked.comment.edited:
            return EDITED
        words = self.words.fullmatch(asked.words)
        if words is None:
            return f"The bot cannot read this command: write {code(self.usage)}{self.hint}."
        return self.do(place, asked, words)


def answer_commands(commands: Iterable[Command[P_contra]], place: P_contra, asked: Iterable[RequestedCommand]) -> int:
    """Answer these commands in their order, each in a comment of its own; returns how many answers were posted here."""
    table, posted = {command.name: command for command in commands}, 0
    for one in asked:
        words = table[one.name].answer(place, one)
        if words:
            place.post(reply_text(words, one.comment.id, place.leaderboard_id))
            posted += 1
    return posted


# At the source: /recheck, /explain, /ignore

# Without a number nothing can be published; of two rows that read alike one counts.
NEVER_WAIVED = frozenset({"non-finite-value", "malformed-file", "spelled-otherwise"})
GRANT = re.compile(r"`([a-z0-9-]+)` is waived until (\d{4}-\d{2}-\d{2}) for exactly these files:\n")
GRANTED_FILE = re.compile(r"^- `(sha256:[0-9a-f]{64})`$", re.MULTILINE)
GRANT_REASON = re.compile(r"^Reason: (`+)( ?)(\S.*)\2\1$", re.MULTILINE)
REASON_LIMIT = 500  # characters
OTHER_FILES = (
    "The files changed after this was written, or were not shown yet, so nothing is waived. "
    "Look at the files that are there now and write the command again."
)


@dataclass(frozen=True, slots=True)
class SourcePlace(CommandPlace):
    """A discussion or request at the source, with the files that it is about and their verdicts.

    `seen` gives the SHA-256 of the files that the author of a comment saw when it was written.
    """

    today: date
    seen: Callable[[Comment], Sequence[str]]
    judgements: Sequence[Judgement]
    states: Sequence[str]


def recheck(place: SourcePlace, _: RequestedCommand, __: re.Match[str]) -> str:
    """Give the present verdicts: this very pass judged the files again."""
    said = ", ".join(place.states) or "there is no result file to check"
    return f"Checked again for {code(place.leaderboard_id)}: {said}."


def explain_scores(place: SourcePlace, asked: RequestedCommand, _: re.Match[str]) -> str:
    """Show how each number became a score, or those of one task."""
    rows = [row for judgement in place.judgements for row in judgement.rows]
    if not rows:
        return "There is no score to explain."
    leaderboard = rows[0].leaderboard
    task = column_named(leaderboard, asked.words)
    if asked.words and not task:
        known = examples([one.id for one in leaderboard.tasks], 20)
        return f"There is no task {code(brief(asked.words))} of {code(place.leaderboard_id)}; it has {code(known)}."
    return "\n\n".join(preformatted(explain(row, task)) for row in rows)


def ignore(place: SourcePlace, asked: RequestedCommand, words: re.Match[str]) -> str:
    """Waive a rule for exactly the files that the maintainer saw, or say why nothing is waived."""
    rule, reason = words[1], brief(words[3], REASON_LIMIT)
    if rule in NEVER_WAIVED:
        return f"`{rule}` cannot be waived: there would be no number to publish, or a second row that reads alike."
    if rule not in {one.id for one in ALL_RULES}:
        return f"There is no rule {code(brief(rule))}: `leaderboard-bot rules` lists them."
    try:
        until = date.fromisoformat(words[2])
    except ValueError:
        return f"{code(words[2])} is no date: write it as YYYY-MM-DD."
    if until < place.today:
        return f"{until} has passed: nothing is waived."
    files = "\n".join(f"- `sha256:{sha}`" for sha in place.seen(asked.comment) if sha)
    if not files:
        return OTHER_FILES
    return f"`{rule}` is waived until {until} for exactly these files:\n\n{files}\n\nReason: {code(reason)}"


def waivers_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> list[Waiver]:
    """The waivers that the bot's answers to the present maintainers record."""
    return [one for asked, text in answered_to(comments, us, maintainers) for one in _waivers_of(asked.author, text)]


def _waivers_of(who: str, answer: str) -> list[Waiver]:
    """The waivers of one answer, one for each file that it names."""
    grant, reason = GRANT.match(answer), GRANT_REASON.search(answer)
    if grant is None or reason is None:
        return []
    until, files = date.fromisoformat(grant[2]), GRANTED_FILE.findall(answer)
    return [Waiver(rule=grant[1], submission=sha, reason=reason[3], who=who, until=until) for sha in files]


# On the bot's requests at a target: /merge, /decline

OTHER_COMMIT = (
    "The request got a newer commit after this was written, so nothing is merged. "
    "Look at it and write the command again."
)
DECLINED = re.compile(r"The row `([^`\s]+)` is left out as it is now \(`([0-9a-f]{64})`\)")
TAKEN_BACK = re.compile(r"The row `([^`\s]+)` is proposed again")


@dataclass(frozen=True, slots=True)
class RequestPlace(CommandPlace):
    """A request of the bot at a target."""

    context: WatchContext
    target: Target
    us: str
    request: Conversation
    report: Report


def merge(place: RequestPlace, asked: RequestedCommand, words: re.Match[str]) -> str:
    """Merge a request at the commit that the maintainer saw or named, or say why not."""
    request = place.request
    if why := _why_not_merged(request, asked.comment, words[1] or ""):
        return why
    done = reply_text(f"Merged at {code(request.head)}.", asked.comment.id, place.leaderboard_id)
    try:
        place.target.merge(request.name, request.head, done)
    except Refused as refusal:
        return f"The bot may not merge this: {code(brief(str(refusal)))}. Somebody with write access can."
    except Stale as failure:
        return f"It cannot be merged as it is: {code(brief(str(failure)))}. Look at it and write the command again."
    text = f"merged at {request.head[:12]}, as {asked.comment.author} asked"
    place.report.say("written", f"request {request.name}", text)
    return ""


def _why_not_merged(request: Conversation, comment: Comment, commit: str) -> str:
    """Why a request is not merged at the commit that the maintainer saw, "" if it may be tried."""
    if request.status != "open":
        return f"The request is {request.status} already."
    if not commit and request.head and not request.is_ours:
        look = f"Look at it, then write {code(f'/merge {request.head}')}."
        return f"Somebody else may have made the newest commit. {look}"
    if not (request.head == commit if commit else comment.saw_head):
        return OTHER_COMMIT
    return ""


def decline(place: RequestPlace, _: RequestedCommand, words: re.Match[str]) -> str:
    """Leave a row out of a request that holds many."""
    mark, key = place.request.mark, words[1]
    if mark is None or not mark.is_shared:
        return "This request holds one row: close it, and it is not proposed again with the same content."
    digest = row_digests(place.context, [key]).get(key, "")
    if len(digest) != 64:
        return f"There is no row {code(brief(key))} of this source."
    return (
        f"The row `{key}` is left out as it is now (`{digest}`). It is proposed again when its numbers or files change."
    )


def restore(place: RequestPlace, _: RequestedCommand, words: re.Match[str]) -> str:
    """Propose a row again that was declined on this request."""
    key = words[1]
    if not declines_in(place.request.comments, place.us, place.maintainers).get(key):
        return f"Nobody declined a row {code(brief(key))} on this request."
    return f"The row `{key}` is proposed again."


def say_where(_: RequestPlace, asked: RequestedCommand, __: re.Match[str]) -> str:
    """Say where a command of the source is written."""
    where = "on the request that brings them, or in the bot's discussion about them"
    return f"{code(f'/{asked.name}')} is about result files: write it where they are, at the source, {where}."


def declines_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> dict[str, set[str]]:
    """The digests that the present maintainers declined on a request, by row; none where they took that back."""
    found: dict[str, set[str]] = {}
    for _, text in answered_to(comments, us, maintainers):
        if declined := DECLINED.match(text):
            found.setdefault(declined[1], set()).add(declined[2])
        elif taken_back := TAKEN_BACK.match(text):
            found[taken_back[1]] = set()
    return found


# In the discussion of plans at a target: /approve, /decline

MOST_TAKEN, MOST_MARKS = 100, 1_000  # rows that an answer names, in words and in marks
APPROVED_ROWS = re.compile(r"^<!-- rows ([0-9a-f ]+) -->$", re.MULTILINE)
TAKEN_ROW = re.compile(r"^- `([^`\s]+)` \(`([0-9a-f]{64})`\)$", re.MULTILINE)
PLAN_ANSWER = re.compile(r"The plan `([0-9a-f]+)` is (approved|declined) by this comment")


@dataclass(frozen=True, slots=True)
class PlanPlace(CommandPlace):
    """The discussion of plans at a target; `digest` and `row_marks` are those of the plan that waits there.

    `taken` are the rows of it that people took from main, by key with their digests.
    """

    digest: str
    row_marks: Sequence[str]
    taken: Mapping[str, str]
    approve: Callable[[], object]
    decline: Callable[[], object]


def approve(place: PlanPlace, asked: RequestedCommand, words: re.Match[str]) -> str:
    """Approve the plan that waits."""
    said = "approved by this comment, once. Where the bot still lists it as waiting, write the command again."
    if len(place.row_marks) <= MOST_MARKS:  # hidden, so that what is left of it is known after a loss of the state
        said += f"\n\n<!-- rows {' '.join(place.row_marks)} -->"
    return _answer_plan(place, asked, words[1], said, place.approve)


def decline_plan(place: PlanPlace, asked: RequestedCommand, words: re.Match[str]) -> str:
    """Leave the rows of the plan that waits as they are."""
    said = "declined by this comment: its rows stay as they are."
    return _answer_plan(place, asked, words[1], said, place.decline)


def _answer_plan(place: PlanPlace, asked: RequestedCommand, digest: str, said: str, do: Callable[[], object]) -> str:
    """Answer with the rows that people took from main, and only then do it, so that no comment counts twice."""
    if place.digest != digest:
        return f"No plan with the digest {code(digest)} waits here. The plan that waits is {code(place.digest)}."
    lines = [f"- `{key}` (`{digest}`)" for key, digest in list(place.taken.items())[:MOST_TAKEN]]
    rows = "".join(f"\n{line}" for line in ["", *lines] if lines)
    answer = f"The plan {code(place.digest)} is {said}{rows}"
    place.post(reply_text(answer, asked.comment.id, place.leaderboard_id))
    do()
    return ""


def last_answer(
    plan: Plan, comments: Sequence[Comment], us: str, maintainers: Container[str]
) -> tuple[Comment | None, str]:
    """The last answered comment of a maintainer about this plan, and whether it was `approved` or `declined`.

    An approval is also about what is left of its plan.
    """
    rows = set(plan.row_marks)
    found: tuple[Comment | None, str] = (None, "")
    for asked, text in answered_to(comments, us, maintainers):
        answer, approved = PLAN_ANSWER.match(text), APPROVED_ROWS.search(text)
        if answer and (answer[1] == plan.digest or (approved and rows and rows <= set(approved[1].split()))):
            found = asked, answer[2]
    return found


def dropped_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> set[tuple[str, str]]:
    """The rows that the present maintainers let go, with their digests; the last answer about a row counts."""
    found: set[tuple[str, str]] = set()
    for _, text in answered_to(comments, us, maintainers):
        answer, rows = PLAN_ANSWER.match(text), TAKEN_ROW.findall(text)
        found = found.union(rows) if answer and answer[2] == "declined" else found.difference(rows)
    return found


# The table of commands

ANY = re.compile(r".*")
# Commits and plans are named in full: of 12 digits, two that begin alike are made in a minute.
DIGITS = re.compile(rf"([0-9a-f]{{{DIGEST}}})")
SOURCE: tuple[Command[SourcePlace], ...] = (
    Command("/recheck", "source", "anybody", "checks the files again, against the current board", ANY, recheck),
    Command("/explain [TASK]", "source", "anybody", "shows how each number became a score", ANY, explain_scores),
    Command(
        "/ignore RULE until YYYY-MM-DD because REASON",
        "source",
        "maintainers",
        "waives a rule for exactly the files that were there when the command was written",
        re.compile(r"([a-z0-9-]+)\s+until\s+(\d{4}-\d{2}-\d{2})\s+because\s+(\S.*)"),
        ignore,
        ", with a rule of `leaderboard-bot rules`",
    ),
)
REQUEST: tuple[Command[RequestPlace], ...] = (
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
AT_REQUEST: tuple[Command[RequestPlace], ...] = (
    *REQUEST,
    *(Command(one.usage, "source", "anybody", one.does, ANY, say_where) for one in SOURCE),
)
PLAN: tuple[Command[PlanPlace], ...] = (
    Command(
        "/approve DIGEST",
        "plan",
        "maintainers",
        "carries out the plan with this digest, once",
        DIGITS,
        approve,
        ", where DIGEST is all 32 digits of the plan's digest",
    ),
    Command(
        "/decline DIGEST",
        "plan",
        "maintainers",
        "leaves the rows of the plan with this digest as they are",
        DIGITS,
        decline_plan,
        ", where DIGEST is all 32 digits of the plan's digest",
    ),
)
PLAN += (
    replace(PLAN[0], usage="/restore DIGEST", does="proposes the rows again that somebody took from main"),
    replace(PLAN[1], usage="/drop DIGEST", does="lets the rows go that somebody took from main"),
)
COMMANDS: tuple[Command[Any], ...] = (*SOURCE, *REQUEST, *PLAN)


def names_of(commands: Iterable[Command[Any]]) -> frozenset[str]:
    """The names of these commands."""
    return frozenset(command.name for command in commands)


def commands_line() -> str:
    """The commands at a source in one line, those of the maintainers last."""
    by_who = [", ".join(f"`{c.usage}`" for c in SOURCE if c.who == who) for who in ("anybody", "maintainers")]
    return f"Commands: {by_who[0]}; maintainers: {by_who[1]}"
