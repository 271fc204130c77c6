"""Read the state of the watches, as the plain values that the operator's pages and the API show.

Times are ISO 8601 in UTC, None if there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any, TypeVar

import msgspec

from bot.errors import NEEDS_TOKEN
from bot.evaluation.finding import Finding
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.submission import UnreadPath, iso_date
from bot.evaluation.verdict import Row
from bot.platforms.net import ANSWERS
from bot.publishing.addresses import evidence_url
from bot.publishing.entry import Evidence
from bot.publishing.plan import PlannedRow
from bot.server.boards import BoardCache
from bot.service.judge.commits import open_cached_look_up
from bot.service.judge.facts import StoredRows, judge_for, verdict_on
from bot.service.publish.ledger import next_look
from bot.service.settings.config import Watch
from bot.service.store.items import STATES, ItemPlace, ItemState
from bot.service.store.memory import PLAN_DISCUSSION
from bot.service.store.sources import StoredSubmission, SubmissionLine
from bot.service.store.state import HISTORY, HeldPlan, Store
from bot.service.talk.waivers import stored_waivers

PAGE = 50  # lines of one page
STATUSES = ("accepted", "rejected", "unread")  # of submissions


V = TypeVar("V", bound=msgspec.Struct)


def moment(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601."""
    return iso_date(seconds) or None


def view_of(view: type[V], one: object, **others: Any) -> V:
    """A view of a value: its fields of the same names, and the others as they are given."""
    same = {name: getattr(one, name) for name in view.__struct_fields__ if name not in others}
    return view(**same, **others)


class OutcomeView(msgspec.Struct, frozen=True):
    """One outcome: `outcome` is proposed, written, unchanged, rejected, held or failed."""

    at: str
    outcome: str
    subject: str
    text: str


class WatchView(msgspec.Struct, frozen=True, kw_only=True):
    """A watch and its state. `commit` is the source's that was read last, `next` when it is looked at again.

    `settled` is when the last pass ended, `reached` when the last one ended that could look at the source.

    `items` counts what waits by state, `submissions` what was read by verdict. `ledgers` says of each target where its
    accepted rows are, `requests` what waits there to be merged, `declined` names the first rows there that people
    declined, and `untried` counts those that are nowhere and that nothing is tried for; they were `counted` then. Where
    something happened since, they are counted anew at `recount`. `boards` has the name of each
    target's board: its pages lie below `/board/<name>/`, and the API takes it instead of the watch's name.
    """

    name: str
    source: str
    targets: list[str]
    leaderboard: str
    status: str = ""
    failure: str = ""
    commit: str | None = None
    heard: str | None = None
    settled: str | None = None
    reached: str | None = None
    next: str | None
    items: dict[str, int]
    submissions: dict[str, int]
    ledgers: dict[str, str] = {}
    requests: dict[str, str] = {}
    declined: dict[str, list[str]] = {}
    untried: int = 0
    counted: str | None = None
    recount: str | None = None
    boards: dict[str, str]
    outcomes: list[OutcomeView]


class ItemView(msgspec.Struct, frozen=True):
    """Something that may be out of step; `due` is the next try, `reason` why the last one failed or why it is held.

    `state` is failing, waiting, held by a plan, or declined with one.
    """

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

    @property
    def needs_token(self) -> bool:
        """Tell whether a service refuses the bot's token, so that no other try helps."""
        return NEEDS_TOKEN in self.reason


class SubmissionView(msgspec.Struct, frozen=True):
    """A file of the source: `status` is accepted, rejected or unread, `row` the key of the row that it measures.

    `why` names the rules whose errors reject it.
    """

    watch: str
    path: str
    status: str
    row: str | None
    commit: str
    committed: str | None
    why: str


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
    `discussion` is where people answer, "" if it was not opened. `form` is that of the target: what is approved is on
    main at once, or in requests (`pull-request`) that somebody merges.
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
    form: str
    reasons: dict[str, int]


