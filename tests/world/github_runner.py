"""A runner for composite actions: it runs the steps of `action.yml` one by one in bash, for an event.

`HereRunner` installs nothing and takes the last step in this process: a tenth of the time, for tests of what the bot
does and not of how a runner starts it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bot.action.run import main

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
# What the runner gives a step beside the variables of the job.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]


@dataclass(frozen=True)
class Ran:
    """What a workflow sees of a run: exit status, outputs as `action.yml` maps them, summary, log."""

    status: int
    outputs: dict[str, str]
    summary: str
    log: str

    def commands(self, kind: str) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(f"::{kind} ")]


@dataclass
class Runner:
    """One job of a workflow in `repository`; `temp` may be shared, so that what is installed there is found again."""

    temp: Path
    workspace: Path
    api_url: str
    repository: str
    scratch: Path
    variables: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    @property
    def action(self) -> dict[str, Any]:
        return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    def run(self, event_name: str, event: dict[str, Any] | None, token: str = "", sha: str = "", **given: str) -> Ran:
        """Run the action's steps with these inputs, as `uses: ./` would; an input's dashes are written as `_`."""
        self.runs += 1
        folder = self.scratch / str(self.runs)
        folder.mkdir(parents=True)
        environment = self.environment(folder, event_name, event, sha)
        specified = self.action["inputs"].items()
        inputs = {name: self.evaluate(str(spec.get("default", "")), token=token) for name, spec in specified}
        inputs["python"] = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        log, status = "", 0
        for step in self.action["runs"]["steps"]:
            if "run" in step and not status and not self.is_done(step):
                variables = {name: self.evaluate(value, inputs) for name, value in step.get("env", {}).items()}
                status, said = self.take(step["run"], environment | variables, folder)
                log += said
        outputs = parse_outputs((folder / "output").read_text())
        return Ran(status, self.mapped(outputs), (folder / "summary").read_text(), log)

    def take(self, script: str, environment: dict[str, str], folder: Path) -> tuple[int, str]:
        """Run one step; its status, and what it printed."""
        (folder / "step.sh").write_text(script)
        command = [*BASH, str(folder / "step.sh")]
        outputs: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=self.workspace, env=environment, check=False, **outputs)
        return done.returncode, done.stdout

    def is_done(self, step: dict[str, Any]) -> bool:
        """Whether the step installs what an earlier run of this job installed."""
        return "uv sync" in step["run"] and (self.temp / "leaderboard-bot-environment").exists()

    def environment(self, folder: Path, event_name: str, event: dict[str, Any] | None, sha: str) -> dict[str, str]:
        for name in ("output", "summary"):
            (folder / name).touch()
        if event is not None:
            (folder / "event.json").write_text(json.dumps(event))
        uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
        return {
            "PATH": os.pathsep.join([str(Path(uv).parent), os.environ["PATH"]]),
            "HOME": os.environ["HOME"],
            "XDG_CACHE_HOME": str(self.scratch / "cache"),
            "UV_CACHE_DIR": subprocess.run(
                [uv, "cache", "dir"], capture_output=True, text=True, check=True
            ).stdout.strip(),
            "UV_OFFLINE": "1",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": self.api_url,
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_SHA": sha,
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            **self.variables,
        }

    def evaluate(self, text: str, inputs: dict[str, str] | None = None, token: str = "") -> str:
        def value(match: re.Match[str]) -> str:
            known = {"github.token": token, "runner.temp": str(self.temp)}
            known |= {f"inputs.{name}": given for name, given in (inputs or {}).items()}
            return known[match[1]]

        return EXPRESSION.sub(value, text)

    def mapped(self, outputs: dict[str, str]) -> dict[str, str]:
        """The action's outputs, taken from those of its step as `action.yml` says."""
        names = {name: EXPRESSION.fullmatch(spec["value"])[1] for name, spec in self.action["outputs"].items()}
        return {name: outputs.get(path.removeprefix("steps.run.outputs."), "") for name, path in names.items()}


class HereRunner(Runner):
    """A runner whose last step runs in this process, with the inputs and outputs that `action.yml` maps."""

    def take(self, script: str, environment: dict[str, str], folder: Path) -> tuple[int, str]:
        assert script.endswith("-P -m bot.action")
        out = io.StringIO()
        with contextlib.chdir(self.workspace):
            status = main(environment, out)
        return status, out.getvalue()

    def is_done(self, step: dict[str, Any]) -> bool:
        return "uv sync" in step["run"]


def parse_outputs(text: str) -> dict[str, str]:
    """Read GITHUB_OUTPUT as the runner does: `name<<end`, the value's lines, `end`."""
    outputs, lines = {}, iter(text.split("\n"))
    for line in lines:
        if line:
            name, _, end = line.partition("<<")
            value = []
            for part in lines:
                if part == end:
                    break
                value.append(part)
            outputs[name] = "\n".join(value)
    return outputs
