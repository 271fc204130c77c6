"""Commands that maintainers write on the bot's requests: `/merge` and `/decline`, each answered once.

The truth is the target: a command without an answer of the bot is still to be done, and what was declined stands in our
answers. The state remembers how many comments were seen, so that nothing is asked where nobody wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.errors import Refused, Stale
from bot.platforms.conversations import Conversation, Conversations, RequestComment
from bot.publishing.command_list import names_at
from bot.publishing.publication import find_marker
from bot.publishing.verdict_texts import reply_text
from bot.reporting.escape import brief, code
from bot.service.context import WatchContext
from bot.service.declines import declined_words, declines_in, note_declines
from bot.service.items import Item, marks
from bot.service.reading import row_digests
from bot.service.watch.outcome import Report

COMMAND = re.compile(rf"\s*/({'|'.join([*names_at('request'), *names_at('shared')])})\b[ \t]*(.*)")
COMMIT = re.compile(r"[0-9a-f]{7,40}")
OTHER_COMMIT = (
    "The request got a newer commit after this was written, so nothing is merged. "
    "Look at it and write the command again."
)
USAGE = (
    "The bot cannot read this command: write `/merge`, or `/merge COMMIT` with at least 7 digits of the request's "
    "newest commit."
)
MERGED_AT = re.compile(r"Merged at `([0-9a-f]{12})`\.")
MERGED = "merged"  # what the answer about another merged commit is about, in the place of a comment


@dataclass
class TargetCommands:
    """Carries out what maintainers write on the requests of one target."""

    context: WatchContext
    conversations: Conversations
    to: str
    report: Report

    def observe(self) -> None:
        """Mark the requests on which somebody wrote since they were read last."""
        self._find_declines()
        store, name = self.context.store, self.context.name
        counts = self.conversations.counts()
        moved = {num: count for num, count in counts.items() if store.cursor(name, self._seen(num)) != str(count)}
        with store.transaction():
            for num, count in moved.items():
                store.set_cursor(name, self._seen(num), str(count))
            written = [num for num, count in moved.items() if count > 1]  # its text alone is no command
            store.mark(name, marks("request", written, [self.to]), self.context.clock())

    def settle(self, items: Sequence[Item]) -> None:
        """Do and answer what was written on these requests; one that fails is tried again, the others go on."""
        for item in items:
            self.report.attempt([item], lambda one=item: self._settle_one(one.subject))  # type: ignore[misc]

    def _seen(self, num: str) -> str:
        return f"written {self.to} {num}"

    def _find_declines(self) -> None:
        """After a loss of the state, or where others are maintainers, find again what was declined."""
        store, name = self.context.store, self.context.name
        subject, maintainers = f"declines {self.to}", sorted(self.context.watch.maintainers)
        if store.cursor(name, subject) == json.dumps(maintainers):
            return
        for num in self.conversations.shared() if maintainers else ():
            request = self.conversations.read(num)
            if request is not None:
                note_declines(self.context, self.to, declines_in(request, self.conversations.us, maintainers))
        store.set_cursor(name, subject, json.dumps(maintainers))

    def _settle_one(self, num: str) -> None:
        request = self.conversations.read(num)
        if request is None or request.mark is None or request.mark.leaderboard != self.context.leaderboard.id:
            return
        us = self.conversations.us
        marked = [find_marker(one.text) for one in request.comments if one.author == us]
        answered = {mark.key for mark in marked if mark is not None and mark.kind == "reply"}
        for one in request.comments:
            match = COMMAND.match(one.text)
            is_asked = match is not None and one.author in self.context.watch.maintainers and one.id not in answered
            if match and is_asked and not self._do(request, one, match[1], match[2].strip().strip("`")):
                break  # it is merged: later comments there need no answer
        after = self.conversations.read(num)
        if after is not None:
            note_declines(self.context, self.to, declines_in(after, us, self.context.watch.maintainers))
            self._tell_other(after, answered)

    def _tell_other(self, request: Conversation, answered: Collection[str]) -> None:
        """Tell people where a commit arrived while the bot merged, so that another one was merged than was checked."""
        ours = [
            match[1]
            for one in request.comments
            if one.author == self.conversations.us and (match := MERGED_AT.match(one.text))
        ]
        if (
            request.status != "merged"
            or not ours
            or not request.head
            or request.head.startswith(ours[-1])
            or MERGED in answered
        ):
            return
        words = (
            f"A commit arrived while the bot merged: {code(request.head[:12])} was merged instead of {code(ours[-1])}. "
            "Nobody has checked it. Compare the two commits, and revert the merge if the later one is wrong."
        )
        self.conversations.answer(request.name, reply_text(words, MERGED, self.context.leaderboard.id))
        self.report.say("failed", f"request {request.name}", words, status=1)

    def _do(self, request: Conversation, asked: RequestComment, name: str, rest: str) -> bool:
        """Carry a command out and answer it; whether the request is still open then."""
        words = self._merge(request, asked, rest) if name == "merge" else self._decline(request, rest)
        if words:
            self.conversations.answer(request.name, self._reply(words, asked))
        return bool(words)

    def _reply(self, words: str, asked: RequestComment) -> str:
        return reply_text(words, asked.id, self.context.leaderboard.id)

    def _decline(self, request: Conversation, key: str) -> str:
        """Leave a row out of a shared request: the answer."""
        if request.mark is None or not request.mark.is_shared:
            return "This request holds one row: close it, and it is not proposed again with the same content."
        digest = row_digests(self.context, [key]).get(key, "") if key else ""
        if len(digest) != 64:
            return f"There is no row {code(brief(key))} of this source." if key else "Name the row: `/decline KEY`."
        return declined_words(key, digest)

    def _merge(self, request: Conversation, asked: RequestComment, commit: str) -> str:
        """Merge a request, or say truly why not: the answer, "" if merging has said it already."""
        if why := self._why_not(request, asked, commit):
            return why
        try:
            self.conversations.merge(
                request.name, request.head, self._reply(f"Merged at {code(request.head[:12])}.", asked)
            )
        except Refused as refusal:
            return f"The bot may not merge this: {code(brief(str(refusal)))}. Somebody with write access can."
        except Stale as failure:
            return f"It cannot be merged as it is: {code(brief(str(failure)))}. Look at it and write the command again."
        self.report.say(
            "published", f"request {request.name}", f"merged at {request.head[:12]}, as {asked.author} asked"
        )
        return ""

    def _why_not(self, request: Conversation, asked: RequestComment, commit: str) -> str:
        """Why a request is not merged at the commit that the maintainer saw, "" if it may be tried."""
        if request.status != "open":
            return f"The request is {request.status} already."
        if commit and not COMMIT.fullmatch(commit):
            return USAGE
        if not commit and request.head and not request.is_ours:
            return name_commit(request.head)
        if not (request.head.startswith(commit) if commit else asked.is_newest):
            return OTHER_COMMIT
        return ""


def name_commit(head: str) -> str:
    """The answer where only a named commit is merged."""
    head = head[:12]
    return f"Somebody else may have made the newest commit. Look at {code(head)}, then write {code(f'/merge {head}')}."
