"""The plan of a pass at one target: rows to add, change and remove, and whether a person must approve it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from bot.evaluation.finding import counted, examples
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rounding import half_up
from bot.publishing.board import rank_entries
from bot.publishing.changes import column_changes
from bot.publishing.entry import Entry, digest_of

RowAction = Literal["added", "changed", "removed", "restored", "unchanged"]
LISTED: tuple[RowAction, ...] = ("added", "changed", "removed", "restored")
REASONED = frozenset({"changed", "removed", "restored"})  # actions that say why
DIGEST = 32  # hexadecimal digits of a plan's digest: 128 bits
ROW_MARK = 16  # hexadecimal digits of a row's mark: 64 bits
FEWEST = 5  # rows that may always go or change, however small the board


class PlannedRow(msgspec.Struct, frozen=True):
    """One row: its average before and after (points; None if it has none), and why it changes, or cannot be there.

    Ranks are ranges as the board shows them, "" if they were not asked for. `values` says what would be written,
    where that is not the average; `lacks` names subtasks without which a row has no average. `columns` says what
    changes of the numbers that do not count.
    """

    key: str
    model: str
    action: RowAction
    before: float | None = None
    after: float | None = None
    reason: str = ""
    digest: str = ""
    ranks_before: str = ""
    ranks_after: str = ""
    values: str = ""
    lacks: str = ""
    columns: str = ""


class Plan(msgspec.Struct, frozen=True):
    """The rows of one target that a pass would touch; `unchanged` counts those that stay as they are.

    `declined` counts the accepted rows that people do not want there.
    `is_first` says that nothing was written to this target before, and that new rows need approval as well.
    """

    target: str
    leaderboard: str
    rows: tuple[PlannedRow, ...]
    unchanged: int = 0
    is_first: bool = False
    declined: int = 0

    def having(self, action: RowAction) -> list[PlannedRow]:
        """The rows that are added, changed, removed, or proposed again after somebody took them from main."""
        return [row for row in self.rows if row.action == action]

    @property
    def digest(self) -> str:
        """The digest that a person approves: 32 digits of the SHA-256 of all changes, removals and first additions."""
        return hashlib.sha256(msgspec.json.encode((self.target, self.large))).hexdigest()[:DIGEST]

    @property
    def large(self) -> list[tuple[str, RowAction, str]]:
        """The rows that a person approves: key, action and digest of each that changes, goes, or is added first."""
        large = {*REASONED, *(("added",) if self.is_first else ())}
        return sorted((row.key, row.action, row.digest) for row in self.rows if row.action in large)

    @property
    def row_marks(self) -> list[str]:
        """A mark of each row in `large`: 16 digits of a SHA-256, by which an answer names what was approved."""
        rows = (msgspec.json.encode((self.target, row)) for row in self.large)
        return [hashlib.sha256(row).hexdigest()[:ROW_MARK] for row in rows]

    def covers(self, rest: Plan) -> bool:
        """Tell whether a plan is this one, or the rest of it after a part was carried out."""
        return self.digest == rest.digest or (bool(rest.large) and set(rest.large) <= set(self.large))

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows are changed or removed for each reason."""
        return dict(Counter(row.reason for row in self.rows if row.action in REASONED).most_common())

    def to_json(self) -> dict[str, Any]:
        """The plan for `--format json`."""
        counts: dict[str, int] = {action: len(self.having(action)) for action in LISTED}
        return {
            "target": self.target,
            "leaderboard": self.leaderboard,
            **counts,
            "unchanged": self.unchanged,
            "declined": self.declined,
            "digest": self.digest,
            "reasons": self.reasons,
            "rows": [msgspec.to_builtins(row) for row in self.rows],
        }


def planned_row(key: str, before: Entry | None, after: Entry | None, reason: str) -> PlannedRow:
    """The planned change of one row."""
    was, becomes = (digest_of(entry) if entry else "" for entry in (before, after))
    action: RowAction = "added" if before is None else "removed" if after is None else "changed"
    action = "unchanged" if was == becomes else action
    known = after or before
    return PlannedRow(
        key,
        known.model.id if known else "",
        action,
        before.average if before else None,
        after.average if after else None,
        reason if action in {"changed", "removed"} else "",
        f"{was}>{becomes}",
        lacks=examples(after.coverage.missing) if after is not None and after.average is None else "",
        columns="; ".join(map(str, column_changes(before, after))) if before and after else "",
    )


