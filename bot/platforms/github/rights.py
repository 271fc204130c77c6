"""What a token may do at GitHub, and how much of its budget is left: reads that change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.platforms.github.client import GitHubClient


def may_push(client: GitHubClient, name: str) -> bool | None:
    """Whether the account may push to a repository; None where GitHub does not say. Raises Unavailable or Refused.

    GitHub answers for the account, not for what a fine-grained token was given; of an app it says nothing.
    """
    permissions = client.get(f"/repos/{name}").get("permissions")
    if not isinstance(permissions, dict) or client.login.endswith("[bot]"):
        return None
    return bool(permissions.get("push"))


@dataclass(frozen=True, slots=True)
class GitHubBudget:
    """How many requests are left, of how many; `reset` is when they are whole again, in Unix seconds.

    `date` is GitHub's own, as in the header of its answer.
    """

    left: int
    limit: int
    reset: float
    date: str | None


def budget(client: GitHubClient) -> GitHubBudget:
    """What is left of the requests of this hour; asking costs none. Raises Unavailable or Refused."""

    def call() -> GitHubBudget:
        headers, data = client.github.requester.requestJsonAndCheck("GET", "/rate_limit")
        core: dict[str, Any] = data["resources"]["core"]
        return GitHubBudget(int(core["remaining"]), int(core["limit"]), float(core["reset"]), headers.get("date"))

    return client(call)
