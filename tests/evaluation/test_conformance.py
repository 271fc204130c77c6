"""Published rows and odd files of real leaderboards in; their numbers, and the finding each fault deserves, out.

Every test says how many rows it compared and fails on fewer than there are. Needs the reference folder.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import BotError
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from bot.evaluation.rules.rule import Facts
from bot.evaluation.score import Scores, make_scores
from bot.evaluation.task import Task
from bot.publishing.board import same_values
from bot.publishing.entry import Entry
from tests.evaluation.judging import Outcome, base, declared, outcome_of, rules_of, stderr

COLUMNS = {
    "IFEval": "ifeval",
    "BBH": "bbh",
    "MATH Lvl 5": "math",
    "GPQA": "gpqa",
    "MUSR": "musr",
    "MMLU-PRO": "mmlu_pro",
}
AVERAGE = "Average ⬆️"
EXACT = 1e-9
TODAY = Facts(today=date(2026, 11, 1))
Count = Callable[[str, int, int], None]


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Count:
    """Report how many of what were compared; fewer than there are is a failure."""

    def report(what: str, count: int, there_are: int) -> None:
        record_property(what, count)
        print(f"compared {count} {what}")  # noqa: T201 - `pytest -rP` shows it
        assert count == there_are, what

    return report


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judge_file(path: Path, leaderboard: str = "open-llm-v2", facts: Facts = TODAY) -> Outcome:
    return outcome_of(path.read_bytes(), leaderboard, facts, path.name)


# ---- Open LLM Leaderboard v2: whole files ----


def test_complete_files_give_their_published_rows(reference: Path, compared: Count) -> None:
    expected = json.loads((reference / "openllm_v2" / "expected.json").read_text(encoding="utf-8"))["files"]
    numbers = 0
    for row in expected:
        verdict = judge_file(reference / "openllm_v2" / row["file"])
        assert verdict.scores is not None
        tasks = {task.id: task for task in verdict.scores.tasks}
        for published, of in (("raw", "raw"), ("normalized", "score")):
            for column, value in (row[published] or {}).items():  # of one row only the scores are known
                assert getattr(tasks[COLUMNS[column]], of) == pytest.approx(value, abs=EXACT), (row["file"], column)
                numbers += 1
        assert verdict.scores.average == pytest.approx(row["average"], abs=EXACT), row["file"]
        numbers += 1
        if row["file"].startswith("results/"):
            assert verdict.status == "accepted"
            assert verdict.result is not None
            model = verdict.result.model
            assert (model.id, model.revision, model.precision, model.chat_template) == (
                row["fullname"], row["model_sha"], row["precision"], row["chat_template"],
            )  # fmt: skip
    compared("complete files", len(expected), 13)
    compared("numbers of complete files", numbers, 12 * 13 + 7)


# ---- Open LLM Leaderboard v2: rows of subtasks ----


def right(task: Task, values: list[float]) -> list[int]:
    """The whole numbers of right answers that 16 printed digits stand for."""
    counts = []
    for leaf, value in zip(task.leaves, values, strict=True):
        count = round(value * leaf.samples)
        assert count / leaf.samples == pytest.approx(value, abs=1e-12), leaf.id
        counts.append(count)
    return counts


def ifeval_pair(raw: float) -> tuple[int, int]:
    """The only a of 541 prompts and b of 834 instructions with (a/541 + b/834) / 2 = raw."""
    found = [
        (a, b)
        for a in range(542)
        for b in [round((2 * raw - a / 541) * 834)]
        if 0 <= b <= 834 and a <= b and abs((a / 541 + b / 834) / 2 - raw) < 1e-12
    ]
    assert len(found) == 1, (raw, found)
    return found[0]


def spread(task: Task, count: int) -> list[int]:
    """Some right answers for each leaf that make `count` together: a weighted column depends on the sum alone."""
    counts = []
    for leaf in task.leaves:
        counts.append(min(leaf.samples, count))
        count -= counts[-1]
    assert count == 0
    return counts


def file_of(counts: Mapping[str, list[int]]) -> dict[str, Any]:
    """A result file with these numbers of right answers, by task and leaf; IFEval's two are of one leaf."""
    data = base()
    for key in ("groups", "group_subtasks"):
        del data[key]
    for task in declared().tasks:
        data["results"] = {key: row for key, row in data["results"].items() if key not in task.groups}
        row: dict[str, Any]
        if task.id == "ifeval":
            prompts, instructions = counts["ifeval"]
            row = {"prompt_level_strict_acc,none": prompts / 541, "inst_level_strict_acc,none": instructions / 834}
            data["results"]["leaderboard_ifeval"] = row
            continue
        for leaf, count in zip(task.leaves, counts[task.id], strict=True):
            name, value = task.metrics[0].name, count / leaf.samples
            row = {f"{name},none": value, f"{name}_stderr,none": stderr(value, leaf.samples)}
            data["results"][leaf.id] = row
    return data


