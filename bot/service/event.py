"""Parse the body of a Hub webhook into an event; unknown kinds are ignored.

The Hub's payload of version 3 and whatever follows it: unknown actions, scopes, kinds of repository and
fields are accepted, because a delivery that is refused counts towards the webhook's suspension.
https://huggingface.co/docs/hub/webhooks
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

MAIN = "refs/heads/main"
REQUEST = "refs/pr/"


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the Hub reported, as far as it concerns a watch.

    `repository` is "datasets/org/name" (or `watch/<name>` from a hook of a local repository), `refs` the
    refs that moved with their new commits, `author` the opaque id of who wrote a discussion or comment, `number` names
    the discussion, 0 if it tells none.
    """

    repository: str
    scope: str
    action: str
    refs: tuple[tuple[str, str | None], ...] = ()
    author: str = ""
    number: int = 0

    @property
    def moves_content(self) -> bool:
        """Tell whether files changed somewhere."""
        return self.scope == "repo.content" or self.scope.startswith("repo.content.")

    @property
    def is_discussion(self) -> bool:
        """Tell whether it tells of a discussion, a request or a comment."""
        return self.scope.split(".")[0] == "discussion"

    @property
    def touches_requests(self) -> bool:
        """Tell whether it may tell of a request: anything but a push to branches."""
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
    """Tell whether an event may mean work: neither our own doing nor something that we never look at."""
    if event.is_discussion:
        return event.author not in our_ids
    if event.moves_content:
        refs = [(ref, new) for ref, new in event.refs if ref == MAIN or ref.startswith(REQUEST)]
        return not event.refs or any(new is None or new not in our_commits for _, new in refs)
    return event.scope == "repo"
