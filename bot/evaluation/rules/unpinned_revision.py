"""The commit of the model is unknown.

## What it does
Looks for a full commit id: `config.model_sha`, or `revision=` in the arguments.

## Why is this bad?
A branch moves, and the row still shows the scores of the old weights.

## When it is wrong
A service has no commits; or say the revision with `--model-name NAME=ID@REVISION`.

## Example
/config/model_sha: ""
/config/model_revision: "main"
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"

## A sound run writes
/config/model_sha: "3f1c0d9a6b2e4f58a7c1d0e9b8f7a6c5d4e3f2a1"
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.formats import find_format
from bot.evaluation.formats.fields import REVISION
from bot.evaluation.formats.sameness import adapter_of
from bot.evaluation.identity import is_served
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

SHOWN = "page on the Hub shows it under Files"
FOR_ALL = "for all tasks of the row, as files with a commit do not join files without"
OF_ADAPTER = (
    f"say it with --model-name NAME=ID@REVISION: `revision=` would be asked of the base, too; the adapter's {SHOWN}"
)


@rule(Severity.WARNING, is_pin=True)
def unpinned_revision(case: Case) -> Violations:
    """Yield a violation where no full commit id of the model is recorded."""
    model = case.result.model
    if model.is_plain:
        return
    if not model.revision or (
        model.revision == model.requested_revision != "" and not REVISION.fullmatch(model.revision)
    ):
        known = None if is_served(model) else find_format(case.result.format)  # a service's model has no commit
        pinning = f"{known.pinning}, {FOR_ALL}; the model's {SHOWN}" if known and known.pinning else ""
        asked = f" (asked for was {shown(model.requested_revision)})" if model.requested_revision else ""
        yield Violation(
            f"the file does not record the commit of the model{asked}",
            OF_ADAPTER if pinning and adapter_of(model.args) else pinning,
            case.result.pointer_to("revision"),
        )
