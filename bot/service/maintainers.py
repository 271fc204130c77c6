"""Decide who is a maintainer of a watch at the place of a command."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

WRITERS = "@writers"  # in `maintainers`: all who may write to the repository; no account can have this name


def nobody_writes(_: str) -> bool:
    """The known rights of an account if no service can be asked."""
    return False


@dataclass(frozen=True)
class Maintainers(Container[str]):
    """The accounts that the settings name; with `@writers` also those that may write to the source.

    `may_write` asks the source about an account; it is asked for no one else.
    """

    names: Sequence[str]
    may_write: Callable[[str], bool] = nobody_writes

    def __contains__(self, account: object) -> bool:
        if account in self.names:
            return account != WRITERS
        return WRITERS in self.names and isinstance(account, str) and self.may_write(account)
