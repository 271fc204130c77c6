"""The layout of a model's repository whose owner asks for results in the card: a block of `model-index`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from bot.errors import Unwritable
from bot.evaluation.task import HubBenchmark, Task
from bot.publishing.hub_evals.measured import eval_result_of
from bot.publishing.hub_evals.model_index import (
    CARD,
    IndexedResult,
    block_of,
    claims_in_card,
    values_of,
    with_results,
    without_block,
)
from bot.publishing.hub_evals.model_layout import ModelLayout
from bot.publishing.hub_evals.model_page import judge_value
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.publication import entry_marker
from bot.publishing.tables.values import RowView


class ModelIndexLayout(ModelLayout):
    """The other fields of the card, their order and their spelling stay as they are."""

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """None: the card is at the top."""
        del changes
        return ()

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The card."""
        del changes, listed
        return (CARD,)

    def written(self, row: RowView, current: Mapping[str, bytes], remarks: list[str]) -> Draft:
        """The card with the values of the row."""
        refused: list[str] = []
        key = row.entry.key
        try:
            card = _text(current)
            results = self._results(row, card, refused)
            made = with_results(card, row.entry.model.id.rpartition("/")[2], results, entry_marker(row.entry))
        except Unwritable as error:
            return Draft(refused={key: f"{CARD}: {error}"}, remarks=tuple(remarks))
        reasons = {key: "; ".join(refused)} if refused else {}
        data = made.encode()
        if self.is_same((), CARD, current[CARD], data):
            return Draft(refused=reasons, remarks=tuple(remarks))
        old, new = values_of(block_of(card, self.leaderboard.id)), values_of(block_of(made, self.leaderboard.id))
        changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        cells = tuple(CellChange(name, old.get(name), new.get(name, "")) for name in changed)
        return Draft({CARD: data}, reasons, {key: cells}, tuple(remarks))

    def _results(self, row: RowView, card: str, refused: list[str]) -> list[IndexedResult]:
        """The results for the block; a result that must not be there is noted with the reason."""
        said, results = claims_in_card(card, self.leaderboard.id), []
        for task, hub in self.tasks:
            try:
                made = self._result(row, task, hub)
            except Unwritable as error:
                refused.append(f"{task.id}: {error}")
                continue
            found = judge_value(replace(made.result, task_id=made.metric), said)
            if found.state == "conflict":
                refused.append(f"{task.id}: conflict: {found.why}")
            elif found.state == "absent":
                results.append(made)
        return results

    def _result(self, row: RowView, task: Task, hub: HubBenchmark) -> IndexedResult:
        result = eval_result_of(row, task, hub, self.page.account, is_org=self.page.is_org)
        return IndexedResult(result, task.title, task.metrics[0].name, task.num_fewshot)

    def withdrawn(self, current: Mapping[str, bytes]) -> Draft:
        """The card without the bot's block."""
        try:
            card = _text(current)
        except Unwritable:
            return Draft()
        rest = without_block(card, self.leaderboard.id)
        return Draft() if rest == card else Draft({CARD: rest.encode()})

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both cards have the same values in the bot's block; all other text does not count."""
        del changes, path
        if one is None or other is None or one == other:
            return one == other
        blocks = [block_of(data.decode("utf-8", "replace"), self.leaderboard.id) for data in (one, other)]
        return bool(blocks[0]) == bool(blocks[1]) and values_of(blocks[0]) == values_of(blocks[1])

    def without(self, draft: Draft, closed: Mapping[str, bytes | None]) -> Draft:
        """The draft, or nothing of it where its block has the values that were closed."""
        is_same = all(
            path in closed and self.is_same((), path, closed[path], data) for path, data in draft.files.items()
        )
        return replace(draft, files={}, cells={}) if is_same else draft

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The values in the bot's block, by dataset and metric."""
        del change
        try:
            return values_of(block_of(_text(current), self.leaderboard.id)) or None
        except Unwritable:
            return None


def _text(current: Mapping[str, bytes]) -> str:
    """The card. Raises Unwritable if there is none: the bot does not create cards."""
    if CARD not in current:
        raise Unwritable("the repository has no card")
    try:
        return current[CARD].decode()
    except UnicodeDecodeError:
        raise Unwritable("it is not UTF-8 text") from None
