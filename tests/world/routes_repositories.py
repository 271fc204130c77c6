"""Repositories that people make and delete over the wire."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .reply import Failure, Reply, answer, no_repository

if TYPE_CHECKING:
    from .hub import Call, Hub


def changed(hub: Hub, call: Call, what: str) -> Reply:
    """Create or delete a repository of the account itself, or of an organization that it belongs to."""
    if not call.user:
        raise Failure(401, "Sign in first")
    asked = json.loads(call.body)
    kind, owner = asked.get("type", "model"), asked.get("organization") or call.user
    name = f"{owner}/{asked['name']}"
    if owner != call.user and call.user not in hub.members.get(owner, set()):
        raise Failure(403, f"You don't have the rights to create a {kind} under the namespace {owner}")
    if what == "create":
        if (kind, name) in hub.repositories:
            raise Failure(409, "You already created this repo")
        made = hub.repository(name, kind, private=asked.get("visibility") == "private")
        return answer({"url": hub.web(made), "name": name})
    if (kind, name) not in hub.repositories:
        raise no_repository(name, signed_in=True)
    hub.delete(hub.repositories[kind, name])
    return answer({})
