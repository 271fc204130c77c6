"""An argument of the model is one that the bot does not know.

## What it does
Names arguments that stand nowhere in the table of sameness.

## Why is this bad?
It may change the weights, and the row is published under the name of the unchanged model.

## When it is wrong
The argument changes no weights: say in the request what it does.

## Example
/config/model_args: "pretrained=example-org/kestrel-7b,hidden_state_patch=patches/one.pt"

## A sound run writes
/config/model_args: "pretrained=example-org/kestrel-7b,batch_size=8"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.formats.sameness import arguments_of, known_kind
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

LONGEST = 60  # characters of a value that are shown


@rule(Severity.WARNING)
def unknown_argument(case: Case) -> Violations:
    """Yield one violation for all arguments that the table does not have."""
    model = case.result.model
    unknown = [
        f"{name}={shown(value, LONGEST)}" for name, value in arguments_of(model.args) if known_kind(name) is None
    ]
    if unknown:
        yield Violation(
            f"nobody here knows what {examples(unknown)} does to the model; "
            f"the row is published under {shown(model.id)}",
            "say in the request what it does; if it changes the weights, submit the result under a name of its own",
            case.result.pointer_to("arguments"),
        )
