"""A judgement as text of 80 columns for a terminal: for each row verdict, files, findings and scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from textwrap import wrap
from typing import Any, TypeVar

from msgspec.structs import replace
from typer import style

from bot.evaluation.finding import Finding, Severity, counted, examples, first_few, grouped
from bot.evaluation.identity import is_served
from bot.evaluation.join import verdicts_by_key
from bot.evaluation.measurement import coverage_of
from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import RowKey
from bot.evaluation.score import Scores
from bot.evaluation.submission import UnreadPath
from bot.evaluation.verdict import Judgement, Repair, Row, Verdict
from bot.reporting.escape import brief, cell, code, visible
from bot.reporting.report import summarize
from bot.reporting.shell import shell_lines
from bot.reporting.table import cut_front, table_width

WIDTH = 80
SCREEN = 40  # lines; a longer text is grouped by cause
ROWS_SHOWN, MESSAGES_SHOWN, NAMES_SHOWN, COLUMNS_SHOWN = 10, 2, 3, 10  # of a grouped text
COMMIT = 40  # letters of a whole one
OF_ONE_ROW = 6  # messages of one rule, all of which are shown
# How the hint of a command ends: with a version, what else must be measured, and what to add.
OF_COMMAND = re.compile(
    r"(?: \((?:lm-eval|[^\s()]+/[^\s()]+) [^()]*\)| with all other tasks: |; if the model needs its own code|:$).*"
)
REPLACED = "replaced by {file}; nothing needs to be done"
REPLACING = "Submit the new files in place of the old ones."
BESIDE = "Submit the new files beside the others, in the same folder; keep the old ones unless all is measured again."
ABOVE = "the command above does it"
CLONE = re.compile(r"(git clone \S+; cd \S+ && git checkout \S+ && )pip install .*? && ")  # as commands begin
COMMAND, GLUE = re.compile(r"`[^`]*`"), "\N{NO-BREAK SPACE}"
SIGNS = {"accepted": "✓", "incomplete": "◐", "rejected": "✗"}
COLOURS = {
    "accepted": "green",
    "incomplete": "yellow",
    "rejected": "red",
    "error": "red",
    "warning": "yellow",
    "notice": "cyan",
}
Advice = TypeVar("Advice", Finding, Repair)


class Ink:
    """Colours, where there is a terminal to show them."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def paint(self, text: str, what: str) -> str:
        """The text in the colour of a verdict or a severity."""
        return style(text, fg=COLOURS[what], bold=True) if self._colour else text

    def faint(self, text: str) -> str:
        """The text in grey."""
        return style(text, dim=True) if self._colour else text


def terminal_text(judgement: Judgement, ink: Ink, *, quiet: bool = False, whole: bool = False) -> str:
    """Every row with its files, then what no format reads, then the summary; `quiet` leaves all but findings out.

    A text of more than a screen is grouped by cause, unless the `whole` text is asked for.
    """
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    above: set[str] = set()
    parts = [terminal_row(row, files[row.key], ink, above, quiet=quiet) for row in judgement.rows]
    parts += [unreadable_text(verdict, ink) for verdict in judgement.unreadable]
    text = "\n".join([*parts, "\n".join([*_unread_lines(judgement), summary_line(judgement, ink), ""])])
    if whole or _height(text) <= SCREEN:
        return text
    by_cause = "\n".join([*_grouped_lines(judgement, ink, quiet=quiet), summary_line(judgement, ink), ""])
    return by_cause if _height(by_cause) < _height(text) else text


def _height(text: str) -> int:
    """How many lines a text has, where a command counts as one."""
    return text.count("\n") - text.count(" \\\n")


