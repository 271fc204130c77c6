"""Whoever follows advice to the letter has an accepted row: commands are taken apart, and their files are judged."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

import pytest

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.finding import Finding
from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun, calls
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.result import Model
from bot.evaluation.submission import parse_submission
from bot.reporting.draft import draft_text
from bot.reporting.markdown import judgement_markdown
from bot.reporting.text import Ink, terminal_text
from tests.evaluation.drafting import drafted
from tests.evaluation.judging import ABSENT, base, base_v1, dumps, judgement_of, patched, stderr

SHA = "4ac16754f3d81aba76cc32955dc9ee4122df96eb"


def faulty_v1(revision: str) -> dict[str, Any]:
    """A file of the Open LLM Leaderboard v1 that lacks a task and ran a part of the samples of another."""
    data = base_v1()
    data["config_general"]["model_sha"] = revision
    data["config_general"]["lighteval_sha"] = "494ee12240e716e804ae9ea834f84a2c864c07ca"  # of lighteval itself
    del data["results"]["harness|winogrande|5"]
    data["results"]["harness|arc:challenge|25"] |= {"acc_norm": 0.4, "acc_norm_stderr": stderr(0.4, 100)}
    return data


def files_of_lm_eval_03(command: str, samples: dict[str, int]) -> dict[str, Any]:
    """What the calls of a command write: a file each."""
    files = {}
    for call in command.split(" && "):
        words = shlex.split(call)
        if words[:2] != ["python", "main.py"]:
            continue
        options = dict(zip(words[2::2], words[3::2], strict=True))
        shown = {"model": options["--model"], "model_args": options["--model_args"], "no_cache": False}
        rows = {}
        for task in options["--tasks"].split(","):
            value = round(0.4 * samples[task]) / samples[task]
            rows[task] = {"acc": value, "acc_norm": value, "acc_norm_stderr": stderr(value, samples[task])}
            rows[task] |= {"acc_stderr": stderr(value, samples[task])}
        config = {**shown, "num_fewshot": int(options["--num_fewshot"]), "limit": None}
        files[options["--output_path"]] = {"results": rows, "versions": dict.fromkeys(rows, 0), "config": config}
    return files


@pytest.mark.parametrize("revision", [SHA, ""])
def test_the_files_of_a_command_for_a_v1_file_are_taken_by_a_board_that_was_drafted_from_such(revision: str) -> None:
    board, _ = drafted(base_v1())
    files = {"results_2024.json": faulty_v1(revision)}
    row = judgement_of(files, board).rows[0]
    assert row.repair is not None
    assert "git checkout b281b0921b" in row.repair.command
    samples = {leaf.key("lm-eval-0.3"): leaf.samples for _, leaf in board.leaves()}
    (row,) = judgement_of(files | files_of_lm_eval_03(row.repair.command, samples), board).rows
    assert (row.status, row.measurements.missing) == ("accepted", ())


def test_there_is_no_command_where_the_board_does_not_take_its_files() -> None:
    _, text = drafted(base_v1())
    text = re.sub(r'keys = \{ "lm-eval-0.3" = "\w+" \}, ', "", text.replace(', "lm-eval-0.3"]', "]"))
    board = parse_leaderboard(text, "b", "b.toml")
    found = faults(judgement_of({"x.json": faulty_v1(SHA)}, board))
    assert {one.command for one in found} == {""}
    assert all(one.hint.endswith("its tool writes files of format lm-eval-0.3, which b does not take") for one in found)


def faults(judgement: Any) -> list[Finding]:
    parts = [*judgement.verdicts, *judgement.rows]
    return [one for part in parts for one in part.findings if one.is_error]


OLD_STS = {"mteb_dataset_name": "STS13", "mteb_version": "1.1.0", "dataset_revision": SHA,
           "test": {"cos_sim": {"spearman": 0.78}, "manhattan": {"spearman": 0.75}}}  # fmt: skip
NEW_STS = {"task_name": "STS13", "mteb_version": "2.3.0", "dataset_revision": SHA, "scores": {"test": [
    {"cosine_spearman": 0.78, "manhattan_spearman": 0.75, "main_score": 0.78, "hf_subset": "default"}]}}  # fmt: skip


def test_a_metric_that_mteb_renamed_is_one_in_old_and_new_files() -> None:
    old = parse_result(dumps(OLD_STS))
    board = parse_leaderboard(draft_text(draft_of([old])), "board", "board.toml")
    parsed = parse_submission(f"acme__atlas/{SHA}/STS13.json", {"": dumps(NEW_STS)})
    (row,) = judge_all([parsed], board).rows
    assert (row.status, row.scores.tasks[0].raw) == ("accepted", pytest.approx(0.78))


def test_the_command_for_a_file_of_an_old_mteb_is_one_that_this_release_has() -> None:
    """Before 1.12.19 the command has no `run`, cannot load a commit, and writes no folders."""
    runs = [Rerun(Model("acme/atlas", SHA), ("STS12/default/test", "STS13/default/test"), None, {})]
    known = format_of("mteb")
    (new,) = calls(known, runs, ["mteb"], "embeddings-benchmark/mteb", "1.12.19")
    assert new.startswith("pip install mteb==1.12.19 && mteb run -m acme/atlas -t STS12 STS13 --model_revision ")
    (old,) = calls(known, runs, ["mteb"], "embeddings-benchmark/mteb", "1.1.0")
    installing, python = old.split(" && ")
    assert installing == "pip install mteb==1.1.0 'sentence-transformers>=2.3'"
    *_, code = shlex.split(python)
    run = ast.unparse(ast.parse(code).body[-1])
    assert run == (
        f"MTEB(tasks=['STS12', 'STS13']).run(SentenceTransformer('acme/atlas', revision='{SHA}'), "
        f"output_folder='results/acme__atlas/{SHA}')"
    )


ARGS = "pretrained=example-org/kestrel-7b,dtype=bfloat16"
UNPINNED = {"/config/model_sha": "", "/config/model_revision": "", "/config/model_args": ARGS}


def test_a_file_is_not_needed_beside_a_newer_accepted_row_of_its_model() -> None:
    old = patched({**UNPINNED, "/config/limit": 5, "/date": base()["date"] - 86_400})
    files = {"old.json": old, "new.json": base()}
    judgement = judgement_of(files)
    (row,) = (one for one in judgement.rows if one.status != "accepted")
    pinned, model = base()["config"]["model_sha"], "example-org/kestrel-7b"
    assert row.repair is not None
    assert row.repair.command == ""
    assert row.repair.hint == (
        "not needed any more: a newer row of this model is accepted; delete old.json, or say by "
        f"`--model-name {model}={model}@{pinned}` that it is of that row"
    )
    for text in (terminal_text(judgement, Ink(colour=False)), judgement_markdown(judgement)):
        assert "--tasks" not in text
        assert text.count("not needed any more") == 1


@pytest.mark.parametrize(
    ("release", "where"),
    [("0.4.2", "in place of the old ones"), ("0.4.9", "beside the others, in the same folder; keep the old ones")],
)
def test_files_that_have_everything_stand_in_place_of_the_old_ones(release: str, where: str) -> None:
    data = patched({"/lm_eval_version": release, "/git_hash": None, "/results/leaderboard_mmlu_pro": ABSENT,
                    "/n-shot/leaderboard_ifeval": 5, "/configs/leaderboard_ifeval/num_fewshot": 5})  # fmt: skip
    judgement = judgement_of({"x.json": data})
    assert judgement.rows[0].repair is not None
    for text in (terminal_text(judgement, Ink(colour=False)), judgement_markdown(judgement)):
        assert f"Submit the new files {where}" in " ".join(text.split())


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"/n-shot/leaderboard_mmlu_pro": 0}, "beside the others, in the same folder"),
        ({"/config/limit": 5}, "in place of the old ones"),
    ],
)
def test_where_the_files_of_a_single_command_go_is_said_too(changes: dict[str, Any], where: str) -> None:
    judgement = judgement_of({"x.json": patched(changes)})
    assert judgement.rows[0].repair is None
    assert f"Submit the new files {where}" in " ".join(terminal_text(judgement, Ink(colour=False)).split())


@pytest.mark.parametrize("changes", [{"/config/model_sha": "cd" * 20}, {**UNPINNED, "/date": base()["date"] + 86_400}])
def test_a_file_of_another_commit_or_a_newer_one_is_needed(changes: dict[str, Any]) -> None:
    old = patched({"/config/limit": 5, "/date": base()["date"] - 86_400} | changes)
    row = next(one for one in judgement_of({"a.json": old, "b.json": base()}).rows if one.status != "accepted")
    assert not row.is_unneeded


def test_log_likelihoods_are_asked_of_no_model_that_openai_gives_none_of() -> None:
    data = patched({"/model_source": "openai-completions", "/config/model_args": "model=gpt-3.5-turbo-instruct"})
    del data["results"]["leaderboard_mmlu_pro"]
    for model, has_command in (("gpt-3.5-turbo-instruct", False), ("davinci-002", True)):
        named = patched({"/model_name": model, "/config/model_args": f"model={model}"}, data)
        (found,) = (one for one in judgement_of({"x.json": named}).rows[0].findings if one.rule == "missing-task")
        assert bool(found.command) == has_command


def test_the_findings_of_a_row_name_no_release_beside_that_of_their_commands() -> None:
    wrong = {"/n-shot/leaderboard_mmlu_pro": 0, "/versions/leaderboard_ifeval": 9.0}
    judgement = judgement_of({"x.json": patched({**UNPINNED, "/lm_eval_version": "0.4.9.1", **wrong})})
    assert judgement.rows[0].repair is not None
    text = " ".join(terminal_text(judgement, Ink(colour=False), whole=True).split())
    assert len(set(re.findall(r"\(lm-eval [\d.]+\)", text))) == 1
    assert "measure it again, by the commands at the end" in text


def test_a_file_of_lighteval_without_a_word_of_its_backend_has_a_command() -> None:
    """A field `dtype` says that the weights were loaded; that of an endpoint says that they were not."""
    rows = {"arc:challenge|25": {"acc": 0.5, "acc_stderr": stderr(0.5, 100)}}
    board = of_lighteval({"arc:challenge|25": rows["arc:challenge|25"], "gsm8k|5": rows["arc:challenge|25"]}, {})[0]
    for config, has_command in (({"dtype": "bfloat16"}, True), ({"dtype": "bfloat16", "reuse_existing": True}, False)):
        (found,) = faults(judgement_of({"x.json": of_lighteval(rows, config)[1]}, board))
        assert bool(found.command) == has_command
        assert found.command.startswith("pip install lighteval && lighteval accelerate ") == has_command
        assert ("there is no command" in found.hint) != has_command


def of_lighteval(rows: dict[str, Any], config: dict[str, Any]) -> tuple[Leaderboard, dict[str, Any]]:
    """A file of lighteval 0.13, and a board that was drafted from it."""
    general = {"lighteval_sha": "?", "model_name": "acme/atlas", "model_config": {"model_name": "acme/atlas", **config}}
    data = {"config_general": general, "results": rows, "versions": dict.fromkeys(rows, 0), "config_tasks": {}}
    return drafted(data)[0], data
