"""One run of the Action: judge the files, and comment or publish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TextIO

from msgspec import structs

from bot.action.gather import (
    base_places,
    beside_places,
    changed_logs,
    check_inside,
    gather,
    has_some,
    places_of_models,
    watched,
)
from bot.action.job import (
    BASE,
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
from bot.action.verify import verify
from bot.errors import BotError, CallError, Gone, MalformedEntry, Refused
from bot.evaluation.compare import MeasuredRun, RunComparison, compare
from bot.evaluation.discovery import RESULT_NAME
from bot.evaluation.finding import Finding, Location, Severity, counted, examples, file_of
from bot.evaluation.formats.other_files import OTHER
from bot.evaluation.join import verdicts_by_key
from bot.evaluation.result import Result
from bot.evaluation.rules.rule import leaves_of
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import Judgement, Row, only_rows_of
from bot.platforms.declarations import open_leaderboard
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.target import GitHubTarget
from bot.platforms.inputs import Place, commit_dates, evidence_of, reader_of, with_commits
from bot.platforms.platform import Opener
from bot.platforms.sites import open_site, publish_site
from bot.platforms.target import Target
from bot.publishing.board import contradiction, disbelief, known_rows
from bot.publishing.compared_rows import TWO_ROWS, comparisons_markdown, counterpart, run_of_entry
from bot.publishing.entry import Entry, Evidence, entry_path, make_entries, parse_entry
from bot.publishing.publication import Marker
from bot.publishing.texts import DECLARATION_CHANGES, judgement_text
from bot.reporting.annotations import annotate, command, limited
from bot.reporting.comparison import sentence_of
from bot.reporting.escape import brief, code
from bot.reporting.locate import with_lines
from bot.reporting.markdown import judgement_markdown
from bot.reporting.prose import escaped
from bot.reporting.report import make_report
from bot.reporting.report import to_json as report_json
from bot.reporting.text import findings_told, of_row_told, unread_said, where_to
from bot.service.checks.verify_evidence import UNREAD, EvidenceReader
from bot.service.judge.commits import open_look_up
from bot.service.judge.facts import Judge
from bot.service.judge.samples import LogsBeside, with_samples
from bot.service.judge.tables import refused_by_tables
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import board_at, publish_comment, rebuild_board
from bot.service.settings.beside import watches_beside
from bot.service.settings.config import Watch
from bot.service.settings.environment import cached_answers, read_access

FAULT = "internal error: {name}: {error}. Report it at https://github.com/leaderboard-bot/leaderboard-bot/issues"
NO_FILES = "no result file {where} matches {patterns}"
NO_RESULT = "no file {where} is a result"
NAME_THEM = "name them by the input `results`, or by `paths` in the `bot.toml` beside the declaration"
ONLY_LOGS = "{count} {where}, and no result file: a log counts only together with the result file beside it ({logs})"
NOTHING_TO_PUBLISH = (
    "nothing to publish: no file in the workspace matches {patterns}:"
    " check the repository out before, or correct `results`"
)
ELSEWHERE = (
    "{folder} on the base branch has tasks that the row of {model} lacks: put the new files there, and they are one row"
)
PASSED = "no verdict: the pull request is closed, a newer commit of it has a run of its own, or its fork was deleted"
NOT_HERE = (
    "`mode: {mode}` is for merged results: it runs on {trusted}, not on {kind}; use `mode: check` on pull requests"
    " (docs/github.md has the workflows)"
)
NOT_CHECKED_OUT = "the input `leaderboard` names {path}, which is not in the workspace: check the repository out before"
NOT_SETTINGS = "{error}; what these settings say of paths and of the models in folders does not count here"
NO_COMMENT = (
    "the comment could not be written; the verdict does not change: {error}"
    " (a run for a fork never may: there the second workflow of docs/github.md comments)"
)
# Kinds of files that may be results and cannot be judged: a green run would say that nothing is wrong with them.
MAY_BE_RESULTS = ("git-lfs-pointer", "byte-order-mark", "utf-16")
UNREADABLE = "{count} may hold results and cannot be judged"
EVERY_FILE = ("**/*.json",)  # where neither the input `results` nor settings beside the declaration name files
MOST_OPEN = 10  # open requests that are read to find what was published last
FAILS: dict[str, tuple[Severity, ...]] = {
    "error": (Severity.ERROR,),
    "rejected": (Severity.ERROR,),
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


def open_run(environ: Mapping[str, str], out: TextIO) -> Run:
    """Read what is asked for, and check what can be checked before anything is judged. Raises CallError."""
    inputs, trigger, access = read_inputs(environ), read_trigger(environ), read_access(environ)
    if "://" not in inputs.leaderboard:
        check_inside("leaderboard", inputs.leaderboard, trigger)
        if inputs.leaderboard.endswith(".toml") and not (trigger.workspace / inputs.leaderboard).is_file():
            raise CallError(NOT_CHECKED_OUT.format(path=inputs.leaderboard[:80]))
    leaderboard, watches, refused = open_leaderboard(inputs.leaderboard, access), list[Watch](), ""
    try:
        watches = watches_beside(str(trigger.workspace / inputs.leaderboard)) if "://" not in inputs.leaderboard else []
    except BotError as error:
        refused = NOT_SETTINGS.format(error=error)
    inputs = replace(inputs, results=inputs.results or watched(watches, inputs.leaderboard, trigger) or EVERY_FILE)
    run = Run(inputs, trigger, Opener(access), leaderboard, environ, out, watches)
    if refused:
        run.warn(refused)
    if inputs.mode != "check" and not trigger.may_publish:
        kind = trigger.kind or "an event without a name"
        raise CallError(NOT_HERE.format(mode=inputs.mode, trusted=", ".join(TRUSTED), kind=kind))
    if inputs.site:
        open_site(inputs.site, run.opener)
    return run


def start(environ: Mapping[str, str], out: TextIO) -> int:
    """Check what is asked for, and comment or publish."""
    run = open_run(environ, out)
    inputs, trigger, access = run.inputs, run.trigger, run.opener.access
    if inputs.mode == "verify":
        return verify(run)
    board = open_board(run) if inputs.compare_to not in {"", BASE} else None
    target = run.opener.target(inputs.to, inputs.form) if inputs.mode == "publish" else None
    there = target.scan_entries().entries if target else []
    published_before: set[tuple[str, str]] = set()
    if target is not None and trigger.before is not None and inputs.changed_only:
        start_at, published_before = published_up_to(run, target, there, trigger.before)
        trigger = replace(trigger, before=start_at)
    gathered = _read_with(run, with_commits(gather(inputs, trigger, run.source(), access)))
    changed = [one for one in gathered if one.last is None or (one.path, one.last.oid) not in published_before]
    if target is not None and not changed and not run.is_about_changes:
        raise CallError(NOTHING_TO_PUBLISH.format(patterns=", ".join(inputs.results)))
    found = list(changed)
    judgement = judge(run, found, there)
    if beside := unchanged_beside(run, trigger, changed, judgement):
        found = [*changed, *beside]
        judgement = only_rows_of(judgement, judge(run, found, there))
    elsewhere = unchanged_elsewhere(run, trigger, judgement)
    path = write_report("report.json", report_json(make_report(judgement)), environ)
    report_judgement(run, judgement)
    refused = list(refused_by_tables(judgement, run.watches))
    for said in (*elsewhere, *(one.text for one in refused)):
        run.warn(said)
    beyond = [*elsewhere, *(escaped(one.text) for one in refused)]
    for said in beyond:
        write_summary(f"\n{said}\n", run.environ)
    published: list[str] = []
    is_failed = any(one.is_whole for one in refused) or (not judgement.verdicts and not run.is_about_changes)
    status = 1 if FAILS[inputs.fail_on] and is_failed else status_of(inputs, judgement)
    compared = ""
    try:
        if declaration := changed_declaration(run):
            run.warn(DECLARATION_CHANGES.format(path=declaration))
        if inputs.compare_to and judgement.rows:
            comparisons, missing = compare_with_others(run, found, judgement, board)
            compared = comparisons_markdown(comparisons, missing)
            write_summary(f"{comparisons_markdown(comparisons, missing, len(judgement.rows))}\n", environ)
            status = report_lower(run, comparisons) or status
        if target is not None:
            published = publish_rows(run, found, judgement, target, there)
            show_rows(run, target)
        elif trigger.is_proposal:
            notes = [DECLARATION_CHANGES.format(path=code(declaration))] if declaration else []
            keep_comment(run, judgement, "\n\n".join([*beyond, *notes, *([compared] if compared else [])]))
    except BotError as failure:
        status = say_failure(failure, environ, out)
    write_outputs(outputs_of(judgement, path, published), environ)
    return status


def changed_declaration(run: Run) -> str:
    """The path of the declaration in the workspace, where the pull request changes it; else ""."""
    path = run.inputs.leaderboard.removeprefix("./")
    if not run.trigger.is_proposal or "://" in path or not path.endswith(".toml"):
        return ""
    source = run.source()
    number = run.trigger.number(source)
    files = source.read_proposal(number).files if number is not None else ()
    return path if any(file.path == path for file in files) else ""


def published_up_to(
    run: Run, target: Target, there: Iterable[Entry], before: str
) -> tuple[str | None, set[tuple[str, str]]]:
    """The commit from which to read, up to `before`, and the files that were published since: path and commit of each.

    GitHub drops a run that waits when another one comes, and a run may end between two rows: what their pushes brought
    is read by the next. So that starts at the last commit but one from which a row was published, also into an open
    request; before the only one, None at the first of all, so that everything is read.
    """
    board, rows = run.leaderboard.id, list(there)
    if run.inputs.form == "pull-request":
        for key in sorted(target.read_keys(board))[:MOST_OPEN]:
            path = entry_path(key)
            request = target.read_state(Marker("entry", key, board), (path,)).request
            if request is not None and (data := request.files.get(path)):
                with suppress(MalformedEntry):  # somebody else pushed there
                    rows.append(parse_entry(data, path))
    source = run.source()
    try:
        commits = source.last_commits(before)
    except Gone:  # the history was rewritten
        return before, set()
    files = [file for row in rows for file in row.evidence if file.source == source.name and file.commit in commits]
    known = sorted({commits.index(file.commit) for file in files})
    if not known:
        return before, set()
    start_at = known[1] if len(known) > 1 else known[0] + 1
    return next(iter(commits[start_at:]), None), {(file_of(file.path), file.commit) for file in files}


def findings_in(judgement: Judgement) -> Iterator[Finding]:
    """The findings in files, then in rows."""
    for verdict in judgement.verdicts:
        yield from verdict.findings
    for row in judgement.rows:
        yield from row.findings


def told_in(judgement: Judgement) -> Iterator[Finding]:
    """The findings as they are told; those of a file that its row does without are notices."""
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    yield from (finding for verdict in judgement.unreadable for finding in verdict.findings)
    for row in judgement.rows:
        for file in files[row.key]:
            is_needed = not row.does_without(file)
            for one in findings_told(file, row):
                yield one if is_needed else structs.replace(one, severity=Severity.NOTICE)
    for row in judgement.rows:
        yield from of_row_told(row)
        if row.repair is not None:
            place = Location(row.lead.path)
            where = "" if row.is_unneeded else where_to(row.repair)
            yield Finding("repair", Severity.NOTICE, row.repair.hint, where, place, command=row.repair.command)


def status_of(inputs: Inputs, judgement: Judgement) -> int:
    """Give the exit status that `fail-on` makes of the findings, also of files that may be results and cannot be read.

    With `rejected` a row that only lacks tasks does not count; a rejected file that its row does without never does.
    """
    fatal = FAILS[inputs.fail_on]
    if fatal and any(map(_may_be_result, judgement.unread)):
        return 1
    if inputs.fail_on == "rejected":
        files, rows = judgement.counting, judgement.rows
        return 1 if "rejected" in {*(one.status for one in files), *(one.status for one in rows)} else 0
    if fatal and any(row.status != "accepted" for row in judgement.rows):
        return 1
    found = findings_in(structs.replace(judgement, verdicts=judgement.counting))
    return 1 if any(finding.severity in fatal for finding in found) else 0


def _may_be_result(one: UnreadPath) -> bool:
    """Tell whether a file that is not read may hold results, as its content or its name says."""
    return one.kind in MAY_BE_RESULTS or (one.kind == OTHER.id and RESULT_NAME.fullmatch(one.path) is not None)


def judge(run: Run, found: list[Place], there: Sequence[Entry] = ()) -> Judgement:
    """Judge as the command line does with `--online`, and for publishing with `--board` at the target.

    Where a file has several submissions, the places of those after the first are added to `found`.
    """
    read = [place.parse() for place in found]
    parsed = [part for one in read if isinstance(one, Parsed) for part in one.parts]
    further = [(place, one.further) for place, one in zip(found, read, strict=True) if isinstance(one, Parsed)]
    found += [place.part(part.path) for place, parts in further for part in parts]
    if run.leaderboard.asks_samples:
        parsed = with_samples(parsed, [_with_origin(run, place) for place in found], run.trigger.workspace)
    unread = [one for one in read if isinstance(one, UnreadPath)]
    look_up = open_look_up(run.opener.access, cached_answers(run.environ), run.say)
    judge = Judge(run.leaderboard, datetime.now(UTC).date(), names=run.names, look_up=look_up, known=known_rows(there))
    return with_lines(judge.judge(parsed, commit_dates(found), unread), reader_of(found))


def unchanged_beside(run: Run, trigger: TriggerContext, places: Sequence[Place], judgement: Judgement) -> list[Place]:
    """The files that a change leaves as they are, of rows that lack tasks; faulty ones where others lack some."""
    lacking = {row.key: row for row in judgement.rows if row.status == "incomplete"}
    if not lacking or not run.inputs.changed_only or not trigger.is_change:
        return []
    beside = _read_with(run, with_commits(beside_places(places, run.inputs, trigger, run.source())))
    parts = list(beside)
    wanted_paths: set[str] = set()
    for row in judge(run, parts).rows:
        if row.key in lacking:
            missing = {one.leaf.id for one in lacking[row.key].measurements.missing}
            sound = [file for file in row.files if file.status != "rejected"]
            there = {leaf for file in sound if file.measurements for leaf in leaves_of(file.measurements.present)}
            wanted_paths.update(file.path for file in (sound if missing <= there else row.files))
    wanted = {place.candidate.files for place in parts if place.name in wanted_paths}
    return [place for place in beside if place.candidate.files in wanted]


def unchanged_elsewhere(run: Run, trigger: TriggerContext, judgement: Judgement) -> list[str]:
    """Say of each row that lacks tasks in which other folder of the base branch files have these."""
    lacking = [row for row in judgement.rows if row.status == "incomplete"]
    if not lacking or not run.inputs.changed_only or not trigger.is_change:
        return []
    folders = {file.path.rpartition("/")[0] for row in lacking for file in row.files}
    models = {row.model.id for row in lacking}
    places = _read_with(run, places_of_models(models, folders, run.inputs, trigger, run.source()))
    there = {row.key: row for row in judge(run, places).rows} if places else {}
    said = []
    for row in lacking:
        other = there.get(row.key)
        missing = {one.leaf.id for one in row.measurements.missing}
        found = [one for one in other.measurements.present if one.required.leaf.id in missing] if other else []
        if found:
            folder = found[0].file.rpartition("/")[0]
            said.append(ELSEWHERE.format(folder=code(folder), model=code(brief(row.model.id))))
    return said


def _read_with(run: Run, places: Iterable[Place]) -> list[Place]:
    """The places, to be read with the forms of the declaration."""
    return [
        structs.replace(one, candidate=structs.replace(one.candidate, forms=run.leaderboard.formats)) for one in places
    ]


def _with_origin(run: Run, place: Place) -> Place:
    """A place with the repository that its sample logs are read from, where it was not made by the workflow."""
    if place.origin is not None or not place.commit:
        return place
    return structs.replace(place, origin=run.source())


def report_judgement(run: Run, judgement: Judgement) -> None:
    """Annotate the lines, write the summary, and log a line for each file and each row that is not a file alone."""
    unread = list(unread_said(judgement.unread))
    for said in unread:
        run.say(said)
    unreadable = [one for one in judgement.unread if _may_be_result(one)]
    for said in unread_said(unreadable):
        run.warn(said, Severity.ERROR if FAILS[run.inputs.fail_on] else Severity.WARNING)
    cannot_be_judged = UNREADABLE.format(count=counted(len(unreadable), "file"))
    if not judgement.verdicts and unreadable:
        run.say(cannot_be_judged)
        write_summary(_unread_markdown(cannot_be_judged, unread), run.environ)
        return
    if not judgement.verdicts:
        write_summary(_unread_markdown(why_nothing(run, unread), unread), run.environ)
        return
    for line in annotate(told_in(judgement)):
        run.out.write(f"{line}\n")
    counting = {verdict.path for verdict in judgement.counting}
    for verdict in judgement.verdicts:
        run.say(f"{verdict.status if verdict.path in counting else 'not needed'}: {verdict.path}")
    for row in judgement.rows:
        if row.status not in {"accepted", row.lead.status} or len(row.files) > 1:
            run.say(f"{row.status}: {row.key}")
    write_summary(judgement_markdown(judgement, explanation_fold), run.environ)
    if unreadable:
        write_summary(f"\n{_unread_markdown(cannot_be_judged, unread)}", run.environ)


def why_nothing(run: Run, unread: Sequence[str]) -> str:
    """Log why nothing is judged, and give it.

    A whole workspace without results is an error, a push to a repository without any a warning; a pull request need not
    change one.
    """
    trigger, patterns = run.trigger, ", ".join(run.inputs.results)
    where = "that was added or changed" if run.is_about_changes else "in the workspace"
    line = NO_RESULT.format(where=where) if unread else NO_FILES.format(where=where, patterns=patterns)
    if not run.is_about_changes:
        run.warn(f"{line}; {NAME_THEM}", Severity.ERROR if FAILS[run.inputs.fail_on] else Severity.WARNING)
        return line
    if not unread and (logs := changed_logs(trigger, run.source())):
        line = ONLY_LOGS.format(count=counted(len(logs), "sample log"), where=where, logs=examples(logs))
    elif not unread and trigger.branch and trigger.number(run.source()) is None:
        line = PASSED
    if trigger.is_proposal or has_some(run.inputs.patterns, trigger, run.source()):
        run.say(line)
    else:
        run.warn(f"{NO_FILES.format(where='in the repository', patterns=patterns)}; {NAME_THEM}")
    return line


def _unread_markdown(line: str, unread: Iterable[str]) -> str:
    return "\n".join([code(one_line(line)), "", *(f"    {one}" for one in unread), ""])


def open_board(run: Run) -> Target:
    """The board that `compare-to` names. Raises CallError for what is none, Refused or Unavailable."""
    to = run.inputs.compare_to
    if "://" not in to:
        check_inside("compare-to", to, run.trigger)
        if not (run.trigger.workspace / to).is_dir():  # it would be a board without rows
            raise CallError(f"the input `compare-to` is {to!r}, which is no folder; it takes base, or a board")
    board = run.opener.target(to)
    board.check_readable()
    return board


def compare_with_others(
    run: Run, found: Sequence[Place], judgement: Judgement, board: Target | None
) -> tuple[list[RunComparison], list[str]]:
    """Compare each row with that of the board, or else of the base branch, and name the rows that have no other."""
    base, rows = list[Place](), list[Row]()
    if board is None:
        base = _read_with(run, base_places(found, run.inputs, run.trigger, run.source()))
        rows = list(judge(run, base).rows)
        others: Sequence[Entry] = make_entries(rows, evidence_of(base)).entries
    else:
        others = board.scan_entries().of(run.leaderboard.id)
    entries = make_entries(judgement.rows, {place.name: Evidence(place.source, place.path) for place in found}).entries
    comparisons: list[RunComparison] = []
    missing = [row.model.id for row in judgement.rows if row.key.text not in {one.key for one in entries}]
    logs = LogsBeside(run.trigger.workspace)
    pairs = [(entry, counterpart(entry, others)) for entry in entries]
    with closing(EvidenceReader(run.opener, target=board)) as reader:
        reader.forms = run.leaderboard.formats
        reader.expect(file for _, other in pairs if other is not None and board is not None for file in other.evidence)
        for entry, other in pairs:
            if other is None:
                missing.append(entry.model.id)
                continue
            sides = results_of(run, other, rows, base), results_of(run, entry, judgement.rows, found)
            measured = measured_there(run, other, sides[0], reader), measured_row(run, entry.model.id, entry, sides[1])
            try:
                comparisons.append(compare(*measured, logs.pairs(sides, *measured)))
            except CallError:  # they have no task in common
                missing.append(entry.model.id)
    return comparisons, missing


def measured_there(
    run: Run, entry: Entry, results: Sequence[tuple[Place, Result]], reader: EvidenceReader
) -> MeasuredRun:
    """The other row as a measurement: with the results of the base branch, or with those that a board's row names."""
    to = run.inputs.compare_to
    if why := contradiction(entry):
        run.warn(disbelief(entry, why))
    if to == BASE:
        return measured_row(run, f"{to}: {entry.model.id}", entry, results)
    files, unread = reader.results(entry)
    if unread:
        run.say(f"{entry.key}: {UNREAD}: {unread}")
    return run_of_entry(f"{to}: {entry.model.id}", entry, files=files, declared=run.leaderboard)


