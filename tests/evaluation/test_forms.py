"""Forms: result files whose layout is data, from the text of a declaration to the numbers of a row."""

from __future__ import annotations

import json
import time
from math import sqrt
from typing import Any

import pytest

from bot.errors import MalformedDeclaration
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.submission import Parsed, parse_submission
from bot.evaluation.verdict import Judgement

TASK = """
[[tasks]]
id = "retail"
title = "Retail"
unit = "percent"
metrics = [{ name = "pass^1", integral = false }]
leaves = [{ id = "retail" }]
"""
FORM = """
title = "Acme"
description = "Agents in shops."

[[formats]]
id = "acme"
model = "model_name"
revision = "sha"
settings = ["agent"]
[[formats.values]]
value = "results.{domain}.pass_{k}"
leaf = "{domain}"
metric = "pass^{k}"
unit = "percent"
samples = "results.{domain}.n"
"""
FILE = {
    "model_name": "acme/atlas",
    "sha": "a" * 40,
    "agent": "react",
    "results": {"retail": {"pass_1": 57.5, "pass_2": 46.0, "n": 40}},
}


def declared(text: str) -> Leaderboard:
    return parse_leaderboard(text, "acme", "acme.toml")


def one_form(values: str, form: str = "", task: str = TASK) -> Leaderboard:
    head = 'title = "T"\ndescription = "D"\n[[formats]]\nid = "own"\n'
    return declared(f"{head}{form}\n[[formats.values]]\n{values}\n{task}")


def parse(board: Leaderboard, value: Any, path: str = "results.json") -> Parsed:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parse_submission(path, {"": data}, forms=[form.format for form in board.formats])


def judged(board: Leaderboard, value: Any, path: str = "results.json") -> Judgement:
    return judge_all(parse(board, value, path).parts, board)


def numbers(parsed: Parsed) -> dict[str, dict[str, Any]]:
    assert parsed.result is not None, parsed.problem
    leaves = parsed.result.leaves.items()
    return {name: {key: one for key, one in leaf.numbers.items() if "_stderr" not in key} for name, leaf in leaves}


def faults(judgement: Judgement) -> list[tuple[str, str, str]]:
    every = [one for verdict in judgement.verdicts for one in verdict.findings]
    return [(one.rule, one.location.pointer, one.message) for one in every if one.rule.endswith("-place")]


def test_a_form_reads_model_settings_and_numbers() -> None:
    result = parse(declared(FORM + TASK), FILE).result
    assert result is not None
    assert (result.format, result.model.id, result.model.revision) == ("acme", "acme/atlas", "a" * 40)
    assert result.settings == {"agent": "react"}
    leaf = result.leaves["retail"]
    assert (leaf.numbers, leaf.samples) == ({"pass^1": 57.5, "pass^2": 46.0}, 40)
    assert result.pointer_to("value", "retail", "pass^1") == "/results/retail/pass_1"


def test_a_file_of_a_form_makes_a_row() -> None:
    (row,) = judged(declared(FORM + TASK), FILE).rows
    assert row.scores.tasks[0].raw == 57.5
    assert [one for one in row.findings if one.is_error] == []


def test_the_declaration_keeps_its_form() -> None:
    board = declared(FORM + TASK)
    again = declared(board.text)
    assert again.digest == board.digest
    assert again.formats == board.formats
    assert board.harness.formats == ("acme",)


def test_another_form_makes_other_scores() -> None:
    changed = FORM.replace('"sha"', '"commit"')
    assert declared(FORM + TASK).scoring_digest != declared(changed + TASK).scoring_digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_name": None}, None),
        ({"results": {"retail": {"pass_1": 575, "pass_2": 46, "n": 40}}}, "has 575, which is no percent"),
        ({"results": {"retail": {"pass_1": 10**29, "pass_2": 46, "n": 40}}}, f"has 1{'0' * 29}, which is no percent"),
        (
            {"results": {"retail": {"pass_1": -1, "pass_2": 46, "n": 40}}},
            "which stands for a value that was not measured",
        ),
        (
            {"results": {"retail": {"pass_1": "57.5 or so", "pass_2": 46, "n": 40}}},
            "has 57.5 or so, which is not one number",
        ),
        ({"results": {"retail": {"pass_1": 0.575, "n": 40}}}, "is the unit fraction?"),
        ({"results": {"retail": {"pass_1": 57.5}}}, "the place results.{domain}.n is not there"),
    ],
)
def test_what_a_place_does_not_give_is_said_with_file_and_place(change: dict[str, Any], message: str | None) -> None:
    found = faults(judged(declared(FORM + TASK), FILE | change))
    if message is None:
        assert found == []  # null is no name, which `unidentified-model` says
    else:
        assert len(found) == 1
        assert message in found[0][2]


