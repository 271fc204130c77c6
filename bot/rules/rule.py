"""What every rule is made of: the case it judges, the violations it yields, and its registration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from bot.errors import MalformedResult
from bot.finding import Severity
from bot.leaderboard import Leaderboard, Waiver
from bot.measure import Measures
from bot.result import Result

CommitAnswer = Literal["accepted", "unaccepted", "unknown"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What lies outside the result, read before and handed in: nothing here is looked up by a rule.

    `today` decides whether a waiver still holds (None: none does). `commits` answers for a `git_hash` as the file
    spells it, `reasons` says why; a hash that is absent was not asked for. `same_values` names, for the raw values of
    all tasks in order, the model on the board that has them. `waivers` are further ones.
    """

    today: date | None = None
    commits: Mapping[str, CommitAnswer] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    same_values: Mapping[tuple[float, ...], str] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Case:
    """One result held against one leaderboard."""

    result: Result
    leaderboard: Leaderboard
    measures: Measures
    facts: Facts = NO_FACTS

    @property
    def takes_format(self) -> bool:
        """Whether the leaderboard takes the result's format; where it does not, `unaccepted-format` has said enough."""
        return self.result.format in self.leaderboard.harness.formats


@dataclass(frozen=True, slots=True)
class Unread:
    """Bytes that no reader took, and why."""

    problem: MalformedResult


@dataclass(frozen=True, slots=True)
class Violation:
    """What a rule saw: one sentence with the value, what to do, a JSON pointer, and the task it is about, if one."""

    message: str
    hint: str = ""
    pointer: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule; it judges a Case, only `malformed-file` an Unread.

    `voids` says that its error takes the score from the task it is about (from all for "").
    """

    id: str
    severity: Severity
    since: str
    voids: bool
    check: Callable[[Any], Iterable[Violation]]
    page: str

    @property
    def title(self) -> str:
        """The first line of the rule's page."""
        return self.page.partition("\n")[0]


def rule(
    severity: Severity, *, since: str = "0.1.0", voids: bool | None = None
) -> Callable[[Callable[[Any], Iterable[Violation]]], Rule]:
    """Register a function as the rule of its name in kebab case; its module's docstring is its page."""

    def register(check: Callable[[Any], Iterable[Violation]]) -> Rule:
        page = (sys.modules[check.__module__].__doc__ or "").strip()
        blocks = severity is Severity.ERROR if voids is None else voids
        return Rule(check.__name__.replace("_", "-"), severity, since, blocks, check, page)

    return register
