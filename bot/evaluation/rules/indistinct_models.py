"""Several models have one name, and nothing in their files tells them apart.

## What it does
Looks at files of one row whose values differ, without a revision, and with no or one date, in numbered folders, or
with a name from elsewhere; and at arguments that change weights.

## Why is this bad?
The row would mix several checkpoints.

## When it is wrong
Say with `identity` or `--model-name` what the folders are, or which revision it is.

## Example
(another file)
(folders) runs/step-1000/ and runs/step-2000/
/config/model_sha: ""
/config/model_revision: "main"
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## A sound run writes
/config/model_sha: "3f1c0d9a6b2e4f58a7c1d0e9b8f7a6c5d4e3f2a1"
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from bot.evaluation.finding import Severity, counted, examples, shown
from bot.evaluation.identity import UNNAMED, folders_that_differ, is_checkpoint, mapping_for, why_no_mapping
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule
from bot.evaluation.verdict import Repeat, Row

IN_ONE_FOLDER = "keep the file that counts, or lay each in a folder of its own and check again"
HINT = "say by their folders which model it is, here and in [[watches.identity]]: {mappings}"
LEAVE_OUT = 'leave one out by "!**/{path}" in `paths` of bot.toml, or '
MOST_FOLDERS = 4  # that are named one by one


@rule(Severity.ERROR)
def indistinct_models(case: RowCase) -> Violations:
    """Yield one violation where values differ between files that may be of several models."""
    row = case.row
    if row.other_weights:
        yield Violation(
            f"files with other weights are of one model by name, {shown(row.model.id)}: {row.other_weights}",
            "keep the files of one of them, or say in the other's arguments or by its folder which model it is",
            row.result.pointer_to("model"),
        )
    repeat, pattern = mixed_in(row)
    if repeat is not None:
        files = sorted(run.file for run in repeat.runs)
        where = "lie in folders of several" if pattern else "neither a date nor a commit tells them apart"
        mappings = _mappings(files, pattern, row.model.id) if pattern else []
        hint = HINT.format(mappings=" ".join(f"--model-name {shlex.quote(one)}" for one in mappings))
        hint = LEAVE_OUT.format(path=_where_they_differ(files)) + hint if len(mappings) > 1 else hint
        yield Violation(
            f"{counted(len(files), 'file')} with different values of {repeat.leaf_id} are of one model by name,"
            f" {shown(row.model.id)}, and {where}: {examples(files)}",
            hint if pattern else IN_ONE_FOLDER,
            row.result.pointer_to("model"),
        )


def _mappings(files: Sequence[str], pattern: str, model: str) -> list[str]:
    """The mappings of a few folders by their names, as a star would name others' models, or one of a pattern."""
    folders = list(dict.fromkeys(file.rpartition("/")[0] for file in files))
    named = [f"{folder}/={model}@{folder.rpartition('/')[2]}" for folder in folders]
    is_sound = not any("*" in one or why_no_mapping(*one.rsplit("=", 1)) for one in named)
    if pattern.endswith("*/") and not is_checkpoint(pattern) and len(folders) <= MOST_FOLDERS and is_sound:
        return named
    return [mapping_for(pattern, model)]


def _where_they_differ(files: Sequence[str]) -> str:
    """The last file's path from the first folder that tells it apart: so it ends whatever folder the paths start at."""
    parts = [file.split("/") for file in files]
    first = next(place for place, names in enumerate(zip(*parts, strict=False)) if len(set(names)) > 1)
    return "/".join(parts[-1][first:])


def mixed_in(row: Row) -> tuple[Repeat | None, str]:
    """The first leaf that several models may have measured, and the pattern of their folders; None, "" if none did."""
    is_named_elsewhere = any(file.called == UNNAMED for file in row.files)
    for repeat in () if row.key.revision else row.repeats:
        pattern = folders_that_differ(run.file for run in repeat.runs)
        is_dated = all(run.is_dated for run in repeat.runs)
        if not is_dated or (pattern and (is_named_elsewhere or is_checkpoint(pattern))):
            return repeat, pattern
    return None, ""