def test_percentages_of_one_line_that_are_all_small_are_doubted_beside_larger_ones() -> None:
    names = ("tables", "charts", "text")
    values = "\n".join(f'[[formats.values]]\nvalue = "{name}"\nleaf = "{name}"\nunit = "percent"' for name in names)
    board = one_form(values.removeprefix("[[formats.values]]\n"), 'files = "*.csv"\nmodel = "m"')
    lines = b"m,tables,charts,text\na/b,91.2,40,88\nc/d,0.912,0.701,0.88\n"
    first, second = (one.result for one in parse(board, lines, "board.csv").parts)
    assert first is not None
    assert second is not None
    assert first.misread == ()
    assert [one.why for one in second.misread] == ["gives 3 numbers, none above 1: is the unit fraction?"] * 3


@pytest.mark.parametrize(
    ("text", "number"),
    [("88.71%", 88.71), ("<b>12.7</b>", 12.7), ("**3**", 3.0), ("0,85", 0.85), ("1,234.5", 1234.5), ("7 ms", 7.0),
     ("$0.05", 0.05), ("\N{MINUS SIGN}2", -2.0), ("1e-2", 0.01)],
)  # fmt: skip
def test_a_text_that_is_one_number_is_that_number(text: str, number: float) -> None:
    board = one_form('value = "v"\nleaf = "a"\nunit = "plain"', 'model = "m"')
    assert numbers(parse(board, {"m": "a/b", "v": text})) == {"a": {"score": number}}


@pytest.mark.parametrize("text", ["1,234", "5 of 7", "57.5 ± 1.2", "about 3", "1.2.3"])
def test_a_text_that_may_be_several_numbers_is_none(text: str) -> None:
    board = one_form(
        'value = "v"\nleaf = "a"\nunit = "plain"\n[[formats.values]]\nvalue = "w"\nleaf = "b"', 'model = "m"'
    )
    judgement = judged(board, {"m": "a/b", "v": text, "w": 0.5})
    assert [rule for rule, _, _ in faults(judgement)] == ["misread-place"]


def test_a_number_that_is_no_percent_is_not_missing_too_and_asks_for_no_file_of_a_harness() -> None:
    first = 'value = "v"\nleaf = "retail"\nmetric = "pass^1"\nunit = "percent"'
    board = one_form(f'{first}\n[[formats.values]]\nvalue = "w"\nleaf = "b"', 'model = "m"')
    judgement = judged(board, {"m": "x/y", "v": 190, "w": 0.5})
    found = {one.rule for some in (*judgement.verdicts, *judgement.rows) for one in some.findings}
    assert "misread-place" in found
    assert "missing-task" not in found
    (gap,) = judged(board, {"m": "x/y", "w": 0.5}).rows
    (missing,) = [one for one in gap.findings if one.rule == "missing-task"]
    assert (missing.message, missing.hint) == (
        "the file does not have the only subtask of T", "add the numbers of retail to the file"
    )  # fmt: skip
    problem = parse(board, {"m": "x/y", "v": 190}).problem
    assert problem is not None
    assert problem.hint.startswith("mend the file")


@pytest.mark.parametrize("gap", [None, "", "-", "N/A", "null", "—"])
def test_a_gap_is_no_value_and_no_fault(gap: Any) -> None:
    board = one_form('value = "v"\nleaf = "a"\n[[formats.values]]\nvalue = "w"\nleaf = "b"', 'model = "m"')
    parsed = parse(board, {"m": "a/b", "v": gap, "w": 0.5})
    assert numbers(parsed) == {"b": {"score": 0.5}}
    assert parsed.result is not None
    assert parsed.result.misread == ()


def test_counts_give_a_value_with_its_samples_and_are_held_against_the_value_beside_them() -> None:
    board = one_form('right = "right"\nof = "total"\nvalue = "accuracy"\nleaf = "a"\nmetric = "acc"', 'model = "m"')
    result = parse(board, {"m": "a/b", "right": 3, "total": 4, "accuracy": 0.75}).result
    assert result is not None
    assert (result.leaves["a"].numbers, result.leaves["a"].samples) == ({"acc": 0.75, "acc_stderr": 0.25}, 4)
    result = parse(board, {"m": "a/b", "right": 3, "total": 4, "accuracy": 0.8}).result
    assert result is not None
    assert result.leaves["a"].contradicted == {"acc": "accuracy beside its counts is 0.8"}
    problem = parse(board, {"m": "a/b", "right": 5, "total": 4, "accuracy": 1}).problem
    assert problem is not None
    assert "gives 5 of 4, which is no part of a whole" in problem.why


