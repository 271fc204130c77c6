"""The Action's edges: inputs and events as they come, outputs and summary as they must be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.action.inputs import read_inputs
from bot.action.outputs import CUT, SUMMARY_LIMIT, Outputs, write_outputs, write_summary
from bot.action.trigger import TriggerContext, read_occasion
from bot.errors import CallError
from tests.platforms.github.fixtures import BOARD
from tests.world.github_runner import parse_outputs


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MODE", "chek", "the input `mode` is 'chek'; it takes check, publish"),
        ("MODE", "publish", "the input `to` names no target, and `mode: publish` needs one"),
        ("AS", "gift", "the input `as` is 'gift'; it takes pull-request, commit, comment"),
        ("COMMENT", "yes", "the input `comment` is 'yes'; it takes on-findings, always, never"),
        ("FAIL_ON", "notice", "the input `fail-on` is 'notice'; it takes error, warning, never"),
        ("CHANGED_ONLY", "1", "the input `changed-only` is '1'; it takes true, false"),
        ("RESULTS", " \n ", "the input `results` names no path: give paths, globs or hf://… addresses, one a line"),
    ],
)
def test_a_wrong_input_is_named(name: str, value: str, message: str) -> None:
    with pytest.raises(CallError) as error:
        read_inputs({"INPUT_RESULTS": "a.json", f"INPUT_{name}": value})
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pull_request": null}', '{"pull_request": {"number": "1"}}'])
def test_a_damaged_event_is_an_error_only_where_it_matters(tmp_path: Path, text: str) -> None:
    (tmp_path / "event.json").write_text(text)
    environ = {"GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_REPOSITORY": BOARD, "GITHUB_SHA": "a" * 40}

    assert read_occasion(environ | {"GITHUB_EVENT_NAME": "schedule"}).proposal is None
    assert read_occasion(environ | {"GITHUB_EVENT_NAME": "push"}).before is None
    with pytest.raises(CallError, match="GITHUB_EVENT_PATH is damaged"):
        read_occasion(environ | {"GITHUB_EVENT_NAME": "pull_request"})


def test_outside_of_a_workflow_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="this is not a workflow's environment"):
        read_occasion({"GITHUB_EVENT_NAME": "push"})


def test_a_run_after_a_push_is_about_its_commit(tmp_path: Path) -> None:
    run = {"workflow_run": {"event": "push", "head_sha": "b" * 40}}
    (tmp_path / "event.json").write_text(json.dumps(run))
    environ = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_REPOSITORY": BOARD,
        "GITHUB_WORKSPACE": "/w",
    }

    assert read_occasion(environ) == TriggerContext(BOARD, "b" * 40, "workflow_run", Path("/w"))


def test_an_output_cannot_end_itself_early(tmp_path: Path) -> None:
    path = tmp_path / "output"
    hostile = "a\nend\nverdict<<x\naccepted\nx"

    write_outputs(Outputs(verdict="rejected", pull_request=hostile), {"GITHUB_OUTPUT": str(path)})

    outputs = parse_outputs(path.read_text())
    assert (outputs["verdict"], outputs["pull-request"]) == ("rejected", hostile)
    ends = [line.split("<<end-")[1] for line in path.read_text().splitlines() if "<<end-" in line]
    assert len(set(ends)) == len(ends) == 7


def test_a_summary_past_the_limit_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "summary"

    write_summary("ünd so weiter\n" * 200_000, {"GITHUB_STEP_SUMMARY": str(path)})

    text = path.read_bytes()
    assert SUMMARY_LIMIT - 100 < len(text) <= SUMMARY_LIMIT
    assert text.decode().endswith(CUT)
