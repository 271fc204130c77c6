"""Repositories of GitHub that people make and delete over the wire."""

from __future__ import annotations

from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import GitHubState
from tests.world.github_talk import read_repo


def create(state: GitHubState, request: Request) -> Answer:
    """A new repository of the account itself, with a first commit where that is asked for."""
    if request.who is None:
        return refuse(401, "Requires authentication")
    name = f"{request.who.login}/{request.body['name']}"
    if name in state.repos:
        return refuse(422, "Repository creation failed.")
    files = {"README.md": f"# {request.body['name']}\n".encode()} if request.body.get("auto_init") else None
    state.add_repo(name, files, private=bool(request.body.get("private")))
    request.parts = (name,)
    return Answer(201, read_repo(state, request).body)


def delete(state: GitHubState, request: Request) -> Answer:
    """Take a repository of the account away."""
    name = request.parts[0]
    if name not in state.repos or request.who is None:
        return refuse(404, "Not Found")
    if name.partition("/")[0] != request.who.login:
        return refuse(403, "Must have admin rights to Repository.")
    del state.repos[name]
    return Answer(204)
