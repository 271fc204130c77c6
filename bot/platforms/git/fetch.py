"""One shallow fetch of a remote repository into a bare one, and its files read from there one by one.

What is fetched is hostile: nothing of it is checked out, and no hook, filter, submodule or large-file storage has a
part in it. The token stands in the environment of git alone, never in an address or among the arguments of a process.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import CallError, Unavailable
from bot.platforms.git.program import start
from bot.platforms.source import TooLarge

FETCH_SECONDS = 1800.0  # for a whole fetch
FETCH_BYTES = 8_000_000_000  # on the disk; beyond, the fetch is given up
PIECE = 1_000_000  # bytes that are thrown away at once
LOOK = 0.2  # seconds between two looks at how far a fetch came
SERVICE = "git"
HOW = ("--no-tags", "--no-write-fetch-head", "--quiet", "--no-recurse-submodules")


def secret_settings(url: str, token: str | None) -> dict[str, str]:
    """The variables that let git read what is at the host of `url` as the owner of the token."""
    if not token:
        return {}
    parts = urlsplit(url)
    secret = base64.b64encode(f"leaderboard-bot:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}",
    }


@dataclass
class FetchedCommit:
    """The files of one commit of the bare repository in `folder`; one process of git gives them, one at a time."""

    folder: Path
    commit: str
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def read(self, path: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes, None if it is not there. Raises TooLarge past the limit, Unavailable where git fails.

        By its object id a file is found at once; by its path git reads the whole of every folder above it.
        """
        if oid is None and "\n" in path:
            return None
        with self._lock:
            try:
                return self._ask(f"{oid or f'{self.commit}:{path}'}\n".encode(), limit)
            except (OSError, ValueError) as error:
                self.close()
                raise Unavailable(SERVICE, f"{path}: {type(error).__name__} while it was read") from error

    def _ask(self, question: bytes, limit: int) -> bytes | None:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(question)
        process.stdin.flush()
        answer = process.stdout.readline()
        if answer == question.rstrip(b"\n") + b" missing\n":
            return None
        _, kind, size = answer.split()
        left = int(size)
        if left > limit:
            while left > 0:
                left -= len(process.stdout.read(min(PIECE, left))) or left
            process.stdout.read(1)
            raise TooLarge(f"more than {limit:,} bytes")
        data = process.stdout.read(left)
        process.stdout.read(1)
        return data if kind == b"blob" else None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = start("cat-file", "--batch", git_dir=self.folder, stdin=pipe, stdout=pipe)
        return self._process

    def close(self) -> None:
        """End git."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def fetched(folder: Path, url: str, commit: str, token: str | None) -> Iterator[FetchedCommit]:
    """Fetch one commit into a bare repository in `folder`, which goes when it was read to its end.

    Where the process was killed meanwhile, the commit stands there the next time. Raises Unavailable if git is not
    there, is refused, or brings too much.
    """
    run = _Git(folder, url, token)
    if not is_fetched(folder, commit):
        folder.mkdir(parents=True)
        run("init", "--bare", "--quiet", "--template=")
        _fetch(run, commit)
    found = FetchedCommit(folder, commit)
    try:
        yield found
    finally:
        found.close()
    shutil.rmtree(folder, ignore_errors=True)


def is_fetched(folder: Path, commit: str) -> bool:
    """Tell whether the commit stands there since a process was killed; what else it left goes."""
    if folder.is_dir() and _Git(folder).has(commit):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def fetch_history(folder: Path, url: str, token: str | None) -> None:
    """Fetch the default branch with its whole history into main of a new bare repository. Raises Unavailable."""
    run = _Git(folder, url, token)
    run("init", "--bare", "--quiet", "--initial-branch=main", "--template=")
    run.fetch("+HEAD:refs/heads/main")


def _fetch(run: _Git, commit: str) -> None:
    """Fetch a commit by its id; where the service gives none by id, that of the default branch, which it mostly is."""
    for name in (commit, "HEAD"):
        with suppress(Unavailable):
            run.fetch(f"+{name}:refs/heads/read", "--depth=1")
        if run.has(commit):
            return
    shutil.rmtree(run.folder, ignore_errors=True)
    raise Unavailable(SERVICE, f"{run.url} has no commit {commit[:12]}: {run.said}")


@dataclass
class _Git:
    """Runs git in a folder, within limits of time and of bytes on the disk; `said` is its last complaint."""

    folder: Path
    url: str = ""
    token: str | None = field(default=None, repr=False)
    said: str = ""

    def fetch(self, what: str, *how: str) -> None:
        """Fetch from the address, by its protocol alone. Raises Unavailable."""
        protocol = urlsplit(self.url).scheme
        if protocol not in {"http", "https"}:
            raise Unavailable(SERVICE, f"fetch: {self.url} is no address of the web")
        self("fetch", *how, *HOW, self.url, what, protocol=protocol, more=secret_settings(self.url, self.token))

    def has(self, commit: str) -> bool:
        """Tell whether the commit is there; a fetch brings it with all its files, or nothing."""
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}")
        except Unavailable:
            return False
        return True

    def __call__(self, *args: str, protocol: str = "", more: Mapping[str, str] | None = None) -> None:
        """Run git to its end. Raises Unavailable if it fails."""
        try:
            process = start(*args, git_dir=self.folder, stderr=subprocess.PIPE, protocol=protocol, more=more)
        except (CallError, OSError) as error:
            raise Unavailable(SERVICE, f"cannot be run: {error}") from None
        end = time.monotonic() + FETCH_SECONDS
        while True:
            try:
                _, said = process.communicate(timeout=LOOK)
                break
            except subprocess.TimeoutExpired:
                if time.monotonic() > end or size_of(self.folder) > FETCH_BYTES:
                    process.kill()
        if process.returncode:
            self.said = (
                said.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
                or "it took too long or too much space"
            )
            raise Unavailable(SERVICE, f"{args[0]}: {self.said}")


def size_of(folder: Path) -> int:
    """The bytes of the files below a folder; those that go meanwhile are left out."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(here) / name).stat().st_size
    return total
