"""Commands that maintainers write at a target: the approval of a plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from bot.publishing.publication import Reply

APPROVE = re.compile(r"\s*/approve[ \t]+([0-9a-f]{12})\b")


def approved_by(replies: Iterable[Reply], maintainers: Collection[str]) -> set[str]:
    """The digests of the plans that maintainers approved."""
    found = ((reply, APPROVE.match(reply.body)) for reply in replies)
    return {match[1] for reply, match in found if match and reply.author in maintainers}
