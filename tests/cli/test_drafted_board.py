"""A board begun from results of single tasks: it publishes one row of four files, in one request, over four pushes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.publishing.entry import Entry, parse_entry
from tests.evaluation.judging import dumps, stderr
from tests.world.git import Repository, Tree
from tests.world.hub import Hub

SHA = "0f3c9a61d2b84e7590c1a8d3b6e2f4a5c7d8e901"
TASKS = {
    "arc_challenge": ("acc_norm,none", 600, 1172, 25),
    "hellaswag": ("acc_norm,none", 7000, 10042, 10),
    "winogrande": ("acc,none", 900, 1267, 5),
    "gsm8k": ("exact_match,strict-match", 660, 1319, 5),
}


def of_task(task: str) -> bytes:
    """The file that the harness writes when it is called for one task."""
    metric, right, samples, shots = TASKS[task]
    name, _, answer_filter = metric.partition(",")
    row = {metric: right / samples, f"{name}_stderr,{answer_filter}": stderr(right / samples, samples)}
    args = f"pretrained=acme/atlas-7b,revision={SHA},dtype=bfloat16"
    data: dict[str, Any] = {"results": {task: row}, "configs": {task: {}}, "versions": {task: 1.0}}
    data |= {"n-shot": {task: shots}, "n-samples": {task: {"original": samples, "effective": samples}}}
    config = {"model": "hf", "model_args": args, "model_dtype": "torch.bfloat16", "model_sha": SHA, "limit": None}
    return dumps(data | {"config": config, "model_name": "acme/atlas-7b", "lm_eval_version": "0.4.9", "date": 1.77e9})


@pytest.fixture
def runner(hub: Hub) -> CliRunner:
    return CliRunner(env={"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url, "DATABASE_URL": None})


@pytest.mark.slow  # tests/service/test_rows.py pushes the files of one row one by one
def test_four_pushes_of_one_task_each_fill_one_request(hub: Hub, runner: CliRunner, tmp_path: Path) -> None:
    source, target = hub.repository("acme/results"), hub.repository("acme/contents")
    for task in TASKS:
        (tmp_path / f"{task}.json").write_bytes(of_task(task))
    places = ("--source", "hf://datasets/acme/results", "--to", "hf://datasets/acme/contents", "--title", "Ours")
    files = [word for task in TASKS for word in ("--results", str(tmp_path / f"{task}.json"))]
    begun = runner.invoke(app, ["init", str(tmp_path / "new"), *files, *places])
    assert begun.exit_code == 0, begun.output
    entries: list[Entry] = []
    for task in TASKS:
        hub.push(source, {f"atlas-7b/{task}.json": of_task(task)})
        done = runner.invoke(app, ["settle", "--config", str(tmp_path / "new" / "bot.toml")])
        assert done.exit_code == 0, done.output
        (request,) = hub.requests(target)
        entries.append(entry_at(hub, target, f"refs/pr/{request.num}"))
    assert [len(entry.evidence) for entry in entries] == [1, 2, 3, 4]
    assert [entry.average is None for entry in entries] == [True, True, True, False]
    assert {file.path for file in entries[-1].evidence} == {f"atlas-7b/{task}.json" for task in TASKS}


def test_a_watch_takes_its_declaration_from_an_address(hub: Hub, runner: CliRunner, tmp_path: Path) -> None:
    source, target, boards = (hub.repository(f"acme/{name}") for name in ("results", "contents", "boards"))
    (tmp_path / "run.json").write_bytes(of_task("gsm8k"))
    places = ("--source", "hf://datasets/acme/results", "--to", "hf://datasets/acme/contents", "--title", "Ours")
    assert runner.invoke(app, ["init", str(tmp_path), "--results", str(tmp_path / "run.json"), *places]).exit_code == 0
    hub.push(boards, {"gsm8k.toml": (tmp_path / "board.toml").read_bytes()})
    settings = tmp_path / "bot.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('"board.toml"', '"hf://datasets/acme/boards/gsm8k.toml"'), encoding="utf-8")
    hub.push(source, {"atlas-7b/run.json": of_task("gsm8k")})
    done = runner.invoke(app, ["settle", "--config", str(settings)])
    assert done.exit_code == 0, done.output
    (request,) = hub.requests(target)
    assert entry_at(hub, target, f"refs/pr/{request.num}").leaderboard.id == "gsm8k"
    hub.push(source, {"atlas-7b/torn.json": of_task("gsm8k")[:200]})
    assert runner.invoke(app, ["settle", "--config", str(settings)]).exit_code == 0
    (said,) = hub.conversations(source)
    assert "torn.json --leaderboard hf://datasets/acme/boards/gsm8k.toml" in said.description


def entry_at(hub: Hub, target: Repository, ref: str) -> Entry:
    """The one entry that a request brings."""
    commit = target.resolve(ref)
    assert commit is not None
    (path,) = [path for path in paths_in(commit.tree) if path.startswith("entries/")]
    data = hub.file(target, path, ref)
    assert data is not None
    return parse_entry(data)


def paths_in(tree: Tree, above: str = "") -> list[str]:
    found: list[str] = []
    for name, item in tree.items.items():
        found += paths_in(item, f"{above}{name}/") if isinstance(item, Tree) else [f"{above}{name}"]
    return found
