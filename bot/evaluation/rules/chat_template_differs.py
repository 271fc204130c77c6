"""The chat template was used otherwise than the leaderboard requires or the model's name suggests.

## What it does
Compares the run with the declared `chat_template`; with `any` it names an instruction model, by its name, without one.

## Why is this bad?
The same weights differ by many points. The board may have both, as two rows.

## When it is wrong
The model has no template, or the board means both: nothing is to be done.

## Example
/model_name: "example-org/kestrel-7b-instruct"
/config/model_args: "pretrained=example-org/kestrel-7b-instruct"

## A sound run writes
/model_name: "example-org/kestrel-7b"
"""

from __future__ import annotations

import re

from bot.evaluation.finding import Severity
from bot.evaluation.formats import find_format
from bot.evaluation.rules.rule import Case, Violation, Violations, rule, run_again

TUNED = re.compile(r"(?:^|[-_./])(instruct|chat|it|sft|dpo|rlhf)(?:$|[-_.])", re.IGNORECASE)


@rule(Severity.NOTICE)
def chat_template_differs(case: Case) -> Violations:
    """Yield a violation if the use of the template is not as declared, or not as the model's name suggests."""
    used, expected = case.result.model.chat_template, case.leaderboard.harness.chat_template
    can_use = bool(case.result.places.get("chat_template"))  # of harness 0.3 it is "": no file has one
    if used is None:  # a missing key says neither
        return
    if expected != "any" and used != (expected == "always"):
        known = find_format(case.result.format)
        option = known.templating if known else "the chat template"
        hint, command = "measure with lm-eval 0.4.4 or later, with --apply_chat_template", ""
        if used or can_use:
            hint, command = run_again(case, f"run again {'without' if used else 'with'} {option}")
        yield Violation(
            f"the run {'used' if used else 'did not use'} a chat template; {case.leaderboard.id} says {expected}",
            hint,
            case.result.pointer_to("chat_template"),
            command=command,
        )
    elif expected == "any" and can_use and not used and TUNED.search(case.result.model.id):
        yield Violation(
            "the model is named as an instruction model and was run without its chat template",
            "if that was not intended, run again with --apply_chat_template --fewshot_as_multiturn",
            case.result.pointer_to("chat_template"),
        )
