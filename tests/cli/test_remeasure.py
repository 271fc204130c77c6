"""Another run of a part of a row's questions, from the plan to what the board says; once with the real harness."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from bot.audits.remeasure.plan import DrawnQuestion, PlannedTask, command_for
from bot.cli.app import app
from bot.cli.remeasure import addresses_of
from bot.errors import CallError, Refused
from bot.evaluation.formats import parse_result
from bot.platforms.hub.jobs import start_job
from bot.platforms.inputs import find_places
from bot.platforms.platform import Access, Opener
from bot.publishing.entry import Evidence
from tests.audits.samples.test_check import STAMP
from tests.cli.test_samples import RIGHT, rows
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, result

__all__ = ["github"]


def call(*args: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, list(args))
    return done.exit_code, done.output


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A board that ranks only rows that another run confirmed, with one row of a run with logs."""
    folder = tmp_path / "runs" / "atlas"
    write_run(folder, {})
    demand = '[evidence]\nsamples = "required"\nleast = "remeasured"\n\n[harness]'
    (tmp_path / "tiny.toml").write_text(TINY.replace("[harness]", demand, 1))
    for args in (("init", "-q"), ("add", "runs"), ("commit", "-qm", "results")):
        git(tmp_path, *args)
    status, said = call(
        "publish", "runs", "-l", "tiny.toml", "--to", "board", "--as", "commit", "--quiet",
        folder=tmp_path, monkeypatch=monkeypatch,
    )  # fmt: skip
    assert status == 0, said
    return tmp_path


def write_run(folder: Path, flips: dict[int, float]) -> None:
    """A result with its logs; the answers to some questions of each task are others."""
    folder.mkdir(parents=True)
    (folder / f"results_{STAMP}.json").write_bytes(result())
    for task, right in RIGHT.items():
        found = [row | ({"acc": flips[place]} if place in flips else {}) for place, row in enumerate(rows(task, right))]
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))


