"""The Action's edges: inputs and events as they come, outputs and summary as they must be written."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest

from bot.action.job import (
    CUT,
    SUMMARY_LIMIT,
    Outputs,
    TriggerContext,
    read_inputs,
    read_trigger,
    write_outputs,
    write_summary,
)
from bot.action.run import main
from bot.errors import CallError
from tests.platforms.github.fixtures import BOARD
from tests.world.github_runner import parse_outputs
from tests.world.results import TINY


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MODE", "chek", "the input `mode` is 'chek'; it takes check, publish, verify"),
        ("MODE", "publish", "the input `to` names no target, and `mode: publish` needs one"),
        ("AS", "gift", "the input `as` is 'gift'; it takes pull-request, commit, comment"),
        ("COMMENT", "yes", "the input `comment` is 'yes'; it takes on-findings, always, never"),
        ("FAIL_ON", "notice", "the input `fail-on` is 'notice'; it takes error, rejected, warning, never"),
        ("CHANGED_ONLY", "1", "the input `changed-only` is '1'; it takes true, false"),
        ("BADGE", "b.svg", "the input `badge` goes with `mode: verify`; with `mode: check` it does nothing"),
        ("SITE", "site", "the input `site` goes with `mode: publish`; with `mode: check` it does nothing"),
        (
            "COMPARE_FAIL_ON",
            "lower",
            "the input `compare-fail-on` goes with `compare-to`: without it nothing is compared",
        ),
        (
            "COMPARE_MARGIN",
            "0.5",
            "the input `compare-margin` goes with `compare-fail-on: lower`: without it no row is too low",
        ),
        (
            "RESULTS",
            "a/*.json b/*.json",
            "the input `results` has several globs in one line, 'a/*.json b/*.json': give one a line",
        ),
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

    assert read_trigger(environ | {"GITHUB_EVENT_NAME": "schedule"}).proposal is None
    assert read_trigger(environ | {"GITHUB_EVENT_NAME": "push"}).before is None
    with pytest.raises(CallError, match="GITHUB_EVENT_PATH is damaged"):
        read_trigger(environ | {"GITHUB_EVENT_NAME": "pull_request"})


def test_outside_of_a_workflow_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="this is not a workflow's environment"):
        read_trigger({"GITHUB_EVENT_NAME": "push"})


def test_a_run_after_a_push_is_about_its_commit(tmp_path: Path) -> None:
    run = {"workflow_run": {"event": "push", "head_sha": "b" * 40}}
    (tmp_path / "event.json").write_text(json.dumps(run))
    environ = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_REPOSITORY": BOARD,
        "GITHUB_WORKSPACE": "/w",
    }

    assert read_trigger(environ) == TriggerContext(BOARD, "b" * 40, "workflow_run", Path("/w"))


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch", "release"])
def test_these_events_may_publish(name: str) -> None:
    assert read_trigger({"GITHUB_REPOSITORY": BOARD, "GITHUB_EVENT_NAME": name}).may_publish


@pytest.mark.parametrize(
    "name",
    ["pull_request_target", "issue_comment", "workflow_run", "repository_dispatch", "merge_group", "fork", "", "Push"],
)
def test_no_other_event_publishes_whatever_it_is(tmp_path: Path, name: str) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 1, "head": {"sha": "b" * 40}}}))
    environ = {"GITHUB_REPOSITORY": BOARD, "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(event)}
    assert not read_trigger(environ).may_publish

    out = StringIO()
    inputs = {"INPUT_RESULTS": "a.json", "INPUT_MODE": "publish", "INPUT_TO": str(tmp_path / "board")}
    assert main(environ | inputs | {"GITHUB_WORKSPACE": str(tmp_path)}, out) == 2
    assert "it runs on push, schedule, workflow_dispatch, release, not on" in out.getvalue()
    assert not (tmp_path / "board").exists()


OWN = """\
title = "A board with files of its own"
description = "Two tasks."

[[formats]]
id = "own"
values = [{ value = "scores.{task}", leaf = "{task}", unit = "fraction" }]

