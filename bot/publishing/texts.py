"""The texts that the bot posts at a target: titles and Markdown, each with its hidden mark at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bot import HOME
from bot.evaluation.finding import counted, first_few
from bot.evaluation.rounding import half_up
from bot.evaluation.verdict import Judgement
from bot.publishing.addresses import evidence_url, model_url, target_url
from bot.publishing.board import TIE
from bot.publishing.changes import column_changes
from bot.publishing.compared_rows import beside_line, change_lines
from bot.publishing.entry import Entry, Evidence, Remark
from bot.publishing.layout import CellChange, Draft, is_absent
from bot.publishing.plan import Plan, PlannedRow, average_change
from bot.publishing.publication import Marker, PostText, Request, json_block
from bot.publishing.repeat import declaration_name, explain_command, label_of, when_kept
from bot.reporting.escape import brief, cell, code, code_in_table, in_title, visible, without_references
from bot.reporting.markdown import judgement_markdown
from bot.reporting.prose import escaped
from bot.reporting.report import summarize
from bot.reporting.scores import value_text
from bot.reporting.text import BESIDE

if TYPE_CHECKING:
    from bot.audits.board.audit import BoardAudit

COMMIT = re.compile(r"[0-9a-f]{40}")
STOP = f"([how to stop it]({HOME}/blob/main/docs/hub.md#when-it-should-stop))."
FOOT = (
    f"[leaderboard-bot]({HOME}) wrote this for whoever runs this account, and edits it when the result files change "
    f"{STOP}"
)
VERDICT_FOOT = f"[leaderboard-bot]({HOME}) keeps this comment up to date with what is pushed here {STOP}"

TITLE_LIMIT, BODY_LIMIT = 200, 65_536  # characters; the Hub's and, for the body, GitHub's
CUT = 200  # characters of room for the words that say so
ROOM_FOR_NOTES = 2_000  # characters of room for sentences about the watch and for the commits of others
FIRST_SUBMITTED = "This row was first submitted in "
FIRST_NAMED = re.compile(rf"^\*\*{FIRST_SUBMITTED}`([^`\n]+)`, from other files", re.MULTILINE)
COUNTED = " Counted when this was proposed."
RANK = re.compile(rf"^Rank .*{re.escape(COUNTED)}$", re.MULTILINE)
DECLARATION_CHANGES = (
    "This request also changes {path}, the declaration by which results are judged:"
    " look at that change before you trust the verdict."
)
PUSHES = 5  # commits of others that a request's text names
PUSHED = "Others pushed to this request:"
PLAN_ROWS_NAMED, SHARED_ROWS_NAMED = 500, 200  # rows of a plan, and of a request for many, that a text names
SHARED_WARNINGS = 20  # of the rows of a request for many
CHANGE = 300  # characters of the changed cells of one row
FILES = 10  # of a row's evidence that a text names
CELLS = 500  # of a table's request that a text shows
REMARKS = 50  # of a table's request that a text names


def request_text(
    entry: Entry,
    current: Entry | None,
    mark: Marker,
    *,
    target: str = "",
    first: str = "",
    is_commit: bool = False,
    beside: Sequence[Entry] = (),
    rank: str = "",
) -> PostText:
    """The text of a request, or of a commit, that adds or changes one row at a target.

    `first` is another first submitter's folder, `beside` are other rows of the model at the target, `rank` is the
    line of `rank_line` or "".
    """
    verb = "Add" if current is None else "Update"
    title = f"{verb} {_name(entry)}: {_average(entry)}"
    said = _said_of(entry, current, beside, rank)
    body = _body(entry, current, target, said, [] if is_commit else _next_steps(current, target))
    if not first:
        return fitted(title, body, mark)
    notice = f"**{FIRST_SUBMITTED}{code(first)}, from other files than those of this change.** "
    notice += "Merge it only if both measure the same model."
    return fitted(f"{title}, first submitted in {visible(first)}", f"{notice}\n\n{body}", mark)


def _next_steps(current: Entry | None, target: str) -> list[str]:
    """What merging and closing a request mean."""
    change = "add the row to" if current is None else "change the row of"
    url = target_url(target)
    board = f"[the board]({url})" if url else "the board"
    close = "**Close** it to decline: these numbers of these files are not proposed again, others are."
    return ["", f"**Merge** this to {change} {board}. {close}"]


def rank_line(sentence: str) -> str:
    """The line about where a row would stand on the board, made of its `proposed_rank`; "" for a row without rank."""
    return f"{sentence}{COUNTED}" if sentence else ""


def rank_line_in(text: PostText) -> str:
    """The line about the rank in the text of a request, "" if it has none."""
    found = RANK.search(text.body)
    return found[0] if found else ""


def first_named_in(text: PostText) -> str:
    """The folder of another first submitter that the text of a request names, "" if it names none."""
    found = FIRST_NAMED.search(text.body)
    return found[1] if found else ""


def row_text(entry: Entry, current: Entry | None, mark: Marker, target: str = "") -> PostText:
    """The text of a comment for boards whose rows people enter by hand: the row, ready to be copied."""
    fold = ["", "<details><summary>The row as JSON</summary>", "", *json_block(entry), "", "</details>"]
    return fitted(
        f"{_name(entry)}: {_average(entry)}", _body(entry, current, target, _said_of(entry, current), fold), mark
    )


KEY_OF_FILE, KEY_OF_TABLE = "is the path of its file without `entries/` and `.json`", "stands above its cells"


def shared_steps(key: str = KEY_OF_FILE, *, is_discussed: bool) -> str:
    """What merging and closing a request of many rows mean, and where people can comment how one row is left out.

    `key` says where people find the key of a row.
    """
    steps = (
        "**Merge** this to make these changes on the board. **Close** it to decline them: these numbers are not "
        "proposed again, other numbers of their files are."
    )
    one = f"A maintainer leaves out one row by the comment `/decline KEY`, where KEY {key}."
    return f"{steps} {one}" if is_discussed else steps


def rolling_text(rows: Sequence[tuple[Entry | None, Entry | None]], mark: Marker, steps: str = "") -> PostText:
    """The text of one request for many rows, each as it stands and as it should be; None if it is not there.

    `steps` says what merging and closing mean, "" for a commit.
    """
    lines = ["| Model | Average before and after | File |", "| --- | ---: | --- |"]
    lines += [_shared_line(old, new) for old, new in rows[:SHARED_ROWS_NAMED]]
    more = f"… and {len(rows) - SHARED_ROWS_NAMED} more." if len(rows) > SHARED_ROWS_NAMED else ""
    head = f"{counted(len(rows), 'row')} of {code(mark.leaderboard)}."
    warned = [f"- {code(new.model.id)}: {_warning(one)}" for _, new in rows if new for one in new.warnings]
    hidden = len(warned) - SHARED_WARNINGS
    warnings = [*warned[:SHARED_WARNINGS], *([f"- … and {counted(hidden, 'more warning')}"] if hidden > 0 else [])]
    parts = [*_paragraph(steps), *lines, "", *_paragraph(more), *_paragraph("\n".join(warnings))]
    body = "\n".join([head, "", *parts, FOOT])
    if not rows:
        body = f"The table of {code(mark.leaderboard)}, made again from the rows on the main branch.\n\n{FOOT}"
    removed, added = sum(new is None for _, new in rows), sum(old is None and new is not None for old, new in rows)
    return fitted(_shared_title(mark, added, len(rows) - added - removed, removed), body, mark)


def import_text(count: int, source: str, mark: Marker) -> PostText:
    """The text of the commits, or of the one request, that fill a board; `count` is how many rows are proposed."""
    body = (
        f"{counted(count, 'row')} of {code(mark.leaderboard)}, made from the result files of {code(source)}.\n\n{FOOT}"
    )
    return fitted(f"Import the rows of {mark.leaderboard}", body, mark)


def _paragraph(text: str) -> list[str]:
    return [text, ""] if text else []


def _shared_line(old: Entry | None, new: Entry | None) -> str:
    known = new or old
    shown = _with_error(new.average, new.stderr) if new is not None else "removed"
    shown = shown if old is None else f"{cell(old.average, 2)} → {shown}"
    shown = "; ".join([shown, *(map(str, column_changes(old, new)) if old and new else ())])
    name = code_in_table(known.model.id if known else "unreadable")
    page = model_url(known.model.id) if known else ""
    name = f"[{name}]({page})" if page else name
    return f"| {name} | {shown} | {_first_file(new) if new is not None else ''} |"


def _first_file(entry: Entry) -> str:
    """The newest file of a row, as a link if it has a page, and the number of the others."""
    if not entry.evidence:
        return ""
    file, more = entry.evidence[0], len(entry.evidence) - 1
    url = evidence_url(file)
    link = f"[{code_in_table(file.path.rpartition('/')[2])}]({url})" if url else code_in_table(file.path)
    return link + (f" and {more} more" if more else "")


def _shared_title(mark: Marker, added: int, changed: int, removed: int = 0) -> str:
    """How many rows are added, changed and removed."""
    verbs = (("add", added), ("update", changed), ("remove", removed))
    parts = [f"{verb} {counted(count, 'row')}" for verb, count in verbs if count]
    title = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "update the table"
    return f"{title[0].upper()}{title[1:]} of {mark.leaderboard}"


def migration_text(planned: Sequence[PlannedRow], mark: Marker, steps: str = "") -> PostText:
    """The text of the one request for the rows that a changed declaration, or a newer bot, scores otherwise."""
    lines = ["| Row | Average before and after | Reason |", "| --- | ---: | --- |"]
    rows = [row for action in ("changed", "removed") for row in planned if row.action == action]
    lines += [
        f"| {code_in_table(row.key)} | {_shown_change(row)} | {escaped(row.reason)} |" for row in rows[:PLAN_ROWS_NAMED]
    ]
    more = f"… and {len(rows) - PLAN_ROWS_NAMED} more." if len(rows) > PLAN_ROWS_NAMED else ""
    head = f"The declaration of {code(mark.leaderboard)} changed. No result was measured again."
    body = "\n".join([head, "", *_paragraph(steps), *lines, "", *_paragraph(more), FOOT])
    return fitted(f"Score {counted(len(rows), 'row')} of {mark.leaderboard} again", body, mark)


def _shown_change(row: PlannedRow) -> str:
    """The change of a row for a table; cells hold what others wrote."""
    return code_in_table(brief(row.values, CHANGE)) if row.values else average_change(row)


def plan_done_text(mark: Marker) -> PostText:
    """The text of the comment if no plan waits any more."""
    said = f"No plan of {code(mark.leaderboard)} waits for a maintainer. {_source_of(mark)}"
    return fitted("No plan waits", f"{said}\n\n{FOOT}", mark)


def _source_of(mark: Marker) -> str:
    """Which source a plan is about; a board may have several."""
    return f"Source: {code(label_of(mark.key.partition(' from ')[2]))}."


def _answers(plan: Plan, *, is_discussed: bool) -> tuple[str, str]:
    """How a maintainer says yes and no to a plan: by a comment, or where nobody can by a command."""
    yes, no = ("restore", "drop") if plan.having("restored") else ("approve", "decline")
    if is_discussed:
        return f"`/{yes} {plan.digest}`", f"`/{no} {plan.digest}`"
    return f"`leaderboard-bot settle --approve {plan.digest}`", f"`leaderboard-bot settle --decline {plan.digest}`"


def plan_text(plan: Plan, mark: Marker, *, is_discussed: bool = True, is_declined: bool = False) -> PostText:
    """The comment about a plan that waits for a maintainer, or that one declined.

    Where nobody can answer it in a discussion, it names the commands of a terminal.
    """
    changed, removed, taken = (len(plan.having(action)) for action in ("changed", "removed", "restored"))
    yes, no = _answers(plan, is_discussed=is_discussed)
    does, here = ("writes", " here") if is_discussed else ("runs", "")
    head = (
        f"{counted(removed, 'row')} would be removed and {changed} changed, which the settings do not allow without "
        f"approval. Nothing changes until a maintainer {does} {yes}{here}; {no} leaves the rows as they are."
    )
    if taken:
        head = (
            f"{counted(taken, 'row')} of this source left the main branch, and the bot did not take them away. "
            f"A maintainer decides: {yes} proposes them again, {no} lets them go. "
            f"With them {counted(removed, 'row')} would be removed and {changed} changed."
        )
    if is_declined:
        head = f"A maintainer declined the plan `{plan.digest}`: its rows stay as they are."
    head += f" {_source_of(mark)}"
    reasons = [f"- {counted(count, 'row')}: {escaped(reason)}" for reason, count in plan.reasons.items()]
    rows = plan.having("restored") + plan.having("removed") + plan.having("changed")
    what = "Values" if any(row.values for row in rows) else "Average"
    lines = [f"| Row | Action | {what} before and after |", "| --- | --- | ---: |"]
    lines += [f"| {code_in_table(row.key)} | {row.action} | {_shown_change(row)} |" for row in rows[:PLAN_ROWS_NAMED]]
    more = [f"… and {len(rows) - PLAN_ROWS_NAMED} more."] if len(rows) > PLAN_ROWS_NAMED else []
    body = "\n".join([head, "", *reasons, "", *lines, "", *more, FOOT])
    return fitted(
        f"Held: {counted(removed, 'row')} of {mark.leaderboard} to be removed, {changed} to be changed", body, mark
    )


def withdrawn_text(entry_path: str, mark: Marker, reason: str = "", *, is_request: bool = False) -> PostText:
    """The text of a request, a commit or a comment that takes a row away, with the reason where it is known."""
    why = f"{_no_submission(entry_path)}{f': {escaped(reason)}' if reason else ''}."
    steps = "**Merge** this to take the row off the board. **Close** it to keep the row as it is." if is_request else ""
    return fitted(f"Remove {mark.key}", "\n".join([why, "", *_paragraph(steps), FOOT]), mark)


def says_withdrawn(text: PostText, entry_path: str) -> bool:
    """Tell whether a text says already that a row goes, and maybe why."""
    return text.body.startswith(_no_submission(entry_path))


def _no_submission(entry_path: str) -> str:
    return f"No submission makes {code(entry_path)} any more"


def board_text(mark: Marker) -> PostText:
    """The text of the discussion that holds one comment for each row, or of that about columns."""
    if mark.kind == "plan":
        title = f"Plans of {mark.leaderboard} that wait for a maintainer"
        return fitted(
            title,
            f"One comment for each source shows the plan that waits. The bot edits it when the plan changes.\n\n{FOOT}",
            mark,
        )
    if mark.kind == "alarm":
        title = f"Columns of {mark.leaderboard} that do not follow the rest"
        return fitted(title, f"One comment names the columns. The bot edits it when they change.\n\n{FOOT}", mark)
    said = f"Rows of {code(mark.leaderboard)}, one comment for each. The bot edits the comment when its row changes."
    return fitted(f"Rows of {mark.leaderboard}", f"{said}\n\n{FOOT}", mark)


def alarm_mark(leaderboard: str) -> Marker:
    """The mark of the one comment about a leaderboard's columns."""
    return Marker("alarm", f"columns of {leaderboard}", leaderboard)


