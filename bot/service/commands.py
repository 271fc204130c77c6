"""Answer commands in comments at the source, each once; the bot's own answers record what was waived."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Waiver
from bot.evaluation.rules import ALL_RULES
from bot.platforms.discussions import Comment, Discussions, Thread
from bot.publishing.command_list import COMMANDS, names_at
from bot.publishing.publication import find_marker
from bot.publishing.verdict_texts import preformatted, reply_text
from bot.reporting.escape import code
from bot.reporting.explanation import explain

COMMAND = re.compile(rf"\s*/({'|'.join(names_at('source'))})\b[ \t]*(.*)")
IGNORE = re.compile(r"([a-z0-9-]+)\s+until\s+(\d{4}-\d{2}-\d{2})\s+because\s+(\S.*)")
WAIVED = re.compile(r"sha256:[0-9a-f]{64}")
USAGE = next(f"`{command.usage}`" for command in COMMANDS if command.name == "ignore")
NEVER_WAIVED = frozenset({"non-finite-value", "malformed-file"})  # there is no number that could be published
OTHER_FILES = (
    "The files changed after this was written, or were not shown yet, so nothing is waived. "
    "Look at the files that are there now and write the command again."
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that somebody wrote, and the bot's answer (None if there is none yet)."""

    name: str
    rest: str
    comment: Comment
    answer: str | None


def commands_in(thread: Thread, us: str) -> Iterator[Command]:
    """The commands in the comments of others, on the first line of each."""
    ours = [comment.text for comment in thread.comments_of(us)]
    answers = {mark.key: text for text in ours if (mark := find_marker(text)) and mark.kind == "reply"}
    for comment in thread.comments:
        match = COMMAND.match(comment.text) if comment.author != us else None
        if match:
            yield Command(match[1], match[2].strip(), comment, answers.get(comment.id))


def waivers_in(thread: Thread, us: str, maintainers: Container[str]) -> list[Waiver]:
    """The waivers of the current maintainers in this thread, for exactly the files that the bot's answers name."""
    found: list[Waiver] = []
    for command in commands_in(thread, us):
        asked = parse_ignore(command) if command.comment.author in maintainers else None
        if asked is not None and command.answer is not None and granted(asked) in command.answer:
            found += [asked.model_copy(update={"submission": sha}) for sha in WAIVED.findall(command.answer)]
    return found


def granted(waiver: Waiver) -> str:
    """The words by which a waiver is given."""
    return f"`{waiver.rule}` is waived until {waiver.until} for exactly these files:"


def parse_ignore(command: Command) -> Waiver | None:
    """The waiver that an `/ignore` asks for, still without its files; None if it is none."""
    match = IGNORE.fullmatch(command.rest) if command.name == "ignore" else None
    if match is None or match[1] not in {rule.id for rule in ALL_RULES} - NEVER_WAIVED:
        return None
    try:
        until = date.fromisoformat(match[2])
    except ValueError:
        return None
    return Waiver(rule=match[1], submission="*", reason=match[3], who=command.comment.author, until=until)


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The parts that answers are made of: who may waive, which files are talked about, and how they were judged.

    `seen` gives the SHA-256 of the files that the author of a comment saw when it was written.
    """

    maintainers: Container[str]
    leaderboard_id: str
    today: date
    seen: Callable[[Comment], Sequence[str]]
    judgements: Sequence[Judgement]
    states: Sequence[str]

    def words(self, command: Command) -> str:
        """The answer to a command."""
        if command.name == "recheck":
            return "Checked again: " + (", ".join(self.states) or "there is no result file to check") + "."
        if command.name == "explain":
            return self.explanation(command.rest)
        return self.waived(command)

    def explanation(self, task: str) -> str:
        """The way of every number, or of one task's."""
        rows = [row for judgement in self.judgements for row in judgement.rows]
        known = {score.id for row in rows for score in row.scores.tasks}
        if task and task not in known:
            return f"There is no task {code(task)} here."
        parts = [preformatted(explain(row, task)) for row in rows]
        return "\n\n".join(parts) or "There is no score to explain."

    def waived(self, command: Command) -> str:
        """The answer to an `/ignore`: what it waives, or why it waives nothing."""
        if command.comment.author not in self.maintainers:
            return "Only the maintainers that the bot's settings name may waive a rule."
        rule = command.rest.split(" ", 1)[0]
        if rule in NEVER_WAIVED:
            return f"`{rule}` cannot be waived: there would be no number to publish."
        asked = parse_ignore(command)
        if asked is None:
            return f"The bot cannot read this command: write {USAGE}, with a rule of `leaderboard-bot rules`."
        if asked.until < self.today:
            return f"{asked.until} has passed: nothing is waived."
        files = "\n".join(f"- `sha256:{sha}`" for sha in self.seen(command.comment) if sha)
        return f"{granted(asked)}\n\n{files}" if files else OTHER_FILES


@dataclass(frozen=True, slots=True)
class Answered:
    """How answering ended: the waivers that hold in the discussion now, and how many commands wait for their turn."""

    waivers: Sequence[Waiver]
    waiting: int


def answer_commands(
    channel: Discussions, thread: Thread, context: AnswerContext, may_answer: Callable[[str], bool]
) -> Answered:
    """Answer each command that has no answer yet, but for those that `may_answer` puts off for their author."""
    us, posted, waiting = channel.client.user, 0, 0
    for command in commands_in(thread, us):
        if command.answer is None and may_answer(command.comment.author):
            channel.comment(thread.num, reply_text(context.words(command), command.comment.id, context.leaderboard_id))
            posted += 1
        elif command.answer is None:
            waiting += 1
    return Answered(waivers_in(channel.read(thread.num) if posted else thread, us, context.maintainers), waiting)
