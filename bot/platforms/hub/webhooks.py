"""Create, renew, list and delete the webhook that reports pushes to a service, through the Hub's API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.errors import CallError
from bot.platforms.hub.client import HubClient, hub_client
from bot.platforms.platform import Access

DOMAINS = ["repo", "discussion"]
PATH = "/webhooks/hub"  # where the service takes deliveries
Watched = Sequence[dict[str, str]]


def create(access: Access, url: str, watched: Watched, secret: str) -> str:
    """Create the webhook, or renew the one with this address and delete others with it; returns a line about it."""
    client = hub_client(access)
    found = [hook for hook in hooks(client) if hook.url and address_of(hook) == _address(url)]
    if not found:
        made = client.write(
            client.api.create_webhook, url=url, watched=list(watched), domains=list(DOMAINS), secret=secret
        )
        return f"{made.id} created: {line_about(made)}"
    for double in found[1:]:
        client.write(client.api.delete_webhook, double.id)
    doubled = f"; {len(found) - 1} more with this address deleted" if found[1:] else ""
    return _renew(client, found[0], url, watched, secret) + doubled


def create_for_job(access: Access, job: str, watched: Watched, secrets: dict[str, str]) -> str:
    """Create a webhook that starts a copy of a job, and give it the secrets of that job, which the Hub does not copy.

    Returns a line about it.
    """
    client = hub_client(access)
    made = client.write(
        client.api.create_webhook, job_id=job, watched=list(watched), domains=list(DOMAINS), secrets=secrets
    )
    return f"{made.id} created: {line_about(made)} with {', '.join(sorted(secrets))}"


def update(access: Access, which: str, url: str, watched: Watched, secret: str) -> str:
    """Renew what one webhook watches, its secret, and its address where a new one is given; returns a line about it.

    `which` is its id or its address, "" for the only one that delivers to a service. Raises CallError if that names
    none, several, or one that starts a job.
    """
    client = hub_client(access)
    found = [hook for hook in hooks(client) if (_is_named(hook, which) if which else delivers_to_service(hook))]
    if len(found) != 1:
        hint = "to see all webhooks: leaderboard-bot webhook list"
        raise CallError(f"{len(found)} webhooks {'have this id or address' if which else 'end in ' + PATH}; {hint}")
    if found[0].url is None:
        raise CallError(
            f"{found[0].id} starts a job: delete it, and make another: leaderboard-bot webhook create --job ID"
        )
    return _renew(client, found[0], url or found[0].url, watched, secret)


def delete(access: Access, which: str) -> Iterator[str]:
    """Delete the webhook with an id, or all with an address; returns a line about each. Raises CallError for none."""
    client = hub_client(access)
    found = [hook for hook in hooks(client) if _is_named(hook, which)]
    if not found:
        raise CallError(
            "no webhook of this account has this id or address; to see all webhooks: leaderboard-bot webhook list"
        )
    for hook in found:
        client.write(client.api.delete_webhook, hook.id)
        yield f"{hook.id} deleted: {line_about(hook)}"


def listed(access: Access) -> Iterator[str]:
    """One line about each webhook of the account, without its secret."""
    for hook in hooks(hub_client(access)):
        yield f"{hook.id} {line_about(hook)}"


def hooks(client: HubClient) -> list[Any]:
    """All webhooks of the account."""
    return list(client.read(client.api.list_webhooks))


def _renew(client: HubClient, hook: Any, url: str, watched: Watched, secret: str) -> str:
    """Update a webhook that differs from what is wanted; a disabled one is enabled."""
    wanted = {(one["type"], one["name"]) for one in watched}
    is_whole = names(hook) == wanted and set(hook.domains) == set(DOMAINS) and not hook.disabled
    if is_whole and (hook.url, hook.secret) == (url, secret):
        return f"{hook.id} already exists: {line_about(hook)}"
    # A call that leaves `watched` out wipes it.
    made = client.write(
        client.api.update_webhook, hook.id, url=url, watched=list(watched), domains=list(DOMAINS), secret=secret
    )
    if made.disabled:
        made = client.write(client.api.enable_webhook, hook.id)
    return f"{hook.id} renewed: {line_about(made)}"


def _is_named(hook: Any, which: str) -> bool:
    return hook.id == which or (bool(hook.url) and address_of(hook) == _address(which))


def delivers_to_service(hook: Any) -> bool:
    """Tell whether a webhook delivers to a service like ours, by the end of its address."""
    return address_of(hook).endswith(PATH)


def names(hook: Any) -> set[tuple[str, str]]:
    """The repositories that a webhook watches."""
    return {(item.type, item.name) for item in hook.watched}


def address_of(hook: Any) -> str:
    """The URL of a webhook without its query, which may hold a secret; "a job" if it starts one."""
    return _address(str(hook.url or "a job"))


def _address(url: str) -> str:
    return url.partition("?")[0].rstrip("/")


def line_about(hook: Any) -> str:
    """A line with what a webhook watches, and where it delivers."""
    watched = ", ".join(f"{kind} {name}" for kind, name in sorted(names(hook)))
    return f"{watched} → {address_of(hook)}{' (disabled)' if hook.disabled else ''}"