[[tasks]]
id = "math"
title = "Math"
metrics = [{ name = "score", integral = false }]
leaves = [{ id = "math" }]
"""


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ('source = ".."\npaths = ["runs/**/*.jsonl", "!runs/old/**"]', 0, "accepted: runs/team-one/a.jsonl"),
        ('source = "github://example-org/board"\npaths = ["**/*.jsonl", "!**/old/**"]', 0, "accepted: runs/team-one/a"),
        ('source = "../runs"\npaths = ["*/*.jsonl", "!old/**"]', 0, "accepted: runs/team-one/a.jsonl"),
        ('source = ""\npaths = ["**/*.jsonl"]', 1, "bot.toml"),  # refused settings
        # A folder beside the workspace, as `init` wrote it on somebody's machine.
        ('source = "../../x"\npaths = ["*/*.jsonl", "!**/old/**"]', 0, "accepted: runs/team-one/a.jsonl"),
        ('source = "../../x"\npaths = ["**/*.jsonl", "!old/**"]', 0, "accepted: runs/team-one/a.jsonl"),
        ('source = ".."\npaths = ["**/*.csv"]', 1, "::error title=leaderboard-bot::no result file in the workspace"),
    ],
)
def test_the_settings_beside_a_declaration_say_which_files_are_results_and_whose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, status: int, said: str
) -> None:
    for path, text in {
        "board/board.toml": OWN,
        "board/bot.toml": f'[[watches]]\nname = "own"\nleaderboard = "board.toml"\n{settings}\n'
        'identity = [{ path = "runs/team-*/", id = "example-org/{1}" }]\n[[watches.targets]]\nto = "rows"\n',
        "runs/team-one/a.jsonl": '{"scores": {"math": 0.5}}\n',
        "runs/old/a.jsonl": '{"scores": {"math": 7}}\n',
    }.items():
        (tmp_path / "work" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / path).write_text(text)
    monkeypatch.chdir(tmp_path / "work")
    environ = {
        "GITHUB_REPOSITORY": BOARD, "GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_SHA": "a" * 40,
        "RUNNER_TEMP": str(tmp_path), "GITHUB_WORKSPACE": str(tmp_path / "work"),
        "INPUT_LEADERBOARD": "board/board.toml", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    out = StringIO()
    assert main(environ, out) == status, out.getvalue()
    assert said in out.getvalue()
    assert ("example-org/one" in (tmp_path / "summary").read_text()) == ("accepted" in said)


TABLE = """
[[watches.targets]]
to = "rows"
kind = "table"
[watches.targets.table]
path = "board.md"
key = ["Model"]
columns = { Model = "model.name", Math = "tasks.math.score", Cost = "columns.cost.value" }
"""
COST = '[[columns]]\nid = "cost"\ntitle = "Cost"\nleaves = ["cost"]\nmetric = "score"\nunit = "$"\n'


@pytest.mark.parametrize(("cost", "fail_on", "status"), [(0.25, "error", 0), (None, "error", 1), (None, "never", 0)])
def test_a_whole_row_that_the_table_refuses_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cost: float | None, fail_on: str, status: int
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "board.toml").write_text(f"{OWN}{COST}")
    settings = '[[watches]]\nname = "own"\nleaderboard = "board.toml"\nsource = "."\npaths = ["*.jsonl"]\n'
    settings += 'identity = [{ path = "*.jsonl", id = "example-org/{1}" }]\n'
    (folder / "bot.toml").write_text(f"{settings}{TABLE}")
    (folder / "one.jsonl").write_text(json.dumps({"scores": {"math": 0.5, "cost": cost}}))
    monkeypatch.chdir(folder)
    environ = {
        "GITHUB_REPOSITORY": BOARD, "GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_SHA": "a" * 40,
        "RUNNER_TEMP": str(tmp_path), "GITHUB_WORKSPACE": str(folder), "INPUT_LEADERBOARD": "board.toml",
        "INPUT_FAIL_ON": fail_on, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    out = StringIO()
    assert main(environ, out) == status, out.getvalue()
    why = "gets no row of example-org/one: the row is incomplete"
    assert (why in out.getvalue(), why in (tmp_path / "summary").read_text()) == (cost is None, cost is None)


HOSTILE = ["::set-output name=verdict::accepted", "##[add-mask]a", "a\n::error::x", "a\x1b[2J", "a\udcff", "-=1+1,@x"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_file_reaches_the_runner_as_a_command(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / f"{name}.json").write_text('{"results": {')
    (folder / "tiny.toml").write_text(TINY)
    out = StringIO()
    environ = {
        "GITHUB_REPOSITORY": BOARD, "GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "a" * 40, "RUNNER_TEMP": str(tmp_path),
        "GITHUB_WORKSPACE": str(folder), "INPUT_CHANGED_ONLY": "false", "INPUT_RESULTS": "**/*.json",
        "INPUT_LEADERBOARD": str(folder / "tiny.toml"), "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    assert main(environ, out) == 1
    out.getvalue().encode()
    lines = re.split("[\r\n]", out.getvalue())
    heard = [line for line in lines if line.strip().startswith("::") or "##[" in line]
    assert heard
    assert all(line.startswith("::error title=malformed-file,file=") for line in heard)
    assert all(line.isprintable() for line in lines)
    assert parse_outputs((tmp_path / "output").read_text())["rejected"] == "1"


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
