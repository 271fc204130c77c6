"""Which files join to one row: settings, template, release, format, and what the declaration says."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.rules.rule import Facts
from tests.evaluation.joined_rows import LEAVES, MMLU, row_of, value
from tests.evaluation.judging import (
    ABSENT,
    ROOT,
    base,
    base_v1,
    base_v1_today,
    declared,
    judgement_of,
    patched,
    rules_of,
)
from tests.evaluation.parts import leaves_of, only, parts_of


@pytest.mark.parametrize(
    "changes",
    [
        {"/config/gen_kwargs": {"temperature": 0.8}},
        {"/system_instruction": "Answer briefly."},
        {"/lm_eval_version": None, "/git_hash": "493d432b"},
        {"/lm_eval_version": None, "/git_hash": None},
    ],
)
def test_what_was_measured_in_another_way_does_not_join(changes: dict[str, Any]) -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": one, "other.json": patched(changes, other)})
    assert row.status == "incomplete"
    assert "settings-differ" in rules_of(row)
    assert {leaf.file for task in row.scores.tasks for leaf in task.leaves} == {"one.json"}


def test_files_whose_prompts_have_other_examples_do_not_join_unless_they_have_none() -> None:
    other = {"/config/fewshot_seed": 7}
    one, two = parts_of(base(), 2)
    assert row_of({"one.json": one, "other.json": patched(other, two)}).status == "incomplete"
    without = {leaf for leaf in leaves_of(base()) if base()["n-shot"][leaf] == 0}
    rest = only(base(), {*leaves_of(base())} - without)
    assert row_of({"one.json": patched(other, only(base(), without)), "other.json": rest}).status == "accepted"


FORK, UNKNOWN = {"/lm_eval_version": None, "/git_hash": "493d432b"}, {"/lm_eval_version": None, "/git_hash": None}


def test_an_unverifiable_harness_is_of_no_accepted_range() -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": patched(FORK, one), "other.json": patched(UNKNOWN, other)})
    assert (row.status, len(row.left_out)) == ("incomplete", 1)


def test_unverifiable_harnesses_of_two_formats_do_not_join() -> None:
    board = declared("open-llm-v1")
    spans = [span.model_copy(update={"formats": ()}) for span in board.harness.accepted]
    open_to_all = board.model_copy(update={"harness": board.harness.model_copy(update={"accepted": tuple(spans)})})
    model = {"/config_general/model_sha": base()["config"]["model_sha"], "/config_general/lighteval_sha": "?"}
    old = patched(model | {"/results/harness|gsm8k|5": ABSENT}, base_v1())
    new = patched(UNKNOWN, only(base_v1_today(), {"gsm8k"}))
    row = row_of({"old.json": old, "new.json": new}, open_to_all)
    assert (row.status, [*row.left_out]) == ("incomplete", ["new.json"])


def test_a_value_of_other_settings_is_no_repeat() -> None:
    other = patched({"/config/gen_kwargs": {"temperature": 0.8}} | value(0.5))
    assert rules_of(row_of({"one.json": base(), "other.json": other})) == {"settings-differ"}


def test_what_is_left_out_is_named_from_the_newest_on() -> None:
    most, two, three = parts_of(base(), 3)
    others = {"/config/gen_kwargs": {"temperature": 0.8}}, {"/config/gen_kwargs": {"temperature": 0.9}}
    row = row_of({
        "most.json": patched({}, only(base(), {*leaves_of(most), *leaves_of(two)})),
        "older.json": patched(others[0] | {"/date": 1.7e9}, two),
        "newer.json": patched(others[1] | {"/date": 1.8e9}, three),
    })  # fmt: skip
    assert [file.path for file in row.files] == ["most.json"]
    assert [*row.left_out] == ["newer.json", "older.json"]
    assert row.prompts == {}
    assert "2 files were measured with another harness or other settings" in row.findings[-1].message


def test_a_file_without_a_sound_number_is_not_named_as_left_out() -> None:
    faulty = {"/config/gen_kwargs": {"api_key": "0123456789abcdef"}}
    row = row_of({"sound.json": base(), "faulty.json": patched(faulty)})
    assert (row.status, row.left_out, row.findings) == ("accepted", {}, ())


def test_of_the_same_bytes_the_place_where_they_came_first_counts() -> None:
    for names in ("a.json", "b.json"), ("b.json", "a.json"):
        assert row_of(dict.fromkeys(names, base())).lead.path == "a.json"
    undated = dict.fromkeys(("a.json", "b.json", "c.json"), patched({"/date": ABSENT}))
    committed = Facts(committed={"a.json": 1.8e9, "b.json": 1.6e9, "c.json": 1.7e9})
    assert row_of(undated, facts=committed).lead.path == "b.json"


def test_two_chat_templates_do_not_join() -> None:
    one, other = (patched({"/chat_template": text, "/chat_template_sha": sha}, part) for part, text, sha in zip(
        parts_of(base(), 2), ("{{x}}", "{{y}}"), ("a" * 64, "b" * 64), strict=True
    ))  # fmt: skip
    row = row_of({"one.json": one, "other.json": other})
    assert row.key.chat_template
    assert row.status == "incomplete"


def test_releases_of_one_accepted_range_join() -> None:
    parts = [patched({"/lm_eval_version": release}, part) for release, part in zip(
        ("0.4.9", "0.4.12", "0.4.5"), parts_of(base(), 3), strict=True
    )]  # fmt: skip
    assert row_of(dict(zip("abc", parts, strict=True))).status == "accepted"


@pytest.mark.parametrize(
    "changes",
    [
        {"/model_name": "example-org/other"},
        {"/config/model_sha": "1" * 40},
        {"/config/model_dtype": "torch.float16"},
        {"/chat_template": "{{x}}"},
    ],
)
def test_another_model_revision_precision_or_template_is_another_row(changes: dict[str, Any]) -> None:
    one, other = parts_of(base(), 2)
    judgement = judgement_of({"one.json": one, "other.json": patched(changes, other)})
    assert [row.status for row in judgement.rows] == ["incomplete", "incomplete"]


def declared_never() -> Leaderboard:
    text = (ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")
    return parse_leaderboard(f'{text}\n[join]\nsettings = "never"\n', "open-llm-v2", "x.toml")


def test_never_keeps_one_file_to_a_row() -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": one, "other.json": other}, declared_never())
    assert (row.status, len(row.files), row.coverage.present) == ("incomplete", 1, 20)
    runs = {"old.json": patched({"/date": 1.7e9}), "new.json": patched({"/date": 1.8e9} | value(0.5))}
    assert rules_of(row_of(runs, declared_never())) == {"rerun-differs"}


# ---- other formats ----


def one_shot_count(num_fewshot: int, *tasks: str) -> dict[str, Any]:
    """A file of lm-eval 0.3, with the one shot count that the harness of then knew."""
    board = declared("open-llm-v1")
    leaves = [(task, leaf) for task, leaf in board.leaves() if task.id in tasks]
    rows = {
        leaf.key("lm-eval-0.3"): {task.metrics[0].key("lm-eval-0.3"): round(0.4 * leaf.samples) / leaf.samples}
        for task, leaf in leaves
    }
    args = "pretrained=example-org/kestrel-7b,dtype=float16,revision=" + "a1" * 20
    return {
        "results": rows,
        "versions": {leaf.key("lm-eval-0.3"): int(task.versions[-1]) for task, leaf in leaves},
        "config": {
            "model": "hf-causal",
            "model_args": args,
            "num_fewshot": num_fewshot,
            "no_cache": True,
            "limit": None,
        },
    }


def test_files_of_one_shot_count_each_complete_the_first_leaderboard() -> None:
    tasks = {task.id: task.num_fewshot for task in declared("open-llm-v1").tasks}
    by_shots = {shots: [task for task, count in tasks.items() if count == shots] for shots in set(tasks.values())}
    files = {f"{shots}.json": one_shot_count(shots, *found) for shots, found in by_shots.items()}
    row = row_of(files, "open-llm-v1")
    assert len(row.files) == len(files) == 4
    assert row.status == "accepted"


def test_one_file_of_each_format_makes_one_row() -> None:
    """The v1 file of one task, the harness files of the others: one accepted range, so they join."""
    v1 = base_v1()
    v1["config_general"] |= {"model_sha": "a1" * 20, "model_dtype": "torch.float16"}
    v1["results"] = {key: row for key, row in v1["results"].items() if "hellaswag" in key}
    tasks = {task.id: task.num_fewshot for task in declared("open-llm-v1").tasks if task.id != "hellaswag"}
    files = {f"{name}.json": one_shot_count(shots, name) for name, shots in tasks.items()}
    row = row_of({"v1.json": v1} | files, "open-llm-v1")
    assert row.status == "accepted"
    assert {file.parsed.format for file in row.files} == {"open-llm-v1", "lm-eval-0.3"}


def test_a_file_left_out_may_call_a_leaf_otherwise_as_formats_do() -> None:
    """Harness 0.3 calls it truthfulqa_mc and 0.4 truthfulqa_mc2: nobody knows whether they asked the same."""
    new = base_v1_today()
    old = one_shot_count(0, "truthfulqa")
    old["config"]["model_args"] = new["config"]["model_args"]
    row = row_of({"old.json": old, "new.json": new}, "open-llm-v1")
    assert (row.status, [*row.left_out], row.prompts) == ("accepted", ["old.json"], {})
    assert rules_of(row) == {"settings-differ"}


# ---- what the rules say of a hole ----


def test_the_command_for_a_missing_task_measures_what_joins() -> None:
    """The command's model, commit, precision, template and settings are those of the file that it completes."""
    changes = {
        "/config/model_args": "pretrained=example-org/kestrel-7b,revision=main",
        "/config/gen_kwargs": {"temperature": 0},
        "/chat_template": "{{x}}",
        "/chat_template_sha": "a" * 64,
        "/fewshot_as_multiturn": True,
    }
    part = only(patched(changes), set(LEAVES) - {MMLU})
    (finding,) = row_of({"part.json": part}).findings
    sha = base()["config"]["model_sha"]
    assert f"--model_args pretrained=example-org/kestrel-7b,revision={sha},dtype=bfloat16 " in finding.command
    assert f"--tasks {MMLU} --num_fewshot 5 --apply_chat_template --fewshot_as_multiturn" in finding.command
    assert """--gen_kwargs '{"temperature": 0}'""" in finding.command
    warmer = only(patched({**changes, "/config/gen_kwargs": {"temperature": 0.8}}), set(LEAVES) - {MMLU})
    (finding,) = row_of({"part.json": warmer}).findings
    assert finding.hint.startswith(
        "measure all tasks again without --gen_kwargs: with those of this file none is accepted"
    )
    assert "gen_kwargs" not in finding.command
    assert MMLU in finding.command
    assert "leaderboard_ifeval" in finding.command


