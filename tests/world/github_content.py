"""Files, blobs and trees of the local GitHub."""

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
        files = repo.git.files(repo.git.resolve(request.query.get("ref", repo.default_branch)))
    except GitError:
        return refuse(404, f"No commit found for the ref {request.query.get('ref')}")
    if files.get(path) in repo.git.modules:
        return Answer(200, {"type": "submodule", "name": path, "path": path, "sha": files[path], "size": 0})
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
    return Answer(200 if standing else 201, {"content": entry, "commit": commit_entry(request, repo.git, commit)})


def read_blob(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None or request.parts[1] not in repo.git.blobs:
        return refuse(404, "Not Found")
    data = repo.git.blobs[request.parts[1]]
    if "raw" in request.accept:
        return Answer(200, data)
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


def _tree(request: Request, git: GitRepository, sha: str, *, recursive: bool) -> dict[str, Any]:
    paths = git.trees[sha]
    shown = {path: blob for path, blob in paths.items() if recursive or "/" not in path}
    entries: list[dict[str, Any]] = [_tree_row(git, path, blob) for path, blob in sorted(shown.items())]
    folders = sorted({path.partition("/")[0] for path in paths.keys() - shown.keys()})
    for name in folders:
        below = {path.removeprefix(f"{name}/"): blob for path, blob in paths.items() if path.startswith(f"{name}/")}
        entries.append({"path": name, "mode": "040000", "type": "tree", "sha": git.add_tree(below)})
    url = f"{request.base}/repos/{request.parts[0]}/git/trees/{sha}"
    is_cut = len(entries) > git.most_listed
    return {"sha": sha, "url": url, "tree": entries[: git.most_listed], "truncated": is_cut}


def _tree_row(git: GitRepository, path: str, sha: str) -> dict[str, Any]:
    if sha in git.modules:
        return {"path": path, "mode": "160000", "type": "commit", "sha": sha}
    mode = "120000" if sha in git.links else "100644"
    return {"path": path, "mode": mode, "type": "blob", "sha": sha, "size": len(git.blobs[sha])}


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
    return Answer(200, _tree(request, repo.git, sha, recursive="recursive" in request.query))


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
    return Answer(201, _tree(request, repo.git, sha, recursive=True))


def commit_entry(request: Request, git: GitRepository, sha: str) -> dict[str, Any]:
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
