"""The exceptions raised on purpose: each carries one line for a person and the exit status that it means."""

from __future__ import annotations

from typing import ClassVar


class BotError(Exception):
    """A failure with one line for a person; as it stands, a fault of ours (exit status 70)."""

    status: ClassVar[int] = 70


class CallError(BotError):
    """The call is wrong: an option, a path, a file that cannot be read (exit status 2)."""

    status = 2


class MalformedDeclaration(BotError):
    """A leaderboard's TOML or the settings hold something that is refused (exit status 2).

    `path` is the file, `key` the dotted path of the key inside it ("" for the whole file).
    """

    status = 2

    def __init__(self, path: str, key: str, why: str) -> None:
        self.path, self.key, self.why = path, key, why
        super().__init__(f"{path}: {key}: {why}" if key else f"{path}: {why}")


class MalformedResult(BotError):
    """Bytes that no reader accepts as a result file; the rule `malformed-file` reports them.

    `pointer` is a JSON pointer ("" for the whole file), `line` counts from 1, 0 where there is none.
    """

    status = 1

    def __init__(self, why: str, *, pointer: str = "", line: int = 0) -> None:
        self.why, self.pointer, self.line = why, pointer, line
        super().__init__(why)


class MalformedEntry(BotError):
    """A file at the target that stands where an entry should and is none (exit status 1)."""

    status = 1


class MalformedSamples(BotError):
    """A sample log that cannot be read; what was read before still stands (exit status 1)."""

    status = 1


class Unavailable(BotError):
    """A service could not be reached or failed; worth trying again (exit status 3).

    `retry_after` is in seconds, None where the service named no time.
    """

    status = 3

    def __init__(self, service: str, why: str, *, retry_after: float | None = None) -> None:
        self.service, self.why, self.retry_after = service, why, retry_after
        super().__init__(f"{service} could not be reached: {why}")


class Refused(BotError):
    """A service answered no: token, permission, a repository that is not there (exit status 4)."""

    status = 4

    def __init__(self, service: str, why: str) -> None:
        self.service, self.why = service, why
        super().__init__(f"{service} refused: {why}")


class Stale(BotError):
    """What stands at the target moved since it was read: read again and decide again (exit status 3)."""

    status = 3


class RuleCrashed(BotError):
    """A rule raised; nothing is published (exit status 70)."""

    def __init__(self, rule: str, cause: BaseException) -> None:
        self.rule = rule
        super().__init__(f"the rule {rule} failed: {type(cause).__name__}: {cause}")
