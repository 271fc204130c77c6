"""The verdict on one submission: what the rules find in it, and its measurements. It never needs the bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.evaluation.finding import Finding
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurements
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed


@dataclass(frozen=True, slots=True)
class Verdict:
    """Findings and measurements of one submission.

    `status` is "rejected" where anything is wrong with the submission itself; that it does not bring every task is no
    fault of it. `measurements` is None if no format reads it. `date` is when it was measured, in Unix seconds,
    believed no further than the commit that brought it; 0 if it is unknown. `called` is the file's name of a model that
    the facts name, "" where they name none.
    """

    parsed: Parsed
    leaderboard: Leaderboard
    status: Literal["accepted", "rejected"]
    findings: tuple[Finding, ...]
    measurements: Measurements | None
    date: float = 0.0
    called: str = ""

    @property
    def path(self) -> str:
        """The path of the submission."""
        return self.parsed.path

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes, "" if it was too large to be read."""
        return self.parsed.sha256

    @property
    def result(self) -> Result | None:
        """Its result; None if no format reads it."""
        return self.parsed.result
