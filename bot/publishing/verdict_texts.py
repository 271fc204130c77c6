"""All texts that the bot posts at a source, and the issue about rows that do not follow, with the marker at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot import HOME
from bot.evaluation.finding import counted, first_few
from bot.evaluation.rounding import half_up
from bot.publishing.publication import Marker, PostText
from bot.publishing.repeat import quoted
from bot.publishing.texts import FOOT, STOP, fitted
from bot.reporting.escape import brief, cell, code, code_in_table, in_title, visible
from bot.reporting.prose import escaped

MERGED = "**Merged.**"
FOLDER_ROWS = 100  # of a folder that a text names
NAMES = 10  # files or models that one line names
VERDICT_ROOM = 45_000  # characters of a comment for the verdicts on files


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A row's place on a board: its average, and where it stands in a sentence, "" where it has no rank."""

    average: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a submission would change: a model's place before (None: not on the board) and after.

    `said` compares the row with the one before, or else with another one of the model; "" if there is none.
    """

    model: str
    before: BoardPlace | None
    after: BoardPlace
    said: str = ""


def push_text(
    folder: str, verdicts: Sequence[str], mark: Marker, commands: str, rivals: Sequence[str] = (), *, later: str = ""
) -> PostText:
    """The discussion about pushed files that were rejected, or that others measured otherwise; all are Markdown.

    `commands` is the line that lists what people may write there, `later` says what to do where the calls of the
    verdicts do not work yet.
    """
    where = f"in {code(folder)}" if folder else "at the top of the repository"
    files = counted(len(verdicts), "file")
    were = "was" if len(verdicts) == 1 else "were"
    board = code(mark.leaderboard)
    first = (
        f"{files} {where} {were} rejected for {board}. Push corrected files, or delete these, and the bot closes this."
    )
    said = "\n".join(rivals)
    below = [*verdicts, later] if verdicts else []
    body = "\n\n".join(filter(None, [first if verdicts else "", said, *below, commands, FOOT]))
    shown = in_title(folder) or "the top folder"
    title = f"Results in {shown} were rejected" if verdicts else f"Results in {shown} differ from those of others"
    return fitted(title, body, mark)


def rival_line(model: str, here: str, there: str, files: Sequence[str]) -> str:
    """A row that a file elsewhere measured with other values, as a line of `push_text`; `files` make the row."""
    counts = ", ".join(map(code, files))
    return (
        f"- The row of {code(brief(model))} has other values in {code(here)} than in {code(there)}. "
        f"The newest value counts for each subtask; the row comes from {counts}. "
        "It changes only by a request that names who submitted it first."
    )


def success_text(folder: str, rows: Sequence[tuple[str, float | None]], links: Sequence[str], mark: Marker) -> PostText:
    """The discussion about accepted files of a folder: rows as key and average (points), and links to requests."""
    head = f"Accepted for {code(mark.leaderboard)}:" if rows else "No result is accepted here any more."
    averages = [(key, "incomplete" if average is None else cell(average, 2)) for key, average in rows[:FOLDER_ROWS]]
    lines = [f"| {code_in_table(brief(key, 300))} | {average} |" for key, average in averages]
    table = ["| Row | Average |", "| --- | ---: |", *lines] if lines else []
    more = f"… and {len(rows) - FOLDER_ROWS} more." if len(rows) > FOLDER_ROWS else ""
    parts = [head, "\n".join(table), more, f"Proposed in {', '.join(links)}." if links else "", FOOT]
    return fitted(f"Results in {in_title(folder) or 'the top folder'}", "\n\n".join(filter(None, parts)), mark)


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of merging a request at the source, except for the verdicts on its files.

    `unread` has, by the reason, the paths of files that were not judged; `deleted` and `replaced` are files of the main
    branch, `others` counts changed files that the settings do not select. `comparisons` are rows that it adds or
    changes, `removed` and `unchanged` the models of other rows. `disputed` has, by model, the folder of another first
    submitter, `refused` the reasons why rows cannot be stored. `is_cut` says that more rows are touched than are
    compared, `has_ranks` that the other rows of the board are known.
    """

    unread: Mapping[str, Sequence[str]]
    deleted: Sequence[str]
    replaced: Sequence[str]
    others: int
    comparisons: Sequence[Comparison] = ()
    removed: Sequence[str] = ()
    unchanged: Sequence[str] = ()
    disputed: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False
    has_ranks: bool = True