@pytest.mark.parametrize(
    ("number", "why"), [(-3, "no count"), (2.5, "no count"), ("7.25", "no count"), (-1, "leave it")]
)
def test_a_count_is_whole_and_not_below_zero(number: float | str, why: str) -> None:
    board = one_form('value = "n"\nleaf = "a"\nunit = "count"', 'model = "m"')
    assert [numbers(parse(board, {"m": "a/b", "n": one})) for one in (0, "1,250,000", 999)] == [
        {"a": {"score": one}} for one in (0, 1_250_000, 999)
    ]
    problem = parse(board, {"m": "a/b", "n": number}).problem
    assert problem is not None
    assert why in problem.why


@pytest.mark.parametrize(
    ("value", "has_error"),
    [
        ('value = "v"\nleaf = "accuracy"', True),
        ('value = "v"\nleaf = "a"\nmetric = "exact_match"', True),
        ('value = "v"\nleaf = "a"\nmetric = "pass@1"', False),  # of several answers to each question
        ('value = "v"\nleaf = "a"\nmetric = "f1"', False),
        ('value = "v"\nleaf = "accuracy"\ninterval = "ci"', False),  # the file's own
    ],
)
def test_a_share_of_right_answers_among_so_many_has_a_standard_error(value: str, *, has_error: bool) -> None:
    """Rounded shares, too, which are no whole number of right answers."""
    board = one_form(f'{value}\nunit = "percent"\nsamples = "n"', 'model = "m"')
    result = parse(board, {"m": "a/b", "v": 84.17, "n": 120, "ci": None}).result
    assert result is not None
    (leaf,) = result.leaves.values()
    errors = [one for key, one in leaf.numbers.items() if key.endswith("_stderr")]
    assert errors == ([pytest.approx(100 * sqrt(0.8417 * 0.1583 / 119))] if has_error else [])


def test_lists_of_solved_ids_give_a_value() -> None:
    values = 'solved = "resolved"\nof = "asked"\nleaf = "verified"\nmetric = "resolved"\nunit = "percent"'
    board = one_form(values, 'model = "m"')
    asked = [f"t{number}" for number in range(8)]
    parsed = parse(board, {"m": "a/b", "resolved": ["t1", "t2"], "asked": asked})
    assert numbers(parsed) == {"verified": {"resolved": 25.0}}
    assert parsed.result is not None
    assert parsed.result.leaves["verified"].samples == 8
    for resolved, why in (
        (["t1", "t1"], "an id twice"),
        (["t1", "x"], "lists x, which was not asked"),
        (3, "not a list"),
    ):
        problem = parse(board, {"m": "a/b", "resolved": resolved, "asked": asked}).problem
        assert problem is not None
        assert why in problem.why
    fixed = one_form(values.replace('of = "asked"', "of = 500"), 'model = "m"')
    assert numbers(parse(fixed, {"m": "a/b", "resolved": ["x"]})) == {"verified": {"resolved": 0.2}}


@pytest.mark.parametrize(
    ("reduce", "value"),
    [("mean", 4 / 8), ("pass@1", 0.5), ("pass@2", (1 - 1 / 6 + 1 - 1 / 6) / 2), ("pass^2", (1 / 6 + 1 / 6) / 2)],
)
def test_trials_are_reduced_without_bias(reduce: str, value: float) -> None:
    board = one_form(f'trials = "tasks.{{task}}"\nreduce = "{reduce}"\nleaf = "all"', 'model = "m"')
    file = {"m": "a/b", "tasks": {"one": [1, 0, 1, 0], "two": [True, "fail", "pass", False]}}
    result = parse(board, file).result
    assert result is not None
    leaf = result.leaves["all"]
    metric = "score" if reduce == "mean" else reduce
    assert leaf.numbers[metric] == pytest.approx(value, abs=1e-15)
    assert (leaf.samples, leaf.epochs) == (2, 4)


def test_the_counts_of_several_runs_have_a_mean() -> None:
    values = 'right = "runs[*].ok"\nof = "n"\nreduce = "mean"\nleaf = "all"\nunit = "percent"'
    result = parse(one_form(values, 'model = "m"'), {"m": "a/b", "n": 40, "runs": [{"ok": 10}, {"ok": 30}]}).result
    assert result is not None
    leaf = result.leaves["all"]
    error = 100 * (0.25 * 0.75 / 39) ** 0.5
    assert leaf.numbers == {"score": 50.0, "score_stderr": pytest.approx(error)}
    assert (leaf.samples, leaf.epochs) == (40, 2)
    uneven = one_form(values.replace('"n"', '"runs.{k}.n"').replace("[*]", ".{k}"), 'model = "m"')
    problem = parse(uneven, {"m": "a/b", "runs": [{"ok": 1, "n": 4}, {"ok": 3, "n": 5}]}).problem
    assert problem is not None
    assert "counts runs of 4, 5 questions" in problem.why
    with pytest.raises(MalformedDeclaration, match="have a mean alone"):
        one_form(values.replace('"mean"', '"pass@1"'), 'model = "m"')