def alarm_text(audit: BoardAudit, target: str, mark: Marker) -> PostText:
    """The findings of a board's audit, or that it names no column any more."""
    from bot.audits.board.report import board_markdown  # `check` starts without the audits

    named = ", ".join(audit.named) or "none"
    lead = f"Judged by the rows at {code(target)}; `leaderboard-bot audit board` shows every figure."
    return fitted(
        f"Columns that do not follow the rest: {named}", f"{lead}\n\n{board_markdown(audit, target)}\n\n{FOOT}", mark
    )


def judgement_text(judgement: Judgement, mark: Marker, compared: str = "") -> PostText:
    """The one comment on a pull request: every row and every file that is not read, the worst first.

    `compared` is Markdown that says how the rows differ from others; it comes before them.
    """
    title = f"Results for {mark.leaderboard}"
    if not judgement.verdicts:
        return fitted(
            title, f"No result file for {code(mark.leaderboard)} changes here any more.\n\n{VERDICT_FOOT}", mark
        )
    counts = summarize(judgement)
    order = ("rejected", "incomplete", "accepted")
    head = f"{code(mark.leaderboard)}: " + ", ".join(f"{counts[status]} {status}" for status in order if counts[status])
    where = [BESIDE, ""] if judgement.has_errors and not any(row.repair for row in judgement.rows) else []
    said = [compared, ""] if compared else []
    body = "\n".join([head, "", *said, judgement_markdown(judgement), *where, VERDICT_FOOT])
    return fitted(title, body, mark)