def review_text(
    head: str, verdicts: Sequence[str], effects: Effects, mark: Marker, commands: str, *, files: int, later: str = ""
) -> PostText:
    """The sticky comment on a pull request at the source: first what merging does, then the verdict on each row.

    `files` is how many files these are; `commands` and `later` as in `push_text`.
    """
    shown = list(fitting(verdicts))
    left = len(verdicts) - len(shown)
    more = f"… and {counted(left, 'more verdict')}, which do not fit here." if left else ""
    parts = [
        f"{counted(files, 'result file')} judged for {code(mark.leaderboard)}, at {code(head[:12])}.",
        "\n".join(effect_lines(effects)),
        comparison_table(effects.comparisons, has_ranks=effects.has_ranks),
        *shown,
        more,
        later if verdicts else "",
        commands,
        FOOT,
    ]
    return fitted("", "\n\n".join(filter(None, parts)), mark)


def status_line(
    verdicts: Sequence[str], unread: Mapping[str, Sequence[str]]
) -> tuple[Literal["success", "failure"], str]:
    """A review in one line for the status of a commit: whether it can be taken, and the counts."""
    missed = sum(map(len, unread.values()))
    words = [f"{verdicts.count(word)} {word}" for word in ("accepted", "incomplete", "rejected") if word in verdicts]
    said = [*words, f"{missed} not judged"] if missed else words
    is_faulty = bool(missed) or "rejected" in verdicts
    return "failure" if is_faulty else "success", ", ".join(said) or "no result file is changed"


def fitting(verdicts: Sequence[str]) -> Iterator[str]:
    """The first verdicts, as many as leave room for the rest of a comment."""
    room = VERDICT_ROOM
    for number, verdict in enumerate(verdicts):
        room -= len(verdict)
        if room < 0 and number:
            return
        yield verdict


def effect_lines(effects: Effects) -> Iterator[str]:
    """The effects of merging except added files, one line for each: on files, then on rows."""
    for why, paths in effects.unread.items():
        yield f"- **{counted(len(paths), 'file')} not judged** ({visible(why)}): {names(paths)}"
    if effects.deleted:
        yield f"- **deletes {counted(len(effects.deleted), 'file')}** of the main branch: {names(effects.deleted)}"
    if effects.replaced:
        yield f"- **replaces {counted(len(effects.replaced), 'file')}** of the main branch: {names(effects.replaced)}"
    if effects.others:
        yield f"- changes {counted(effects.others, 'file')} that the settings of the leaderboard do not select"
    yield from _row_lines(effects)


def _row_lines(effects: Effects) -> Iterator[str]:
    changed = sum(row.before is not None for row in effects.comparisons)
    if changed:
        yield f"- changes {counted(changed, 'row')} of the board"
    if effects.removed:
        yield f"- **removes {counted(len(effects.removed), 'row')}** of the board: {names(effects.removed)}"
    for model, folder in list(effects.disputed.items())[:NAMES]:
        yield f"- the row of {code(brief(model))} was first submitted in {code(folder)}; this request changes it"
    if effects.unchanged:
        yield f"- leaves {counted(len(effects.unchanged), 'row')} unchanged: {names(effects.unchanged)}"
    for key, why in list(effects.refused.items())[:NAMES]:
        yield f"- the row {code(key)} cannot be published: {code(why)}"
    if effects.is_cut:
        yield "- touches more rows than are compared here"


def names(words: Sequence[str]) -> str:
    """The first names of a list as code, and how many more there are."""
    return first_few([code(brief(word)) for word in words], NAMES)


