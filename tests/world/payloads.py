"""Webhook payloads of version 3: the JSON that the Hub would deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .discussions import Discussion
from .git import Repository

if TYPE_CHECKING:
    from .hub import Hub


def repo(hub: Hub, repository: Repository, *, head: bool) -> dict[str, Any]:
    shown = {
        "type": repository.kind,
        "name": repository.name,
        "id": repository.id,
        "private": repository.private,
        "url": {
            "web": hub.web(repository),
            "api": f"{hub.url}/api/{repository.kind}s/{repository.name}",
        },
        "owner": {"id": f"owner-{repository.name.split('/')[0]}"},
    }
    return shown | ({"headSha": repository.main.oid} if head else {})


def push(hub: Hub, repository: Repository, ref: str, old: str | None, new: str | None) -> dict[str, Any]:
    return {
        "event": {"action": "update", "scope": "repo.content"},
        "repo": repo(hub, repository, head=True),
        "updatedRefs": [{"ref": ref, "oldSha": old, "newSha": new}],
    }


def discussion(
    hub: Hub, repository: Repository, row: Discussion, scope: str, action: str, event: dict[str, Any] | None
) -> dict[str, Any]:
    url = f"{hub.web(repository)}/discussions/{row.num}"
    payload: dict[str, Any] = {
        "event": {"action": action, "scope": scope},
        "repo": repo(hub, repository, head=False),
        "discussion": {
            "id": f"discussion-{repository.id}-{row.num}",
            "num": row.num,
            "title": row.title,
            "url": {
                "web": url,
                "api": f"{hub.url}/api/{repository.kind}s/{repository.name}/discussions/{row.num}",
            },
            "status": row.status,
            "author": {"id": hub.user_id(row.author)},
            "isPullRequest": row.pull_request,
        },
    }
    if row.pull_request:
        payload["discussion"]["changes"] = {"base": "refs/heads/main"}
    if event is not None and event["type"] == "comment":
        payload["comment"] = {
            "id": event["id"],
            "author": {"id": hub.user_id(event["author"]["name"])},
            "content": event["data"]["latest"]["raw"],
            "hidden": event["data"]["hidden"],
            "url": {"web": f"{url}#{event['id']}"},
        }
    return payload
