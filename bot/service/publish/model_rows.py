"""Rows on the pages of the evaluated models: one request for each model, in the model's own repository."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar

from bot.errors import CallError, DiscussionsDisabled, Gone, Refused
from bot.evaluation.row_key import model_folder
from bot.platforms.hub.models import HubModels
from bot.publishing.addresses import model_url
from bot.publishing.decisions import Place
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.desired import DesiredModel, WantedModel, desired_model
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, eval_results_path
from bot.publishing.hub_evals.model_layout import (
    ModelsOptions,
    model_mark,
    model_of,
)
from bot.publishing.layout import Layout, RowChange
from bot.publishing.plan import PlannedRow, RowAction
from bot.publishing.publication import (
    CurrentState,
    Decision,
    DesiredState,
    OpenRequest,
    UpdateRequest,
    decide,
)
from bot.reporting.escape import code
from bot.service.publish.gate import Look
from bot.service.publish.ledger import OpenRequests
from bot.service.publish.publisher import FoundRow, PlacedRows, Proposal, TargetRows
from bot.service.publish.reconcile import PublishResult
from bot.service.store.items import Item, marks
from bot.service.store.memory import FIRST_WRITE, MODEL_PLACE, ModelPlace


@dataclass(frozen=True)
class SeenModel:
    """One model with the `state` of its repository at `paths`, what is `wanted` there, and the decision."""

    model: str
    items: Sequence[Item]
    paths: tuple[str, ...]
    wanted: WantedModel
    state: CurrentState
    found: DesiredModel
    decision: Decision

    @property
    def entry(self) -> Entry | None:
        """The entry of the model that counts."""
        row = self.wanted.layout.row(self.wanted.changes)
        return row.entry if row is not None else None

    @property
    def is_known(self) -> bool:
        """Tell whether the bot has, or had, a result or a request there, so that somebody allowed it to write."""
        is_shown, state = self.wanted.layout.shows(self.state.files), self.state
        return is_shown or state.request is not None or bool(state.declined)

    @property
    def planned(self) -> PlannedRow:
        """The planned change of the model's results."""
        done = self.decision.publication
        files: Mapping[str, bytes | None] = getattr(done, "files", {})
        action: RowAction = "changed" if self.is_known else "added"
        if done is None:
            action = "unchanged"
        elif not any(data is not None for data in files.values()):
            action = "removed"
        cells = [cell for each in self.found.draft.cells.values() for cell in each]
        written = ", ".join(f"{cell.column} {cell.before or '–'} → {cell.after}" for cell in cells)
        shown = "; ".join(filter(None, [written, *self.found.draft.refused.values()]))
        digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
        reason = "its rows changed" if action in {"changed", "removed"} else ""
        return PlannedRow(self.model, self.model, action, reason=reason, digest=digest, values=shown)