def with_notes(text: PostText, notes: Sequence[str], request: Request | None = None) -> PostText:
    """The text with sentences about the watch, as Markdown, and with what others pushed."""
    pushes = request.pushes if request is not None else ()
    more = [*notes]
    if pushes:
        shown = ", ".join(f"{code(one.oid[:12])} by {code(brief(one.author, 60))}" for one in pushes[-PUSHES:])
        more += [f"**{PUSHED}** {shown}. The bot checked the rows above, and no other change of these commits."]
    if not more:
        return text
    said, _, mark = text.body.rpartition("\n\n")
    return PostText(text.title, "\n\n".join([said, *more, mark]))


def fitted(title: str, body: str, mark: Marker) -> PostText:
    """A text within the limits of Hub and GitHub: cut at the end of a line, what is open closed, the mark last."""
    last = f"\n\n{mark.render()}"
    room = BODY_LIMIT - ROOM_FOR_NOTES - len(last)
    if len(body) > room:
        kept = body[: room - CUT].rpartition("\n")[0]
        kept += "\n```" if sum(line.lstrip().startswith("```") for line in kept.split("\n")) % 2 else ""
        kept += "\n\n</details>" * (kept.count("<details>") - kept.count("</details>"))
        body = f"{kept}\n\n… cut: there is more than a comment can hold."
    title = without_references(visible(title))
    title = title if len(title) <= TITLE_LIMIT else f"{title[: TITLE_LIMIT - 1]}…"
    return PostText(title, body + last)


