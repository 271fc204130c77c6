"""Shapes that real files have and made-up ones do not, and what each is taken for."""

from __future__ import annotations

from typing import Any

import pytest

from bot.audits.mmlu.source import of_result
from bot.audits.results.numbers import GROUP_AGREES, GROUP_DIFFERS, counts_of, groups_of
from bot.evaluation.formats import parse_result
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.lm_eval_04 import subtasks_of
from bot.evaluation.submission import parse_submission
from bot.service.judge.facts import Judge
from tests.evaluation.judging import base, base_v1_today, declared, dumps, outcome_of, patched, rules_of, stderr

ARGS = "pretrained=example-org/kestrel-7b,revision=651099358104a2b2aea7ef80fd8a9035fe2729e8"


def precision(changes: dict[str, Any]) -> str:
    return parse_result(dumps(patched(changes))).model.precision


# ---- precision ----


@pytest.mark.parametrize(
    ("name", "precision_is"),
    [("float", "float32"), ("half", "float16"), ("torch.float16", "float16"), ("bf16", "bfloat16"), ("auto", "")],
)
def test_a_short_name_of_a_data_type_is_no_quantization(name: str, precision_is: str) -> None:
    for changes in (
        {"/config/model_dtype": name},
        {"/config/model_dtype": None, "/config/model_args": f"{ARGS},dtype={name}"},
    ):
        assert precision(changes) == precision_is
        assert "quantized-run" not in rules_of(outcome_of(patched(changes)))


@pytest.mark.parametrize("name", ["bfloat16 ", "Bfloat16", "torch.torch.bfloat16", " torch. BF16"])
def test_a_precision_has_one_spelling(name: str) -> None:
    assert precision({"/config/model_dtype": name}) == "bfloat16"
    assert rules_of(outcome_of(patched({"/config/model_dtype": name}))) == set()


@pytest.mark.parametrize("name", ["float16 (verified)", "bfloat16x", "torch.torch", "best"])
def test_a_precision_that_nobody_uses_is_an_error_with_the_words_that_exist(name: str) -> None:
    outcome = outcome_of(patched({"/config/model_dtype": name}))
    [finding] = [finding for finding in outcome.findings if finding.rule == "malformed-field"]
    assert finding.is_error
    assert "bfloat16" in finding.message
    assert outcome.verdict.status == "rejected"


@pytest.mark.parametrize(
    ("args", "precision_is"),
    [
        (f"{ARGS},quantization=mxfp4", "mxfp4"),
        (f"{ARGS},load_in_8bit=True", "8bit"),
        (f"{ARGS},quantization_config=TorchAoConfig(quant_type=int4_weight_only)", "int4_weight_only"),
        ({"pretrained": "a/b", "quantization_config": {"quant_method": "mxfp4"}}, "mxfp4"),
        ({"pretrained": "a/b", "quantization_config": {"load_in_8bit": True}}, "8bit"),
        ({"pretrained": "a/b", "quantization_config": {"quant_type": "int8_weight_only"}}, "int8_weight_only"),
    ],
)
def test_a_quantization_is_one_however_it_is_written(args: Any, precision_is: str) -> None:
    assert precision({"/config/model_args": args}) == precision_is
    assert "quantized-run" in rules_of(outcome_of(patched({"/config/model_args": args})))


@pytest.mark.parametrize(
    "name", ["kestrel-7b-FP8", "kestrel-7b-mxfp4", "kestrel-7b.NVFP4", "kestrel-7b-torchao-int8wo"]
)
def test_a_name_may_say_that_the_weights_are_quantized(name: str) -> None:
    assert "quantized-run" in rules_of(outcome_of(patched({"/model_name": f"example-org/{name}"})))


# ---- limits, shots, releases ----


@pytest.mark.parametrize("limit", [12032, 20000.0])
def test_a_limit_that_cuts_nothing_is_no_limited_run(limit: float) -> None:
    assert rules_of(outcome_of(patched({"/config/limit": limit}))) == set()


