"""The row inside a comment of the bot: the entry as a block of JSON, read back from the comment's text."""

from __future__ import annotations

import re

from bot.errors import MalformedEntry
from bot.publishing.entry import Entry, parse_entry
from bot.reporting.escape import plain_json

BLOCK = re.compile(r"^```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def json_block(entry: Entry) -> list[str]:
    """The entry as lines of Markdown."""
    return ["```json", plain_json(entry.to_bytes().decode()).rstrip(), "```"]


def entry_in(body: str) -> Entry | None:
    """The entry in a comment's text, None if it has none that can be read."""
    for block in reversed(BLOCK.findall(body)):
        try:
            return parse_entry(block.encode())
        except MalformedEntry:
            continue
    return None
