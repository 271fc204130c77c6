"""The webhook at the Hub that tells the service of pushes, set up through the Hub's API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.platforms.hub.client import HubClient
from bot.platforms.registry import Access

DOMAINS = ["repo", "discussion"]


def create(access: Access, url: str, watched: Sequence[dict[str, str]], secret: str) -> str:
    """Make the webhook, unless one with this address watches the same already; one line about it."""
    client = HubClient(access.hf_endpoint, access.hf_token)
    for hook in client.read(client.api.list_webhooks):
        if hook.url == url and names(hook) == {(w["type"], w["name"]) for w in watched} and not hook.disabled:
            return f"{hook.id} is there already: {line_about(hook)}"
    made = client.write(client.api.create_webhook, url=url, watched=list(watched), domains=list(DOMAINS), secret=secret)
    return f"{made.id} made: {line_about(made)}"


def listed(access: Access) -> Iterator[str]:
    """One line about each webhook of the account, without its secret."""
    client = HubClient(access.hf_endpoint, access.hf_token)
    for hook in client.read(client.api.list_webhooks):
        yield f"{hook.id} {line_about(hook)}"


def names(hook: Any) -> set[tuple[str, str]]:
    """What a webhook watches."""
    return {(item.type, item.name) for item in hook.watched}


def line_about(hook: Any) -> str:
    """What a webhook watches, and where it delivers."""
    watched = ", ".join(f"{kind} {name}" for kind, name in sorted(names(hook)))
    address = str(hook.url or "a job").partition("?")[0]  # a secret may stand in the query
    return f"{watched} → {address}{' (disabled)' if hook.disabled else ''}"
