"""The file cannot be read as a result file.

## What it does
Reports what is not JSON, ends in the middle, is nested more than 200 deep, larger than 8 MiB, or in no known format.

## Why is this bad?
Its numbers count nowhere.

## When it is wrong
A larger file is read with `--max-bytes` or `max_file_bytes`; a layout of your own needs a form (`[[formats]]`).

## Example
(file) {"results": {"leaderboard_bbh_navigate": {"acc_norm,none": 0.7

## A sound run writes
Upload the file that the harness wrote, whole.
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Violation, Violations, rule
from bot.evaluation.submission import Problem


@rule(Severity.ERROR)
def malformed_file(problem: Problem) -> Violations:
    """Yield why no format reads the submission."""
    hint = problem.hint or "upload the result file that the harness wrote, whole and unchanged"
    yield Violation(f"the file {problem.why}", hint, problem.pointer, line=problem.line)
