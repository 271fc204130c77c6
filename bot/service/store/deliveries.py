"""The last deliveries of webhooks, for the page of every process that shares the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import delete, select

from bot.service.store.database import Database
from bot.service.store.tables import deliveries

KEPT_DELIVERIES = 200


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """An authentic delivery: `at` in Unix seconds, the answer's status, what it told of, and whether it was new."""

    at: float
    answer: int
    repository: str
    event: str
    is_taken: bool


class Deliveries(Database):
    """A bounded list of deliveries."""

    def add_deliveries(self, some: Sequence[StoredDelivery]) -> None:
        """Remember deliveries; the oldest are forgotten."""
        newest = select(deliveries.c.id).order_by(deliveries.c.id.desc())
        with self.transaction() as connection:
            connection.execute(deliveries.insert(), [asdict(one) for one in some[-KEPT_DELIVERIES:]])
            last = connection.execute(newest.offset(KEPT_DELIVERIES).limit(1)).scalar_one_or_none()
            if last is not None:
                connection.execute(delete(deliveries).where(deliveries.c.id <= last))

    def deliveries(self) -> list[StoredDelivery]:
        """All that are remembered, the newest first."""
        found = select(deliveries).order_by(deliveries.c.at.desc(), deliveries.c.id.desc())
        with self.transaction() as connection:
            return [
                StoredDelivery(row.at, row.answer, row.repository, row.event, row.is_taken)
                for row in connection.execute(found)
            ]
