"""A file that is scored by a plan is one that no rule finds an error in, and has the scores that judging gives."""

from __future__ import annotations

from datetime import date
from math import inf, nan
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.counts import are_counts, right_answers
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurements, take_measurements
from bot.evaluation.result import LeafResult, Model, Result
from bot.evaluation.rules import RULES
from bot.evaluation.rules.rule import Case, Facts, Rule
from bot.evaluation.rules.stderr_contradicts_samples import all_fit, fits
from bot.evaluation.score_table import score_table
from bot.evaluation.sound_file import sound_scores
from bot.evaluation.submission import Parsed, one_file, parse_submission
from tests.evaluation.joined_rows import MMLU, value
from tests.evaluation.judging import ABSENT, base, base_v1_today, declared, dumps, patched, stderr
from tests.evaluation.rules.example import parse_example
from tests.evaluation.test_shape import CHANGES

FACTS = Facts(today=date(2026, 11, 22))
RESULTS = base()["results"]
NUMBERS = [f"/results/{row}/{key}" for row, numbers in RESULTS.items() for key in numbers if key != "alias"]
NUMBERS += [f"/groups/{row}/{key}" for row, numbers in base()["groups"].items() for key in numbers if key != "alias"]
ODD: list[Any] = [
    0,
    1,
    0.0,
    -0.0,
    1.0,
    0.5,
    0.25,
    1e-300,
    -0.1,
    41.2,
    1e308,
    10**30,
    nan,
    inf,
    "N/A",
    None,
    True,
    [],
    {},
]
AROUND: dict[str, list[Any]] = {
    "/model_name": ["example-org/kestrel-7b-instruct", "kestrel", "", "/data/kestrel", 5, "acme/kestrel-gptq"],
    "/config/model_sha": [ABSENT, None, "main"],
    "/config/model_revision": [ABSENT, "main"],
    "/config/model_dtype": ["float16", "int8", None],
    "/config/model_args": ["pretrained=a/b,load_in_4bit=True", "api_key=sk-0123456789012345678901234", {"a": [1]}],
    "/config/limit": [1, 0.5, 1e9],
    "/chat_template": ["{{ messages }}"],
    "/date": [4.1e9, 1e300, "today", None],
    "/git_hash": ["3fa4fd72", None],
    f"/results/{MMLU}/more,none": [0.5],
    "/results/leaderboard_ifeval/prompt_level_loose_acc,none": [0.1, 0.99, "N/A"],
    "/results/extra": [{"acc,none": 0.5}],
    f"/n-samples/{MMLU}/effective": [12_031, 0, None],
    f"/versions/{MMLU}": [9.0, None],
}
CHANGE = st.sampled_from(NUMBERS).flatmap(lambda place: st.tuples(st.just(place), st.sampled_from(ODD) | st.floats()))
OTHER = st.sampled_from(sorted(AROUND)).flatmap(lambda at: st.tuples(st.just(at), st.sampled_from(AROUND[at])))


def read(changes: dict[str, Any], start: dict[str, Any] | None = None, path: str = "results_x.json") -> Parsed:
    return parse_submission(one_file(path, dumps(patched(changes, start))))


def stored(parsed: Parsed) -> Parsed:
    """The submission as it comes from the state: no plan fits it."""
    return Parsed.from_bytes(parsed.to_bytes())


def is_known_sound(parsed: Parsed, leaderboard: Leaderboard) -> bool:
    """Whether the submission is scored by the plan that a file before it gave, and has the same row as when judged."""
    plain = score_table([stored(parsed)], leaderboard, FACTS)
    scores = sound_scores(parsed, leaderboard, FACTS)
    assert score_table([parsed], leaderboard, FACTS) == plain
    if scores is not None:
        assert not [found for found in judge(stored(parsed), leaderboard, FACTS).findings if found.is_error]
        assert (plain.rows[0].scores, plain.rows[0].status, plain.has_errors) == (scores, "accepted", False)
    return scores is not None


@settings(max_examples=100, deadline=None)
@example([("/results/leaderboard_ifeval/inst_level_strict_acc,none", 2.0)])  # a whole number, and no standard error
@example([("/results/leaderboard_ifeval/inst_level_strict_acc,none", -1.0)])
@given(st.lists(CHANGE | OTHER, max_size=2))
def test_a_plan_says_what_all_rules_say(changes: list[tuple[str, Any]]) -> None:
    board = declared()
    changed = dict(changes)
    others = {place: new for place, new in changed.items() if place not in NUMBERS}
    for first in ({}, others):  # the shape that the changes have, without a change of its numbers
        judge(read(first), board, FACTS)

    is_known_sound(read(changed), board)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 12_032), st.floats(-3e-4, 3e-4))
def test_a_plan_has_the_tolerance_of_the_rules(right: int, off: float) -> None:
    board, share = declared(), right / 12_032
    judge(read({}), board, FACTS)
    error = {f"/results/{MMLU}/acc_stderr,none": stderr(share, 12_032) * (1 + off)}

    parsed = read({f"/results/{MMLU}/acc,none": share} | error)

    assert is_known_sound(parsed, board) == (judge(parsed, board, FACTS).status == "accepted")


