"""Thinking was switched on for a task that asks for no answer.

## What it does
Such a task compares the log-likelihoods of given answers.

## Why is this bad?
Each answer stands where the template wants thoughts (lm-evaluation-harness#3675).

## When it is wrong
The template closes thoughts before the answer: say so in the request.

## Example
/config/model_args: "pretrained=example-org/kestrel-7b,enable_thinking=True"

## A sound run writes
/config/model_args: "pretrained=example-org/kestrel-7b,enable_thinking=False"
"""

from __future__ import annotations

from bot.evaluation.definition import definition_of, text_of
from bot.evaluation.finding import Severity, examples
from bot.evaluation.formats.sameness import thinks
from bot.evaluation.measurement import LOG_LIKELIHOODS, OUTPUT
from bot.evaluation.rules.rule import Case, Violations, keys_of, rule


@rule(Severity.WARNING)
def thinking_not_used(case: Case) -> Violations:
    """Yield one violation for all such tasks."""
    if not thinks(case.result):
        return
    found = [one for one in case.measurements.present if _output(case, one.required.leaf_key) in LOG_LIKELIHOODS]
    if found:
        names = examples(keys_of(found))
        message = f"thinking was switched on for log-likelihoods, where the model never thinks: {names}"
        yield case.at(found, message, "measure it with thinking switched off", "arguments")


def _output(case: Case, key: str) -> str:
    definition = definition_of(case.result, key)
    return text_of(definition[OUTPUT]) if definition is not None and OUTPUT in definition else ""
