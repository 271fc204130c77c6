"""The exceptions raised on purpose: each carries one line for a person and the exit status that it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

OUTAGE = "could not be reached"  # in the text of an `Unavailable`
WAITS = ("asks to wait", "try again in")  # in that of one which says when a service may be called again
NEEDS_TOKEN = "where the bot is started"  # in the text of a `Refused` that only another token ends  # noqa: S105 - words


class BotError(Exception):
    """A failure with one line for a person; as it stands, an internal error (exit status 70)."""

    status: ClassVar[int] = 70

    @property
    def in_one_line(self) -> str:
        """The message in one line, with semicolons between faults that have a line each."""
        return "; ".join(" ".join(each.split()) for each in str(self).splitlines())

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error pass from one process to another, whatever its constructor takes."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[BotError], args: tuple[Any, ...]) -> BotError:
    error = kind.__new__(kind)
    error.args = args
    return error


class CallError(BotError):
    """The call is wrong: an option, a path, a file that cannot be read (exit status 2)."""

    status = 2


class MalformedDeclaration(BotError):
    """A leaderboard's TOML or the settings hold something that is refused (exit status 2).

    `path` is the file, `faults` are all that was found: the dotted path of the key inside it ("" for the whole file)
    and the reason. The message has one line for each of the first MOST_FAULTS.
    """

    status = 2
    MOST_FAULTS = 100

    def __init__(self, path: str, faults: Sequence[tuple[str, str]]) -> None:
        self.path, self.faults = path, tuple(faults)
        lines = [f"{path}: {key}: {why}" if key else f"{path}: {why}" for key, why in faults[: self.MOST_FAULTS]]
        left = len(faults) - len(lines)
        super().__init__("\n".join([*lines, f"{path}: and {left:,} faults more"] if left else lines))


class MalformedResult(BotError):
    """Bytes that no format reads as a result; the rule `malformed-file` reports them.

    `pointer` is a JSON pointer ("" for the whole file), `line` counts from 1, 0 if there is none. `hint` says what to
    do where that is not to upload the whole file. `is_recognised` says that a format took the file for one of its own.
    """

    status = 1
    is_recognised = False

    def __init__(self, why: str, *, pointer: str = "", line: int = 0, hint: str = "") -> None:
        self.why, self.pointer, self.line, self.hint = why, pointer, line, hint
        super().__init__(why)


class UnknownFormat(MalformedResult):
    """A file that no format recognises, JSON or not: most likely it never was a result."""


class MalformedEntry(BotError):
    """A file at the path of an entry that is not an entry (exit status 1)."""

    status = 1


class Unwritable(BotError):
    """A row cannot be written into somebody else's file, or that file cannot be read or edited (exit status 1)."""

    status = 1


class MalformedSamples(BotError):
    """A sample log that cannot be read; what was read before still stands (exit status 1)."""

    status = 1


class Unavailable(BotError):
    """A service could not be reached or failed; worth trying again (exit status 3).

    `retry_after` is in seconds, None if the service named no time. `may_have_landed` says that the call was a write
    whose fate is unknown: look before it is sent again. It may show for `unknown_for` more seconds.
    """

    status = 3

    def __init__(
        self, service: str, why: str, *, retry_after: float | None = None, may_have_landed: bool = False
    ) -> None:
        self.why, self.retry_after = why, retry_after
        self.may_have_landed = may_have_landed
        self.unknown_for = 0.0
        super().__init__(f"{service} {OUTAGE}: {why}")


class Refused(BotError):
    """A service answered no: token, permission, a repository that is not there (exit status 4)."""

    status = 4

    def __init__(self, service: str, why: str) -> None:
        super().__init__(f"{service} refused: {why}")


class Gone(Refused):
    """The object does not exist, was renamed, or this token may not see it."""


class TooLong(Refused):
    """An answer of a service is longer than the bot reads; to ask again would bring as much."""


class NoWriteAccess(Refused):
    """The token may read here, and may not write what was sent."""


class Locked(Refused):
    """A person locked the conversation: the bot cannot post there."""


class DiscussionsDisabled(Refused):
    """Discussions of the repository are disabled (on GitHub: issues)."""


class Stale(BotError):
    """The target changed since it was read: read again and decide again (exit status 3)."""

    status = 3


class Unsettled(Stale):
    """Another process may be writing the same, or was killed meanwhile: look again after `retry_after` seconds."""

    def __init__(self, why: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(why)


class LeaseLost(BotError):
    """This process must stop writing: another one may have taken over its work (exit status 3)."""

    status = 3

    def __init__(self) -> None:
        super().__init__(
            "the database was restarted or closed the connection that reserves this work for one process;"
            " the work stops here, and the next pass or call continues it"
        )


class InUse(BotError):
    """Another process holds work that only one may do at a time: try again when it has ended (exit status 3)."""

    status = 3


class StateUnavailable(BotError):
    """The database of the service cannot be used now; nothing of it was changed (exit status 3)."""

    status = 3

    def __init__(self, where: str, why: str) -> None:
        self.where = where
        super().__init__(f"the state at {where} cannot be used: {why}")