def counts_of(row: Mapping[str, str]) -> dict[str, list[int]]:
    tasks = {task.id: task for task in declared().tasks}
    counts = {
        name: right(tasks[name], [float(row[leaf.id.removeprefix("leaderboard_")]) for leaf in tasks[name].leaves])
        for name in ("bbh", "math", "gpqa", "musr")
    }
    if row["math_same_scorer"] != "True":  # the subtasks are of another scorer than the published column
        counts["math"] = spread(tasks["math"], round(float(row["MATH Lvl 5 Raw"]) * 1324))
    counts["ifeval"] = list(ifeval_pair(float(row["IFEval Raw"])))
    counts["mmlu_pro"] = [round(float(row["MMLU-PRO Raw"]) * 12032)]
    return counts


def test_rows_of_subtasks_give_their_published_columns(reference: Path, compared: Count) -> None:
    table = rows(reference / "openllm_v2" / "subtasks_and_published.csv")
    columns = 0
    for row in table:
        verdict = outcome_of(file_of(counts_of(row)))
        assert verdict.status == "accepted", (row["fullname"], rules_of(verdict))
        assert verdict.scores is not None
        for task, (column, task_id) in zip(verdict.scores.tasks, COLUMNS.items(), strict=True):
            assert task.id == task_id
            assert task.raw == pytest.approx(float(row[f"{column} Raw"]), abs=EXACT), (row["fullname"], column)
            assert task.score == pytest.approx(float(row[column]), abs=EXACT), (row["fullname"], column)
            columns += 2
        assert verdict.scores.average == pytest.approx(float(row[AVERAGE]), abs=EXACT), row["fullname"]
        columns += 1
    compared("rows of subtasks", len(table), 60)
    compared("columns of rows of subtasks", columns, 60 * 13)
    compared("rows whose MATH is made from subtasks", sum(row["math_same_scorer"] == "True" for row in table), 21)


# ---- Open LLM Leaderboard v2: rows of columns ----


def scores_from(leaderboard: Leaderboard, value_of: Callable[[Task, int], float]) -> Scores:
    """Score a result of which every leaf's value follows from its task and its place in it."""
    spelled = leaderboard.harness.formats[0]
    leaves = {
        leaf.key(spelled): LeafResult({metric.key(spelled): value_of(task, place) for metric in task.metrics})
        for task in leaderboard.tasks
        for place, leaf in enumerate(task.leaves)
    }
    result = Result(format=spelled, model=Model(), harness=HarnessVersion("test"), leaves=leaves)
    return make_scores(take_measurements(result, leaderboard), leaderboard)


def least_score(task: Task, raw: float) -> float:
    """The least score that leaves of this mean can have: all at their bounds, the rest where it earns least."""
    bounds = sorted(float(task.leaf_lower_bound(leaf)) for leaf in task.leaves)
    excess, points = len(bounds) * raw - sum(bounds), 0.0
    for bound in bounds:
        part = min(max(excess, 0.0), 1 - bound)
        points += 100 * part / (1 - bound)
        excess -= part
    return points / len(bounds)


