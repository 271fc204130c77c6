"""A static Space of the Hub as the place of a site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.errors import CallError
from bot.platforms.hub.discussions import HubDiscussions
from bot.publishing.yaml_text import front_matter

CARD = "README.md"
CARD_LIMIT = 1_000_000  # bytes
STATIC = re.compile(r"^sdk:\s*[\"']?static[\"']?\s*$", re.MULTILINE)


@dataclass
class HubSite:
    """The files of one Space at its main branch."""

    discussions: HubDiscussions
    name: str
    head: str = ""
    oids: dict[str, str] = field(default_factory=dict, repr=False)

    def files(self) -> Mapping[str, str]:
        """The object ids of all files. Raises CallError if the Space does not show files, but runs a program."""
        source = self.discussions.source
        self.head = source.head()
        self.oids = {change.path: change.oid or "" for change in source.changes(None, self.head)}
        card = (self.read(CARD, CARD_LIMIT) or b"").decode("utf-8", "replace")
        span = front_matter(card)
        if span is None or not STATIC.search(card[slice(*span)]):
            raise CallError(f"{self.name}: its README.md does not say `sdk: static`, so it cannot hold a site")
        return self.oids

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a file, None if there is none."""
        return self.discussions.source.read(path, self.head, limit, self.oids[path]) if path in self.oids else None

    def write(self, files: Mapping[str, bytes | None], title: str) -> None:
        """One commit. Raises Stale if the branch is no longer where it was."""
        self.head, _ = self.discussions.commits.write(files, title, "", parent=self.head)
