"""Every sentence the bot says at a target: entries and findings in, titles and Markdown out, the hidden mark last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot import HOME
from bot.audits.board.audit import BoardAudit
from bot.audits.board.report import board_markdown
from bot.evaluation.judgement import Judgement
from bot.publishing.entry import Entry, Evidence
from bot.publishing.publication import Marker, PostText
from bot.reporting.escape import code, code_in_table, in_title, plain_json, visible, without_references
from bot.reporting.markdown import cell, judgement_markdown
from bot.reporting.report import summarize

FOOT = f"[leaderboard-bot]({HOME}) wrote this from the file named above; it changes when that file does."
VERDICT_FOOT = f"[leaderboard-bot]({HOME}) keeps this comment up to date with what is pushed here."

TITLE_LIMIT, BODY_LIMIT = 200, 65_536  # characters; the Hub's and, for the body, GitHub's
CUT = 200  # characters of room for the words that say so
FILES = 10  # of a row's evidence that a text names


def request_text(entry: Entry, standing: Entry | None, mark: Marker) -> PostText:
    """The text of a request that adds or changes one row."""
    verb = "Add" if standing is None else "Update"
    return fitted(f"{verb} {_name(entry)}: {_average(entry)}", _body(entry, standing), mark)


def row_text(entry: Entry, standing: Entry | None, mark: Marker) -> PostText:
    """The text of a comment for boards whose rows people enter by hand: the row, ready to be copied."""
    row = ["```json", plain_json(entry.to_bytes().decode()).rstrip(), "```"]
    fold = ["<details><summary>The row as JSON</summary>", "", *row, "", "</details>"]
    return fitted(f"{_name(entry)}: {_average(entry)}", _body(entry, standing, fold), mark)


def rolling_text(entries: Sequence[Entry], mark: Marker) -> PostText:
    """The text of one request for many rows."""
    lines = ["| Model | Average |", "| --- | ---: |"]
    lines += [f"| {code_in_table(entry.model.id)} | {cell(entry.average, 2)} |" for entry in entries[:500]]
    more = [f"… and {len(entries) - 500} more."] if len(entries) > 500 else []
    body = "\n".join([f"{len(entries)} rows of {code(mark.leaderboard)}.", "", *lines, "", *more, FOOT])
    return fitted(f"Update {len(entries)} rows of {mark.leaderboard}", body, mark)


def withdrawn_text(entry_path: str, mark: Marker) -> PostText:
    """The text of a request that takes a row away."""
    body = f"The submission behind {code(entry_path)} was withdrawn from its source.\n\n{FOOT}"
    return fitted(f"Remove {mark.key}", body, mark)


def board_text(mark: Marker) -> PostText:
    """The text of the discussion that holds one comment for each row, or of that about columns."""
    if mark.kind == "alarm":
        title = f"Columns of {mark.leaderboard} that do not follow the rest"
        return fitted(title, f"One comment says which, and is edited when that changes.\n\n{FOOT}", mark)
    body = f"Rows of {code(mark.leaderboard)}, one comment each, edited in place when a row changes.\n\n{FOOT}"
    return fitted(f"Rows of {mark.leaderboard}", body, mark)


def alarm_mark(leaderboard: str) -> Marker:
    """The mark of the one comment about a leaderboard's columns."""
    return Marker("alarm", f"columns of {leaderboard}", leaderboard)


def alarm_text(audit: BoardAudit, target: str, mark: Marker) -> PostText:
    """What a board's audit found; where it names no column any more, that."""
    named = ", ".join(audit.named) or "none"
    lead = f"CachedVerdict by the rows at {code(target)}; `leaderboard-bot audit board` draws the charts."
    return fitted(f"Columns that do not follow the rest: {named}", f"{lead}\n\n{board_markdown(audit, target)}", mark)


def judgement_text(judgement: Judgement, mark: Marker) -> PostText:
    """The one comment on a pull request: every row and every file that is not read, the worst first."""
    title = f"Results for {mark.leaderboard}"
    if not judgement.verdicts:
        return fitted(
            title, f"No result file for {code(mark.leaderboard)} changes here any more.\n\n{VERDICT_FOOT}", mark
        )
    counts = summarize(judgement)
    order = ("rejected", "incomplete", "accepted")
    head = f"{code(mark.leaderboard)}: " + ", ".join(f"{counts[status]} {status}" for status in order if counts[status])
    body = "\n".join([head, "", judgement_markdown(judgement), VERDICT_FOOT])
    return fitted(title, body, mark)


