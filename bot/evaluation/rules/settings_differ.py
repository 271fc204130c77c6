"""Files of one model are not joined, because they were measured differently.

## What it does
Files of one accepted harness range, asked in the same way, are joined. The set with the most subtasks counts, else the
newest.

## Why is this bad?
Such numbers do not belong in one average.

## When it is wrong
An argument cannot change a result: report it, for `bot/data/sameness.toml`.

## Example
(another file)
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16,max_length=2048"
/date: 1

## A sound run writes
(another file)
/date: 1
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.rules.advised_version import advised_version
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule


@rule(Severity.WARNING, looks_at="left_out")
def settings_differ(case: RowCase) -> Violations:
    """Yield one violation each for other prompts and other settings of files that are sound and left out."""
    row = case.row
    left_out = {path: why for path, why in row.left_out.items() if path not in row.prompts}
    if row.prompts and case.leaderboard.join.settings == "same":
        path, why = next(iter(row.prompts.items()))
        more = f"; {len(row.prompts) - 1} more" if len(row.prompts) > 1 else ""
        yield Violation(
            f"the prompts differ, so these are no runs of one task: {shown(path)} has {why}{more}",
            "measure a task with one definition for all runs of a row",
            row.result.pointer_to("leaves"),
        )
    if left_out and case.leaderboard.join.settings == "same":
        count = len(left_out)
        what = "file was" if count == 1 else "files were"
        first, why = next(iter(left_out.items()))
        of = f" of {examples([file.path for file in row.files], 1)}" if why.endswith("in the row") else ""
        told = f"; {'there' if count == 1 else f'in {shown(first)}'} {why}{of}" if why else ""
        advised = advised_version(row.result.harness, row.result.format, (), case.leaderboard, case.facts)
        harness = advised.title if advised else "the same release of the harness"
        formats = {one.result.format for one in case.verdicts if one.result is not None and one.path in left_out}
        is_of_other = row.result.format not in formats  # whose tasks the row's harness may not have
        hint = f"measure all tasks with {'' if is_of_other else f'{harness} and '}the same settings"
        if row.status == "accepted":
            hint = f"nothing needs to be done, the row is complete; for other numbers {hint}"
        yield Violation(
            f"{count} {what} measured with another harness or other settings and not joined: "
            f"{examples(list(left_out))}{told}",
            hint,
            row.result.pointer_to("leaves"),
        )
