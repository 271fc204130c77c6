"""The inputs of one run of the Action, the event that started it, its log and its outputs.

The payload of the event is GitHub's own, yet its texts (branch names, titles) are a stranger's: only numbers, commit
ids and names that go back to the API are taken from it.
"""

from __future__ import annotations

import json
import re
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from bot.errors import CallError
from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.verdict import Judgement, Row
from bot.platforms.github.platform import PLATFORM
from bot.platforms.github.source import GitHubSource
from bot.platforms.platform import Opener
from bot.publishing.publication import Form
from bot.reporting.annotations import command
from bot.reporting.escape import visible, without_commands
from bot.reporting.explanation import explain
from bot.reporting.markdown import ORDER
from bot.reporting.report import summarize
from bot.service.settings.beside import folder_names
from bot.service.settings.config import Watch

Mode = Literal["check", "publish", "verify"]
When = Literal["on-findings", "always", "never"]
FailOn = Literal["error", "rejected", "warning", "never"]
DEFAULT = "open-llm-v2"
COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
BASE = "base"  # what `compare-to` calls the base branch of a pull request, and the commit before a push
MOST_POINTS = 100
# The mode that uses an input; one that does nothing would be a check or a board that somebody takes for granted.
GO_WITH: dict[str, Mode] = {
    "site": "publish", "compare-to": "check", "badge": "verify", "config": "verify", "sources": "verify",
}  # fmt: skip
NOTHING = "0" * 40  # the commit before that a push of a new branch names
# What runs by the decision of somebody who may write to the repository; strangers cause all other events.
TRUSTED = ("push", "schedule", "workflow_dispatch", "release")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of `action.yml`; tokens are not among them, they are read with the other secrets."""

    results: tuple[str, ...]
    leaderboard: str
    mode: Mode
    to: str
    form: Form
    comment: When
    fail_on: FailOn
    changed_only: bool
    site: str = ""
    badge: str = ""
    config: str = ""
    sources: tuple[str, ...] = ()
    samples: Literal["required", "always", "never"] = "required"
    compare_to: str = ""
    fails_when_lower: bool = False
    margin: float = 0.0

    @property
    def patterns(self) -> list[str]:
        """The paths and globs among the results."""
        return [text.removeprefix("./").rstrip("/") for text in self.results if "://" not in text]


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs that `action.yml` hands over as INPUT_…; raises CallError with the input's name."""
    text = partial(value_of, environ)
    results, sources = (
        tuple(line.strip() for line in text(name).splitlines() if line.strip()) for name in ("results", "sources")
    )
    mode = one_of(environ, "mode", get_args(Mode))
    if mode != "check" and not text("to"):
        raise CallError(f"the input `to` names no target, and `mode: {mode}` needs one")
    for line in results:
        if len(words := line.split()) > 1 and all("*" in word for word in words):
            raise CallError(f"the input `results` has several globs in one line, {line[:80]!r}: give one a line")
    for name, known in GO_WITH.items():
        if text(name) and mode != known:
            raise CallError(f"the input `{name}` goes with `mode: {known}`; with `mode: {mode}` it does nothing")
    fails_when_lower = one_of(environ, "compare-fail-on", ("never", "lower")) == "lower"
    if fails_when_lower and not text("compare-to"):
        raise CallError("the input `compare-fail-on` goes with `compare-to`: without it nothing is compared")
    margin = _margin(text("compare-margin", "0"))
    if margin and not fails_when_lower:
        raise CallError("the input `compare-margin` goes with `compare-fail-on: lower`: without it no row is too low")
    return Inputs(
        results=results,
        leaderboard=text("leaderboard", DEFAULT),
        mode=mode,  # type: ignore[arg-type]
        to=text("to"),
        form=one_of(environ, "as", get_args(Form)),  # type: ignore[arg-type]
        comment=one_of(environ, "comment", get_args(When)),  # type: ignore[arg-type]
        fail_on=one_of(environ, "fail-on", get_args(FailOn)),  # type: ignore[arg-type]
        changed_only=one_of(environ, "changed-only", ("true", "false")) == "true",
        badge=text("badge"),
        config=text("config"),
        sources=sources,
        samples=one_of(environ, "samples", ("required", "always", "never")),  # type: ignore[arg-type]
        site=text("site"),
        compare_to=text("compare-to"),
        fails_when_lower=fails_when_lower,
        margin=margin,
    )


