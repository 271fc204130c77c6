"""What was asked: each field of a definition changed in a sound file is found where it decides, and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.definition import LONGEST_VALUE, canonical, definition_of, differences, field_of
from bot.evaluation.finding import Finding
from bot.evaluation.formats import (
    Content,
    every_eval_ever,
    helm,
    inspect_log,
    lighteval,
    lm_eval_03,
    olmes,
    parse_content,
    parse_result,
)
from bot.evaluation.formats.lm_eval_04 import DECIDING
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed, parse_submission
from bot.platforms.inputs import local_places
from bot.reporting.explanation import explanation_text
from examples.make_results import asked
from tests.evaluation.drafting import drafted
from tests.evaluation.judging import base, declared, dumps, judgement_of, patched
from tests.evaluation.parts import only

LEAF = "leaderboard_gpqa_main"
SILENT = {
    "task": "another_name",
    "task_alias": "an alias",
    "group": "a_group",
    "tag": ["a tag"],
    "metadata": {"version": 1.0, "pretrained": "example-org/kestrel-7b"},
    "metric_list": [{"metric": "acc_norm", "aggregation": "<function mean at 0x7f0102030405>"}],
    "should_decontaminate": True,
    "unsafe_code": False,
    "target_delimiter": " ",
    "fewshot_delimiter": "\n\n",
    "description": "",
    "repeats": 1.0,
    "dataset_kwargs": {"trust_remote_code": True},
}


def with_config(changes: dict[str, Any], leaf: str = LEAF) -> Parsed:
    data = base()
    data["configs"][leaf] |= changes
    return parse_submission("results_x.json", {"": dumps(data)})


def findings(parsed: Parsed) -> list[Finding]:
    return list(judge_all([parsed], declared()).verdicts[0].findings)


OTHERS = {"metric_list": [{"metric": "acc_norm", "ignore_case": True}]}


@pytest.mark.parametrize("field", [field for field in DECIDING if not field.startswith("lmms")])
def test_a_field_that_decides_is_found_and_named(field: str) -> None:
    other = {"revision": "of the author"} if field.endswith("kwargs") else OTHERS.get(field, "another")
    (found,) = findings(with_config({field: other}))
    assert found.rule == "other-task-definition"
    assert found.is_error
    assert f"{field} is " in found.message
    assert found.location.pointer == f"/configs/{LEAF}/{field}"
    assert found.leaves == (LEAF,)


@pytest.mark.parametrize("field", SILENT)
def test_a_field_that_does_not_decide_is_silent(field: str) -> None:
    assert findings(with_config({field: SILENT[field]})) == []


def test_an_address_in_memory_is_no_difference() -> None:
    digests = set()
    for address in ("0x7f2a4c1d5ee0", "0x10"):
        parsed = with_config({"fewshot_config": {"samples": f"<function list_fewshot_samples at {address}>"}})
        assert parsed.result is not None
        digests.add(parsed.result.leaves[LEAF].definition)
    assert len(digests) == 1


SCORED, ADDRESS = "leaderboard_ifeval", "<function process_results at 0x7f2a4c1d5ee0>"
GENEROUS = "def process_results(doc, results):\n    return {'prompt_level_strict_acc': True}\n"


def test_a_scoring_function_that_was_replaced_is_another_definition() -> None:
    (found,) = findings(with_config({"process_results": GENEROUS}, SCORED))
    assert (found.rule, found.location.pointer) == ("other-task-definition", f"/configs/{SCORED}/process_results")
    own = [dict(one) for one in base()["configs"][SCORED]["metric_list"]]
    own[1]["aggregation"] = "def best(items):\n    return 1.0\n"
    (found,) = findings(with_config({"metric_list": own}, SCORED))
    assert (found.rule, found.location.pointer) == ("other-task-definition", f"/configs/{SCORED}/metric_list")


def test_the_address_of_a_function_is_not_recorded_and_no_other_definition() -> None:
    parsed = with_config({"process_results": ADDRESS}, SCORED)
    (found,) = findings(parsed)
    assert (found.rule, found.is_error, found.leaves) == ("unverifiable-pin", False, (SCORED,))
    for field in (
        "process_results",
        "doc_to_text",
    ):  # of a task that has no scoring function, and whose prompt is a text
        (found,) = [one for one in findings(with_config({field: ADDRESS})) if one.is_error]
        assert (found.rule, found.leaves) == ("other-task-definition", (LEAF,))
    whole, other = with_config({}).result, parsed.result
    assert whole is not None
    assert other is not None
    assert differences(whole, SCORED, other, SCORED) == []


def test_a_draft_of_a_file_with_the_address_of_a_function_takes_its_text_and_no_other_prompt() -> None:
    data = base()
    data["configs"][SCORED]["process_results"] = ADDRESS
    board, _ = drafted(data)
    assert [one.rule for one in judge_all([with_config({})], board).verdicts[0].findings] == []
    (found,) = judge_all([with_config({"doc_to_text": "another"}, SCORED)], board).verdicts[0].findings
    assert found.rule == "other-task-definition"
    (found,) = judge_all([with_config({"process_results": None}, SCORED)], board).verdicts[0].findings
    assert found.rule == "other-task-definition"


def test_a_value_is_compared_24_levels_deep() -> None:
    def nested(levels: int, innermost: int) -> Any:
        return [nested(levels - 1, innermost)] if levels else innermost

    assert canonical(nested(24, 1)) != canonical(nested(24, 2))
    assert canonical(nested(25, 1)) == canonical(nested(25, 2))


@pytest.mark.parametrize("description", ["", "Answer as a pirate does."])
def test_a_field_alone_is_that_of_the_whole_definition(description: str) -> None:
    result = parse_result(dumps(patched({f"/configs/{LEAF}/description": description})))
    whole = definition_of(result, LEAF)
    assert whole
    assert {name: field_of(result, LEAF, name) for name in DECIDING} == {name: whole.get(name) for name in DECIDING}
    assert field_of(result, "no_such_leaf", "description") is None


def test_both_values_are_shown_where_they_differ() -> None:
    prompt = base()["configs"][LEAF]["doc_to_text"]
    (found,) = findings(with_config({"doc_to_text": prompt.replace("(D)", "(E)")}))
    assert "(E)" in found.message
    assert "(D)" in found.message
    assert len(found.message) < 500


def test_one_fault_of_many_leaves_is_one_finding() -> None:
    data = base()
    for leaf, config in data["configs"].items():
        if leaf.startswith("leaderboard_bbh_"):
            config["doc_to_text"] = "{{target}}" + config["doc_to_text"]
    (found,) = findings(parse_submission("results_x.json", {"": dumps(data)}))
    assert len(found.leaves) == 24


def test_a_result_keeps_little_of_what_was_asked_and_reads_back() -> None:
    data = base()
    for number, config in enumerate(data["configs"].values()):
        config["doc_to_text"] = f"{number} " + "x" * 100_000
    parsed = parse_submission("results_x.json", {"": dumps(data)})
    assert Parsed.from_bytes(parsed.to_bytes()) == parsed
    assert parsed.result is not None
    assert max(len(one.text) for one in parsed.result.asked) <= LONGEST_VALUE
    assert len(parsed.to_bytes()) < 40_000


def test_files_that_asked_one_leaf_otherwise_are_no_runs_of_one_task() -> None:
    declaration = declared().model_dump()
    declaration["harness"]["definitions"] = ()
    free = Leaderboard.model_validate(declaration)
    data = base()
    data["configs"][LEAF]["doc_to_text"] = "{{Answer}}"
    other = parse_submission("results_y.json", {"": dumps(data)})
    (row,) = judge_all([with_config({}), other], free).rows
    (told,) = [one.message for one in row.findings if one.rule == "settings-differ"]
    assert told.startswith("the prompts differ")
    assert "{{Answer}}" in told
    assert not [one for one in row.findings if one.rule == "rerun-differs"]


def test_of_many_leaves_that_were_asked_otherwise_the_first_by_name_is_told() -> None:
    """In the same words by every process, or the text of a request would change with each of them."""
    declaration = declared().model_dump()
    declaration["harness"]["definitions"] = ()
    data = base()
    leaves = sorted(data["configs"])
    for leaf in leaves:
        data["configs"][leaf]["doc_to_text"] = "{{Answer}}"
    other = parse_submission("results_y.json", {"": dumps(data)})
    (row,) = judge_all([with_config({}), other], Leaderboard.model_validate(declaration)).rows
    assert [why.partition(":")[0] for why in row.prompts.values()] == leaves[:1]


def of_format(name: str, changes: dict[str, Any]) -> list[Finding]:
    """The findings on the definition in a file of another format, judged by the board drafted from the original."""
    start, read = FILES[name]
    result = read(patched(changes, start))
    verdict = judge_all([Parsed("x", "0" * 64, 1, result)], drafted(read(start))[0]).verdicts[0]
    return [found for found in verdict.findings if found.rule == "other-task-definition"]


def of_json(data: Any) -> Result:
    return parse_result(dumps(data))


def of_run(data: Any) -> Result:
    return parse_content(Content({name: dumps(part) for name, part in data.items()}))


LIGHTEVAL = {
    "config_general": {"model_name": "acme/atlas", "lighteval_sha": "?", "model_config": {"model_name": "acme/atlas"}},
    "results": {"community|quiz|0": {"acc": 0.5, "acc_stderr": 0.05}},
    "versions": {"community|quiz|0": 1},
    "config_tasks": {"community|quiz": {
        "name": "quiz", "prompt_function": "<function quiz at 0x7f01>", "hf_repo": "acme/quiz", "hf_subset": "default",
        "hf_revision": None, "hf_avail_splits": ["train", "test"], "evaluation_splits": ["test"], "metric": ["acc"],
        "few_shots_split": None, "few_shots_select": None, "generation_size": 50, "stop_sequence": ["\n"],
        "num_samples": None, "suite": ["community"], "original_num_docs": 100, "effective_num_docs": 100, "version": 1,
    }},
}  # fmt: skip
OLMES = {
    "task_name": "quiz",
    "task_config": {
        "task_name": "quiz", "split": "test", "dataset_path": "acme/quiz", "primary_metric": "acc",
        "context_kwargs": {"description": "Answer.", "truncation_size_when_saved": 5000}, "num_shots": 0,
        "generation_kwargs": {"max_gen_toks": 50, "stop_sequences": []}, "metadata": {"alias": "quiz::olmes"},
    },
    "metrics": {"acc": 0.5},
    "model_config": {"model": "acme/atlas", "revision": "0" * 40},
    "num_instances": 100,
}  # fmt: skip
INSPECT = {
    "version": 2, "status": "success",
    "eval": {
        "task": "quiz", "model": "hf/acme/atlas", "dataset": {"name": "acme/quiz", "samples": 100, "shuffled": False},
        "task_args": {"subject": "law", "request_timeout": 60}, "task_args_passed": {}, "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.90"},
    },
    "plan": {"steps": [{"solver": "system_message", "params": {"template": "Answer."}}],
             "config": {"temperature": 0.0, "max_connections": 4}},
    "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}, "stderr": {"value": 0.05}}}]},
}  # fmt: skip
HELM = {
    "run_spec.json": {
        "name": "quiz:model=acme_atlas",
        "scenario_spec": {"class_name": "Quiz", "args": {}},
        "adapter_spec": {"method": "generation", "instructions": "Answer.", "model": "acme/atlas", "temperature": 0.0,
                         "max_train_instances": 5},
        "metric_specs": [{"class_name": "Exact", "args": {}}],
    },
    "stats.json": [{"name": {"name": "exact_match", "split": "test"}, "mean": 0.5, "count": 1}],
}  # fmt: skip
HARNESS_03 = {
    "results": {"quiz": {"acc": 0.5, "acc_stderr": 0.05}},
    "versions": {"quiz": 0},
    "config": {"model": "hf", "model_args": "pretrained=acme/atlas", "num_fewshot": 0, "no_cache": True,
               "description_dict": None},
}  # fmt: skip
LISTED = {
    "results": [{"task_name": "quiz", "prompt_name": "short", "acc": 0.5, "dataset_path": "acme/quiz",
                 "dataset_name": "law", "subset": None, "prompt_jinja": "{{q}} ||| {{a}}", "prompt_id": "1",
                 "fixed_answer_choice_list": None}],
    "versions": {"quiz+short": 0},
    "config": {"model": "hf", "model_args": "pretrained=acme/atlas", "num_fewshot": 0, "no_cache": True},
}  # fmt: skip
PROMPTS = {"default": {"post_prompt": "Answer."}, "qwen": {"post_prompt": "Say."}, "post_prompt": "Say."}
LMMS = {
    "results": {"quiz": {"acc,none": 0.5, "acc_stderr,none": 0.05}},
    "configs": {"quiz": {"dataset_path": "acme/quiz", "doc_to_text": "{{q}}", "output_type": "generate_until",
                         "lmms_eval_specific_kwargs": PROMPTS}},
    "n-shot": {"quiz": 0}, "versions": {"quiz": 0}, "config": {"model": "qwen", "model_args": "pretrained=acme/atlas"},
}  # fmt: skip
V1 = {
    "config_general": {"model_name": "acme/atlas"},
    "results": {"harness|quiz|0": {"acc": 0.5, "acc_stderr": 0.05}},
    "versions": {"harness|quiz|0": 0},
    "summary_tasks": {"harness|quiz|0": {"hashes": {"hash_examples": "17b0", "hash_full_prompts": "045c"}}},
}
RECORD = {
    "schema_version": "0.3.0", "evaluation_id": "quiz/acme/1", "model_info": {"id": "acme/atlas"},
    "evaluation_results": [{
        "evaluation_name": "quiz", "score_details": {"score": 0.5}, "metric_config": {"metric_id": "acc"},
        "source_data": {"dataset_name": "quiz", "hf_repo": "acme/quiz", "hf_split": "test", "samples_number": 100},
        "generation_config": {"generation_args": {"temperature": 0.0, "execution_command": "run atlas"}},
    }],
}  # fmt: skip
FILES = {
    "lm-eval-0.3": (HARNESS_03, of_json),
    "a list of lm-eval-0.3": (LISTED, of_json),
    "lmms-eval": (LMMS, of_json),
    "open-llm-v1": (V1, of_json),
    "every-eval-ever": (RECORD, of_json),
    "lighteval": (LIGHTEVAL, of_json),
    "olmes": (OLMES, of_json),
    "inspect": (INSPECT, of_json),
    "helm": (HELM, of_run),
}
QUIZ, RUN = "/config_tasks/community|quiz", "/run_spec.json"
ROW, HASHES, GENERATION = "/results/0", "/summary_tasks/harness|quiz|0/hashes", every_eval_ever.GENERATION
KWARGS = "/configs/quiz/lmms_eval_specific_kwargs"
DECIDE = [
    ("lmms-eval", KWARGS, PROMPTS | {"default": {"post_prompt": "another"}}),
    ("lm-eval-0.3", "/config/description_dict", {"quiz": "another"}),
    *(("a list of lm-eval-0.3", f"{ROW}/{field}", "another") for field in lm_eval_03.DECIDING),
    ("open-llm-v1", f"{HASHES}/hash_examples", "another"),
    *(
        ("every-eval-ever", f"/evaluation_results/0/{place}/{field}", "another")
        for place, fields in every_eval_ever.DECIDING.items()
        for field in fields
    ),
    *(("lighteval", f"{QUIZ}/{field}", "another") for field in lighteval.DECIDING),
    *(("olmes", f"/task_config/{field}", {"of": "another"}) for field in olmes.DECIDING),
    *(("inspect", f"/{place}", {"of": "another"}) for place in inspect_log.DECIDING if place != "eval/scorers"),
    ("inspect", "/eval/scorers", [{"name": "match", "options": {"template": "another"}}]),
    *(("helm", f"{RUN}/{part}", [{"of": "another"}]) for part in helm.DECIDING if part != "adapter_spec"),
    *(("helm", f"{RUN}/adapter_spec/{field}", "another") for field in ("method", "instructions", "temperature")),
]
DO_NOT = [
    ("lmms-eval", f"{KWARGS}/post_prompt", "Answer."),
    ("lm-eval-0.3", "/config/description_dict", {"another quiz": "another"}),
    ("a list of lm-eval-0.3", f"{ROW}/prompt_id", "another"),
    ("open-llm-v1", f"{HASHES}/hash_full_prompts", "another"),
    ("every-eval-ever", f"/evaluation_results/0/{GENERATION}/execution_command", "run borealis"),
    ("every-eval-ever", f"/evaluation_results/0/{GENERATION}", {}),
    ("lighteval", f"{QUIZ}/prompt_function", "<function quiz at 0x55>"),
    ("lighteval", f"{QUIZ}/hf_avail_splits", ["test"]),
    ("lighteval", f"{QUIZ}/hf_revision", "main"),
    ("lighteval", f"{QUIZ}/effective_num_docs", 100.0),
    ("lighteval", f"{QUIZ}/metric", ["f1"]),
    ("olmes", "/task_config/context_kwargs/truncation_size_when_saved", 10),
    ("olmes", "/task_config/metadata/regimes", ["a"]),
    ("inspect", "/eval/task_args/request_timeout", 120),
    ("inspect", "/eval/scorers", [{"name": "match", "options": {}, "metrics": [{"name": "accuracy"}]}]),
    ("inspect", "/plan/config/max_connections", 10),
    ("inspect", "/plan/config/temperature", 0),
    ("inspect", "/eval/dataset/location", "/home/someone/quiz.jsonl"),
    ("helm", f"{RUN}/adapter_spec/model", "acme/borealis"),
    ("helm", f"{RUN}/adapter_spec/model_deployment", "x/y"),
]


@pytest.mark.parametrize(("name", "pointer", "value"), DECIDE)
def test_a_field_of_another_format_that_decides_is_found_and_named(name: str, pointer: str, value: Any) -> None:
    assert of_format(name, {}) == []
    (found,) = of_format(name, {pointer: value})
    assert "another" in found.message
    assert pointer.rpartition("/")[2] in found.message
    assert found.location.pointer.endswith(pointer.removeprefix(QUIZ).removeprefix(RUN))


@pytest.mark.parametrize(("name", "pointer", "value"), DO_NOT)
def test_a_field_of_another_format_that_does_not_decide_is_silent(name: str, pointer: str, value: Any) -> None:
    assert of_format(name, {pointer: value}) == []


def test_a_file_that_names_its_release_must_have_the_definition_of_that_release() -> None:
    algebra = "leaderboard_math_algebra_hard"
    old, new = ({**asked("open-llm-v2-eleutherai", algebra, one)} for one in ("0.4.4", "0.4.9"))
    assert old != new
    data = patched({"/lm_eval_version": "0.4.9"})
    data["configs"][algebra] = {k: v for k, v in data["configs"][algebra].items() if k not in DECIDING} | old
    found = findings(parse_submission("results_x.json", {"": dumps(data)}))
    assert {one.rule for one in found} == {"other-task-definition"}
    data["lm_eval_version"] = data["git_hash"] = None
    found = findings(parse_submission("results_x.json", {"": dumps(data)}))
    assert "other-task-definition" not in {one.rule for one in found}


@pytest.mark.parametrize(
    ("asks_as", "label", "rules"),
    [
        ("0.4.9", "0.4.8", set()),  # a copy of the repository between the two
        ("0.4.8", "0.4.8", {"known-bad-release"}),
        ("0.4.9.1", "0.4.7", {"other-task-definition"}),
        ("0.4.8", None, {"known-bad-release"}),
    ],
)
def test_what_a_task_asked_says_more_than_the_label(asks_as: str, label: str | None, rules: set[str]) -> None:
    data = patched({"/lm_eval_version": label, "/git_hash": None})
    for leaf in (leaf for leaf in data["configs"] if leaf.startswith("leaderboard_math")):
        others = {k: v for k, v in data["configs"][leaf].items() if k not in DECIDING}
        data["configs"][leaf] = others | asked("open-llm-v2-eleutherai", leaf, asks_as)
    found = findings(parse_submission("results_x.json", {"": dumps(data)}))
    assert {one.rule for one in found if one.is_error} == rules


def test_a_file_with_a_part_of_each_definition_says_that_only_the_part_was_compared() -> None:
    configs = {key: {"task": key, "num_fewshot": one["num_fewshot"]} for key, one in base()["configs"].items()}
    (found,) = findings(parse_submission("results_x.json", {"": dumps(base() | {"configs": configs})}))
    assert (found.rule, found.is_error) == ("unverifiable-pin", False)
    assert "records parts of the definition" in found.message


def test_a_commit_between_two_releases_that_asks_as_neither_is_not_said_to_have_the_fault_of_the_first() -> None:
    algebra = "leaderboard_math_algebra_hard"
    data = patched({"/lm_eval_version": "0.4.8", "/git_hash": None})
    for leaf in (leaf for leaf in data["configs"] if leaf.startswith("leaderboard_math")):
        others = {k: v for k, v in data["configs"][leaf].items() if k not in DECIDING}
        own = asked("open-llm-v2-eleutherai", leaf, "0.4.9")
        data["configs"][leaf] = others | own | {"process_docs": own["process_docs"] + "\n    return dataset"}
    found = [one for one in findings(parse_submission("results_x.json", {"": dumps(data)})) if one.is_error]
    assert {one.rule for one in found} == {"other-task-definition"}
    assert (
        f"{algebra} asked something else: process_docs is other text after its first 240 characters" in found[0].message
    )


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"fewshot_config": {"sampler": "first_n", "samples": {}}}, "fewshot_config/samples"),
        ({"process_docs": {}}, "process_docs"),
        ({"process_results": {}}, "process_results"),
    ],
)
def test_a_function_of_which_a_writer_left_an_empty_object_is_named_as_not_recorded(
    changes: dict[str, Any], place: str
) -> None:
    algebra = "leaderboard_math_algebra_hard"
    (found,) = findings(with_config(changes, algebra))
    assert found.location.pointer == f"/configs/{algebra}/{place}"
    assert f"the text of {place}, a function, of {algebra}: only the rest" in found.message
    configs = base()["configs"]
    configs[algebra] |= changes
    assert f", without the text of {place}\n" in explanation_text(
        judgement_of({"x.json": base() | {"configs": configs}})
    )
    assert (found.rule, found.is_error, found.leaves) == ("unverifiable-pin", False, (algebra,))
    others = findings(with_config({"fewshot_config": {"sampler": "random", "samples": {}}}, algebra))
    assert "other-task-definition" in {one.rule for one in others}


def test_a_result_of_the_shipped_tasks_stores_digests_alone() -> None:
    parsed = parse_submission("results_x.json", {"": dumps(base())})
    assert parsed.result is not None
    assert (parsed.result.definitions, parsed.result.asked) == ({}, ())
    assert len(parsed.to_bytes()) < 15_000


def test_two_metrics_of_one_leaf_are_one_finding() -> None:
    (found,) = findings(with_config({"doc_to_text": "{{answer}}"}, "leaderboard_ifeval"))
    assert found.leaves == ("leaderboard_ifeval",)


def test_a_draft_refuses_another_definition_than_that_of_its_files() -> None:
    board, _ = drafted(base())
    data = base()
    data["configs"][LEAF]["doc_to_text"] = "{{Answer}}"
    rules = {one.rule for one in judge_all([with_config({})], board).verdicts[0].findings}
    assert "other-task-definition" not in rules
    (found,) = judge_all([parse_submission("y.json", {"": dumps(data)})], board).verdicts[0].findings
    assert (found.rule, found.leaves) == ("other-task-definition", (LEAF,))


def test_a_value_that_a_declaration_spells_out_is_shown_as_it_stands_there() -> None:
    data = base()
    data["configs"][LEAF]["doc_to_text"] = "Question: {{Question}}"
    board, _ = drafted(data)
    (found,) = judge_all([with_config({})], board).verdicts[0].findings
    assert found.message.endswith('accepted is "Question: {{Question}}"')


@pytest.mark.parametrize("given", [None, "max_tokens_thinking=500", "max_tokens_thinking=500,min_p=0.1"])
def test_a_command_has_the_generation_settings_that_the_board_accepts(given: str | None) -> None:
    def run(gen_kwargs: str | None, **asked: Any) -> Any:
        data = only(patched({"/config/gen_kwargs": gen_kwargs}), {"leaderboard_ifeval"})
        data["configs"]["leaderboard_ifeval"]["generation_kwargs"] |= asked
        return data

    def judged(data: Any) -> tuple[Finding, ...]:
        return judge_all([parse_submission("results_x.json", {"": dumps(data)})], board).verdicts[0].findings

    wanted = run("max_tokens_thinking=8000", max_tokens_thinking=8000)
    board, _ = drafted(wanted)
    assert not [one for one in judged(wanted) if one.is_error]
    asked = {name: float(value) for name, _, value in (one.partition("=") for one in (given or "").split(",")) if name}
    (found,) = [one for one in judged(run(given, **asked)) if one.is_error]
    assert found.rule == "other-task-definition"
    assert """--gen_kwargs '{"max_tokens_thinking": 8000}' """ in found.command
    assert "without --gen_kwargs" not in found.hint


def test_no_real_file_of_an_accepted_release_asked_something_else(reference: Path) -> None:
    judged = 0
    for place in local_places(str(reference)):
        parsed = place.parse()
        if isinstance(parsed, Parsed) and parsed.result is not None:
            for name in ("open-llm-v1", "open-llm-v2"):
                found = judge_all([parsed], declared(name)).verdicts[0].findings
                judged += "other-task-definition" not in {one.rule for one in found}
                assert [one.message for one in found if one.rule == "other-task-definition"] == [], parsed.path
    assert judged > 300


MUSR = """def doc_to_text(doc):
    choices = ""
    for i, choice in enumerate(ast.literal_eval(doc["choices"])):
        choices += f"{i+1} - {choice}\\n"

    text = DOC_TO_TEXT.format(
        narrative=doc["narrative"], question=doc["question"], choices=choices
    )  # as the board asks
    return text