def test_a_limit_that_is_not_below_the_declared_size_cuts_nothing_where_counts_are_not_recorded() -> None:
    assert rules_of(outcome_of(patched({"/config/limit": 12032, "/n-samples": {}}))) == set()
    found = outcome_of(patched({"/config/limit": 12031, "/n-samples": {}})).verdict.findings
    assert [(finding.rule, finding.task, finding.message) for finding in found] == [
        ("limited-run", "mmlu_pro", "leaderboard_mmlu_pro was run on at most 12,031 of its 12,032 samples")
    ]


def test_a_limit_below_all_sizes_is_said_once_for_the_run() -> None:
    (finding,) = outcome_of(patched({"/config/limit": 0.5, "/n-samples": {}})).verdict.findings
    assert finding.message == "the run was limited to 0.5 of the samples of each task (--limit)"


@pytest.mark.parametrize(
    ("shots", "rules"), [([5], set()), ([5, 5], set()), ([3], {"wrong-num-fewshot"}), ([5, 3], {"unverifiable-pin"})]
)
def test_shots_may_be_a_list(shots: list[int], rules: set[str]) -> None:
    assert rules_of(outcome_of(patched({"/n-shot/leaderboard_mmlu_pro": shots}))) == rules


def test_the_sentence_for_no_package_is_no_release() -> None:
    text = "No package metadata was found for lm_eval"
    assert parse_result(dumps(patched({"/lm_eval_version": text}))).harness.version is None


# ---- means of probabilities ----


def test_a_mean_of_probabilities_is_never_asked_for_whole_answers() -> None:
    data = base_v1_today()
    row = data["results"]["truthfulqa_mc2"]
    row["acc,none"], row["acc_stderr,none"] = 0.4321987, 0.0142
    assert rules_of(outcome_of(data, "open-llm-v1")) == {"not-comparable"}
    assert all(check.task != "truthfulqa_mc2" for check in counts_of(parse_result(dumps(data))))


# ---- groups ----


def mmlu_of_040(*, with_counts: bool) -> dict[str, Any]:
    """Two groups of subjects as harness 0.4.0 writes them: no list of members, depths in the aliases."""
    sizes = {"formal_logic": 126, "philosophy": 311, "anatomy": 135}
    values = {
        name: round(share * size) / size for share, (name, size) in zip((0.3, 0.6, 0.5), sizes.items(), strict=True)
    }
    of = {"humanities": ["formal_logic", "philosophy"], "stem": ["anatomy"]}

    def mean(names: list[str]) -> float:
        return sum(values[name] * sizes[name] for name in names) / sum(sizes[name] for name in names)

    results: dict[str, Any] = {"mmlu": {"acc,none": mean([*sizes]), "acc_stderr,none": 0.02, "alias": "mmlu"}}
    for group, names in of.items():
        results[f"mmlu_{group}"] = {"alias": f" - {group}", "acc,none": mean(names), "acc_stderr,none": 0.03}
        for name in names:
            error = stderr(values[name], sizes[name])
            results[f"mmlu_{name}"] = {"alias": f"  - {name}", "acc,none": values[name], "acc_stderr,none": error}
    configs = {f"mmlu_{name}": {"task": f"mmlu_{name}", "num_fewshot": 5} for name in sizes}
    data = {"results": results, "configs": configs, "versions": dict.fromkeys(configs, 0.0), "n-shot": {}}
    data |= {"config": {"model": "hf", "model_args": "pretrained=example-org/kestrel-7b"}, "git_hash": "c9bbec6e"}
    if with_counts:
        data["n-samples"] = {f"mmlu_{name}": {"original": size, "effective": size} for name, size in sizes.items()}
    return data


def test_indented_aliases_show_groups_where_their_members_are_not_listed() -> None:
    result = parse_result(dumps(mmlu_of_040(with_counts=False)))
    assert set(result.leaves) == {"mmlu_formal_logic", "mmlu_philosophy", "mmlu_anatomy"}
    assert result.subtasks == {
        "mmlu": ("mmlu_humanities", "mmlu_stem"),
        "mmlu_humanities": ("mmlu_formal_logic", "mmlu_philosophy"),
        "mmlu_stem": ("mmlu_anatomy",),
    }


