"""Who wrote something at GitHub, and who may push to a repository."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from github.Issue import Issue
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest

from bot.errors import Refused
from bot.platforms.github.client import GitHubClient

# How GitHub calls those who may have been given the right to push; members who hide that they are, it calls otherwise.
INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
WRITE = frozenset({"admin", "write"})
MOST_STRANGERS = 50  # accounts that are asked about although GitHub does not call them insiders
Row = dict[str, Any]  # a row of a list, as GitHub gives it


def login_of(row: Row) -> str:
    """Who wrote an issue or a comment; GitHub calls an account that was deleted ghost."""
    return str((row.get("user") or {}).get("login") or "ghost")


def is_ours(made: Issue | IssueComment | PullRequest, client: GitHubClient) -> bool:
    """Tell whether our account, or a former one, wrote something; PyGithub has no user for a deleted account."""
    return client.as_ours(getattr(made.user, "login", None) or "ghost") == client.user


@dataclass
class WriteRights:
    """Who may push to a repository, as far as the bot's token may ask."""

    client: GitHubClient
    name: str
    _known: dict[str, bool] = field(default_factory=dict, repr=False)
    _insiders: set[str] = field(default_factory=set, repr=False)

    def learn(self, row: Row) -> None:
        """Note the author of something, where GitHub says that it is an insider."""
        if row.get("author_association") in INSIDERS:
            self._insiders.add(login_of(row))

    def has(self, account: str) -> bool:
        """Tell whether an account may push; False if we may not ask. Raises Unavailable."""
        if account not in self._known:
            if account not in self._insiders and len(self._known.keys() - self._insiders) >= MOST_STRANGERS:
                return False  # a crowd must not spend the bot's requests
            self._known[account] = self._ask(account)
        return self._known[account]

    def _ask(self, account: str) -> bool:
        repository = self.client.repo(self.name)
        try:
            return self.client(lambda: repository.get_collaborator_permission(account)) in WRITE
        except Refused:
            return False
