"""A file does not record shots, a task version or a task definition that the leaderboard requires.

## What it does
Names the tasks whose number of shots, task version or definition is declared but not recorded. Some formats never
record them: docs/formats.md says which. `unverifiable-harness-commit` does the same for the harness, and
`unpinned-revision` for the model's commit. With `pins = "required"` in the declaration all three are errors.

## Why is this bad?
The result may be right, but the file does not prove it. Five shots and none differ by ten points.

## Example
/versions/leaderboard_ifeval: (absent)

## Use instead
/versions/leaderboard_ifeval: 2.0
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.definition import is_shortened
from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import Measurement
from bot.evaluation.rules.rule import Case, Violation, keys_of, leaves_of, rule


@rule(Severity.NOTICE, is_pin=True)
def unverifiable_pin(case: Case) -> Iterator[Violation]:
    """Yield one violation each for shots, versions and definitions that are declared and not recorded."""
    if not case.takes_format:
        return
    present = case.measurements.present
    versions = [one for one in present if one.leaf.version is None and one.required.versions]
    shots = [one for one in present if one.leaf.num_fewshot is None and one.required.task.num_fewshot is not None]
    is_part = is_shortened(case.result)
    definitions = [one for one in present if one.required.definitions and (is_part or not one.leaf.definition)]
    if versions:
        yield _violation(case, "task version", "version", versions)
    if shots:
        yield _violation(case, "number of shots", "num_fewshot", shots)
    if definitions:
        yield _violation(case, "definition (prompt, dataset, settings)", "definition", definitions)


def _violation(case: Case, what: str, field: str, found: list[Measurement]) -> Violation:
    keys = keys_of(found)
    tasks = {one.required.task_id for one in found}
    return Violation(
        f"the file does not record the {what} of {examples(keys)}, so it cannot be compared with the declared one",
        f"the result may be right; measure with a release that records the {what}, if there is one",
        case.result.pointer_to(field, keys[0]),
        tasks.pop() if len(tasks) == 1 else "",
        leaves_of(found),
    )
