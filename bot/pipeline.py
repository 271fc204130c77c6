"""The spine of a verdict: the bytes of one submission and a leaderboard in, Verdict out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from bot.entry import Entry, Evidence, make_entry, measured_on
from bot.errors import MalformedResult, RuleCrashed
from bot.finding import Finding, Location, Severity, Status
from bot.formats import MAX_BYTES, parse_result
from bot.formats.locate import Locator
from bot.leaderboard import Leaderboard, Waiver
from bot.measure import Measures, take_measures
from bot.result import Result
from bot.rules import RULES
from bot.rules.malformed_file import malformed_file
from bot.rules.rule import NO_FACTS, Case, Facts, Rule, Unread, Violation
from bot.score import ALL_TASKS, Scores, make_scores

COVERAGE = "missing-task"


@dataclass(frozen=True, slots=True)
class Submission:
    """One uploaded file: `data` is None where it was too large to be read, `size` is in bytes."""

    path: str
    data: bytes | None
    size: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Findings and scores of one submission.

    `status` is "rejected" where anything but a missing task is wrong, else "incomplete" without an average. `result`,
    `measures` and `scores` are None where no reader took the file. `sha256` is "" where it was not read.
    """

    path: str
    sha256: str
    leaderboard: Leaderboard
    status: Status
    findings: tuple[Finding, ...]
    result: Result | None = None
    measures: Measures | None = None
    scores: Scores | None = None


def judge(
    submission: Submission, leaderboard: Leaderboard, facts: Facts = NO_FACTS, rules: Iterable[Rule] = RULES
) -> Verdict:
    """Read, check by `rules`, and score one submission. Raises RuleCrashed where a rule fails, and nothing else."""
    data = submission.data
    if data is None:
        why = f"has {submission.size:,} bytes; more than {MAX_BYTES:,} are not read"
        return _unread(submission, leaderboard, MalformedResult(why), "")
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        result = parse_result(data)
    except MalformedResult as problem:
        return _unread(submission, leaderboard, problem, sha256)
    measures = take_measures(result, leaderboard)
    findings = tuple(_findings(submission, Case(result, leaderboard, measures, facts), rules))
    scores = make_scores(measures, leaderboard, {finding.task for finding in findings if finding.task})
    status = _status(findings, scores)
    return Verdict(submission.path, sha256, leaderboard, status, findings, result, measures, scores)


def entry_of(verdict: Verdict, *, source: str = "", path: str = "", commit: str = "") -> Entry | None:
    """The row that a verdict stands for, None where it was rejected or the declaration refuses incomplete rows.

    `source` names the repository that the file lies in, `path` where in it (as judged, where not given), `commit` the
    commit it was read at.
    """
    if verdict.result is None or verdict.measures is None or verdict.scores is None or verdict.status == "rejected":
        return None
    if verdict.status == "incomplete" and verdict.leaderboard.average.missing == "refused":
        return None
    place = path or verdict.path
    return make_entry(
        leaderboard=verdict.leaderboard,
        result=verdict.result,
        measures=verdict.measures,
        scores=verdict.scores,
        findings=verdict.findings,
        evidence=Evidence(source, place, commit, verdict.sha256, measured_on(verdict.result, place)),
    )


def _unread(submission: Submission, leaderboard: Leaderboard, problem: MalformedResult, sha256: str) -> Verdict:
    violation = next(iter(malformed_file.check(Unread(problem))))
    location = Location(submission.path, violation.pointer, problem.line)
    finding = Finding(malformed_file.id, malformed_file.severity, violation.message, violation.hint, location)
    return Verdict(submission.path, sha256, leaderboard, "rejected", (finding,))


def _status(findings: Iterable[Finding], scores: Scores) -> Status:
    """A waiver forgives a fault; it makes no number where there is none, so such a row is incomplete."""
    errors = {finding.rule for finding in findings if finding.severity is Severity.ERROR}
    if errors - {COVERAGE}:
        return "rejected"
    return "incomplete" if scores.average is None else "accepted"


def _findings(submission: Submission, case: Case, rules: Iterable[Rule]) -> Iterator[Finding]:
    locator = Locator(submission.data or b"")
    for rule in rules:
        try:
            violations = list(rule.check(case))
        except Exception as error:
            raise RuleCrashed(rule.id, error) from error
        for violation in violations:
            yield _waived(_finding(submission.path, rule, violation, locator), submission, case)


def _finding(path: str, rule: Rule, violation: Violation, locator: Locator) -> Finding:
    task = (violation.task or ALL_TASKS) if rule.voids else ""
    location = Location(path, violation.pointer, locator.line_of(violation.pointer))
    return Finding(rule.id, rule.severity, violation.message, violation.hint, location, task)


def _waived(finding: Finding, submission: Submission, case: Case) -> Finding:
    """Turn an error that a living waiver covers into a warning that says so."""
    today = case.facts.today
    if finding.severity is not Severity.ERROR or today is None:
        return finding
    for waiver in (*case.leaderboard.waivers, *case.facts.waivers):
        if waiver.rule == finding.rule and today <= waiver.until and _covers(waiver, submission, case.result):
            by = f"waived by {waiver.who} until {waiver.until}: {waiver.reason}"
            return replace(finding, severity=Severity.WARNING, message=f"{finding.message} ({by})", task="")
    return finding


def _covers(waiver: Waiver, submission: Submission, result: Result) -> bool:
    if waiver.submission.startswith("sha256:"):
        return waiver.submission == "sha256:" + hashlib.sha256(submission.data or b"").hexdigest()
    return waiver.submission == result.model.id or fnmatchcase(submission.path, waiver.submission)
