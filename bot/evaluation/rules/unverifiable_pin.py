"""A file does not record shots, task version or definition that the leaderboard requires.

## What it does
Names what is declared and not recorded, or recorded as the address of a function. An error with `pins = "required"`.

## Why is this bad?
Five shots and none differ by ten points.

## When it is wrong
The format cannot say it: leave the key out, or take the notice.

## Example
/versions/leaderboard_ifeval: (absent)

## A sound run writes
/versions/leaderboard_ifeval: 2.0
"""

from __future__ import annotations

from bot.evaluation.definition import is_shortened, with_addresses
from bot.evaluation.finding import Severity, examples
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.rule import Case, Violations, keys_of, rule


def _is_pinned(leaderboard: Leaderboard) -> bool:
    """Tell whether anything is declared that a file may leave out."""
    tasks, definitions = leaderboard.tasks, leaderboard.harness.definitions
    return bool(definitions) or any(
        task.versions or task.format_versions or task.num_fewshot is not None for task in tasks
    )


@rule(Severity.NOTICE, is_pin=True, where=_is_pinned)
def unverifiable_pin(case: Case) -> Violations:
    """Yield one violation each for shots, versions and definitions that are declared and not recorded."""
    if not case.takes_format:
        return
    present = case.measurements.present
    versions = [one for one in present if one.leaf.version is None and one.required.versions]
    shots = [one for one in present if one.leaf.num_fewshot is None and one.required.task.num_fewshot is not None]
    definitions = [one for one in present if one.required.definitions]
    if definitions and not is_shortened(case.result):
        unread = with_addresses(case.result) | {""}
        definitions = [one for one in definitions if one.leaf.definition in unread]
    for what, field, found in (
        ("task version", "version", versions),
        ("number of shots", "num_fewshot", shots),
        ("definition (prompt, dataset, settings)", "definition", definitions),
    ):
        if found:
            names = examples(keys_of(found))
            yield case.at(
                found,
                f"the file does not record the {what} of {names}, so it cannot be compared with the declared one",
                f"the result may be right; measure with a release that records the {what}, if there is one",
                field,
            )