def _margin(text: str) -> float:
    try:
        margin = float(text)
    except ValueError:
        margin = -1.0
    if not 0 <= margin <= MOST_POINTS:
        raise CallError(f"the input `compare-margin` is {text[:80]!r}; it takes percentage points, from 0 to 100")
    return margin


def value_of(environ: Mapping[str, str], name: str, default: str = "") -> str:
    """One input as it was given; empty is the default."""
    return environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip() or default


def one_of(environ: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One input that takes one of a few words; empty is the first of them."""
    value = value_of(environ, name, words[0])
    if value not in words:
        raise CallError(f"the input `{name}` is {value[:80]!r}; it takes {', '.join(words)}")
    return value


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """The reason of the run. `repository` is "owner/name", `commit` the full id of what is checked.

    `proposal` is the pull request's number; where only its branch is known, `branch` is (owner of the fork, branch) and
    `commit` its head. `before` is the commit before a push, or below what a merge queue would merge; None if everything
    is new, or there is neither.
    """

    repository: str
    commit: str
    kind: str
    workspace: Path
    proposal: int | None = None
    branch: tuple[str, str] | None = None
    before: str | None = None

    @property
    def is_proposal(self) -> bool:
        """Tell whether it is about a pull request."""
        return self.proposal is not None or self.branch is not None

    @property
    def is_change(self) -> bool:
        """Tell whether it is about a change, whose files can be listed; all else is about the workspace."""
        return self.is_proposal or self.kind in {"push", "merge_group"}

    def number(self, source: GitHubSource) -> int | None:
        """The number of the pull request that the run is about; a fork's is found by branch and head.

        None too for one that was pushed to or closed since, which has a run of its own, or whose fork is gone.
        """
        if self.branch is None:
            return self.proposal
        return source.find_proposal(*self.branch, self.commit) if self.branch[0] else None

    @property
    def may_publish(self) -> bool:
        """Whether it is one of the events after which a run publishes; any other is refused, also one yet unknown."""
        return self.kind in TRUSTED and not self.is_proposal


def read_trigger(environ: Mapping[str, str]) -> TriggerContext:
    """Read what GitHub says of the run; a schedule has no payload that matters, and may have none at all."""
    name, event = environ.get("GITHUB_EVENT_NAME", ""), read_event(environ.get("GITHUB_EVENT_PATH", ""))
    repository, commit = environ.get("GITHUB_REPOSITORY", ""), environ.get("GITHUB_SHA", "")
    if not NAME.fullmatch(repository):
        raise CallError("GITHUB_REPOSITORY names no repository: this is not a workflow's environment")
    workspace = Path(environ.get("GITHUB_WORKSPACE") or ".")
    if name in {"pull_request", "pull_request_review", "pull_request_target"}:
        return _of_pull_request(event, repository, workspace)
    if name == "workflow_run":
        return _of_workflow_run(event, repository, commit, workspace)
    if name in {"push", "merge_group"}:
        before = commit_in(event, "before") or commit_in(part(event, name), "base_sha")
        return TriggerContext(repository, commit, name, workspace, before=None if before == NOTHING else before or None)
    return TriggerContext(repository, commit, name, workspace)


def _of_pull_request(event: Mapping[str, Any], repository: str, workspace: Path) -> TriggerContext:
    pull = part(event, "pull_request")
    number, head = pull.get("number"), commit_in(part(pull, "head"), "sha")
    if not isinstance(number, int) or not head:
        raise CallError("the event of the pull request names no number and head; GITHUB_EVENT_PATH is damaged")
    return TriggerContext(repository, head, "pull_request", workspace, proposal=number)


def _of_workflow_run(event: Mapping[str, Any], repository: str, commit: str, workspace: Path) -> TriggerContext:
    """The run that came before: of a pull request, GitHub names its branch and head, for a fork no number."""
    run = part(event, "workflow_run")
    head, branch = commit_in(run, "head_sha"), run.get("head_branch")
    owner = part(part(run, "head_repository"), "owner").get("login")
    if run.get("event") != "pull_request" or not head:
        return TriggerContext(repository, head or commit, "workflow_run", workspace)
    if not isinstance(branch, str):
        raise CallError("the event names no branch of the pull request; GITHUB_EVENT_PATH is damaged")
    return TriggerContext(
        repository, head, "workflow_run", workspace, branch=(owner if isinstance(owner, str) else "", branch)
    )


def read_event(path: str) -> Mapping[str, Any]:
    """The event's payload, an empty one if there is none."""
    try:
        found = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object inside an object, an empty one if there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def commit_in(value: Mapping[str, Any], key: str) -> str:
    """A full commit id inside an object, "" if there is none."""
    found = value.get(key)
    return found if isinstance(found, str) and COMMIT.fullmatch(found) else ""


@dataclass(frozen=True, slots=True)
class Run:
    """All that a run knows; `out` is the log, where workflow commands are heard.

    `watches` are those of the declaration, in the settings beside it.
    """

    inputs: Inputs
    trigger: TriggerContext
    opener: Opener
    leaderboard: Leaderboard
    environ: Mapping[str, str]
    out: TextIO
    watches: list[Watch]

    @property
    def names(self) -> Mapping[str, str]:
        """The models of the files in folders, by the watches."""
        return folder_names(self.watches)

    @property
    def is_about_changes(self) -> bool:
        """Whether only what a pull request or a push changes is judged, and not the workspace."""
        return self.inputs.changed_only and self.trigger.is_change

    def say(self, text: str) -> None:
        """Write one line to the log, in which nothing is a command to the runner."""
        self.out.write(f"{without_commands(one_line(text))}\n")

    def warn(self, text: str, severity: Severity = Severity.WARNING) -> None:
        """Annotate the run, on no file."""
        self.out.write(f"{command(severity, one_line(text), title='leaderboard-bot')}\n")

    def source(self) -> GitHubSource:
        """The workflow's repository, with the workflow's token."""
        return PLATFORM.open_source(f"github://{self.trigger.repository}", self.opener)


def one_line(text: str) -> str:
    """The text in one line of what can be printed."""
    return visible(" ".join(text.split()))


SUMMARY_LIMIT = 1_000_000  # bytes; GitHub drops a step's summary past 1 MiB
CUT = "\n… cut: the report has all submissions.\n"


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of `action.yml`; "" is how a workflow sees none."""

    verdict: str = ""
    accepted: str = "0"
    incomplete: str = "0"
    rejected: str = "0"
    average: str = ""
    report: str = ""
    pull_request: str = ""


def outputs_of(judgement: Judgement, report: str, published: Sequence[str]) -> Outputs:
    """The outcome of a run: the worst verdict ("none" without a file), and the average where there is one row."""
    counts = summarize(judgement)
    worst = next((status for status in ORDER if counts[status]), "none")
    scores = judgement.rows[0].scores if len(judgement.rows) == 1 and worst != "rejected" else None
    average = "" if scores is None or scores.average is None else repr(scores.average)
    numbers = {status: str(counts[status]) for status in ORDER}
    return Outputs(verdict=worst, average=average, report=report, pull_request="\n".join(published), **numbers)


def write_outputs(outputs: Outputs, environ: Mapping[str, str]) -> None:
    """Append to GITHUB_OUTPUT; a delimiter that nobody can guess keeps a value from ending itself early."""
    lines = []
    for name in outputs.__slots__:
        end = f"end-{secrets.token_hex(16)}"
        lines.append(f"{name.replace('_', '-')}<<{end}\n{getattr(outputs, name)}\n{end}\n")
    append(environ.get("GITHUB_OUTPUT", ""), "".join(lines))


def write_summary(text: str, environ: Mapping[str, str]) -> None:
    """Append to the step's summary, cut at the end of a line where GitHub would drop it all."""
    data = text.encode("utf-8", "replace")
    if len(data) > SUMMARY_LIMIT:
        data = data[: SUMMARY_LIMIT - len(CUT.encode())].rpartition(b"\n")[0] + CUT.encode()
    append(environ.get("GITHUB_STEP_SUMMARY", ""), data.decode("utf-8", "ignore"))


def append(path: str, text: str) -> None:
    """Add to one of the runner's files; outside of a runner there is none."""
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def write_report(name: str, text: str, environ: Mapping[str, str]) -> str:
    """Write a JSON report into a folder of its own below RUNNER_TEMP, and give its path."""
    path = Path(tempfile.mkdtemp(prefix="leaderboard-bot-", dir=environ.get("RUNNER_TEMP") or None)) / name
    path.write_text(f"{text}\n", encoding="utf-8")
    return str(path)


def explanation_fold(row: Row) -> str:
    """Where each number of a row comes from, as a fold; every line is indented, so that none can end the block."""
    lines = [f"    {visible(line)}" for line in explain(row).splitlines()]
    head = "<details><summary>Where each number comes from</summary>"
    return "\n".join(["", head, "", *lines, "", "</details>\n", ""])