@dataclass
class Views:
    """What can be seen of a service; `leaderboard` gives the declaration of a watch and costs no visitor a request.

    `hub` is the address of the Hub that the service uses, to which the links lead.
    """

    store: Store
    watches: Callable[[], Iterable[Watch]]
    health: Callable[[], Mapping[str, Any]]
    leaderboard: Callable[[Watch], Leaderboard]
    boards: BoardCache
    clock: Callable[[], float]
    hub: str
    judging: Lock = field(default_factory=Lock)  # one at a time: what a stranger asks for must not fill the memory

    def watch(self, name: str) -> Watch | None:
        """The watch of this name."""
        return next((watch for watch in self.watches() if watch.name == name), None)

    def overview(self) -> tuple[str, list[WatchView], str]:
        """The common state of all watches, each of them, and why new settings are not in force."""
        health = self.health()
        known, refused = health["watches"], health.get("refused_settings", "")
        return health["status"], [self._watch(one, known.get(one.name, {})) for one in self.watches()], refused

    def _watch(self, watch: Watch, health: Mapping[str, Any]) -> WatchView:
        state = self.store.of(watch.name)
        known = {
            "name": watch.name,
            "source": watch.source,
            "targets": [target.to for target in watch.targets],
            "leaderboard": watch.leaderboard,
            "next": moment(self._next(watch, health.get("settled"))),
            "items": health.get("counts", {}),
            "submissions": state.submissions.counts(),
            "boards": self.boards.names(watch),
            "outcomes": state.outcomes(),
        }
        return msgspec.convert({**health, **known}, WatchView)

    def history(self, watch: str) -> list[OutcomeView]:
        """All outcomes of a watch that are known, the newest first."""
        return [OutcomeView(**row) for row in self.store.of(watch).outcomes(HISTORY)] if self.watch(watch) else []

    def _next(self, watch: Watch, settled: str | None) -> float | None:
        """When a watch is looked at again by itself: at its time, or when its next item is due."""
        if settled is None:
            return None
        usual = datetime.fromisoformat(settled).timestamp() + watch.settle_every
        due = next_look(self.store.of(watch.name))
        return usual if due is None else min(usual, max(due, self.clock()))

    @staticmethod
    def budgets() -> dict[str, float]:
        """The remaining requests to each service."""
        return ANSWERS.seen()[1]

    # items

    def items(
        self,
        watch: str,
        state: ItemState,
        after: ItemPlace | None,
        limit: int = PAGE,
        *,
        cause: str = "",
        without: Sequence[str] = (),
    ) -> list[ItemView]:
        """Items in one state, those after a place; see `Items.page`."""
        found = self.store.of(watch).items.page(state, after, limit, cause=cause, without=without)
        return [view_of(ItemView, one, state=state, since=moment(one.since), due=moment(one.due)) for one in found]

    def busiest(self, watches: Sequence[str]) -> tuple[str, ItemState]:
        """The first state, beginning with failing, in which one of these watches has an item, and that watch."""
        states = ((watch, state) for state in STATES for watch in watches)
        busy = (one for one in states if self.store.of(one[0]).items.page(one[1], None, 1))
        return next(busy, (next(iter(watches), ""), "failing"))

    # submissions

    def submissions(
        self, watch: str, status: str = "", text: str = "", after: str = "", limit: int = PAGE
    ) -> list[SubmissionView]:
        """Submissions in the order of their paths."""
        found = self.store.of(watch).submissions.page(status, text, after, limit)
        return [_submission(watch, one) for one in found]

    def verdict(self, name: str, path: str) -> VerdictView | None:
        """The verdict on a submission, None if there is no such watch or submission."""
        watch = self.watch(name)
        if watch is None:
            return None
        today = datetime.fromtimestamp(self.clock(), UTC).date()
        state = self.store.of(name)
        waivers, known = stored_waivers(state, watch), StoredRows(state)
        judge = judge_for(watch, self.leaderboard(watch), today, waivers, open_cached_look_up(self.store), known=known)
        with self.judging:
            found = verdict_on(judge, state, path)
        if found is None:
            return None
        stored, verdict, row = found
        result = verdict.result if verdict else None
        harness = result.harness if result else None
        return VerdictView(
            submission=_submission(name, stored),
            model=result.model.id if result else "",
            format=result.format if result else "",
            harness=" ".join(filter(None, (harness.name, harness.version, harness.git_hash))) if harness else "",
            sha256=verdict.sha256 if verdict else "",
            unread=stored.content.why if isinstance(stored.content, UnreadPath) else "",
            url=evidence_url(Evidence(source=watch.source, path=path, commit=stored.commit), self.hub),
            findings=[_finding(one) for one in verdict.findings] if verdict else [],
            row=_row(row) if row else None,
        )

    # plans

    def plans(self) -> list[PlanView]:
        """The plans that wait, of all watches."""
        names = [watch.name for watch in self.watches()]
        return [self._plan(name, held) for name in names for held in self.store.of(name).plans.all()]

    def plan(self, name: str, digest: str) -> tuple[PlanView, list[PlannedRow]] | None:
        """A plan with its rows, None if none waits under this digest."""
        for held in self.store.of(name).plans.all() if self.watch(name) else ():
            if held.digest == digest:
                return self._plan(name, held), [one for one in held.plan.rows if one.action != "unchanged"]
        return None

    def _plan(self, watch: str, held: HeldPlan) -> PlanView:
        targets = settings.targets if (settings := self.watch(watch)) else ()
        state, plan = self.store.of(watch), held.plan
        rows = state.boards.count_rows(held.target)
        changed, removed = len(plan.having("changed")), len(plan.having("removed"))
        return view_of(
            PlanView,
            held,
            watch=watch,
            since=moment(held.since),
            added=len(plan.having("added")),
            changed=changed,
            removed=removed,
            restored=len(plan.having("restored")),
            unchanged=max(rows - changed - removed, plan.unchanged),
            rows=rows,
            discussion=state.recall(PLAN_DISCUSSION, target=held.target) or "",
            form=next((one.form for one in targets if one.to == held.target), ""),
            reasons=plan.reasons,
        )


def _submission(watch: str, one: StoredSubmission | SubmissionLine) -> SubmissionView:
    return view_of(SubmissionView, one, watch=watch, row=one.key, committed=moment(one.committed))


def _finding(one: Finding) -> FindingView:
    return view_of(FindingView, one, pointer=one.location.pointer)


def _row(row: Row) -> RowSummary:
    return RowSummary(
        key=row.key.text,
        status=row.status,
        average=row.scores.average,
        scores={task.id: task.score for task in row.scores.tasks},
        files=[file.path for file in row.files],
        missing=list(row.coverage.missing),
        findings=[_finding(one) for one in row.findings],
    )


def place_of(text: str) -> ItemPlace | None:
    """The place of an item from its id; None if the text is none."""
    try:
        return msgspec.json.decode(text, type=tuple[str, str, str])
    except (msgspec.MsgspecError, UnicodeError):
        return None
