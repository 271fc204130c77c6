"""What git brings of a remote repository into a bare one: a commit with its files, a history, what changed in a folder.

What is fetched is hostile: nothing of it is checked out, and no hook, filter, submodule or large-file storage has a
part in it. The token stands in the environment of git alone, never in an address or among the arguments of a process.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import CallError, Unavailable
from bot.platforms.git.program import FETCHING, WALKING, run, start, wait
from bot.platforms.git.source import GitSource

FETCH_SECONDS = 1800.0  # for a whole fetch
FETCH_BYTES = 8_000_000_000  # on the disk; beyond, the fetch is given up
HISTORY_BYTES = 2_000_000_000  # the same of a whole history
FOLDERS_SECONDS = 120.0  # for a fetch of folders alone, and for their comparison
FOLDERS_BYTES = 500_000_000  # on the disk, for folders alone
CHANGED_BYTES = 20_000_000  # of the paths that changed
PACK_FILES = 150  # of a repository of folders, three for each fetch; with more of them it is made anew
SERVICE = "git"
HOW = ("--no-tags", "--no-write-fetch-head", "--quiet", "--no-recurse-submodules")
FOLDERS_ALONE = ("--depth=1", "--filter=blob:none")
NO_FILTER = b"filtering not recognized"  # git says so, and goes on to fetch everything
FULL_ID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
NOT_HERE = ("000000", "160000")  # modes of nothing, and of a submodule


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


@contextmanager
def fetched(folder: Path, url: str, commit: str, token: str | None) -> Iterator[GitSource]:
    """Fetch one commit into a bare repository in `folder`, which goes when it was read to its end.

    Where the process was killed meanwhile, the commit stands there the next time. Raises Unavailable if git is not
    there, is refused, or brings too much.
    """
    if not is_fetched(folder, commit):
        git = _Git(folder, url, token)
        git.init()
        _fetch(git, commit)
    found = GitSource(folder)
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
    git = _Git(folder, url, token, most=HISTORY_BYTES)
    git.init("--initial-branch=main")
    git.fetch("+HEAD:refs/heads/main")


def changed_files(folder: Path, url: str, token: str | None, commits: tuple[str, str], below: str) -> dict[str, str]:
    """The files below a folder that differ between two commits: their object ids at the second, "" for none.

    The bare repository in `folder` has the folders of commits, without files; it is kept, so that the next call brings
    only what is new. Nobody else may use it meanwhile. Raises Unavailable if git is not there, is refused, cannot leave
    out files, or brings too much; the repository is then made anew the next time.
    """
    if not all(map(FULL_ID.fullmatch, commits)):  # git might take another name for an option
        raise Unavailable(SERVICE, "a commit is named by its full id")
    git = _Git(folder, url, token, FOLDERS_SECONDS, FOLDERS_BYTES, WALKING)
    try:
        _bring_folders(git, *commits)
        names = ("--", below) if below else ()
        return compared(git.output("--literal-pathspecs", "diff-tree", "-r", "-z", "--no-renames", *commits, *names))
    except (Unavailable, OSError, ValueError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unavailable(SERVICE, str(error)) from error


def _bring_folders(git: _Git, old: str, new: str) -> None:
    """Fetch the folders of those commits that are not there yet; of the new one, what differs from the old one."""
    if len(list(git.folder.glob("objects/pack/*"))) > PACK_FILES:
        shutil.rmtree(git.folder)
    if not git.folder.is_dir():
        git.init()
    for left in git.folder.glob("*.lock"):  # by a process that was killed
        left.unlink()
    missing = [commit for commit in (old, new) if not git.has(commit)]
    if missing:
        known = () if old in missing else (f"--negotiation-tip={old}",)
        git.fetch(*missing, how=(*FOLDERS_ALONE, *known))


def compared(lines: bytes) -> dict[str, str]:
    """Read what `git diff-tree -r -z` prints: for each file its modes, object ids and status, then its path."""
    parts = iter(lines.decode("utf-8", "surrogateescape").split("\0"))
    found: dict[str, str] = {}
    for line, path in zip(parts, parts, strict=False):
        mode, new_mode, oid, new_oid, _ = line.removeprefix(":").split(" ")
        was, now = ("" if mode in NOT_HERE else oid), ("" if new_mode in NOT_HERE else new_oid)
        if was != now:
            found[path] = now
    return found


def _fetch(git: _Git, commit: str) -> None:
    """Fetch a commit by its id; where the service gives none by id, that of the default branch, which it mostly is."""
    for name in (commit, "HEAD"):
        with suppress(Unavailable):
            git.fetch(f"+{name}:refs/heads/read", how=("--depth=1",))
        if git.has(commit):
            return
    shutil.rmtree(git.folder, ignore_errors=True)
    raise Unavailable(SERVICE, f"{git.url} has no commit {commit[:12]}: {git.complaint}")


@dataclass
class _Git:
    """Runs git in a folder, within limits of seconds and of bytes on the disk; `complaint` is its last one.

    `more` are variables for git.
    """

    folder: Path
    url: str = ""
    token: str | None = field(default=None, repr=False)
    seconds: float = FETCH_SECONDS
    most: int = field(default_factory=lambda: FETCH_BYTES)
    more: Mapping[str, str] = field(default_factory=lambda: FETCHING)
    complaint: str = ""

    def init(self, *how: str) -> None:
        """Make a new bare repository. Raises Unavailable."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self("init", "--bare", "--quiet", "--template=", *how)

    def fetch(self, *what: str, how: tuple[str, ...] = ()) -> None:
        """Fetch from the address, by its protocol alone. Raises Unavailable."""
        protocol = urlsplit(self.url).scheme
        if protocol not in {"http", "https"}:
            raise Unavailable(SERVICE, f"fetch: {self.url} is no address of the web")
        self("fetch", *how, *HOW, self.url, *what, protocol=protocol)

    def has(self, commit: str) -> bool:
        """Tell whether the commit is there; a fetch brings it with all that is asked for, or nothing."""
        try:
            self("cat-file", "-e", f"{commit}^{{commit}}")
        except Unavailable:
            return False
        return True

    def output(self, *args: str) -> bytes:
        """What git prints. Raises Unavailable if it fails, or prints too much."""
        status, out, err = run(*args, git_dir=self.folder, more=self.more, timeout=self.seconds, most=CHANGED_BYTES)
        if status:
            raise Unavailable(SERVICE, f"{args[0]}: {err.decode('utf-8', 'replace').strip()[-300:]}")
        return out

    def __call__(self, *args: str, protocol: str = "") -> None:
        """Run git to its end. Raises Unavailable if it fails, takes too long or too much space, or has no filter."""
        more = {**self.more, **(secret_settings(self.url, self.token) if protocol else {})}
        pipe = subprocess.PIPE
        try:
            process = start(*args, git_dir=self.folder, stderr=pipe, protocol=protocol, more=more)
        except (CallError, OSError) as error:
            raise Unavailable(SERVICE, f"cannot be run: {error}") from None
        text = wait(process, self.seconds, lambda said: NO_FILTER in said or size_of(self.folder) > self.most)
        is_whole = NO_FILTER not in text and size_of(self.folder) <= self.most
        if process.returncode or not is_whole:
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
