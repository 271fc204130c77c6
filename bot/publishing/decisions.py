"""What people decided about rows, and the status of a row, one value that everything shown goes by.

The bot's answer to a comment carries what its author decided in its hidden line, and it is read from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

TAKEN = "somebody took the row from main"
REWRITTEN = "somebody rewrote the history of main, and the row went with it"

What = Literal["declined", "restored", "approved", "waived", "merged"]


class Decided(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision: what, by which account, where (a request or discussion), and when (Unix seconds).

    `rows` are the rows that it is about, each with the digest of its content then. A decision about a plan has the
    plan's digest in `plan`; an approval also has the marks of the plan's rows in `marks`, by which what is left of the
    plan is known. A waiver has the `rule`, the SHA-256 of its `files`, its last day in `until` (YYYY-MM-DD) and its
    `reason`. A merge has the `commit`.
    """

    what: What
    who: str = ""
    where: str = ""
    when: float = 0.0
    rows: dict[str, str] = {}
    plan: str = ""
    marks: str = ""
    rule: str = ""
    files: tuple[str, ...] = ()
    until: str = ""
    reason: str = ""
    commit: str = ""


def parse_decided(data: object) -> Decided | None:
    """The decision in the hidden line of an answer; None where there is none."""
    try:
        return None if data is None else msgspec.convert(data, Decided)
    except msgspec.ValidationError:
        return None


class RowDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What people decided about one content of a row at a target, by its digest.

    `declined`: by a command on a request, so that it is not proposed again. `removed`: taken from main, which counts as
    declined until main has the row again. `taken` and `lost`: taken from main, by a commit or with a history that
    somebody rewrote, and a person is asked. `who` and `where` are "" where nobody can tell; `when` is in Unix seconds.
    """

    digest: str
    what: Literal["declined", "removed", "taken", "lost"]
    who: str = ""
    where: str = ""
    when: float = 0.0

    def counts_as_declined(self, digest: str) -> bool:
        """Tell whether a row with this content is not to be proposed."""
        return self.what in {"declined", "removed"} and self.digest == digest


def taken_why(decisions: Iterable[RowDecision], digest: str) -> str:
    """How a row with this content was taken from main, where a person is asked about it; "" if it was not."""
    found = next((one.what for one in decisions if one.digest == digest and one.what in {"taken", "lost"}), None)
    return "" if found is None else REWRITTEN if found == "lost" else TAKEN


Fate = Literal["main", "open", "held", "declined", "waiting", "failed", "refused"]
Place = Literal["main", "open", "declined"]  # where a look found a row: on main, in an open request, in a closed one
NOTHING = "it is neither on main nor proposed"
WAITS = "it waits for its turn"


@dataclass(frozen=True, slots=True)
class RowStatus:
    """What becomes of a row, and why where it is neither on main nor proposed."""

    fate: Fate
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is known of a row that waits: whether a plan holds it, and why the last try failed, "" before the first."""

    is_held: bool = False
    failure: str = ""


def status_of(
    digest: str,
    place: Place | None,
    decided: Iterable[RowDecision] = (),
    waiting: Waiting | None = None,
    refused: str = "",
    *,
    is_plan_declined: bool = False,
) -> RowStatus:
    """The status of an accepted row with this content: the first of these that holds.

    `decided` is what people decided about the row, `refused` why the target cannot have it, `is_plan_declined` whether
    a person declined the plan that holds rows there.
    """
    # A plan comes first: whatever stands there now is what the plan would change, and nothing happens without a person.
    if waiting is not None and waiting.is_held:
        return RowStatus("declined" if is_plan_declined else "held")
    # What stands on main is stronger than what was once decided: a row that was declined and merged later is there.
    if place == "main":
        return RowStatus("main")
    # People closed a request with this very content, left it out of an open one by a command, or took it from main.
    if place == "declined" or any(one.counts_as_declined(digest) for one in decided):
        return RowStatus("declined")
    if place == "open":
        return RowStatus("open")
    # The bot tries by itself, for the first time or again after a failure.
    if waiting is not None:
        return RowStatus("failed", waiting.failure) if waiting.failure else RowStatus("waiting", WAITS)
    # It was tried, and cannot be there as it is: a table without its column, a model without discussions.
    if refused:
        return RowStatus("refused", refused)
    # Nobody can say why it is not there: commands end with 1, and the next pass looks again.
    return RowStatus("failed", NOTHING)