@pytest.mark.parametrize("number", [0.25, 0.5, 1.0])
def test_a_file_with_other_sound_numbers_is_known_to_be_sound(number: float) -> None:
    judge(read({}), declared(), FACTS)

    assert is_known_sound(read({**value(number), "/model_name": "acme/heron", "/date": 1.7e9}), declared())


def test_a_file_of_percents_is_held_against_its_unit() -> None:
    board, start = declared("open-llm-v1"), base_v1_today()
    del start["configs"]
    without = replace_family(board)
    start |= {"group_subtasks": {}}
    judge(read({}, start), without, FACTS)
    key = next(key for key in start["results"] if "arc" in key)
    (metric,) = start["results"][key]

    assert not is_known_sound(read({f"/results/{key}/{metric}": 0.123456}, start), without)
    assert is_known_sound(read({"/model_name": "acme/heron"}, start), without)


def replace_family(leaderboard: Leaderboard) -> Leaderboard:
    """The declaration with no word on how MMLU is measured."""
    tasks = tuple(task.model_copy(update={"mmlu_family": None}) for task in leaderboard.tasks)
    return leaderboard.model_copy(update={"tasks": tasks})


def test_a_rule_that_reads_all_leaves_no_plan() -> None:
    board, start = declared("open-llm-v1"), base_v1_today() | {"group_subtasks": {}}
    judge(read({}, start), board, FACTS)

    assert sound_scores(read({"/model_name": "acme/heron"}, start), board, FACTS) is None


def test_files_of_one_row_are_joined_although_each_is_sound() -> None:
    board = declared()
    files = [read({**value(number), "/date": when}, path=f"results_{number}.json") for number, when in
             ((0.25, 1.7e9), (0.5, 1.6e9), (0.75, 1.5e9))]  # fmt: skip
    judge(files[0], board, FACTS)

    table = score_table(files, board, FACTS)

    assert table == score_table(map(stored, files), board, FACTS)
    assert [row.files for row in table.rows] == [("results_0.25.json",)]
    assert table.submissions == 3


@given(st.lists(st.tuples(st.floats() | st.integers(0, 500).map(lambda right: right / 500), st.integers(1, 500))))
def test_many_shares_are_counts_where_each_is(pairs: list[tuple[float, int]]) -> None:
    values, samples = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    assert are_counts(values, samples) == all(right_answers(*pair) is not None for pair in pairs)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats() | st.none() | st.just(0.0), st.integers(2, 9))))
def test_many_errors_fit_where_each_does(rows: list[tuple[float, float | None, int]]) -> None:
    exact = [(share, stderr(share, count) if error is None else error, count) for share, error, count in rows]
    columns = [[row[place] for row in exact] for place in range(3)]

    assert all_fit(*columns) == all(fits(*row) for row in exact)  # type: ignore[arg-type]


EXAMPLES = [part for rule in RULES for part in rule.page.split("\n## ") if part.startswith(("Example", "Use"))]


def results_and_boards() -> list[tuple[Result, Leaderboard]]:
    """What the examples of all rules and the changes of shapes describe."""
    judged = [parse_example(text.partition("\n")[2]) for text in EXAMPLES]
    outcomes = [(one.outcome().result, declared(one.leaderboard)) for one in judged]
    outcomes += [(read(changes).result, declared()) for changes in CHANGES.values()]
    return [(result, board) for result, board in outcomes if result is not None]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.reads == "file"], ids=lambda rule: rule.id)
def test_a_rule_on_the_file_reads_no_leaf(rule: Rule) -> None:
    for result, board in results_and_boards():
        bare = replace(result, leaves={}, groups=(), subtasks={})
        full = Case(result, board, take_measurements(result, board), FACTS, result.date, path="x.json")
        empty = Case(bare, board, Measurements((), ()), FACTS, result.date, path="x.json")
        assert [*rule.check(full)] == [*rule.check(empty)]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.reads == "runs"], ids=lambda rule: rule.id)
def test_a_rule_on_runs_reads_neither_numbers_nor_what_stands_around_them(rule: Rule) -> None:
    for result, board in results_and_boards():
        if any(leaf.samples is None for leaf in result.leaves.values()):
            continue  # of no shape: the numbers of samples are recovered
        case = Case(result, board, take_measurements(result, board), FACTS, result.date, path="x.json")
        other = replace(result, model=Model("a/b"), date=None, settings={}, groups=(), task_hashes={}, malformed=())
        other = replace(other, leaves={key: without_numbers(leaf) for key, leaf in result.leaves.items()})
        changed = Case(other, board, take_measurements(other, board), FACTS)
        assert bool([*rule.check(case)]) == bool([*rule.check(changed)]), result


def without_numbers(leaf: LeafResult) -> LeafResult:
    return replace(leaf, numbers=dict.fromkeys(leaf.numbers, 0.123))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.reads == "all"], ids=lambda rule: rule.id)
def test_a_rule_finds_nothing_on_a_leaderboard_that_it_does_not_concern(rule: Rule) -> None:
    for result, board in results_and_boards():
        if not rule.concerns(board):
            assert not [*rule.check(Case(result, board, take_measurements(result, board), FACTS))]
