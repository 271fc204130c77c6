"""The catalogue: each fact once and with its source, and the leaves of its groups in declarations."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import MalformedDeclaration
from bot.evaluation.aggregates import samples_behind, whole
from bot.evaluation.benchmarks.catalogue import PLACE, CatalogueFile, catalogue, find_group, members_of
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard, with_group_leaves
from bot.evaluation.toml_file import parse_toml
from tests.evaluation.judging import base, declared, outcome_of, rules_of

ONE = """\
formats = ["lm-eval-0.4"]

[sources]
samples = "counted"
choices = "counted"
metrics = "the paper"
num_fewshot = "the paper"
dataset = "the paper"

[[benchmarks]]
id = "quiz"
title = "Quiz"
metrics = [{ name = "acc" }]
choices = 4
samples = 100
num_fewshot = 0
dataset = "acme/quiz"
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("samples = 100", "samples = 0", "greater than 0"),
        ("choices = 4", "choices = 400", "write a number of at most 20"),
        ('dataset = "acme/quiz"', 'dataset = "quiz"', "write org/name of the dataset"),
        ("num_fewshot = 0", "num_fewshot = 0\nshots = 0", "is not a known key"),
    ],
)
def test_a_fault_of_a_file_is_named(old: str, new: str, why: str) -> None:
    assert parse_toml(ONE, "one.toml", CatalogueFile).benchmarks[0].guessing == Fraction(1, 4)
    with pytest.raises(MalformedDeclaration, match=why):
        parse_toml(ONE.replace(old, new, 1), "one.toml", CatalogueFile)


def test_each_fact_has_its_source_and_each_guess_its_reason() -> None:
    for file in catalogue().files.values():
        for known in (*file.benchmarks, *file.groups):
            facts = {"samples", "metrics", "num_fewshot", "dataset"}
            facts |= {"choices"} if known.choices else set()
            facts |= {"members"} if hasattr(known, "members") else set()
            assert facts <= {*file.sources, *known.sources}, known.id
            members = known.members.values() if isinstance(getattr(known, "members", None), dict) else ()
            assert all(one.guess is None or one.guess_reason for one in (known, *members)), known.id


def test_no_key_of_a_format_is_described_twice() -> None:
    keys: Counter[tuple[str, str]] = Counter()
    for file in catalogue().files.values():
        for known in (*file.benchmarks, *file.groups):
            patterns = {one: getattr(known, "key", known.id) for one in known.formats or file.formats}
            names = members_of(known) if hasattr(known, "members") else [""]
            for format_id, pattern in {**patterns, **known.keys}.items():
                keys.update((format_id, pattern.replace(PLACE, name)) for name in names)
    assert [key for key, count in keys.items() if count > 1] == []
    assert len(keys) > 700


def test_every_leaf_of_a_shipped_declaration_is_known_with_its_samples() -> None:
    for board in ("open-llm-v1", "open-llm-v1-drop", "open-llm-v2"):
        for task, leaf in declared(board).leaves():
            format_id = declared(board).harness.formats[0]
            known = catalogue().find(format_id, leaf.key(format_id))
            assert known is not None, leaf.id
            assert (known.samples, known.of.num_fewshot) == (leaf.samples, task.num_fewshot)
            assert [metric.name for metric in known.of.metrics] == [metric.name for metric in task.metrics]
            bound = task.leaf_lower_bound(leaf)
            assert bound in {0, known.guessable.guessing}
    assert catalogue().find("lm-eval-0.4", "nothing") is None


def test_thirty_tasks_of_the_harness_and_mmlu_in_its_families_are_known() -> None:
    today = [
        known.id
        for file in catalogue().files.values()
        for known in file.benchmarks
        if "lm-eval-0.4" in (known.formats or file.formats) and not known.id.startswith("leaderboard_")
    ]
    assert len(today) >= 30
    families = {group.id for group in catalogue().groups.values() if len(members_of(group)) == 57}
    assert {"mmlu", "mmlu_continuation", "mmlu_generative", "mmlu_llama", "hendrycksTest"} <= families


# ---- groups in declarations ----

BOARD = """\
title = "Mine"
description = "One group."

[harness]
formats = ["lm-eval-0.4"]

[[tasks]]
id = "musr"
title = "MUSR"
metrics = [{ name = "acc_norm" }]
num_fewshot = 0
normalize = "leaf"
members = "leaderboard_musr"
"""
WRITTEN = """\
groups = ["leaderboard_musr"]
leaves = [
    { id = "leaderboard_musr_murder_mysteries", lower_bound = "1/2", bound_reason = "two", samples = 250 },
    { id = "leaderboard_musr_object_placements", lower_bound = "1/5", bound_reason = "five", samples = 256 },
    { id = "leaderboard_musr_team_allocation", lower_bound = "1/3", bound_reason = "three", samples = 250 },
]
"""


def parse(text: str) -> Leaderboard:
    return parse_leaderboard(text, "mine", "mine.toml")


