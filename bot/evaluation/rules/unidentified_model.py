"""The result does not say which model was measured.

## What it does
Reports a name that is no Hub id: none, a path, a nickname, or random characters.

## Why is this bad?
The row cannot be checked, repeated or told from a copy.

## When it is wrong
Say it with `--model-name` or in `[models]`; models of an API need `served_models` or `plain = true`.

## Example
/model_name: "i82qcls7"
/config/model_args: ""

## A sound run writes
/model_name: "example-org/kestrel-7b"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.formats import find_format
from bot.evaluation.formats.format import is_loaded
from bot.evaluation.formats.sameness import adapter_of
from bot.evaluation.identity import is_served, why_unidentified
from bot.evaluation.result import Result
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

HINT = (
    "say which model it is: for one call with --model-name, for all by the board's maintainer, under [models] in the "
    "declaration"
)
OF_ADAPTER = "run with --model_args …,{argument}=<organization>/<name> of an adapter on the Hub"
SERVED = f"{HINT}; who keeps the board may declare served_models = true for models that only a service has"


@rule(Severity.ERROR, invalidates_score=False)
def unidentified_model(case: Case) -> Violations:
    """Yield a violation if the model's name is not the name of a model on the Hub."""
    model = case.result.model
    why = why_unidentified(model)
    if why and not (case.leaderboard.served_models and is_served(model)):
        alone = "" if model.id else ": its row shows the numbers of one file, as no two files join until one is named"
        yield Violation(f"{why}{alone}", _hint(case.result), case.result.pointer_to("model"))


def _hint(result: Result) -> str:
    """How to name the model, in a way that its class of the harness has."""
    model, known = result.model, find_format(result.format)
    if is_served(model):
        return SERVED
    if adapter := adapter_of(model.args):
        return f"{OF_ADAPTER.format(argument=adapter.argument)}, or {HINT}"
    can_be_named = known is not None and known.naming and (not model.source or is_loaded(model.source))
    return f"{known.naming}, or {HINT}" if known is not None and can_be_named else HINT
