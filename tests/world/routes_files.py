"""Repositories over the wire: refs, trees, paths, commits and downloads, as the client asks for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from . import eval_results
from .git import Blob, Commit, Repository, Tree
from .reply import Failure, Reply, answer, no_entry, no_revision
from .routes_talk import DISABLED

if TYPE_CHECKING:
    from .hub import Call, Hub

PAGE, PAGE_EXPANDED = 1000, 50


def at(repository: Repository, revision: str) -> Commit:
    commit = repository.resolve(revision)
    if commit is None:
        raise no_revision(revision)
    return commit


def info(hub: Hub, call: Call, repository: Repository, revision: str) -> Reply:
    commit = at(repository, revision)
    if "evalResults" in (call.query.get("expand[]"), call.query.get("expand")):
        return answer({"id": repository.name, "evalResults": eval_results.of_model(hub, repository)})
    if "createdAt" in (call.query.get("expand[]"), call.query.get("expand")):
        return answer({"_id": repository.id, "id": repository.name, "createdAt": "2026-01-01T00:00:00.000Z"})
    siblings = [{"rfilename": path} for path, item in commit.tree.all_paths("") if isinstance(item, Blob)]
    about = {"id": repository.name, "sha": commit.oid, "private": repository.private}
    counted = {"parameters": {"BF16": repository.parameters}, "total": repository.parameters}
    sizes = {} if repository.parameters is None else {"safetensors": counted}
    return answer({**about, "siblings": siblings, "tags": repository.tags, **sizes})


def refs(hub: Hub, call: Call, repository: Repository) -> Reply:
    def named(prefix: str, refs: Iterable[str]) -> list[dict[str, str]]:
        return [
            {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": repository.refs[ref].oid}
            for ref in list(refs)  # others may open requests at the same moment
            if ref.startswith(prefix) and ref in repository.refs
        ]

    found: dict[str, Any] = {"branches": named("refs/heads/", repository.branches), "tags": [], "converts": []}
    if call.query.get("include_prs"):
        found["pullRequests"] = named("refs/pr/", repository.refs)
    return answer(found)


def shown(path: str, item: Tree | Blob, repository: Repository, *, expand: bool) -> dict[str, Any]:
    if isinstance(item, Tree):
        return {"type": "directory", "path": path, "oid": item.oid, "size": 0}
    entry: dict[str, Any] = {"type": "file", "path": path, "oid": item.oid, "size": len(item.data)}
    if expand:
        commit = repository.commits[item.commit]
        entry["lastCommit"] = {"id": commit.oid, "title": commit.title, "date": commit.date}
    return entry


def tree(hub: Hub, call: Call, repository: Repository, revision: str, path: str) -> Reply:
    folder = at(repository, revision).tree.at(path)
    if not isinstance(folder, Tree):
        raise no_entry(path)
    prefix = f"{path}/" if path else ""
    expand = call.query.get("expand") == "true"
    start, size = int(call.query.get("cursor", "0")), PAGE_EXPANDED if expand else PAGE
    if call.query.get("recursive") == "true":
        rows = list(folder.all_paths(prefix))
        page, total = rows[start : start + size], len(rows)
    else:
        names = folder.names[start : start + size]
        page, total = [(prefix + name, folder.items[name]) for name in names], len(folder.names)
    reply = answer([shown(path, item, repository, expand=expand) for path, item in page])
    if start + size < total:
        query = "&".join(f"{key}={value}" for key, value in {**call.query, "cursor": start + size}.items())
        reply.headers["Link"] = f'<{hub.url}{call.raw_path}?{query}>; rel="next"'
    return reply


def paths_info(hub: Hub, call: Call, repository: Repository, revision: str) -> Reply:
    form = parse_qs(call.body.decode())
    commit, expand = at(repository, revision), form.get("expand") == ["true"]
    found = [(path, commit.tree.at(path)) for path in form.get("paths", [])]
    return answer([shown(path, item, repository, expand=expand) for path, item in found if item is not None])


def commits(hub: Hub, call: Call, repository: Repository, revision: str) -> Reply:
    start, size = int(call.query.get("cursor", "0")), 50
    rows = list(at(repository, revision).history())
    reply = answer([
        {"id": c.oid, "title": c.title, "message": c.message, "date": c.date, "authors": [{"user": c.author}]}
        for c in rows[start : start + size]
    ])  # fmt: skip
    if start + size < len(rows):
        reply.headers["Link"] = f'<{hub.url}{call.raw_path}?cursor={start + size}>; rel="next"'
    return reply


def resolve(hub: Hub, call: Call, repository: Repository, revision: str, path: str) -> Reply:
    found = small_file(hub, call, repository, revision, path)
    if hub.sends_on and found.body and not repository.private:
        place = f"{repository.kind}s/{repository.name}/{found.headers['X-Repo-Commit']}/{quote(path)}"
        where = f"/api/resolve-cache/{place}?etag={quote(found.headers['ETag'])}"
        return Reply(307, b"Temporary Redirect", {"Location": where})
    return found


def small_file(hub: Hub, call: Call, repository: Repository, revision: str, path: str) -> Reply:
    commit = at(repository, revision)
    item = commit.tree.at(path)
    if not isinstance(item, Blob):
        failure = no_entry(path)
        failure.reply.headers["X-Repo-Commit"] = commit.oid
        raise failure
    headers = {
        "X-Repo-Commit": commit.oid,
        "ETag": f'"{item.oid}"',
        "Content-Type": "text/plain; charset=utf-8",
    }
    return Reply(200, item.data, headers)


def preupload(hub: Hub, call: Call, repository: Repository, revision: str) -> Reply:
    commit = at(repository, revision)

    def mode(file: dict[str, Any]) -> dict[str, Any]:
        item = commit.tree.at(file["path"])
        known = {"oid": item.oid} if isinstance(item, Blob) else {}
        return {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False, **known}

    return answer({"files": [mode(file) for file in json.loads(call.body)["files"]]})


def commit(hub: Hub, call: Call, repository: Repository, revision: str) -> Reply:
    header, changes = read_operations(call.body)
    create = call.query.get("create_pr") == "1"
    base = at(repository, revision)
    parent_id = header.get("parentCommit")
    if create and parent_id:
        base = at(repository, parent_id)
    elif parent_id and parent_id != base.oid:
        raise Failure(412, "The branch was updated since you opened this page. Please refresh and try again.")
    if create and not repository.has_discussions:
        raise Failure(*DISABLED)
    if create:
        return open_request(hub, call, repository, base, header, changes)
    if not hub.may_write(call.user, repository) and not revision.startswith("refs/pr/"):
        raise Failure(403, "Forbidden: pass a token with write rights")
    ref = revision if revision.startswith("refs/") else f"refs/heads/{revision}"
    if ref not in repository.refs:
        raise no_revision(revision)
    made = hub.push(repository, changes, header["summary"], header.get("description", ""), call.user, ref=ref)
    return answer(commit_answer(hub, repository, made))


def read_operations(body: bytes) -> tuple[dict[str, Any], dict[str, bytes | None]]:
    lines = [json.loads(line) for line in body.splitlines() if line]
    changes: dict[str, bytes | None] = {}
    for line in lines[1:]:
        value = line["value"]
        changes[value["path"]] = base64.b64decode(value["content"]) if line["key"] == "file" else None
    return lines[0]["value"], changes


def commit_answer(hub: Hub, repository: Repository, made: Commit) -> dict[str, Any]:
    return {"success": True, "commitOid": made.oid, "commitUrl": f"{hub.web(repository)}/commit/{made.oid}"}


def open_request(
    hub: Hub,
    call: Call,
    repository: Repository,
    base: Commit,
    header: dict[str, Any],
    changes: dict[str, bytes | None],
) -> Reply:
    request, made = hub.open_request(
        repository, changes, header["summary"], header.get("description", ""), call.user, base=base
    )
    url = f"{hub.web(repository)}/discussions/{request.num}"
    return answer({**commit_answer(hub, repository, made), "pullRequestUrl": url})
