"""What the operator's pages and the API show, as plain values; times are ISO 8601 in UTC, None if there is none."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from bot.publishing.entry import Entry
from bot.publishing.plan import PlannedRow


def moment(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class OutcomeView(msgspec.Struct, frozen=True):
    """The result of something: `outcome` is proposed, written, unchanged, rejected, held or failed."""

    at: str
    outcome: str
    subject: str
    text: str


class WatchView(msgspec.Struct, frozen=True):
    """A watch and its state. `commit` is the source's that was read last, `next` when it is looked at again.

    `items` counts what waits by state, `submissions` what was read by verdict. `ledgers` says of each target where its
    accepted rows are, `declined` names the first rows there that people declined, and `untried` counts those that
    are nowhere and that nothing is tried for; they were `counted` then. `boards` has the name of each
    target's board: its pages lie below `/board/<name>/`, and the API takes it instead of the watch's name.
    """

    name: str
    source: str
    targets: list[str]
    leaderboard: str
    status: str
    failure: str
    commit: str | None
    heard: str | None
    settled: str | None
    next: str | None
    items: dict[str, int]
    submissions: dict[str, int]
    ledgers: dict[str, str]
    declined: dict[str, list[str]]
    untried: int
    counted: str | None
    boards: dict[str, str]
    outcomes: list[OutcomeView]


class ItemView(msgspec.Struct, frozen=True):
    """Something that may be out of step; `due` is the next try, `reason` why the last one failed or why it is held."""

    watch: str
    state: str
    kind: str
    target: str
    subject: str
    cause: str
    reason: str
    attempts: int
    since: str | None
    due: str | None

    @property
    def id(self) -> str:
        """The id in a form: JSON of kind, target and subject."""
        return msgspec.json.encode((self.kind, self.target, self.subject)).decode()


class SubmissionView(msgspec.Struct, frozen=True):
    """A file of the source: `status` is accepted, rejected or unread, `row` the key of the row that it measures."""

    watch: str
    path: str
    status: str
    row: str | None
    commit: str
    committed: str | None


class FindingView(msgspec.Struct, frozen=True):
    """A finding; `pointer` is a JSON pointer into the file, `command` what repairs it, both "" if there is none."""

    rule: str
    severity: str
    message: str
    hint: str
    command: str
    pointer: str
    url: str


class RowSummary(msgspec.Struct, frozen=True):
    """The row that a submission measures, joined from all its files; `missing` names subtasks without a number."""

    key: str
    status: str
    average: float | None
    scores: dict[str, float | None]
    files: list[str]
    missing: list[str]
    findings: list[FindingView]


class VerdictView(msgspec.Struct, frozen=True):
    """A submission with its findings and its row; `unread` says why a file is not a result."""

    submission: SubmissionView
    model: str
    format: str
    harness: str
    sha256: str
    unread: str
    url: str
    findings: list[FindingView]
    row: RowSummary | None


class PlanView(msgspec.Struct, frozen=True):
    """A plan that waits for a person: what it would add, change and remove, and why.

    `rows` is the number of rows at the target now, 0 if that is not known; of them `unchanged` stay as they are.
    `discussion` is where people answer, "" if it was not opened.
    """

    watch: str
    target: str
    digest: str
    is_approved: bool
    is_declined: bool
    since: str | None
    added: int
    changed: int
    removed: int
    restored: int
    unchanged: int
    rows: int
    discussion: str
    reasons: dict[str, int]


class ItemList(msgspec.Struct, frozen=True):
    """A page of items; `next` is the address of the next page."""

    items: list[ItemView]
    next: str | None


class SubmissionList(msgspec.Struct, frozen=True):
    """A page of submissions."""

    submissions: list[SubmissionView]
    next: str | None


class PlanList(msgspec.Struct, frozen=True):
    """The plans that wait."""

    plans: list[PlanView]


class PlannedRowList(msgspec.Struct, frozen=True):
    """A plan, and a page of its rows."""

    plan: PlanView
    rows: list[PlannedRow]
    next: str | None


class WatchList(msgspec.Struct, frozen=True):
    """The watches; `budgets` is what is left of the requests to each service, as its last answer said."""

    status: str
    watches: list[WatchView]
    budgets: dict[str, float]


class BoardView(msgspec.Struct, frozen=True):
    """A page of a board's table, keyed by the columns of `leaderboard.csv`; `head` is the commit at the target."""

    watch: str
    target: str
    leaderboard: str
    head: str
    count: int
    rows: list[dict[str, str | int | float | bool | None]]
    next: str | None


class RowList(msgspec.Struct, frozen=True):
    """A page of whole entries, each with its evidence."""

    count: int
    rows: list[Entry]
    next: str | None