def measured_row(run: Run, name: str, entry: Entry, results: Sequence[tuple[Place, Result]]) -> MeasuredRun:
    """A row of these results as a measurement."""
    files = {place.path: result for place, result in results}
    return run_of_entry(name, entry, files=files, declared=run.leaderboard)


def results_of(run: Run, entry: Entry, rows: Iterable[Row], places: Iterable[Place]) -> list[tuple[Place, Result]]:
    """The results that a row was made from, with their places; none where these are not known."""
    by_name = {place.name: place for place in places}
    files = [file for row in rows if row.key.text == entry.key for file in row.files]
    return [(_with_origin(run, by_name[one.path]), one.result) for one in files if one.result is not None]


def report_lower(run: Run, comparisons: Sequence[RunComparison]) -> int:
    """Log each comparison; one that is lower is an error, and gives 1, where the inputs ask for it."""
    lower = []
    for one in comparisons:
        line = f"{one.second} compared with {one.first}: {sentence_of(one, *TWO_ROWS)}"
        if run.inputs.fails_when_lower and (worse := one.worse(run.inputs.margin)):
            line += f" The step fails, because these are worse beyond chance: {examples(worse)}."
            lower.append(command(Severity.ERROR, one_line(line), title="compare"))
        else:
            run.say(line)
    for line in limited(Severity.ERROR, lower):
        run.out.write(f"{line}\n")
    return int(bool(lower))


def publish_rows(
    run: Run, found: Sequence[Place], judgement: Judgement, target: Target, there: Sequence[Entry]
) -> list[str]:
    """Publish what is not rejected, and give the URLs of what was written."""
    target.check()
    made = make_entries(judgement.rows, evidence_of(found))
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

    board = board_at(target, run.leaderboard)
    if not board.rows:
        run.say("no site: there is no row on the board yet")
        return
    content = PageContent(board, run.inputs.to if "://" in run.inputs.to else "")
    done = publish_site(Site(content), run.inputs.site, run.opener)
    run.say(f"site {run.inputs.site}: {done.changed} files written, {done.removed} removed")


def keep_comment(run: Run, judgement: Judgement, compared: str) -> None:
    """Update the one comment on the pull request; a token that may not write causes a warning, and the verdict stays.

    `compared` is what is said about other rows and the declaration; a comment is opened where there is any.
    """
    number = run.trigger.number(run.source())
    if run.inputs.comment == "never" or number is None:
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
