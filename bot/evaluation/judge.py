"""Judge submissions by the rules, and join them into rows."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from posixpath import dirname, normpath
from typing import Literal

from msgspec.structs import replace

from bot.evaluation.finding import Finding, examples, grouped
from bot.evaluation.formats import format_of
from bot.evaluation.formats.content import PROPOSES
from bot.evaluation.identity import identified, name_for
from bot.evaluation.join import join_rows
from bot.evaluation.leaderboard import Leaderboard, shipped
from bot.evaluation.measurement import has_some_leaf, take_measurements
from bot.evaluation.rules import RULES
from bot.evaluation.rules.malformed_file import malformed_file
from bot.evaluation.rules.rule import NO_FACTS, REPORT, Case, Facts, Rule, described, findings_of, waive
from bot.evaluation.sources import told_beside
from bot.evaluation.submission import Parsed, Problem, UnreadPath, believed_date, latest_date, own_date
from bot.evaluation.verdict import Judgement, Verdict

log = logging.getLogger(__name__)
# Where nothing of the leaderboard is in a file, its row says so once, and how the rest was measured does not matter.
OF_MEASUREMENTS = frozenset({
    "limited-run", "unaccepted-harness-commit", "unverifiable-harness-commit", "unpinned-revision", "quantized-run",
    "extra-task", "chat-template-differs",
})  # fmt: skip


def judge(parsed: Parsed, leaderboard: Leaderboard, facts: Facts = NO_FACTS, rules: Iterable[Rule] = RULES) -> Verdict:
    """Check one submission by the rules. What fails in the bot itself is a finding of this submission alone."""
    try:
        return _judge(parsed, leaderboard, facts, rules)
    except Exception as error:
        log.exception("judging %s failed", parsed.path)
        problem = Problem(f"could not be judged: {described(error)}", hint=REPORT)
        return _judge(replace(parsed, result=None, problem=problem), leaderboard, facts, rules)


def _judge(parsed: Parsed, leaderboard: Leaderboard, facts: Facts, rules: Iterable[Rule]) -> Verdict:
    called = name_for(parsed, facts.names) or ""
    board = leaderboard
    parsed = identified(parsed, facts.names, board)
    own, committed = own_date(parsed.result, parsed.path), facts.committed.get(parsed.path)
    date = believed_date(own, committed, facts.today)
    if parsed.result is None:
        problem = parsed.problem or Problem("was not read")
        if PROPOSES in problem.hint and leaderboard.id not in shipped():  # who submits to it makes no board
            takes = examples([format_of(one).title for one in leaderboard.harness.formats])
            problem = replace(
                problem,
                hint=problem.hint.replace(
                    PROPOSES, f"{leaderboard.id} takes {takes}, and files of other layouts by a form"
                ),
            )
        findings = tuple(findings_of(malformed_file, problem, parsed.path, leaderboard))
        return Verdict(parsed, leaderboard, "rejected", findings, None, date)
    measurements = take_measurements(parsed.result, leaderboard, parsed.path)
    latest = latest_date(facts.today, committed)
    case = Case(parsed.result, leaderboard, measurements, facts, own, latest, parsed.path, parsed.samples)
    found: list[Finding] = []
    is_foreign = case.takes_format and not has_some_leaf(parsed.result, measurements)
    for rule in rules:
        is_silent = rule.looks_at and not getattr(parsed.result, rule.looks_at)
        if not (is_silent or (is_foreign and rule.id in OF_MEASUREMENTS)):
            found += findings_of(rule, case, parsed.path, leaderboard)
    findings = tuple([waive(finding, leaderboard, facts, [parsed]) for finding in found])
    status: Literal["accepted", "rejected"] = "rejected" if any(found.is_error for found in findings) else "accepted"
    return Verdict(parsed, leaderboard, status, findings, measurements, date, called)


def _unmatched(submissions: Iterable[Parsed]) -> dict[str, tuple[str, ...]]:
    """The places of each form that lead to a number in none of its files, by the path of the first of them."""
    by_form = grouped((one.result.format, one) for one in submissions if one.result is not None)
    found = {}
    for files in by_form.values():
        places = [one.result.unmatched for one in files if one.result is not None]
        if all(places):
            nowhere = set.intersection(*map(set, places))
            found[files[0].path] = tuple(place for place in places[0] if place in nowhere)
    return found


def judge_all(
    submissions: Iterable[Parsed],
    leaderboard: Leaderboard,
    facts: Facts = NO_FACTS,
    *,
    unread: Iterable[UnreadPath] = (),
    rules: Sequence[Rule] = RULES,
) -> Judgement:
    """Judge every submission and join them into rows; a sample log that was checked with its result is not `unread`."""
    found = list(submissions)
    facts = replace(facts, unmatched=_unmatched(found))
    asked = [rule for rule in rules if rule.can_find(leaderboard, facts)]
    verdicts = told_beside([judge(parsed, leaderboard, facts, asked) for parsed in found], leaderboard)
    logs = {normpath(f"{dirname(one.path) or '.'}/{log.path}") for one in verdicts for log in one.parsed.samples or ()}
    left = tuple(one for one in unread if normpath(one.path) not in logs)
    return Judgement(leaderboard, verdicts, tuple(join_rows(verdicts, leaderboard, facts)), left)
