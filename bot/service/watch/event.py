"""Parse the webhook deliveries of the Hub and of GitHub into events; unknown kinds are ignored.

Unknown actions, scopes, kinds of repository and fields are accepted: the Hub suspends a webhook whose deliveries are
refused.

https://huggingface.co/docs/hub/webhooks https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import msgspec

MAIN = "refs/heads/main"
REQUEST = "refs/pr/"
SCHEME = "github://"
FORM_ENCODED = "application/x-www-form-urlencoded"  # what GitHub sends unless a webhook says application/json
# What events of GitHub are called at the Hub.
TALK = {
    "pull_request": "discussion",
    "issues": "discussion",
    "issue_comment": "discussion.comment",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the Hub or GitHub reported, reduced to what matters to a watch.

    `repository` is "datasets/org/name" (or `watch/<name>` from a hook of a local repository), `refs` are the refs that
    moved with their new commits, `author` is the opaque id of who wrote a discussion or comment, and `number` that of
    the discussion, 0 if the event names none.
    """

    repository: str
    scope: str
    action: str
    refs: tuple[tuple[str, str | None], ...] = ()
    author: str = ""
    number: int = 0

    @property
    def moves_content(self) -> bool:
        """Tell whether files may have changed."""
        return self.scope == "repo.content" or self.scope.startswith("repo.content.")

    @property
    def is_discussion(self) -> bool:
        """Tell whether the event is about a discussion, a request or a comment."""
        return self.scope.split(".")[0] == "discussion"

    @property
    def touches_requests(self) -> bool:
        """Tell whether the event may be about a request: anything but a push to branches."""
        return not (self.moves_content and self.refs) or any(ref.startswith(REQUEST) for ref, _ in self.refs)


def parse_event(body: bytes) -> Event | None:
    """The event of a delivery; None if the body is not a payload that the bot can read."""
    try:
        payload = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    event, repository = part(payload, "event"), part(payload, "repo")
    scope, kind, name = text(event, "scope"), text(repository, "type"), text(repository, "name")
    if not (scope and kind and name):
        return None
    subject = part(payload, "comment") or part(payload, "discussion")
    return Event(
        repository=f"{kind}/{name}" if kind == "watch" else f"{kind}s/{name}",
        scope=scope,
        action=text(event, "action"),
        refs=moved_refs(payload),
        author=text(part(subject, "author"), "id"),
        number=number_of(part(payload, "discussion")),
    )


def part(value: Any, key: str) -> Any:
    """An object inside an object; an empty one if there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def text(value: Any, key: str) -> str:
    """A text inside an object; "" if there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def number_of(value: Any) -> int:
    """The number of a discussion or request; 0 if there is none that can be one."""
    found = value.get("num", value.get("number"))
    return found if type(found) is int and 0 < found < 2**31 else 0


def moved_refs(payload: Any) -> tuple[tuple[str, str | None], ...]:
    """The refs that a push moved; a commit of None says that the ref is gone."""
    found = payload.get("updatedRefs")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return tuple((text(row, "ref"), text(row, "newSha") or None) for row in rows)


def concerns_us(event: Event, *, our_ids: Collection[str], our_commits: Collection[str]) -> bool:
    """Tell whether an event may mean work: it is not our own doing, and about something that the bot looks at."""
    if event.is_discussion:
        return event.author not in our_ids
    if event.moves_content:
        refs = [(ref, new) for ref, new in event.refs if ref == MAIN or ref.startswith(REQUEST)]
        return not event.refs or any(new is None or new not in our_commits for _, new in refs)
    return event.scope == "repo"


ANY = Event(SCHEME, "repo", "update")  # something happened at GitHub, and nobody can say where


def repository_name(name: str) -> str:
    """The name of a repository for comparisons: GitHub ignores case."""
    return f"{SCHEME}{name.lower()}"


def account_id(login: str) -> str:
    """The id of a GitHub account, in a form that no account of the Hub has."""
    return f"github:{login.lower()}"


def parse_github_event(kind: str, body: bytes, content_type: str = "") -> Event | None:
    """The event of a delivery of a kind (X-GitHub-Event); None if it cannot concern us."""
    try:
        payload = msgspec.json.decode(_json_in(body, content_type))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    repository = part(payload, "repository")
    name, author = text(repository, "full_name"), account_id(text(part(payload, "sender"), "login"))
    if not name:
        return None
    if kind == "push":
        ref, branch, oid = text(payload, "ref"), text(repository, "default_branch"), text(payload, "after")
        moved = MAIN if branch and ref == f"refs/heads/{branch}" else f"{SCHEME}{ref}"  # main has its name on the Hub
        refs = ((moved, oid if oid.strip("0") else None),)
        return Event(repository_name(name), "repo.content", "update", refs, author)
    if kind in TALK:
        number = number_of(part(payload, "issue") or part(payload, "pull_request"))
        return Event(repository_name(name), TALK[kind], text(payload, "action"), (), author, number)
    return None


def _json_in(body: bytes, content_type: str) -> bytes:
    if content_type.partition(";")[0].strip().lower() != FORM_ENCODED:
        return body
    return parse_qs(body.decode(), max_num_fields=10).get("payload", [""])[0].encode()
