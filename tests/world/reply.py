"""What a route answers: status, headers, body; errors carry the codes that tell them apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """One answer; `body` is sent as it is."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class Failure(Exception):
    """An answer that ends the request at once."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        shown = " ".join(message.encode("ascii", "backslashreplace").decode().split())
        headers = {"X-Error-Message": shown, "Content-Type": "application/json"}
        if code:
            headers["X-Error-Code"] = code
        self.reply = Reply(status, json.dumps({"error": message}).encode(), headers)


class Moved(Failure):
    """A redirect to where something lies now."""

    def __init__(self, url: str) -> None:
        super().__init__(307, "moved")
        self.reply.headers["Location"] = url


def answer(value: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def no_repository(name: str, *, signed_in: bool) -> Failure:
    return Failure(404 if signed_in else 401, f"Repository {name} not found", "RepoNotFound")


def no_revision(revision: str) -> Failure:
    return Failure(404, f"Invalid rev id: {revision}", "RevisionNotFound")


def no_entry(path: str) -> Failure:
    return Failure(404, f"Entry not found: {path}", "EntryNotFound")
