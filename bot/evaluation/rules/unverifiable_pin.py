"""A file does not record shots, task version or definition that the leaderboard requires.

## What it does
Names what is declared and not recorded, as functions without text. An error with `pins = "required"`.

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

from collections.abc import Iterable

from msgspec.structs import replace

from bot.evaluation.definition import is_shortened, lost_fields
from bot.evaluation.finding import Severity, examples, grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurement
from bot.evaluation.rules.rule import Case, Violations, keys_of, rule

NOTHING = "nothing needs to be done: the result may be right"
REQUIRED = "upload the file as the harness wrote it; if it is that file, ask the board's maintainers for a waiver"


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
    present, hint = case.measurements.present, NOTHING if case.leaderboard.harness.pins != "required" else REQUIRED
    versions = [one for one in present if one.leaf.version is None and one.required.versions]
    shots = [one for one in present if one.leaf.num_fewshot is None and one.required.task.num_fewshot is not None]
    definitions = [one for one in present if one.required.definitions]
    if definitions and is_shortened(case.result):
        names = examples(keys_of(definitions))
        message = (
            f"the file records parts of the definition (prompt, dataset, settings) of {names}: only these were compared"
        )
        yield case.at(definitions, message, hint, "definition")
        definitions = []
    for what, field, found in (
        ("task version", "version", versions),
        ("number of shots", "num_fewshot", shots),
        (
            "definition (prompt, dataset, settings)",
            "definition",
            [one for one in definitions if not one.leaf.definition],
        ),
    ):
        if found:
            names = examples(keys_of(found))
            message = f"the file does not record the {what} of {names}, so it cannot be compared with the declared one"
            yield case.at(found, message, hint, field)
    yield from _lost(case, definitions, hint)


def _lost(case: Case, definitions: Iterable[Measurement], hint: str) -> Violations:
    """Yield one violation for each set of fields that are functions without their text."""
    lost = lost_fields(case.result)
    for fields, found in grouped((lost.get(one.leaf.definition, ()), one) for one in definitions).items():
        if fields:
            message = (
                f"the file does not record the text of {examples(fields)}, a function, of {examples(keys_of(found))}: "
                "only the rest of the definition was compared with the declared one"
            )
            violation = case.at(found, message, hint, "definition")
            yield replace(violation, pointer=f"{violation.pointer}/{fields[0]}")
