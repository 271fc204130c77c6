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

from bot.finding import Severity
from bot.rules.rerun import rerun_command
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def limited_run(case: Case) -> Iterator[Violation]:
    """Yield one violation for the run where a limit is recorded, else one for each leaf that was cut short."""
    if case.result.limit is not None:
        pointer = "/config_general/max_samples" if case.result.format == "open-llm-v1" else "/config/limit"
        yield Violation(
            f"the run was limited to {case.result.limit:g} samples of each task (--limit)",
            "run it again without --limit",
            pointer,
        )
        return
    seen: set[str] = set()
    for measure in case.measures.present:
        samples, original, need = measure.leaf.samples, measure.leaf.original, measure.need
        if samples is not None and original is not None and samples < original and need.leaf_key not in seen:
            seen.add(need.leaf_key)
            yield Violation(
                f"{need.leaf_key} was run on {samples:,} of its {original:,} samples",
                "measure it whole: " + rerun_command(case, [need.leaf_key], need.task.num_fewshot),
                case.result.pointer_beside("n-samples", need.leaf_key),
                need.task.id,
            )
