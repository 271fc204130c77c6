"""The audit of MMLU results: what is not a result, HELM runs, the authors' own files, and the prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.audits.mmlu.audit import audit_mmlu
from bot.evaluation.benchmarks.mmlu_family import Family
from tests.audits.mmlu.mmlu_logs import call, helm_run, log, one, row


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x.json", "{", "truncated"),
        (
            "x.json",
            '{"results": {"drop": {"f1": 0.1}}, "versions": {}, "config": {"no_cache": true}}',
            "no subject of MMLU",
        ),
        ("x.jsonl", '{"doc": {"passage": "p"}}\n', "no sample of MMLU: not a sample of a known format (1)"),
        ("x.jsonl", "", "no sample of MMLU: it is empty"),
        ("x.csv", "model,a\nx,1\n", "two columns of scores"),
        ("x.csv", "model,a,b\nx,0.4,0.5\ny,58.3,45.7\n", "y in a has 58.3, a percentage, and x in a 0.4, a fraction"),
        ("x.csv", "model,a,b\n" + "".join(f"m{i},{i % 97}.5,{i % 89}.5\n" for i in range(1_500)), "1,500 models in 2"),
    ],
)
def test_what_is_no_result_of_mmlu_is_one_line_with_status_1(tmp_path: Path, name: str, text: str, why: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    (problem,) = audit_mmlu([path]).problems
    assert why in problem.why
    assert "\n" not in problem.why
    result = call(path)
    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)


def test_values_that_are_no_shares_are_left_out_of_the_averages(tmp_path: Path) -> None:
    rows = {
        "hendrycksTest-anatomy": {"acc": 0.5, "acc_norm": 0.4},
        "hendrycksTest-virology": {"acc": float("nan"), "acc_norm": 1},
        "hendrycksTest-astronomy": {"acc": 10**400, "acc_norm": "N/A"},
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"results": rows, "versions": {}, "config": {"no_cache": True}}))
    report = json.loads(call("--format", "json", path).stdout)
    means = {mean["metric"]: (mean["macro"], mean["subjects"]) for mean in report["sources"][0]["aggregates"]}
    assert means == {"acc": (0.5, 1), "acc_norm": (0.7, 2)}


def test_a_folder_may_hold_other_results_but_must_hold_one_of_mmlu(tmp_path: Path) -> None:
    log(tmp_path / "samples_drop_x.jsonl", {"doc": {"passage": "p"}})
    (problem,) = audit_mmlu([tmp_path]).problems
    assert problem.why == "holds no sample of MMLU: not a sample of a known format (1)"
    (tmp_path / "m").mkdir()
    log(tmp_path / "m" / "samples_mmlu_anatomy_x.jsonl", row(Family.LETTERS, ["-1", "-2", "-3", "-4"]))
    found = audit_mmlu([tmp_path])
    assert found.problems == ()
    assert [source.path for source in found.sources] == [str(tmp_path / "m")]
    assert "cannot be read" in audit_mmlu([tmp_path / "none"]).problems[0].why


@pytest.mark.parametrize("spec", ["{", "{}", '{"scenario_spec": {"class_name": "x.BabiScenario"}, "adapter_spec": {}}'])
def test_a_folder_that_is_no_helm_run_of_mmlu_is_refused(tmp_path: Path, spec: str) -> None:
    (tmp_path / "run_spec.json").write_text(spec)
    (tmp_path / "stats.json").write_text("[]")
    assert len(audit_mmlu([tmp_path]).problems) == 1


@pytest.mark.parametrize("states", [[], {}, {"request_states": 1}, {"request_states": [1, {"instance": 2}]}])
def test_a_helm_run_without_sound_states_still_has_its_statistics(tmp_path: Path, states: Any) -> None:
    source = one(helm_run(tmp_path, states))
    assert (source.family, source.samples, source.aggregates[0].macro) == (Family.HELM, 0, 0.5)


def test_a_helm_state_that_is_damaged_is_counted(tmp_path: Path) -> None:
    states = {"request_states": [{"instance": {"split": "test"}, "request": {}}]}
    assert [skip.count for skip in one(helm_run(tmp_path, states)).skipped] == [1]
