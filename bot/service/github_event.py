"""Parse the body of a GitHub delivery into an event; unknown kinds are ignored.

Fields that are not named here may be missing or hold anything.
https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec

from bot.service.event import MAIN, Event, number_of, part, text

SCHEME = "github://"
ANY = Event(SCHEME, "repo", "update")  # something happened at GitHub, and nobody can say where
TALK = {
    "pull_request": "discussion",
    "issues": "discussion",
    "issue_comment": "discussion.comment",
}
FORM = "application/x-www-form-urlencoded"  # what GitHub sends unless a webhook says application/json


def repository_name(name: str) -> str:
    """How an event names a repository: GitHub takes no account of case."""
    return f"{SCHEME}{name.lower()}"


def account_id(login: str) -> str:
    """How an event names an account, so that none of another service has the same id."""
    return f"github:{login.lower()}"


def parse_github_event(kind: str, body: bytes, content_type: str = "") -> Event | None:
    """The event of a delivery of a kind (X-GitHub-Event); None if it is none that may concern us."""
    try:
        payload = msgspec.json.decode(_json_in(body, content_type))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    repository = part(payload, "repository")
    name, author = text(repository, "full_name"), account_id(text(part(payload, "sender"), "login"))
    if not name:
        return None
    if kind == "push":
        refs = ((_ref(text(payload, "ref"), text(repository, "default_branch")), _commit(text(payload, "after"))),)
        return Event(repository_name(name), "repo.content", "update", refs, author)
    if kind in TALK:
        number = number_of(part(payload, "issue") or part(payload, "pull_request"))
        return Event(repository_name(name), TALK[kind], text(payload, "action"), (), author, number)
    return None


def _json_in(body: bytes, content_type: str) -> bytes:
    if content_type.partition(";")[0].strip().lower() != FORM:
        return body
    return parse_qs(body.decode(), max_num_fields=10).get("payload", [""])[0].encode()


def _ref(ref: str, default_branch: str) -> str:
    """A ref with the default branch under the name that it has on the Hub."""
    return MAIN if default_branch and ref == f"refs/heads/{default_branch}" else f"{SCHEME}{ref}"


def _commit(oid: str) -> str | None:
    return oid if oid.strip("0") else None
