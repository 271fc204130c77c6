"""Boards made from the demo-leaderboard template: what is written is what their readers take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isnan
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from bot.errors import CallError
from bot.publishing.layout import Draft, RowChange
from bot.publishing.tables.mapping import TemplateOptions
from bot.publishing.tables.template import RequestFiles, ResultFiles
from tests.evaluation.judging import declared
from tests.publishing.tables.boards import EVIDENCE, MODEL, Files, entry

TASKS = {"bbh": ("leaderboard_bbh", "acc_norm"), "gpqa": ("leaderboard_gpqa", "acc_norm")}
KNOWN = {"model", "base_model", "revision", "precision", "weight_type", "status", "submitted_time", "model_type"}
KNOWN |= {"likes", "params", "license", "private"}
RESULT = f"{MODEL}/results_bfloat16.json"
REQUEST = f"{MODEL}_eval_request_False_bfloat16_Original.json"
PENDING = '{"model": "NAME", "precision": "bfloat16", "status":"PENDING",  "likes": 0}'.replace("NAME", MODEL)


def options(**changes: Any) -> TemplateOptions:
    tasks = {task: {"benchmark": benchmark, "metric": metric} for task, (benchmark, metric) in TASKS.items()}
    return TemplateOptions.model_validate({"kind": "template", "tasks": tasks, **changes})


def results(*changes: RowChange, files: Mapping[str, bytes] | None = None, **settings: Any) -> Draft:
    return ResultFiles(options(**settings), declared()).draft(changes, files or {})


def requests(*changes: RowChange, files: Mapping[str, bytes] | None = None, **settings: Any) -> Draft:
    return RequestFiles(options(**settings)).draft(changes, files or {})


def row(model: str = MODEL, scores: Mapping[str, float | None] | None = None, **changes: Any) -> RowChange:
    made = entry(model, scores)
    return RowChange(f"{model}/x", replace(made, model=replace(made.model, **changes)))


def shown(files: Mapping[str, bytes]) -> dict[str, dict[str, float]]:
    """The board as the template computes it: percent by benchmark, by model and precision; a gap drops the model."""
    folders: dict[str, list[str]] = {}
    for path in sorted(files):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    board: dict[str, dict[str, float]] = {}
    for paths in folders.values():
        if not all(path.endswith(".json") for path in paths):
            continue
        for path in paths:
            data = json.loads(files[path])
            config = data["config"]
            name = f"{config.get('model_name', config.get('model_args')).replace('/', '_')}_{config['model_dtype'][6:]}"
            scores = {}
            for benchmark, metric in TASKS.values():
                values = [found.get(metric) for key, found in data["results"].items() if key == benchmark]
                if values and all(value is not None and not isnan(value) for value in values):
                    scores[benchmark] = 100.0 * sum(values) / len(values)
            if len(scores) == len(TASKS):
                board[name] = scores
    return board


def written(draft: Draft) -> Files:
    return {path: data for path, data in draft.files.items() if data is not None}


def test_a_result_file_is_shown_by_the_board() -> None:
    draft = results(row(scores={"bbh": 0.25, "gpqa": 0.5}))

    assert draft.files.keys() == {RESULT}
    assert shown(written(draft)) == {
        "example-org_kestrel-7b_bfloat16": {"leaderboard_bbh": 25.0, "leaderboard_gpqa": 50.0}
    }
    config = json.loads(written(draft)[RESULT])["config"]
    assert config["model_sha"] == entry().model.revision
    assert config["leaderboard_bot"]["evidence"] == EVIDENCE


def test_a_model_with_a_missing_task_is_refused_for_the_board_would_drop_it() -> None:
    draft = results(row("o/whole", {"bbh": 0.25}), row("o/gap", {"bbh": None}))

    assert draft.files.keys() == {"o/whole/results_bfloat16.json"}
    assert draft.refused == {"o/gap/x": "the row has no value for bbh, and the board drops models with a missing task"}


def test_the_same_result_is_not_written_again_and_a_new_one_replaces_it() -> None:
    files = written(results(row(scores={"bbh": 0.25})))

    assert results(row(scores={"bbh": 0.25}), files=files) == Draft()
    draft = results(row(scores={"bbh": 0.5}), files=files)
    assert [(cell.column, cell.before, cell.after) for cell in draft.cells[f"{MODEL}/x"]] == [
        ("leaderboard_bbh acc_norm", "0.25", "0.5")
    ]


def test_a_withdrawn_result_goes_and_one_of_somebody_else_stays() -> None:
    files = written(results(row()))
    gone = RowChange("x", None, published=entry())
    foreign = {RESULT: b'{"config": {"model_dtype": "torch.bfloat16"}, "results": {}}'}
    dated = {f"{MODEL}/results_2025-01-01.json": foreign[RESULT]}

    assert results(gone, files=files).files == {RESULT: None}
    assert results(gone) == Draft()
    for there in (foreign, dated):
        assert "that the bot did not write" in results(row(), files=there).refused[f"{MODEL}/x"]
    assert "the bot has no record" in results(RowChange("x", None)).refused["x"]


def test_results_of_somebody_else_count_where_they_say_the_same_and_are_outdone_only_where_allowed() -> None:
    made = results(row()).files[RESULT]
    assert made is not None
    theirs = json.loads(made)
    del theirs["config"]["leaderboard_bot"]
    place = f"{MODEL}/results_2024-01-01.json"
    same = {place: json.dumps(theirs).encode()}
    assert results(row(), files=same) == Draft()
    theirs["results"]["leaderboard_bbh"]["acc_norm"] = 0.001
    other = {place: json.dumps(theirs).encode()}
    assert "that the bot did not write" in results(row(), files=other).refused[f"{MODEL}/x"]
    outdone = results(row(), files=other, on_existing="update")
    assert outdone.files == {RESULT: made}
    [cells] = outdone.cells.values()
    assert [(cell.column, cell.before) for cell in cells] == [("leaderboard_bbh acc_norm", "0.001")]
    later = {f"{MODEL}/results_later.json": other[place]}
    assert "takes the last file" in results(row(), files=later, on_existing="update").refused[f"{MODEL}/x"]


def test_a_folder_with_a_file_that_is_no_json_is_refused() -> None:
    assert "ignores the whole folder" in results(row(), files={f"{MODEL}/notes.txt": b""}).refused[f"{MODEL}/x"]


def test_what_the_board_cannot_show_is_refused() -> None:
    for model in ("kestrel", "../x", "a/../b", "o/.git", "o/a b"):
        assert "is not the id of a model on the Hub" in results(row(model)).refused[f"{model}/x"]
    assert "does not know the precision '4bit'" in results(row(precision="4bit")).refused[f"{MODEL}/x"]
    both = (row(), RowChange("other", replace(row().entry, model=replace(entry().model, revision="b" * 40))))
    assert "one row for both" in results(*both).refused["other"]
    with pytest.raises(CallError, match="no task 'mmlu'"):
        results(tasks={"mmlu": {"benchmark": "mmlu", "metric": "acc"}})


def test_what_must_be_read_is_named_and_nothing_outside_of_it() -> None:
    layouts = (ResultFiles(options(folder="out/"), declared()), RequestFiles(options()))
    hostile = row(precision="../../x")

    assert layouts[0].folders([row(), hostile]) == (f"out/{MODEL}",)
    assert layouts[0].paths([row()], [f"out/{MODEL}/a.json"]) == (f"out/{MODEL}/a.json", f"out/{RESULT}")
    assert layouts[1].folders([row()]) == ("example-org",)
    listed = [REQUEST, REQUEST.replace("kestrel", "osprey"), REQUEST.replace(".json", ".txt")]
    assert layouts[1].paths([row()], listed) == (REQUEST,)
    assert layouts[1].paths([hostile], listed) == ()


def test_only_the_status_of_a_request_file_changes() -> None:
    draft = requests(row(), files={REQUEST: PENDING.encode()})

    assert draft.files == {REQUEST: PENDING.replace('"PENDING"', '"FINISHED"').encode()}
    assert requests(row(), files=written(draft)) == Draft()
    back = requests(RowChange("x", None, published=entry()), files=written(draft))
    assert back.files == {REQUEST: PENDING.replace('"PENDING"', '"FAILED"').encode()}


def test_the_newest_request_file_of_the_precision_is_meant() -> None:
    older = REQUEST.replace("Original", "Adapter")
    other = REQUEST.replace("_bfloat16", "_zfloat16")
    files = {path: PENDING.encode() for path in (REQUEST, older)}
    files[other] = PENDING.replace("bfloat16", "float16").encode()

    assert requests(row(), files=files).files.keys() == {REQUEST}


def test_a_request_that_waits_for_somebody_else_is_left_alone() -> None:
    for status in ('"CANCELLED"', "null", "[1]"):
        files = {REQUEST: PENDING.replace('"PENDING"', status).encode()}
        assert "which the bot does not change" in requests(row(), files=files).refused[f"{MODEL}/x"]
    finished = {REQUEST: PENDING.replace("PENDING", "FINISHED_LATER").encode()}
    assert requests(row(), files=finished) == Draft()
    none = {REQUEST: PENDING.replace("status", "state").encode()}
    assert "has not exactly one status" in requests(row(), files=none).refused[f"{MODEL}/x"]


def test_a_request_file_is_made_only_on_demand_and_with_known_keys_only() -> None:
    assert "no request file" in requests(row()).refused[f"{MODEL}/x"]
    draft = requests(row(), create_requests=True, request_defaults={"model_type": "🟢 : pretrained", "likes": 3})

    made = json.loads(written(draft)[REQUEST])
    assert made.keys() == KNOWN
    assert (made["status"], made["likes"], made["model_type"]) == ("FINISHED", 3, "🟢 : pretrained")
    assert requests(row(), files=written(draft)) == Draft()
    assert requests(RowChange("x", None, published=entry()), create_requests=True) == Draft()


def test_settings_that_would_break_the_back_end_are_refused() -> None:
    with pytest.raises(ValidationError, match="'digest' is not one of"):
        options(request_defaults={"digest": "x"})
    with pytest.raises(ValidationError, match="weight_type is a word"):
        options(request_defaults={"weight_type": "../x"})
