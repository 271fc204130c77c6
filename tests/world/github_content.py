"""Files, commits, refs and comparisons of the local GitHub: a call in, GitHub's answer out."""

from __future__ import annotations

import base64
from typing import Any

from tests.world.github_git import GitError, GitRepository
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import GitHubState, Repo

CONTENTS_LIMIT = 1_048_576


def find(state: GitHubState, request: Request) -> Repo | None:
    """The repository of a call; a private one is not there for strangers."""
    repo = state.repos.get(request.parts[0])
    return None if repo is None or (repo.private and request.who is None) else repo


def forbidden(request: Request, permission: str) -> Answer | None:
    """The refusal of a write without the right, None where it may be done."""
    if request.who is None:
        return refuse(401, "Requires authentication")
    if permission in request.who.permissions:
        return None
    return refuse(403, "Resource not accessible by integration")


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _file(request: Request, git: GitRepository, path: str, sha: str, *, content: bool) -> dict[str, Any]:
    data = git.blobs[sha]
    url = f"{request.base}/repos/{request.parts[0]}/contents/{path}"
    entry = {
        "type": "file",
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": sha,
        "size": len(data),
        "url": url,
    }
    if not content:
        return entry
    if len(data) > CONTENTS_LIMIT:
        return entry | {"encoding": "none", "content": ""}
    return entry | {"encoding": "base64", "content": encode(data)}


def read_contents(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    path = request.parts[1].strip("/")
    try:
        files = repo.git.files(repo.git.resolve(request.query.get("ref", "main")))
    except GitError:
        return refuse(404, f"No commit found for the ref {request.query.get('ref')}")
    if path in files:
        return Answer(200, _file(request, repo.git, path, files[path], content=True))
    inside = {where: sha for where, sha in files.items() if where.startswith(f"{path}/") or not path}
    if not inside:
        return refuse(404, "Not Found")
    entries = [_file(request, repo.git, where, sha, content=False) for where, sha in sorted(inside.items())]
    return Answer(200, entries[:1000])


def write_contents(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    path, ref = request.parts[1], f"heads/{request.body.get('branch', 'main')}"
    if ref not in repo.git.refs:
        return refuse(404, f"Branch {request.body.get('branch')} not found")
    standing = repo.git.files(repo.git.refs[ref]).get(path)
    given = request.body.get("sha")
    if standing and not given:
        return refuse(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if standing != given:
        return refuse(409, f"{path} does not match {given}")
    data = base64.b64decode(request.body["content"])
    commit = repo.git.push(ref, {path: data}, request.body["message"], request.who.login)
    entry = _file(request, repo.git, path, repo.git.add_blob(data), content=False)
    return Answer(200 if standing else 201, {"content": entry, "commit": _commit(request, repo.git, commit)})


def read_blob(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.blobs:
        return refuse(404, "Not Found")
    data = repo.git.blobs[request.parts[1]]
    url = f"{request.base}{request.path}"
    return Answer(
        200,
        {
            "sha": request.parts[1],
            "size": len(data),
            "encoding": "base64",
            "content": encode(data),
            "url": url,
        },
    )


def create_blob(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    text = request.body["content"]
    sha = repo.git.add_blob(base64.b64decode(text) if request.body["encoding"] == "base64" else text.encode())
    return Answer(201, {"sha": sha, "url": f"{request.base}{request.path}/{sha}"})


def _tree(request: Request, sha: str, paths: dict[str, str]) -> dict[str, Any]:
    entries = [{"path": p, "mode": "100644", "type": "blob", "sha": s} for p, s in sorted(paths.items())]
    url = f"{request.base}/repos/{request.parts[0]}/git/trees/{sha}"
    return {"sha": sha, "url": url, "tree": entries, "truncated": False}


def read_tree(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    sha = request.parts[1]
    if sha not in repo.git.trees:
        try:
            sha = repo.git.commits[repo.git.resolve(sha)].tree
        except GitError:
            return refuse(404, "Not Found")
    paths = repo.git.trees[sha]
    if "recursive" not in request.query:
        paths = {path: blob for path, blob in paths.items() if "/" not in path}
    return Answer(200, _tree(request, sha, paths))


def create_tree(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "contents")
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    base = request.body.get("base_tree")
    if base and base not in repo.git.trees:
        return refuse(422, "base_tree is not a tree oid")
    paths = dict(repo.git.trees[base]) if base else {}
    for entry in request.body["tree"]:
        if "content" in entry:
            paths[entry["path"]] = repo.git.add_blob(entry["content"].encode())
        elif entry["sha"] is not None:
            paths[entry["path"]] = entry["sha"]
        elif paths.pop(entry["path"], None) is None:
            return refuse(422, "GitRPC::BadObjectState")
    sha = repo.git.add_tree(paths)
    return Answer(201, _tree(request, sha, paths))


def _commit(request: Request, git: GitRepository, sha: str) -> dict[str, Any]:
    commit = git.commits[sha]
    url = f"{request.base}/repos/{request.parts[0]}/git/commits/{sha}"
    person = {"name": commit.author, "email": f"{commit.author}@example.org", "date": commit.date}
    tree = {"sha": commit.tree, "url": f"{request.base}/repos/{request.parts[0]}/git/trees/{commit.tree}"}
    parents = [{"sha": parent, "url": url.replace(sha, parent)} for parent in commit.parents]
    return {
        "sha": sha,
        "url": url,
        "message": commit.message,
        "tree": tree,
        "parents": parents,
        "author": person,
        "committer": person,
    }


def read_git_commit(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.commits:
        return refuse(404, "Not Found")
    return Answer(200, _commit(request, repo.git, request.parts[1]))


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
    return Answer(201, _commit(request, repo.git, made.sha))


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
    """What changed from base to head, as both commits and pull requests list it."""
    entries = []
    for path, status in sorted(git.changed(base, head).items()):
        sha = (git.files(base) if status == "removed" else git.files(head))[path]
        url = f"{request.base}/repos/{request.parts[0]}/contents/{path}"
        numbers = {"additions": 1, "deletions": 0, "changes": 1}
        entries.append({"filename": path, "status": status, "sha": sha, "contents_url": url, **numbers})
    return entries


def read_commit(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    try:
        sha = repo.git.resolve(request.parts[1])
    except GitError as error:
        return refuse(422, str(error))
    return Answer(200, _rest_commit(request, repo.git, sha))


def _rest_commit(request: Request, git: GitRepository, sha: str) -> dict[str, Any]:
    commit = _commit(request, git, sha)
    parent = git.commits[sha].parents[:1]
    return {
        "sha": sha,
        "url": f"{request.base}/repos/{request.parts[0]}/commits/{sha}",
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
            "merge_base_commit": _rest_commit(request, git, middle),
            "base_commit": _rest_commit(request, git, base),
            "commits": [_rest_commit(request, git, sha) for sha in ahead if sha not in common],
            "files": file_entries(request, git, middle, head),
        },
    )
