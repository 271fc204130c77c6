"""Every rule's page: its example trips this rule and no other, and what to use instead trips none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.evaluation.finding import Severity
from bot.evaluation.rules import ALL_RULES, ROW_RULES, RULES, SAMPLE_RULES
from bot.evaluation.rules.rule import Rule
from tests.evaluation.judging import ROOT, base, base_v1, outcome_of, rules_of
from tests.evaluation.rules.example import parse_example, sound

HEADINGS = ["What it does", "Why is this bad?", "When it is wrong", "Example", "A sound run writes"]
HELPERS = {"__init__", "rule", "rerun", "advised_version", "harness_commit", "samples"}
named = pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)


def parts(rule: Rule) -> dict[str, str]:
    _, *rest = re.split(r"^## (.+)$", rule.page, flags=re.MULTILINE)
    return dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))


def test_the_sound_files_trip_no_rule() -> None:
    assert rules_of(outcome_of(base())) == set()
    assert rules_of(outcome_of(base_v1(), "open-llm-v1")) == set()


def test_every_module_of_a_rule_is_listed_once() -> None:
    modules = {path.stem for path in (ROOT / "bot" / "evaluation" / "rules").glob("*.py")} - HELPERS
    alone = [rule.id for rule in ALL_RULES if rule not in SAMPLE_RULES]
    assert sorted(alone) == sorted(name.replace("_", "-") for name in modules)
    assert [rule.id for rule in ALL_RULES][1:] == [rule.id for rule in (*RULES, *ROW_RULES)]


@named
def test_a_page_has_a_title_and_its_headings_in_order(rule: Rule) -> None:
    title, blank, *_ = rule.page.splitlines()
    assert title.endswith(".")
    assert rule.title == title
    assert blank == ""
    assert list(parts(rule)) == HEADINGS
    assert all(parts(rule).values())
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)


@named
def test_an_example_trips_its_rule_and_no_other_with_a_complete_finding(rule: Rule) -> None:
    example = parse_example(parts(rule)["Example"])
    before = rules_of(sound(example).outcome())
    assert before <= {rule.id, "not-comparable"}  # what a leaderboard of 2023 says of any run of today
    # A revision tells models apart, and a file without scores has no task.
    besides = {"indistinct-models": {"unpinned-revision"}, "nothing-scored": {"missing-task"}}.get(rule.id, set())
    outcome = example.outcome()
    assert rules_of(outcome) == before | {rule.id} | besides

    finding = next(found for found in outcome.findings if found.rule == rule.id)
    assert finding.severity is rule.severity
    assert finding.message
    assert "\n" not in finding.message + finding.hint
    assert finding.hint
    assert finding.location.path.rpartition("/")[2] in {"results_x.json", "results_sound.json"}
    assert finding.location.line > 0 or not finding.location.pointer
    assert finding.url.endswith(f"docs/rules.md#{rule.id}")


def test_an_error_of_a_row_rejects_it_and_a_missing_task_leaves_it_incomplete() -> None:
    errors = [rule for rule in ROW_RULES if rule.severity is Severity.ERROR]
    rows = {rule.id: parse_example(parts(rule)["Example"]).outcome().row for rule in errors}
    found = {name: row.status for name, row in rows.items() if row is not None}
    assert found == {"missing-task": "incomplete", "mixed-reducers": "rejected", "indistinct-models": "rejected"}


def test_only_a_rule_about_what_is_not_shown_is_a_pin() -> None:
    pins = {"unpinned-revision", "unverifiable-harness-commit", "unverifiable-pin"}
    assert {rule.id for rule in ALL_RULES if rule.is_pin} == pins


def test_an_error_leaves_no_number_but_where_the_numbers_are_not_its_subject() -> None:
    errors = {rule.id for rule in ALL_RULES if rule.severity is Severity.ERROR}
    keeping = {"contradicts-itself", "malformed-field", "misread-place", "quoted-result", "secret-in-file",
               "spelled-otherwise", "stderr-contradicts-samples", "unidentified-model", "wrong-owner"}  # fmt: skip
    assert {rule.id for rule in ALL_RULES if rule.invalidates_score} == errors - keeping


@named
def test_what_to_use_instead_does_not_trip_the_rule(rule: Rule) -> None:
    assert rules_of(parse_example(parts(rule)["A sound run writes"]).outcome()) == set()


def cases() -> list[Path]:
    return sorted((Path(__file__).parent / "cases").glob("*/*.txt"))


@pytest.mark.parametrize("case", cases(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_case_trips_its_rule_or_does_not(case: Path) -> None:
    rule, kind = case.parent.name, case.stem.partition("-")[0]
    assert kind in {"fires", "clean"}
    lines = [line for line in case.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    outcome = parse_example("\n".join(lines)).outcome()
    assert (rule in rules_of(outcome)) == (kind == "fires")
    assert not [
        found.message for found in outcome.findings if found.message.startswith(f"the rule {found.rule} failed")
    ]


def test_every_rule_has_cases_of_both_kinds() -> None:
    kinds = {(path.parent.name, path.stem.partition("-")[0]) for path in cases()}
    assert kinds == {(rule.id, kind) for rule in ALL_RULES for kind in ("fires", "clean")}
