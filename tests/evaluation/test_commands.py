"""The commands in hints: the harness's own parser takes each as it is printed; where none can work there is none."""

from __future__ import annotations

import html
import re
import shlex
import subprocess
import sys
from argparse import Namespace
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from bot.evaluation.benchmarks.harness import RELEASE
from bot.evaluation.finding import Finding
from bot.evaluation.formats.format import Rerun, pinned_arguments
from bot.evaluation.formats.lm_eval_04 import install
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.result import Model
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import parse_submission
from bot.pages.environment import shell
from bot.reporting.markdown import finding_markdown, judgement_markdown
from bot.reporting.text import Ink, summary_line, terminal_text
from tests.evaluation.judging import base, declared, judgement_of, patched
from tests.evaluation.parts import only

ARGS = "pretrained=example-org/kestrel-7b,dtype=bfloat16"
PRO = "leaderboard_mmlu_pro"


def lacking(**changes: Any) -> dict[str, Any]:
    """The example file without MMLU-PRO, with changes."""
    data = base()
    for name in ("results", "configs", "versions", "n-shot", "n-samples"):
        data[name].pop(PRO, None)
    return patched({"/" + key.replace("__", "/"): value for key, value in changes.items()}, data)


def missing(data: dict[str, Any]) -> Finding:
    judgement = judgement_of({"results_x.json": data})
    (finding,) = (one for one in judgement.rows[0].findings if one.rule == "missing-task")
    return finding


