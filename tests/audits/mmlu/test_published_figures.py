"""The audit of MMLU on real files, and the figures of the investigation's table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bot.audits.mmlu.audit import MmluAudit, audit_mmlu
from bot.evaluation.benchmarks.mmlu_family import Family
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import load_leaderboard
from bot.evaluation.submission import parse_submission
from tests.audits.mmlu.mmlu_logs import call


@pytest.fixture
def table(reference: Path, tmp_path: Path) -> Path:
    rows = json.loads((reference / "mmlu" / "mmlu_table.json").read_text())["rows"]
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_investigations_table_gives_its_figures(reference: Path, table: Path) -> None:
    expected = json.loads((reference / "mmlu" / "mmlu_table.json").read_text())
    comparison = audit_mmlu([table]).comparison
    assert comparison is not None
    assert len(comparison.ranks) == 8
    assert len(comparison.pairs) == 3
    for pair in comparison.pairs:
        figures = expected["pairs"][f"{pair.left}-{pair.right}"]
        assert pair.kendall_tau == pytest.approx(figures["kendall_tau"], abs=1e-12)
        assert pair.spearman == pytest.approx(figures["spearman"], abs=1e-12)
        short = [[model.rpartition("/")[2] for model in models] for models in pair.reversed]
        assert short == figures["discordant_pairs"]
        assert (pair.pairs, pair.largest.model) == (28, figures["max_gap_model"])
        assert pair.largest.gap == pytest.approx(figures["max_abs_gap"], abs=1e-12)
        assert pair.mean_gap == pytest.approx(figures["mean_abs_gap"], abs=1e-12)
    assert [[gap.gap, gap.model] for gap in comparison.spread] == expected["spread"]
    assert comparison.first == {
        "helm": "huggingface/llama-65b",
        "harness": "tiiuae/falcon-40b",
        "original": "huggingface/llama-65b",
    }


def test_the_command_says_who_is_first(table: Path) -> None:
    result = call(table)
    assert result.exit_code == 0
    assert "tiiuae/falcon-40b under harness" in result.stdout.replace("\n", " ")
    assert "0.6429    0.7857" in result.stdout
    report = json.loads(call("--format", "json", table).stdout)
    assert report["schema"] == "leaderboard-bot/audit-mmlu/1"
    assert report["comparison"]["pairs"][2]["largest"]["model"] == "huggingface/llama-65b"


def real(reference: Path, *paths: str) -> MmluAudit:
    return audit_mmlu([next(reference.glob(path)) for path in paths])


def test_real_files_of_2023_give_the_investigations_column(reference: Path) -> None:
    found = real(reference, "lm_eval_old/llama-7B_mmlu*", "lm_eval_old/mpt-7b_mmlu*")
    means = [round(main.macro, 3) for source in found.sources if (main := source.main())]
    assert means == [0.342, 0.354]
    assert len(found.columns) == 1
    assert all(source.aggregates[0].micro for source in found.sources)


def test_different_implementations_do_not_stand_in_one_column(reference: Path) -> None:
    paths = ("lm_eval_old/llama-7B_mmlu*", "lm_eval_old/mpt-7b*", "lm_eval_04/meta-llama__Llama-3.2-1B/results_*")
    found = real(reference, *paths)
    assert [column.differs for column in found.columns] == [
        (),
        ("implementation", "metric", "shots"),  # harness 0.3 has no chat template, and this file used none
    ]
    assert found.sources[2].aggregates[0].reported_as == "micro (mean over questions)"
    result = call(*(next(reference.glob(path)) for path in paths))
    assert result.exit_code == 1
    assert "They do not belong in one column." in result.stdout


@pytest.mark.parametrize("name", ["llama-7B_mmlu_5-shot.json", "mpt-7b_mmlu_5-shot.json"])
def test_a_board_of_letters_refuses_them_with_the_reason(reference: Path, name: str) -> None:
    data = (reference / "lm_eval_old" / name).read_bytes()
    verdict = judge(parse_submission(name, {"": data}), load_leaderboard("open-llm-v1"))
    (finding,) = [found for found in verdict.findings if found.rule == "implementation-mismatch"]
    assert verdict.status == "rejected"
    assert finding.task == "mmlu"
    assert "acc differs from acc_norm" in finding.message


def test_a_real_helm_run_is_scored_from_its_requests_as_its_stats_say(reference: Path) -> None:
    (source,) = real(reference, "helm/*").sources
    assert (source.family, source.num_fewshot, source.model) == (Family.HELM, 5, "openai/gpt2")
    assert source.samples == 9
    assert source.scores[0].micro == source.aggregates[0].macro == pytest.approx(1 / 9)


def test_a_real_log_of_letters_is_scored_as_logged(reference: Path) -> None:
    source = real(reference, "lm_eval_04/i82qcls7/samples_toy_mc*").sources[0]
    assert (source.samples, source.scores[0].micro, source.scores[0].differing) == (4, 0.75, 0)