@dataclass
class ModelRows(TargetRows[SeenModel]):
    """The rows of one watch on the pages of their models.

    Before anything was ever written, all models are looked at, and what would be written waits as a plan. Afterwards
    models with a value or request of the bot come first, for the safety catch; `rest` are the new ones, which follow
    one by one until the limit of one settlement is reached. The others wait for the next one.
    """

    layout: ClassVar[type[Layout]] = EvalResultsLayout
    known: set[str] = field(default_factory=set)
    rest: dict[str, list[Item]] = field(default_factory=dict)

    @property
    def takes_more(self) -> bool:
        """Tell whether the limit of one settlement is not reached."""
        return self.report.written[self.settings.to] < self._options.limit

    def look(self, items: Sequence[Item]) -> list[Look[SeenModel]]:
        """The models that have a result or request of the bot; all of them before anything was ever written."""
        self.known = set(self.context.state.published.at(self.settings.to))
        models = self._models(items, self.known)
        if models:
            _ = self._models_of_hub.client.user  # from here on a refusal concerns one repository
        first = {model for model in models if not self._may_write or model in self.known}
        looks = [look for model in sorted(first) if (look := self._look(model, models[model])) is not None]
        self.known |= self._remember_ours(look for look in looks if look.is_known)
        if not self._may_write and any(look.is_known for look in looks):
            self._allow()
        self.rest = {model: waiting for model, waiting in models.items() if model not in first}
        return [Look(one.planned, one.items, one.entry, one) for one in looks]

    @property
    def is_first(self) -> bool:
        """Tell whether no plan was approved yet, and nothing of the bot was found."""
        return not self._may_write

    def size(self) -> int:
        """The number of models that have a result or request of the bot."""
        return len(self.known)

    def entries(self) -> list[Entry]:
        """Always none: the pages of models are no board."""
        return []

    def observe(self) -> None:
        """Once a day, mark the models with an open request: nothing tells the bot that one does not merge any more."""
        if self.context.due("sweep", target=self.settings.to):
            places = self.places(self.accepted()).places
            opened = sorted(key for key, place in places.items() if place == "open")
            self.context.mark(marks("row", opened, [self.settings.to]))

    def accepted(self) -> dict[str, str]:
        """The accepted rows of the models that the settings list; none where no task names a benchmark."""
        is_mapped = any(task.hub for task in self.context.leaderboard.tasks)
        rows = super().accepted() if is_mapped else {}
        return {key: digest for key, digest in rows.items() if self._options.allow(model_of(key))}

    def places(self, accepted: Mapping[str, str]) -> PlacedRows:
        """Where the results of each row's model were at the last look; many repositories are not asked again."""
        known = self.context.state.recall_all(MODEL_PLACE, target=self.settings.to)
        found = {key: known[model_of(key)] for key in accepted if model_of(key) in known}
        places = {key: one.place for key, one in found.items() if one.place is not None}
        refused = {key: one.refused for key, one in found.items() if one.refused}
        requests = OpenRequests(len({model_of(key) for key, place in places.items() if place == "open"}))
        return PlacedRows(places, refused, requests)

    def find(self, rows: Mapping[str, str]) -> dict[str, FoundRow]:
        """Where the results of a few rows' models are; a model of which one is proposed is asked for its request."""
        found: dict[str, FoundRow] = {}
        for key, place in self.places(rows).places.items():
            model, request = model_of(key), None
            if place == "open":
                with suppress(Gone, DiscussionsDisabled):
                    mark = model_mark(model, self.context.leaderboard.id)
                    request = self._models_of_hub.repository(model).read_state(mark, ()).request
            found[key] = FoundRow(place, request, model, f"[{code(model)}]({model_url(model)})")
        return found

    def proposals(self, admitted: Sequence[Look[SeenModel]]) -> Iterator[Proposal]:
        """A request for each model until the limit is reached; what changes nothing does not count."""
        if any(look.seen.decision.publication for look in admitted):
            self._allow()
        found = (self._look(model, items) for model, items in self.rest.items())
        new = (one for one in found if one is not None and self._is_new(one))
        looks = chain((look.seen for look in admitted), new)
        written, limit = self.report.written, self._options.limit
        while written[self.settings.to] < limit and (look := next(looks, None)) is not None:
            if look.decision.publication is not None:
                written[self.settings.to] += 1
                if written[self.settings.to] == limit:
                    text = f"the limit of this settlement is reached ({limit}); the other models wait for the next one"
                    self.report.say("unchanged", self.settings.to, text)
            yield self._proposal(look)

    def _proposal(self, look: SeenModel) -> Proposal:
        found = [look.found]

        def desire(state: CurrentState) -> DesiredState:
            found[:] = [desired_model(look.wanted, state)]
            return found[0].desired

        repository = self._models_of_hub.repository(look.model)
        return Proposal(
            look.items,
            repository,
            look.wanted.mark,
            look.paths,
            desire,
            "pull-request",
            lambda done: self._note(replace(look, found=found[0]), done),
            look.model,
        )

    def _is_new(self, look: SeenModel) -> bool:
        """Tell whether a model needs no safety catch; one that has something of the bot waits for the next pass."""
        if look.is_known and look.decision.publication is not None:
            self._remember_ours([look])
            return False
        return True

    # what is known without asking the Hub

    @property
    def _options(self) -> ModelsOptions:
        if self.settings.models is None:
            raise CallError(f"{self.settings.to}: there are no settings of models")
        return self.settings.models

    @property
    def _models_of_hub(self) -> HubModels:
        if not isinstance(self.target, HubModels):
            raise CallError(f"{self.settings.to} is not the target of all models")
        return self.target

    @property
    def _may_write(self) -> bool:
        """Tell whether a first plan was approved, or something of the bot was found."""
        return self.context.state.recall(FIRST_WRITE, target=self.settings.to) is not None

    def _allow(self) -> None:
        self.context.state.remember(FIRST_WRITE, self.context.clock(), target=self.settings.to)

    def _models(self, items: Sequence[Item], known: Collection[str]) -> dict[str, list[Item]]:
        """The items by model; items for which nothing is to be done are finished without a request.

        Nothing is to be done for models that the settings do not list, and for new models where no task names a
        benchmark.
        """
        is_mapped = any(task.hub for task in self.context.leaderboard.tasks)
        found: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            found[model_of(item.subject)].append(item)
        idle = [one for one in found if not self._options.allow(one) or not (is_mapped or one in known)]
        for model in idle:
            self.context.finish(found.pop(model))
        return dict(sorted(found.items()))

    # looking

    def _look(self, model: str, items: Sequence[Item]) -> SeenModel | None:
        """Look at one model; None if that fails, or where its repository takes no requests."""
        looks: list[SeenModel] = []

        def call() -> None:
            try:
                looks.append(self._look_at(model, items))
            except Refused as refusal:  # not there, gated, without discussions
                self.report.say("rejected", model, str(refusal))
                self.context.state.remember(
                    MODEL_PLACE, ModelPlace(refused=str(refusal)), model, target=self.settings.to
                )
                self.context.finish(items)

        self.report.attempt(items, call, finish=False)
        return looks[0] if looks else None

    def _look_at(self, model: str, items: Sequence[Item]) -> SeenModel:
        hub = self._models_of_hub
        repository = hub.repository(model)
        tasks = [task.hub.dataset for task in self.context.leaderboard.tasks if task.hub is not None]
        page = hub.page(repository, dict.fromkeys(tasks))
        layout = EvalResultsLayout(self.context.leaderboard, page)
        changes = self._changes(items)
        paths = layout.paths(hub.result_files(repository))
        closings = repository.closings(model_mark(model, layout.leaderboard.id))
        wanted = WantedModel(model, layout, changes, self.context.notes_at(self.settings.to), closings)
        read = repository.read_state(wanted.mark, paths)
        state = self.with_closed(repository, read, lambda: layout.marks(layout.draft(changes, read.files).files))
        found = desired_model(wanted, state)
        decision = decide(wanted.mark, found.desired.text, found.desired.files, state, "pull-request")
        return SeenModel(model, items, paths, wanted, state, found, decision)

    def _changes(self, items: Sequence[Item]) -> list[RowChange]:
        """All rows of the model: those that its submissions make, and those that they make no longer."""
        keys = {item.subject for item in items}
        keys |= self.context.state.submissions.keys_below(model_folder(items[0].subject))
        made = self.context.made(self.context.submissions_of(keys))
        rows = {entry.key: entry for entry in made.entries}
        return [RowChange(key, rows.get(key)) for key in sorted(keys)]

    # writing

    def _note(self, look: SeenModel, done: PublishResult) -> str:
        """Say what was left out and why, remember the model, and return what the Hub shows of it."""
        found, model, publication = look.found, look.model, done.decision.publication
        for why in found.draft.refused.values():
            self.report.say("rejected", model, why)
        if found.closed:
            self.report.say("unchanged", model, found.closed)
        elif not found.draft.files and not found.draft.refused and found.draft.remarks:
            self.report.say("unchanged", model, " ".join(found.draft.remarks))
        place = place_of(look, is_written=publication is not None and not self.context.dry_run)
        refused = "; ".join(found.draft.refused.values())
        known = ModelPlace(place, "" if place else refused)
        self.context.state.remember(
            MODEL_PLACE, known if known != ModelPlace() else None, model, target=self.settings.to
        )
        if not self.context.dry_run:
            self._remember(look, is_ours=bool(found.draft.files) or look.is_known)
        return self._seen(look) if isinstance(publication, OpenRequest | UpdateRequest) else ""

    def _seen(self, look: SeenModel) -> str:
        """A sentence about the proposed files that the Hub shows; each file that it hides gets its own outcome."""
        if self.context.dry_run:
            return ""
        board = self.context.leaderboard
        paths = {eval_results_path(board.id, task.id): task.hub.task_id for task in board.tasks if task.hub is not None}
        proposed = {path: paths[path] for path, data in look.found.draft.files.items() if data and path in paths}
        if not proposed:
            return ""
        unshown = self._models_of_hub.unshown(look.model, proposed)
        for why in unshown:
            self.report.say("rejected", look.model, why)
        return "" if unshown else f"; the Hub shows {len(proposed)} of {len(proposed)} files"

    def _remember_ours(self, looks: Iterable[SeenModel]) -> set[str]:
        """Remember at once which models have something of the bot, so that the safety catch reads them from now on."""
        ours = {look.model for look in looks}
        self.context.state.published.keep(self.settings.to, dict.fromkeys(ours, (b"", None)))
        return ours

    def _remember(self, look: SeenModel, *, is_ours: bool) -> None:
        state, to = self.context.state, self.settings.to
        if is_ours:
            state.published.keep(to, {look.model: (b"", None)})
        else:
            state.published.forget(to, [look.model])


def place_of(look: SeenModel, *, is_written: bool) -> Place | None:
    """Where the results of a model are after a look, None for nowhere. `is_written` says that something was sent."""
    if look.found.closed:
        return "declined"
    if is_written or look.state.request is not None:
        return "open"
    return None if look.decision.publication is not None or look.found.draft.refused else "main"
