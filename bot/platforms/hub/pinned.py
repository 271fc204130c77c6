"""Open a Hub repository for one reading, at the commit that its address names now."""

from __future__ import annotations

import re

from bot.errors import CallError
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import hub_client
from bot.platforms.hub.source import HubSource
from bot.platforms.registry import Access

COMMIT = re.compile(r"[0-9a-f]{40}")


def open_pinned(address: HubAddress, name: str, access: Access) -> tuple[HubSource, str]:
    """The repository, and the commit of the branch or ref in its address; `name` is what errors call it.

    Raises CallError if there is no such branch.
    """
    source = HubSource(hub_client(access), address)
    revision = address.revision or "main"
    if COMMIT.fullmatch(revision):
        return source, revision
    refs = source.refs(requests=True)
    found = refs.get(f"refs/heads/{revision}") or refs.get(revision)
    if found is None:
        raise CallError(f"{name}: there is no branch {revision!r}; a commit is named by its 40 digits")
    return source, found
