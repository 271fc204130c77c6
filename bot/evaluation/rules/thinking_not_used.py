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

import re

from msgspec.structs import replace

from bot.evaluation.definition import definition_of, text_of
from bot.evaluation.finding import Severity, examples
from bot.evaluation.formats.sameness import thinks
from bot.evaluation.measurement import LOG_LIKELIHOODS, OUTPUT
from bot.evaluation.result import Result
from bot.evaluation.rules.rule import (
    RowCase,
    Violation,
    Violations,
    every_task,
    keys_of,
    leaves_of,
    rerun_advice,
    rule,
)

SWITCH = re.compile(r"((?:^|,)\s*enable_thinking\s*=\s*)[^,]*")  # of lm-eval; those of others have more values
END_OF_THOUGHTS = re.compile(r"(?:^|,)\s*think_end_token\s*=[^,]*")
ONE_SETTING = "a row has one setting: keep this one, or measure all tasks again with thinking switched off"


@rule(Severity.WARNING)
def thinking_not_used(case: RowCase) -> Violations:
    """Yield one violation for all such tasks of the row."""
    results = {one.path: one.result for one in case.verdicts if one.result is not None and thinks(one.result)}
    found = [
        one
        for one in case.row.measurements.present
        if one.file in results and _output(results[one.file], one.required.leaf_key) in LOG_LIKELIHOODS
    ]
    if found:
        path, tasks = found[0].file, {one.required.task.id for one in found}
        off = _switched_off(case)
        hint, command = rerun_advice(off, every_task(off), ONE_SETTING) if off else (ONE_SETTING, "")
        yield Violation(
            f"thinking was switched on for log-likelihoods, where the model never thinks: {examples(keys_of(found))}",
            hint,
            results[path].pointer_to("arguments"),
            tasks.pop() if len(tasks) == 1 else "",
            leaves_of(found),
            command,
            path,
        )


def _switched_off(case: RowCase) -> RowCase | None:
    """The row as a run without thoughts would make it; None where it is not known how one is called."""
    lead, result = case.row.lead, case.result
    args = END_OF_THOUGHTS.sub("", SWITCH.sub(r"\1False", result.model.args))
    changed = replace(result, model=replace(result.model, args=args))
    if thinks(changed):
        return None
    lead = replace(lead, parsed=replace(lead.parsed, result=changed))
    return replace(case, row=replace(case.row, lead=lead))


def _output(result: Result, key: str) -> str:
    definition = definition_of(result, key)
    return text_of(definition[OUTPUT]) if definition is not None and OUTPUT in definition else ""