def test_a_setting_that_is_too_long_to_repeat_gets_no_command() -> None:
    part = only(patched({"/system_instruction": "x" * 5_000}), set(LEAVES) - {MMLU})
    (finding,) = row_of({"part.json": part}).findings
    why = "there is no command: the file does not record all that its call needs"
    assert (finding.command, finding.hint) == ("", f"measure it with 5 shots (lm-eval 0.4.9); {why}")


def test_a_file_that_asked_otherwise_than_any_file_of_a_row_is_left_out_of_it() -> None:
    """Also where the newest file of the row has no leaf of it, so that nothing in that one differs."""
    declaration = declared("open-llm-v2").model_dump()
    declaration["harness"]["definitions"] = ()
    one = only(base(), {MMLU})
    other = patched({f"/configs/{MMLU}/doc_to_text": "{{Answer}}", "/date": base()["date"] - 1} | value(0.5), one)
    newest = patched({"/date": base()["date"] + 1}, only(base(), set(LEAVES) - {MMLU}))
    files = {"newest.json": newest, "one.json": one, "other.json": other}
    row = row_of(files, Leaderboard.model_validate(declaration))
    assert ([file.path for file in row.files], [*row.left_out]) == (["newest.json", "one.json"], ["other.json"])


def test_files_without_examples_join_those_that_share_all_else() -> None:
    """How examples are shown says nothing of a task without any."""
    shown = {"/fewshot_as_multiturn": True, "/chat_template": "t", "/chat_template_sha": "0" * 64}
    whole = patched(shown, base())
    zero = {leaf.id for task in declared().tasks if task.num_fewshot == 0 for leaf in task.leaves}
    few = {leaf.id for task in declared().tasks if task.num_fewshot for leaf in task.leaves}
    row = row_of({"zero.json": only(deepcopy(whole), zero), "few.json": only(deepcopy(whole), few)})
    assert (row.status, {file.path for file in row.files}) == ("accepted", {"zero.json", "few.json"})