def parsed_by_the_harness(command: str, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    """What harness 0.4 reads from a command line, after one that installs a release with extras that it has.

    A release that does not record itself is installed from a clone, whose commit the file records.
    """
    cli = pytest.importorskip("lm_eval._cli.harness")
    installing, _, call = command.rpartition(" && ")
    *words, required = shlex.split(installing)
    if words[0] == "git":
        assert "; cd lm-evaluation-harness && git checkout v0.4.8 && pip install -e " in installing
    else:
        assert words == ["pip", "install"]
        requirement = Requirement(required)
        assert requirement.name == "lm_eval"
        assert requirement.extras <= {*metadata("lm_eval").get_all("Provides-Extra", [])}
        assert RELEASE.fullmatch(str(requirement.specifier).removeprefix("=="))
    monkeypatch.setattr(sys, "argv", shlex.split(call))
    arguments: Namespace = cli.HarnessCLI().parse_args()
    return arguments


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"config__model_args": {"pretrained": "example-org/kestrel-7b", "dtype": "bfloat16", "parallelize": True}},
        {"config__model_args": f"{ARGS},max_length=4096", "config__gen_kwargs": "temperature=0,do_sample=False"},
        {"config__gen_kwargs": {"temperature": 0.0}},
        {"system_instruction": 'Be "brief"; don\'t $HOME.', "chat_template": "{{ x }}", "fewshot_as_multiturn": True},
        {"model_source": "vllm", "config__model": "vllm"},
        {"model_source": "local-completions", "config__model_args": "model=kestrel,base_url=http://localhost:8000/v1"},
    ],
)
def test_the_harness_takes_the_command_as_it_is_printed(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = missing(lacking(**changes)).command
    arguments = parsed_by_the_harness(command, monkeypatch)
    assert arguments.tasks == [PRO]
    assert arguments.num_fewshot == 5
    assert arguments.model == changes.get("model_source", "hf")
    if arguments.model != "local-completions":
        assert arguments.model_args["pretrained"] == "example-org/kestrel-7b"
        assert arguments.model_args["dtype"] == "bfloat16"
        assert arguments.model_args["revision"] == base()["config"]["model_sha"]
    else:
        assert set(arguments.model_args) == {"model", "base_url"}
    assert ("apply_chat_template" in arguments) == ("chat_template" in changes)


def test_the_base_of_an_adapter_is_not_asked_for_the_adapters_commit() -> None:
    args = f"{ARGS},peft=acme/lora"
    command = missing(lacking(config__model_args=args, config__peft_sha="a" * 40, model_name="acme/lora")).command
    assert f"--model_args {args} " in command


@pytest.mark.parametrize("given", ["temperature=0.8,do_sample=True", {"temperature": 0.8, "until": ["a b", "'"]}])
def test_settings_that_the_board_refuses_are_left_out_and_all_tasks_measured(
    given: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    installing, *calls = missing(lacking(config__gen_kwargs=given)).command.split(" && ")
    parsed = [parsed_by_the_harness(f"{installing} && {call}", monkeypatch) for call in calls]
    assert PRO in {task for one in parsed for task in one.tasks}
    assert len({one.num_fewshot for one in parsed}) == len(parsed) > 1
    assert not any("gen_kwargs" in call for call in calls)


@pytest.mark.parametrize(
    "changes",
    [
        {"config__model_args": {"pretrained": "a/b", "quantization_config": {"load_in_8bit": True}}},
        {"config__model_args": f"{ARGS},api_key=0123456789abcdef"},
        {"model_source": "<lm_eval.models.huggingface.HFLM object at 0x7f>"},
        {"system_instruction": "two\nlines"},
        {"system_instruction": "long " * 1000},
    ],
)
def test_where_no_command_can_work_there_is_none(changes: dict[str, Any]) -> None:
    finding = missing(lacking(**changes))
    assert finding.command == ""
    assert finding.hint == (
        "measure it with 5 shots (lm-eval 0.4.9); there is no command: the file does not record all that its call needs"
    )


def by_service(source: str, leaf: str) -> Finding:
    """What is said of one leaf that is missing from a file of a service."""
    data = base()
    for name in ("results", "configs", "versions", "n-shot", "n-samples"):
        data[name].pop(leaf)
    changes = {"/model_source": source, "/config/model_args": "model=kestrel,base_url=http://localhost:8000/v1"}
    return missing(patched(changes, data))


@pytest.mark.parametrize("source", ["openai-chat-completions", "local-chat-completions", "anthropic-chat", "litellm"])
def test_no_chat_service_is_asked_for_log_likelihoods(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """lm-eval ends such a run with NotImplementedError; the answers of other tasks a chat gives."""
    finding = by_service(source, PRO)
    assert finding.command == ""
    assert finding.hint == (
        "measure it with 5 shots (lm-eval 0.4.9), with the model loaded locally or behind a completions endpoint "
        "(local-completions) that echoes prompts with their logprobs: this board compares log-likelihoods in MMLU-PRO "
        "(multiple_choice), and this service does not give them"
    )
    assert parsed_by_the_harness(by_service(source, "leaderboard_ifeval").command, monkeypatch).model == source


def test_a_board_without_definitions_knows_what_compares_log_likelihoods_from_the_catalogue() -> None:
    text = """title = "Board"
description = "Two tasks."
[harness]
formats = ["lm-eval-0.4"]
[[tasks]]
id = "arc"
title = "ARC"
metrics = [{ name = "acc_norm" }]
num_fewshot = 25
leaves = [{ id = "arc_challenge" }]
[[tasks]]
id = "gsm8k"
title = "GSM8K"
metrics = [{ name = "exact_match", filter = "strict-match" }]
num_fewshot = 5
leaves = [{ id = "gsm8k" }]
"""
    data = only(patched({"/model_source": "local-chat-completions", "/config/model_args": "model=kestrel"}), {"gsm8k"})
    data["results"] = {"gsm8k": {"exact_match,flexible-extract": 0.5}}
    found = judgement_of({"results_x.json": data}, parse_leaderboard(text, "board", "board.toml")).rows[0].findings
    arc, gsm8k = (one for one in found if one.rule == "missing-task")
    assert "this board compares log-likelihoods in ARC (multiple_choice)" in arc.hint
    assert gsm8k.hint.startswith("the board takes exact_match,strict-match: measure the task with a version of")
    assert arc.command == gsm8k.command == ""


@pytest.mark.parametrize(
    "args",
    [
        f"{ARGS},trust_remote_code=True",
        f"trust_remote_code=True,{ARGS}",
        f"{ARGS}, trust_remote_code = True,use_fast_tokenizer=False",
        {"pretrained": "example-org/kestrel-7b", "trust_remote_code": True},
    ],
)
def test_no_command_runs_the_code_of_a_model(args: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever pastes it need not trust whoever wrote the file."""
    finding = missing(lacking(config__model_args=args))
    assert finding.hint == "measure it (lm-eval 0.4.9); if the model needs its own code, add trust_remote_code=True:"
    assert "remote_code" not in finding.command
    assert parsed_by_the_harness(finding.command, monkeypatch).model_args["pretrained"] == "example-org/kestrel-7b"


WEIGHTS = "/mnt/n22-model/f6e1/kestrel-inst_241016"
OF_PATH = {"model_name": WEIGHTS, "config__model_args": f"pretrained={WEIGHTS},tokenizer={WEIGHTS},max_length=4096",
           "config__model_sha": "", "config__model_revision": "main"}  # fmt: skip


def test_no_command_loads_the_weights_of_a_path_that_no_board_takes() -> None:
    finding = missing(lacking(**OF_PATH))
    assert finding.command == ""
    assert finding.hint == (
        "measure it with 5 shots (lm-eval 0.4.9), with the model on the Hub in place of its path: upload it first; "
        f"`check` with `--model-name {WEIGHTS}=ORGANIZATION/NAME@COMMIT` gives the command"
    )


ADAPTER = "./out/checkpoint-400"
OF_ADAPTER = {"model_name": ADAPTER, "config__model_revision": "main", "config__model_sha": "",
              "config__model_args": f"pretrained=example-org/kestrel-7b,peft={ADAPTER},dtype=bfloat16"}  # fmt: skip


def test_an_adapter_of_a_path_is_uploaded_first_and_then_measured_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command writes joins the old file, as the harness records the commit of an adapter of the Hub."""
    old, pinned = lacking(**OF_ADAPTER), f"example-org/lora@{'ab' * 20}"
    assert missing(old).command == ""
    assert f"; `check` with `--model-name {ADAPTER}=ORGANIZATION/NAME@COMMIT` gives the" in missing(old).hint
    facts = Facts(names={ADAPTER: pinned})
    judged = judgement_of({"results_old.json": old}, facts=facts)
    (found,) = (one for one in judged.rows[0].findings if one.rule == "missing-task")
    wanted = parsed_by_the_harness(found.command, monkeypatch).model_args
    assert (wanted["pretrained"], wanted["peft"]) == ("example-org/kestrel-7b", "example-org/lora")
    args = "pretrained=example-org/kestrel-7b,peft=example-org/lora,dtype=bfloat16"
    changes = {"/model_name": "example-org/lora", "/config/model_args": args, "/config/peft_sha": "ab" * 20}
    new = only(patched({**changes, "/config/model_sha": "cd" * 20}), {PRO})
    (row,) = judgement_of({"results_old.json": old, "results_new.json": new}, facts=facts).rows
    assert row.status == "accepted"


def test_a_name_that_is_no_id_is_not_advised_as_one() -> None:
    data = with_one_wrong(model_name="final", config__model_args="pretrained=final,dtype=bfloat16")
    assert "by `--model-name final=ORGANIZATION/NAME@COMMIT`" in said_of(data, declared()).hint


def test_a_model_of_a_path_that_a_person_names_is_loaded_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(names={WEIGHTS: f"example-org/kestrel-7b@{'ab' * 20}"})
    findings = judgement_of({"results_x.json": lacking(**OF_PATH)}, facts=facts).rows[0].findings
    (command,) = (one.command for one in findings if one.rule == "missing-task")
    assert WEIGHTS not in command
    assert parsed_by_the_harness(command, monkeypatch).model_args == {
        "pretrained": "example-org/kestrel-7b", "tokenizer": "example-org/kestrel-7b", "max_length": 4096,
        "revision": "ab" * 20, "dtype": "bfloat16",
    }  # fmt: skip


def test_a_program_of_its_own_is_not_called_as_the_harness_is() -> None:
    config = {"model": "neox", "model_args": {"distributed_backend": "nccl"}, "num_fewshot": 0, "no_cache": True}
    data = {"results": {"hellaswag": {"acc": 0.4}}, "versions": {"hellaswag": 0}, "config": config}
    judgement = judgement_of({"x.json": data}, "open-llm-v1")
    assert not any(one.command for one in (*judgement.rows[0].findings, *judgement.verdicts[0].findings))


def test_where_no_file_could_join_the_row_all_tasks_are_measured_by_one_harness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = missing(lacking(lm_eval_version="0.4.2"))
    assert old.hint.startswith(
        "measure all tasks again, as the file's harness is not accepted and no other file joins it"
    )
    finding = missing(lacking(lm_eval_version=None, git_hash="0123abcd"))
    assert (
        finding.hint
        == "measure all tasks again, as the file's harness cannot be told and no other file joins it (lm-eval 0.4.13):"
    )
    installing, *calls = finding.command.split(" && ")
    tasks = [parsed_by_the_harness(f"{installing} && {call}", monkeypatch).tasks for call in calls]
    assert [one for some in tasks for one in some if one in {PRO, "leaderboard_bbh", "leaderboard_ifeval"}]
    assert [PRO] in tasks


OLD = {"lm_eval_version": None, "git_hash": "b281b092", "config__model_sha": "", "config__model_revision": "",
       "config__model_dtype": "", "config__model_args": "pretrained=example-org/kestrel-7b,dtype=auto"}  # fmt: skip


def with_one_wrong(**changes: Any) -> dict[str, Any]:
    """A whole file of harness 0.4.2, which records no commit and no precision of the model, with one wrong task."""
    data = patched({"/" + key.replace("__", "/"): value for key, value in {**OLD, **changes}.items()})
    data["n-shot"][PRO] = 0
    return data


def said_of(data: dict[str, Any], board: Leaderboard) -> Finding:
    findings = judgement_of({"results_x.json": data}, board).verdicts[0].findings
    (found,) = (one for one in findings if one.rule == "wrong-num-fewshot")
    return found


NAME = "`--model-name example-org/kestrel-7b=example-org/kestrel-7b@COMMIT`"


@pytest.mark.parametrize(
    ("board_id", "changes", "lacks", "named"),
    [
        ("open-llm-v2", {}, "commit and precision", ""),
        (
            "ours",
            {},
            "commit and precision",
            f"; to measure less, say both first, by {NAME} and `precision`, which the maintainer sets for the board",
        ),
        ("open-llm-v2", {"config__model_args": ARGS}, "commit", f"; to measure less, say it first, by {NAME}"),
    ],
)
def test_a_file_that_no_new_one_can_join_is_measured_again_whole(
    board_id: str, changes: dict[str, str], lacks: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, old = declared().model_copy(update={"id": board_id}), with_one_wrong(**changes)
    finding = said_of(old, board)
    why = f"with all other tasks: this file does not record the model's {lacks}, so no new file joins it"
    assert finding.hint == f"measure it again (lm-eval 0.4.13) {why}{named}:"
    installing, *calls = finding.command.split(" && ")
    tasks = [parsed_by_the_harness(f"{installing} && {call}", monkeypatch).tasks for call in calls]
    assert {PRO, "leaderboard_bbh", "leaderboard_ifeval"} <= {one for some in tasks for one in some}
    new = patched({"/lm_eval_version": "0.4.13"})
    ranked = [
        [row.status for row in judgement_of({"results_old.json": old, "results_new.json": one}, board).rows]
        for one in (only(new, {PRO}), new)
    ]
    assert "accepted" not in ranked[0]
    assert "accepted" in ranked[1]


@pytest.mark.parametrize(
    ("precision", "changes"),
    [
        (None, {"config__model_args": f"{ARGS},revision={'ab' * 20}"}),  # both are known
        ("bfloat16", {"config__model_args": f"pretrained=example-org/kestrel-7b,revision={'ab' * 20}"}),
        (None, {"model_source": "vllm", "config__model": "vllm"}),  # which records neither, today either
    ],
)
def test_a_file_that_a_new_one_joins_is_measured_again_in_part(precision: str | None, changes: dict[str, str]) -> None:
    board = declared().model_copy(update={"precision": precision})
    finding = said_of(with_one_wrong(**changes), board)
    assert finding.hint == "measure it again (lm-eval 0.4.13):"
    assert finding.command.count("--tasks") == 1


@pytest.mark.parametrize(
    ("repository", "version", "source", "leaf", "installs"),
    [
        ("EleutherAI/lm-evaluation-harness", "0.4.9", "", "gsm8k", "lm_eval==0.4.9"),
        ("acme/lm-evaluation-harness", "0.4.9", "local-completions", "minerva_math",
         "lm_eval[api,math] @ git+https://github.com/acme/lm-evaluation-harness@v0.4.9"),
    ],
)  # fmt: skip
def test_a_version_is_installed_from_where_it_is(
    repository: str, version: str, source: str, leaf: str, installs: str
) -> None:
    command = install(repository, version, Rerun(Model("a/b", source=source), (leaf,), None, {}))
    assert shlex.split(command) == ["pip", "install", installs]
    assert Requirement(installs).name == "lm_eval"


@pytest.mark.parametrize(
    ("version", "args", "installs"),
    [
        ("0.4.13", "pretrained=a/b,load_in_4bit=True", ["lm_eval[hf]==0.4.13", "bitsandbytes"]),
        ("0.4.10", "pretrained=a/b,load_in_8bit=False", ["lm_eval[hf]==0.4.10"]),
        ("0.4.9.2", "pretrained=a/b", ["lm_eval==0.4.9.2"]),  # the extra came later
    ],
)
def test_what_a_release_lacks_is_installed_and_no_extra_that_it_has_not(
    version: str, args: str, installs: list[str]
) -> None:
    wanted = Rerun(Model("a/b", args=args), ("gsm8k",), None, {})
    assert shlex.split(install("EleutherAI/lm-evaluation-harness", version, wanted)) == ["pip", "install", *installs]


@pytest.mark.parametrize(
    ("repository", "version", "source", "leaf", "ends"),
    [
        ("EleutherAI/lm-evaluation-harness", "0.4.8", "vllm", "ifeval_es", "v0.4.8 && pip install -e '.[vllm,ifeval]'"),
        ("huggingface/lm-evaluation-harness", "c2a08496", "mamba_ssm", "gsm8k", "c2a08496 && pip install -e ."),
    ],
)
def test_a_version_that_records_only_the_commit_of_the_folder_is_called_in_its_clone(
    repository: str, version: str, source: str, leaf: str, ends: str
) -> None:
    """lm-eval before 0.4.9 asks git in the folder of the call: elsewhere its file has no commit, or a foreign one."""
    command = install(repository, version, Rerun(Model("a/b", source=source), (leaf,), None, {}))
    begins = f"git clone https://github.com/{repository}; cd lm-evaluation-harness && git checkout "
    assert command == f"{begins}{ends}"


def test_a_missing_subtask_of_a_group_that_is_measured_again_is_named_once() -> None:
    data, navigate = lacking(lm_eval_version=None, git_hash="0123abcd"), "leaderboard_bbh_navigate"
    for name in ("results", "configs", "versions", "n-shot", "n-samples"):
        data[name].pop(navigate)
    data["group_subtasks"]["leaderboard_bbh"].remove(navigate)
    judgement = judgement_of({"results_x.json": data})
    commands = {one.command for one in judgement.rows[0].findings if one.rule == "missing-task"}
    words = [word for command in commands for word in shlex.split(command)]
    assert "leaderboard_bbh" in words
    assert not [word for word in words if navigate in word]


def carried_out(script: str, folder: Path) -> list[str]:
    """What a shell calls: each program and its words; `pip` and `lm_eval` only write down what they are given."""
    for name in ("pip", "lm_eval"):
        (folder / name).write_text('#!/bin/sh\nprintf "%s\\0" "${0##*/}" "$@"\n')
        (folder / name).chmod(0o755)
    done = subprocess.run(["/bin/sh", "-eu"], input=script, cwd=folder, env={"PATH": f"{folder}:/usr/bin:/bin"},
                          capture_output=True, text=True, check=True)  # fmt: skip
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize(
    ("changes", "measured"),
    [
        ({"lm_eval_version": "0.4.12"}, {PRO, "leaderboard_ifeval"}),
        ({"lm_eval_version": "0.4.2"}, {PRO, "leaderboard_ifeval", "leaderboard_bbh", "leaderboard_math_hard"}),
    ],
)
def test_the_findings_of_a_row_have_one_list_of_commands(
    changes: dict[str, Any], measured: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lacking(**changes)
    data["n-shot"]["leaderboard_ifeval"] = 3
    judgement = judgement_of({"results_x.json": data})
    repair = judgement.rows[0].repair
    assert repair is not None
    installing, *calls = repair.command.split(" && ")
    parsed = [parsed_by_the_harness(f"{installing} && {call}", monkeypatch) for call in calls]
    assert measured <= {task for one in parsed for task in one.tasks}
    assert len({one.num_fewshot for one in parsed}) == len(parsed)
    text = terminal_text(judgement, Ink(colour=False), whole=True)
    assert text.count("pip install") == 1
    assert "measure it again, by the commands at the end" in " ".join(text.split())


def test_a_text_that_is_grouped_ends_with_the_commands_that_it_promises() -> None:
    """The commands of the first row stand there, and the call that prints those of the others."""
    data = lacking()
    data["n-shot"]["leaderboard_ifeval"] = 3
    rows = {f"{name}/results_x.json": patched({"/model_name": f"acme/{name}"}, data) for name in "abc"}
    whole = {"d/results_x.json": patched({"/model_name": "acme/d"})}
    for files, more in ((rows, "The commands of 2 more rows: check --all"), ({"a/x.json": data} | whole, "")):
        judgement = judgement_of(files)
        text = " ".join(terminal_text(judgement, Ink(colour=False)).split())
        assert "This is grouped by rule" in text
        _, promise, end = text.partition("measure it again, by the commands at the end")
        assert promise
        name = next(row.model.id for row in judgement.rows if row.repair)
        assert f"for {name}: to repair all of this, measure what the row lacks" in end
        assert "--tasks leaderboard_ifeval" in end
        assert more in end
        assert ("check --all ends" in end) == bool(more)


def test_the_commands_for_a_model_without_a_name_say_that_they_alone_repair_nothing() -> None:
    """What they write has the same nickname, so the same commands would be asked for again."""
    data = lacking(model_name="final", config__model_args="pretrained=final,dtype=bfloat16")
    data["n-shot"]["leaderboard_ifeval"] = 3
    repairs = [judgement_of({"results_x.json": one}).rows[0].repair for one in (data, data | {"model_name": "a/b"})]
    assert all(repairs)
    assert [one.hint.startswith("name the model first (--model-name): until then") for one in repairs if one] == [
        True,
        False,
    ]


def test_two_rows_of_an_old_release_are_measured_in_one_clone() -> None:
    """A second one would lie in the first, where the commands of the first row left the shell."""
    files = {}
    for name in ("a", "b"):
        args, commit = f"pretrained=example-org/{name},dtype=bfloat16", "6d2abda4fd171e68a8789330c4149e37c1ca0bda"
        files[f"results_{name}.json"] = lacking(
            lm_eval_version=None, git_hash=commit, model_name=f"example-org/{name}", config__model_args=args
        )
    judgement = judgement_of(files)
    assert all("git clone" in one.command for row in judgement.rows for one in row.findings if one.command)
    for shown in terminal_text(judgement, Ink(colour=False), whole=True), judgement_markdown(judgement):
        text = " ".join(shown.split())
        assert (text.count("git clone"), text.count("pip install -e"), text.count("in the clone above")) == (1, 1, 1)
        assert text.count("lm_eval --model hf") == 2


@pytest.mark.parametrize("is_whole", [False, True])
def test_an_error_of_a_task_that_another_file_has_anew_asks_for_nothing(is_whole: bool) -> None:
    old, new = base(), base()
    old["n-shot"][PRO], old["date"] = 0, new["date"] - 9_000
    files = {"results_old.json": old, "results_new.json": new if is_whole else only(new, {PRO})}
    judgement = judgement_of(files)
    assert judgement.rows[0].status == "accepted"
    assert summary_line(judgement, Ink(colour=False)).endswith("from 2 files: 1 accepted; 0 errors, 1 replaced")
    text = " ".join(terminal_text(judgement, Ink(colour=False), whole=True).split())
    assert "→ replaced by results_new.json; nothing needs to be done" in text
    assert "pip install" not in text


def test_the_command_of_two_findings_stands_once() -> None:
    data = base()
    data["n-shot"][PRO], data["n-samples"][PRO]["effective"] = 0, 500
    data["model_name"] = "/home/user/final"
    judgement = judgement_of({"results_x.json": data})
    assert len({one.hint for one in judgement.verdicts[0].findings if one.command}) == 2
    for whole in True, False:
        text = terminal_text(judgement, Ink(colour=False), whole=whole)
        assert text.count("lm_eval --model") == text.count("→ the command above does it") == 1


@pytest.mark.parametrize("system", ["", 'Don\'t say "$HOME" && stop; go on \\ --as long as you can.', "-- " * 40])
def test_a_long_command_is_shown_over_lines_that_a_shell_takes_as_one(system: str, tmp_path: Path) -> None:
    data = lacking(config__model_args=f"{ARGS},x={'y' * 100}", system_instruction=system)
    finding = missing(data)
    expected = [word for word in shlex.split(finding.command) if word != "&&"]
    judgement = judgement_of({"results_x.json": data})
    terminal = terminal_text(judgement, Ink(colour=False), whole=True).partition("      pip install")
    shown = {
        "terminal": f"{terminal[1]}{terminal[2]}".partition("\n\n")[0],
        "Markdown": "\n".join(finding_markdown(finding)).partition("```sh\n")[2].partition("    ```")[0],
        "page": html.unescape(re.sub("</?span>", "", shell(finding.command))),
    }
    for where, text in shown.items():
        assert carried_out(text, tmp_path) == expected, where
        longest = max(map(len, expected)) + len("        --system_instruction  \\")
        assert max(map(len, text.split("\n"))) < max(110, longest), where


def test_the_commands_for_real_files_are_taken_too(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for path in sorted((reference / "wild" / "lm-eval-0.4").rglob("*.json")):
        parsed = parse_submission(path.name, {"": path.read_bytes()})
        if parsed.result is None or parsed.result.format != "lm-eval-0.4":
            continue
        for finding in judgement_of({path.name: path.read_bytes()}, "open-llm-v1").rows[0].findings:
            installing, *calls = re.split(" && (?=lm_eval )", finding.command)
            for call in calls:
                assert parsed_by_the_harness(f"{installing} && {call}", monkeypatch).model_args["pretrained"]
                taken += 1
    assert taken > 20


def test_a_name_that_is_no_id_of_the_hub_gets_no_command_that_loads_it() -> None:
    assert pinned_arguments(Model("BLOOM 1.7B", "", "", None)) == ""
    assert pinned_arguments(Model("gpt2", "", "", None)) == "pretrained=gpt2"
