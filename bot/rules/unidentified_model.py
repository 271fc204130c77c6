"""The result does not say which model was measured.

## What it does
Reports a model name that is missing, that is no Hub id (`name` or `organization/name`), that is a path on somebody's
disk, or that the harness made up: where its arguments name no model it writes eight random characters.

## Why is this bad?
A row without a model cannot be checked, repeated or told from a copy.

## Example
/model_name: "i82qcls7"
/config/model_args: ""

## Use instead
/model_name: "example-org/kestrel-7b"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.finding import Severity, shown
from bot.result import Model
from bot.rules.rule import Case, Violation, rule

HUB_ID = re.compile(r"(?=.{1,96}\Z)(?:[A-Za-z0-9](?:[\w.-]*\w)?/)?[A-Za-z0-9](?:[\w.-]*\w)?", re.ASCII)
MADE_UP = re.compile(r"[A-Za-z0-9]{8}")


@rule(Severity.ERROR, voids=False)
def unidentified_model(case: Case) -> Iterator[Violation]:
    """Yield a violation where the model's name is no name of a model on the Hub."""
    why = _why_not(case.result.model)
    if why:
        pointer = "/model_name" if case.result.format == "lm-eval-0.4" else "/config"
        hint = "run with --model_args pretrained=<organization>/<name>,revision=<commit> of a model on the Hub"
        yield Violation(why, hint, pointer)


def _why_not(model: Model) -> str:
    if not model.id:
        return "the file names no model"
    if is_hub_id(model.id):
        made_up = "/" not in model.id and not model.is_named and MADE_UP.fullmatch(model.id)
        return f"the model name {model.id} was made up by the harness: its arguments name no model" if made_up else ""
    if model.id.startswith(("/", ".", "~")) or model.id.count("/") > 1:
        return f"the model is named by a path, {shown(model.id)}, not by its id on the Hub"
    return f"{shown(model.id)} is no model id of the Hub"


def is_hub_id(name: str) -> bool:
    """Whether a text has the form of a repository id of the Hub (huggingface_hub, validate_repo_id)."""
    return HUB_ID.fullmatch(name) is not None and "--" not in name and ".." not in name and not name.endswith(".git")
