"""The operator's pages: watches, items, submissions with their verdicts, and plans."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.evaluation.finding import grouped
from bot.pages.addresses import root_of, row_page
from bot.publishing.addresses import commit_url, request_url, target_url
from bot.publishing.board import BoardRow
from bot.publishing.plan import Plan, PlannedRow, RowAction
from bot.reporting.escape import visible
from bot.server.access import BODY_SECONDS, read_body, refuse_change, who_may
from bot.server.answers import (
    HTML,
    SCRIPT,
    Make,
    address_of,
    asset_route,
    form_fields,
    linked,
    message_page,
    number_in,
    operator_page,
    page_route,
    shortened,
)
from bot.server.health import PAUSED
from bot.server.history import lines_of, past_plan
from bot.server.situation import (
    Progress,
    Sentence,
    accounted,
    counted_alone,
    noun_of,
    shown_time,
    situation,
    still_at_work,
)
from bot.server.views import (
    PAGE,
    STATUSES,
    ItemView,
    PlanView,
    SubmissionView,
    Views,
    WatchView,
    moment,
    place_of,
)
from bot.service.settings.config import Watch
from bot.service.store.items import STATES, FailureCause, Item, ItemState

LONGEST_SEARCH = 200  # letters that are searched for
FORM = 20_000  # bytes of a form
NEEDED_FIRST = ("rejected", "unread", "accepted")  # files by what a person has to do about them
CAUSES = 20  # of failures, for each watch
HELD_NAMED = 3  # items that are named of those that are held for one reason
LONGEST_CAUSE = 2_000  # letters of a cause in an address
TRIED = "A pass that tries this was asked for; this page shows how it ends."
NO_ITEM = "This does not wait any more, or it waits for an approval."
NO_CAUSE = "Nothing fails for this reason any more."
ROLLING = "rolling/"  # begins the name of a request that holds many rows
PLAN_PAGE = 200  # rows of a plan on one page
PLAN_SAMPLE = 10  # rows of each plan on the page of all plans
FIRST_PLACES = 10  # of a board, at which people look first
ACTIONS: tuple[RowAction, ...] = ("removed", "changed", "restored", "added")  # of plans, what a person looks at first
SETTINGS_REFUSED = "The settings in the file are not used, the old ones stay in force: {why}."
WRONG_TOKEN = {401: "The operator token is missing.", 403: "This token is not the operator's."}
PAUSED_TEXT = f"{{}}: {PAUSED}. Pushes are looked at then."
NOT_OURS = "This needs a page of this service, and the operator token or a server on this machine alone."


@dataclass(frozen=True)
class OperatorRoutes:
    """The routes of the operator's pages. `hint` asks for a pass; `token` and `bound_to` decide who may ask.

    `bound_to` is "" where a proxy stands before the server: requests through it look like requests of this machine.
    """

    views: Views
    hint: Callable[[str], object]
    token: str | None
    bound_to: Callable[[], str]
    progress: Progress = field(default_factory=Progress)

    def routes(self) -> list[Route]:
        """All of them, and the style and script that they share."""
        pages: Mapping[str, Make] = {
            "/": self._watches,
            "/items": self._items,
            "/submissions": self._submissions,
            "/submissions/{watch}/{path:path}": self._verdict,
            "/plans": self._plans,
            "/plans/{watch}/{digest}": self._plan,
        }
        shown = [Route(path, page_route(make)) for path, make in pages.items()]
        forms = {"/items/try": self.try_item, "/plans/answer": self.answer_plan}
        posts = [Route(path, answer, methods=["POST"]) for path, answer in forms.items()]
        return [*posts, *shown, *map(asset_route, ("site.css", SCRIPT, "copy.js"))]

    def _page(self, template: str, path: str, **values: Any) -> bytes:
        shared = {"now": moment(self.views.clock()), "clock_of": moment, "noun_of": noun_of}
        return operator_page(template, path, may=who_may(self.token, self.bound_to()), **shared, **values)

    def _watches(self, request: Request) -> bytes:
        _, watches, refused = self.views.overview()
        causes = {watch.name: self.views.store.of(watch.name).items.causes(CAUSES) for watch in watches}
        imports = {one.name: PAUSED_TEXT.format(one.name) for one in watches if one.failure == PAUSED}
        plans = self._waiting([one for one in watches if one.name not in imports])
        said = [Sentence(SETTINGS_REFUSED.format(why=refused.rstrip(".")))] if refused else []
        return self._page(
            "watches.html",
            "",
            watches=sorted(watches, key=lambda one: (_is_calm(one, causes[one.name]), not causes[one.name])),
            accounted=accounted,
            calm={one.name for one in watches if len(watches) > 1 and _is_calm(one, causes[one.name])},
            budgets=self.views.budgets(),
            causes=causes,
            failing=[one.name for one in watches if causes[one.name] or one.failure or one.status == "failed"],
            can_try=any(not one.needs_token for found in causes.values() for one in found),
            sentences=[*said, *self._sentences(watches, causes, plans, imports)],
            well=counted_alone(watches),
            plans=_address(plans),
            waiting={one: _address([plan for plan in plans if plan[0] == one]) for one, _ in plans},
            paused=imports,
            note=TRIED if "tried" in request.query_params else "",
            link=partial(target_url, hub=self.views.hub),
            commit_url=partial(commit_url, hub=self.views.hub),
            happened={watch.name: lines_of(self.views.history(watch.name)) for watch in watches},
            linked=self._linked,
            about=self._about,
            referrer="same-origin",
        )

    def _sentences(
        self,
        watches: Sequence[WatchView],
        causes: Mapping[str, Sequence[FailureCause]],
        plans: Sequence[tuple[str, Plan]],
        imports: Mapping[str, str],
    ) -> list[Sentence]:
        """The first sentences of the first page; none where all is well."""
        now, of = self.views.clock(), self.views.store.of
        others = [watch for watch in watches if watch.name not in imports]
        running = [text for one in others for text in self.progress.sentences(one, of(one.name).items.counts(), now)]
        return [
            *situation(others, causes, plans, now, self.views.hub),
            *(Sentence(text, "runs") for text in (*running, *imports.values())),
        ] or list(still_at_work(others, now))

    def _waiting(self, watches: Sequence[WatchView]) -> list[tuple[str, Plan]]:
        """The plans that wait for a person, each with the name of its watch."""
        held = [(one.name, plan) for one in watches for plan in self.views.store.of(one.name).plans.all() if plan.waits]
        return [(name, plan.plan) for name, plan in held]

    def _items(self, request: Request) -> bytes | None:
        names, watch = self._chosen(request)
        watch, busy = self.views.busiest([watch] if "watch" in request.query_params else names)
        state: ItemState = next((one for one in STATES if one == request.query_params.get("state")), busy)
        after = place_of(request.query_params.get("after", ""))
        cause = request.query_params.get("cause", "")[:LONGEST_CAUSE] if state != "waiting" else ""
        causes = self.views.store.of(watch).items.causes(CAUSES, state) if state != "waiting" else []
        causes = [one for one in causes if one.count > 1]
        # Items of one cause are one line, until a person asks for them.
        grouped = [] if cause else [one.reason for one in causes]
        counts = self.views.store.of(watch).items.counts()
        found = self.views.items(watch, state, after, PAGE + 1, cause=cause, without=grouped)
        last = found[PAGE - 1] if len(found) > PAGE else None
        shown = [one for one in causes if (one.reason == cause if cause else not after)]
        can_try = any(not one.needs_token for one in found) or any(not one.needs_token for one in shown)
        return self._page(
            "items.html",
            "items",
            watches=names,
            watch=watch,
            states=STATES,
            counts={one: sum(count for (_, at), count in counts.items() if at == one) for one in STATES},
            state=state,
            items=found[:PAGE],
            causes=shown,
            can_try=state not in {"held", "declined"} and can_try,
            cause=cause,
            note=TRIED if "tried" in request.query_params else "",
            first={
                one.reason: self.views.items(watch, state, None, HELD_NAMED, cause=one.reason)
                for one in (shown if state != "failing" else ())
            },
            link_of=self._link_of,
            linked=self._linked,
            next=address_of("items", watch=watch, state=state, cause=cause, after=last.id) if last else "",
            referrer="same-origin",
        )

    def _linked(self, text: str, watch: str, root: str = "") -> Markup:
        """A text in which the addresses of the watch's own repositories, and its plans, are links; see `linked`."""
        settings = self.views.watch(watch)
        addresses = (
            [url for one in settings.addresses if (url := target_url(one, hub=self.views.hub))] if settings else []
        )
        return linked(text, addresses, f"{root}plans/{quote(watch)}")

    def _about(self, subject: str, watch: str, root: str = "") -> Markup:
        """What an outcome is about: a row or a file as a link to the submissions, a plan as one to its page."""
        if "/" not in subject or " " in subject or "://" in subject or subject.startswith(ROLLING):
            return self._linked(subject, watch, root)
        address = root + address_of("submissions", watch=watch, q=subject[:LONGEST_SEARCH])
        return Markup('<a href="{}">{}</a>').format(address, shortened(visible(subject)))

    def _link_of(self, item: ItemView) -> str:
        """The page of the subject of an item, "" if it has none."""
        settings = self.views.watch(item.watch)
        match item.kind:
            case "row" | "folder":
                return address_of("submissions", watch=item.watch, q=item.subject[:LONGEST_SEARCH])
            case "file":
                return f"submissions/{quote(item.watch)}/{quote(item.subject)}"
            case "request":
                return request_url(item.target, item.subject, self.views.hub)
            case "review" | "merged" if settings is not None:
                return request_url(settings.source, item.subject, self.views.hub)
        return target_url(item.target or (settings.source if settings else ""), hub=self.views.hub)

    def _submissions(self, request: Request) -> bytes:
        names, watch = self._chosen(request)
        query, known = request.query_params, self.views.store.of(watch).submissions
        text, status = query.get("q", "").strip()[:LONGEST_SEARCH], query.get("status", "")
        begun, _, path = query.get("after", "").partition(" ")
        kinds = [status] if status else NEEDED_FIRST[NEEDED_FIRST.index(begun) if begun in NEEDED_FIRST else 0 :]
        found: list[SubmissionView] = []
        for kind in kinds:
            after = path if kind == begun else ""
            found += (
                self.views.submissions(watch, kind, text, after, PAGE + 1 - len(found)) if len(found) <= PAGE else []
            )
        last = found[PAGE - 1] if len(found) > PAGE else None
        after = f"{last.status} {last.path}" if last else ""
        following = {"watch": watch, "q": text, "status": status, "after": after} if after else {}
        return self._page(
            "submissions.html",
            "submissions",
            watches=names,
            watch=watch,
            q=text,
            status=status,
            statuses=STATUSES,
            counts=known.counts(),
            submissions=found[:PAGE],
            there=self._shown(watch, [one.row for one in found if one.row]),
            reasons=known.rejections(CAUSES) if not text and status in {"", "rejected"} else [],
            next=address_of("submissions", **following) if following else "",
        )

    def _shown(self, watch: str, rows: Sequence[str]) -> set[str]:
        """Those of some rows that the first board of a watch has."""
        settings = self.views.watch(watch)
        boards = self.views.boards.names(settings) if settings else {}
        target = next((to for to, name in boards.items() if name == watch), "")
        return self.views.store.of(watch).boards.having(target, rows) if target else set()

    def _verdict(self, request: Request) -> bytes | None:
        name, path = request.path_params["watch"], request.path_params["path"]
        verdict = self.views.verdict(name, path)
        if verdict is None:
            return None
        page, key, settings = f"submissions/{name}/{path}", verdict.submission.row, self.views.watch(name)
        tasks = self.views.leaderboard(settings).tasks if settings else ()
        return self._page(
            "verdict.html",
            page,
            verdict=verdict,
            place=self._place(settings, key) if settings and key else None,
            waits=self._linked(self._waits(settings, key) if settings and key else "", name, root_of(page)),
            coded=partial(linked, addresses=(), plans=""),
            titles={task.id: task.title for task in tasks},
        )

    def _place(self, watch: Watch, key: str) -> tuple[str, BoardRow] | None:
        """The page and the row of a key on the first board of a watch that has it, None if none has."""
        for board in self.views.boards.names(watch).values():
            shown = self.views.boards.board(board)
            name = shown.site.content.names.get(key) if shown else None
            if shown and name:
                return f"board/{board}/{row_page(name)}", shown.site.content.rows[name]
        return None

    def _waits(self, watch: Watch, key: str) -> str:
        """A sentence about what the row of a key waits for at the first target where it does, "" if it does not."""
        items = self.views.store.of(watch.name).items
        found = (items.get("row", target.to, key) for target in watch.targets)
        match next(filter(None, found), None):
            case None:
                return ""
            case Item(is_held=True, reason=reason):
                return f"Its row is {reason or 'held'}."
            case Item(attempts=0):
                return "Its row waits for the next pass."
            case Item(reason=reason, due=due):
                now = self.views.clock()
                next_try = shown_time(due, now) if due > now else "now"
                return f"Its row fails: {reason.rstrip('.') or 'something failed'}. Next try {next_try}."

    def _plans(self, _: Request) -> bytes:
        found = [self.views.plan(one.watch, one.digest) for one in self.views.plans()]
        plans = [
            (plan, _groups_of(rows, 0, PLAN_SAMPLE), self._leader(plan, rows)) for plan, rows in filter(None, found)
        ]
        return self._page(
            "plans.html", "plans", plans=plans, link=partial(target_url, hub=self.views.hub), referrer="same-origin"
        )

    def _plan(self, request: Request) -> bytes | None:
        name, digest = request.path_params["watch"], request.path_params["digest"]
        page = self._plan_page(f"plans/{name}/{digest}", name, digest, number_in(request, "first"))
        return page or self._past_plan(name, digest)

    def _plan_page(self, path: str, name: str, digest: str, first: int = 0, wrong: str = "") -> bytes | None:
        """The page of a plan as it stands at a path, None if it is not held; `wrong` says what a token is."""
        found = self.views.plan(name, digest)
        if found is None:
            return None
        plan, rows = found
        address = f"plans/{quote(name)}/{quote(digest)}"
        following = address_of(address, first=str(first + PLAN_PAGE)) if len(rows) > first + PLAN_PAGE else ""
        settings = self.views.watch(name)
        board = self.views.boards.names(settings).get(plan.target, "") if settings else ""
        shown = self.views.boards.board(board)
        names = shown.site.content.rows.items() if shown else ()
        there = {one.entry.key: (one, f"board/{board}/{row_page(name)}") for name, one in names}
        return self._page(
            "plan.html",
            path,
            plan=plan,
            groups=_groups_of(rows, first, PLAN_PAGE),
            next=following,
            is_later=first > 0,
            there=there,
            hub=self.views.hub,
            going=_going(rows, there),
            board=f"board/{board}/" if board else "",
            leader=self._leader(plan, rows),
            link=target_url(plan.target, hub=self.views.hub),
            wrong=wrong,
            referrer="same-origin",
        )

    def _leader(self, plan: PlanView, rows: Sequence[PlannedRow]) -> str:
        """The first row of the board where a plan, of which these are the rows, removes it."""
        first = self.views.store.of(plan.watch).boards.first(plan.target, 1)
        gone = {row.key for row in rows if row.action == "removed"}
        return next((one.model.id for one in first if one.key in gone), "")

    def _past_plan(self, name: str, digest: str) -> bytes | None:
        """The page of a plan that no longer waits, as long as anything is known of it: older links lead here."""
        past = past_plan(self.views.history(name), digest)
        if past is None:
            return None
        page, shown = f"plans/{name}/{digest}", {"linked": self._linked, "about": self._about}
        return self._page("past_plan.html", page, watch=name, past=past, then=lines_of(past.then), **shown)

    def _chosen(self, request: Request) -> tuple[list[str], str]:
        """The names of all watches, and the one that was asked for, else the first."""
        names = [watch.name for watch in self.views.watches()]
        asked = request.query_params.get("watch", "")
        return names, asked if asked in names else next(iter(names), "")

    async def try_item(self, request: Request) -> Response:
        """`POST /items/try`: let one item, or all that fail for one cause, be tried at once, and ask for a pass.

        A cause is the watch, a space and the reason; `state` is then that of the list of items, "" on the first page.
        """
        fields = await self._sent(request)
        if isinstance(fields, Response):
            return fields
        if refusal := self._refusal(request, fields):
            return message_page(request, *refusal)
        is_cause, state, now = "cause" in fields, fields.get("state", ""), self.views.clock()
        watch, _, reason = fields["cause"].partition(" ") if is_cause else (fields.get("watch", ""), "", "")
        items, place = self.views.store.of(watch).items, place_of(fields.get("item", ""))

        def retry() -> bool:
            return items.retry_cause(reason, now) > 0 if is_cause else place is not None and items.retry(place, now)

        if self.views.watch(watch) is None or not await run_in_threadpool(retry):
            return message_page(request, 404, "Not there", NO_CAUSE if is_cause else NO_ITEM)
        self.hint(watch)
        page = "items" if state or not is_cause else ""
        return RedirectResponse(f"../{address_of(page, watch=watch, state=state, tried='yes')}", 303)

    async def answer_plan(self, request: Request) -> Response:
        """`POST /plans/answer`: approve or decline a plan, by its watch and digest, and ask for a pass."""
        fields = await self._sent(request)
        if isinstance(fields, Response):
            return fields
        watch, digest, answer = (fields.get(name, "") for name in ("watch", "digest", "answer"))
        if refusal := self._refusal(request, fields):
            status, _, wrong = refusal
            page = await run_in_threadpool(self._plan_page, "plans/answer", watch, digest, wrong=wrong)
            return Response(page, status, media_type=HTML) if page else message_page(request, *refusal)
        state = self.views.store.of(watch)
        decide = {"approve": state.plans.approve, "decline": state.plans.decline}.get(answer)
        if decide is None or self.views.watch(watch) is None or not await run_in_threadpool(decide, digest):
            return message_page(request, 404, "Not there", "This plan does not wait any more.")
        said = (f"{answer}d", f"plan {digest}", "answered on the operator's page")
        await run_in_threadpool(state.add_outcomes, [said])
        logging.getLogger(__name__).info("%s: %s %s: %s", watch, *said)
        self.hint(watch)
        return RedirectResponse("../plans", 303)

    @staticmethod
    async def _sent(request: Request) -> dict[str, str] | Response:
        """The fields of a form, or the answer to what is none."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_body(request, FORM)
        except (TimeoutError, ClientDisconnect):
            return Response(status_code=408, headers={"connection": "close"})
        return message_page(request, 413, "Refused", "The form is too large.") if body is None else form_fields(body)

    def _refusal(self, request: Request, fields: Mapping[str, str]) -> tuple[int, str, str] | None:
        """The status, the title and the reason with which a form is refused; None if it may change something."""
        bound_to = self.bound_to()
        refused = refuse_change(request, self.token, bound_to, fields.get("token"))
        if refused is None:
            return None
        is_token = refuse_change(request, self.token, bound_to, self.token) is None  # the right one would do
        return refused.status_code, "Refused", WRONG_TOKEN[refused.status_code] if is_token else NOT_OURS


class PlanGroup(NamedTuple):
    """Rows of a plan that share what becomes of them and why; `total` counts those of other pages, too.

    Of rows with a reason each, the reason is "".
    """

    action: RowAction
    reason: str
    total: int
    rows: Sequence[PlannedRow]


def _groups_of(rows: Sequence[PlannedRow], first: int, most: int) -> list[PlanGroup]:
    """So many of the rows, from the first on: those that go before others, and the best of each group first."""
    times = Counter((row.action, row.reason) for row in rows)
    best = sorted(rows, key=lambda row: row.before if row.before is not None else row.after or 0.0, reverse=True)
    best.sort(key=lambda row: ACTIONS.index(row.action))
    groups = grouped(((row.action, row.reason if times[row.action, row.reason] > 1 else ""), row) for row in best)
    shown = list[PlanGroup]()
    for (action, reason), some in groups.items():
        part = some[max(0, first) : max(0, first + most)]
        shown += [PlanGroup(action, reason, len(some), part)] if part else []
        first -= len(some)
    return shown


def _going(rows: Sequence[PlannedRow], there: Mapping[str, tuple[BoardRow, str]]) -> list[tuple[int, str, str]]:
    """The rows that a plan removes from the first ten of a board: place, model and page of each."""
    gone = [(row.model, *there[row.key]) for row in rows if row.action == "removed" and row.key in there]
    found = [(one.position, model, page) for model, one, page in gone if one.rank is not None]
    return sorted(one for one in found if one[0] <= FIRST_PLACES)


def _address(plans: Sequence[tuple[str, Plan]]) -> str:
    """Where plans, each with the name of its watch, are answered: the page of the only one, else that of all."""
    return f"plans/{quote(plans[0][0])}/{plans[0][1].digest}" if len(plans) == 1 else "plans"


def _is_calm(watch: WatchView, causes: Sequence[FailureCause]) -> bool:
    """Tell whether nothing of a watch needs a person: it comes after the others, in one line."""
    return watch.status == "ok" and not causes and not watch.failure and not watch.items.get("held")