def fitted(title: str, body: str, mark: Marker) -> PostText:
    """A text within the limits of Hub and GitHub: cut at the end of a line, what is open closed, the mark last."""
    last = f"\n\n{mark.render()}"
    room = BODY_LIMIT - len(last)
    if len(body) > room:
        kept = body[: room - CUT].rpartition("\n")[0]
        kept += "\n```" if sum(line.lstrip().startswith("```") for line in kept.split("\n")) % 2 else ""
        kept += "\n\n</details>" * (kept.count("<details>") - kept.count("</details>"))
        body = f"{kept}\n\n… cut: there is more than a comment can hold."
    title = without_references(visible(title))
    title = title if len(title) <= TITLE_LIMIT else f"{title[: TITLE_LIMIT - 1]}…"
    return PostText(title, body + last)


def commit_message(text: PostText) -> str:
    """The same for a commit, where no code span keeps a submitter's words from closing an issue or skipping a run."""
    return without_references(f"{text.title}\n\n{text.body}\n")


def _name(entry: Entry) -> str:
    template = ", chat template" if entry.model.chat_template else ""
    return f"{in_title(entry.model.id)} ({in_title(entry.model.precision) or 'unknown precision'}{template})"


def _average(entry: Entry) -> str:
    if entry.average is not None:
        return f"{entry.average:.2f}"
    return f"incomplete, {len(entry.coverage.missing)} of {entry.coverage.required} subtasks missing"


def _body(entry: Entry, standing: Entry | None, extra: Sequence[str] = ()) -> str:
    lines = [
        f"{code(entry.model.id)}, revision {code(entry.model.revision or 'unknown')}, on {code(entry.leaderboard.id)}.",
        "",
        *_scores(entry, standing),
        "",
        *_coverage(entry),
        *_warnings(entry),
        *_evidence(entry),
        *extra,
        "",
        FOOT,
    ]
    return "\n".join(lines)


def _scores(entry: Entry, standing: Entry | None) -> Iterator[str]:
    """The table of scores; beside a standing row also what changes."""
    before = {task.id: task.score for task in standing.tasks} if standing else {}
    yield "| Task | Raw | Score |" + (" Before | Change |" if standing else "")
    yield "| --- | ---: | ---: |" + (" ---: | ---: |" if standing else "")
    for task in entry.tasks:
        line = f"| {task.title} | {cell(task.raw, 4)} | {cell(task.score, 2)} |"
        yield line + (_change(task.score, before.get(task.id)) if standing else "")
    line = f"| **Average** | | **{cell(entry.average, 2)}** |"
    yield line + (_change(entry.average, standing.average) if standing else "")


def _change(now: float | None, before: float | None) -> str:
    change = "–" if now is None or before is None else f"{now - before:+.2f}"
    return f" {cell(before, 2)} | {change} |"


def _coverage(entry: Entry) -> Iterator[str]:
    if entry.coverage.missing:
        names = ", ".join(code(name) for name in entry.coverage.missing[:10])
        more = f" and {len(entry.coverage.missing) - 10} more" if len(entry.coverage.missing) > 10 else ""
        yield f"**Incomplete:** {names}{more} missing. The row has no average and no rank until they are there."
        yield ""


def _warnings(entry: Entry) -> Iterator[str]:
    for remark in entry.warnings:
        yield f"- **warning** `{remark.rule}`: {code(remark.message)}"
    if entry.warnings:
        yield ""


def _evidence(entry: Entry) -> Iterator[str]:
    """Where the numbers come from: the first files one by one, and how many more there are."""
    yield from (_file(file) for file in entry.evidence[:FILES])
    if len(entry.evidence) > FILES:
        yield f"- and {len(entry.evidence) - FILES} more files, which the entry names"
    if len(entry.evidence) == 1:
        path = _shell_safe(entry.evidence[0].path)
        yield f"- Check it: `leaderboard-bot explain {path} --leaderboard {entry.leaderboard.id}`"


def _file(file: Evidence) -> str:
    where = f" in {code(file.source)}" if file.source else ""
    commit = f" at {code(file.commit)}" if file.commit else ""
    harness = code(file.harness.version or file.harness.git_hash or "version unknown")
    measured = f", measured {file.date}" if file.date else ""
    place = f"{code(file.path)}{where}{commit}"
    return f"- File: {place}, SHA-256 {code(file.sha256)}, {code(file.harness.name)} {harness}{measured}"


def _shell_safe(path: str) -> str:
    """A path that can be pasted into a shell inside a code span; another is left for the reader to fill in."""
    return path if all(char.isalnum() or char in "/._-" for char in path) and path.isascii() else "FILE"
