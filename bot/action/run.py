"""One run of the Action: judge the files and comment or publish; or, in the mode `verify`, recompute published rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TextIO

from bot.action.gather import base_places, gather, leads_out
from bot.action.job import (
    BASE,
    DEFAULT,
    TRUSTED,
    Inputs,
    Outputs,
    Run,
    TriggerContext,
    explanation_fold,
    one_line,
    outputs_of,
    read_inputs,
    read_trigger,
    write_outputs,
    write_report,
    write_summary,
)
from bot.errors import BotError, CallError, Refused
from bot.evaluation.compare import RunComparison
from bot.evaluation.finding import Finding, Severity, examples
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import Judgement, Row
from bot.platforms.declarations import open_leaderboard
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.platforms.github.target import GitHubTarget
from bot.platforms.inputs import Place, commit_dates, evidence_of, reader_of, with_commits
from bot.platforms.platform import Opener, open_target
from bot.platforms.target import Target
from bot.publishing.board import contradiction, known_rows, make_board
from bot.publishing.compared_rows import ROWS, compared_rows, comparisons_markdown, counterpart
from bot.publishing.entry import Entry, Evidence, make_entries
from bot.publishing.publication import Marker, find_marker
from bot.publishing.texts import judgement_text
from bot.publishing.verdict_texts import ALL_FOLLOW, BrokenRow, broken_rows_text, verify_mark
from bot.reporting.annotations import annotate, command, limited
from bot.reporting.comparison import sentence_of
from bot.reporting.escape import brief, code
from bot.reporting.locate import with_lines
from bot.reporting.markdown import judgement_markdown
from bot.reporting.report import make_report
from bot.reporting.report import to_json as report_json
from bot.reporting.text import unread_said
from bot.service.checks.badge import check_badge, to_json, write_badge
from bot.service.checks.verify import VerifiedRow, Verifier, table_at
from bot.service.judge.commits import open_look_up
from bot.service.judge.facts import Judge
from bot.service.judge.samples import LogsBeside, with_samples
from bot.service.publish.reconcile import entries_of, publish, publish_comment, rebuild_board
from bot.service.settings.environment import cached_answers, read_access

FAULT = "internal error: {name}: {error}. Report it at https://github.com/leaderboard-bot/leaderboard-bot/issues"
NO_FILES = "no result file {where} matches {patterns}"
PASSED = "no verdict: the pull request is closed, or a newer commit of it has a run of its own"
NOT_HERE = (
    "`mode: {mode}` is for merged results: it runs on {trusted}, not on {kind}; use `mode: check` on pull requests"
    " (docs/github.md has the workflows)"
)
NO_COMMENT = "the comment could not be written; the verdict does not change: {error}"
FAILS: dict[str, tuple[Severity, ...]] = {
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "never": (),
}


def main(environ: Mapping[str, str], out: TextIO) -> int:
    """Run, and end every failure in one annotation, empty outputs and its status."""
    try:
        return start(environ, out)
    except BotError as error:
        failure = error
    except Exception as error:  # noqa: BLE001 - a run ends in one line, whatever happened
        failure = BotError(FAULT.format(name=type(error).__name__, error=brief(str(error), 500)))
    write_outputs(Outputs(), environ)
    return say_failure(failure, environ, out)


def say_failure(failure: BotError, environ: Mapping[str, str], out: TextIO) -> int:
    """Annotate the run with a failure, put it into the summary, and give its status."""
    line = one_line(str(failure))
    out.write(f"{command(Severity.ERROR, line, title='leaderboard-bot')}\n")
    write_summary(f"**leaderboard-bot could not finish** (status {failure.status})\n\n    {line}\n", environ)
    return failure.status


def start(environ: Mapping[str, str], out: TextIO) -> int:
    """Read what is asked for, then check, and comment or publish."""
    inputs, trigger, access = read_inputs(environ), read_trigger(environ), read_access(environ)
    if "://" not in inputs.leaderboard:
        check_inside("leaderboard", inputs.leaderboard, trigger)
    run = Run(inputs, trigger, access, open_leaderboard(inputs.leaderboard, access), environ, out)
    if inputs.mode != "check" and not trigger.may_publish:
        kind = trigger.kind or "an event without a name"
        raise CallError(NOT_HERE.format(mode=inputs.mode, trusted=", ".join(TRUSTED), kind=kind))
    if inputs.mode == "verify":
        return verify(run)
    if inputs.mode == "check" and inputs.to:  # no error: one step may check requests and publish pushes
        run.warn("nothing is published: the input `to` is used with `mode: publish` and `mode: verify`")
    found = with_commits(gather(inputs, trigger, run.source(), access))
    target = open_target(inputs.to, access, inputs.form) if inputs.mode == "publish" else None
    there = target.scan_entries().entries if target and found else []
    judgement = judge(run, found, there)
    path = write_report("report.json", report_json(make_report(judgement)), environ)
    report_judgement(run, judgement)
    published: list[str] = []
    status = status_of(inputs, judgement)
    compared = ""
    try:
        if inputs.compare_to and judgement.rows:
            comparisons, missing = compare_with_others(run, found, judgement)
            compared = comparisons_markdown(comparisons, missing)
            write_summary(f"{compared}\n", environ)
            status = report_lower(run, comparisons) or status
        if target is not None:
            published = publish_rows(run, found, judgement, target, there)
            show_rows(run, target)
        elif trigger.is_proposal:
            keep_comment(run, judgement, compared)
    except BotError as failure:
        status = say_failure(failure, environ, out)
    write_outputs(outputs_of(judgement, path, published), environ)
    return status


def check_inside(name: str, path: str, trigger: TriggerContext) -> None:
    """Raise CallError for an input whose path leads out of the workspace, as a link in a pull request may."""
    if leads_out(path, trigger.workspace):
        raise CallError(f"the input `{name}` names {path[:80]}, which leads out of the workspace")


def findings_in(judgement: Judgement) -> Iterator[Finding]:
    """The findings in files, then in rows."""
    for verdict in judgement.verdicts:
        yield from verdict.findings
    for row in judgement.rows:
        yield from row.findings


def status_of(inputs: Inputs, judgement: Judgement) -> int:
    """Give the exit status that `fail-on` makes of the findings."""
    fatal = FAILS[inputs.fail_on]
    return 1 if any(finding.severity in fatal for finding in findings_in(judgement)) else 0


def judge(run: Run, found: Sequence[Place], there: Sequence[Entry] = ()) -> Judgement:
    """Judge as the command line does with `--online`, and for publishing with `--board` at the target."""
    read = [place.parse() for place in found]
    parsed = [one for one in read if isinstance(one, Parsed)]
    if run.leaderboard.asks_samples:
        parsed = with_samples(parsed, [_with_origin(run, place) for place in found], run.trigger.workspace)
    unread = [one for one in read if isinstance(one, UnreadPath)]
    look_up = open_look_up(run.access, cached_answers(run.environ), run.say)
    judge = Judge(run.leaderboard, datetime.now(UTC).date(), look_up=look_up, known=known_rows(there))
    return with_lines(judge.judge(parsed, commit_dates(found), unread), reader_of(found))


def _with_origin(run: Run, place: Place) -> Place:
    """A place with the repository that its sample logs are read from, where it was not made by the workflow."""
    if place.origin is not None or not place.commit:
        return place
    return replace(place, origin=run.source())


def report_judgement(run: Run, judgement: Judgement) -> None:
    """Annotate the lines, write the summary, and log a line for each file and each row that is not a file alone."""
    unread = list(unread_said(judgement))
    for said in unread:
        run.say(said)
    if not judgement.verdicts:
        changed = run.inputs.changed_only and (run.trigger.is_proposal or run.trigger.kind == "push")
        where = "that was added or changed" if changed else "in the workspace"
        line = NO_FILES.format(where=where, patterns=", ".join(run.inputs.results))
        if changed and run.trigger.branch and run.trigger.number(run.source()) is None:
            line = PASSED
        (run.say if changed else run.warn)(line)
        write_summary("\n".join([code(one_line(line)), "", *(f"    {one}" for one in unread), ""]), run.environ)
        return
    for line in annotate(findings_in(judgement)):
        run.out.write(f"{line}\n")
    for verdict in judgement.verdicts:
        run.say(f"{verdict.status}: {verdict.path}")
    for row in judgement.rows:
        if row.status == "incomplete" or len(row.files) > 1:
            run.say(f"{row.status}: {row.key}")
    write_summary(judgement_markdown(judgement, explanation_fold), run.environ)


def compare_with_others(
    run: Run, found: Sequence[Place], judgement: Judgement
) -> tuple[list[RunComparison], list[str]]:
    """Compare each row with that of the base branch or of the board, and name the rows that have no other."""
    to, base, rows = run.inputs.compare_to, list[Place](), list[Row]()
    if to == BASE:
        base = base_places(found, run.inputs, run.trigger, run.source())
        rows = list(judge(run, base).rows)
        others: Sequence[Entry] = make_entries(rows, evidence_of(base)).entries
    else:
        if "://" not in to and not (run.trigger.workspace / to).is_dir():  # it would be a board without rows
            raise CallError(f"the input `compare-to` is {to!r}, which is no folder; it takes base, or a board")
        board = open_target(to, run.access)
        board.check_readable()
        others = entries_of(board, run.leaderboard)
    entries = make_entries(judgement.rows, {place.name: Evidence(place.source, place.path) for place in found}).entries
    comparisons: list[RunComparison] = []
    missing = [row.model.id for row in judgement.rows if row.key.text not in {one.key for one in entries}]
    logs = LogsBeside(run.trigger.workspace)
    for entry in entries:
        one = None
        if (other := counterpart(entry, others)) is not None:
            if why := contradiction(other):
                run.warn(f"{brief(other.key, 500)} is not to be believed: {why}")
            sides = results_of(run, other, rows, base), results_of(run, entry, judgement.rows, found)
            names = (f"{to}: {other.model.id}", entry.model.id)
            one = compared_rows(other, entry, names, partial(logs.pairs, sides))
        if one is None:
            missing.append(entry.model.id)
        else:
            comparisons.append(one)
    return comparisons, missing


def results_of(run: Run, entry: Entry, rows: Iterable[Row], places: Iterable[Place]) -> list[tuple[Place, Result]]:
    """The results that a row was made from, with their places; none where these are not known."""
    by_name = {place.name: place for place in places}
    files = [file for row in rows if row.key.text == entry.key for file in row.files]
    return [(_with_origin(run, by_name[one.path]), one.result) for one in files if one.result is not None]


def report_lower(run: Run, comparisons: Sequence[RunComparison]) -> int:
    """Log each comparison; one that is lower is an error, and gives 1, where the inputs ask for it."""
    is_lower = False
    for one in comparisons:
        line = f"{one.second} compared with {one.first}: {sentence_of(one, *ROWS)}"
        if run.inputs.fails_when_lower and (worse := one.worse(run.inputs.margin)):
            is_lower = True
            line += f" The step fails, because these are worse beyond chance: {examples(worse)}."
            run.out.write(f"{command(Severity.ERROR, one_line(line), title='compare')}\n")
        else:
            run.say(line)
    return int(is_lower)


def publish_rows(
    run: Run, found: Sequence[Place], judgement: Judgement, target: Target, there: Sequence[Entry]
) -> list[str]:
    """Publish what is not rejected, and give the URLs of what was written."""
    target.check()
    counted = {file.path for row in judgement.rows for file in row.files}
    evidence = evidence_of(place for place in found if place.name in counted)
    made = make_entries(judgement.rows, evidence)
    for key, why in made.refused.items():
        run.warn(f"not published: {key}: {why}")
    where = []
    for done in publish(made.entries, target, run.inputs.form, there):
        run.say(f"{done.subject}: {done.decision.why} {done.where}")
        where += [done.where] if done.where and done.where not in where else []  # one commit may store several rows
    return where


def show_rows(run: Run, target: Target) -> None:
    """Rebuild the board from what is merged, and the web site where the inputs name one."""
    try:
        if rebuild_board(target, run.leaderboard):
            run.say("rebuilt the board")
    except Refused as refusal:  # a token that may open a request may lack the right to commit
        run.warn(f"the board was not rebuilt: {refusal}")
    if run.inputs.site:
        put_site(run, target)


def put_site(run: Run, target: Target) -> None:
    """Publish the board as it stands at the target as a web site."""
    from bot.pages.content import PageContent
    from bot.pages.site import Site
    from bot.platforms.sites import publish_site

    board = make_board(entries_of(target, run.leaderboard), run.leaderboard)
    if not board.rows:
        run.say("no site: there is no row on the board yet")
        return
    content = PageContent(board, run.inputs.to if "://" in run.inputs.to else "")
    done = publish_site(Site(content), run.inputs.site, Opener(run.access))
    run.say(f"site {run.inputs.site}: {done.changed} files written, {done.removed} removed")


def keep_comment(run: Run, judgement: Judgement, compared: str) -> None:
    """Keep the one comment on the pull request true; a token that may not write costs a warning, not the verdict.

    `compared` is what is said about other rows; a comment is opened where there is any.
    """
    number = run.trigger.number(run.source())
    if run.inputs.comment == "never" or number is None:
        return
    if not run.access.github_token:
        run.say("no comment: there is no token (a fork's run has none; docs/github.md shows the second workflow)")
        return
    mark = Marker("verdict", "pull-request", run.leaderboard.id)
    target = GitHubTarget(run.source().client, GitHubAddress(run.trigger.repository, number), "comment")
    has_findings = any(True for _ in findings_in(judgement))
    may_open = bool(judgement.verdicts) and (has_findings or bool(compared) or run.inputs.comment == "always")
    try:
        where = publish_comment(mark, judgement_text(judgement, mark, compared), target, may_open=may_open)
    except BotError as error:
        run.warn(NO_COMMENT.format(error=error))
        return
    if where:
        run.say(f"comment: {where}")


NO_ISSUE = "the issue could not be written; the result does not change: {error}"
FIELDS = 3  # of a row that an annotation or the issue names


def verify(run: Run) -> int:
    """Recompute the rows of the target, keep the issue about those that do not follow, and give the exit status."""
    sources = check_places(run)
    target = open_target(run.inputs.to, run.access)
    target.check_readable()
    today = run.leaderboard if run.inputs.leaderboard != DEFAULT else None
    config = run.inputs.config
    table = table_at(target, run.inputs.to, run.trigger.workspace / config) if config else None
    opener = Opener(run.access)
    look_up = open_look_up(run.access, cached_answers(run.environ), run.say)
    verifier = Verifier(target, opener, today, asks_models=True, table=table, sources=sources, look_up=look_up)
    rows = list(verifier.verify())
    for row in rows:
        said = row.why or row.notice
        run.say(f"{row.outcome}: {row.key}{f': {said}' if said else ''}")
    found = broken(rows)
    for line in limited(Severity.ERROR, [row_command(row) for row in found]):
        run.out.write(f"{line}\n")
    if run.inputs.badge:
        write_badge(run.trigger.workspace / run.inputs.badge, rows)
    status = 1 if len(found) and run.inputs.fail_on != "never" else 0
    unchecked = sum(row.outcome == "unavailable" for row in rows)
    if unchecked:
        run.warn("some rows could not be checked: a service did not answer")
        status = status or 3
    urls = tell_issue(run, rows)
    counts = {"accepted": str(sum(row.follows for row in rows)), "rejected": str(len(found))}
    verdict = "rejected" if found else "" if unchecked else "accepted" if rows else "none"
    path = write_report("verified.json", json.dumps([to_json(row) for row in rows], indent=2), run.environ)
    more = f"; {unchecked} could not be checked" if unchecked else ""
    head = f"{len(found)} of {len(rows)} rows do not follow from their evidence{more}."
    items = "".join(f"{row.item}\n" for row in named_rows(found))
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


def row_command(row: VerifiedRow) -> str:
    """The annotation about a row that does not follow."""
    line = one_line("; ".join([f"{row.key}: {row.outcome}: {row.why}", *row.named(FIELDS)]))
    return command(Severity.ERROR, line, title="verify")


def named_rows(found: Iterable[VerifiedRow]) -> list[BrokenRow]:
    """The rows as the issue and the summary name them."""
    return [BrokenRow(row.key, row.outcome, row.why, row.named(FIELDS)) for row in found]


def tell_issue(run: Run, rows: Sequence[VerifiedRow]) -> str:
    """Keep the issue true: its number as `owner/name#7`, "" if there is none. Without the right it is a warning."""
    if not run.access.github_token:
        return ""
    repository = run.trigger.repository
    try:
        num = keep_issue(run.source().client, repository, run.inputs.to, rows)
    except BotError as error:
        run.warn(NO_ISSUE.format(error=error))
        return ""
    return f"{repository}#{num}" if num is not None else ""


def broken(rows: Sequence[VerifiedRow]) -> list[VerifiedRow]:
    """The rows that do not follow; what could not be asked about is neither here nor there."""
    return [row for row in rows if not row.follows and row.outcome != "unavailable"]


def keep_issue(client: GitHubClient, repository: str, target: str, rows: Sequence[VerifiedRow]) -> int | None:
    """Open, edit or close the one issue about a target: its number where it is open, None if there is none.

    One that a person closed is left alone while it says what is so. Where rows could not be asked about, nothing is
    closed. Raises Refused if the token may not, or Unavailable.
    """
    address = GitHubAddress(repository)
    discussions = GitHubDiscussions(RequestSource(client, address))
    found = broken(rows)
    ours = _ours(discussions, target)
    if not found:
        for num in ours if all(row.follows for row in rows) else []:
            if discussions.read(num).is_open:
                discussions.set_status(num, "closed", ALL_FOLLOW)
        return None
    text = broken_rows_text(target, named_rows(found), verify_mark(target))
    if not ours:
        num = discussions.open_discussion(text.title, text.body)
        first, *later = _ours(discussions, target) or [num]
        for double in later:  # another run was as fast
            discussions.set_status(double, "closed", f"This issue is a duplicate of #{first}.")
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
