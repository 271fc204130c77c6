"""The event that started the workflow, and where the files and commits of it are.

The payload is GitHub's own, yet its texts (branch names, titles) are a stranger's: only numbers, commit ids and names
that go back to the API are taken from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import CallError

COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
NOTHING = "0" * 40  # the commit before that a push of a new branch names
# What runs by the decision of somebody who may write to the repository; strangers cause all other events.
TRUSTED = ("push", "schedule", "workflow_dispatch", "release")


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
