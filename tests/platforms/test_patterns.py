"""Patterns of result files match as git and GitHub's `paths` read them."""

from __future__ import annotations

import pytest

from bot.platforms.source import is_wanted


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("**/results_*.json", "results_a.json", True),
        ("**/results_*.json", "acme/b/results_a.json", True),
        ("**/results_*.json", "acme/b/samples_a.jsonl", False),
        ("**/results_*.json", "acme/results_a/b.json", False),
        ("results/*.json", "results/a.json", True),
        ("results/*.json", "results/b/a.json", False),
        ("results/**", "results/b/a.json", True),
        ("./results/*.json", "results/a.json", True),
        ("results", "results/b/a.json", True),
        ("results/", "results/a.json", True),
        ("results", "results2/a.json", False),
        ("a?.json", "ab.json", True),
        ("a?.json", "a/.json", False),
        ("a[bc].json", "ac.json", True),
        ("a[!bc].json", "ac.json", False),
        ("a.json", "aXjson", False),
        ("a[", "a[", True),
        ("**", "any/thing", True),
        ("a.json", "a.json\n", False),
    ],
)
def test_a_pattern_matches_a_path(pattern: str, path: str, wanted: bool) -> None:
    assert is_wanted(path, [pattern]) is wanted


@pytest.mark.parametrize("left_out", ["!acme/atlas/**", "!acme/atlas", "!**/atlas/*.json", "!./acme/atlas/"])
def test_a_pattern_leaves_files_out_wherever_it_stands(left_out: str) -> None:
    for patterns in (["**/*.json", left_out], [left_out, "**/*.json"]):
        assert not is_wanted("acme/atlas/results.json", patterns)
        assert is_wanted("acme/borea/results.json", patterns)
    assert not is_wanted("acme/borea/results.json", [left_out])


def test_one_of_several_patterns_is_enough_and_none_is_not() -> None:
    assert is_wanted("b.json", ["a.json", "b.json"])
    assert not is_wanted("b.json", [])
