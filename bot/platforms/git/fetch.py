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

from bot.errors import Unavailable
from bot.platforms.source import TooLarge

FETCH_SECONDS = 1800.0  # for a whole fetch
FETCH_BYTES = 8_000_000_000  # on the disk; beyond, the fetch is given up
PIECE = 1_000_000  # bytes that are thrown away at once
LOOK = 0.2  # seconds between two looks at how far a fetch came
SERVICE = "git"
# What a configuration of the user or the machine must not decide.
SETTINGS = {
    "core.hooksPath": os.devnull,
    "credential.helper": "",
    "http.followRedirects": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.version": "2",
}


def environment(url: str, token: str | None) -> dict[str, str]:
    """The environment of a git that reads `url` as the owner of the token, and asks nobody anything."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    settings = dict(SETTINGS)
    if token:
        parts = urlsplit(url)
        secret = base64.b64encode(f"leaderboard-bot:{token}".encode()).decode()
        settings[f"http.{parts.scheme}://{parts.netloc}/.extraHeader"] = f"Authorization: Basic {secret}"
    for number, (key, value) in enumerate(settings.items()):
        kept |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "http:https",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
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
            self._process = subprocess.Popen(
                ["git", "cat-file", "--batch"],
                cwd=self.folder,
                env=environment("", None),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
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
    run = _Git(folder, environment(url, token))
    if not is_fetched(folder, commit):
        folder.mkdir(parents=True)
        run("init", "--bare", "--quiet")
        _fetch(run, url, commit)
    found = FetchedCommit(folder, commit)
    try:
        yield found
    finally:
        found.close()
    shutil.rmtree(folder, ignore_errors=True)


def is_fetched(folder: Path, commit: str) -> bool:
    """Tell whether the commit stands there since a process was killed; what else it left goes."""
    if folder.is_dir() and _Git(folder, environment("", None)).has(commit):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def fetch_history(folder: Path, url: str, token: str | None) -> None:
    """Fetch the default branch with its whole history into main of a new bare repository. Raises Unavailable."""
    run = _Git(folder, environment(url, token))
    run("init", "--bare", "--quiet", "--initial-branch=main")
    how = ("--no-tags", "--no-write-fetch-head", "--quiet", "--no-recurse-submodules")
    run("fetch", *how, url, "+HEAD:refs/heads/main")


def _fetch(run: _Git, url: str, commit: str) -> None:
    """Fetch a commit by its id; where the service gives none by id, that of the default branch, which it mostly is."""
    for name in (commit, "HEAD"):
        with suppress(Unavailable):
            how = ("--depth=1", "--no-tags", "--no-write-fetch-head", "--quiet", "--no-recurse-submodules")
            run("fetch", *how, url, f"+{name}:refs/heads/read")
        if run.has(commit):
            return
    shutil.rmtree(run.folder, ignore_errors=True)
    raise Unavailable(SERVICE, f"{url} has no commit {commit[:12]}: {run.said}")


@dataclass
class _Git:
    """Runs git in a folder, within limits of time and of bytes on the disk; `said` is its last complaint."""

    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    said: str = ""

    def has(self, commit: str) -> bool:
        """Tell whether the commit is there; a fetch brings it with all its files, or nothing."""
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}")
        except Unavailable:
            return False
        return True

    def __call__(self, *args: str) -> None:
        """Run git to its end. Raises Unavailable if it fails."""
        try:
            process = subprocess.Popen(
                ["git", *args],
                cwd=self.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise Unavailable(SERVICE, f"cannot be run: {error.strerror}") from None
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