def comparison_table(comparisons: Sequence[Comparison], *, has_ranks: bool = True) -> str:
    """The table of changes on the board."""
    if not comparisons:
        return ""
    places = " Rank | Rank before |", " --- | --- |"
    heads = "| Model | Average | Before | Change |", "| --- | ---: | ---: | ---: |"
    lines = [head + place * has_ranks for head, place in zip(heads, places, strict=True)]
    for row in comparisons:
        old, new = row.before.average if row.before else None, row.after.average
        change = "–" if old is None or new is None else f"{half_up(new - old, 2):+}"
        ranks = f" {rank(row.after)} | {rank(row.before)} |" if has_ranks else ""
        lines.append(f"| {code_in_table(row.model)} | {cell(new, 2)} | {cell(old, 2)} | {change} |{ranks}")
    said = [f"- {code(brief(row.model))}: {row.said}" for row in comparisons[:NAMES] if row.said]
    return "\n".join([*lines, *(["", *said] if said else [])])


def rank(place: BoardPlace | None) -> str:
    """The place of a row in the words of its page, for the column of ranks."""
    return "new" if place is None else escaped(place.sentence.removeprefix("Rank ").removesuffix(".")) or "none"


def preformatted(text: str) -> str:
    """Text in a code block that nothing in it can end."""
    lines = [visible(line) for line in text.splitlines()]
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence])


def left_text(mark: Marker) -> str:
    """A review of a request that cannot be judged any more."""
    why = "This request is for another branch now, or its commits are gone, so the bot judges nothing here."
    return fitted("", f"{why}\n\n{FOOT}", mark).body


def merged_text(body: str, head: str, links: Sequence[str], current: Sequence[str], mark: Marker) -> str:
    """A review whose request was merged: links to the requests that propose its rows, and to where these stand then.

    Where `head`, the commit that was merged, came after the review, it says so.
    """
    said = body.partition(mark.render())[0].partition(MERGED)[0].rstrip()
    is_later = head and code(head[:12]) not in said
    where = f" The commit {code(head[:12])} was merged, which is not judged above." if is_later else ""
    where += f" Its rows are proposed in {', '.join(links)}." if links else ""
    subject = "Once that is merged, they are" if links else "Its rows are"
    where += f" {subject} at {', '.join(current)}." if current else ""
    return fitted("", f"{said}\n\n{MERGED}{where}", mark).body


def is_merged_text(body: str) -> bool:
    """Tell whether a review says already that its request was merged."""
    return f"\n\n{MERGED}" in body


BROKEN_ROWS_NAMED = 100  # rows that a text names
ISSUE_FOOT = (
    f"[leaderboard-bot]({HOME}) wrote this issue, updates it with each check, and closes it when all rows follow {STOP}"
)
ALL_FOLLOW = "All rows follow from their evidence again."


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row that does not follow from its evidence, with the outcome, the reason, and a line for each field."""

    key: str
    outcome: str
    why: str
    fields: Sequence[str] = ()

    @property
    def item(self) -> str:
        """The row as an item of a list, with its fields below it."""
        head = f"- {code(brief(self.key))}: **{visible(self.outcome)}**, {code(brief(self.why, 300))}"
        return "\n".join([head, *(f"  - {code(brief(line, 300))}" for line in self.fields)])


def verify_mark(target: str) -> Marker:
    """The mark of the issue about one target."""
    return Marker("verify", target)


def broken_rows_text(target: str, rows: Sequence[BrokenRow], mark: Marker) -> PostText:
    """The issue: an item for each row and each file that readers see, and the command that checks it again."""
    lines = [row.item for row in rows[:BROKEN_ROWS_NAMED]]
    more = f"… and {len(rows) - BROKEN_ROWS_NAMED:,} more." if len(rows) > BROKEN_ROWS_NAMED else ""
    count = sum(row.outcome != "board" for row in rows)
    do = "does" if count == 1 else "do"
    head = f"{counted(count, 'row')} of {code(target)} {do} not follow from the evidence:"
    if not count:
        head = f"The rows of {code(target)} follow from the evidence, and what readers see does not follow from them:"
    call = f"Check again: {code(f'leaderboard-bot verify {quoted(target)}')}"
    parts = [head, "\n".join(lines), more, call, ISSUE_FOOT]
    return fitted("Rows of the board do not follow from their evidence", "\n\n".join(filter(None, parts)), mark)