def _grouped_lines(judgement: Judgement, ink: Ink, *, quiet: bool) -> Iterator[str]:
    """A line for each of the first rows, then each rule's findings once, with how many there are and where."""
    folders = zip(*[verdict.path.split("/")[:-1] for verdict in judgement.verdicts], strict=False)
    folder = "/".join(parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, folders))
    names = _names(judgement.rows)
    yield from (_summary_of_row(row, ink, names[row.key]) for row in judgement.rows[:ROWS_SHOWN])
    if len(judgement.rows) > ROWS_SHOWN:
        yield f"… and {counted(len(judgement.rows) - ROWS_SHOWN, 'more row')}: check --format summary lists all"
    if len(judgement.rows) == 1 and not quiet:
        yield from ("", *(f"  {line}" for line in score_lines(judgement.rows[0].scores)))
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    spare = [(file, row) for row in judgement.rows for file in files[row.key] if is_spare(file, row)]
    for file, row in spare[:ROWS_SHOWN]:
        yield from ("", *_wrapped(f"{visible(file.path)}: {spare_said(file, row)}", "  ", "    "))
    if len(spare) > ROWS_SHOWN:
        yield f"  … and {counted(len(spare) - ROWS_SHOWN, 'more file')} that no row uses: check --all names each"
    named = _named_findings(judgement, f"{folder}/" if folder else "")
    commands: set[str] = set()
    causes = grouped(((finding.severity, finding.rule, noun), (name, finding)) for noun, name, finding in named)
    order = list(Severity)
    for cause, found in sorted(causes.items(), key=lambda one: (order.index(one[0][0]), -len(one[1]))):
        severity, rule, noun = cause
        extent = f"{counted(len(found), 'finding')} in {counted(len({name for name, _ in found}), noun)}"
        yield from ("", f"  {ink.paint(f'{severity}[{rule}]', severity)}{ink.faint(f'  {extent}')}")
        yield from _cause_lines(
            [(name, replace(one, hint=ABOVE, command="") if one.command in commands else one) for name, one in found],
            judgement,
            commands,
        )
    names = _names(judgement.rows, _what)
    asked = [(f"for {names[row.key]}: " * (len(names) > 1), row.repair) for row in judgement.rows if row.repair]
    without = [(whose, one) for whose, one in asked if not one.command]
    repairs = [(whose, one) for whose, one in asked if one.command]
    for whose, one in [*without[:ROWS_SHOWN], *repairs[:1]]:
        advice = in_one_clone(one, commands)
        yield from ("", *_repair_lines(replace(advice, hint=f"{whose}{advice.hint}")))
    if repairs[1:]:
        more = f"The commands of {counted(len(repairs) - 1, 'more row')}: check --all ends each row with its own."
        yield from ("", *_wrapped(more, "    ", "    "))
    yield from ("", *_unread_lines(judgement))
    below = f" Files are named from {visible(folder)}/ on." if folder else ""
    yield from _wrapped(f"This is grouped by rule; check --all shows each finding.{below}", "", "")


def _named_findings(judgement: Judgement, folder: str) -> Iterator[tuple[str, str, Finding]]:
    """Every finding with its subject: "file" and the path below the common folder, or "row" and its name."""
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    told = {file.path: findings_told(file, row) for row in judgement.rows for file in files[row.key]}
    for verdict in judgement.verdicts:
        findings = told.get(verdict.path, verdict.findings)
        yield from (("file", verdict.path.removeprefix(folder), finding) for finding in findings)
    names = _names(judgement.rows, _what)
    for row in judgement.rows:
        yield from (("row", names[row.key], finding) for finding in of_row_told(row))


def _names(rows: Sequence[Row], *more: Callable[[Row], str]) -> dict[RowKey, str]:
    """The models of rows by key; of several rows of one model with the revision, then with what `more` says of them."""
    names = {row.key: brief(row.model.id) or "(no model)" for row in rows}
    for part in (lambda row: row.model.revision and f"@{short_revision(row.model.revision)}", *more):
        often = Counter(names.values())
        names = {row.key: names[row.key] + (part(row) if often[names[row.key]] > 1 else "") for row in rows}
    return names


def short_revision(revision: str, letters: int = 12) -> str:
    """The first letters of a commit; the name of a branch or tag is whole, as its end may tell it from others."""
    return revision[:letters] if len(revision) == COMMIT else brief(revision)


