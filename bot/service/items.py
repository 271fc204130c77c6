"""Items: things that may be out of date, the time of their next try, and the rows among them that workers publish.

An item holds no instruction, only a name: whoever takes it looks at both sides and brings one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import msgspec

from bot.errors import BotError

Kind = Literal[
    "source",
    "judge",
    "reviews",
    "review",
    "merged",
    "file",
    "row",
    "folder",
    "request",
    "plan",
    "board",
    "alarm",
    "site",
    "sweep",
]
Cause = Literal["push", "declaration", "lost", "bulk"]
Priority = Literal["people", "bulk"]  # people wait for pushes of a few files; everything else comes later

FIRST_WAIT = 60.0  # seconds before a failed item is tried again; doubled each time
LONGEST_WAIT = 6 * 3600.0  # seconds


class Item(msgspec.Struct, frozen=True):
    """One thing that may be out of step.

    `subject` is a path, a key, a folder or a number, by its kind; `target` is "" if it is about the source.
    `marked` counts how often it was marked, so that what was marked again meanwhile is not taken for done. Times are
    Unix seconds. `is_held` says that it waits for the approval of a plan.
    """

    watch: str
    kind: Kind
    target: str
    subject: str
    cause: Cause = "push"
    is_held: bool = False
    marked: int = 0
    attempts: int = 0
    since: float = 0.0
    due: float = 0.0
    reason: str = ""

    @property
    def name(self) -> str:
        """Its name in outcomes, on pages and in logs."""
        subject = self.subject or self.target or self.watch
        return f"{self.kind} {subject}" if self.kind not in {"row", "file"} else subject


class Mark(msgspec.Struct, frozen=True):
    """Something to be marked as out of step."""

    kind: Kind
    subject: str = ""
    target: str = ""
    cause: Cause = "push"


def marks(kind: Kind, subjects: Iterable[str], targets: Sequence[str] = ("",), cause: Cause = "push") -> list[Mark]:
    """A mark for each subject at each target."""
    return [Mark(kind, subject, target, cause) for subject in subjects for target in targets]


def wait_after(attempts: int, failure: Exception) -> float:
    """Seconds until a failed item is tried again: as long as the service asks, else 1 minute to 6 hours."""
    asked = getattr(failure, "retry_after", None)
    wait = min(FIRST_WAIT * 2 ** min(attempts, 20), LONGEST_WAIT)
    return wait if asked is None else min(max(float(asked), 1.0), LONGEST_WAIT)


def reason_of(failure: Exception) -> str:
    """Why an item failed, in one line."""
    if isinstance(failure, BotError):
        return " ".join(str(failure).split())[:500]
    return f"internal error: {type(failure).__name__}; the log has the traceback"


class RowJob(msgspec.Struct, frozen=True):
    """One row at one target that may be published as it was looked at.

    `marked` is the count of its item, and `admitted` what the safety catch let through: where either is another by
    then, the row goes back to the next pass.
    """

    watch: str
    target: str
    subject: str
    marked: int
    admitted: str


class RowQueue(Protocol):
    """The queue from which workers take such rows."""

    def rows_waiting(self, watch: str, target: str) -> set[str]:
        """The rows that a worker has, or will take."""
        ...

    def put_rows(self, jobs: Sequence[RowJob]) -> bool:
        """Leave rows to the workers; False if there may be none, and the caller publishes them itself."""
        ...
