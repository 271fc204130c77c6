"""Who may do what on the local GitHub, and the statuses of commits."""

from __future__ import annotations

from typing import Any

from tests.world.github_content import find, forbidden
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import Comment, GitHubState, Issue, Repo


def user(request: Request, login: str) -> dict[str, Any] | None:
    """An account as GitHub shows it; one that was deleted is none."""
    if login == "ghost":
        return None
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"login": login, "id": sum(map(ord, login)), "type": kind, "url": f"{request.base}/users/{login}"}


def association(repo: Repo, login: str) -> str:
    if repo.name.partition("/")[0] == login:
        return "OWNER"
    return "COLLABORATOR" if login in repo.writers else "NONE"


def authorship(request: Request, repo: Repo, said: Comment | Issue) -> dict[str, Any]:
    """Who wrote a comment or an issue, when, and what they are to the repository."""
    return {
        "user": user(request, said.author),
        "created_at": said.created,
        "updated_at": said.updated,
        "author_association": association(repo, said.author),
    }


def read_status(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.commits:
        return refuse(404, "Not Found")
    found = [row for row in repo.statuses if row["sha"] == request.parts[1]]
    latest = {row["context"]: row for row in found}
    return Answer(200, {"sha": request.parts[1], "state": "success", "statuses": list(latest.values())})


def create_status(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "statuses")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    if request.parts[1] not in repo.git.commits:
        return refuse(422, f"No commit found for SHA: {request.parts[1]}")
    words = ("context", "state", "description")
    repo.statuses.append({"sha": request.parts[1]} | {name: request.body[name] for name in words})
    return Answer(201, repo.statuses[-1])


def list_hooks(state: GitHubState, request: Request) -> Answer:
    """The webhooks of a repository; for all but administrators there are none to be seen."""
    repo = find(state, request)
    if repo is None or request.who is None or not request.who.administers:
        return refuse(404, "Not Found")
    return Answer(200, repo.hooks)


def list_workflows(state: GitHubState, request: Request) -> Answer:
    """The workflows of a repository, each with its path and whether GitHub starts it."""
    repo = find(state, request)
    return refuse(404, "Not Found") if repo is None else Answer(200, {"workflows": repo.workflows})
