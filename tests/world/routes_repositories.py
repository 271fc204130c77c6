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


def started(hub: Hub, call: Call, namespace: str) -> Reply:
    """Start a job of the account itself, or of an organization of it; values of secrets are never shown."""
    if not call.user:
        raise Failure(401, "Sign in first")
    if namespace != call.user and namespace not in hub.members.get(call.user, set()):
        raise Failure(403, f"You don't have the rights to run jobs in {namespace}")
    asked = json.loads(call.body)
    hub.jobs.append(asked)
    owner = {"id": hub.user_id(call.user), "name": namespace, "type": "user"}
    shown = {"id": f"job{next(hub.numbers):021}", "owner": owner, "status": {"stage": "SCHEDULING"},
             "createdAt": "2026-03-02T10:00:00.000Z", "dockerImage": asked["dockerImage"], "flavor": asked["flavor"],
             "command": asked["command"], "secrets": dict.fromkeys(asked.get("secrets", {}), "")}  # fmt: skip
    return answer(shown)
