"""Published rows of the Open LLM Leaderboard v2, and the faults that nothing but exact figures shows.

`published/open_llm_v2.json` quotes three rows with the right answers of each subtask; a plain clone tests with it.
"""

from __future__ import annotations

import json
from itertools import permutations
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.score import Scores
from tests.evaluation.judging import ROOT, base, declared, judgement_of, outcome_of, patched, rules_of

PUBLISHED = json.loads((Path(__file__).parent / "published" / "open_llm_v2.json").read_text(encoding="utf-8"))["rows"]
EXACT = 1e-9
PRO = "/results/leaderboard_mmlu_pro"


def file_of(row: dict[str, Any]) -> dict[str, Any]:
    """A result file with the right answers of a published row."""
    data = base()
    data["groups"], data["group_subtasks"] = {}, {}
    data["model_name"], data["config"]["model_sha"] = row["model"], row["revision"]
    required = {
        f"{leaf.id} {metric.key('lm-eval-0.4')}": (leaf.id, metric.key("lm-eval-0.4"), metric.samples or leaf.samples)
        for task, leaf in declared().leaves()
        for metric in task.metrics
    }
    data["results"] = {leaf_id: {} for leaf_id, *_ in required.values()}
    for name, right in row["right"].items():
        leaf_id, key, samples = required[name]
        data["results"][leaf_id][key] = right / samples
    return data


def scores_of(data: dict[str, Any]) -> Scores:
    scores = outcome_of(data).scores
    assert scores is not None
    return scores


# ---- scores ----


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["model"])
def test_right_answers_give_the_published_row(row: dict[str, Any]) -> None:
    data = file_of(row)
    assert len(row["right"]) == sum(map(len, data["results"].values())) == 40
    scores = scores_of(data)
    assert {task.id: task.raw for task in scores.tasks} == pytest.approx(row["raw"], abs=EXACT)
    assert {task.id: task.score for task in scores.tasks} == pytest.approx(row["normalized"], abs=EXACT)
    assert scores.average == pytest.approx(row["average"], abs=EXACT)


# ---- shots ----


@pytest.mark.parametrize(("leaf", "shots"), [("leaderboard_mmlu_pro", 4), ("leaderboard_gpqa_main", 5)])
def test_a_wrong_number_of_shots_is_rejected_and_its_column_has_no_number(leaf: str, shots: int) -> None:
    outcome = outcome_of(patched({f"/n-shot/{leaf}": shots}))
    assert rules_of(outcome) == {"wrong-num-fewshot"}
    assert outcome.verdict.status == "rejected"
    assert outcome.row is not None
    assert outcome.row.status != "accepted"
    assert outcome.row.scores.average is None


# ---- standard errors ----


@pytest.mark.parametrize(("off", "is_rejected"), [(5e-5, False), (2e-4, True), (1e-3, True), (-2e-4, True)])
def test_a_standard_error_is_held_to_one_in_ten_thousand(off: float, is_rejected: bool) -> None:
    error = sqrt(0.5 * 0.5 / 12031) * (1 + off)
    outcome = outcome_of(patched({f"{PRO}/acc,none": 0.5, f"{PRO}/acc_stderr,none": error}))
    assert rules_of(outcome) == ({"stderr-contradicts-samples"} if is_rejected else set())
    assert outcome.verdict.status == ("rejected" if is_rejected else "accepted")


# ---- ties ----


def test_of_two_files_of_one_date_the_content_decides_and_never_the_order() -> None:
    files = {
        f"results_{name}.json": patched({f"{PRO}/acc,none": right / 12032, f"{PRO}/acc_stderr,none": "N/A"})
        for name, right in (("a", 5000), ("b", 6000), ("c", 7000))
    }
    judged = [judgement_of({name: files[name] for name in order}) for order in permutations(files)]
    newest = max(judged[0].verdicts, key=lambda verdict: verdict.sha256).path
    for judgement in judged:
        (row,) = judgement.rows
        assert {verdict.date for verdict in judgement.verdicts} == {judgement.verdicts[0].date}
        assert [file.path for file in row.files] == [newest]
        (measured,) = (one for one in row.measurements.present if one.required.task.id == "mmlu_pro")
        assert measured.file == newest
        assert row.repeats[0].runs[0].file == newest


def test_of_two_sets_of_one_size_and_date_the_content_decides_and_never_the_order() -> None:
    files = {
        f"results_{name}.json": patched({"/config/gen_kwargs": f"temperature={heat}"})
        for name, heat in (("a", 0.1), ("b", 0.2), ("c", 0.3))
    }
    leads = {judgement_of({name: files[name] for name in order}).rows[0].lead.path for order in permutations(files)}
    judgement = judgement_of(files)
    assert leads == {max(judgement.verdicts, key=lambda verdict: verdict.sha256).path}


def test_the_slice_says_where_its_figures_are_from() -> None:
    text = (ROOT / "tests" / "evaluation" / "published" / "open_llm_v2.json").read_text(encoding="utf-8")
    assert "hlzhang109/causal-eval" in json.loads(text)["source"]
    assert len(text) < 10_000
