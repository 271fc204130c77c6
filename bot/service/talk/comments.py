"""Read comments: the one parser of commands, the one search for what was answered, and the quota of strangers."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.platforms.discussions import Comment
from bot.publishing.publication import find_marker
from bot.service.context import WatchContext

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


@dataclass(frozen=True)
class CommandQuota:
    """Counts the commands of strangers on one watch."""

    context: WatchContext

    def take(self, author: str) -> bool:
        """Tell whether one more command of an account may be answered now; if so, it is counted."""
        if author in self.context.maintainers:
            return True
        store, name, now = self.context.store, self.context.name, self.context.clock()
        limits = {author: COMMANDS_OF_ONE, EVERYBODY: COMMANDS_OF_ALL}
        with store.transaction():
            recent = {who: self._recent(who, now) for who in limits}
            if any(len(recent[who]) >= most for who, most in limits.items()):
                return False
            for who, times in recent.items():
                store.set_cursor(name, "commands", json.dumps([*times, now]), who)
        return True

    def _recent(self, who: str, now: float) -> list[float]:
        times = json.loads(self.context.store.cursor(self.context.name, "commands", who) or "[]")
        return [time for time in times if now - HOUR < time <= now]