def commit_message(text: PostText) -> str:
    """The text for a commit, in which nothing of a submitter can close an issue or skip a run."""
    return without_references(f"{text.title}\n\n{text.body}\n")


def _name(entry: Entry) -> str:
    template = ", chat template" if entry.model.chat_template else ""
    return f"{in_title(entry.model.id)} ({in_title(entry.model.precision) or 'unknown precision'}{template})"


def _average(entry: Entry) -> str:
    if entry.average is not None:
        return str(half_up(entry.average, 2))
    return f"incomplete, {len(entry.coverage.missing)} of {entry.coverage.required} subtasks missing"


def _body(entry: Entry, current: Entry | None, target: str, said: Sequence[str], extra: Sequence[str] = ()) -> str:
    """The scores of a row, what is `said` of them, where they come from, and what is `extra`."""
    lines = [
        f"{_model(entry)}, on {code(entry.leaderboard.id)}.",
        "",
        *_scores(entry, current),
        "",
        *said,
        *_coverage(entry),
        *_warnings(entry),
        evidence_line(entry),
        *_evidence(entry, target),
        *extra,
        "",
        FOOT,
    ]
    return "\n".join(lines)


def _said_of(entry: Entry, current: Entry | None, beside: Sequence[Entry] = (), rank: str = "") -> list[str]:
    """The rank of a row, and how it differs from the earlier row, or from another row of its model."""
    if current is not None:
        return [*_paragraph(rank), *change_lines(current, entry), ""]
    other = beside_line(entry, beside) if beside else ""
    return [*_paragraph(rank), *_paragraph(other)]