def _cause_lines(found: Sequence[tuple[str, Finding]], judgement: Judgement, above: set[str]) -> Iterator[str]:
    """The most frequent messages of one rule with what to do, the columns, and the first names.

    `above` as in `advised_once`.
    """
    messages = Counter(finding.message for _, finding in found)
    is_short = len(judgement.rows) == 1 and len(messages) <= OF_ONE_ROW and found[0][1].is_error
    columns = "" if is_short else _columns(found, judgement)
    shown = messages.most_common(OF_ONE_ROW if is_short else 1 if columns else MESSAGES_SHOWN)
    names_of = {(one.message, one.hint, one.command): name for name, one in reversed(found)}
    told = grouped((message, (hint, command)) for message, hint, command in reversed(names_of) if hint)
    most, last = OF_ONE_ROW if len(judgement.rows) == 1 else 1, ""
    for advised, alike in grouped((tuple(told.get(message, ())), (message, count)) for message, count in shown).items():
        for message, count in alike:
            often = f"{count:,} times: " if 1 < count < len(found) and not columns else ""
            yield from _wrapped(f"{often}{visible(message)}", "    ", "    ")
        for hint, command in sorted(advised, key=lambda one: not one[1])[:most]:  # commands first
            is_of_one = len(advised) > 1 or (command and len(judgement.rows) > 1)
            whose = f"for {names_of[alike[0][0], hint, command]}: " if is_of_one else ""
            advice = in_one_clone(Repair(hint, command), above)
            said = f"{whose}{advice.hint}" if advice.hint else ""
            yield from _advice_lines(said if said != last else "", advice.command)
            above.update({command} - {""})
            last = said
        if advised[most:]:
            yield from _wrapped(f"and {len(advised) - most} more: check --all shows what to do in each", "    ", "    ")
    if len(messages) > len(shown) and not columns:
        yield f"    and {counted(len(messages) - len(shown), 'other message')}"
    yield from _wrapped(columns, "    ", "      ") if columns else ()
    names = list(dict.fromkeys(visible(name) for name, _ in found))
    yield from _wrapped(f"in {first_few(names, NAMES_SHOWN)}", "    ", "      ")


def _columns(found: Sequence[tuple[str, Finding]], judgement: Judgement) -> str:
    """The columns that the findings of one rule are about: first those of all that have it; "" for fewer than two."""
    counts = Counter(task for task, _ in {(finding.task, name) for name, finding in found if finding.task})
    if len(counts) < 2:
        return ""
    rows = len({name for name, _ in found})
    tasks = [task for task in judgement.leaderboard.tasks if task.id in counts]
    everywhere = [task.title for task in tasks if counts[task.id] >= rows]
    others = [f"{task.title} ({counts[task.id]:,})" for task in tasks if counts[task.id] < rows]
    parts = [f"in all of them: {examples(everywhere, COLUMNS_SHOWN)}"] if everywhere else []
    parts += [f"in some: {examples(others, COLUMNS_SHOWN)}"] if others else []
    return f"columns {'; '.join(parts)}"


def _unread_lines(judgement: Judgement) -> Iterator[str]:
    said = list(unread_said(judgement.unread))
    yield from (line for one in said for line in _wrapped(one, "", "  "))
    yield from [""] if said else []


def unread_said(unread: Iterable[UnreadPath]) -> Iterator[str]:
    """How many files of each kind are not read, and why; the keys of a file are named only if all have the same."""
    others = [one for one in unread if one.kind != "link"]  # which every command names
    kinds = grouped(((one.kind, one.why.partition("; its keys")[0]), one) for one in others)
    for (kind, why), found in sorted(kinds.items()):
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        said = found[0].why if len({one.why for one in found}) == 1 else why
        yield visible(f"not read: {found[0].path}{more} ({kind}): {said}")


