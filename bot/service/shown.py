"""Find the files that the bot had shown when somebody wrote a command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.platforms.discussions import Comment, Thread

# The line that names a file; nothing that was submitted begins a line of the bot's texts.
SHOWN = re.compile(r"^SHA-256 `([0-9a-f]{64})`$", re.MULTILINE)


def shown_in(text: Comment | None, comment: Comment) -> set[str]:
    """The SHA-256 of the files that a text named when a comment was written; none where it was edited since.

    What happened in the same second counts as edited: nobody can tell.
    """
    if text is None or text.changed >= comment.at:
        return set()
    return set(SHOWN.findall(text.text))


def seen_files(comment: Comment, files: Sequence[str], thread: Thread, head: str, ours: Comment | None) -> list[str]:
    """Those of the files at the head of a request, by SHA-256, that the author of a comment saw.

    They are those of the newest commit; where the service does not say when that came, those that `ours`, our comment
    on it, had named.
    """
    if thread.commits:
        return list(files) if is_newest(thread, comment, head) else []
    named = shown_in(ours, comment)
    return [sha for sha in files if sha in named]


def is_newest(thread: Thread, comment: Comment, head: str) -> bool:
    """Tell whether a comment was written when `head` was the newest commit of its request already, and it still is."""
    return bool(thread.commits) and thread.commits[-1].oid == head and thread.commits[-1].place < comment.place
