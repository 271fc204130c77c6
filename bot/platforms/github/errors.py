"""Translate PyGithub's exceptions into those of this package, with the seconds that GitHub asks to wait."""

from __future__ import annotations

import time
from typing import Any

from github import GithubException

from bot.errors import BotError, DiscussionsDisabled, Gone, Locked, NoWriteAccess, Refused, Stale, Unavailable
from bot.platforms.github.wire import SERVICE, Asked
from bot.platforms.net import seconds_in

ASKED_IN_VAIN = 400  # how PyGithub calls an answer of GraphQL that holds errors; its own status was 200
SECONDARY_WAIT = 60.0  # GitHub's advice if an answer names no time
LIMITED = ("rate limit", "abuse detection")
TOO_QUICK = "submitted too quickly"  # how a 422 says that an account opens requests or comments too fast
# How a 422 says that somebody was faster: the ref is there, has moved, is gone, or has a request already.
MOVED = ("already exists", "not a fast forward", "does not exist", "no commits between", "badobjectstate")
# How a 422 says that a rule keeps everybody, or us, from writing to a branch.
RULES = ("rule violations", "protected branch", "approving review", "required status check")
PROTECTED = 'the branch is protected: publish with `as = "pull-request"`, or let the bot pass the rule'
TOKEN = "the token is wrong or has expired; set GITHUB_TOKEN"  # noqa: S105 - a sentence
RIGHT = "the token may not do this; give it the right (in a workflow, under `permissions:`)"
GONE = "it is not there, or the token may not see it"
EMPTY = "make a first commit in it, for example a README"


def rate_limit_wait(error: GithubException) -> float | None:
    """Seconds that GitHub wants to be left alone; None if the error is about something else.

    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    said = said_by(error).lower()
    is_limit = error.status in {403, 429, ASKED_IN_VAIN} and (
        "retry-after" in headers or any(words in said for words in LIMITED)
    )
    if not is_limit and not (error.status in {422, ASKED_IN_VAIN} and TOO_QUICK in said):
        return None
    after, reset = (seconds_in(headers.get(name, "")) for name in ("retry-after", "x-ratelimit-reset"))
    if after is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(0.0, reset - time.time()) + 1.0
    return SECONDARY_WAIT if after is None else after


def said_by(error: GithubException) -> str:
    """GitHub's message with the details of a failed validation, in one line of at most 300 characters."""
    data: Any = error.data if isinstance(error.data, dict) else {}
    errors = data.get("errors")
    details = errors if isinstance(errors, list) else []
    parts = [data.get("message"), *(part.get("message") for part in details if isinstance(part, dict))]
    said = ": ".join(str(part) for part in parts if part) or f"status {error.status}"
    return " ".join(said.split())[:300]


def translated(error: GithubException, wait: float | None, asked: Asked) -> BotError:
    """Our exception for one of PyGithub's; `wait` is what `rate_limit_wait` gave, `asked` what the call was about."""
    said, status = said_by(error), error.status
    if wait is not None:
        return Unavailable(SERVICE, asked.about(f"{said} (try again in {wait:.0f} s)"), retry_after=wait)
    if status >= 500 or status == 408 or (status == ASKED_IN_VAIN and said.startswith("Something went wrong")):
        return Unavailable(SERVICE, asked.about(f"{status}: {said}"), may_have_landed=asked.is_write)
    if status == 409 and "is empty" in said:
        return Gone(SERVICE, asked.about(f"{said.rstrip('.')}: {EMPTY}"))
    if status == 409 or (status == 422 and any(words in said.lower() for words in MOVED)):
        return Stale(f"{SERVICE}: {asked.about(said)}")
    return _refusal(status, said, asked)


def _refusal(status: int, said: str, asked: Asked) -> Refused:
    """The kind of refusal that an answer is."""
    words = said.lower()
    if status == 404 or (status == 422 and "no commit found" in words):
        return Gone(SERVICE, asked.about(f"{said}: {GONE}"))
    if status == 422 and any(rule in words for rule in RULES):
        return NoWriteAccess(SERVICE, asked.about(f"{said}: {PROTECTED}"))
    if status == 403 and "locked" in words:
        return Locked(SERVICE, asked.about(f"{status}: {said}"))
    if status == 410 and "disabled" in words:
        return DiscussionsDisabled(SERVICE, asked.about(f"{status}: {said}"))
    if 300 <= status < 400 or status == 410:
        return Gone(SERVICE, asked.about(f"{status}: {said}: it was moved, renamed or deleted"))
    kind = NoWriteAccess if status == 403 and asked.is_write else Refused
    why = {401: f": {TOKEN}", 403: f": {RIGHT}"}.get(status, "")
    return kind(SERVICE, asked.about(f"{status}: {said}{why}"))
