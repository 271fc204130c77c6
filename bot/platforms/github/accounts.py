"""The bot's account at GitHub: a token, or an app whose one-hour tokens PyGithub renews."""

from __future__ import annotations

from typing import Any

import jwt
from github import Auth, Github

from bot.errors import CallError
from bot.platforms.registry import GitHubApp

BAD_KEY = "GITHUB_APP_PRIVATE_KEY is not an RSA private key in PEM form; GitHub gives one in the settings of the app"
SHOWN = 5  # installations that a message names


def account_of(token: str | None, app: GitHubApp | None, **options: Any) -> Auth.Auth | None:
    """The credentials of calls, None if there are none; an app comes before a token.

    `options` are PyGithub's own. Raises CallError for an invalid key, or if the app has not exactly one installation.
    """
    if app is None:
        return Auth.Token(token) if token else None
    account = Auth.AppAuth(app.app_id, app.private_key)
    try:
        _ = account.token
    except (ValueError, TypeError, jwt.PyJWTError):
        raise CallError(BAD_KEY) from None
    return account.get_installation_auth(app.installation or _only_installation(account, **options))


def _only_installation(account: Auth.AppAuth, **options: Any) -> int:
    """The number of the one installation of an app."""
    requester = Github(auth=account, **options).requester
    _, rows = requester.requestJsonAndCheck("GET", "/app/installations", parameters={"per_page": 100})
    if len(rows) == 1:
        return int(rows[0]["id"])
    known = ", ".join(f"{row['id']} at {row['account']['login']}" for row in rows[:SHOWN])
    raise CallError(
        f"the app has {len(rows)} installations{f' ({known})' if known else ''}: "
        + ("name one by GITHUB_APP_INSTALLATION_ID" if rows else "install it on the repositories of the settings")
    )