def _model(entry: Entry) -> str:
    """The model as a link to its page on the Hub, at the revision where that is a commit; text for another name."""
    model, revision, day = entry.model.id, entry.model.revision, entry.model.day
    said = f"measured on {day}" if day else f"revision {code(revision or 'unknown')}"
    page = model_url(model)
    if not page:
        return f"{code(model)}, {said}"
    return f"[{code(model)}]({page}{f'/tree/{revision}' if COMMIT.fullmatch(revision) else ''}), {said}"


def _with_error(score: float | None, stderr: float | None) -> str:
    """A score with 1.96 standard errors, if they are known."""
    return cell(score, 2) + ("" if score is None or stderr is None else f" ± {half_up(TIE * stderr, 2)}")


def _scores(entry: Entry, current: Entry | None) -> Iterator[str]:
    """The table of scores; beside a standing row also what changes."""
    before = {task.id: task.score for task in current.tasks} if current else {}
    yield "| Task | Raw | Score ± 95 % |" + (" Before | Change |" if current else "")
    yield "| --- | ---: | ---: |" + (" ---: | ---: |" if current else "")
    for task in entry.tasks:
        line = f"| {task.title} | {cell(task.raw, 4)} | {_with_error(task.score, task.stderr)} |"
        yield line + (_change(task.score, before.get(task.id)) if current else "")
    left = {task.id for task in entry.tasks}
    for task in current.tasks if current else ():
        if task.id not in left:
            yield f"| {task.title}, not on the board any more | | – | {cell(task.score, 2)} | – |"
    line = f"| **Average** | | **{_with_error(entry.average, entry.stderr)}** |"
    yield line + (_change(entry.average, current.average) if current else "")
    were = {one.id: one for one in current.columns} if current else {}
    for column in entry.columns:
        line = f"| {column.name}, which does not count | {value_text(column)} | |"
        yield line + (f" {value_text(were.get(column.id))} | |" if current else "")


