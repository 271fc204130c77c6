"""The mode `verify` of the Action: recompute published rows, and keep the one issue about those that do not follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from bot.action.gather import check_inside
from bot.action.job import DEFAULT, Outputs, Run, one_line, write_outputs, write_report, write_summary
from bot.errors import BotError, CallError
from bot.evaluation.finding import Severity
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.publishing.answers import issue_is_a_duplicate
from bot.publishing.publication import find_marker
from bot.publishing.verdict_texts import ALL_FOLLOW, BrokenRow, broken_rows_text, verify_mark
from bot.reporting.annotations import command, limited
from bot.service.checks.badge import check_badge, to_json, write_badge
from bot.service.checks.verify import Verifier, table_at
from bot.service.checks.verify_board import verify_board
from bot.service.judge.commits import open_look_up
from bot.service.settings.environment import cached_answers

NO_ISSUE = "the issue could not be written; the result does not change: {error}"
FIELDS = 3  # of a row that an annotation or the issue names


def verify(run: Run) -> int:
    """Recompute the rows of the target, keep the issue about those that do not follow, and give the exit status."""
    sources = check_places(run)
    target = run.opener.target(run.inputs.to)
    target.check_readable()
    today = run.leaderboard if run.inputs.leaderboard != DEFAULT else None
    config = run.inputs.config
    table = table_at(target, run.inputs.to, run.trigger.workspace / config) if config else None
    look_up = open_look_up(run.opener.access, cached_answers(run.environ), run.say)
    reads = {"required": None, "always": True, "never": False}[run.inputs.samples]
    verifier = Verifier(
        target,
        run.opener,
        today,
        asks_models=True,
        table=table,
        sources=sources,
        look_up=look_up,
        reads_samples=reads,
    )
    rows = list(verifier.verify())
    for row in rows:
        said = row.why or row.notice
        run.say(f"{row.outcome}: {row.key}{f': {said}' if said else ''}")
    board = verify_board(verifier)
    run.say(board.said)
    unsound = [*(row for row in rows if not row.follows and row.outcome != "unavailable"), *board.wrong]
    found = [BrokenRow(row.key, row.outcome, row.why, row.named(FIELDS)) for row in unsound]
    said_of = [one_line("; ".join([f"{one.key}: {one.outcome}: {one.why}", *one.fields])) for one in found]
    for line in limited(Severity.ERROR, [command(Severity.ERROR, one, title="verify") for one in said_of]):
        run.out.write(f"{line}\n")
    if run.inputs.badge:
        write_badge(run.trigger.workspace / run.inputs.badge, rows, board.wrong)
    status = 1 if found and run.inputs.fail_on != "never" else 0
    unchecked = sum(row.outcome == "unavailable" for row in rows)
    if unchecked:
        run.warn("some rows could not be checked: a service did not answer")
        status = status or 3
    urls = tell_issue(run, found, all_follow=not found and not unchecked)
    counts = {"accepted": str(sum(row.follows for row in rows)), "rejected": str(len(found) - len(board.wrong))}
    verdict = "rejected" if found else "" if unchecked else "accepted" if rows else "none"
    report = json.dumps([to_json(row) for row in (*rows, *board.wrong)], indent=2)
    path = write_report("verified.json", report, run.environ)
    more = f"; {unchecked} could not be checked" if unchecked else ""
    head = f"{len(found) - len(board.wrong)} of {len(rows)} rows do not follow from their evidence{more}."
    items = "".join(f"{one.item}\n" for one in found)
    write_summary(f"{head}\n\n{items}" if items else f"{head}\n", run.environ)
    write_outputs(Outputs(verdict=verdict, report=path, pull_request=urls, **counts), run.environ)
    return status


def check_places(run: Run) -> list[Path]:
    """The folders of `sources`. Raises CallError for a place in the workspace that is none, or leads out of it."""
    inputs, workspace = run.inputs, run.trigger.workspace
    for name, path in [
        ("badge", inputs.badge),
        ("config", inputs.config),
        *(("sources", one) for one in inputs.sources),
    ]:
        check_inside(name, path, run.trigger)
        if name == "sources" and not (workspace / path).is_dir():
            raise CallError(f"the input `sources` names {path[:80]}, which is no folder of the workspace")
    if inputs.badge:
        check_badge(workspace / inputs.badge)
    return [workspace / one for one in inputs.sources]


def tell_issue(run: Run, found: Sequence[BrokenRow], *, all_follow: bool) -> str:
    """Keep the issue true: its number as `owner/name#7`, "" if there is none. Without the right it is a warning."""
    if not run.opener.access.github_token:
        return ""
    repository = run.trigger.repository
    try:
        num = keep_issue(run.source().client, repository, run.inputs.to, found, all_follow=all_follow)
    except BotError as error:
        run.warn(NO_ISSUE.format(error=error))
        return ""
    return f"{repository}#{num}" if num is not None else ""


def keep_issue(
    client: GitHubClient, repository: str, target: str, found: Sequence[BrokenRow], *, all_follow: bool
) -> int | None:
    """Open, edit or close the one issue about a target: its number where it is open, None if there is none.

    One that a person closed is left alone while it says what is so. Where rows could not be asked about, nothing is
    closed. Raises Refused if the token may not, or Unavailable.
    """
    address = GitHubAddress(repository)
    discussions = GitHubDiscussions(RequestSource(client, address))
    ours = _ours(discussions, target)
    if not found:
        for num in ours if all_follow else []:
            if discussions.read(num).is_open:
                discussions.set_status(num, "closed", ALL_FOLLOW)
        return None
    text = broken_rows_text(target, found, verify_mark(target))
    if not ours:
        num = discussions.open_discussion(text.title, text.body)
        first, *later = _ours(discussions, target) or [num]
        for double in later:  # another run was as fast
            discussions.set_status(double, "closed", issue_is_a_duplicate(first))
        return first
    thread = discussions.read(ours[0])
    is_same = thread.description.strip() == text.body.strip()
    if not is_same:
        discussions.edit_description(thread.num, text.body)
    if not thread.is_open and (not is_same or thread.closed_by == client.user):
        discussions.set_status(thread.num, "open")
    return None if is_same and not thread.is_open and thread.closed_by != client.user else thread.num


def _ours(discussions: GitHubDiscussions, target: str) -> list[int]:
    """Our issues about a target, oldest first."""
    mark = verify_mark(target)
    return [num for num, row in discussions.ours("discussion", whole=True) if find_marker(row["mark"]) == mark]
