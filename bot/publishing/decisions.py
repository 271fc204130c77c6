"""What a person decided by a comment: the bot's answer carries it in its hidden line, and it is read from there."""

from __future__ import annotations

from collections.abc import Iterable
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
