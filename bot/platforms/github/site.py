"""A branch of a GitHub repository as the place of a site, as GitHub Pages shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.platforms.github.branches import Branches
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.source import GitHubSource
from bot.platforms.kept import kept_property

BRANCH = re.compile(r"[A-Za-z0-9_][\w-]*(?:[./][\w-]+)*", re.ASCII)


@dataclass
class GitHubSite:
    """The files of one branch, which the first commit makes where there is none."""

    client: GitHubClient
    source: GitHubSource
    branch: str
    head: str = ""
    oids: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Its address as people write it."""
        return f"{self.source.name}@{self.branch}"

    @kept_property
    def _branches(self) -> Branches:
        return Branches(self.client, self.client.repo(self.source.address.name))

    def files(self) -> Mapping[str, str]:
        """The object ids of all files; none if there is no such branch yet."""
        ref = self._branches.ref(self.branch)
        self.head = ref.object.sha if ref else ""
        found = self.source.changes(None, self.head) if self.head else ()
        self.oids = {change.path: change.oid or "" for change in found}
        return self.oids

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a file, None if there is none."""
        return self.source.read(path, self.head, limit) if path in self.oids else None

    def write(self, files: Mapping[str, bytes | None], title: str) -> None:
        """One commit. Raises Stale if the branch is no longer where it was."""
        self.head = self._branches.commit_to(self.branch, files, title, self.head)
