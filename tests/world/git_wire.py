"""The git protocol of the local Hub: its repositories, written into bare ones on the disk, served by git itself."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .git import Blob, Commit, Repository, Tree
from .reply import Failure, Reply

if TYPE_CHECKING:
    from .hub import Call, Hub

TYPES = {"commit": 1, "tree": 2, "blob": 3}
SETTINGS = ("-c", "uploadpack.allowAnySHA1InWant=true", "-c", "gc.auto=0")


class Bare:
    """A bare repository on the disk that follows one in memory."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.folder = Path(tempfile.mkdtemp(prefix="world-git-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._written: set[str] = set()
        self._git("init", "--bare", "--quiet", "--initial-branch=main")

    def follow(self) -> None:
        """Write what is new, and move the refs."""
        refs = {ref: commit for ref, commit in self.repository.refs.items() if ref.startswith("refs/")}
        new = [row for commit in refs.values() for row in self._new_objects(commit)]
        if new:
            self._git("index-pack", "--stdin", data=packed(new))
        moves = "".join(f"update {ref} {commit.oid}\n" for ref, commit in refs.items())
        self._git("update-ref", "--stdin", data=moves.encode())

    def _new_objects(self, head: Commit) -> Iterator[tuple[str, bytes]]:
        for commit in head.history():
            if commit.oid in self._written:
                return
            self._written.add(commit.oid)
            yield "commit", self.repository.objects[commit.oid]
            yield from self._below(commit.tree)

    def _below(self, item: Tree | Blob) -> Iterator[tuple[str, bytes]]:
        if item.oid in self._written:
            return
        self._written.add(item.oid)
        if isinstance(item, Blob):
            yield "blob", item.data
            return
        yield "tree", item.object
        for below in item.items.values():
            yield from self._below(below)

    def serve(self, call: Call, service: str) -> Reply:
        """One call of the smart protocol."""
        asks = call.method == "GET"
        version = call.headers.get("git-protocol", "")
        body = gzip.decompress(call.body) if call.headers.get("content-encoding") == "gzip" else call.body
        self.follow()
        args = ("upload-pack", "--stateless-rpc", *(("--advertise-refs",) if asks else ()), str(self.folder))
        found = self._git(*SETTINGS, *args, data=body, protocol=version)
        if asks and "version=2" not in version:
            found = b"001e# service=git-upload-pack\n0000" + found
        kind = "advertisement" if asks else "result"
        return Reply(200, found, {"Content-Type": f"application/x-{service}-{kind}", "Cache-Control": "no-cache"})

    def _git(self, *args: str, data: bytes = b"", protocol: str = "") -> bytes:
        environment = {**os.environ, "GIT_PROTOCOL": protocol, "GIT_CONFIG_GLOBAL": os.devnull}
        environment = {key: value for key, value in environment.items() if not key.startswith("GIT_CONFIG_C")}
        done = subprocess.run(
            ["git", *args], cwd=self.folder, input=data, env=environment, capture_output=True, check=False
        )
        if done.returncode:
            raise Failure(500, done.stderr.decode("utf-8", "replace")[-300:])
        return done.stdout


def packed(objects: list[tuple[str, bytes]]) -> bytes:
    """A pack of whole objects."""
    parts = [b"PACK", (2).to_bytes(4, "big"), len(objects).to_bytes(4, "big")]
    for kind, data in objects:
        size, head = len(data), bytearray()
        first, size = (TYPES[kind] << 4) | (size & 15), size >> 4
        while size:
            head.append(first | 0x80)
            first, size = size & 0x7F, size >> 7
        parts += [bytes([*head, first]), zlib.compress(data, 1)]
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def serve(hub: Hub, repository: Repository, call: Call, rest: list[str]) -> Reply:
    """What git asks of a repository: `info/refs`, then `git-upload-pack`; nobody pushes this way."""
    if repository.bare is None:
        repository.bare = Bare(repository)
    service = call.query.get("service", "") if rest == ["info", "refs"] else rest[0]
    if service != "git-upload-pack":
        raise Failure(403, "only reading is served")
    return repository.bare.serve(call, service)
