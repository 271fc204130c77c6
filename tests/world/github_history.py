"""Commits, refs and comparisons of the local GitHub."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.world.github_content import commit_entry, find, forbidden
from tests.world.github_git import GitError, GitRepository
from tests.world.github_rights import user
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import GitHubState


def read_git_commit(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.commits:
        return refuse(404, "Not Found")
    return Answer(200, commit_entry(request, repo.git, request.parts[1]))


def create_commit(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    body = request.body
    try:
        made = repo.git.add_commit(body["tree"], tuple(body["parents"]), body["message"], request.who.login)
    except GitError as error:
        return refuse(422, str(error))
    return Answer(201, commit_entry(request, repo.git, made.sha))


def _ref(request: Request, ref: str, sha: str) -> dict[str, Any]:
    url = f"{request.base}/repos/{request.parts[0]}/git"
    target = {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"}
    return {"ref": f"refs/{ref}", "url": f"{url}/refs/{ref}", "object": target}


def read_ref(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.refs:
        return refuse(404, "Not Found")
    return Answer(200, _ref(request, request.parts[1], repo.git.refs[request.parts[1]]))


def list_refs(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    found = {ref: sha for ref, sha in repo.git.refs.items() if ref.startswith(request.parts[1])}
    return Answer(200, [_ref(request, ref, sha) for ref, sha in sorted(found.items())])


def list_branches(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    heads = {ref.removeprefix("heads/"): sha for ref, sha in repo.git.refs.items() if ref.startswith("heads/")}
    return Answer(200, [{"name": name, "commit": {"sha": sha}, "protected": False} for name, sha in heads.items()])


def create_ref(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    ref, sha = request.body["ref"].removeprefix("refs/"), request.body["sha"]
    if ref in repo.git.refs:
        return refuse(422, "Reference already exists")
    if sha not in repo.git.commits:
        return refuse(422, "Object does not exist")
    repo.git.refs[ref] = sha
    return Answer(201, _ref(request, ref, sha))


def update_ref(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    ref, sha = request.parts[1], request.body["sha"]
    if ref not in repo.git.refs:
        return refuse(422, "Reference does not exist")
    if sha not in repo.git.commits:
        return refuse(422, "Object does not exist")
    if not request.body.get("force") and repo.git.refs[ref] not in repo.git.ancestors(sha):
        return refuse(422, "Update is not a fast forward")
    repo.git.refs[ref] = sha
    return Answer(200, _ref(request, ref, sha))


def delete_ref(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    if repo.git.refs.pop(request.parts[1], None) is None:
        return refuse(422, "Reference does not exist")
    for issue in repo.pulls("open"):
        if issue.head_repo == repo.name and f"heads/{issue.head}" == request.parts[1]:
            issue.state, issue.closed_by = "closed", request.who.login
    return Answer(204)


def file_entries(request: Request, git: GitRepository, base: str | None, head: str) -> list[dict[str, Any]]:
    """What changed from base to head, as both commits and pull requests list it: a file that moved is one entry."""
    entries = []
    old, new, changed = git.files(base) if base else {}, git.files(head), git.changed(base, head)
    left = {old[path]: path for path, status in changed.items() if status == "removed"}
    moved = {path: left[new[path]] for path, status in changed.items() if status == "added" and new[path] in left}
    for path, status in sorted(changed.items()):
        if path in moved.values():
            continue
        sha = (old if status == "removed" else new)[path]
        url = f"{request.base}/repos/{request.parts[0]}/contents/{path}"
        numbers = {"additions": 1, "deletions": 0, "changes": 1}
        entry = {"filename": path, "status": status, "sha": sha, "contents_url": url, **numbers}
        entries.append(entry | ({"status": "renamed", "previous_filename": moved[path]} if path in moved else {}))
    return entries


def read_commit(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    try:
        sha = repo.git.resolve(request.parts[1])
    except GitError as error:
        return refuse(422, str(error))
    return Answer(200, rest_commit(request, repo.git, sha))


def list_commits(state: GitHubState, request: Request) -> Answer:
    """The commits of a branch, newest first, that changed a path where one is given (along first parents)."""
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    path, until, found = request.query.get("path"), request.query.get("until"), []
    try:
        start = repo.git.resolve(request.query.get("sha", repo.default_branch))
    except GitError as error:
        return refuse(404, str(error))
    for sha in repo.git.ancestors(start):
        parents = repo.git.commits[sha].parents
        if until is not None and datetime.fromisoformat(repo.git.commits[sha].date) > datetime.fromisoformat(until):
            continue
        if path is None or path in repo.git.changed(parents[0] if parents else None, sha):
            found.append(rest_commit(request, repo.git, sha))
    return Answer(200, found)


def rest_commit(request: Request, git: GitRepository, sha: str) -> dict[str, Any]:
    commit = commit_entry(request, git, sha)
    parent = git.commits[sha].parents[:1]
    return {
        "sha": sha,
        "url": f"{request.base}/repos/{request.parts[0]}/commits/{sha}",
        "author": user(request, git.commits[sha].author),
        "commit": commit,
        "parents": commit["parents"],
        "files": file_entries(request, git, parent[0] if parent else None, sha),
    }


def compare(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    git = repo.git
    try:
        base, head = git.resolve(request.parts[1]), git.resolve(request.parts[2])
    except GitError:
        return refuse(404, "Not Found")
    middle = git.merge_base(base, head)
    if middle is None:
        return refuse(404, f"No common ancestor between {base} and {head}.")
    common = set(git.ancestors(middle))
    ahead = [sha for sha in git.ancestors(head) if sha not in set(git.ancestors(base))]
    behind = [sha for sha in git.ancestors(base) if sha not in set(git.ancestors(head))]
    status = ("diverged" if behind else "ahead") if ahead else ("behind" if behind else "identical")
    return Answer(
        200,
        {
            "url": f"{request.base}{request.path}",
            "status": status,
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "merge_base_commit": rest_commit(request, git, middle),
            "base_commit": rest_commit(request, git, base),
            "commits": [rest_commit(request, git, sha) for sha in ahead if sha not in common],
            "files": file_entries(request, git, middle, head),
        },
    )