@pytest.mark.slow
def test_a_row_is_planned_judged_and_says_what_it_rests_on(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = (board / "board" / "entries").rglob("*.json")
    assert json.loads(entry.read_text())["rests_on"] == "rescored"
    key = json.loads(entry.read_text())["key"]
    table = (board / "board" / "leaderboard.csv").read_text().splitlines()
    assert table[1].startswith(",,acme/atlas-7b")  # without a rank

    plan = ("remeasure", "plan", key, "--board", "board", "--sources", ".", "--seed", "beacon", "--samples", "90")
    status, said = call(*plan, folder=board, monkeypatch=monkeypatch)
    assert status == 0, said
    assert "270 questions of 3 tasks of acme/atlas-7b" in said
    assert "--samples '{" in said
    drawn = json.loads((board / "remeasure.json").read_text())
    assert all(one["document"] and one["score"] in {0, 1} for task in drawn["tasks"] for one in task["questions"])

    write_run(board / "forged", dict.fromkeys(range(0, 45, 2), 0.0))
    status, said = call("remeasure", "judge", "remeasure.json", "forged", folder=board, monkeypatch=monkeypatch)
    assert status == 1, said
    assert "does not agree" in said

    write_run(board / "again", {0: 0.0, 99: 1.0})
    judged = ("remeasure", "judge", "remeasure.json", "again", "--to", "board", "--by", "ann")
    status, said = call(*judged, folder=board, monkeypatch=monkeypatch)
    assert status == 0, said
    assert "agrees" in said
    branch = next(
        name for name in git(board / "board", "branch", "--format=%(refname:short)").split() if name != "main"
    )
    git(board / "board", "merge", "-q", branch)
    record = json.loads((board / "board" / "remeasured" / f"{key}.json").read_text())
    assert (record["outcome"], record["by"], record["seed"], len(record["logs"])) == ("agrees", "ann", "beacon", 3)

    status, said = call("board", "board", folder=board, monkeypatch=monkeypatch)
    assert status == 0, said
    status, said = call("site", "board", "--out", "site", folder=board, monkeypatch=monkeypatch)
    assert status == 0, said
    assert "remeasured" in (board / "site" / "leaderboard.csv").read_text()
    assert "58.3" in (board / "site" / "leaderboard.csv").read_text()


TASK = """\
task: plus
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 8}}
filter_list:
  - name: number
    filter:
      - {{function: regex, regex_pattern: "(-?[0-9]+)", group_select: -1}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true}}
"""


@contextmanager
def model(answers: Callable[[int], bool]) -> Iterator[str]:
    """A model behind the completions API of OpenAI on loopback: asked for n plus one, it is right where told to be."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked = [int(prompt.split()[1]) for prompt in body["prompt"]]
            said = [f" {number + (1 if answers(number) else 3)}" for number in asked]
            data = json.dumps({"choices": [{"index": place, "text": text} for place, text in enumerate(said)]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/completions"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_the_real_harness_runs_the_plan_against_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """lm_eval 0.4.13 without torch; the model answers the same but for 2 % of noise."""
    (tmp_path / "tasks").mkdir()
    lines = [{"question": f"What {number} plus one?", "answer": str(number + 1)} for number in range(300)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "tasks" / "plus.yaml").write_text(TASK.format(file=tmp_path / "q.jsonl"))
    environ = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    rng = random.Random(1)

    def noisy(number: int) -> bool:
        return (number % 10 < 6) != (rng.random() < 0.02)

    def run(command: list[str], out: str) -> None:
        there = [str(tmp_path / out) if word == "results" else word for word in command]
        done = subprocess.run(
            [str(Path(sys.executable).parent / "lm_eval"), *there[1:], "--include_path", str(tmp_path / "tasks")],
            env=environ, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]

    with model(noisy) as url:
        args = f"base_url={url},model=acme/atlas-7b,tokenizer_backend=None,tokenized_requests=False"
        measured = ["lm_eval", "--model", "local-completions", "--model_args", args, "--tasks", "plus"]
        run([*measured, "--output_path", "results", "--log_samples", "--batch_size", "50"], "submitted")
        plan = ("remeasure", "plan", "submitted", "--samples", "150", "--seed", "beacon")
        status, said = call(*plan, folder=tmp_path, monkeypatch=monkeypatch)
        assert status == 0, said
        command = shlex.split(json.loads((tmp_path / "remeasure.json").read_text())["command"])
        run([*command, "--batch_size", "50"], "again")
    status, said = call("remeasure", "judge", "remeasure.json", "again", folder=tmp_path, monkeypatch=monkeypatch)
    assert status == 0, said

    run(["lm_eval", "--model", "dummy", "--tasks", "plus", "--output_path", "results", "--log_samples"], "dummy")
    of_dummy = ("remeasure", "plan", "dummy", "--samples", "150", "--out", "dummy.json")
    assert call(*of_dummy, folder=tmp_path, monkeypatch=monkeypatch)[0] == 0
    status, said = call("remeasure", "judge", "dummy.json", "submitted", folder=tmp_path, monkeypatch=monkeypatch)
    assert status == 1, said

    (log,) = (tmp_path / "submitted").rglob("samples_*.jsonl")
    submitted = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps(row | {"exact_match": 1.0}) + "\n" for row in submitted))
    assert call(*plan, folder=tmp_path, monkeypatch=monkeypatch)[0] == 0
    status, said = call("remeasure", "judge", "remeasure.json", "again", folder=tmp_path, monkeypatch=monkeypatch)
    assert status == 1, said


def hub_job(hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path, *args: str) -> tuple[int, str]:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.person("ann"))
    return call("remeasure", "plan", "run", "--samples", "5", *args, folder=folder, monkeypatch=monkeypatch)


def test_a_job_runs_the_plan_on_the_hub_only_where_it_is_asked_for(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real client of the Hub starts it; the harness is of the row's release, and no model runs code of its own."""
    write_run(tmp_path / "run", {})
    (path,) = (tmp_path / "run").glob("results_*")
    data = json.loads(path.read_text()) | {"lm_eval_version": "0.4.9"}
    data["config"]["model_args"] = f"{data['config']['model_args']},trust_remote_code=True"
    path.write_text(json.dumps(data))
    status, said = hub_job(hub, monkeypatch, tmp_path)
    assert (status, hub.jobs) == (0, []), said

    status, said = hub_job(hub, monkeypatch, tmp_path, "--job", "a10g-small")
    assert status == 0, said
    assert f"{hub.url}/jobs/ann/job" in said
    (job,) = hub.jobs
    assert (job["flavor"], job["dockerImage"], job["secrets"]) == (
        "a10g-small",
        "python:3.12",
        {"HF_TOKEN": hub.person("ann")},
    )
    command = json.loads((tmp_path / "remeasure.json").read_text())["command"]
    assert job["command"][:2] == ["bash", "-c"]
    assert job["command"][2].startswith(f"export PIP_QUIET=1 && pip install lm_eval==0.4.9 && {command} && ")
    assert "trust_remote_code" not in json.dumps(job)
    assert subprocess.run(["bash", "-n", "-c", job["command"][2]], check=False).returncode == 0


def test_a_job_that_the_hub_does_not_start_is_one_line(hub: Hub) -> None:
    hub.faults.order("/api/jobs", status=402)
    with pytest.raises(Refused, match="it starts no job"):
        start_job(Access(hf_token=hub.person("ann"), hf_endpoint=hub.url), "a10g-small", "python:3.12", ["true"])
    assert hub.jobs == []


def test_a_row_of_files_on_github_is_planned(
    github: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "atlas", {})
    git = github.state.repos[BOARD].git
    commit = git.push("heads/main", {f"runs/{one.name}": one.read_bytes() for one in (tmp_path / "atlas").iterdir()})
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", "ann-token")
    name = f"github://{BOARD}@{commit}/runs/results_{STAMP}.json"
    status, said = call("remeasure", "plan", name, "--samples", "5", folder=tmp_path, monkeypatch=monkeypatch)
    assert status == 0, said
    drawn = json.loads((tmp_path / "remeasure.json").read_text())
    assert (drawn["commit"], [len(task["questions"]) for task in drawn["tasks"]]) != ("", [])
    assert all(one["score"] in {0, 1} for task in drawn["tasks"] for one in task["questions"])
    entry = Evidence(f"github://{BOARD}", f"runs/results_{STAMP}.json", commit)
    row = SimpleNamespace(evidence=(entry,))
    board = Opener(Access()).target(str(tmp_path))
    assert list(addresses_of(row, [], board)) == [name]  # type: ignore[arg-type]
    with pytest.raises(CallError, match=r"files are read .* at github://owner/name\[@commit\]/path"):
        find_places([f"github://{BOARD}"], Access())


def test_the_command_has_the_arguments_whose_default_is_another_than_none(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {})
    (path,) = (tmp_path / "run").glob("results_*")
    data = json.loads(path.read_text())
    named = {"base_url": "http://127.0.0.1:1/v1", "model": "acme/atlas-7b"}
    data["config"] |= {"model": "local-completions", "model_args": named | {"tokenizer_backend": None, "peft": None}}
    result = parse_result(json.dumps(data).encode())
    tasks = [PlannedTask("logic", "acc,none", 0.7, 100, (DrawnQuestion(3),))]
    command, _ = command_for(result, tasks)
    args = "base_url=http://127.0.0.1:1/v1,model=acme/atlas-7b,tokenizer_backend=None,"
    assert shlex.split(command)[4].startswith(args)