def _change(now: float | None, before: float | None) -> str:
    change = "–" if now is None or before is None else f"{half_up(now - before, 2):+}"
    return f" {cell(before, 2)} | {change} |"


def _coverage(entry: Entry) -> Iterator[str]:
    if entry.coverage.missing:
        names = first_few(list(map(code, entry.coverage.missing)), 10)
        yield f"**Incomplete:** {names} missing. The row has no average and no rank until nothing is missing."
        yield ""


def _warnings(entry: Entry) -> Iterator[str]:
    yield from (f"- {_warning(remark)}" for remark in entry.warnings)
    if entry.warnings:
        yield ""


def _warning(remark: Remark) -> str:
    return f"**warning** `{remark.rule}`: {code(remark.message)}"


def evidence_line(entry: Entry) -> str:
    """What a row rests on, in one word, and what that does not show."""
    shows, does_not_show = entry.shown
    return f"- Rests on **{entry.rests_on}**: {shows}. That does not show {does_not_show}."


def _evidence(entry: Entry, target: str) -> Iterator[str]:
    """Where the numbers come from, and how to look at them again."""
    yield from _files(entry)
    if len(entry.evidence) == 1:
        later = when_kept(declaration_name(entry.leaderboard, [target]))
        yield f"- Check it: {code(explain_command(entry.evidence, entry.leaderboard, target))}"
        yield from [f"  {later}"] if later else []


def _files(entry: Entry) -> Iterator[str]:
    """The first files one by one, and how many more there are."""
    yield from (_file(file) for file in entry.evidence[:FILES])
    if len(entry.evidence) > FILES:
        yield f"- and {len(entry.evidence) - FILES} more files, which the entry names"