def terminal_row(row: Row, files: list[Verdict], ink: Ink, above: set[str], *, quiet: bool = False) -> str:
    """One row; `files` are all submissions of its key, with their findings, `above` as in `advised_once`."""
    lines = [_headline(row, ink)]
    if not quiet:
        lines += [ink.faint(f"  {line}") for line in _circumstances(row)]
    told = {file.path: findings_told(file, row) for file in files}
    for file in files:
        lines += [ink.faint(f"  {line}") for line in _file_lines(file, row, quiet=quiet)]
        findings = advised_once(told[file.path], above)
        lines += [line for finding in findings for line in ("", *finding_lines(finding, ink))]
        lines += [""] if file.findings and file is not files[-1] else []
    for finding in advised_once(of_row := of_row_told(row), above):
        lines += ["", *finding_lines(finding, ink)]
    if row.repair is not None:
        lines += ["", *_repair_lines(in_one_clone(row.repair, above))]
    elif any(one.command and one.is_error for one in chain(*told.values(), of_row)):
        lines += ["", *_wrapped(BESIDE if row.files else REPLACING, "  ", "  ")]
    if not quiet and any(task.score is not None for task in row.scores.tasks):
        lines += ["", *(f"  {line}" for line in score_lines(row.scores))]
    return "\n".join(lines) + "\n"


def unreadable_text(verdict: Verdict, ink: Ink) -> str:
    """A submission that no format reads, and why."""
    lines = [f"{_sign(verdict.status, ink)}  no result", ink.faint(f"  {visible(verdict.path)}")]
    lines += [line for finding in verdict.findings for line in ("", *finding_lines(finding, ink))]
    return "\n".join(lines) + "\n"


def _sign(status: str, ink: Ink) -> str:
    return ink.paint(f"{SIGNS[status]} {status}", status)


def _headline(row: Row, ink: Ink) -> str:
    average = row.scores.average
    score = f"average {half_up(average, 2)}" if average is not None else "no average"
    return f"{_sign(row.status, ink)}  {brief(row.model.id) or '(no model)'}  {score}"


def _circumstances(row: Row) -> Iterator[str]:
    model, coverage = row.model, row.coverage
    template = {True: "chat template", False: "no chat template", None: "chat template not said"}[model.chat_template]
    if row.leaderboard.served_models and is_served(model) and not model.is_mapped:
        version = f"measured {brief(model.revision) or 'on an unknown day'}"  # which stands in the revision's place
    else:
        version = (
            f"{brief(model.precision) or 'unknown precision'}, revision {short_revision(model.revision) or 'unknown'}"
        )
    yield f"{version}, {template}"
    count = f" from {len(row.files)} files" if len(row.files) > 1 else ""
    yield f"{coverage.present} of {coverage.required} subtasks for {row.leaderboard.id}{count}"


def _file_lines(file: Verdict, row: Row, *, quiet: bool) -> Iterator[str]:
    """A file with its format, its harness and what it brings."""
    yield visible(file.path)
    if quiet or file.result is None or file.measurements is None:
        return
    harness = file.result.harness
    version = brief(harness.version or harness.git_hash or "commit unknown")
    count = coverage_of(file.measurements, file.leaderboard).present
    brings = f", {count} subtask{'s' * (count != 1)}" if len(row.files) > 1 else ""
    is_unused = row.files and file.path not in {one.path for one in row.files}
    spare = is_spare(file, row)
    yield f"  {file.parsed.format}, {harness.name} {version}{brings}{', not used' if is_unused and not spare else ''}"
    yield from _wrapped(spare_said(file, row), "  ", "    ") if spare else ()


def is_spare(file: Verdict, row: Row) -> bool:
    """Tell whether a rejected file stands beside an accepted row that has no number from it."""
    return row.status == "accepted" and row.does_without(file) and file.path not in {one.path for one in row.files}


