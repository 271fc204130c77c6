"""The result does not say which model was measured.

## What it does
Reports a model name that is missing, that is not a Hub id (`name` or `organization/name`), that is a path on somebody's
disk, or that the harness made up: if its arguments name no model, it writes eight random characters.

## Why is this bad?
A row without a model cannot be checked, repeated or told from a copy.

## Example
/model_name: "i82qcls7"
/config/model_args: ""

## Use instead
/model_name: "example-org/kestrel-7b"
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.finding import Severity
from bot.evaluation.formats import find_format
from bot.evaluation.row_key import why_unidentified
from bot.evaluation.rules.rule import Case, Violation, rule

HINT = "say with --model-name which model it is"


@rule(Severity.ERROR, invalidates_score=False)
def unidentified_model(case: Case) -> Iterator[Violation]:
    """Yield a violation if the model's name is not the name of a model on the Hub."""
    why = why_unidentified(case.result.model)
    if why:
        known = find_format(case.result.format)
        naming = f"{known.naming}, or " if known and known.naming else ""
        yield Violation(why, f"{naming}{HINT}", case.result.pointer_to("model"))
