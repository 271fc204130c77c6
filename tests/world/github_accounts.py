"""Accounts of the local GitHub, and its answers to GraphQL."""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import jwt

from tests.world.github_git import GitRepository
from tests.world.github_rights import user
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import Comment, GitHubState, Issue, Repo

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
    scopes = request.who.scopes if request.who else None
    return Answer(200, {"resources": {"core": core}}, {} if scopes is None else {"X-OAuth-Scopes": scopes})


def query(state: GitHubState, request: Request) -> Answer:
    """The questions of GraphQL that are answered here: who am I, edits, histories of paths, and texts of blobs."""
    if request.who is None:
        return refuse(401, "This endpoint requires you to be authenticated.")
    text, variables = request.body["query"], request.body.get("variables") or {}
    if "viewer" in text:
        return Answer(200, {"data": {"viewer": {"login": request.who.login}}})
    if "nodes(" in text:
        repos = state.repos.values()
        known = {one.node_id: one for repo in repos for one in (*repo.comments.values(), *repo.issues.values())}
        there = [known.get(one) for one in variables["ids"]]
        rows = [one and {"id": one.node_id, **_edit(one)} for one in there]
        return Answer(200, {"data": {"nodes": rows}})
    if "history(" in text:
        return _histories(state, request)
    repo = state.repos[f"{variables['owner']}/{variables['name']}"]
    asked = re.findall(r'(b\d+): object\(oid: "([0-9a-f]{40})"\)', text)
    return Answer(200, {"data": {"repository": {name: _text(repo, oid) for name, oid in asked}}})


def _edit(text: Comment | Issue) -> dict[str, Any]:
    """The last edit of a text; GraphQL names an app by its name alone."""
    name = text.editor.removesuffix("[bot]")
    kind = "User" if name == text.editor else "Bot"
    return {"lastEditedAt": text.edited, "editor": {"__typename": kind, "login": name} if text.edited else None}


def _histories(state: GitHubState, request: Request) -> Answer:
    """The commit that last touched each path, as of one commit."""
    variables = request.body["variables"]
    git = state.repos[f"{variables['owner']}/{variables['repo']}"].git
    if variables["oid"] not in git.commits:
        return Answer(200, {"data": {"repository": {"object": None}}})
    found = {}
    for name in re.findall(r"(p\d+): history\(first: 1, path: \$\1\)", request.body["query"]):
        shas = (sha for sha in git.ancestors(variables["oid"]) if variables[name] in changed_at(git, sha))
        found[name] = {"nodes": [{"oid": sha, "committedDate": git.commits[sha].date} for sha in islice(shas, 1)]}
    return Answer(200, {"data": {"repository": {"object": found}}})


def changed_at(git: GitRepository, sha: str) -> Container[str]:
    """The paths that a commit changed."""
    parents = git.commits[sha].parents
    return git.changed(parents[0] if parents else None, sha)


def _text(repo: Repo, oid: str) -> dict[str, Any] | None:
    """A blob as text: None in it where it is binary, cut where it is long."""
    data = repo.git.blobs.get(oid)
    if data is None:
        return None
    try:
        return {"text": data.decode()[:TEXT_LIMIT] if b"\0" not in data else None}
    except UnicodeDecodeError:
        return {"text": None}


def _app(state: GitHubState, request: Request) -> Answer | None:
    """The refusal of a call that no app of ours has signed."""
    try:
        jwt.decode(request.bearer, state.app_key, ["RS256"], issuer=state.app_id)
    except jwt.PyJWTError:
        return refuse(401, "A JSON web token could not be decoded")
    return None


def list_installations(state: GitHubState, request: Request) -> Answer:
    rows = [{"id": number, "account": {"login": owner}} for number, owner in state.installations.items()]
    return _app(state, request) or Answer(200, rows)


def make_token(state: GitHubState, request: Request) -> Answer:
    """A new token of an installation, in the place of the one before; it ends when the world says."""
    refused = _app(state, request)
    if refused or int(request.parts[0]) not in state.installations:
        return refused or refuse(404, "Not Found")
    for token in [token for token in state.accounts if token.startswith("ghs_")]:
        del state.accounts[token]
    token = f"ghs_{state.next_id()}"
    state.add_account(token, "board-app[bot]", is_app=True)
    ends = datetime.now(UTC) + timedelta(seconds=state.token_seconds)
    return Answer(201, {"token": token, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ")})
