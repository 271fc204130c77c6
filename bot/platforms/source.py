"""What every source of results can do, whatever it is: the settlement reads all of them in one way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from bot.errors import BotError


class TooLarge(BotError):
    """A file holds more bytes than the limit; nothing of the rest was read (exit status 1)."""

    status = 1


@dataclass(frozen=True, slots=True)
class Change:
    """A file of which the content changed; `oid` names the content as it is now, None where it is gone.

    `size` is in bytes.
    """

    path: str
    oid: str | None
    size: int


class Source(Protocol):
    """A repository in which results are pushed; commits are full ids."""

    @property
    def name(self) -> str:
        """How evidence and pages name it."""
        ...

    def head(self) -> str:
        """The commit at main."""
        ...

    def changes(self, old: str | None, new: str) -> Iterable[Change]:
        """The files that differ between two commits; every file where there is no old one."""
        ...

    def touched(self, paths: list[str], commit: str) -> dict[str, str]:
        """For each path, the commit that last touched it, as of `commit`."""
        ...

    def read(self, path: str, commit: str, limit: int) -> bytes | None:
        """A file's bytes at a commit; None where it is not there. Raises TooLarge past the limit."""
        ...
