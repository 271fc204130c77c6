"""What a rule saw, where it saw it, and how bad that is: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from bot import HOME

RULES_URL = f"{HOME}/blob/main/docs/rules.md#"


Status = Literal["accepted", "incomplete", "rejected"]


class Severity(StrEnum):
    """GitHub's three words; only `ERROR` blocks."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a submission: `pointer` is a JSON pointer (RFC 6901), `line` counts from 1, 0 is unknown."""

    path: str
    pointer: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one submission, complete when it leaves its rule.

    `task` is the column that an error voids: a task's id, "*" for all of them, "" for none.
    """

    rule: str
    severity: Severity
    message: str
    hint: str
    location: Location
    task: str = ""

    @property
    def url(self) -> str:
        """The page of the rule."""
        return f"{RULES_URL}{self.rule}"


def shown(value: object, limit: int = 80) -> str:
    """A submitted value as one line of plain text: nothing invisible, nothing that turns the reading direction."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"  # not looked into: it may be deep
    text = value if isinstance(value, str) else repr(value)
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"
