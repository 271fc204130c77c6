"""Update what follows from merged rows: the table, the alarm about columns, the plan's discussion, facts of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from msgspec.structs import replace as replaced

from bot.audits.board.audit import audit_board
from bot.errors import NoWriteAccess
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.submission import iso_date
from bot.pages.content import PageContent
from bot.pages.site import Site
from bot.platforms.history import folder_history
from bot.platforms.hub.platform import HubPlatform
from bot.platforms.hub.source import read_facts, read_heads
from bot.platforms.net import bulk_work
from bot.platforms.sites import publish_site
from bot.platforms.target import Target
from bot.publishing.board import CSV_NAME, board_of, faults_of, make_board
from bot.publishing.entries import desired_together
from bot.publishing.entry import Entry
from bot.publishing.models import UNKNOWN, ModelFacts
from bot.publishing.publication import plan_mark, rolling_mark
from bot.publishing.texts import alarm_mark, alarm_text, plan_done_text, plan_text
from bot.service.context import WatchContext
from bot.service.judge.reading import judge_twins
from bot.service.publish.ledger import observe_main
from bot.service.publish.reconcile import (
    board_at,
    publish_comment,
    rebuild_board,
    reconcile,
    retry_write,
    rival_of,
    words_at,
)
from bot.service.store.boards import StoredBoard
from bot.service.store.items import Mark, marks
from bot.service.store.memory import (
    BOARD,
    MODEL,
    MODELS_ASKED,
    MODELS_MOVED,
    PLAN_DISCUSSION,
    SHOWN_EVIDENCE,
    SITE,
    KnownModel,
)
from bot.service.store.state import WatchState
from bot.service.waits import MODEL_EVERY
from bot.service.watch.outcome import Report

MODELS_AT_ONCE = 200  # models of one look-up
LONGEST_MODEL_ID = 200  # letters of a name; the Hub allows 96


def look_up_models(context: WatchContext, models: Iterable[str]) -> bool:
    """Ask the Hub about the models with the oldest answers; tell whether anything new was learned.

    At most MODELS_AT_ONCE models in an hour, each once a day, as bulk work. Raises Unavailable.
    """
    state, now = context.state, context.clock()
    known = known_models(state)
    possible = {
        one for one in models if 0 < len(one) <= LONGEST_MODEL_ID and one.isprintable()
    }  # strangers write anything
    asked = {model: _asked_at(known.get(model), context) for model in possible}
    due = [
        model for at, model in sorted((at, model) for model, at in asked.items() if not 0 <= now - at < MODEL_EVERY)
    ][:MODELS_AT_ONCE]
    if not due:
        return False
    state.remember(MODELS_ASKED, now)
    with bulk_work():
        heads = read_heads(HubPlatform.client(context.opener), due) if context.watch.look_up_heads else {}
        facts = read_facts(HubPlatform.client(context.opener), due) if context.watch.look_up_models else {}
    today = datetime.fromtimestamp(now, UTC).date().isoformat()
    nothing = ModelFacts(date=today) if context.watch.look_up_models else UNKNOWN
    learned = {
        model: _learn(known.get(model), now, today, heads.get(model, ""), facts.get(model, nothing)) for model in due
    }
    state.remember_all(MODEL, learned)
    is_new = any(
        model not in known or replaced(one, at=known[model].at) != known[model] for model, one in learned.items()
    )
    if is_new:
        state.remember(MODELS_MOVED, now)
    return is_new


def _learn(before: KnownModel | None, now: float, today: str, head: str, facts: ModelFacts) -> KnownModel:
    """What is known after an answer; facts that did not change keep their date, so that no page changes."""
    if before is None:
        return KnownModel(now, head, today, facts)
    is_same = replaced(facts, date=before.facts.date) == before.facts
    since = before.since if head == before.head else today
    return KnownModel(now, head, since, before.facts if is_same and before.facts.date else facts)


def _asked_at(known: KnownModel | None, context: WatchContext) -> float:
    """When the Hub was last asked everything that the settings want (Unix seconds); 0 for never."""
    is_whole = known is not None and (not context.watch.look_up_models or bool(known.facts.date))
    return known.at if known is not None and is_whole else 0.0


def known_models(state: WatchState) -> Mapping[str, KnownModel]:
    """What the Hub said of each model."""
    return state.recall_all(MODEL)


def known_facts(state: WatchState, entries: Iterable[Entry]) -> dict[str, ModelFacts]:
    """What the Hub said of the model of each row, by the row's key."""
    asked = known_models(state)
    facts = {entry.key: asked[entry.model.id].facts for entry in entries if entry.model.id in asked}
    return {key: one for key, one in facts.items() if one != UNKNOWN}


