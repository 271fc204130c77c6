"""Files of the reference folder with one fault each: each gets the finding that its README names, and nothing worse."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import BotError
from bot.evaluation.submission import parse_submission
from bot.publishing.board import known_rows
from bot.publishing.entry import Entry
from bot.service.judge.facts import Judge
from tests.evaluation.judging import Outcome, declared, dumps, rules_of
from tests.evaluation.published_rows import TODAY, Count, judge_file
from tests.publishing.tables.contents import TASKS

# What each file's README entry says is wrong; rules that the file it was made from has too stand in OF_ALL.
ODD: dict[str, tuple[str, set[str]]] = {
    "01-ai__Yi-34B-Chat_results_2025-02-13T18-27-04.338360.transcribed.json": (
        "rejected",  # the transcription left out which model it was
        {
            "group-contradicts-leaves", "stderr-contradicts-samples", "extra-task",
            "unidentified-model", "unpinned-revision", "unverifiable-harness-commit", "unverifiable-pin",
        },
    ),
    "missing_bbh_subtask.json": ("incomplete", {"missing-task"}),
    "limit_50.json": ("rejected", {"limited-run"}),
    "wrong_nshot_bbh.json": ("rejected", {"wrong-num-fewshot"}),
    "mmlu_pro_nan.json": ("rejected", {"non-finite-value"}),
    "truncated_65536.json": ("rejected", {"malformed-file"}),
    "math_hard_v048_5000_samples.json": ("rejected", {"wrong-sample-count", "known-bad-release"}),
    "score_not_integral.json": ("rejected", {"value-not-integral", "stderr-contradicts-samples"}),
    "git_hash_null.json": ("accepted", {"unverifiable-harness-commit"}),
    "git_hash_foreign.json": ("accepted", {"unverifiable-harness-commit"}),
    "group_rows_without_numbers.json": ("accepted", set()),
    "duplicate_scores_new_name.json": ("accepted", {"duplicate-scores", "chat-template-differs"}),
    "model_sha_missing.json": ("accepted", {"unpinned-revision"}),
    "stderr_na.json": ("accepted", set()),
    # made from a file whose commit no table knows
    "extra_arc_challenge.json": ("accepted", {"extra-task", "unverifiable-harness-commit"}),
    "nested_300_levels.json": ("rejected", {"malformed-file"}),
    "injection_model_name.json": ("rejected", {"unidentified-model"}),
}  # fmt: skip
# All but the malformed ones and the file of 2025 carry MATH of 2024.
OF_ALL = {"older-scorer-version"}
WITHOUT_OLD_MATH = {"truncated_65536.json", "nested_300_levels.json"} | {name for name in ODD if name.startswith("01-")}
SAME_AS = {
    "git_hash_null.json": "HuggingFaceTB__SmolLM-1.7B",
    "git_hash_foreign.json": "HuggingFaceTB__SmolLM-1.7B",
    "group_rows_without_numbers.json": "HuggingFaceTB__SmolLM-1.7B",
    "model_sha_missing.json": "HuggingFaceTB__SmolLM-1.7B",
    "stderr_na.json": "HuggingFaceTB__SmolLM-1.7B",
    "extra_arc_challenge.json": "bigcode__starcoder2-3b",
    "duplicate_scores_new_name.json": "EleutherAI__pythia-12b",
}
# The column that the fault takes away; the others stay as they were.
HOLES = {
    "missing_bbh_subtask.json": {"bbh"},
    "wrong_nshot_bbh.json": {"bbh"},
    "mmlu_pro_nan.json": {"mmlu_pro"},
    "math_hard_v048_5000_samples.json": {"math"},
    "score_not_integral.json": {"bbh"},
    "limit_50.json": set(TASKS.values()),
}


def original(reference: Path, model: str) -> Path:
    return next((reference / "openllm_v2" / "results" / model).glob("*.json"))


def entry_on_board(reference: Path, model: str) -> Entry:
    entry = judge_file(original(reference, model)).entry()
    assert entry is not None
    return entry


def test_every_odd_file_gets_the_finding_that_its_readme_names(reference: Path, compared: Count) -> None:
    there = known_rows([entry_on_board(reference, "EleutherAI__pythia-12b")])
    judge = Judge(declared(), TODAY.today, known=there)
    files = sorted((reference / "openllm_v2" / "odd").glob("*.json"))
    assert {file.name for file in files} == set(ODD)
    for file in files:
        status, rules = ODD[file.name]
        judgement = judge.judge([parse_submission(file.name, {"": file.read_bytes()})])
        verdict = Outcome(judgement.verdicts[0], next(iter(judgement.rows), None), judgement)
        always = set() if file.name in WITHOUT_OLD_MATH else OF_ALL
        always = always | ({"unverifiable-pin"} if verdict.result else set())  # their configurations are shortened
        assert (verdict.status, rules_of(verdict)) == (status, rules | always), file.name
    compared("odd files", len(files), 17)


@pytest.mark.parametrize(("file", "model"), SAME_AS.items())
def test_an_odd_file_whose_values_are_sound_scores_as_the_file_it_was_made_from(
    reference: Path, file: str, model: str
) -> None:
    one = judge_file(reference / "openllm_v2" / "odd" / file).scores
    other = judge_file(original(reference, model)).scores
    assert one is not None
    assert other is not None
    assert one.average == other.average is not None
    assert [(task.raw, task.score) for task in one.tasks] == [(task.raw, task.score) for task in other.tasks]


@pytest.mark.parametrize(("file", "holes"), HOLES.items())
def test_an_odd_file_with_a_faulty_column_has_a_hole_there_and_no_average(
    reference: Path, file: str, holes: set[str]
) -> None:
    scores = judge_file(reference / "openllm_v2" / "odd" / file).scores
    assert scores is not None
    assert scores.average is None
    assert {task.id for task in scores.tasks if task.score is None} == holes


@pytest.mark.parametrize("file", ODD)
def test_the_command_line_reports_every_odd_file_in_each_format(reference: Path, file: str) -> None:
    status, rules = ODD[file]
    path = str(reference / "openllm_v2" / "odd" / file)
    for form in ("text", "json", "markdown", "github"):
        done = CliRunner().invoke(app, ["check", path, "--format", form])
        assert done.exit_code == (0 if status == "accepted" else 1), (form, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        for rule in rules - {"duplicate-scores"}:  # it needs a board
            assert rule in done.stdout, form
        assert "Traceback" not in done.output


def test_old_harness_files_of_choice_texts_are_another_mmlu(reference: Path, compared: Count) -> None:
    files = sorted((reference / "lm_eval_old").glob("*_mmlu_*.json"))
    for file in files:
        verdict = judge_file(file, "open-llm-v1")
        assert verdict.status == "rejected"
        assert "implementation-mismatch" in rules_of(verdict), file.name
    compared("old MMLU files", len(files), 2)


@pytest.mark.parametrize("leaderboard", ["open-llm-v2", "open-llm-v1", "open-llm-v1-drop"])
def test_every_other_json_file_gets_a_verdict_and_nothing_worse(
    reference: Path, compared: Count, leaderboard: str
) -> None:
    files = sorted(file for file in reference.rglob("*.json") if "wild" not in file.parts)
    for file in files:
        try:
            verdict = judge_file(file, leaderboard)
        except BotError as error:  # pragma: no cover - the message names the file
            pytest.fail(f"{file.name}: {error}")
        assert verdict.findings, file.name
        assert all(finding.message for finding in verdict.findings), file.name
    compared("files of any kind", len(files), 53)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"acc,none": 0.5, "acc_stderr,none": 0.01, "alias": "quiz"}, "looks like one row of a file"),
        ({"a.json": {"version": 2, "status": "error", "eval": {}}}, "looks like a list of the logs of Inspect"),
        ({"model": "acme/atlas", "benchmarks": {"quiz": {"n": 3}}}, "its keys are model, benchmarks"),
    ],
)
def test_a_file_of_no_kind_is_said_to_look_like_what_it_looks_like(value: object, why: str) -> None:
    problem = parse_submission("x.json", {"": dumps(value)}).problem
    assert problem is not None
    assert why in problem.why
