"""The file cannot be read as a result file.

## What it does
Reports a file that is not JSON, ends in the middle, is nested more than 100 levels deep, is larger than 32 MB, or is of
no format that is read here.

## Why is this bad?
Nothing can be said of it. Uploads that were cut at 65,536 characters stand in public results data sets to this day and
look like any other file in a listing.

## Example
(file) {"results": {"leaderboard_bbh_navigate": {"acc_norm,none": 0.7

## Use instead
Upload the file that the harness wrote, whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity
from bot.rules.rule import Unread, Violation, rule


@rule(Severity.ERROR)
def malformed_file(unread: Unread) -> Iterator[Violation]:
    """Yield why no reader took the file."""
    hint = "upload the results_*.json that the harness wrote, whole and unchanged"
    yield Violation(f"the file {unread.problem.why}", hint, unread.problem.pointer)
