"""Read the webhooks of a repository, if the bot's account may see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.platforms.github.client import GitHubClient

PATH = "/webhooks/github"  # where the service takes deliveries
EVENTS = ("push", "pull_request", "issues", "issue_comment")


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook: `answer` is the status that its last delivery got, None if there was none."""

    id: int
    address: str
    is_active: bool
    events: frozenset[str]
    has_secret: bool
    checks_tls: bool
    answer: int | None

    @property
    def missing(self) -> list[str]:
        """The events that it does not tell of."""
        return [] if "*" in self.events else [event for event in EVENTS if event not in self.events]


def webhooks_of(client: GitHubClient, name: str) -> list[Webhook]:
    """The webhooks of a repository that deliver to a service. Raises Refused if only administrators may see them."""
    rows = client.get(f"/repos/{name}/hooks", per_page=100)
    return [hook for hook in map(_webhook, rows) if hook.address.endswith(PATH)]


def _webhook(row: dict[str, Any]) -> Webhook:
    config = row.get("config") or {}
    answer = (row.get("last_response") or {}).get("code")
    return Webhook(
        row["id"],
        str(config.get("url") or "").partition("?")[0].rstrip("/"),
        bool(row.get("active")),
        frozenset(row.get("events") or ()),
        bool(config.get("secret")),
        str(config.get("insecure_ssl", "0")) == "0",
        answer if isinstance(answer, int) else None,
    )
