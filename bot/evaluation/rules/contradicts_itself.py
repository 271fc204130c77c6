"""The file says one thing in two places, and says it differently.

## What it does
Compares the model's name and its arguments, and what is there twice of commits, data types, generation settings,
templates and their hashes; and looks for a standard error that is missing where most tasks have one.

## Why is this bad?
A harness's own file agrees with itself. Two models, an adapter beside its base model, arguments that change the named
model's weights, or a stand-in for a model (lm-eval's `dummy`, Inspect's `mockllm`) are errors, the rest are warnings.

## When it is wrong
A tool of yours adds fields: say which of them counts.

## Example
/config/model_args: "pretrained=example-org/kestrel-70b,dtype=bfloat16"

## Use instead
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.evaluation.finding import Severity, examples, grouped
from bot.evaluation.measurement import Measurement, by_task
from bot.evaluation.rules.rule import Case, Violation, Violations, keys_of, rule

HINT = "upload the file as the harness wrote it"


@rule(Severity.ERROR, invalidates_score=False)
def contradicts_itself(case: Case) -> Violations:
    """Yield one violation for each thing that the file says differently in two places."""
    for one in case.result.contradictions:
        yield Violation(one.what, one.hint or HINT, one.pointer, severity=None if one.is_error else Severity.WARNING)
    by_error = grouped((one.required.stderr_key, one) for one in case.measurements.present)
    lacking = [one for found in by_error.values() for one in _lacking(found)]
    for found in by_task(lacking).values():
        what, where = found[0].required.value_key, examples(keys_of(found))
        message = f"no standard error of {what} for {where}, and most tasks of the file have one"
        violation = case.at(found, message, HINT, "value")
        yield Violation(message, HINT, violation.pointer, violation.task, violation.leaves, severity=Severity.WARNING)


def _lacking(found: Sequence[Measurement]) -> list[Measurement]:
    """Those without a standard error, where most have one."""
    lacking = [one for one in found if one.stderr is None]
    return lacking if 2 * len(lacking) < len(found) else []