def _file(file: Evidence) -> str:
    where = f" in {code(label_of(file.source))}" if file.source.strip("./") else ""  # `..` says nothing to a reader
    commit = f" at {code(file.commit)}" if file.commit else ""
    known = filter(None, (file.harness.version, file.harness.git_hash))
    harness = " commit ".join(map(code, known)) or code("version unknown")
    dated = f", dated {file.date}" if file.date else ""
    url = evidence_url(file)
    place = f"[{code(file.path)}]({url}){where}{commit}" if url else f"{code(file.path)}{where}{commit}"
    return f"- File: {place}, SHA-256 {code(file.sha256)}, {code(file.harness.name)} {harness}{dated}"


OTHER_NAME = (
    "Where the table has a new row already, by another name, write that name into `names` of its column in `bot.toml`: "
    "the bot then keeps to that row."
)


def table_text(
    draft: Draft, remarks: Sequence[str], mark: Marker, steps: str = "", entries: Mapping[str, Entry] | None = None
) -> PostText:
    """The text for the rows of a draft, each with its cells; what `entries` has is said as in a row's own request.

    `remarks` are Markdown and come first, `steps` as in `rolling_text`.
    """
    lines, room = list[str](), CELLS
    for key, cells in sorted(draft.cells.items()):
        entry = (entries or {}).get(key)
        lines += _cells_of(key, cells[:room], _first_file(entry) if entry else "") if room > 0 else []
        lines += [*_warnings(entry), evidence_line(entry), *_files(entry), ""] if entry and room > 0 else []
        room -= len(cells)
    more = f"… and {-room} more cells." if room < 0 else ""
    rows = counted(len(draft.cells), "row")
    said = [*remarks, *(f"- {remark}" for remark in draft.remarks[:REMARKS])]
    if len(draft.remarks) > REMARKS:
        said.append(f"- and {len(draft.remarks) - REMARKS} more remarks")
    parts = [f"{rows} of {code(mark.leaderboard)}; all other rows stay as they are.", "", *lines, *_paragraph(more)]
    parts += ["**A person has to check:**", "", *said, ""] if said else []
    added = sum(map(is_absent, draft.cells.values()))
    parts += [*_paragraph(OTHER_NAME if added else ""), *_paragraph(steps), FOOT]
    return fitted(_shared_title(mark, added, len(draft.cells) - added), "\n".join(parts), mark)


def _cells_of(key: str, cells: Sequence[CellChange], file: str) -> list[str]:
    """A row: its key, whether it is new, its file, and a table of its cells."""
    is_new = is_absent(cells)
    head = f"**{'New' if is_new else 'Changed'}:** {code(key)}{file and f', from {file}'}"
    columns = ["Cell", "New"] if is_new else ["Cell", "Before", "After"]
    lines = [head, "", f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    for one in cells:
        before = [] if is_new else ["new" if one.before is None else code_in_table(brief(one.before))]
        lines.append(f"| {' | '.join([code_in_table(brief(one.column)), *before, code_in_table(brief(one.after))])} |")
    return [*lines, ""]


def disputed_remark(entry: Entry, first: str) -> str:
    """The remark about a row that another folder submitted first."""
    name = code(entry.model.id)
    return f"- {name} was first submitted in {code(first)}, from other files than those of this change"


def below_text(rows: int) -> str:
    """Say that rows have no place in a table that shows the first ones alone."""
    return f"{counted(rows, 'row')} below the first ones, which are all that the table shows"


def renamed_text(key: str, names: Mapping[str, str]) -> str:
    """What to say of a row to which a person gave another name, by its columns."""
    said = ", ".join(f"{code(name)} in {code(column)}" for column, name in names.items())
    return f"{code(key)} is there as {said}, and stays so; `names` of that column in `bot.toml` keeps it for good"


def adopted_line(count: int) -> str:
    """The sentence about rows that the table has already, and whose entries are stored with this change."""
    return f"The entries of {counted(count, 'row')} that are right already are stored beside the table, too."
