"""Every sentence that the bot says at a source: Markdown made of verdicts, comparisons and answers, our mark last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import HOME
from bot.publishing.command_list import commands_line
from bot.publishing.publication import Marker, PostText
from bot.publishing.texts import fitted
from bot.reporting.escape import code, code_in_table, in_title, visible
from bot.reporting.markdown import cell

FOOT = f"[leaderboard-bot]({HOME}) wrote this, and edits it when the files change."


@dataclass(frozen=True, slots=True)
class Place:
    """A row's place on a board: `rank` is None where it has none, `tied` counts the others that share it."""

    average: float | None
    rank: int | None
    tied: int
    rows: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a submission would change: a model's place before (None: not on the board) and after."""

    model: str
    before: Place | None
    after: Place


def check_command(source: str, commit: str, path: str, leaderboard_id: str) -> str:
    """The call that gives the same verdict on anybody's machine."""
    place = f"{source}@{commit}/{path}" if source.startswith("hf://") else path
    return f"leaderboard-bot check {quoted(place)} --leaderboard {leaderboard_id}"


def quoted(word: str) -> str:
    """A word for a shell in single quotes where it needs them, on one line."""
    seen = visible(word)
    if seen == word and all(char.isascii() and (char.isalnum() or char in "/._-@:+=") for char in seen):
        return seen
    return "'" + seen.replace("'", "'\\''") + "'"


def push_text(folder: str, verdicts: Sequence[str], mark: Marker) -> PostText:
    """The discussion about pushed files that were rejected; `verdicts` are Markdown."""
    where = f"in {code(folder)}" if folder else "at the top of the repository"
    files = "1 file" if len(verdicts) == 1 else f"{len(verdicts)} files"
    were = "was" if len(verdicts) == 1 else "were"
    first = f"{files} {where} {were} rejected. Push corrected files and this discussion closes automatically."
    body = "\n\n".join([first, *verdicts, commands_line("source"), FOOT])
    return fitted(f"Results in {in_title(folder) or 'the top folder'} were rejected", body, mark)


def mended_text(folder: str) -> str:
    """The last words of such a discussion."""
    return f"Corrected: no result in {code(folder or '/')} is rejected any more."


def review_text(head: str, verdicts: Sequence[str], comparisons: Sequence[Comparison], mark: Marker) -> PostText:
    """The sticky comment on a pull request at the source."""
    files = "1 result file" if len(verdicts) == 1 else f"{len(verdicts)} result files"
    parts = [f"{files}, at {code(head[:12])}.", *verdicts, comparison_table(comparisons)]
    return fitted("", "\n\n".join([*filter(None, parts), commands_line("source"), FOOT]), mark)


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """What would change on the board."""
    if not comparisons:
        return ""
    lines = ["| Model | Average | Before | Change | Rank | Rank before |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for row in comparisons:
        old, new = row.before.average if row.before else None, row.after.average
        change = "–" if old is None or new is None else f"{new - old:+.2f}"
        ranks = f"{rank(row.after)} | {rank(row.before)}"
        lines.append(f"| {code_in_table(row.model)} | {cell(new, 2)} | {cell(old, 2)} | {change} | {ranks} |")
    return "\n".join(lines)


def rank(place: Place | None) -> str:
    """A rank for people, with those that share it."""
    if place is None:
        return "new"
    if place.rank is None:
        return "none"
    tied = f", tied with {place.tied}" if place.tied else ""
    return f"{place.rank} of {place.rows}{tied}"


def reply_text(words: str, comment_id: str, leaderboard_id: str) -> str:
    """The one answer to a command; its mark names the comment that it answers."""
    return fitted("", words, Marker("reply", comment_id, leaderboard_id)).body


def preformatted(text: str) -> str:
    """Text in a code block that nothing in it can end."""
    lines = [visible(line) for line in text.splitlines()]
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence])
