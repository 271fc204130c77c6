"""Published rows of real leaderboards: our scores are theirs, to the published digit.

Every test says how many rows it compared and fails on fewer than there are. Needs the reference folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from bot.evaluation.score import Scores, make_scores
from bot.evaluation.task import Task
from tests.evaluation.judging import base, declared, outcome_of, rules_of, stderr
from tests.evaluation.published_rows import AVERAGE, EXACT, Count, judge_file, rows
from tests.publishing.tables.contents import TASKS

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
                assert getattr(tasks[TASKS[column]], of) == pytest.approx(value, abs=EXACT), (row["file"], column)
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
        for task, (column, task_id) in zip(verdict.scores.tasks, TASKS.items(), strict=True):
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
    titles = {task_id: column for column, task_id in TASKS.items()}
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
