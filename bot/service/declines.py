"""Rows of the rolling request that maintainers declined: left out, and not proposed again with the same content."""

from __future__ import annotations

import json
import re
from collections import Counter

from bot.platforms.target import Target
from bot.publishing.entry import Entry, digest_of
from bot.service.context import WatchContext
from bot.service.desired import rolling_mark
from bot.service.items import Mark
from bot.service.reading import row_digests

DECLINE = re.compile(r"\s*/decline[ \t]+(\S+)")


def learn_declines(context: WatchContext, target: Target, to: str) -> None:
    """Note which rows were declined since, as they are now, and mark them."""
    replies = target.read_replies(rolling_mark(context.leaderboard.id))
    found = [DECLINE.match(reply.body) for reply in replies if reply.author in context.watch.maintainers]
    store, name = context.store, context.name
    for key, count in Counter(match[1].strip("`") for match in found if match).items():
        known = json.loads(store.cursor(name, _subject(to, key)) or "[0]")
        digest = row_digests(context, [key])[key]
        if count > known[0] and digest:
            with store.transaction():
                store.set_cursor(name, _subject(to, key), json.dumps([count, digest]))
                store.mark(name, [Mark("row", key, to)], context.clock())


def is_declined(context: WatchContext, to: str, key: str, entry: Entry | None) -> bool:
    """Whether a maintainer declined this very row."""
    known = json.loads(context.store.cursor(context.name, _subject(to, key)) or "[0]")
    return entry is not None and known[1:] == [digest_of(entry)]


def _subject(to: str, key: str) -> str:
    return f"declined {to} {key}"
