"""Watches in, the webhook that tells of them out, set up through the Hub's API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.errors import CallError
from bot.forges.hub.client import HubClient, parse_address
from bot.forges.targets import Access
from bot.watch import Settings

DOMAINS = ["repo", "discussion"]


def watched_by(settings: Settings) -> list[dict[str, str]]:
    """The repositories on the Hub that the watches read or write, as the Hub names them."""
    addresses = [name for watch in settings.watches for name in (watch.source, *(t.to for t in watch.targets))]
    found = [parse_address(name) for name in addresses if name.startswith("hf://")]
    if not found:
        raise CallError("no watch has a source or target on the Hub, so there is nothing to be told of")
    return [dict(pair) for pair in dict.fromkeys((("type", a.kind), ("name", a.name)) for a in found)]


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