def findings_told(file: Verdict, row: Row) -> Sequence[Finding]:
    """The findings of a file; those of one that no row needs say nothing of repairs."""
    told, is_unneeded = [], is_spare(file, row) or row.is_unneeded
    for one in file.findings:
        if one.is_error and (path := row.replaced_by(file, one)):
            told.append(replace(one, hint=REPLACED.format(file=path), command=""))
        else:
            told.append(replace(one, hint="", command="") if is_unneeded else _told(one, row))
    return told


def of_row_told(row: Row) -> Sequence[Finding]:
    """The findings of a row."""
    return [replace(one, hint="", command="") if row.is_unneeded else _told(one, row) for one in row.findings]


def _told(finding: Finding, row: Row) -> Finding:
    """A finding without its command, where the one list of the row's commands has what it asks for."""
    if row.repair is None or not (finding.command and finding.is_error):
        return finding
    return replace(finding, hint=f"{OF_COMMAND.sub('', finding.hint)}, by the commands at the end", command="")


def _repair_lines(repair: Repair) -> Iterator[str]:
    yield from _advice_lines(repair.hint, repair.command)
    yield from _wrapped(where_to(repair), "    ", "    ") if repair.command else ()


def where_to(repair: Repair) -> str:
    """Where the files of a repair's commands go."""
    return REPLACING if repair.is_whole else BESIDE


def advised_once(findings: Iterable[Finding], above: set[str]) -> Iterator[Finding]:
    """The findings; those with the command or the clone of an earlier one say so.

    `above` has the commands and clones that were said before, and gets those of the findings.
    """
    for one in findings:
        yield replace(one, hint=ABOVE, command="") if one.command in above else in_one_clone(one, above)
        above |= {one.command} - {""}


def in_one_clone(one: Advice, above: set[str]) -> Advice:
    """Advice without the clone and the installation that a command makes which was said before, as `above` has them."""
    found = CLONE.match(one.command)
    if found is None:
        return one
    clone, whole = found[1], found[0]
    is_there, is_installed = clone in above, whole in above
    above |= {clone, whole}
    if not is_there:
        return one
    command = one.command[len(whole if is_installed else clone) :]
    return replace(one, hint=f"{one.hint.removesuffix(':')}, in the clone above:", command=command)


def spare_said(file: Verdict, row: Row) -> str:
    """Why a file is not used that an accepted row does without, and what to do with it: one that is newer may count."""
    files = examples([visible(one.path) for one in row.files])
    do = "mend it, so that the newer numbers count, or delete it" if row.would_take(file) else "you may delete it"
    return f"not used: the row has its numbers from {files}; {do}"


def finding_lines(finding: Finding, ink: Ink) -> Iterator[str]:
    """One finding: rule and line, message, and what to do; a command is not wrapped, but copied as it is."""
    line = f"  line {finding.location.line}" if finding.location.line else ""
    yield f"  {ink.paint(f'{finding.severity}[{finding.rule}]', str(finding.severity))}{ink.faint(line)}"
    yield from _wrapped(visible(finding.message), "    ", "    ")
    yield from _advice_lines(finding.hint, finding.command)


def _advice_lines(hint: str, command: str) -> Iterator[str]:
    if hint:
        yield from _wrapped(f"→ {visible(hint)}", "    ", "      ")
    if command:
        yield from (f"      {line}" for line in shell_lines(visible(command)))


def _wrapped(text: str, first: str, others: str) -> list[str]:
    """Lines of a text; neither a name nor a path is parted, nor a command, which stands between backticks."""
    whole = COMMAND.sub(lambda match: match[0].replace(" ", GLUE), text)
    lines = wrap(
        whole, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False, break_long_words=False
    )
    return [line.replace(GLUE, " ") for line in lines]


