"""Fetch a remote repository over git into a bare one: a commit with its files, or a whole history.

What is fetched is hostile: nothing of it is checked out, and no hook, filter, submodule or large-file storage is used.
The token is only in the environment of git, never in an address or among the arguments of a process.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import CallError, Unavailable
from bot.platforms.git.program import FETCHING, start, wait
from bot.platforms.git.source import CopiedSource, GitSource
from bot.platforms.net import bulk_work
from bot.platforms.platform import GitRemote
from bot.platforms.source import Source

FETCH_SECONDS = 1800.0  # for a whole fetch
FETCH_BYTES = 8_000_000_000  # on the disk; beyond, the fetch is given up
HISTORY_BYTES = 2_000_000_000  # the same of a whole history
SERVICE = "git"
HOW = ("--no-tags", "--no-write-fetch-head", "--quiet", "--no-recurse-submodules")
SLOTS = 4  # processes that may read one repository at once
log = logging.getLogger(__name__)


@contextmanager
def fetched_source(source: Source, remote: GitRemote, cache: Path, commit: str, *, is_many: bool) -> Iterator[Source]:
    """The source with all files of one commit fetched below `cache`; the source itself where git cannot fetch them.

    Unless there are many files, only a copy of this commit that a killed process left is used; a copy of another commit
    is deleted.
    """
    name = hashlib.sha256(remote.url.encode()).hexdigest()[:20]
    folders = [cache / "git" / f"{name}-{number}" for number in range(SLOTS)]
    if not is_many and not any(folder.is_dir() for folder in folders):
        yield source
        return
    with ExitStack() as stack:
        if is_many:
            stack.enter_context(bulk_work())
        folder = stack.enter_context(_slot(folders))
        copy = None
        try:
            if folder is not None and (is_many or is_fetched(folder, remote, commit)):
                copy = stack.enter_context(fetched(folder, remote, commit))
        except (Unavailable, OSError) as failure:
            log.warning("%s is read file by file: %s", source.name, failure)
        yield CopiedSource(source, copy, commit) if copy else source


@contextmanager
def _slot(folders: Iterable[Path]) -> Iterator[Path | None]:
    """The first folder that no other process uses; None if there is none."""
    for folder in folders:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock = folder.with_suffix(".lock").open("a")
        except OSError:
            break
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield folder
            return
    yield None


def secret_settings(remote: GitRemote) -> dict[str, str]:
    """The environment variables with which git reads from the repository's host as the owner of its token."""
    if not remote.token:
        return {}
    parts = urlsplit(remote.url)
    secret = base64.b64encode(f"leaderboard-bot:{remote.token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}",
    }


@contextmanager
def fetched(folder: Path, remote: GitRemote, commit: str) -> Iterator[GitSource]:
    """Fetch one commit into a bare repository in `folder`, which is deleted at the end of the block.

    Where the process is killed meanwhile, the commit is still there the next time. Raises Unavailable if git is not
    there, is refused, or brings too much.
    """
    if not is_fetched(folder, remote, commit):
        git = _Git(folder, remote)
        git.init()
        _fetch(git, commit)
    found = GitSource(folder)
    try:
        yield found
    finally:
        found.close()
    shutil.rmtree(folder, ignore_errors=True)


def is_fetched(folder: Path, remote: GitRemote, commit: str) -> bool:
    """Tell whether a killed process left the commit there; anything else that it left is deleted."""
    if folder.is_dir() and _Git(folder, remote).has(commit):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def fetch_history(folder: Path, remote: GitRemote) -> None:
    """Fetch the default branch with its whole history into main of a new bare repository. Raises Unavailable."""
    git = _Git(folder, remote, HISTORY_BYTES)
    git.init("--initial-branch=main")
    git.fetch("+HEAD:refs/heads/main")


def _fetch(git: _Git, commit: str) -> None:
    """Fetch a commit by its id; where the service does not allow that, the default branch, mostly the same."""
    for name in (commit, "HEAD"):
        with suppress(Unavailable):
            git.fetch(f"+{name}:refs/heads/read", how=("--depth=1",))
        if git.has(commit):
            return
    shutil.rmtree(git.folder, ignore_errors=True)
    raise Unavailable(SERVICE, f"{git.remote.url} has no commit {commit[:12]}: {git.complaint}")


@dataclass
class _Git:
    """Runs git in a folder, within limits of time and of bytes on the disk; `complaint` is the last message of git."""

    folder: Path
    remote: GitRemote
    most: int = field(default_factory=lambda: FETCH_BYTES)
    complaint: str = ""

    def init(self, *how: str) -> None:
        """Make a new bare repository. Raises Unavailable."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self("init", "--bare", "--quiet", "--template=", *how)

    def fetch(self, *what: str, how: tuple[str, ...] = ()) -> None:
        """Fetch from the address, by its protocol alone. Raises Unavailable."""
        protocol = urlsplit(self.remote.url).scheme
        if protocol not in {"http", "https"}:
            raise Unavailable(SERVICE, f"fetch: {self.remote.url} is no address of the web")
        self("fetch", *how, *HOW, self.remote.url, *what, protocol=protocol)

    def has(self, commit: str) -> bool:
        """Tell whether the commit is there; a fetch brings it whole or not at all."""
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}")
        except Unavailable:
            return False
        return True

    def __call__(self, *args: str, protocol: str = "") -> None:
        """Run git to its end. Raises Unavailable if it fails, or takes too long or too much space."""
        more = {**FETCHING, **(secret_settings(self.remote) if protocol else {})}
        try:
            process = start(*args, git_dir=self.folder, stderr=subprocess.PIPE, protocol=protocol, more=more)
        except (CallError, OSError) as error:
            raise Unavailable(SERVICE, f"cannot be run: {error}") from None
        text = wait(process, FETCH_SECONDS, lambda _: size_of(self.folder) > self.most)
        if process.returncode or size_of(self.folder) > self.most:
            last = text.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
            self.complaint = last or "it took too long or too much space"
            raise Unavailable(SERVICE, f"{args[0]}: {self.complaint}")


def size_of(folder: Path) -> int:
    """The bytes of the files below a folder; those that go meanwhile are left out."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(here) / name).stat().st_size
    return total
