"""The verdict on one submission: what the rules find in it, and its measurements. It never needs the bytes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from bot import HOME
from bot.evaluation.dates import believed_date, latest_date, own_date
from bot.evaluation.finding import Finding, Location, Severity, shown
from bot.evaluation.identity import with_names
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurements, take_measurements
from bot.evaluation.result import Result, shape_of
from bot.evaluation.rules import RULES
from bot.evaluation.rules.malformed_file import malformed_file
from bot.evaluation.rules.rule import NO_FACTS, Case, Facts, Rule, UnreadFile, Violation
from bot.evaluation.submission import Parsed, Problem
from bot.evaluation.waiving import waive

# Where nothing of the leaderboard is in a file, its row says so once, and how the rest was measured does not matter.
OF_MEASUREMENTS = frozenset({
    "limited-run", "unaccepted-harness-commit", "unverifiable-harness-commit", "unpinned-revision", "quantized-run",
    "extra-task", "chat-template-differs",
})  # fmt: skip
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Findings and measurements of one submission.

    `status` is "rejected" where anything is wrong with the submission itself; that it does not bring every task is no
    fault of it. `measurements` is None if no format reads it. `date` is when it was measured, in Unix seconds,
    believed no further than the commit that brought it; 0 if it is unknown.
    """

    parsed: Parsed
    leaderboard: Leaderboard
    status: Literal["accepted", "rejected"]
    findings: tuple[Finding, ...]
    measurements: Measurements | None
    date: float = 0.0

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


def judge(parsed: Parsed, leaderboard: Leaderboard, facts: Facts = NO_FACTS, rules: Iterable[Rule] = RULES) -> Verdict:
    """Check one submission by the rules. A rule that fails is a finding of this submission."""
    parsed = with_names(parsed, leaderboard.models)
    own, committed = own_date(parsed.result, parsed.path), facts.committed.get(parsed.path)
    date = believed_date(own, committed, facts.today)
    if parsed.result is None:
        problem = parsed.problem or Problem("was not read")
        findings = tuple(findings_of(malformed_file, UnreadFile(problem), parsed, leaderboard, line=problem.line))
        return Verdict(parsed, leaderboard, "rejected", findings, None, date)
    measurements = take_measurements(parsed.result, leaderboard, parsed.path)
    latest = latest_date(facts.today, committed)
    case = Case(parsed.result, leaderboard, measurements, facts, own, latest, parsed.path)
    found: list[Finding] = []
    is_foreign = case.takes_format and not measurements.present
    for rule in _rules_to_ask(case) if rules is RULES else rules:
        if not (is_foreign and rule.id in OF_MEASUREMENTS):
            found += findings_of(rule, case, parsed, leaderboard)
    if rules is RULES:
        _remember(case, found)
    findings = tuple([waive(finding, leaderboard, facts, [parsed]) for finding in found])
    status: Literal["accepted", "rejected"] = "rejected" if any(found.is_error for found in findings) else "accepted"
    return Verdict(parsed, leaderboard, status, findings, measurements, date)


def _rules_to_ask(case: Case) -> Iterable[Rule]:
    """The rules without those that found nothing in a result of the same shape: they would find nothing again."""
    shape = shape_of(case.result)
    if shape is None or shape.asked is None or case.measurements.missing:
        return RULES
    leaderboard, facts, asked = shape.asked
    return asked if leaderboard is case.leaderboard and facts is case.facts else RULES


def _remember(case: Case, found: Iterable[Finding]) -> None:
    """Note which rules the next result of this shape is to be asked."""
    shape = shape_of(case.result)
    if shape is None or case.measurements.missing or _rules_to_ask(case) is not RULES:
        return
    spoke = {finding.rule for finding in found}
    asked = tuple(rule for rule in RULES if _may_speak(rule, case.leaderboard, spoke))
    shape.asked = case.leaderboard, case.facts, asked


def _may_speak(rule: Rule, leaderboard: Leaderboard, spoke: Collection[str]) -> bool:
    """Tell whether a rule may find something in a result of the same shape as one that these rules spoke of."""
    return rule.id in spoke or (rule.reads != "runs" and rule.concerns(leaderboard))


def findings_of(rule: Rule, case: object, parsed: Parsed, leaderboard: Leaderboard, *, line: int = 0) -> list[Finding]:
    """The findings of one rule, with the leaderboard's severity; if the rule crashes, one finding names the rule."""
    try:
        violations = [*rule.check(case)]
    except Exception as error:
        log.exception("the rule %s failed on %s", rule.id, parsed.path)
        return [_failure(rule, rule.severity_on(leaderboard), error, parsed.path)]
    if not violations:
        return []
    severity = rule.severity_on(leaderboard)
    return [finding_of(rule, severity, violation, violation.file or parsed.path, line=line) for violation in violations]


def finding_of(rule: Rule, severity: Severity, violation: Violation, path: str, *, line: int = 0) -> Finding:
    """A violation as a finding in a file; a pointer of a folder's file names the file before the first `#`."""
    is_inside = not violation.pointer.startswith("/") and "#" in violation.pointer
    name, _, pointer = violation.pointer.partition("#") if is_inside else ("", "", violation.pointer)
    return Finding(
        rule=rule.id,
        severity=severity,
        message=violation.message,
        hint=violation.hint,
        location=Location(f"{path}/{name}" if name else path, pointer, line),
        task=violation.task,
        leaves=violation.leaves,
        command=violation.command,
        invalidates_score=rule.invalidates_score,
    )


def _failure(rule: Rule, severity: Severity, error: Exception, path: str) -> Finding:
    """Report that a rule failed: as an error if the rule reports errors, else as a warning that blocks nothing."""
    is_error = severity is Severity.ERROR
    left = "the file is not accepted" if is_error else "its warnings are missing"
    message = f"the rule {rule.id} failed, so {left}: {shown(f'{type(error).__name__}: {error}', 200)}"
    hint = f"report it at {HOME}/issues, with the file"
    failed = Severity.ERROR if is_error else Severity.WARNING
    return Finding(rule.id, failed, message, hint, Location(path), invalidates_score=is_error)
