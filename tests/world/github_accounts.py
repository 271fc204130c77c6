"""Who asks, and the questions of GraphQL: a call in, GitHub's answer out."""

from __future__ import annotations

import re
from typing import Any

from tests.world.github_rights import user
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import GitHubState, Repo

TEXT_LIMIT = 512_000


def read_user(_: GitHubState, request: Request) -> Answer:
    if request.who is None:
        return refuse(401, "Requires authentication")
    if request.who.is_app:
        return refuse(403, "Resource not accessible by integration")
    return Answer(200, user(request, request.who.login))


def read_rate_limit(state: GitHubState, request: Request) -> Answer:
    core = {"limit": 5000, "remaining": 4990, "reset": 4_102_444_800}
    if request.who is None:
        core |= {"limit": 60, "remaining": state.anonymous_left}
    return Answer(200, {"resources": {"core": core}})


def query(state: GitHubState, request: Request) -> Answer:
    """The two questions of GraphQL that are answered here: who am I, and the texts of blobs by id."""
    if request.who is None:
        return refuse(401, "This endpoint requires you to be authenticated.")
    text, variables = request.body["query"], request.body.get("variables") or {}
    if "viewer" in text:
        return Answer(200, {"data": {"viewer": {"login": request.who.login}}})
    repo = state.repos[f"{variables['owner']}/{variables['name']}"]
    if "lastEditedAt" in text:
        return Answer(
            200, {"data": {"repository": {"issue": {"lastEditedAt": repo.issues[variables["number"]].edited}}}}
        )
    asked = re.findall(r'(b\d+): object\(oid: "([0-9a-f]{40})"\)', text)
    return Answer(200, {"data": {"repository": {name: _text(repo, oid) for name, oid in asked}}})


def _text(repo: Repo, oid: str) -> dict[str, Any] | None:
    """A blob as text: None in it where it is binary, cut where it is long."""
    data = repo.git.blobs.get(oid)
    if data is None:
        return None
    try:
        return {"text": data.decode()[:TEXT_LIMIT] if b"\0" not in data else None}
    except UnicodeDecodeError:
        return {"text": None}
