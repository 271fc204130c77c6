"""What rules say of rows that are made of several files."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.finding import Finding
from bot.evaluation.rules.rule import Facts, RowCase, rerun_advice
from tests.evaluation.joined_rows import row_of
from tests.evaluation.judging import ABSENT, base, declared, judgement_of, patched

MMLU_PRO = "/results/leaderboard_mmlu_pro"


def found_in_row(rule: str, *files: dict[str, Any]) -> Finding:
    """What a rule finds in the row of the example file with these changes, each a day newer than the one before."""
    dated = [patched(changes | {"/date": base()["date"] + 86_400 * day}) for day, changes in enumerate(files)]
    (row,) = judgement_of({f"results_{number}.json": file for number, file in enumerate(dated)}).rows
    (finding,) = [found for found in row.findings if found.rule == rule]
    return finding


@pytest.mark.parametrize(("others", "more"), [(1, ""), (4, ""), (5, " and 1 more"), (7, " and 3 more")])
def test_of_many_runs_the_newest_five_are_named(others: int, more: str) -> None:
    values = [number / 16 for number in range(1, others + 1)]
    found = found_in_row("rerun-differs", {}, *({MMLU_PRO: {"acc,none": value}} for value in values))
    newest = [f"{value!r} (results_{number}.json)" for number, value in enumerate(values, 1)]
    oldest = f"{base()['results']['leaderboard_mmlu_pro']['acc,none']!r} (results_0.json)"
    named = ", ".join([*reversed(newest), oldest][:5])
    assert found.message.endswith(f"; leaderboard_mmlu_pro: {named}{more}")


def test_many_tasks_that_were_run_again_are_one_finding() -> None:
    leaves = ("mmlu_pro", "bbh_navigate", "gpqa_main", "musr_team_allocation")
    metrics = {
        leaf: next(
            key for key in base()["results"][f"leaderboard_{leaf}"] if key.startswith("acc") and "stderr" not in key
        )
        for leaf in leaves
    }
    again = {f"/results/leaderboard_{leaf}": {metric: 0.5} for leaf, metric in metrics.items()}
    found = found_in_row("rerun-differs", {}, again)
    assert (found.message.partition(" tasks were run several times")[0], found.task) == ("4", "")
    assert "0.5 (results_1.json)" in found.message


def test_a_finding_points_into_the_file_that_has_the_value() -> None:
    found = found_in_row("implausibly-low", {MMLU_PRO: {"acc,none": 0.0}}, {MMLU_PRO: ABSENT})
    assert (found.location.path, found.location.pointer) == ("results_0.json", MMLU_PRO)


def test_files_that_are_not_joined_are_counted() -> None:
    settings = [{"/config/gen_kwargs": {"temperature": number / 8}} for number in (1, 2, 0)]
    found = found_in_row("settings-differ", *settings)
    assert found.message.startswith("2 files were measured with another harness or other settings and not joined: ")
    assert found.message.endswith(
        'in results_1.json gen_kwargs is {"temperature": 0.25}, and {"temperature": 0} in the row of results_2.json'
    )
    assert found.hint.endswith("; for other numbers measure all tasks with lm-eval 0.4.9 and the same settings")
    assert found.location.path == "results_2.json"


THINKING = {"/config/model_args": "pretrained=example-org/kestrel-7b,dtype=bfloat16,enable_thinking=True"}
BBH = [name for name in base()["results"] if name.startswith("leaderboard_bbh")]


def test_a_file_with_another_setting_is_told_as_the_reason_of_what_is_missing() -> None:
    """Measuring one task with thinking switched off joins no row with thinking."""
    halves = [[name for name in base()["results"] if (name in BBH) == part] for part in (True, False)]
    thinking, other = ({f"/results/{name}": ABSENT for name in names} for names in halves)
    files = {"bbh.json": patched(other), "rest.json": patched(THINKING | thinking)}
    (row,) = judgement_of(files).rows
    missing = [found.message for found in row.findings if found.rule == "missing-task"]
    why = "; rest.json has it and does not join: argument enable_thinking is True, and not set in the row"
    assert len(missing) == 5
    assert [said for said in missing if " has no " in said or not said.endswith(why)] == []


def test_of_thinking_a_row_says_once_that_all_is_measured_with_one_setting() -> None:
    files = [THINKING | {f"/results/{name}": ABSENT for name in base()["results"] if (name in BBH) == part}
             for part in (True, False)]  # fmt: skip
    end = {"/config/model_args": THINKING["/config/model_args"] + ",think_end_token=</think>"}
    found = found_in_row("thinking-not-used", *(one | end for one in files))
    assert found.hint.startswith("a row has one setting: keep this one, or measure all tasks again with thinking")
    assert found.command.count("enable_thinking=False,revision=") == found.command.count("lm_eval --model") == 4
    assert "think_end_token" not in found.command
    assert {"leaderboard_bbh", "leaderboard_mmlu_pro", "leaderboard_ifeval"} <= set(re.split("[ ,]", found.command))


@pytest.mark.parametrize("format_id", ["helm", "a-format-that-is-gone"])
@pytest.mark.parametrize(("shots", "hint"), [(5, "measure it with 5 shots"), (None, "measure it")])
def test_where_a_format_has_no_command_the_hint_says_the_shots(format_id: str, shots: int | None, hint: str) -> None:
    row = row_of({"a.json": base()})
    of_format = replace(row.result, format=format_id)
    lead = replace(row.lead, parsed=replace(row.lead.parsed, result=of_format))
    case = RowCase(replace(row, lead=lead), declared())
    assert rerun_advice(case, [(["x"], shots)], "measure it") == (f"{hint} (lm-eval 0.4.9)", "")


@pytest.mark.parametrize(
    ("revision", "told"),
    [("", "; another row of this model has it, but the revision is not recorded there and {} here"), ("f" * 40, "")],
)
def test_a_task_that_files_of_an_unknown_revision_have_is_not_only_missing(revision: str, told: str) -> None:
    """Two checkpoints are two models: what one lacks, the other may have."""
    pinned = base()["config"]["model_sha"]
    args = "pretrained=example-org/kestrel-7b,dtype=bfloat16"
    other = {"/config/model_sha": revision, "/config/model_revision": revision, "/config/model_args": args}
    judgement = judgement_of({"a.json": patched({MMLU_PRO: ABSENT}), "b.json": patched(other)})
    [finding] = [found for row in judgement.rows for found in row.findings if found.rule == "missing-task"]
    assert finding.message == "leaderboard_mmlu_pro is missing, the only subtask of MMLU-PRO" + told.format(pinned)
    assert finding.hint.startswith("if it is the same model: say so by `--model-name ") is bool(told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"/config/model_dtype": "torch.float32"}, "the precision is float32 there and bfloat16 here"),
        ({"/chat_template": "{{ x }}"}, "the chat template is used there and not used here"),
        (
            {"/config/model_dtype": "torch.float32", "/chat_template": "{{ x }}"},
            "the precision is float32 there and bfloat16 here and the chat template is used there and not used here",
        ),
    ],
)
def test_a_task_that_another_row_of_the_model_has_is_said_to_be_there(change: dict[str, str], told: str) -> None:
    args = {"/config/model_args": f"pretrained=example-org/kestrel-7b,revision={base()['config']['model_sha']}"}
    judgement = judgement_of({"a.json": patched({MMLU_PRO: ABSENT}), "b.json": patched({**args, **change})})
    [finding] = [found for row in judgement.rows for found in row.findings if found.rule == "missing-task"]
    assert finding.message.endswith(f"; another row of this model has it, but {told}")
    assert finding.hint == "measure it (lm-eval 0.4.9):"


def test_another_metric_in_another_file_of_the_row_is_found_there() -> None:
    rest = base()
    for name in ("results", "configs", "versions", "n-shot", "n-samples"):
        rest[name].pop("leaderboard_mmlu_pro")
    alone = patched({"/results": {"leaderboard_mmlu_pro": {"exact_match,get-answer": 0.4}}, "/groups": {}})
    [row] = judgement_of({"rest.json": rest, "pro.json": alone}).rows
    [finding] = [found for found in row.findings if found.rule == "missing-task"]
    assert finding.message == (
        "leaderboard_mmlu_pro has no acc,none, which MMLU-PRO needs; it has exact_match,get-answer"
    )
    assert finding.hint == "the board takes acc,none: measure it with the task as this version has it (lm-eval 0.4.9):"
    assert (finding.location.path, finding.location.pointer) == ("pro.json", "/results/leaderboard_mmlu_pro")


def test_a_file_that_leaves_out_revision_and_precision_is_told_how_to_join_the_other() -> None:
    args = {"/config/model_args": "pretrained=example-org/kestrel-7b", "/config/model_dtype": ""}
    bare = patched({"/config/model_sha": "", "/config/model_revision": "", MMLU_PRO: ABSENT, **args})
    only = {key: value for key, value in base()["results"].items() if key == "leaderboard_mmlu_pro"}
    files = {"bare.json": bare, "part.json": patched({"/results": only})}
    pinned, model = base()["config"]["model_sha"], "example-org/kestrel-7b"
    apart = (
        "measure it (lm-eval 0.4.9) with all other tasks: this file does not record the model's commit and precision, "
        "so no new file joins it"
    )
    by_hand = (
        f"if it is the same model: say so by `--model-name {model}={model}@{pinned}`, or the maintainer writes "
        f'`"{model}" = "{model}@{pinned}"` under [models] in the declaration, and the maintainer declares '
        '`precision = "bfloat16"` for the board; else '
    )
    named = (
        f"; to measure less, say both first, by `--model-name {model}={model}@COMMIT` and `precision`, which the "
        "maintainer sets for the board"
    )
    own = declared().model_copy(update={"id": "ours"})  # who submits to a shipped board cannot edit its declaration
    for board, hint in ((declared(), f"{apart}:"), (own, f"{by_hand}{apart}{named}:")):
        rows = {row.key.revision: row for row in judgement_of(files, board).rows}
        [finding] = [found for found in rows[""].findings if found.rule == "missing-task"]
        assert f"the revision is {pinned} there and not recorded here and the precision is bfloat16" in finding.message
        assert finding.hint == hint
    facts = Facts(names={model: f"{model}@{pinned}"})
    board = declared().model_copy(update={"precision": "bfloat16"})
    [row] = judgement_of(files, board, facts).rows
    assert row.status == "accepted"


def test_of_very_many_rows_the_same_are_looked_through_in_any_order_of_the_files() -> None:
    """Each file may be a row of its own, so that all against all would take a stranger's word for how long."""
    unpinned = {"/config/model_sha": "", "/config/model_revision": ""}
    args = "pretrained=example-org/kestrel-7b,dtype=int{}"
    files = {
        f"{number}.json": patched(
            {**unpinned, "/config/model_dtype": "", "/config/model_args": args.format(number), MMLU_PRO: ABSENT}
        )
        for number in range(100, 152)
    }
    other = {**unpinned, "/config/model_dtype": "", "/config/model_args": "pretrained=example-org/kestrel-7b"}
    files["whole.json"] = patched(other)
    found = [
        {row.key: [finding.message for finding in row.findings] for row in judgement_of(some).rows}
        for some in (files, dict(reversed(files.items())))
    ]
    assert found[0] == found[1]
    told = [messages for messages in found[0].values() if any("the precision is" in one for one in messages)]
    assert len(told) == 52