def test_a_group_is_its_leaves_written_out() -> None:
    group, written = parse(BOARD), parse(BOARD.replace('members = "leaderboard_musr"\n', WRITTEN))
    assert group.scoring_digest == written.scoring_digest
    assert [leaf.id for _, leaf in group.leaves()] == [leaf.id for _, leaf in written.leaves()]
    assert group.scoring_digest != parse(BOARD.replace("leaderboard_musr", "leaderboard_gpqa")).scoring_digest
    assert "leaderboard_gpqa_main" in json.dumps(parse(BOARD.replace("_musr", "_gpqa")).model_dump(mode="json"))


def test_leaves_of_a_nested_group_are_nested_unless_the_task_says_otherwise() -> None:
    nested = BOARD.replace("_musr", "_gpqa")
    assert [task.nested for task in parse(BOARD).tasks] == [False]
    assert [task.nested for task in parse(nested).tasks] == [True]
    assert [task.nested for task in parse(f"{nested}nested = false\n").tasks] == [False]


def test_bounds_are_the_catalogues_only_where_leaves_are_scored_one_by_one() -> None:
    def bounds(text: str) -> list[Fraction]:
        return [task.leaf_lower_bound(leaf) for task, leaf in parse(text).leaves()]

    assert bounds(BOARD) == [Fraction(1, 2), Fraction(1, 5), Fraction(1, 3)]
    assert bounds(BOARD.replace('normalize = "leaf"', 'normalize = "leaf"\nlower_bound = "0"')) == [Fraction(0)] * 3
    assert bounds(BOARD.replace('normalize = "leaf"\n', "")) == [Fraction(0)] * 3
    percent = BOARD.replace('normalize = "leaf"', 'normalize = "leaf"\nunit = "percent"')
    assert bounds(percent) == [Fraction(50), Fraction(20), Fraction(100, 3)]


def test_the_keys_of_other_formats_are_those_of_formats_that_are_taken() -> None:
    text = BOARD.replace("leaderboard_musr", "hendrycksTest").replace("lm-eval-0.4", "lm-eval-0.3")
    both = (
        text.replace('["lm-eval-0.3"]', '["lm-eval-0.3", "lm-eval-0.4"]')
        + 'member_keys = { "lm-eval-0.4" = "mmlu_{}" }'
    )
    assert parse(text).tasks[0].leaves[0].keys == {}
    assert parse(both).tasks[0].leaves[0].keys == {"lm-eval-0.4": "mmlu_abstract_algebra"}
    assert parse(text).scoring_digest != parse(both).scoring_digest


@pytest.mark.parametrize(
    ("old", "new", "key", "why"),
    [
        ("leaderboard_musr", "leaderboard_muser", "tasks.0.members", "there is no group 'leaderboard_muser' in the"),
        ('members = "leaderboard_musr"\n', 'members = "leaderboard_musr"\n' + WRITTEN, "tasks.0.members", "not both"),
        (
            'members = "leaderboard_musr"\n',
            "",
            "tasks.0",
            "at least one of its leaves, or `members` with the name of",
        ),
        ('members = "leaderboard_musr"\n', "members = 3", "tasks.0.members", "write a text in quotes"),
        ('[harness]\nformats = ["lm-eval-0.4"]', 'harness = "lm-eval"', "harness", "write a table"),
        ("[[tasks]]", "[tasks]", "tasks", "write a list"),
    ],
)
def test_a_wrong_group_is_refused_with_the_path_of_its_key(old: str, new: str, key: str, why: str) -> None:
    with pytest.raises(MalformedDeclaration) as caught:
        parse(BOARD.replace(old, new, 1))
    assert any(place == key and why in said for place, said in caught.value.faults), caught.value.faults


def test_two_tasks_may_not_share_a_group() -> None:
    again = BOARD.partition("[[tasks]]")[2].replace('id = "musr"', 'id = "again"')
    with pytest.raises(MalformedDeclaration, match="the leaf leaderboard_musr_team_allocation is declared twice"):
        parse(f"{BOARD}\n[[tasks]]{again}")


def test_a_pooled_value_needs_the_size_of_each_leaf(tmp_path: Path) -> None:
    text = BOARD.replace('members = "leaderboard_musr"\n', 'leaves = [{ id = "a" }]\naggregation = "size-weighted"\n')
    with pytest.raises(MalformedDeclaration, match='a: aggregation = "size-weighted" needs the samples of each leaf'):
        parse(text)


def test_leaderboards_shows_the_leaves_of_a_group(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BOARD, encoding="utf-8")
    done = CliRunner().invoke(app, ["leaderboards", str(file)])
    assert done.exit_code == 0
    assert "MUSR is made of (the catalogue's leaderboard_musr):" in done.stdout
    assert "leaderboard_musr_team_allocation" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


# ---- what a declaration need not say ----


