"""What the bot says to a person: the answer to each command, with what it decides, and why it closes a discussion.

One function for each answer, named by what happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from bot.evaluation.finding import counted, examples
from bot.publishing.decisions import Decided
from bot.publishing.plan import Plan
from bot.publishing.publication import Marker
from bot.publishing.texts import fitted
from bot.reporting.escape import brief, code

MOST_TAKEN, MOST_MARKED_ROWS = 100, 1_000  # rows that the answer to a plan names, in words and in its hidden line
MOST_WAIVED = 500  # files of one waiver
REASON_LIMIT = 500  # characters of the reason of a waiver
TASKS_NAMED = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """The words of an answer, Markdown, and what it decides; None if it decides nothing."""

    words: str
    decision: Decided | None = None


def answer_text(
    answer: Answer, comment_id: str, leaderboard_id: str, *, who: str = "", where: str = "", when: float = 0.0
) -> str:
    """The one answer to a comment, which its mark names; the mark records what was decided, by whom, where and when."""
    decided = answer.decision and replace(answer.decision, who=who, where=where, when=when)
    return fitted("", answer.words, Marker("reply", comment_id, leaderboard_id, decided=decided)).body


# any command


def comment_was_edited() -> Answer:
    """The comment may not be as its author wrote it."""
    return Answer(
        "This comment was edited after it was posted, so it is no command: others than its author may have edited it. "
        "Write the command in a new comment."
    )


def not_a_maintainer(leaderboard_id: str) -> Answer:
    """The account may not write the command."""
    board = code(leaderboard_id)
    return Answer(f"Only the maintainers that the bot's settings name for {board} may write this command.")


def command_unreadable(usage: str, hint: str) -> Answer:
    """The words after the command are not what it takes."""
    return Answer(f"The bot cannot read this command: write {code(usage)}{hint}.")


# at the source: /recheck, /explain, /ignore


def files_rechecked(leaderboard_id: str, states: Sequence[str]) -> Answer:
    """The verdicts of today."""
    said = ", ".join(states) or "there is no result file to check"
    return Answer(f"Checked again for {code(leaderboard_id)}: {said}.")


def nothing_to_explain() -> Answer:
    """No file makes a row."""
    return Answer("There is no score to explain.")


def task_unknown(task: str, leaderboard_id: str, known: Sequence[str]) -> Answer:
    """The leaderboard has no such task."""
    names = code(examples(list(known), TASKS_NAMED))
    return Answer(f"There is no task {code(brief(task))} of {code(leaderboard_id)}; it has {names}.")


def rule_never_waived(rule: str) -> Answer:
    """No waiver of this rule can help."""
    return Answer(f"`{rule}` cannot be waived: there would be no number to publish, or a second row that reads alike.")


def rule_unknown(rule: str) -> Answer:
    """There is no such rule."""
    return Answer(f"There is no rule {code(brief(rule))}: `leaderboard-bot rules` lists them.")


def day_unreadable(text: str) -> Answer:
    """The last day of a waiver is no date."""
    return Answer(f"{code(text)} is no date: write it as YYYY-MM-DD.")


def day_passed(until: date) -> Answer:
    """The last day of a waiver is over."""
    return Answer(f"{until} has passed: nothing is waived.")


def files_changed() -> Answer:
    """The maintainer did not see the files that a waiver would be for."""
    return Answer(
        "The files changed after this was written, or were not shown yet, so nothing is waived. "
        "Look at the files that are there now and write the command again."
    )


def rule_waived(rule: str, until: date, reason: str, files: Sequence[str]) -> Answer:
    """A rule is waived for exactly the files that the maintainer saw, by their SHA-256."""
    given, left = tuple(files[:MOST_WAIVED]), len(files) - MOST_WAIVED
    lines = "\n".join(f"- `sha256:{sha}`" for sha in given)
    more = f"\n\n{counted(left, 'more file')} of those that you saw are not waived: one answer is for {MOST_WAIVED}."
    words = f"`{rule}` is waived until {until} for exactly these files:\n\n{lines}{more if left > 0 else ''}"
    decision = Decided("waived", rule=rule, files=given, until=until.isoformat(), reason=reason)
    return Answer(f"{words}\n\nReason: {code(reason)}", decision)


# on a request of the bot: /merge, /decline, /restore


def request_merged(head: str) -> Answer:
    """The request was merged at a commit."""
    return Answer(f"Merged at {code(head)}.", Decided("merged", commit=head))


def merge_not_allowed(refusal: object) -> Answer:
    """The bot has no right to merge."""
    return Answer(f"The bot may not merge this: {code(brief(str(refusal)))}. Somebody with write access can.")


def merge_not_possible(failure: object) -> Answer:
    """The request cannot be merged as it is."""
    return Answer(f"It cannot be merged as it is: {code(brief(str(failure)))}. Look at it and write the command again.")


def request_is_over(status: str) -> Answer:
    """The request is closed or merged."""
    return Answer(f"The request is {status} already.")


def newest_commit_of_others(head: str) -> Answer:
    """The bot did not make the newest commit, so the maintainer has to name it."""
    look = f"Look at it, then write {code(f'/merge {head}')}."
    return Answer(f"Somebody else may have made the newest commit. {look}")


def commit_came_later() -> Answer:
    """The newest commit is not the one that the maintainer saw."""
    return Answer(
        "The request got a newer commit after this was written, so nothing is merged. "
        "Look at it and write the command again."
    )


def other_commit_merged(head: str, checked: str) -> Answer:
    """A commit arrived while the bot merged another one."""
    return Answer(
        f"A commit arrived while the bot merged: {code(head)} was merged instead of {code(checked)}. "
        "Nobody has checked it. Compare the two commits, and revert the merge if the later one is wrong."
    )


def request_has_one_row() -> Answer:
    """Only a request of many rows leaves one out."""
    return Answer("This request holds one row: close it, and it is not proposed again with the same content.")


def row_unknown(key: str) -> Answer:
    """The source makes no such row."""
    return Answer(f"There is no row {code(brief(key))} of this source.")


def row_declined(key: str, digest: str) -> Answer:
    """A row is left out as it is now."""
    return Answer(
        f"The row `{key}` is left out as it is now (`{digest}`). "
        "It is proposed again when its numbers or files change.",
        Decided("declined", rows={key: digest}),
    )


def row_not_declined(key: str) -> Answer:
    """There is no decline of the row to take back."""
    return Answer(f"Nobody declined a row {code(brief(key))} on this request.")


def row_restored(key: str) -> Answer:
    """The decline of a row is taken back."""
    return Answer(f"The row `{key}` is proposed again.", Decided("restored", rows={key: ""}))


def command_is_of_the_source(name: str) -> Answer:
    """The command is about files."""
    where = "on the request that brings them, or in the bot's discussion about them"
    return Answer(f"{code(f'/{name}')} is about result files: write it where they are, at the source, {where}.")


# in the discussion of plans: /approve, /decline, /restore, /drop


def plan_unknown(digest: str, waiting: str) -> Answer:
    """Another plan waits."""
    return Answer(f"No plan with the digest {code(digest)} waits here. The plan that waits is {code(waiting)}.")


def plan_changed() -> Answer:
    """The command is older than the plan that waits."""
    return Answer(
        "The plan changed after this was written. Look at the plan that waits now and write the command again."
    )


def plan_approved(plan: Plan, taken: Mapping[str, str]) -> Answer:
    """The plan is carried out once; `taken` are the rows of it that people took from main, with their digests."""
    words = "approved by this comment, once. Where the bot still lists it as waiting, write the command again."
    marks = "".join(plan.row_marks) if len(plan.row_marks) <= MOST_MARKED_ROWS else ""
    rows = dict(list(taken.items())[:MOST_TAKEN])
    decision = Decided("approved", rows=rows, plan=plan.digest, marks=marks)
    return Answer(f"The plan {code(plan.digest)} is {words}{_lines(rows)}", decision)


def plan_declined(plan: Plan, taken: Mapping[str, str]) -> Answer:
    """The rows of the plan stay as they are; those that people took from main are let go."""
    rows = dict(list(taken.items())[:MOST_TAKEN])
    words = f"The plan {code(plan.digest)} is declined by this comment: its rows stay as they are."
    return Answer(f"{words}{_lines(rows)}", Decided("declined", rows=rows, plan=plan.digest))


def _lines(rows: Mapping[str, str]) -> str:
    lines = [f"- `{key}` (`{digest}`)" for key, digest in rows.items()]
    return "".join(f"\n{line}" for line in ["", *lines] if lines)


# why a discussion is closed


def faults_corrected(folder: str) -> str:
    """No file of a folder is rejected any more."""
    return f"Corrected: no result in {code(folder or '/')} is rejected any more."


def opened_twice(kept: int) -> str:
    """Two processes opened a discussion about the same at the same moment."""
    return f"Two processes opened this at once; #{kept} stays."


def issue_is_a_duplicate(first: int) -> str:
    """Two runs of a workflow opened an issue about the same rows."""
    return f"This issue is a duplicate of #{first}."
