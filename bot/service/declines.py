"""Rows of shared requests that maintainers declined: left out, and not proposed again with the same content.

What was declined is found again in the bot's answers at the target; the state only spares reading them in every pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping

from bot.platforms.conversations import Conversation
from bot.publishing.entry import Entry, digest_of
from bot.publishing.publication import find_marker
from bot.service.context import WatchContext
from bot.service.items import Mark

DECLINED = re.compile(r"The row `([^`\s]+)` is left out as it is now \(`([0-9a-f]{64})`\)")


def declined_words(key: str, digest: str) -> str:
    """The words by which a row is declined."""
    return (
        f"The row `{key}` is left out as it is now (`{digest}`). It is proposed again when its numbers or files change."
    )


def declines_in(request: Conversation, us: str, maintainers: Collection[str]) -> list[tuple[str, str]]:
    """The rows that the present maintainers declined on a request, with the digests of what they declined."""
    asked = {one.id for one in request.comments if one.author in maintainers}
    ours = [one.text for one in request.comments if one.author == us]
    answers = [text for text in ours if (mark := find_marker(text)) and mark.kind == "reply" and mark.key in asked]
    return [(match[1], match[2]) for text in answers if (match := DECLINED.match(text))]


def note_declines(context: WatchContext, to: str, found: Iterable[tuple[str, str]]) -> None:
    """Remember what was declined, and mark those rows."""
    store, name = context.store, context.name
    with store.transaction():
        for key, digest in found:
            known = _digests(context, to, key)
            if digest not in known:
                store.set_cursor(name, _subject(to, key), json.dumps([*known, digest]))
                store.mark(name, [Mark("row", key, to)], context.clock())


def declined_of(context: WatchContext, to: str, rows: Mapping[str, Entry | None]) -> set[str]:
    """Those of the rows that a maintainer declined as they are now; None is a row that is withdrawn."""
    digests = {key: digest_of(entry) for key, entry in rows.items() if entry is not None}
    if not digests:
        return set()
    first = _subject(to, next(iter(digests)) if len(digests) == 1 else "")
    known = context.store.cursors(context.name, first)  # one question, however many rows
    return {key for key, digest in digests.items() if digest in json.loads(known.get(_subject(to, key), "[]"))}


def _digests(context: WatchContext, to: str, key: str) -> list[str]:
    return list(json.loads(context.store.cursor(context.name, _subject(to, key)) or "[]"))


def _subject(to: str, key: str) -> str:
    return f"declined {to} {key}"