def test_an_answer_that_stands_twice_is_a_fault_which_names_question_run_and_lines() -> None:
    values = 'trials = "ok"\nquestion = "{.q}"\nleaf = "all"'
    board = one_form(values, 'files = "*.csv"\nmodel = "m"')
    lines = "m,q,seed,ok\n" + "".join(f"a/b,q{number},{seed},1\n" for number in range(6) for seed in (1, 2))
    assert numbers(parse(board, lines.encode(), "board.csv"))["all"]["score"] == 1.0
    problem = parse(board, (lines + "\na/b,q3,2,0\n").encode(), "board.csv").problem
    assert problem is not None
    assert "ok has question q3 of run 2 twice, at line 9 and line 15" in problem.why
    unnumbered = "m,q,ok\n" + "".join(f"a/b,q{number},1\n" for number in range(6))
    problem = parse(board, (unnumbered + "a/b,q3,1\n").encode(), "board.csv").problem
    assert problem is not None
    assert "has question q3 twice, at line 5 and line 8" in problem.why
    result = parse(board, (unnumbered + "a/b,q3,0\n").encode(), "board.csv").result  # another answer may be a run
    assert result is not None
    assert "up to 2 of others, such as q3 (line 8)" in result.misread[0].why


def test_a_csv_file_that_ends_in_the_middle_of_a_line_is_truncated() -> None:
    board = one_form('value = "score"\nleaf = "all"', 'files = "*.csv"\nmodel = "m"')
    problem = parse(board, b"m,part,score\na/b,x,0.5\na/c,y,0.25\na/d,z", "board.csv").problem
    assert problem is not None
    assert "is truncated: its last line, 4, ends after 2 of 3 cells" in problem.why


def test_single_trials_are_of_the_question_that_the_form_names() -> None:
    lines = b"\n".join(
        json.dumps({"task": task, "ok": ok}).encode() for task, ok in (("a", 1), ("a", 0), ("b", 1), ("b", 1))
    )
    values = 'trials = "[*].ok"\nquestion = "{.task}"\nreduce = "pass^2"\nleaf = "all"'
    board = one_form(values, 'rows = "/"\nfiles = "runs/{org}__{name}.jsonl"\nmodel = "{org}/{name}"')
    parsed = parse(board, lines, "runs/acme__atlas.jsonl")
    assert numbers(parsed)["all"]["pass^2"] == 0.5
    assert parsed.result is not None
    assert parsed.result.model.id == "acme/atlas"


def test_the_trials_of_all_rows_of_a_model_are_one_number() -> None:
    values = 'trials = "ok"\nquestion = "{.task}"\nleaf = "{.part}"\nunit = "percent"'
    board = one_form(values, 'files = "*.csv"\nmodel = "m"')
    lines = b"m,task,part,ok\na/b,q1,x,True\nc/d,q1,x,False\na/b,q1,x,False\na/b,q2,x,True\na/b,q3,y,1\nc/d,q2,x,0.5\n"
    first, second = parse(board, lines, "board.csv").parts
    assert numbers(first)["x"]["score"] == 75.0
    assert numbers(first)["y"] == {"score": 100.0}
    assert first.result is not None
    assert (first.result.leaves["x"].samples, first.result.leaves["x"].epochs) == (2, 1)
    assert numbers(second)["x"]["score"] == 25.0
    spoiled = parse(board, lines + b"a/b,q4,x,maybe\n", "board.csv").parts
    assert numbers(spoiled[0]) == {}
    assert numbers(spoiled[1])["x"]["score"] == 25.0


@pytest.mark.parametrize(
    ("outcomes", "value", "samples"),
    [
        ('{ Ungraded = "gap" }', 1 / 3, 4),
        ("{ ungraded = 0, partly = 0.5 }", 1 / 4, 4),
        ('{ ungraded = "gap", error = "gap" }', 1 / 2, 4),
        ('{ ungraded = "gap", fail = 1, pass = 0, error = 0 }', 1 / 3, 4),
    ],
)
def test_a_form_says_what_an_answer_counts_that_is_neither_right_nor_wrong(
    outcomes: str, value: float, samples: int
) -> None:
    """A question whose answer is left out was asked all the same: its number of samples is that of the others."""
    board = one_form(f'trials = "verdict"\noutcomes = {outcomes}\nleaf = "all"', 'files = "*.csv"\nmodel = "m"')
    file = b"m,verdict\na/b,pass\na/b,fail\na/b,ungraded\na/b,error\n"
    result = parse(board, file, "board.csv").result
    assert result is not None
    assert result.leaves["all"].numbers["score"] == pytest.approx(value)
    assert result.leaves["all"].samples == samples
    other = parse(board, file + b"a/b,maybe\n", "board.csv")
    assert "maybe, which is no outcome of a trial" in (other.problem.why if other.problem else "")