FEWEST_COLUMNS = 3  # for an alarm: a column is held against the mean of at least two others
WITHDRAWN = "its files are gone from the source, or are not accepted any more"
TAKEN = "somebody took it from the board"
FAULTS_NAMED = 20  # files among the entries that are not entries, which one pass names


@dataclass(frozen=True)
class BoardUpdater:
    """Updates what follows from the rows at one target."""

    context: WatchContext
    target: Target
    to: str
    report: Report

    def learn(self) -> None:
        """Read the rows on main where none is stored, as after a loss of the state: new rows are compared with them."""
        self._keep(self.target.scan_entries().of(self.context.leaderboard.id))

    def remove_duplicates(self) -> None:
        """Close the later of two requests or comments with one mark: two processes may have written at the same moment.

        A request of a withdrawn row that somebody opened again is marked: merged, it would bring the row back.
        """
        for duplicate in self.target.find_duplicates():
            self.target.remove_duplicate(duplicate)
            self.report.say("written", duplicate.mark.key, f"closed the later {duplicate.kind} {duplicate.name}")
        digests = self.context.state.rows.digests(self.target.read_keys(self.context.leaderboard.id))
        withdrawn = [key for key, digest in digests.items() if not digest]
        self.context.mark(marks("row", withdrawn, [self.to]))

    def rebuild(self) -> None:
        """Bring the table to what was merged; where a column stops following the rest, an alarm says so."""
        try:
            if rebuild_board(self.target, self.context.leaderboard):
                self.report.say("written", f"board of {self.to}", "rebuilt from what was merged")
        except NoWriteAccess:
            if said := self._propose_board():
                self.report.say("proposed", f"board of {self.to}", said)
        there = self.target.scan_entries()
        if rival := rival_of(self.context.leaderboard, there.entries):
            text = f"{CSV_NAME} shows {rival}, which has more rows there; give each leaderboard a repository of its own"
            self.report.say("unchanged", f"board of {self.to}", text)
        for path, why in sorted(there.skipped.items())[:FAULTS_NAMED]:
            self.report.say("rejected", path, why)
        entries = there.of(self.context.leaderboard.id)
        for key, fault in sorted(faults_of(entries, declared=self.context.leaderboard).items())[:FAULTS_NAMED]:
            self.report.say("rejected", key, f"it has no rank at {self.to}: {fault.message}")
        self.context.mark([Mark("alarm", "", self.to)])
        observe_main(self.context, self.target, self.to)
        self._keep(entries)
        self.context.state.remember(BOARD, self.target.head(), target=self.to)
        if self.context.is_site(self.to):
            self.context.mark([Mark("site", "", self.to)])

    def publish(self) -> None:
        """Update the web site of the board from the stored rows."""
        context, state = self.context, self.context.state
        kept = state.boards.at(self.to)
        is_empty = kept is None or not state.boards.count_rows(self.to)
        if kept is None or is_empty or not context.is_site(self.to):
            return  # the last pages stay until there is a row again
        kept = replace(kept, models=str(state.recall(MODELS_MOVED) or ""))
        site = Site(board_content(state, self.to, kept, context.watch.source))
        done = retry_write(lambda: publish_site(site, context.watch.site, context.opener))
        if done.changed or done.removed:
            text = f"{counted(done.changed, 'file')} written, {done.removed} removed"
            self.report.say("written", f"site {context.watch.site}", text)
        state.remember(SITE, context.watch.site)

    def look_up_models(self) -> None:
        """Ask the Hub about the models of this board."""
        context = self.context
        entries = context.state.boards.entries(self.to)
        if look_up_models(context, [entry.model.id for entry in entries]) and context.is_site(self.to):
            context.mark([Mark("site", "", self.to)])

    def _keep(self, entries: Sequence[Entry]) -> None:
        """Store the rows for the pages, so that a visitor costs no request."""
        context, board = self.context, self.context.leaderboard
        kept = StoredBoard(self.target.head(), board.id, board.text)
        is_first = context.state.boards.at(self.to) is None
        has_history = is_first and kept.head and "://" not in self.to  # that of a service is fetched by `site`
        history = folder_history(self.target.name, board.id) if has_history else ()
        words = words_at(self.target, entries)
        context.state.remember(SHOWN_EVIDENCE, words, target=self.to)
        moved = context.state.boards.keep(
            self.to, kept, entries, iso_date(context.clock()), history=history, why_gone=self._why_gone
        )
        judge_twins(context, moved)

    def _why_gone(self, keys: Sequence[str]) -> dict[str, str]:
        """Why rows went from the board: the source does not give them any more, else somebody took them there."""
        digests = self.context.state.rows.digests(keys)
        return {key: TAKEN if digests.get(key) else WITHDRAWN for key in keys}

    def _propose_board(self) -> str:
        """Put the derived files into the rolling request; says where, "" if nothing was to be done."""
        board = self.context.leaderboard
        files = self.target.board_files(board_at(self.target, board))
        if not files:
            return ""
        mark = rolling_mark(board.id)
        request = self.target.read_state(mark, ()).request
        notes = self.context.notes_at(self.to)
        done = reconcile(
            self.target,
            mark,
            tuple(dict.fromkeys([*files, *(request.files if request else ())])),
            lambda state: desired_together(
                mark, [], state, "pull-request", derived=files, notes=notes, is_discussed=True
            ),
            "pull-request",
        )
        is_done = done.decision.publication is not None
        return f"the token may not write to main; the table is proposed in {done.where}" if is_done else ""

    def watch(self) -> None:
        """Audit the columns of the rows on main, and update the alarm about them."""
        board = self.context.leaderboard
        entries = self.target.scan_entries().of(board.id)
        there = {task.id for entry in entries for task in entry.tasks}  # a new column waits for a merge
        columns = [task.id for task in board.tasks if task.quarantined is None and task.id in there]
        if not entries or len(columns) < FEWEST_COLUMNS:
            return
        found, mark = audit_board(board_of(entries, board.id, columns)), alarm_mark(board.id)
        text = alarm_text(found, self.target.name, mark)
        if url := publish_comment(mark, text, self.target, may_open=bool(found.named)):
            self.report.say("written", f"columns of {self.to}", f"the discussion says which look broken: {url}")

    def tell_plan(self) -> None:
        """Update the comment about the held plan; where no plan is held any more, the comment says so."""
        mark = plan_mark(self.context.leaderboard.id, self.context.source.name)
        known = self.context.state.plans.at(self.to)
        text = plan_done_text(mark)
        if known is not None:
            is_discussed = self.target.comments is not None and bool(self.context.watch.maintainers)
            text = plan_text(known.plan, mark, is_discussed=is_discussed, is_declined=known.is_declined)
        url = publish_comment(mark, text, self.target, may_open=known is not None)
        waits = known is not None and not known.is_declined
        if self.target.comments is not None and (url or not waits):  # what a person closed opens with the next news
            self.target.comments.set_open(mark, is_open=waits)
        if url:
            self.context.state.remember(PLAN_DISCUSSION, url, target=self.to)
            self.report.say("written", f"plan of {self.to}", f"the discussion says how it stands: {url}")


def board_content(state: WatchState, target: str, kept: StoredBoard, source: str) -> PageContent:
    """The content of a stored board's pages, without any path of this machine; `source` is where results are pushed."""
    declared = parse_leaderboard(kept.declaration, kept.leaderboard, kept.leaderboard)
    entries = state.boards.entries(target)
    words = state.recall(SHOWN_EVIDENCE, target=target) or {}
    board = make_board(entries, declared, words)
    is_remote = "://" in target  # the commits of a folder are read, those of a service are not
    changes = state.boards.changes(target)
    known = {model: one for model, one in known_models(state).items() if one.head} if kept.models else {}
    heads = {model: one.head for model, one in known.items()} or None
    days = {model: one.since for model, one in known.items()}
    facts = known_facts(state, entries) if kept.models else {}
    shown = target if is_remote else ""
    return PageContent(board, shown, changes, heads, days, facts, is_partial=is_remote, pushed_to=source)
