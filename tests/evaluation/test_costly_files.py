"""Files of the largest size that are made to cost as much time or memory as they can."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from time import process_time

import pytest

from bot.errors import MalformedResult
from bot.evaluation.compare import MOST_QUESTIONS, compare, run_of_results
from bot.evaluation.definition import LONGEST_CODE, one_layout
from bot.evaluation.formats import MAX_BYTES, parse_result
from bot.evaluation.formats.fields import free_name
from bot.evaluation.formats.secrets import HIDDEN, MAX_FOUND, without_secrets
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import load_shipped
from bot.evaluation.submission import parse_submission
from bot.reporting.locate import Locator
from tests.evaluation.judging import dumps, patched

SECONDS = 15  # of the processor; each of these took minutes or hours
MANY = 100_000
LINE = '{"dataset":"a","model":"a/b","euroeval_version":"1","results":{"total":{"a":1}}}'
MTEB = '{"task_name":"a","dataset_revision":"x","scores":{"t":[%s]}}'
OLMES = '{"all_primary_scores":[],"metrics":[%s]}'
LIGHTEVAL = '{"config_general":{"lighteval_sha":"x","model_config":{}},"results":{%s}}'
INSPECT = '{"status":"success","eval":{"task":"a","model":"hf/a/b"%s},"plan":{},"results":{"scores":[%s]}}'
OPENCOMPASS = "dataset,version,metric,mode,a/b\n%s"
EEE = '{"schema_version":"0.2","evaluation_id":"x","evaluation_results":[%s]}'
LEAF = '{"evaluation_name":"a","score_details":{"score":1},"metric_config":{"metric_id":"%s"}}'


def listed(*parts: str) -> str:
    return ",".join(parts)


def rows(*names: str) -> str:
    return listed(*(f'"{number:x}{name}|0":{{}}' for number in range(MANY) for name in names))


def secrets() -> str:
    config = {"model_args": "pretrained=a/b", "all": [{"token": f"q{number}z"} for number in range(MANY // 2)]}
    found = {f"t{number}": {f"m{metric},none": 1 for metric in range(20)} for number in range(4_000)}
    return json.dumps({"results": found, "config": config, "configs": {}, "n-shot": {}})


FILES: dict[str, Callable[[], str]] = {
    "one name in all lines": lambda: "\n".join([LINE] * (MANY - 1)),
    "one name in all subsets": lambda: MTEB % listed(*['{"a":1}'] * MANY),
    "one name in all tasks": lambda: OLMES % listed(*['{"task":"a"}'] * MANY),
    "one name in all scores": lambda: INSPECT % ("", listed(*["{}"] * MANY)),
    "one name in all results": lambda: EEE % listed(*[LEAF % ""] * (MANY // 2)),
    "all metrics of one name": lambda: EEE % listed(*(LEAF % f"{number:x}" for number in range(MANY // 2))),
    "a long argument beside many scores": lambda: INSPECT
    % (f',"task_args_passed":{{"x":"{"y" * 7_000_000}"}}', listed(*["{}"] * MANY)),
    "many averages and many leaves": lambda: LIGHTEVAL % rows("", ":_average"),
    "averages of OpenCompass beside datasets of the same word": lambda: OPENCOMPASS
    % "".join(f"a-{number},{'-,sum' if number % 2 else 'x,acc'},gen,1\n" for number in range(9_990)),
    "many passwords and many texts": secrets,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_no_file_takes_minutes(name: str) -> None:
    data = FILES[name]().encode()
    assert len(data) <= MAX_BYTES
    began = process_time()
    with suppress(MalformedResult):
        parse_result(data)
    assert process_time() - began < SECONDS


def test_a_number_is_added_to_a_name_that_is_taken_and_no_name_is_given_twice() -> None:
    taken: dict[str, int] = {"a (3)": 0}
    for number in range(200):
        name = free_name("a", taken)
        assert name not in taken
        taken[name] = number
    assert list(taken)[:6] == ["a (3)", "a", "a (2)", "a (4)", "a (5)", "a (6)"]


@pytest.mark.parametrize("group", ['"\\', '\\"""z"', 'rb"\\', "'''\\"])
def test_quotes_without_their_pair_are_looked_through_once(group: str) -> None:
    code = ("def f(" + group * LONGEST_CODE)[:LONGEST_CODE]
    began = process_time()
    for _ in range(100):
        one_layout(code)
    assert process_time() - began < SECONDS


def test_a_credential_is_not_looked_for_in_what_hides_another() -> None:
    assert without_secrets("a=b,token=e,token=e," * 5) == "a=b,tok[secret]n=[secret],tok[secret]n=[secret]," * 5


def test_a_text_with_very_many_credentials_is_hidden_as_a_whole() -> None:
    many = ",".join(f"token=q{number}z" for number in range(MAX_FOUND + 1))
    assert without_secrets({"x": many}) == {"x": HIDDEN}


def test_counts_of_a_large_group_are_compared_by_their_errors() -> None:
    def run(share: float) -> bytes:
        size, names = MOST_QUESTIONS // 100, [f"t{number}" for number in range(900)]
        leaf = {"acc,none": share, "acc_stderr,none": (share * (1 - share) / (size - 1)) ** 0.5}
        counts = {name: {"original": size, "effective": size} for name in names}
        found = dict.fromkeys(names, leaf) | {"g": {"acc,none": share}}
        parts = {"configs": {}, "n-shot": {}, "n-samples": counts, "group_subtasks": {"g": names}}
        return json.dumps({"results": found, **parts}).encode()

    first, second = (run_of_results(str(share), [parse_result(run(share))]) for share in (0.5, 0.25))
    began = process_time()
    found = compare(first, second)
    assert process_time() - began < SECONDS
    assert [(task.id, task.conclusion) for task in found.tasks] == [("g", "lower")]


def test_a_line_far_inside_is_not_looked_for_by_decoding_the_file_for_each_level() -> None:
    deep = 190
    text = '{"a":' * deep + '{"b":"' + "\\u0061" * 1_300_000 + '","c":1}' + "}" * deep
    began = process_time()
    assert Locator(text.encode()).line_of("/a" * deep + "/c") == 1
    assert process_time() - began < SECONDS


def test_an_archive_has_no_lines() -> None:
    assert Locator(b"PK\x03\x04\n\x00{}").line_of("/results/a") == 0


@pytest.mark.slow
def test_a_run_that_is_submitted_many_times_is_joined_at_once() -> None:
    files = [
        parse_submission(f"results_{number}.json", {"": dumps(patched({"/date": 1.7e9 + number}))})
        for number in range(600)
    ]
    began = process_time()
    [row] = judge_all(files, load_shipped("open-llm-v2")).rows
    assert process_time() - began < SECONDS
    assert row.lead.path == "results_599.json"
