"""YAML of strangers is composed within limits, and texts are quoted so that every reader gets them back."""

from __future__ import annotations

import re

import pytest
import yaml

from bot.errors import Unwritable
from bot.publishing.yaml_text import DEEPEST, MOST_NODES, compose, double_quoted, end_of, entries, single_quoted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: \x07", "it holds characters that YAML readers treat differently"),
        ("", "it is empty"),
        ("# only a comment\n", "it is empty"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"it is nested more than {DEEPEST} deep"),
        ("- " * (DEEPEST + 1) + "a", f"it is nested more than {DEEPEST} deep"),
        ("[" * 50 + "[], " + "[" * (DEEPEST - 49) + "]" * (DEEPEST + 1), f"it is nested more than {DEEPEST} deep"),
        ("- [[]]\n" * 9 + "- " + "[" * DEEPEST + "]" * DEEPEST, f"it is nested more than {DEEPEST} deep"),
    ],
)
def test_what_cannot_be_composed_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(Unwritable, match=f"^{re.escape(reason)}$"):
        compose(text)


def test_the_parser_s_own_reason_is_one_line() -> None:
    with pytest.raises(
        Unwritable, match=r"^it is not valid YAML: while parsing a flow sequence in .*, line 1, column 4 "
    ):
        compose("a: [\nb: c")


def test_the_deepest_nesting_is_composed_as_often_as_it_stands_side_by_side() -> None:
    compose("\n".join(f"- {'[' * (DEEPEST - 1)}{']' * (DEEPEST - 1)}" for _ in range(3)))


def aliases(depth: int) -> str:
    """A list of lists that holds `10 ** depth` texts and the lists around them, by aliases."""
    lines = [f"- &a0 [{', '.join('x' * 10)}]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, depth)]
    return "\n".join(lines)


def test_aliases_are_counted_as_often_as_they_are_used() -> None:
    compose(aliases(5))
    with pytest.raises(Unwritable, match=r"^its aliases expand to too many nodes$"):
        compose(aliases(7))


def test_a_long_text_counts_as_often_as_it_is_used() -> None:
    text = f"- &a {'x' * 500_000}\n" + "- *a\n" * 1_000
    with pytest.raises(Unwritable, match=r"^its aliases expand to too many nodes$"):
        compose(text)


def test_as_many_nodes_as_are_allowed_are_composed() -> None:
    most = MOST_NODES // 1_000  # the list of all, and in each of these a list with 999 texts
    inner = f"- &a [{', '.join('x' * 999)}]\n"
    compose(inner + "- *a\n" * (most - 2) + f"- [{', '.join('x' * 998)}]\n")
    with pytest.raises(Unwritable, match="too many nodes"):
        compose(inner + "- *a\n" * (most - 1))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a: x\n", "a: x"),
        ("a: x\n\n# more\n", "a: x"),
        ("a: |\n  x\n\n\nb: 1\n", "a: |\n  x"),
        ("a: >\n  x\n\nb: 1\n", "a: >\n  x"),
        ("a: 'x '\nb: 1\n", "a: 'x '"),
        ("a:\n- x\n- [y, z]\n\nb: 1\n", "a:\n- x\n- [y, z]"),
        ("a: []\nb: 1\n", "a: []"),
    ],
)
def test_a_value_ends_where_its_own_text_ends(text: str, end: str) -> None:
    value = next(value for _, value in entries(compose(text)))
    assert text[: end_of(text, value)] == end


@pytest.mark.parametrize("text", ["plain", 'a "quoted" word', "it's", "back\\slash", '\\"', "''", ""])
def test_a_quoted_text_reads_back(text: str) -> None:
    assert yaml.safe_load(double_quoted(text)) == yaml.safe_load(single_quoted(text)) == text
