"""What fills a target with very many rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from bot.publishing.publication import PostText


class Filling(Protocol):
    """Where many new rows go: the main branch, or the one request with a mark."""

    def paths(self) -> set[str]:
        """The entries that stand there, or are proposed there."""
        ...

    def standing(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current or proposed content at the paths of these files."""
        ...

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files, and say where. Raises Stale if somebody else wrote meanwhile."""
        ...