def test_each_question_counts_once_however_often_it_was_run() -> None:
    values = 'trials = "runs.{q}[*].ok"\nleaf = "all"'
    file = {"m": "a/b", "runs": {"q1": [{"ok": 1}, {"ok": 0}, {"ok": 0}], "q2": [{"ok": 1}]}}
    for said in (values, f'{values}\nquestion = "{{q}}"'):
        result = parse(one_form(said, 'model = "m"'), file).result
        assert result is not None
        assert result.leaves["all"].numbers["score"] == pytest.approx((1 / 3 + 1) / 2)
        (unequal,) = result.misread
        assert unequal.why.startswith("has 1 trial of some questions and up to 3 of others, such as q1 (/runs/q1/1/ok)")
        assert not unequal.is_error
        assert "runs[-1]" in unequal.hint
    last = parse(one_form(values.replace("[*]", "[-1]"), 'model = "m"'), file).result
    assert last is not None
    assert (last.leaves["all"].numbers["score"], last.misread) == (0.5, ())
    pooled = parse(one_form(values.replace("{q}", "*"), 'model = "m"'), file).result
    assert pooled is not None
    assert pooled.leaves["all"].numbers["score"] == 0.5  # each run is a question of its own


def test_the_answers_to_twelve_thousand_questions_are_one_measurement() -> None:
    board = one_form('trials = "ok"\nleaf = "all"', 'files = "*.csv"\nmodel = "m"')
    data = b"m,ok\n" + b"a/b,1\na/b,0\na/b,1\n" * 4_000
    (part,) = parse(board, data, "board.csv").parts
    assert numbers(part)["all"]["score"] == pytest.approx(2 / 3)
    many = b"m,ok\n" + b"".join(b"a/b%d,1\n" % number for number in range(10_001))
    problem = parse(board, many, "board.csv").problem
    assert problem is not None
    assert "more than 10,000 measurements" in problem.why


LINES = """m,task,acc,n
a/b,gsm8k,71.5%,200
a/b,arc,"60,5",100
c/d,gsm8k,30,200
"""


def test_a_file_may_have_the_measurements_of_several_models() -> None:
    values = 'value = "acc"\nleaf = "{.task}"\nmetric = "acc"\nunit = "percent"\nsamples = "n"'
    board = one_form(values, 'files = "*.csv"\nmodel = "m"')
    parsed = parse(board, LINES.encode(), "board.csv")
    first, second = parsed.parts
    assert (first.path, second.path) == ("board.csv", "board.csv#2")
    assert numbers(first) == {"gsm8k": {"acc": 71.5}, "arc": {"acc": 60.5}}
    assert numbers(second) == {"gsm8k": {"acc": 30.0}}
    longer = parse(board, LINES.encode() + b"e/f,gsm8k,12,200\n", "board.csv")
    assert [one.sha256 for one in longer.parts][:2] == [first.sha256, second.sha256]
    assert Parsed.from_bytes(parsed.to_bytes()).parts == parsed.parts


def test_objects_by_model_are_rows_too() -> None:
    board = one_form('value = "{task}"\nleaf = "{task}"', 'rows = "{model}"\nmodel = "{model}"')
    first, second = parse(board, {"a/b": {"x": 0.5}, "c/d": {"x": 0.25}}).parts
    assert (numbers(first), numbers(second)) == ({"x": {"score": 0.5}}, {"x": {"score": 0.25}})


def test_yaml_is_read_without_aliases() -> None:
    board = one_form('value = "scores.{task}"\nleaf = "{task}"', 'files = "*.yaml"\nmodel = "model"')
    assert numbers(parse(board, b"model: a/b\nscores:\n  x: 0.5\n", "a.yaml")) == {"x": {"score": 0.5}}
    for text, why in ((b"a: &x [1]\nscores: *x\n", "aliases"), (b"[" * 500, "levels deep"), (b"{a: ]", "not YAML")):
        problem = parse(board, text, "a.yaml").problem
        assert problem is not None
        assert why in problem.why


def test_a_percentage_is_no_fraction() -> None:
    board = one_form('value = "acc"\nleaf = "a"', 'model = "m"')
    problem = parse(board, {"m": "a/b", "acc": "0.5%"}).problem
    assert problem is not None
    assert 'acc has 0.5%, which is a percentage: write unit = "percent"' in problem.why