def with_ranks(
    plan: Plan, entries: Iterable[Entry], proposed: Mapping[str, Entry | None], declared: Leaderboard | None = None
) -> Plan:
    """The plan with the rank of each row on the board of `entries`, and once `proposed` is published, by key."""
    there = {entry.key: entry for entry in entries}
    after = {key: entry for key, entry in {**there, **proposed}.items() if entry is not None}
    old, new = (
        {row.entry.key: row.ranks for row in rank_entries(some.values(), declared=declared)} for some in (there, after)
    )
    rows = [
        msgspec.structs.replace(row, ranks_before=old.get(row.key, "–"), ranks_after=new.get(row.key, "–"))
        for row in plan.rows
    ]
    return msgspec.structs.replace(plan, rows=tuple(rows))


def effect_of(plan: Plan) -> str:
    """What a plan would do, as the first words of a sentence."""
    removed, changed = len(plan.having("removed")), len(plan.having("changed"))
    text = f"{counted(removed or changed, 'row')} would be {'removed' if removed else 'changed'}"
    if removed and changed:
        text += f" and {changed} changed"
    if plan.having("restored"):
        text = f"{counted(len(plan.having('restored')), 'row')} that somebody took from main would come back"
    if plan.is_first:
        text = f"the first run would write to {counted(len(plan.rows), 'model')}"
    return text


def cause_of(plan: Plan) -> str:
    """The first reason of a plan in brackets, and the number of others; "" where the effect says everything."""
    why = next(iter(plan.reasons), "")
    more = f" and {counted(len(plan.reasons) - 1, 'other reason')}" if len(plan.reasons) > 1 else ""
    return f" ({why}{more})" if why and not plan.having("restored") else ""


def held_text(plan: Plan) -> str:
    """What a held plan waits for, in one line."""
    return f"{effect_of(plan)}; approve plan {plan.digest} to allow this{cause_of(plan)}"


def answers_text(plan: Plan) -> str:
    """How a person answers a held plan in a terminal, for the end of its line."""
    let_go = " to let them go" if plan.having("restored") else ""
    answers = f"`settle --approve {plan.digest}`, or `--decline {plan.digest}`{let_go}"
    return f": {answers}; `settle --dry-run` names all rows"


def is_beyond(count: int, limit: int | str, size: Callable[[], int]) -> bool:
    """Tell whether more rows than the limit would go or change: a number, or a share such as "10%" and at least 5.

    `size` counts the rows of the board, where that matters.
    """
    if isinstance(limit, int):
        return count > limit
    return count > FEWEST and count > int(limit.removesuffix("%")) * size() // 100


def average_change(row: PlannedRow) -> str:
    """Average before and after, as people read them, or the values that would be written."""
    if row.values:
        return row.values
    shown = ["–" if value is None else str(half_up(value, 2)) for value in (row.before, row.after)]
    ranks = [f"rank {row.ranks_before} → {row.ranks_after}"] if row.ranks_after else []
    return ", ".join([" → ".join(shown), *ranks, *filter(None, [row.columns])])


def plan_lines(plan: Plan) -> list[str]:
    """A plan for the terminal: counts, reasons, and the rows of each kind."""
    listed = LISTED if plan.having("restored") else LISTED[:3]
    counts = ", ".join(f"{len(plan.having(action))} {action}" for action in listed)
    declined = f", {plan.declined} declined" if plan.declined else ""
    named = f"; plan {plan.digest}" if plan.large else ""  # nobody approves what is only added
    lines = [f"{plan.target}: {counts}, {plan.unchanged} unchanged{declined}{named}"]
    lines += [f"  {reason}: {counted(count, 'row')}" for reason, count in plan.reasons.items()]
    for action in listed:
        lines += [
            f"  {action}  {row.key}  {average_change(row)}{f', lacks {row.lacks}' if row.lacks else ''}"
            for row in plan.having(action)
        ]
    return lines