def test_indentation_without_anything_above_it_is_no_group() -> None:
    rows = {"a": {"alias": "  - a"}, "b": {"alias": "  - b"}, "c": {"alias": 3}, "d": 4}
    assert subtasks_of(Content({"": dumps({"results": rows})})) == {}


@pytest.mark.parametrize("with_counts", [True, False])
def test_groups_of_040_are_recomputed(with_counts: bool) -> None:
    data = mmlu_of_040(with_counts=with_counts)
    assert {check.verdict for check in groups_of(parse_result(dumps(data)), {})} == {GROUP_AGREES}
    data["results"]["mmlu"]["acc,none"] += 0.01
    verdicts = {check.group: check.verdict for check in groups_of(parse_result(dumps(data)), {})}
    assert verdicts == {"mmlu": GROUP_DIFFERS, "mmlu_humanities": GROUP_AGREES, "mmlu_stem": GROUP_AGREES}


def test_a_micro_mean_is_recognised_where_keys_have_filters() -> None:
    data = mmlu_of_040(with_counts=False)
    (aggregate,) = of_result("x.json", parse_result(dumps(data))).aggregates
    assert aggregate.micro == pytest.approx(data["results"]["mmlu"]["acc,none"])
    assert aggregate.reported_as == "micro (mean over questions)"


# ---- one fault, one finding ----


def many(key: str, value: object) -> dict[str, Any]:
    """The example file with one value for all subtasks of BBH."""
    data = base()
    for name, row in data["results"].items():
        if name.startswith("leaderboard_bbh_"):
            row[key] = value
            row["acc_norm_stderr,none"] = "N/A" if key == "acc_norm,none" else row["acc_norm_stderr,none"]
    data["results"]["leaderboard_bbh"]["acc_norm,none"] = "N/A"
    return data


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("acc_norm,none", float("inf"), "non-finite-value"),
        ("acc_norm,none", float("nan"), "non-finite-value"),
        ("acc_norm,none", 51.2, "value-out-of-range"),
        ("acc_norm,none", 0.51234567, "value-not-integral"),
        ("acc_norm_stderr,none", 0.5, "stderr-contradicts-samples"),
    ],
)
def test_one_fault_on_many_leaves_is_one_finding(key: str, value: float, rule: str) -> None:
    (finding,) = (one for one in outcome_of(many(key, value)).verdict.findings if one.is_error)
    assert finding.rule == rule
    assert len(finding.leaves) == 24
    assert "; the same in " in finding.message
    assert " and 20 more" in finding.message


def test_a_value_of_another_number_of_samples_is_not_called_broken_too() -> None:
    """marc_ja of models/line-corporation in Stability-AI/lm-evaluation-harness `effdbeaf`: 5,654 samples, not 5,734."""
    data = base()
    data["n-samples"].pop("leaderboard_mmlu_pro")
    data["results"]["leaderboard_mmlu_pro"] |= {
        "acc,none": 0.745136186770428,
        "acc_stderr,none": 0.005796054001130057,
    }
    found = [one.rule for one in outcome_of(data).verdict.findings if one.is_error]
    assert found == ["wrong-sample-count"]


def test_a_row_of_zeros_is_no_copy_of_another() -> None:
    data = base()
    for row in data["results"].values():
        row |= {key: 0.0 if "stderr" not in key else "N/A" for key, value in row.items() if type(value) is float}
    data["groups"] = {}
    files = {f"{name}.json": dumps(data | {"model_name": f"acme/{name}"}) for name in ("one", "other")}
    parsed = [parse_submission(path, {"": file}) for path, file in files.items()]
    rows = Judge(declared(), None).judge(parsed).rows
    assert [rules_of(row) & {"duplicate-scores", "nearly-duplicate"} for row in rows] == [set(), set()]