@pytest.mark.parametrize(
    "values",
    [
        'value = "scores.{task}"\nleaf = "{task}"',
        'value = "one"\nleaf = "a"\n[[formats.values]]\nvalue = "scores.b"\nleaf = "b"',
    ],
)
def test_a_number_that_cannot_be_read_is_not_missing_besides(values: str) -> None:
    task = '[[tasks]]\nid = "{0}"\ntitle = "{0}"\nmetrics = [{{ name = "score" }}]\nleaves = [{{ id = "{0}" }}]\n'
    tasks = "".join(map(task.format, "abc"))
    board = one_form(values, 'model = "m"', tasks)
    [row] = judged(board, {"m": "a/b", "one": 62.0, "scores": {"a": 62.0, "b": 0.5}}).rows
    assert [one.message for one in row.findings if one.rule == "missing-task"] == ["c is missing"]


def test_one_value_in_two_places_is_a_fault() -> None:
    board = one_form('value = "runs[*].acc"\nleaf = "a"', 'model = "m"')
    found = faults(judged(board, {"m": "a/b", "runs": [{"acc": 0.5}, {"acc": 0.6}]}))
    assert found == [
        (
            "misread-place",
            "/runs/1/acc",
            "the place runs[*].acc gives score of a twice, at /runs/0/acc and at /runs/1/acc",
        )
    ]


