"""What a submitter reads: findings word for word, where they point, and which subtasks they are about.

`findings.toml` beside the cases of a rule has those of its page's example, and of cases where it says another thing.
`leaves` are all of them where they are few, else the first, the last and how many.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bot.evaluation.finding import Finding
from bot.evaluation.rules import ALL_RULES
from bot.evaluation.rules.rule import Rule
from tests.evaluation.rules.example import Example, parse_example
from tests.evaluation.rules.test_pages import parts

CASES = Path(__file__).parent / "cases"


def example_of(rule: Rule, name: str) -> Example:
    """The example of a rule's page, or the case of that name."""
    if name == "example":
        return parse_example(parts(rule)["Example"])
    lines = (CASES / rule.id / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return parse_example("\n".join(line for line in lines if not line.startswith("#")))


def told(finding: Finding) -> dict[str, str]:
    """A finding as the files have it: without what is empty."""
    leaves = finding.leaves
    brief = " ".join(leaves) if len(leaves) < 4 else f"{leaves[0]} … {leaves[-1]} ({len(leaves)})"
    found = {"message": finding.message, "hint": finding.hint, "at": finding.location.pointer}
    found |= {"task": finding.task, "leaves": brief, "command": finding.command}
    return {name: text for name, text in found.items() if text}


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_a_rule_says_this(rule: Rule) -> None:
    wanted = tomllib.loads((CASES / rule.id / "findings.toml").read_text(encoding="utf-8"))
    assert "example" in wanted
    for name, findings in wanted.items():
        found = example_of(rule, name).outcome().findings
        assert [told(one) for one in found if one.rule == rule.id] == findings, name


def test_values_under_other_names_are_not_those_of_another_leaderboard() -> None:
    rule = next(one for one in ALL_RULES if one.id == "missing-task")
    found = example_of(rule, "fires-every-other-filter").outcome().findings
    assert not any("another leaderboard" in one.message for one in found)
