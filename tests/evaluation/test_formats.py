"""Result files as each release of each harness wrote them, and damaged ones: the same Result, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import MalformedResult
from bot.evaluation.discovery import Candidate, ListedFile, read_candidate
from bot.evaluation.formats import MAX_BYTES, parse_result
from bot.evaluation.judge import judge
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed
from tests.evaluation.judging import base, base_v1, declared, dumps, outcome_of, patch, rules_of, stderr
from tests.variants import crossed

# lm-eval 0.4: top-level keys by the first release that has them.
SINCE = {
    "group_subtasks": "0.4.2",
    "date": "0.4.2",
    "pretty_env_info": "0.4.2",
    "transformers_version": "0.4.2",
    "upper_git_hash": "0.4.2",
    **dict.fromkeys(
        (
            "higher_is_better", "n-samples", "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token",
            "eot_token_id", "max_length", "task_hashes", "model_source", "model_name", "model_name_sanitized",
            "system_instruction", "system_instruction_sha", "fewshot_as_multiturn", "chat_template",
            "chat_template_sha", "total_evaluation_time_seconds",
        ),
        "0.4.3",
    ),
    "lm_eval_version": "0.4.9",
}  # fmt: skip
RELEASES = [*(f"0.4.{minor}" for minor in range(10)), "0.4.9.1", "0.4.9.2", "0.4.10", "0.4.11", "0.4.12", "0.4.13"]
OF_MODEL = ("model_num_parameters", "model_dtype", "model_revision", "model_sha")


def number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def of_release(release: str) -> dict[str, Any]:
    """The example as that release would have written it."""
    absent = {key for key, since in SINCE.items() if number(release) < number(since)}
    data = {key: value for key, value in base().items() if key not in absent}
    if "lm_eval_version" in data:
        data["lm_eval_version"] = release
    if number(release) < (0, 4, 3):
        data["config"] = {key: value for key, value in data["config"].items() if key not in OF_MODEL}
    if (0, 4, 3) <= number(release) < (0, 4, 10):
        data |= {"start_time": 1.5, "end_time": 99.5}
    if (0, 4, 4) <= number(release) < (0, 4, 9):  # the groups have no numbers
        for group in data.pop("groups"):
            data["results"][group] = {" ": " ", "alias": group}
    if number(release) >= (0, 4, 12):
        for key, row in data["results"].items():
            row |= {"name": key, "sample_len": 250}
    return data


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_of_lm_eval_04_reads_alike(release: str) -> None:
    result = parse_result(dumps(of_release(release)))
    assert result.format == "lm-eval-0.4"
    assert result.model.id == "example-org/kestrel-7b"
    assert result.model.precision == "bfloat16"
    assert len(result.model.revision) == 40
    assert len(result.leaves) == 39
    assert result.harness.version == (release if number(release) >= (0, 4, 9) else None)
    assert (result.date is None) == (number(release) < (0, 4, 2))
    assert {leaf.samples is None for leaf in result.leaves.values()} == {number(release) < (0, 4, 3)}
    assert outcome_of(of_release(release)).scores is not None


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_gives_the_same_scores(release: str) -> None:
    data = of_release(release) | {"lm_eval_version": "0.4.9"}
    verdict = outcome_of(data)
    expected = outcome_of(base()).scores
    assert verdict.status == "accepted"
    assert rules_of(verdict) == set()
    assert verdict.scores is not None
    assert expected is not None
    assert [(task.raw, task.score) for task in verdict.scores.tasks] == [(t.raw, t.score) for t in expected.tasks]


def old_file(num_fewshot: int, version: int, *tasks: str) -> dict[str, Any]:
    """A file of lm-eval 0.3: one shot count for all, no commit."""
    leaves = {
        leaf.key("lm-eval-0.3"): leaf.samples for task, leaf in declared("open-llm-v1").leaves() if task.id in tasks
    }
    shares = {key: round(0.4 * samples) / samples for key, samples in leaves.items()}
    return {
        "results": {
            key: {"acc": share, "acc_stderr": stderr(share, leaves[key]), "acc_norm": share, "acc_norm_stderr": 0.01}
            for key, share in shares.items()
        },
        "versions": dict.fromkeys(leaves, version),
        "config": {
            "model": "hf-causal", "model_args": "pretrained=example-org/kestrel-7b,dtype=float16,revision=" + "a1" * 20,
            "num_fewshot": num_fewshot, "batch_size": "8", "device": "cuda", "no_cache": True, "limit": None,
            "bootstrap_iters": 100000, "description_dict": {},
        },
    }  # fmt: skip


def test_a_file_of_lm_eval_03_is_read_with_its_one_shot_count() -> None:
    result = parse_result(dumps(old_file(5, 1, "mmlu")))
    assert result.format == "lm-eval-0.3"
    assert (result.model.id, result.model.precision, result.model.revision) == (
        "example-org/kestrel-7b", "float16", "a1" * 20,
    )  # fmt: skip
    assert {leaf.num_fewshot for leaf in result.leaves.values()} == {5}
    assert result.harness.git_hash is None
    verdict = outcome_of(old_file(5, 1, "mmlu"), "open-llm-v1")
    assert verdict.status == "incomplete"
    assert verdict.scores is not None
    assert [task.id for task in verdict.scores.tasks if task.score is not None] == ["mmlu"]
    assert "unverifiable-harness-commit" in rules_of(verdict)


def test_the_older_mmlu_of_lm_eval_03_is_a_mismatch() -> None:
    assert "implementation-mismatch" in rules_of(outcome_of(old_file(5, 0, "mmlu"), "open-llm-v1"))


def v1_with_config() -> dict[str, Any]:
    data = base_v1()
    return {"config": data.pop("config_general"), **data}


def v1_bare() -> dict[str, Any]:
    return dict(base_v1()["results"])


def v1_bare_keys() -> dict[str, Any]:
    data = base_v1()
    for part in ("results", "versions"):
        data[part] = {key.split("|")[1] if "|" in key else key: value for key, value in data[part].items()}
    return data


@pytest.mark.parametrize("make", [base_v1, v1_with_config, v1_bare, v1_bare_keys])
def test_every_shape_of_v1_gives_the_same_scores(make: Callable[[], dict[str, Any]]) -> None:
    result = parse_result(dumps(make()))
    assert result.format == "open-llm-v1"
    assert len(result.leaves) == 62
    assert "all" not in result.leaves
    shots = {leaf.num_fewshot for leaf in result.leaves.values()}
    assert shots == ({None} if make is v1_bare_keys else {25, 10, 5, 0})
    verdict, expected = outcome_of(make(), "open-llm-v1"), outcome_of(base_v1(), "open-llm-v1")
    assert verdict.scores == expected.scores
    assert result.model.id == ("" if make is v1_bare else "example-org/kestrel-7b")


def test_the_average_of_everything_is_no_mmlu() -> None:
    data = base_v1()
    data["results"]["all"]["acc"] = 0.99
    assert outcome_of(data, "open-llm-v1").scores == outcome_of(base_v1(), "open-llm-v1").scores


# ---- what is spoilt ----


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"{}", "results"),
        (b"null", "holds a JSON null"),
        (b"[]", "holds a JSON array"),
        (b'"x"', "holds a JSON string"),
        (b"true", "holds a JSON boolean"),
        (b"1e5", "holds a JSON number"),
        (b'{"results": {"a": {"acc,none": 1}}', "truncated"),
        (b'{"results": {"a": {"acc,none": 1}}}}', "is not JSON"),
        (b'{"results": {"a": {"acc": 1}}}', "has none of the formats"),
        (b'{"EM": 0.6, "results": [{"task": "navigate"}]}', "has none of the formats"),
        (b'{"results": {"a,b": 1}, "configs": {}, "n-shot": {}}', "row of results that is not an object"),
        (b"\xef\xbb\xbf" + dumps(base()), "byte order mark"),
        (json.dumps(base()).encode("utf-16"), "byte order mark"),
        (json.dumps(base()).encode("utf-16-le"), "is not JSON"),
        (dumps(base()).replace(b"kestrel", b"k\xffstrel"), "is not JSON"),
        (dumps(base()).replace(b"kestrel", b"k\\ud800strel"), "is not JSON"),
        (dumps(base()).replace(b'"acc,none": 0.', b'"acc,none": ' + b"9" * 5000, 1), "is not JSON"),
        (b'{"results": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested more than 200 levels"),
        (b'{"results": {"a": {"acc,none": 1}}, "config": ' + b'{"a":' * 250 + b"1" + b"}" * 251, "nested more than"),
        (b"[" * 200_000, "nested more than 200 levels"),
    ],
)  # fmt: skip
def test_what_is_no_result_file_is_refused_in_words(data: bytes, why: str) -> None:
    with pytest.raises(MalformedResult, match=why):
        parse_result(data)
    verdict = outcome_of(data)
    (finding,) = verdict.findings
    assert (finding.rule, verdict.status, verdict.scores) == ("malformed-file", "rejected", None)
    assert why in finding.message


def test_a_file_over_the_limit_is_not_read_and_says_so() -> None:
    candidate = Candidate("results_x.json", (ListedFile("results_x.json", MAX_BYTES + 1),))
    found = read_candidate(candidate, lambda _, limit: b'{"results": {'[:limit])
    assert isinstance(found, Parsed)
    verdict = judge(found, declared())
    (finding,) = verdict.findings
    assert "has 8.1 MB; the limit is 8 MB" in finding.message
    assert verdict.sha256 == ""


DEEP: Any = 0.5
for _ in range(600):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    "pointer",
    [
        "/results/leaderboard_mmlu_pro/acc,none", "/results/leaderboard_bbh/acc_norm,none", "/group_subtasks/x",
        "/versions/leaderboard_ifeval", "/n-shot/leaderboard_ifeval", "/n-samples/leaderboard_ifeval", "/model_name",
        "/date", "/git_hash", "/chat_template", "/task_hashes/x", "/configs/leaderboard_ifeval", "/something",
    ],
)  # fmt: skip
def test_depth_anywhere_is_refused_or_passed_over(pointer: str) -> None:
    data = patch(base(), pointer, [DEEP] if pointer.startswith("/group_") else DEEP)
    data = patch(data, "/groups/leaderboard_bbh", data["results"]["leaderboard_bbh"])
    assert outcome_of(json.dumps(data).encode()).findings is not None


# ---- what is loose ----


def read(pointer: str, value: Any) -> Result:
    return parse_result(dumps(patch(base(), pointer, value)))


@crossed(
    key=[key for key in base() if key != "results"],
    value=[None, [], {}, 0, 1.5, "x", True, [["a"]], {"a": {"b": []}}],
)
def test_any_type_in_any_part_reads_or_counts_as_absent(key: str, value: Any) -> None:
    result = read(f"/{key}", value)
    assert len(result.leaves) >= 39
    assert outcome_of(patch(base(), f"/{key}", value)).scores is not None


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    data = dumps(base())
    twice = b'{"model_name": "example-org/first",' + data[1:]
    assert parse_result(twice).model.id == "example-org/kestrel-7b"
    assert parse_result(data[:-2] + b',"model_name": "example-org/last"}').model.id == "example-org/last"


@pytest.mark.parametrize(
    ("value", "samples"),
    [(250, 250), (250.0, 250), (250.5, None), ("250", None), (None, None), (True, None), (10**400, 2**53), ([], None)],
)
def test_a_count_is_a_whole_number_or_none(value: Any, samples: int | None) -> None:
    result = read("/n-samples/leaderboard_bbh_navigate/effective", value)
    assert result.leaves["leaderboard_bbh_navigate"].samples == samples


@pytest.mark.parametrize(
    ("value", "version"),
    [(1, 1), (1.0, 1.0), ("Yaml", "Yaml"), ("1.0", "1.0"), (None, None), ([1], None), (True, None)],
)
def test_a_version_is_a_number_or_a_word_or_none(value: Any, version: Any) -> None:
    assert read("/versions/leaderboard_ifeval", value).leaves["leaderboard_ifeval"].version == version


def test_shots_come_from_the_configuration_where_nothing_else_says() -> None:
    result = read("/n-shot/leaderboard_bbh_navigate", None)
    assert result.leaves["leaderboard_bbh_navigate"].num_fewshot == 3


def test_the_same_file_reads_alike_with_and_without_bare_nan() -> None:
    """The strict decoder and the loose one must not differ."""
    strict, loose = read("/something", 0.5), read("/something", float("nan"))
    assert strict == loose


def test_a_group_of_itself_does_not_hang() -> None:
    data = patch(base(), "/group_subtasks", {"a": ["b"], "b": ["a"], "leaderboard_bbh": ["leaderboard_bbh"]})
    data = patch(data, "/results/a", {"acc_norm,none": 0.5})
    assert outcome_of(data).scores is not None
