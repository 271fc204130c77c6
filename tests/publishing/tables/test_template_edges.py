"""Edges of demo-leaderboard boards: whose file is there, what is written into a new one, and the reasons."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import CallError
from bot.publishing.layout import CellChange, RowChange
from bot.publishing.tables.template import RequestFiles, ResultFiles
from tests.evaluation.judging import declared
from tests.publishing.tables.boards import EVIDENCE, MODEL, entry
from tests.publishing.tables.test_template import PENDING, REQUEST, RESULT, options, requests, results, row, written

KEY = f"{MODEL}/x"
FOREIGN = {"config": {"model_dtype": "torch.bfloat16"}, "results": {}}


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


# ---- both repositories ----


def test_a_row_that_cannot_be_on_the_board_says_why() -> None:
    long = "o/" + "x" * 98 + "!"
    assert results(row(long)).refused[f"{long}/x"] == (
        f"'{long[:60]}…' is not the id of a model on the Hub, as the board needs"
    )
    assert results(row("o/" + "x" * 57 + "!")).refused["o/" + "x" * 57 + "!/x"].startswith(f"'o/{'x' * 57}!' is not")
    precision = "y" * 41
    assert results(row(precision=precision)).refused[KEY] == f"the board does not know the precision '{'y' * 40}…'"
    assert results(row(precision="y" * 40)).refused[KEY] == f"the board does not know the precision '{'y' * 40}'"
    unknown = replace(row().entry, model=replace(entry().model, precision=""))
    assert "declare it as `precision`" in results(RowChange(KEY, unknown)).refused[KEY]
    assert results(RowChange("x", None)).refused == {
        "x": "its submission was withdrawn, and the bot has no record of its row"
    }


def test_of_two_revisions_of_a_model_the_first_is_on_the_board() -> None:
    other = RowChange("other", replace(row().entry, model=replace(entry().model, revision="b" * 40)))
    draft = results(row(), other, row("o/third"))

    assert draft.refused == {
        "other": "another revision of the model uses the same file; the board has one row for both"
    }
    assert draft.files.keys() == {RESULT, "o/third/results_bfloat16.json"}


def test_a_row_that_cannot_be_on_the_board_hides_no_row_behind_it() -> None:
    changes = [row("no id"), row(), row()]
    assert ResultFiles(options(), declared()).folders(changes) == (MODEL,)
    assert RequestFiles(options()).folders(changes) == ("example-org",)


def test_a_precision_has_no_name_of_a_library() -> None:
    draft = results(row(precision="torch.float16"))
    path = f"{MODEL}/results_float16.json"
    assert json.loads(written(draft)[path])["config"]["model_dtype"] == "torch.float16"


# ---- results ----


def test_a_result_file_says_whose_row_it_is_in_lines_that_people_read() -> None:
    data = written(results(row(scores={"bbh": 0.25, "gpqa": 0.5}), precisions=["bfloat16"]))[RESULT]
    config = {
        "model_name": MODEL,
        "model_dtype": "torch.bfloat16",
        "model_sha": entry().model.revision,
        "leaderboard_bot": {"key": KEY, "leaderboard": "open-llm-v2", "evidence": EVIDENCE},
    }
    values = {"leaderboard_bbh": {"acc_norm": 0.25}, "leaderboard_gpqa": {"acc_norm": 0.5}}
    assert data.decode() == json.dumps({"config": config, "results": values}, indent=2) + "\n"


def test_a_precision_that_torch_does_not_have_and_a_missing_revision() -> None:
    draft = results(row(precision="GPTQ", revision=""), precisions=["GPTQ"])
    config = json.loads(written(draft)[f"{MODEL}/results_GPTQ.json"])["config"]
    assert (config["model_dtype"], config["model_sha"]) == ("GPTQ", "main")


def test_a_score_is_written_as_a_proportion() -> None:
    tasks = {"bbh": {"benchmark": "b", "metric": "m", "value": "score"}}
    data = written(results(row(scores={"bbh": 0.25}), tasks=tasks))[RESULT]
    assert json.loads(data)["results"] == {"b": {"m": 0.25}}


@pytest.mark.parametrize(("folder", "start"), [("", ""), ("Xy/", "Xy/"), ("a/X", "a/X/")])
def test_a_result_lies_in_the_folder_of_the_settings(folder: str, start: str) -> None:
    assert (
        ResultFiles(options(folder=folder), declared()).path(entry("Xorg/m")) == f"{start}Xorg/m/results_bfloat16.json"
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("results_2025.json", dumped(FOREIGN)),
        ("results_2025.json", dumped({"config_general": {"model_dtype": "bfloat16"}})),
        ("results_bfloat16.json", dumped({"config": {"model_dtype": "torch.float16"}})),  # in our place
        ("results_bfloat16.json", dumped({"config": ["leaderboard_bot"]})),
        ("results_bfloat16.json", b"[]"),
        ("results_bfloat16.json", b"{"),
    ],
)
def test_a_result_of_somebody_else_stays(name: str, data: bytes) -> None:
    before = {f"o/other/{name}": data, f"{MODEL}/{name}": data}
    draft = results(row(), files=before)

    assert draft.files == {}
    assert draft.refused[KEY].startswith(f"{MODEL}/{name} ")
    assert "results of this model and precision" in draft.refused[KEY]


def test_a_result_of_another_precision_is_no_hindrance() -> None:
    there = {f"{MODEL}/results_2025.json": dumped({"config": {"model_dtype": "torch.float16"}})}
    assert results(row(), files=there).files.keys() == {RESULT}


@pytest.mark.parametrize("name", ["model_name", "model_dtype", "model_sha"])
def test_a_result_is_written_again_where_a_part_that_readers_use_differs(name: str) -> None:
    files = written(results(row()))
    there = json.loads(files[RESULT])
    config, mark = there["config"], there["config"]["leaderboard_bot"]
    other, linked = config | {name: "x"}, config | {"leaderboard_bot": mark | {"evidence": "elsewhere"}}

    assert results(row(), files={RESULT: dumped(there | {"config": other})}).files == files
    assert results(row(), files={RESULT: dumped(there | {"config": linked})}).files == {}


def test_a_request_shows_the_values_that_go() -> None:
    files = written(results(row(scores={"bbh": 0.25, "gpqa": 0.5})))
    draft = results(RowChange("x", None, published=entry()), files=files)
    assert draft.cells["x"] == (
        CellChange("leaderboard_bbh acc_norm", "0.25", ""),
        CellChange("leaderboard_gpqa acc_norm", "0.5", ""),
    )


def test_a_task_that_the_leaderboard_has_not_is_named() -> None:
    reason = "tasks: the leaderboard has no task 'mmlu'; it has bbh, gpqa, ifeval, math, mmlu_pro, musr"
    with pytest.raises(CallError, match=f"^{re.escape(reason)}$"):
        results(tasks={"mmlu": {"benchmark": "mmlu", "metric": "acc"}})


# ---- requests ----


def test_a_request_file_of_a_precision_with_the_name_of_a_library_is_meant() -> None:
    text = PENDING.replace("bfloat16", "torch.bfloat16")
    draft = requests(row(), files={REQUEST: text.encode()})

    assert draft.files == {REQUEST: text.replace("PENDING", "FINISHED").encode()}
    assert draft.cells == {KEY: (CellChange("status", "PENDING", "FINISHED"),)}


def test_a_new_request_file_is_written_in_lines_that_people_read() -> None:
    draft = requests(row(revision=""), create_requests=True)
    content = json.loads(written(draft)[REQUEST])

    assert written(draft)[REQUEST].decode() == json.dumps(content, indent=2) + "\n"
    assert (content["model"], content["revision"], content["precision"]) == (MODEL, "main", "bfloat16")
    assert draft.cells == {KEY: (CellChange("status", None, "FINISHED"),)}
    named = requests(row(revision="c" * 40), create_requests=True)
    assert json.loads(written(named)[REQUEST])["revision"] == "c" * 40


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (PENDING.encode("utf-16"), f"{REQUEST} is not UTF-8 text"),
        (PENDING.replace('"status":"PENDING",', "").encode(), f"{REQUEST} has not exactly one status"),
        (
            PENDING.replace("PENDING", "P" * 41).encode(),
            f"{REQUEST} has the status '{'P' * 40}…', which the bot does not change",
        ),
    ],
)
def test_a_request_file_that_is_not_as_expected_is_left(data: bytes, reason: str) -> None:
    draft = requests(row(), files={REQUEST: data})
    assert (draft.files, draft.refused) == ({}, {KEY: reason})


@pytest.mark.parametrize("data", [b"[1]", b"{", b"7", b""])
def test_a_file_that_is_no_object_is_no_request_of_the_model(data: bytes) -> None:
    reason = "there is no request file, so the board shows the model without its metadata"
    assert requests(row(), files={REQUEST: data}).refused == {KEY: reason}
