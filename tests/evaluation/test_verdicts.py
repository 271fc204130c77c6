"""Verdicts: rules that fail, and waivers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import date
from hashlib import sha256

import pytest

from bot import HOME
from bot.evaluation.finding import Finding, Location, Severity
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import Leaderboard, Waiver, parse_leaderboard
from bot.evaluation.rules.rule import Case, Facts, Rule, Violation
from bot.evaluation.submission import parse_submission
from tests.evaluation.inspect_logs import header
from tests.evaluation.judging import ABSENT, ROOT, base, declared, dumps, judgement_of, outcome_of, patched
from tests.evaluation.parts import only

DAY = date(2026, 6, 1)
LIMITED = patched({"/config/limit": 50.0})
CLEAN_PATH = "acme__atlas/results_1.json"


# ---- a rule that crashes ----


def crashing(_: Case) -> Iterator[Violation]:
    yield Violation("seen before the fault")
    raise KeyError("the fault")


def test_a_rule_that_fails_blocks_its_submission_and_names_itself(caplog: pytest.LogCaptureFixture) -> None:
    rule = Rule("crashing-rule", Severity.ERROR, "0.1.0", False, crashing, "Crashes.")
    with caplog.at_level(logging.ERROR):
        verdict = judge(parse_submission("x.json", {"": dumps(base())}), declared(), rules=[rule])
    (finding,) = verdict.findings
    assert verdict.status == "rejected"
    assert (finding.rule, finding.severity) == ("crashing-rule", Severity.ERROR)
    assert finding.message == "the rule crashing-rule failed, so the file is not accepted: KeyError: 'the fault'"
    assert finding.hint == f"report it at {HOME}/issues, with the files"
    assert (finding.location.path, finding.invalidates_score) == ("x.json", True)
    assert "the rule crashing-rule failed on x.json\nTraceback" in caplog.text


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.NOTICE])
def test_a_rule_that_fails_and_never_blocks_is_a_warning(severity: Severity) -> None:
    rule = Rule("crashing-rule", severity, "0.1.0", False, crashing, "Crashes.")
    verdict = judge(parse_submission("x.json", {"": dumps(base())}), declared(), rules=[rule])
    (finding,) = verdict.findings
    assert verdict.status == "accepted"
    assert (finding.rule, finding.severity, finding.invalidates_score) == ("crashing-rule", Severity.WARNING, False)
    assert finding.message == "the rule crashing-rule failed, so its warnings are missing: KeyError: 'the fault'"


def test_a_pin_that_a_leaderboard_demands_blocks_where_its_rule_fails() -> None:
    rule = Rule("crashing-pin", Severity.NOTICE, "0.1.0", False, crashing, "Crashes.", is_pin=True)
    strict = declared().model_copy(update={"harness": declared().harness.model_copy(update={"pins": "required"})})
    assert judge(parse_submission("x.json", {"": dumps(base())}), strict, rules=[rule]).status == "rejected"


def test_the_rules_that_are_asked_are_the_ones_handed_in() -> None:
    verdict = judge(parse_submission("x.json", {"": dumps(LIMITED)}), declared(), rules=[])
    assert (verdict.findings, verdict.status) == ((), "accepted")


# ---- what a verdict says ----


def test_a_file_that_no_format_reads_has_the_line_of_its_fault_and_the_date_of_its_commit() -> None:
    parsed = parse_submission("x.json", {"": b'{\n"results": {},\n"date": 1 2}'})
    verdict = judge(parsed, declared(), Facts(committed={"x.json": 1_700_000_000.0}))
    (finding,) = verdict.findings
    assert (finding.rule, finding.location) == ("malformed-file", Location("x.json", "", 3))
    assert (verdict.status, verdict.measurements, verdict.date) == ("rejected", None, 1_700_000_000.0)
    assert verdict.leaderboard is declared()


def test_a_verdict_names_the_declaration_that_it_is_of() -> None:
    assert judge(parse_submission("x.json", {"": dumps(base())}), declared()).leaderboard is declared()


def test_a_finding_carries_all_that_its_rule_saw() -> None:
    def seeing(_: Case) -> Iterator[Violation]:
        yield Violation("it is wrong", "mend it", "/results", "bbh", ("bbh_a", "bbh_b"), "lm_eval --tasks bbh")

    rule = Rule("seeing", Severity.WARNING, "0.1.0", True, seeing, "Sees.")
    (finding,) = judge(parse_submission("x.json", {"": dumps(base())}), declared(), rules=[rule]).findings
    assert finding == Finding(
        rule="seeing",
        severity=Severity.WARNING,
        message="it is wrong",
        hint="mend it",
        location=Location("x.json", "/results"),
        task="bbh",
        leaves=("bbh_a", "bbh_b"),
        command="lm_eval --tasks bbh",
        invalidates_score=True,
    )


def test_a_long_fault_of_a_rule_is_cut() -> None:
    def shouting(_: Case) -> Iterator[Violation]:
        raise ValueError("a" * 1000)

    rule = Rule("shouting", Severity.ERROR, "0.1.0", False, shouting, "Shouts.")
    (finding,) = judge(parse_submission("x.json", {"": dumps(base())}), declared(), rules=[rule]).findings
    said = "ValueError: " + "a" * (200 - 13) + "…"
    assert finding.message == f"the rule shouting failed, so the file is not accepted: {said}"


@pytest.mark.parametrize(
    ("pointer", "path", "inside"),
    [
        ("/results/a#1", "run", "/results/a#1"),
        ("stats.json#/2/mean", "run/stats.json", "/2/mean"),
        ("header.json#/metrics/acc#1", "run/header.json", "/metrics/acc#1"),
        ("stats.json#", "run/stats.json", ""),
        ("", "run", ""),
    ],
)
def test_a_pointer_into_a_file_of_a_folder_names_the_file_first(pointer: str, path: str, inside: str) -> None:
    def pointing(_: Case) -> Iterator[Violation]:
        yield Violation("it is wrong", pointer=pointer)

    rule = Rule("pointing", Severity.WARNING, "0.1.0", False, pointing, "Points.")
    (finding,) = judge(parse_submission("run", {"": dumps(base())}), declared(), rules=[rule]).findings
    assert finding.location == Location(path, inside)


# ---- waivers ----

DECLARATION = (ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")


def waiving(rule: str, submission: str, until: str = "2026-12-31") -> Leaderboard:
    text = f"""
