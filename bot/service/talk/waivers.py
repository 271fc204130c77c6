"""The waivers that maintainers gave by comments: stored, and found again in the bot's answers."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from typing import Any

from bot.errors import DiscussionsDisabled, Gone, TooLong
from bot.evaluation.leaderboard import Waiver
from bot.platforms.discussions import Comment, Discussions, Thread
from bot.service.context import WatchContext
from bot.service.settings.config import Watch
from bot.service.store.items import Mark
from bot.service.store.memory import WAIVED, KnownWaivers
from bot.service.store.state import WatchState
from bot.service.talk.commands import about, decisions_in

log = logging.getLogger(__name__)
# The line that names a file; nothing that was submitted begins a line of the bot's texts.
SHOWN_DIGEST = re.compile(r"^SHA-256 `([0-9a-f]{64})`$", re.MULTILINE)


def dump_waivers(waivers: Sequence[Waiver]) -> str:
    """Waivers as text."""
    return json.dumps(_dumped(waivers))


def _dumped(waivers: Sequence[Waiver]) -> list[dict[str, Any]]:
    return [waiver.model_dump(mode="json") for waiver in waivers]


def _waivers_in(known: KnownWaivers | None) -> list[Waiver]:
    return [Waiver.model_validate(row) for row in known.waivers] if known else []


def stored_waivers(state: WatchState, watch: Watch) -> list[Waiver]:
    """The valid waivers of a watch as its last pass stored them, for callers that ask no service.

    Those of accounts that the settings no longer name are left out.
    """
    maintainers = watch.maintainers_at(watch.source)
    return [waiver for waiver in _waivers_in(state.recall(WAIVED)) if waiver.who in maintainers]


def learn_waivers(context: WatchContext) -> None:
    """Find the waivers of maintainers: the stored ones, or those in all discussions at the source.

    When the list of maintainers changes, every discussion is read again and all files are judged again: the waivers of
    a former maintainer do not count. Where the discussions cannot be read, the rows that may need a waiver wait.
    """
    state, maintainers = context.state, sorted(context.watch.maintainers)
    known = state.recall(WAIVED)
    if known is not None and known.maintainers == maintainers:
        context.waivers[:] = stored_waivers(state, context.watch)
        return
    found: list[Waiver] = []
    context.has_waivers = False
    if context.discussions is not None and maintainers:
        with suppress(DiscussionsDisabled):  # where nobody can write, nothing was waived
            found = all_waivers(context.discussions, context.maintainers, context.leaderboard.id)
    context.waivers[:], context.has_waivers = found, True
    with state.transaction():
        if _waivers_in(known) != found and state.files.any():
            context.mark([Mark("judge")])
        state.remember(WAIVED, KnownWaivers(_dumped(found), maintainers))


def keep_waivers(context: WatchContext) -> None:
    """Remember the waivers of a pass, which were read for the maintainers that are remembered."""
    known = context.state.recall(WAIVED)
    context.state.remember(WAIVED, KnownWaivers(_dumped(context.waivers), known.maintainers if known else None))


def waivers_in(comments: Sequence[Comment], us: str, maintainers: Container[str]) -> list[Waiver]:
    """The waivers that the bot's answers to the present maintainers record, one for each file."""
    return [
        Waiver(rule=one.rule, submission=f"sha256:{sha}", reason=one.reason, who=asked.author, until=one.until)
        for asked, one in decisions_in(comments, us, maintainers)
        if one.what == "waived"
        for sha in one.files
    ]


def add_waivers(context: WatchContext, found: Iterable[Waiver]) -> None:
    """Count waivers that were given in this pass."""
    context.waivers += [waiver for waiver in found if waiver not in context.waivers]


def all_waivers(discussions: Discussions, maintainers: Container[str], board: str) -> list[Waiver]:
    """All waivers that were ever given at a source for a leaderboard, from the bot's answers there, of any age.

    A discussion that was deleted, or that somebody made too long to be read, hides its own and no others.
    """
    found: list[Waiver] = []
    for num in discussions.may_have_answers():
        try:
            comments = about(board, discussions.read(num).comments, discussions.us)
            found += waivers_in(comments, discussions.us, maintainers)
        except (Gone, TooLong) as failure:
            log.warning("waivers given there are not known: %s", failure)
    return found


# the files that a maintainer saw


def shown_in(text: Comment | None, comment: Comment, files: Iterable[str]) -> list[str]:
    """Those of these files, by SHA-256, that a text named when a comment was written; none where it was edited since.

    An edit in the same second counts as later: the order cannot be told.
    """
    if text is None or text.changed >= comment.at:
        return []
    named = set(SHOWN_DIGEST.findall(text.text))
    return [sha for sha in files if sha in named]


def seen_files(comment: Comment, files: Sequence[str], thread: Thread, head: str, ours: Comment | None) -> list[str]:
    """The SHA-256 of the files that were at the head of a request when a comment was written.

    Where the service does not say when the newest commit came, they are the files that `ours`, our comment on the
    request, named before.
    """
    if thread.commits:
        return list(files) if is_newest(thread, comment, head) else []
    return shown_in(ours, comment, files)


def is_newest(thread: Thread, comment: Comment, head: str) -> bool:
    """Tell whether `head` was the newest commit of a request when a comment was written, and still is."""
    return bool(thread.commits) and thread.commits[-1].oid == head and thread.commits[-1].place < comment.place
