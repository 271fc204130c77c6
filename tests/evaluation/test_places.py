"""Places: what they name in a file, how they are spelled, and what is refused."""

from __future__ import annotations

import pytest

from bot.errors import MalformedResult
from bot.evaluation.places import Match, Visits, key_text, parse_place, parse_text

FILE = {
    "results": {"retail": {"pass_1": 57.5, "n": 3}, "airline": {"pass_1": 46.0, "n": 5}},
    "runs": [{"name": "a b", "score": 1}, {"name": "c", "score": 2}],
    "gpt-4.1": {"x": 1},
    "3": "three",
}
WHOLE = Match(FILE, "", {}, None)


def found(place: str, value: object = FILE, names: dict[str, str] | None = None) -> list[tuple[object, str]]:
    whole = Match(value, "", names or {}, None)
    return [(one.value, one.where) for one in parse_place(place).find(whole, whole, Visits())]


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("results.retail.pass_1", [(57.5, "/results/retail/pass_1")]),
        ("results.{domain}.pass_{k}", [(57.5, "/results/retail/pass_1"), (46.0, "/results/airline/pass_1")]),
        ("results.*.n", [(3, "/results/retail/n"), (5, "/results/airline/n")]),
        ("results.*.p*1", [(57.5, "/results/retail/pass_1"), (46.0, "/results/airline/pass_1")]),
        ("runs[*].score", [(1, "/runs/0/score"), (2, "/runs/1/score")]),
        ("runs[1].score", [(2, "/runs/1/score")]),
        ("runs.1.score", [(2, "/runs/1/score")]),
        ("runs[-1].score", [(2, "/runs/1/score")]),
        ("runs[-2].score", [(1, "/runs/0/score")]),
        ("runs[-3].score", []),
        ("runs[name=a b].score", [(1, "/runs/0/score")]),
        ('runs[name="c"].score', [(2, "/runs/1/score")]),
        ('"gpt-4.1".x', [(1, "/gpt-4.1/x")]),
        ("3", [("three", "/3")]),
        ("/results.retail.n?", [(3, "/results/retail/n")]),
        ("results.nowhere", []),
        ("runs[9]", []),
        ("results[*].n", []),
        ("results[{domain}].n", []),
        ("[3]", []),
        ("results.retail.n.deeper", []),
    ],
)
def test_a_place_names_this(place: str, values: list[tuple[object, str]]) -> None:
    assert found(place) == values


def test_names_are_remembered_and_lead_on() -> None:
    (first, second) = parse_place("results.{domain}.pass_{k}").find(WHOLE, WHOLE, Visits())
    assert first.names == {"domain": "retail", "k": "1"}
    counts = parse_place("results.{domain}.n").find(WHOLE, WHOLE, Visits(), second.names)
    assert [one.value for one in counts] == [5]


def test_a_text_takes_what_is_remembered_what_is_beside_and_what_is_in_the_file() -> None:
    match = parse_place("runs[{i}].score").find(WHOLE, WHOLE, Visits())[0]
    text = parse_text("{i} {.name} {..3} {/results.retail.n}")
    assert text.fill(match, WHOLE, Visits()) == ("0 a b three 3", "")
    assert parse_text("{.nothing}").fill(match, WHOLE, Visits()) == ("", "{.nothing}")


def test_a_key_that_reads_in_two_ways_is_not_read() -> None:
    with pytest.raises(MalformedResult, match="two ways"):
        found("{model}_{k}", {"gpt_4_1": 1})


@pytest.mark.parametrize(
    "text", ["", "a.", "a..b", ".a", "{x", "x}", "a{x}{y}", "[x", "a[1]b", "{a-b}", "{a}.{a}", "a." * 30 + "a"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"place|name|brace"):
        parse_place(text)


@pytest.mark.parametrize(
    "key", ["plain", "with space", "gpt-4.1", 'quo"te', "back\\slash", "[x]", "{y}", "a*b", "7", "/x", "is it?"]
)
def test_any_key_can_be_written(key: str) -> None:
    assert found(key_text(key), {key: 1, "other": 2}) == [(1, "/" + key.replace("/", "~1"))]
