"""What one run of the Action knows: its inputs, the event that started the workflow, and the log.

The payload of the event is GitHub's own, yet its texts (branch names, titles) are a stranger's: only numbers, commit
ids and names that go back to the API are taken from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, TypeVar, get_args

from bot.errors import CallError
from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.github.client import GitHubClient
from bot.platforms.platform import Access
from bot.publishing.publication import Form
from bot.reporting.annotations import command
from bot.reporting.escape import visible, without_commands

Mode = Literal["check", "publish", "verify"]
When = Literal["on-findings", "always", "never"]
FailOn = Literal["error", "warning", "never"]
DEFAULT = "open-llm-v2"
Word = TypeVar("Word", bound=str)
COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
BASE = "base"  # what `compare-to` calls the base branch of a pull request, and the commit before a push
MOST_POINTS = 100
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
    compare_to: str = ""
    fails_when_lower: bool = False
    margin: float = 0.0


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs that `action.yml` hands over as INPUT_…; raises CallError with the input's name."""
    mode = one_of(environ, "mode", get_args(Mode))
    to = environ.get("INPUT_TO", "").strip()
    if mode != "check" and not to:
        raise CallError(f"the input `to` names no target, and `mode: {mode}` needs one")
    results = tuple(line.strip() for line in environ.get("INPUT_RESULTS", "").splitlines() if line.strip())
    if not results:
        raise CallError("the input `results` names no path: give paths, globs or hf://… addresses, one a line")
    return Inputs(
        results=results,
        leaderboard=environ.get("INPUT_LEADERBOARD", "").strip() or DEFAULT,
        mode=mode,  # type: ignore[arg-type]
        to=to,
        form=one_of(environ, "as", get_args(Form)),  # type: ignore[arg-type]
        comment=one_of(environ, "comment", get_args(When)),  # type: ignore[arg-type]
        fail_on=one_of(environ, "fail-on", get_args(FailOn)),  # type: ignore[arg-type]
        changed_only=one_of(environ, "changed-only", ("true", "false")) == "true",
        badge=environ.get("INPUT_BADGE", "").strip(),
        config=environ.get("INPUT_CONFIG", "").strip(),
        sources=tuple(line.strip() for line in environ.get("INPUT_SOURCES", "").splitlines() if line.strip()),
        site=_site(environ, mode),
        compare_to=_compare_to(environ, mode),
        fails_when_lower=one_of(environ, "compare-fail-on", ("never", "lower")) == "lower",
        margin=_margin(environ),
    )


def _site(environ: Mapping[str, str], mode: str) -> str:
    """Where the board is published as a web site, "" for nowhere; raises CallError where nothing is published."""
    site = environ.get("INPUT_SITE", "").strip()
    if site and mode != "publish":
        raise CallError("the input `site` goes with `mode: publish`: the site shows what was published")
    return site


def _compare_to(environ: Mapping[str, str], mode: str) -> str:
    """What rows are compared with, "" for nothing; raises CallError where rows are not only checked."""
    name = environ.get("INPUT_COMPARE_TO", "").strip()
    if name and mode != "check":
        raise CallError("the input `compare-to` goes with `mode: check`: it says what a change would do to the rows")
    return name


def _margin(environ: Mapping[str, str]) -> float:
    text = environ.get("INPUT_COMPARE_MARGIN", "").strip() or "0"
    try:
        margin = float(text)
    except ValueError:
        margin = -1.0
    if not 0 <= margin <= MOST_POINTS:
        raise CallError(f"the input `compare-margin` is {text[:80]!r}; it takes percentage points, from 0 to 100")
    return margin


def one_of(environ: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One input that takes one of a few words; empty is the first of them."""
    value = environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip() or words[0]
    if value not in words:
        raise CallError(f"the input `{name}` is {value[:80]!r}; it takes {', '.join(words)}")
    return value


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """Why we run, as far as it matters.

    `repository` is "owner/name", `commit` the full id of what is checked. `proposal` is the pull request's number;
    where only its branch is known, `branch` is (owner of the fork, branch) and `commit` its head. `before` is the
    commit before a push, None if everything is new or the trigger is not a push.
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
    if name in {"pull_request", "pull_request_review"}:
        return _of_pull_request(event, repository, workspace)
    if name == "workflow_run":
        return _of_workflow_run(event, repository, commit, workspace)
    if name == "push":
        before = commit_in(event, "before")
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
    if not isinstance(branch, str) or not isinstance(owner, str):
        raise CallError("the event names no branch of the pull request; GITHUB_EVENT_PATH is damaged")
    return TriggerContext(repository, head, "workflow_run", workspace, branch=(owner, branch))


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
    """All that a run knows; `out` is the log, where workflow commands are heard."""

    inputs: Inputs
    trigger: TriggerContext
    access: Access
    leaderboard: Leaderboard
    environ: Mapping[str, str]
    out: TextIO

    def say(self, text: str) -> None:
        """Write one line to the log, in which nothing is a command to the runner."""
        self.out.write(f"{without_commands(one_line(text))}\n")

    def warn(self, text: str) -> None:
        """Annotate the run, on no file."""
        self.out.write(f"{command(Severity.WARNING, one_line(text), title='leaderboard-bot')}\n")

    def client(self) -> GitHubClient:
        """The workflow's token at its own GitHub."""
        return GitHubClient(self.access.github_token, self.access.github_api_url)


def one_line(text: str) -> str:
    """The text in one line of what can be printed."""
    return visible(" ".join(text.split()))