"""


def test_a_function_in_another_layout_asks_the_same() -> None:
    other = MUSR.replace("{i+1}", "{i + 1}").replace("choices=choices\n    )  # as", "choices=choices,\n    )  # as")
    line = 'text = DOC_TO_TEXT.format(narrative=doc["narrative"], question=doc["question"], choices=choices)\n'
    short = MUSR[: MUSR.index("text =")] + line + "\n\n    return text"
    assert canonical(MUSR) == canonical(other) == canonical(short)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" - {choice}", "- {choice}"),
        ('""', '" "'),
        ("i+1", "i+2"),
        ('doc["question"]', 'doc["answer"]'),
        ("    return text", "        return text"),
        ("{i+1}", "{{i+1}}"),
    ],
)
def test_a_function_that_asks_something_else_is_another_one(old: str, new: str) -> None:
    assert old in MUSR
    assert canonical(MUSR) != canonical(MUSR.replace(old, new))


def test_the_spaces_of_a_prompt_that_is_text_count() -> None:
    assert canonical("Q: {{question}}\n  A:") != canonical("Q: {{question}}\nA:")
    assert canonical("default  answer") == "default  answer"


def test_a_long_function_with_quotes_that_never_end_is_read_at_once() -> None:
    for hostile in ('"""\\' * 4_000, "'\\'\"" * 4_000, 'f"{' * 4_000, "(" * 15_000, "{a " * 6_000):
        canonical(f"def a():\n    {hostile}")