[[waivers]]
rule = "{rule}"
submission = "{submission}"
reason = "a smoke test"
who = "the maintainers"
until = {until}
"""
    return parse_leaderboard(DECLARATION + text, "open-llm-v2", "x.toml")


SHA = "sha256:" + sha256(dumps(LIMITED)).hexdigest()


@pytest.mark.parametrize("submission", ["acme__atlas/*", CLEAN_PATH, "*", "example-org/kestrel-7b", SHA])
def test_a_living_waiver_turns_the_error_into_a_warning_that_says_who_why_and_until(submission: str) -> None:
    outcome = outcome_of(LIMITED, waiving("limited-run", submission), Facts(today=DAY), CLEAN_PATH)
    (finding,) = outcome.findings
    assert finding.severity is Severity.WARNING
    for part in ("the maintainers", "a smoke test", "2026-12-31"):
        assert part in finding.message
    assert outcome.status == "accepted"
    assert outcome.scores is not None
    assert outcome.scores.average is not None
    entry = outcome.entry()
    assert entry is not None
    assert [remark.rule for remark in entry.warnings] == ["limited-run"]
    assert [(one.rule, one.who, one.until) for one in entry.waivers] == [
        ("limited-run", "the maintainers", "2026-12-31")
    ]


@pytest.mark.parametrize(
    ("rule", "submission", "until"),
    [
        ("limited-run", "*", "2026-05-31"),
        ("wrong-sample-count", "*", "2026-12-31"),
        ("limited-run", "other/*", "2026-12-31"),
        ("limited-run", "example-org/kestrel", "2026-12-31"),
        ("limited-run", "sha256:" + "0" * 64, "2026-12-31"),
        ("limited-run", SHA[:30], "2026-12-31"),
    ],
)
def test_a_waiver_that_expired_or_is_of_something_else_changes_nothing(rule: str, submission: str, until: str) -> None:
    outcome = outcome_of(LIMITED, waiving(rule, submission, until), Facts(today=DAY), CLEAN_PATH)
    assert outcome.status == "rejected"
    assert {finding.severity for finding in outcome.findings} == {Severity.ERROR}


def test_a_waiver_holds_on_its_last_day_and_never_where_no_day_is_known() -> None:
    board = waiving("limited-run", "*", "2026-06-01")
    assert outcome_of(LIMITED, board, Facts(today=DAY)).status == "accepted"
    assert outcome_of(LIMITED, board).status == "rejected"


def test_a_waiver_handed_in_counts_like_a_declared_one() -> None:
    waiver = Waiver(rule="limited-run", submission="*", reason="a test", who="me", until=DAY)
    assert outcome_of(LIMITED, facts=Facts(today=DAY, waivers=(waiver,))).status == "accepted"


def test_a_waiver_makes_no_number_where_there_is_none() -> None:
    hole = patched({"/results/leaderboard_mmlu_pro": ABSENT})
    nan = patched({"/results/leaderboard_mmlu_pro/acc,none": None})
    for data, rule in ((hole, "missing-task"), (nan, "non-finite-value")):
        outcome = outcome_of(data, waiving(rule, "*"), Facts(today=DAY))
        assert {finding.severity for finding in outcome.findings} <= {Severity.WARNING}
        assert outcome.status == "incomplete"
        assert outcome.row is not None
        assert dict(outcome.row.blocked) == ({} if data is hole else {"leaderboard_mmlu_pro": (rule,)})
        assert outcome.judgement.has_errors  # as of each incomplete row
        entry = outcome.entry()
        assert entry is not None
        assert (entry.verdict, entry.average) == ("incomplete", None)


def test_one_rejected_file_or_one_row_with_a_gap_is_an_error_of_the_whole() -> None:
    other = patched({"/model_name": "acme/atlas-7b"})
    assert not judgement_of({"a.json": base(), "b.json": other}).has_errors
    assert judgement_of({"a.json": base(), "b.json": other | {"config": {"limit": 50.0}}}).has_errors
    hole = judgement_of({"a.json": patched({"/results/leaderboard_mmlu_pro": ABSENT})})
    assert [verdict.status for verdict in hole.verdicts] == ["accepted"]
    assert hole.has_errors


def test_of_a_file_with_nothing_of_the_leaderboard_that_is_said_once() -> None:
    data = patched({"/git_hash": "1c7fb748", "/lm_eval_version": None, "/config/limit": 5, "/config/model_sha": None})
    data["results"] = {"arc_challenge": {"acc_norm,none": 0.4}, "hellaswag": {"acc_norm,none": 0.5}}
    outcome = outcome_of(data)
    assert [(finding.rule, finding.message) for finding in outcome.findings] == [
        (
            "missing-task",
            "the file has none of the 39 subtasks of open-llm-v2: was it measured for another leaderboard?",
        )
    ]
    assert "subtasks of open-llm-v1 are here" in outcome.findings[0].hint
    assert outcome.row is not None
    assert outcome.row.status == "rejected"


def test_a_file_with_a_task_of_the_leaderboard_and_another_metric_says_how_it_was_measured() -> None:
    leaf = "leaderboard_gpqa_diamond"
    data = only(patched({"/config/limit": 5, f"/results/{leaf}": {"exact_match,get-answer": 0.4}}), {leaf})
    outcome = outcome_of(data)
    said = {finding.rule: finding.message for finding in outcome.findings if not finding.task}
    assert said["limited-run"] == "the run was limited to 5 samples of each task (--limit)"
    assert not outcome.measurements.present


def test_a_file_of_a_format_that_is_not_taken_is_told_all_that_is_wrong() -> None:
    log = header()
    log["eval"]["config"] = {"limit": 5}
    verdict = judge(parse_submission("a.json", {"": dumps(log)}), declared())
    assert [finding.rule for finding in verdict.findings] == ["unaccepted-format", "limited-run"]