def test_samples_and_shots_are_asked_only_where_they_are_declared() -> None:
    data = base()
    data["n-shot"]["leaderboard_musr_team_allocation"] = 7
    for part in ("results", "groups", "group_subtasks"):
        data[part] = {key: value for key, value in data[part].items() if key.startswith("leaderboard_musr")}
    text = BOARD.replace('members = "leaderboard_musr"\n', re.sub(r", samples = \d+", "", WRITTEN))
    assert {"wrong-num-fewshot"} <= rules_of(outcome_of(data, parse(text)))
    assert "wrong-num-fewshot" not in rules_of(outcome_of(data, parse(text.replace("num_fewshot = 0\n", ""))))
    data["n-samples"]["leaderboard_musr_team_allocation"] = {"original": 251, "effective": 251}
    assert "wrong-sample-count" in rules_of(outcome_of(data, parse(BOARD)))
    assert "wrong-sample-count" not in rules_of(outcome_of(data, parse(text)))


def test_a_format_may_count_versions_otherwise() -> None:
    text = BOARD.replace("num_fewshot = 0\n", 'versions = ["0"]\nformat_versions = { "lm-eval-0.4" = ["2"] }\n')
    found = {one.rule: one.message for one in outcome_of(base(), parse(text)).findings}
    assert "has version 1; only 2 is accepted" in found["unaccepted-task-version"]
    assert "unaccepted-task-version" not in rules_of(outcome_of(base(), parse(text.replace('["2"]', '["1"]'))))


# ---- sizes, against published files ----


def recovered(row: dict[str, Any], value_key: str, stderr_key: str) -> int | None:
    value, error = row.get(value_key), row.get(stderr_key)
    if not isinstance(value, float) or not isinstance(error, float):
        return None
    behind = samples_behind(value, error)
    return None if behind is None else whole(behind, 1e-5)


def test_sizes_are_those_of_published_files(reference: Path) -> None:
    checked: Counter[str] = Counter()
    for path in sorted([*reference.glob("lm_eval_old/*.json"), *reference.glob("wild/lm-eval-0.[34]/**/*.json")]):
        data = json.loads(path.read_text(encoding="utf-8"))
        results, config = data.get("results"), data.get("config")
        if not isinstance(results, dict) or not isinstance(config, dict) or config.get("limit") is not None:
            continue
        format_id = "lm-eval-0.4" if "configs" in data else "lm-eval-0.3"
        for key, row in results.items():
            known = catalogue().find(format_id, key)
            for metric in known.of.metrics if known and isinstance(row, dict) else ():
                if known is None or not metric.integral:
                    continue
                count = recovered(row, metric.key(format_id), metric.stderr_key(format_id))
                if count is not None:
                    assert count == known.samples, (path.name, key)
                    checked[key] += 1
    assert len(checked) > 150
    assert sum(checked.values()) > 1_000


def test_a_group_is_found_without_the_whole_catalogue() -> None:
    groups = catalogue().groups
    assert {group_id: find_group(group_id) for group_id in groups} == groups
    assert len(groups) == sum(len(file.groups) for file in catalogue().files.values())


@pytest.mark.parametrize("name", ["quiz", "", "ifeval", 'bbh_cot_fewshot"\nid = "x', "leaderboard"])
def test_what_is_no_group_is_not_found(name: str) -> None:
    assert find_group(name) is None


def leaves_of(group: str) -> list[dict[str, Any]]:
    task = {"id": "one", "members": group, "normalize": "leaf"}
    data, faults = with_group_leaves({"harness": {"formats": ["olmes"]}, "tasks": [task]})
    assert faults == []
    leaves: list[dict[str, Any]] = data["tasks"][0]["leaves"]
    return leaves


def test_a_leaf_takes_the_bound_of_its_group_where_it_has_none_and_no_more_than_it_needs() -> None:
    assert {leaf["lower_bound"] for leaf in leaves_of("blimp")} == {"1/2"}
    assert {leaf["lower_bound"] for leaf in leaves_of("leaderboard_musr")} == {"1/2", "1/3", "1/5"}
    assert {tuple(leaf) for leaf in leaves_of("minerva_math")} == {("id", "samples")}


def test_what_is_no_task_or_names_no_group_is_left_to_the_check_of_types() -> None:
    tasks: list[Any] = ["mmlu", 5, None, {"id": "one", "members": ["mmlu"]}, {"id": "two", "members": 5}, {}]
    assert with_group_leaves({"tasks": tasks}) == ({"tasks": tasks}, [])


def test_the_faults_of_a_group_say_what_there_is() -> None:
    tasks = [{"members": "mmlu", "leaves": [{"id": "a"}]}, {"members": "mlu"}]
    data, (both, unknown) = with_group_leaves({"tasks": tasks})
    assert data == {"tasks": tasks}
    assert both == ("tasks.0.members", "a task has leaves or the members of a group, not both")
    where, why = unknown
    assert where == "tasks.1.members"
    assert why.startswith("there is no group 'mlu' in the catalogue; there are agieval_nous, bbh_cot_fewshot, ")
