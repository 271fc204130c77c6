"""Buckets of the local Hub: files without commits, as huggingface_hub 2.4 lists and downloads them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from hf_xet import hash_files

from .reply import Failure, Reply, answer, no_entry

if TYPE_CHECKING:
    from .hub import Call, Hub

PAGE = 1000


@dataclass
class Bucket:
    """One bucket; `files` has the content of each file, and when it was uploaded."""

    name: str
    private: bool = False
    page: int = PAGE
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)


def xet_hash(data: bytes) -> str:
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return str(hash_files([file.name])[0].hash)


def find(hub: Hub, call: Call, name: str) -> Bucket:
    bucket = hub.buckets.get(name)
    if bucket is None or (bucket.private and (call.user, name) not in hub.writers):
        raise Failure(404 if call.user else 401, f"Bucket {name} not found", "RepoNotFound")
    return bucket


def shown(path: str, data: bytes, at: str) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": len(data), "xetHash": xet_hash(data), "mtime": at, "uploadedAt": at}


def of_bucket(hub: Hub, call: Call, rest: list[str]) -> Reply:
    """What is below /api/buckets."""
    bucket = find(hub, call, "/".join(rest[:2]))
    if rest[2:3] == ["tree"]:
        return tree(hub, call, bucket, "/".join(rest[3:]))
    if rest[2:] == ["paths-info"]:
        found = [path for path in json.loads(call.body)["paths"] if path in bucket.files]
        return answer([shown(path, *bucket.files[path]) for path in found])
    if rest[2:]:
        raise Failure(404, "Not found")
    size = sum(len(data) for data, _ in bucket.files.values())
    about = {"id": bucket.name, "private": bucket.private, "createdAt": "2026-01-01T00:00:00.000Z"}
    return answer({**about, "size": size, "totalFiles": len(bucket.files)})


def tree(hub: Hub, call: Call, bucket: Bucket, prefix: str) -> Reply:
    """All files below a folder; without `recursive`, those of it, and its folders."""
    start = f"{prefix}/" if prefix else ""
    below = {path: file for path, file in sorted(bucket.files.items()) if path.startswith(start)}
    if call.query.get("recursive", "").lower() == "true":
        rows = [shown(path, *file) for path, file in below.items()]
    else:
        folders = {start + path[len(start) :].split("/")[0] for path in below if "/" in path[len(start) :]}
        rows = [{"type": "directory", "path": path} for path in sorted(folders)]
        rows += [shown(path, *file) for path, file in below.items() if "/" not in path[len(start) :]]
    at = int(call.query.get("cursor", "0"))
    reply = answer(rows[at : at + bucket.page])
    if at + bucket.page < len(rows):
        query = "&".join(f"{key}={value}" for key, value in {**call.query, "cursor": at + bucket.page}.items())
        reply.headers["Link"] = f'<{hub.url}{call.raw_path}?{query}>; rel="next"'
    return reply


def resolve(hub: Hub, call: Call, name: str, path: str) -> Reply:
    """The bytes of a file; the headers are those that the client reads."""
    bucket = find(hub, call, name)
    if path not in bucket.files:
        raise no_entry(path)
    data, _ = bucket.files[path]
    refresh = f"{hub.url}/api/buckets/{name}/xet-read-token"
    return Reply(200, data, {"X-Xet-Hash": xet_hash(data), "Link": f'<{refresh}>; rel="xet-auth"'})