def test_a_file_that_no_form_reads_is_told_what_it_lacks() -> None:
    board = one_form('value = "x.score"\nleaf = "a"', 'has = ["model_name", "x"]\nmodel = "model_name"')
    problem = parse(board, {"x": {"score": 0.5}}).problem
    assert problem is not None
    assert "the form own does not read it: it has nothing at model_name" in problem.why


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        ("", 'value = "a..b"\nleaf = "x"', "no place"),
        ("", 'value = "a"\nleaf = "{task}"', "which no place remembers"),
        ("", 'right = "a"\nleaf = "x"', "right needs of"),
        ("", 'value = "a"\nof = 3\nleaf = "x"', "of goes with right or solved"),
        ("", 'right = "a"\nof = 9\nunit = "count"\nleaf = "x"', 'unit = "count" goes with value'),
        ("", 'trials = "a"\nreduce = "best"\nleaf = "x"', "write mean, pass@k or pass^k"),
        ("", 'trials = "a"\noutcomes = { maybe = 2 }\nleaf = "x"', "outcomes.maybe: write a number from 0 to 1"),
        ("", 'value = "a"\noutcomes = { maybe = 1 }\nleaf = "x"', "outcomes goes with trials"),
        ("", 'trials = "a"\nreduce = "pass@2"\nmetric = "pass@1"\nleaf = "x"', "is not what reduce"),
        ("", 'value = "a"\nsamples = "b.{x}"\nleaf = "x"', "does not remember"),
        ('files = "{a}/{a}.json"', 'value = "a"\nleaf = "x"', "each name once"),
        ("", 'value = "a"\nleaf = "x"\nunits = "percent"', "is not a known key"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_with_its_key(form: str, values: str, message: str) -> None:
    with pytest.raises(MalformedDeclaration) as error:
        one_form(values, form)
    assert "formats.0" in str(error.value)
    assert message in str(error.value)


def test_a_task_does_not_count_up_what_its_form_counts_down() -> None:
    down = FORM + "higher_is_better = false\n"
    with pytest.raises(
        MalformedDeclaration, match=r"tasks\.0\.higher_is_better: the form acme says that less of {domain}"
    ):
        declared(down + TASK)
    assert declared(FORM + TASK)
    assert declared(down.replace("pass^{k}", "loss") + TASK)
    bounds = 'higher_is_better = false\nlower_bound = "100"\nupper_bound = "0"\nbound_reason = "the worst"\n'
    assert declared(down + TASK.replace("metrics =", bounds + "metrics ="))


def test_a_form_cannot_have_the_id_of_a_format_that_is_code() -> None:
    with pytest.raises(MalformedDeclaration, match="there is a format lm-eval-0"):
        declared((FORM + TASK).replace('id = "acme"', 'id = "lm-eval-0.4"'))


PUBLIC = {
    "tau2": (
        "submissions/a/submission.json",
        {"model_name": "acme/atlas", "submitting_organization": "acme", "results": {"retail": {"pass_1": 57.5}}},
        ("acme/atlas", "retail", {"pass^1": 57.5}, None),
    ),
    "swe-bench": (
        "atlas.run.json",
        {"total_instances": 8, "submitted_instances": 4, "resolved_instances": 2, "resolved_ids": ["a", "b"]},
        ("", "swe-bench", {"resolved": 0.25, "resolved_stderr": sqrt(0.25 * 0.75 / 7)}, 8),
    ),
    "terminal-bench": (
        "results/core@0.1/20250711_agent/run1/results.json",
        {
            "n_resolved": 1,
            "n_unresolved": 1,
            "accuracy": 0.5,
            "results": [{"task_id": "a", "is_resolved": True}, {"task_id": "b", "is_resolved": None}],
        },
        ("20250711_agent", "core@0.1", {"accuracy": 0.5, "accuracy_stderr": 0.5}, 2),
    ),
    "olmo-eval": (
        "metrics.json",
        {
            "config": {"model": "acme/atlas", "revision": None},
            "tasks": [
                {
                    "task": "popqa:chat",
                    "metrics": {"acc": {"first": 0.25}},
                    "num_instances": 4,
                    "primary_metric": "acc:first",
                }
            ],
        },
        ("acme/atlas", "popqa:chat", {"acc:first": 0.25}, 4),
    ),
    "olmo-eval-harness": (
        "metrics.json",
        {
            "config": {
                "name": "default",
                "system_prompt": "Be brief.",
                "provider": {"kind": "vllm", "model": "acme/atlas"},
            },
            "tasks": [
                {
                    "task": "popqa:chat",
                    "metrics": {"acc": {"first": 0.25}},
                    "num_instances": 4,
                    "primary_metric": "acc:first",
                }
            ],
        },
        ("acme/atlas", "popqa:chat", {"acc:first": 0.25}, 4),
    ),
    "olmo-eval-models": (
        "metrics.json",
        {
            "config": {"models": {"acme/atlas": {}, "acme/borea": {}}},
            "tasks": [
                {"task": "popqa", "model": "acme/atlas", "metrics": {"acc": {"first": 0.25}}, "num_instances": 4},
                {"task": "popqa", "model": "acme/borea", "metrics": {"acc": {"first": 0.5}}, "num_instances": 4},
            ],
        },
        ("acme/atlas", "popqa", {"acc:first": 0.25}, 4),
    ),
    "jmteb": (
        "results/acme/atlas/summary.json",
        {"Classification": {"x": {"f1": 0.5}}, "Retrieval": {"y": {"map": 0.25}}, "STS": {"z": {"r": 0.75}}},
        ("acme/atlas", "x", {"f1": 0.5}, None),
    ),
    "robustbench": (
        "model_info/cifar10/Linf/Addepalli2022_RN18.json",
        {"name": "Scaling", "dataset": "cifar10", "clean_acc": "80.24", "autoattack_acc": "51.06"},
        ("Addepalli2022_RN18", "cifar10 Linf robust", {"accuracy": 51.06}, None),
    ),
    "livecodebench": (
        "output/Atlas 7B (N=2)/Scenario.codegeneration_2_0.2_eval_all.json",
        [
            {"question_id": "abc301_a", "graded_list": [True, False], "pass@1": 0.5},
            {"question_id": "abc301_b", "graded_list": [True, True], "pass@1": 1.0},
        ],
        ("Atlas 7B (N=2)", "codegeneration", {"pass@1": 0.75, "pass@1_stderr": 0.25}, 2),
    ),
    "simple-evals": (
        "runs/gpqa_atlas-7b_20250816_094011.json",
        {"chars": 7282.25, "chars:std": 4356.5, "score": 0.453125, "score:std": 0.5},
        ("atlas-7b", "gpqa", {"score": 0.453125}, None),
    ),
    "undated-simple-evals": (
        "2024-11-28_05-04-56/mgsm_customgpt.json",
        {"bn": 0.0, "bn:std": 0.0, "score:std": 0.4453617714151233, "zh": 1.0, "score": 0.7272727272727273},
        ("customgpt", "mgsm", {"score": 0.7272727272727273}, None),
    ),
    "gpt-oss": (
        "runs/aime25_gpt-oss-20b-low_temp1.0_20250816_094011.json",
        {
            "chars": 7282.25,
            "chars:std": 4356.9365532638485,
            "score": 0.45416666666666666,
            "score:std": 0.4978948740000801,
        },
        ("gpt-oss-20b-low", "aime25", {"score": 0.45416666666666666}, None),
    ),
    "nemo-evaluator": (
        "mmlu_pro/eval-20260402T120000Z-mmlu_pro.json",
        {
            "timestamp": "2026-04-02T12:00:00+00:00",
            "config": {"model": "acme/atlas", "temperature": 0.6},
            "benchmark": {"name": "mmlu_pro", "samples": 12000, "scores": {"mean_reward": {"value": 0.782}}},
        },
        ("acme/atlas", "mmlu_pro", {"mean_reward": 0.782}, 12000),
    ),
    "vlmevalkit": (
        "atlas/T20260721-150000/status.json",
        {
            "eval_id": "T20260721-150000",
            "model_name": "atlas",
            "datasets": {"MMStar": {"status": "done", "metrics": {"Overall": 0.64}}, "MME": {"status": "infer"}},
        },
        ("atlas", "MMStar", {"Overall": 0.64}, None),
    ),
}


@pytest.mark.parametrize("form_id", PUBLIC)
def test_public_forms_are_read_as_they_are_shipped(form_id: str) -> None:
    path, value, (model, leaf, values, samples) = PUBLIC[form_id]
    result = parse_submission(path, {"": json.dumps(value).encode()}).result
    assert result is not None
    assert (result.format, result.model.id, result.misread) == (form_id, model, ())
    assert (result.leaves[leaf].numbers, result.leaves[leaf].samples) == (values, samples)


def test_a_path_that_reads_in_two_ways_names_no_model() -> None:
    board = one_form('value = "x"\nleaf = "x"', 'files = "{task}_{name}.json"\nmodel = "{name}"')
    problem = parse(board, {"x": 0.5}, "mmlu_gpt-4_chat.json").problem
    assert problem is not None
    assert "in two ways" in problem.why


HOSTILE = {
    "deep": b"[" * 100_000,
    "keys": b"{" + b",".join(b'"k%d": 1' % number for number in range(20_000)) + b"}",
    "matches": b'{"m": "a/b", "r": {' + b",".join(b'"k%d": {"x": 0.5}' % number for number in range(20_000)) + b"}}",
    "list": b'{"m": "a/b", "l": [' + b",".join([b'{"x": 0.5}'] * 20_000) + b"]}",
    "long": b'{"m": "a/b", "r": {"' + b"a_" * 200_000 + b'": {"x": 0.5}}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_in_a_finding_and_soon(name: str) -> None:
    board = one_form(
        'value = "{k}.x"\nleaf = "{k}"\n[[formats.values]]\nvalue = "r.{k}.x"\nleaf = "{k}"\n'
        '[[formats.values]]\nvalue = "r.{a}_{b}_{c}.x"\nleaf = "{a}"\n'
        '[[formats.values]]\nvalue = "l[*].x"\nleaf = "l"\n'
        '[[formats.values]]\nvalue = "*.*.*.*"\nleaf = "all"',
        'model = "m"',
    )
    started = time.process_time()
    parsed = parse(board, HOSTILE[name])
    assert parsed.problem is not None or parsed.result is not None
    assert time.process_time() - started < 2


def test_what_stands_beside_each_of_many_rows_is_found_by_its_number() -> None:
    rows = [{"score": number / 4000, "n": 4000} for number in range(4000)]
    values = 'value = "rows[{i}].score"\nleaf = "task {i}"\nsamples = "rows[{i}].n"'
    board = one_form(values)
    result = parse(board, {"rows": rows}).result
    assert result is not None
    assert [(leaf.numbers["score"], leaf.samples) for leaf in result.leaves.values()] == [
        (row["score"], row["n"]) for row in rows
    ]


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ('precision = "bf16"', "precision", "bfloat16"),
        (f'revision = "{"b" * 40}"', "revision", "b" * 40),
        ("chat_template = true", "chat_template", True),
        ("chat_template = false", "chat_template", False),
        ('chat_template = "chat"', "chat_template", True),
        ('chat_template = "none?"', "chat_template", None),
    ],
)
def test_a_form_says_of_all_its_files_what_they_do_not_say(line: str, field: str, value: object) -> None:
    text = FORM.replace('revision = "sha"', line)
    judgement = judged(declared(text + TASK), FILE | {"chat": "yes"})
    (verdict,) = judgement.verdicts
    assert verdict.result is not None
    assert getattr(verdict.result.model, field) == value
    assert faults(judgement) == []


def test_what_is_no_value_is_a_place_and_its_absence_is_said() -> None:
    text = FORM.replace('revision = "sha"', 'precision = "bits"\nchat_template = "agent"')
    told = faults(judged(declared(text + TASK), FILE))
    assert told == [
        ("absent-place", "", "the place bits is not there; the form acme has the precision there"),
        ("absent-place", "", "the place agent has react, which is neither true nor false"),
    ]


def test_a_value_in_quotes_is_a_place() -> None:
    text = FORM.replace('revision = "sha"', "precision = '\"4bit\"'")
    (verdict,) = judged(declared(text + TASK), FILE | {"4bit": "fp16"}).verdicts
    assert verdict.result is not None
    assert verdict.result.model.precision == "float16"
