"""The common part of both forms of results on a model's page: the choice of the row, and remarks about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.hub_evals.measured import choose_row
from bot.publishing.hub_evals.model_page import ModelPage
from bot.publishing.layout import Draft, RowChange
from bot.publishing.tables.values import RowView


class ModelLayout(ABC):
    """The changes are all rows of one model on one leaderboard; one of them counts, with its tasks that have `hub`."""

    def __init__(self, leaderboard: Leaderboard, page: ModelPage) -> None:
        self.leaderboard, self.page = leaderboard, page
        self.tasks = [(task, task.hub) for task in leaderboard.tasks if task.hub is not None]

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The files for the row that counts; without such a row the bot's results are removed."""
        row = self.row(changes)
        if row is None:
            return self.withdrawn(current)
        if row.entry.model.id != self.page.model:
            moved = f"the repository {row.entry.model.id} is called {self.page.model} now; results do not move with it"
            return Draft(refused={change.key: moved for change in changes})
        return self.written(row, current, list(self._remarks(changes, row)))

    @abstractmethod
    def written(self, row: RowView, current: Mapping[str, bytes], remarks: list[str]) -> Draft:
        """The files with the values of a row."""

    @abstractmethod
    def withdrawn(self, current: Mapping[str, bytes]) -> Draft:
        """The files without the bot's results."""

    @abstractmethod
    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The files that must be read; `listed` are the result files that are there."""

    @abstractmethod
    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether two versions of a file say the same about the model."""

    @abstractmethod
    def without(self, draft: Draft, closed: Mapping[str, bytes | None]) -> Draft:
        """A draft without the values that a closed request proposed: these are final."""

    @abstractmethod
    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The values in what the bot wrote, by task; None if nothing of it is there."""

    def row(self, changes: Sequence[RowChange]) -> RowView | None:
        """The row that counts, None if no row is complete."""
        rows = {change.key: change for change in changes if change.entry is not None}
        chosen = choose_row([change.entry for change in rows.values() if change.entry is not None], self.page.head)
        return None if chosen is None else RowView(chosen, self.leaderboard, rows[chosen.key].links)

    def _remarks(self, changes: Sequence[RowChange], row: RowView) -> Iterator[str]:
        revision = row.entry.model.revision
        if revision != self.page.head:
            yield f"Measured at {revision[:12] or 'an unknown revision'}, which is not the head of main."
        others = sorted(change.key for change in changes if change.entry is not None and change.key != row.entry.key)
        if others:
            yield f"{row.entry.key} counts; the same model also has {', '.join(others)}."
