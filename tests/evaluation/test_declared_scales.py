"""Columns of other kinds than the shipped ones: percent, less is better, weighted leaf scores; done by hand beside."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from bot.errors import MalformedDeclaration
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.verdict import Row
from bot.reporting.explanation import explain
from tests.command import bot
from tests.evaluation.judging import Outcome, outcome_of

DECLARATION = dedent("""
    title = "Three scales"
    description = "A percentage, an error rate, and two leaves of unlike size."

    [harness]
    formats = ["lm-eval-0.4"]

    [[tasks]]
    id = "percent"
    title = "Percent"
    unit = "percent"
    metrics = [{ name = "acc" }]
    num_fewshot = 0
    lower_bound = 25
    bound_reason = "guessing among four"
    leaves = [{ id = "quiz", samples = 200 }]

    [[tasks]]
    id = "wer"
    title = "Word errors"
    higher_is_better = false
    range = [0, 10]
    metrics = [{ name = "wer", integral = false }]
    num_fewshot = 0
    lower_bound = 1
    upper_bound = 0
    bound_reason = "as many errors as words"
    leaves = [{ id = "speech", samples = 50 }]

    [[tasks]]
    id = "weighted"
    title = "Weighted"
    metrics = [{ name = "acc" }]
    num_fewshot = 0
    aggregation = "size-weighted"
    normalize = "leaf"
    leaves = [
        { id = "large", lower_bound = "1/2", bound_reason = "guessing among two", samples = 300 },
        { id = "small", lower_bound = "1/5", bound_reason = "guessing among five", samples = 100 },
    ]
""")


def board(text: str = DECLARATION) -> Leaderboard:
    return parse_leaderboard(text, "scales", "scales.toml")


def outcome(declared: Leaderboard | None = None, stderr: float | None = None, **values: float) -> Outcome:
    """The outcome of a file with these values; `stderr` is that of the quiz."""
    numbers = {"quiz": 62.5, "speech": 0.25, "large": 0.8, "small": 0.1} | values
    metrics = {"speech": "wer"}
    results = {task: {f"{metrics.get(task, 'acc')},none": value} for task, value in numbers.items()}
    if stderr is not None:
        results["quiz"]["acc_stderr,none"] = stderr
    revision = "0123456789" * 4
    config = {"model_args": f"pretrained=example-org/wren,revision={revision}", "model_sha": revision}
    file = {"results": results, "configs": {}, "n-shot": {}, "config": config, "model_name": "example-org/wren"}
    counts = {"n-samples": {"quiz": {"original": 200, "effective": 200}}} if stderr is not None else {}
    data = json.dumps(file | counts).encode()
    return outcome_of(data, declared or board())


def row_of(**values: float) -> Row:
    row = outcome(**values).row
    assert row is not None
    return row


def scores(judged: Outcome) -> dict[str, float | None]:
    assert judged.scores is not None
    return {task.id: task.score for task in judged.scores.tasks}


def test_each_scale_is_normalized_by_its_own_bounds() -> None:
    judged = outcome()

    assert [finding.rule for finding in judged.findings if finding.severity == "error"] == []
    expected = {"percent": 100 * (62.5 - 25) / 75, "wer": 75.0, "weighted": (300 * 60 + 100 * 0) / 400}
    assert expected == pytest.approx(scores(judged), abs=1e-12)


def test_more_errors_than_the_bound_score_nothing() -> None:
    assert scores(outcome(speech=1.4))["wer"] == 0.0


def test_no_errors_score_everything() -> None:
    assert scores(outcome(speech=0.0))["wer"] == 100.0


def test_a_percentage_of_no_whole_number_of_answers_is_found() -> None:
    assert "value-not-integral" in [finding.rule for finding in outcome(quiz=62.3).findings]


def test_a_standard_error_in_percent_is_compared_in_percent() -> None:
    assert "stderr-contradicts-samples" not in [one.rule for one in outcome(stderr=3.43186).findings]
    (found,) = [one.message for one in outcome(stderr=0.5).findings if one.rule == "stderr-contradicts-samples"]
    # sqrt(0.625 * 0.375 / 199) of 100; 0.625 * 0.375 / 0.005² + 1
    said = "quiz: acc_stderr,none 0.5 does not fit 62.5 on 200 samples, which has 3.43186; it would belong to "
    assert found == f"{said}9,376.0 samples"


def test_a_fraction_in_a_column_of_percent_is_a_low_value_not_an_error() -> None:
    assert scores(outcome(quiz=0.5))["percent"] == 0.0


def test_the_explanation_speaks_of_the_declared_bounds() -> None:
    text = explain(row_of(speech=1.4))

    assert "125 / 200" in text
    assert "100 × (62.500000 - 25) / (100 - 25) = 50.0000" in text
    assert "100 × (1.400000 - 1) / (0 - 1) = -40.0000; worse than the bound, so 0" in text
    assert "score = the scores weighted by samples = 45.0000" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("higher_is_better = false\n", ""),
        ("upper_bound = 0\n", "upper_bound = 2\n"),
        ("upper_bound = 0\n", "upper_bound = 1\n"),
    ],
)
def test_bounds_on_the_wrong_side_are_refused(old: str, new: str) -> None:
    with pytest.raises(MalformedDeclaration, match=r"tasks\.1: speech: lower_bound 1 is not"):
        board(DECLARATION.replace(old, new))


def test_the_declaration_is_read_from_a_file_too(tmp_path: Path) -> None:
    from bot.evaluation.leaderboard import load_leaderboard

    path = tmp_path / "scales.toml"
    path.write_text(DECLARATION, encoding="utf-8")

    assert board().digest == load_leaderboard(str(path)).digest


@pytest.mark.parametrize("call", [("leaderboards",), ("check", "examples/results", "--leaderboard")])
def test_a_waiver_of_a_rule_that_does_not_exist_is_refused(tmp_path: Path, call: tuple[str, ...]) -> None:
    waiver = '\n[[waivers]]\nrule = "mising-task"\nsubmission = "*"\nreason = "r"\nwho = "w"\nuntil = 2030-01-01\n'
    (tmp_path / "scales.toml").write_text(DECLARATION + waiver, encoding="utf-8")

    status, _, said = bot(*call, str(tmp_path / "scales.toml"))

    assert status == 2
    assert said.endswith("scales.toml: waivers.0.rule: there is no rule 'mising-task'\n")


ONE = 'leaves = [{ id = "large", lower_bound = "1/2", bound_reason = "guessing among two", samples = 300 }]\n'


@pytest.mark.parametrize(("is_one", "score"), [(True, 50.0), (False, (50 + 37.5) / 2)])
def test_leaf_scores_that_are_not_weighted_give_their_plain_mean(is_one: bool, score: float) -> None:
    plain = DECLARATION.replace('aggregation = "size-weighted"\n', "")
    if is_one:
        plain = plain[: plain.index("leaves = [\n")] + ONE
    assert scores(outcome(board(plain), large=0.75, small=0.5))["weighted"] == pytest.approx(score, rel=1e-12)