def score_lines(scores: Scores) -> Iterator[str]:
    """The columns: raw value and score of each task, and their mean."""
    width = max(len(title) for title in [one.title for one in scores.tasks] + [one.title for one in scores.groups])
    yield f"{'':{width}}  {'raw':>8}  {'score':>7}  {'stderr':>6}"
    for task in scores.tasks:
        raw, error = _cell(task.raw, "8.4f"), _cell(task.stderr, "6.2f")
        yield f"{task.title:{width}}  {raw}  {_cell(task.score, '7.2f')}  {error}"
    for group in scores.groups:
        yield f"{group.title:{width}}  {'':8}  {_cell(group.score, '7.2f')}  {_cell(group.stderr, '6.2f')}"
    yield f"{'Average':{width}}  {'':8}  {_cell(scores.average, '7.2f')}  {_cell(scores.stderr, '6.2f')}"


def _cell(value: float | None, form: str) -> str:
    width, _, digits = form.removesuffix("f").partition(".")
    return f"{cell(value, int(digits)):>{width}}"


def summary_text(judgement: Judgement, ink: Ink) -> str:
    """A line for each row and each submission that no format reads, then the summary."""
    names = _names(judgement.rows)
    lines = [_summary_of_row(row, ink, names[row.key]) for row in judgement.rows]
    lines += [f"{_sign('rejected', ink)}      –  {visible(verdict.path)}" for verdict in judgement.unreadable]
    return "\n".join([*lines, summary_line(judgement, ink)]) + "\n"


def _what(row: Row) -> str:
    template = ", chat template" if row.model.chat_template else ""
    return f"  {brief(row.model.precision) or 'unknown precision'}{template}"


def _summary_of_row(row: Row, ink: Ink, name: str) -> str:
    average = row.scores.average if row.status != "rejected" else None
    coverage = row.coverage
    what = _what(row)
    padding = " " * (len("incomplete") - len(row.status))
    numbers = f"{padding}  {_cell(average, '6.2f')}  {coverage.present}/{coverage.required}  "
    room = table_width() - len(f"{SIGNS[row.status]} {row.status}{numbers}{what}")
    return f"{_sign(row.status, ink)}{numbers}{cut_front(name, room)}{what}"


def summary_line(judgement: Judgement, ink: Ink) -> str:
    """One line over everything: how many rows of each verdict, from how many files, and what was not read."""
    counts = summarize(judgement)
    parts = [ink.paint(f"{counts[status]} {status}", status) for status in SIGNS if counts[status]]
    rows, files = len(judgement.rows), len({verdict.parsed.file for verdict in judgement.verdicts})
    files_of = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    pairs = [(file, row) for row in judgement.rows for file in files_of[row.key]]
    replaced = sum(one.is_error for file, row in pairs for one in file.findings if row.replaced_by(file, one))
    found = [finding for verdict in judgement.verdicts for finding in verdict.findings]
    errors = sum(finding.is_error for finding in [*found, *(f for row in judgement.rows for f in row.findings)])
    unread = (
        f"; not read: {', '.join(f'{n} {kind}' for kind, n in counts['unread'].items())}" if counts["unread"] else ""
    )
    return (
        f"{counted(rows, 'row')} from {counted(files, 'file')}: {', '.join(parts) or 'nothing'};"
        f" {counted(errors - replaced, 'error')}{f', {replaced} replaced' if replaced else ''}{unread}"
    )


def sample_text(logs: Sequence[Mapping[str, Any]]) -> str:
    """What the sample logs beside each submission show, see `sample_logs`."""
    lines = []
    for one in logs:
        count = sum(log["samples"] for log in one["logs"])
        scored = sum(bool(log["rescored"]) for log in one["logs"])
        lines.append(f"{visible(one['path'])}: {counted(len(one['logs']), 'sample log')}, {counted(count, 'sample')}; "
                     f"the answers of {counted(scored, 'log')} were scored again")  # fmt: skip
        lines += [f"  {found['severity']} {found['rule']}: {visible(found['message'])}" for found in one["findings"]]
    return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""


def sample_markdown(logs: Sequence[Mapping[str, Any]]) -> str:
    """What `sample_text` says, as a list in Markdown."""
    lines = sample_text(logs).split("\n")
    return "".join(f"{'  ' * line.startswith(' ')}- {code(line.strip())}\n" if line else "\n" for line in lines[:-1])
