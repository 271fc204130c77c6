"""A repository of GitHub as a source: commits and pull requests in, the files that changed and their bytes out.

Nothing is checked out: files come one by one through the API, by the id of their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from github.File import File
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.errors import Refused, Stale
from bot.platforms.github.blobs import fetch_blobs, read_blob
from bot.platforms.github.client import Address, GitHubClient
from bot.platforms.github.errors import SERVICE, NotThere
from bot.platforms.source import Change, named_change

MOST_FILES = 3000  # GitHub lists no more of a pull request, and 300 of a comparison
MOST_COMPARED = 300
TRIES = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pull request as it stood when it was read: `head` is a full commit id, `author` a login."""

    number: int
    head: str
    base: str
    author: str
    is_open: bool
    files: tuple[Change, ...] = ()


@dataclass
class GitHubSource:
    """Reads one repository, always at a named commit."""

    client: GitHubClient
    address: Address

    @property
    def name(self) -> str:
        """How evidence and pages name it."""
        return f"github://{self.address.name}"

    def head(self) -> str:
        """The commit at the default branch."""
        repo = self._repo
        return self.client(lambda: repo.get_git_ref(f"heads/{repo.default_branch}")).object.sha

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits; every file where there is no old one."""
        if old == new:
            return
        compared = self._compared(old, new) if old else None
        yield from self._all_files(new) if compared is None else compared

    def touched(self, paths: list[str], commit: str) -> dict[str, str]:
        """For each path, the commit that last touched it, as of `commit`."""
        found = {}
        for path in paths:
            commits = self.client.get(f"/repos/{self.address.name}/commits", sha=commit, path=path, per_page=1)
            if commits:
                found[path] = str(commits[0]["sha"])
        return found

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None where it is not there. Raises TooLarge past the limit.

        With `oid` one question is enough: the content is asked for by its id.
        """
        if oid is not None:
            return self.read_content(oid, limit)
        if {"", ".", ".."}.intersection(path.split("/")):
            return None  # a client would walk up the API's path
        try:
            found = self.client(lambda: self._repo.get_contents(path, ref=commit))
        except NotThere:
            return None
        if isinstance(found, list):
            return None
        return self.read_content(found.sha, limit)

    def read_content(self, oid: str, limit: int) -> bytes:
        """The bytes behind a content id; raises TooLarge past `limit`."""
        return read_blob(self.client, self.address.name, oid, limit)

    def fetch(self, oids: Iterable[str]) -> None:
        """Ask for many contents at once, so that reading them costs few requests."""
        fetch_blobs(self.client, self.address.name, oids)

    def read_contents(self, oids: Mapping[str, str], limit: int) -> dict[str, bytes]:
        """The bytes of files by path, given the ids of their contents."""
        self.fetch(oids.values())
        return {path: self.read_content(oid, limit) for path, oid in oids.items()}

    def folder(self, folder: str, commit: str) -> list[Change]:
        """Every file below a folder at a commit; none where there is no such folder."""
        return [item for item in self._all_files(commit) if item.path.startswith(f"{folder}/")]

    def read_proposal(self, number: int) -> Proposal:
        """Read a pull request and the files that it adds or changes, all at one head.

        Raises Refused where it has more files than GitHub lists, Stale where it will not stand still.
        """
        for _ in range(TRIES):
            pull = self._pull(number)
            files = self._files(pull)
            if len(files) >= MOST_FILES:
                raise Refused(SERVICE, f"pull request {number} has {MOST_FILES:,} files or more; split it")
            # The list names no commit: what was pushed between the two calls must not pass as the old head's.
            if self._pull(number).head.sha == pull.head.sha:
                return proposal(pull, files)
        raise Stale(f"{SERVICE}: pull request {number} is pushed to faster than it can be read")

    def _pull(self, number: int) -> PullRequest:
        return self.client(lambda: self._repo.get_pull(number))

    def _files(self, pull: PullRequest) -> list[File]:
        return self.client(lambda: list(pull.get_files()))

    def find_proposal(self, owner: str, branch: str, head: str) -> int | None:
        """The number of the open pull request from `owner:branch` whose head is that commit."""
        found = self.client(lambda: list(self._repo.get_pulls(state="open", head=f"{owner}:{branch}")))
        return next((pull.number for pull in found if pull.head.sha == head), None)

    @property
    def _repo(self) -> Repository:
        return self.client.repo(self.address.name)

    def _compared(self, old: str, new: str) -> list[Change] | None:
        """What a comparison lists; None where the old commit is gone or the list may be cut."""
        try:
            compared = self.client(lambda: self._repo.compare(old, new))
            files = self.client(lambda: compared.files)
        except NotThere:
            return None
        if len(files) >= MOST_COMPARED or compared.status == "diverged":
            return None
        gone = [Change(file.previous_filename, None, 0) for file in files if file.status == "renamed"]
        return gone + [change(file) for file in files]

    def _all_files(self, commit: str) -> Iterator[Change]:
        tree = self.client(lambda: self._repo.get_git_tree(commit, recursive=True))
        if tree.raw_data.get("truncated"):
            raise Refused(SERVICE, f"{self.name} has more files than one tree lists; name folders of their own")
        for item in tree.tree:
            if item.type == "blob":
                yield named_change(item.path, item.sha, item.size or 0)


def change(file: File) -> Change:
    """One row of a list of changed files; GitHub gives no size there."""
    return Change(file.filename, None if file.status == "removed" else file.sha, 0)


def proposal(pull: PullRequest, files: list[File]) -> Proposal:
    """What we need of a pull request; what it takes away is of no interest."""
    changed = tuple(change(file) for file in files if file.status != "removed")
    return Proposal(pull.number, pull.head.sha, pull.base.ref, pull.user.login, pull.state == "open", changed)
