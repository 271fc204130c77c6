"""Who wrote something at GitHub."""

from __future__ import annotations

from typing import Any

from github.Issue import Issue
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest

from bot.platforms.github.client import GitHubClient

Row = dict[str, Any]  # a row of a list, as GitHub gives it


def login_of(row: Row) -> str:
    """Who wrote an issue or a comment; GitHub calls an account that was deleted ghost."""
    return str((row.get("user") or {}).get("login") or "ghost")


def is_ours(made: Issue | IssueComment | PullRequest, client: GitHubClient) -> bool:
    """Tell whether our account, or a former one, wrote something; PyGithub has no user for a deleted account."""
    return client.as_ours(getattr(made.user, "login", None) or "ghost") == client.user