def test_published_raw_columns_give_their_scores_and_average(reference: Path, compared: Count) -> None:
    table = rows(reference / "openllm_v2" / "published_scores.csv")
    titles = {task_id: column for column, task_id in COLUMNS.items()}
    for row in table:

        def value_of(task: Task, place: int, row: Mapping[str, str] = row) -> float:
            if task.normalize == "task":
                return float(row[f"{titles[task.id]} Raw"])
            # made of leaves that the row does not have: any that give the published score serve the average
            bound = float(task.leaf_lower_bound(task.leaves[place]))
            return bound + (1 - bound) * float(row[titles[task.id]]) / 100

        scores = scores_from(declared(), value_of)
        for task in scores.tasks:
            assert task.score == pytest.approx(float(row[titles[task.id]]), abs=EXACT), (row["eval_name"], task.id)
        assert scores.average == pytest.approx(float(row[AVERAGE]), abs=EXACT), row["eval_name"]
    compared("published rows", len(table), 1500)


def test_columns_scored_by_leaf_lie_where_their_raw_value_lets_them(reference: Path, compared: Count) -> None:
    table = rows(reference / "openllm_v2" / "published_scores.csv")
    tasks = {task.title: task for task in declared().tasks if task.normalize == "leaf"}
    assert set(tasks) == {"BBH", "MUSR"}
    for row in table:
        for column, task in tasks.items():
            raw, score = float(row[f"{column} Raw"]), float(row[column])
            assert least_score(task, raw) - EXACT <= score <= 100 * raw + EXACT, (row["eval_name"], column)
    compared("published rows bounded", len(table), 1500)


# ---- Open LLM Leaderboard v1 ----


def test_v1_file_gives_its_archive_row(reference: Path, compared: Count) -> None:
    expected = json.loads((reference / "openllm_v1" / "expected.json").read_text(encoding="utf-8"))["files"]
    for row in expected:
        verdict = judge_file(reference / "openllm_v1" / row["file"], "open-llm-v1")
        assert verdict.scores is not None
        scores: dict[str, float | None] = {task.title: task.score for task in verdict.scores.tasks}
        scores["Average"] = verdict.scores.average
        assert scores == pytest.approx(row["computed"], abs=EXACT)
        assert {name: round(value or 0, 2) for name, value in scores.items()} == row["published"]
    compared("v1 files", len(expected), 1)


@pytest.mark.parametrize(
    ("leaderboard", "table"),
    [
        ("open-llm-v1", ("v1_archive_sample.csv", AVERAGE, 0.0067, 1500)),
        ("open-llm-v1-drop", ("v1_drop_modelcards_nov2023.csv", "avg7", 0.0058, 53)),
    ],
)
def test_v1_rows_give_their_average(
    reference: Path, compared: Count, leaderboard: str, table: tuple[str, str, float, int]
) -> None:
    file, average, within, there_are = table
    published = rows(reference / "openllm_v1" / file)
    for row in published:

        def value_of(task: Task, _: int, row: Mapping[str, str] = row) -> float:
            return float(row[task.title]) / 100

        scores = scores_from(declared(leaderboard), value_of)
        for task in scores.tasks:
            assert task.score == pytest.approx(float(row[task.title]), abs=EXACT), (row, task.id)
        assert scores.average == pytest.approx(float(row[average]), abs=within), row
    compared(f"rows of {file}", len(published), there_are)


# ---- odd files ----

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
    "limit_50.json": set(COLUMNS.values()),
}


def original(reference: Path, model: str) -> Path:
    return next((reference / "openllm_v2" / "results" / model).glob("*.json"))


def entry_on_board(reference: Path, model: str) -> Entry:
    entry = judge_file(original(reference, model)).entry()
    assert entry is not None
    return entry


def test_every_odd_file_gets_the_finding_that_its_readme_names(reference: Path, compared: Count) -> None:
    facts = Facts(TODAY.today, same_values=same_values([entry_on_board(reference, "EleutherAI__pythia-12b")]))
    files = sorted((reference / "openllm_v2" / "odd").glob("*.json"))
    assert {file.name for file in files} == set(ODD)
    for file in files:
        status, rules = ODD[file.name]
        verdict = judge_file(file, facts=facts)
        always = set() if file.name in WITHOUT_OLD_MATH else OF_ALL
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
