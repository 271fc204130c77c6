"""Waivers: dated exceptions that turn an error into a warning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from bot.evaluation.finding import Finding, Severity, Waived
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import Parsed

SHA256 = "sha256:"


def waive(finding: Finding, leaderboard: Leaderboard, facts: Facts, submissions: Iterable[Parsed]) -> Finding:
    """Turn an error that a waiver covers today into a warning that says so; `submissions` are those it is about."""
    today = facts.today
    if not finding.is_error or today is None:
        return finding
    for waiver in (*leaderboard.waivers, *facts.waivers):
        is_asked = waiver.rule == finding.rule and today <= waiver.until
        if is_asked and any(_covers(waiver, submission) for submission in submissions):
            by = Waived(waiver.rule, waiver.who, waiver.reason, str(waiver.until))
            message = f"{finding.message} (waived by {by.who} until {by.until}: {by.reason})"
            return replace(finding, severity=Severity.WARNING, message=message, waived=by)
    return finding


def _covers(waiver: Waiver, submission: Parsed) -> bool:
    if waiver.submission.startswith(SHA256):
        return bool(submission.sha256) and waiver.submission == SHA256 + submission.sha256
    is_of_model = submission.result is not None and waiver.submission == submission.result.model.id
    return is_of_model or fnmatchcase(submission.path, waiver.submission)
