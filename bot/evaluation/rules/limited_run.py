"""Only a part of the samples was run.

## What it does
Reads `--limit` from the configuration, and compares the samples that were scored with the size of each task.

## Why is this bad?
Fifty samples give a number that looks like any other, with an error of seven points.

## Example
/config/limit: 50.0

## Use instead
/config/limit: null
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rerun import rerun_advice
from bot.evaluation.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def limited_run(case: Case) -> Iterator[Violation]:
    """Yield one violation for the run where a limit is recorded, else one for each leaf that was cut short."""
    if case.result.limit is not None:
        yield Violation(
            f"the run was limited to {case.result.limit:g} samples of each task (--limit)",
            "run it again without --limit",
            case.result.pointer_to("limit"),
        )
        return
    seen: set[str] = set()
    for measurement in case.measurements.present:
        samples, original, required = measurement.leaf.samples, measurement.leaf.original, measurement.required
        if samples is not None and original is not None and samples < original and required.leaf_key not in seen:
            seen.add(required.leaf_key)
            task = required.task
            hint, command = rerun_advice(case.result, [required.leaf_key], task.num_fewshot, "measure all of it")
            yield Violation(
                f"{required.leaf_key} was run on {samples:,} of its {original:,} samples",
                hint,
                case.result.pointer_to("samples", required.leaf_key),
                task.id,
                (required.leaf_id,),
                command,
            )
