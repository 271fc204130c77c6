"""Publishing rows on the pages of the evaluated models: one request for each model, in the model's own repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from bot.errors import CallError, Refused
from bot.pages.addresses import evidence_links
from bot.platforms.hub.models import HubModels
from bot.platforms.hub.target import HubTarget
from bot.platforms.target import Target
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, eval_results_path
from bot.publishing.hub_evals.model_index import ModelIndexLayout
from bot.publishing.hub_evals.model_layout import ModelsOptions, model_mark
from bot.publishing.layout import RowChange
from bot.publishing.publication import OpenRequest, UpdateRequest
from bot.service.context import WatchContext
from bot.service.gate import Gate, with_held
from bot.service.items import Item
from bot.service.links import other_places
from bot.service.model_looks import DesiredModel, ModelLook, model_of
from bot.service.reconcile import reconcile
from bot.service.settings.config import WatchTarget
from bot.service.watch.outcome import Report


@dataclass
class ModelPublisher:
    """Publishes the rows of one watch on the pages of their models.

    Before anything was ever written, all models are looked at, and what would be written waits as a plan. Afterwards
    models with a value or request of the bot come first, for the safety catch; new ones one by one, until the limit
    of one settlement is reached. The others wait for the next one.
    """

    context: WatchContext
    target: Target
    settings: WatchTarget
    report: Report

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the pages to these rows; a model at which something fails is noted, and the others go on."""
        # nobody can list the bot's requests at all models
        self.context.store.finish([item for item in items if not item.subject])
        if self.report.written[self.settings.to] >= self._options.limit:
            return
        if rows := with_held(self.context, self.settings.to, items):
            self.report.attempt(rows, lambda: self._publish_all(rows), finish=False)

    def _publish_all(self, items: Sequence[Item]) -> None:
        known = self._known()
        models = self._models(items, known)
        if models:
            _ = self._models_of_hub.client.user  # from here on a refusal concerns one repository
        first = {model for model in models if not self._may_write or model in known}
        looks = [look for model in sorted(first) if (look := self._look(model, models[model])) is not None]
        known |= self._remember_ours(look for look in looks if look.is_known)
        if not self._may_write and any(look.is_known for look in looks):
            self._allow()
        gate = Gate(self.context, self.settings.to, self.report, known.__len__, list, is_first=not self._may_write)
        admitted = gate.admit(looks)
        if any(look.decision.publication for look in admitted):
            self._allow()
        rest = (self._look(model, models[model]) for model in models if model not in first)
        self._write([*admitted], (look for look in rest if look is not None and self._is_new(look)))

    def _is_new(self, look: ModelLook) -> bool:
        """Whether a model may be written to without the safety catch; one of the bot has its turn in the next round."""
        if look.is_known and look.decision.publication is not None:
            self._remember_ours([look])
            return False
        return True

    def _write(self, admitted: Sequence[ModelLook], rest: Iterable[ModelLook]) -> None:
        """Write until the limit is reached; what changes nothing does not count."""
        looks, written, limit = chain(admitted, rest), self.report.written, self._options.limit
        while written[self.settings.to] < limit and (look := next(looks, None)) is not None:
            if look.decision.publication is not None:
                written[self.settings.to] += 1
                if written[self.settings.to] == limit:
                    text = f"{limit} repositories were written to; the other models wait for the next settlement"
                    self.report.say("unchanged", self.settings.to, text)
            self.report.attempt(look.items, lambda look=look: self._publish(look))  # type: ignore[misc]

    # what is known without asking the Hub

    @property
    def _options(self) -> ModelsOptions:
        if self.settings.models is None:
            raise CallError(f"{self.settings.to}: there are no settings of models")
        return self.settings.models

    @property
    def _models_of_hub(self) -> HubModels:
        if self.context.models is None:
            raise CallError(f"{self.settings.to} is not the target of all models")
        return self.context.models

    @property
    def _may_write(self) -> bool:
        """Tell whether a first plan was approved, or something of the bot was found."""
        return self.context.store.cursor(self.context.name, self._allowed) is not None

    @property
    def _allowed(self) -> str:
        return f"allowed {self.settings.to}"

    def _allow(self) -> None:
        self.context.store.set_cursor(self.context.name, self._allowed, "yes")

    def _known(self) -> set[str]:
        """The models that have something of the bot, as far as the state knows."""
        return set(self.context.store.published(self.context.name, self.settings.to))

    def _models(self, items: Sequence[Item], known: Collection[str]) -> dict[str, list[Item]]:
        """The items by model; those for which there is nothing to do are done, and nothing is asked about them.

        There is nothing to do for models that are not listed, and without a task of a benchmark for new ones.
        """
        is_mapped = any(task.hub for task in self.context.leaderboard.tasks)
        found: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            found[model_of(item.subject)].append(item)
        idle = [one for one in found if not self._options.allow(one) or not (is_mapped or one in known)]
        for model in idle:
            self.context.store.finish(found.pop(model))
        return dict(sorted(found.items()))

    # looking

    def _look(self, model: str, items: Sequence[Item]) -> ModelLook | None:
        """Look at one model; None if that fails, or where its repository takes no requests."""
        looks: list[ModelLook] = []

        def call() -> None:
            try:
                looks.append(self._look_at(model, items))
            except Refused as refusal:  # not there, gated, without discussions
                self.report.say("rejected", model, str(refusal))
                self.context.store.finish(items)

        self.report.attempt(items, call, finish=False)
        return looks[0] if looks else None

    def _look_at(self, model: str, items: Sequence[Item]) -> ModelLook:
        hub = self._models_of_hub
        repository = hub.repository(model)
        is_card = self._options.form == "model-index"
        tasks = [task.hub.dataset for task in self.context.leaderboard.tasks if task.hub is not None]
        page = hub.page(repository, () if is_card else dict.fromkeys(tasks), has_requests=not is_card)
        layout = (ModelIndexLayout if is_card else EvalResultsLayout)(self.context.leaderboard, page)
        changes = self._changes(items)
        listed = () if is_card else hub.result_files(repository)
        paths = layout.paths(changes, listed)
        closings = repository.closings(model_mark(model, layout.leaderboard.id))
        desired = DesiredModel(model, layout, changes, other_places(self.context, self.settings.to), closings)
        look = ModelLook(model, items, paths, desired, repository.read_state(desired.mark, paths))
        _ = look.decision
        return look

    def _changes(self, items: Sequence[Item]) -> list[RowChange]:
        """All rows of the model that its submissions make, and those that they make no longer."""
        store, name = self.context.store, self.context.name
        keys = {item.subject for item in items}
        keys |= store.keys_below(name, items[0].subject.rpartition("/")[0])
        made = self.context.made(list(store.submissions_of(name, keys).values()))
        rows = {entry.key: entry for entry in made.entries}
        return [RowChange(key, rows.get(key), links=evidence_links(rows.get(key))) for key in sorted(keys)]

    # writing

    def _publish(self, look: ModelLook) -> None:
        """Write to one model, and say what the Hub shows then."""
        desired, model = look.desired, look.model
        repository = self._repository_of(look)
        done = reconcile(repository, desired.mark, look.paths, desired.at, "pull-request", dry_run=self.context.dry_run)
        for why in desired.draft.refused.values():
            self.report.say("rejected", model, why)
        if desired.closed:
            self.report.say("unchanged", model, desired.closed)
        elif not desired.draft.files and not desired.draft.refused and desired.draft.remarks:
            self.report.say("unchanged", model, " ".join(desired.draft.remarks))
        if done.decision.publication is not None:
            seen = self._seen(look) if isinstance(done.decision.publication, OpenRequest | UpdateRequest) else ""
            self.report.say("published", model, f"{done.decision.why}: {done.where}{seen}")
        if not self.context.dry_run:
            self._remember(look, is_ours=bool(desired.draft.files) or look.is_known)

    def _repository_of(self, look: ModelLook) -> HubTarget:
        return self._models_of_hub.repository(look.model)

    def _seen(self, look: ModelLook) -> str:
        """A text about the proposed files that the Hub shows; each file that it hides gets its own outcome."""
        if self.context.dry_run or self._options.form == "model-index":
            return ""
        board = self.context.leaderboard
        paths = {eval_results_path(board.id, task.id): task.hub.task_id for task in board.tasks if task.hub is not None}
        proposed = {path: paths[path] for path, data in look.desired.draft.files.items() if data and path in paths}
        unshown = self._models_of_hub.unshown(look.model, proposed) if proposed else []
        for why in unshown:
            self.report.say("rejected", look.model, why)
        return "" if unshown else f"; the Hub shows {len(proposed)} of {len(proposed)} files"

    def _remember_ours(self, looks: Iterable[ModelLook]) -> set[str]:
        """Remember at once which models have something of the bot, so that the safety catch reads them from now on."""
        ours = {look.model for look in looks}
        self.context.store.set_published(self.context.name, self.settings.to, dict.fromkeys(ours, (b"", None)))
        return ours

    def _remember(self, look: ModelLook, *, is_ours: bool) -> None:
        store, name, to = self.context.store, self.context.name, self.settings.to
        if is_ours:
            store.set_published(name, to, {look.model: (b"", None)})
        else:
            store.forget_published(name, to, [look.model])
