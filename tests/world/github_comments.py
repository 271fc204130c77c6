"""Comments on issues and pull requests of the local GitHub."""

from __future__ import annotations

from typing import Any

from tests.world.github_content import find, forbidden
from tests.world.github_rights import authorship
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import Comment, GitHubState, Repo
from tests.world.github_talk import find_issue, too_long


def _comment(request: Request, repo: Repo, comment: Comment) -> dict[str, Any]:
    return {
        "id": comment.id,
        "node_id": comment.node_id,
        "url": f"{request.base}/repos/{repo.name}/issues/comments/{comment.id}",
        "html_url": f"{request.base}/{repo.name}/issues/{comment.issue}#issuecomment-{comment.id}",
        "issue_url": f"{request.base}/repos/{repo.name}/issues/{comment.issue}",
        "body": comment.body,
        **authorship(request, repo, comment),
    }


def list_comments(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    if found is None:
        return refuse(404, "Not Found")
    repo, issue = found
    return Answer(200, [_comment(request, repo, comment) for comment in repo.comments_on(issue.number)])


def list_all_comments(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    return Answer(200, [_comment(request, repo, comment) for comment in repo.comments.values()])


def _may_talk(request: Request) -> Answer | None:
    """A comment on a pull request needs either of two rights."""
    return forbidden(request, "pull-requests") and forbidden(request, "issues")


def create_comment(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    refused = _may_talk(request) or too_long(request)
    if found is None or refused:
        return refused or refuse(404, "Not Found")
    repo, issue = found
    if issue.locked:
        return refuse(403, "Unable to create comment because issue is locked.")
    made = state.comment(repo.name, issue.number, request.body["body"], request.who.login)
    return Answer(201, _comment(request, repo, made))


def read_comment(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    comment = repo.comments.get(int(request.parts[1])) if repo else None
    return Answer(200, _comment(request, repo, comment)) if comment else refuse(404, "Not Found")


def edit_comment(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = _may_talk(request) or too_long(request)
    comment = repo.comments.get(int(request.parts[1])) if repo else None
    if comment is None or refused:
        return refused or refuse(404, "Not Found")
    state.edit_comment(comment, request.body["body"], request.who.login)
    return Answer(200, _comment(request, repo, comment))


def delete_comment(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = _may_talk(request)
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    gone = repo.comments.pop(int(request.parts[1]), None)
    return Answer(204) if gone else refuse(404, "Not Found")
