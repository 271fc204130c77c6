"""A finding: the problem that a rule found, its place, its severity, and how to repair it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import ceil
from typing import Literal, TypeVar

import msgspec

from bot import HOME

RULES_URL = f"{HOME}/blob/main/docs/rules.md#"
K = TypeVar("K")
V = TypeVar("V")
Status = Literal["accepted", "incomplete", "rejected"]


class Severity(StrEnum):
    """GitHub's three words; only `ERROR` blocks."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Location(msgspec.Struct, frozen=True, gc=False):
    """A place in a file: `pointer` is a JSON pointer (RFC 6901), `line` counts from 1.

    Judging leaves `line` at 0; it is looked up in the file's bytes when a finding is shown.
    """

    path: str
    pointer: str = ""
    line: int = 0


OF_PART = re.compile(r"#[1-9]\d{0,5}\Z")


def file_of(path: str) -> str:
    """The path of the file of a submission, which may be one of several in it."""
    return OF_PART.sub("", path)


class Waived(msgspec.Struct, frozen=True, gc=False):
    """The waiver that turned an error into a warning."""

    rule: str
    who: str
    reason: str
    until: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One fault of one submission or row.

    `hint` says what to do, `command` is the command line that does it ("" if no command can). `task` is the column
    that the finding is about ("" for the whole submission) and `leaves` its subtasks (empty for all of the column).
    `invalidates_score` says that an error leaves no number that could be shown.
    """

    rule: str
    severity: Severity
    message: str
    hint: str
    location: Location
    task: str = ""
    leaves: tuple[str, ...] = ()
    command: str = ""
    invalidates_score: bool = False
    waived: Waived | None = None

    @property
    def is_error(self) -> bool:
        """Tell whether the finding blocks."""
        return self.severity is Severity.ERROR

    @property
    def advice(self) -> str:
        """The hint and the command as one text."""
        return " ".join(filter(None, (self.hint, self.command)))

    @property
    def url(self) -> str:
        """The page of the rule."""
        return f"{RULES_URL}{self.rule}"


def shown(value: object, limit: int = 80) -> str:
    """A submitted value as one line of plain text: nothing invisible, nothing that turns the reading direction."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"  # not looked into: it may be deep
    text = value if isinstance(value, str) else repr(value)
    text = text[: limit + 1]
    if not text.isprintable():
        text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def examples(names: Sequence[str], limit: int = 3) -> str:
    """The first few of submitted names and how many more there are: "a, b, c and 4 more"."""
    return first_few([*map(shown, names[:limit]), *names[limit:]], limit)


def first_few(texts: Sequence[str], limit: int) -> str:
    """The first texts of a list and how many more there are."""
    more = len(texts) - limit
    return ", ".join(texts[:limit]) + (f" and {more:,} more" if more > 0 else "")


def in_units(size: int) -> str:
    """A number of bytes for people, rounded up: "512 bytes", "1.1 KB", "8 MB"; 1 MB has 1,048,576 bytes."""
    for factor, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= factor:
            return f"{ceil(10 * size / factor) / 10:,g} {unit}"
    return counted(size, "byte")


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 file", "2,000 files"."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values by key; keys and values keep the order in which they first come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
