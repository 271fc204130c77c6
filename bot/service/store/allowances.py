"""The request windows of the services, which the processes of one database share."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from bot.service.store.database import Database
from bot.service.store.tables import allowances


class Allowances(Database):
    """The windows of services and accounts, as any process knew them last: limit, what is left, and the end."""

    def allowances(self, now: float) -> dict[str, tuple[int, int, float]]:
        """The windows that have not ended; ends are Unix seconds, as is `now`."""
        found = select(allowances).where(allowances.c.ends > now)
        with self.transaction() as connection:
            return {row.key: (row.limit, row.remaining, row.ends) for row in connection.execute(found)}

    def set_allowances(self, windows: Mapping[str, tuple[int, int, float]]) -> None:
        """Tell the other processes of these windows."""
        values = sorted(windows.items())  # in one order, so that two processes never wait for each other
        rows = [{"key": key, "limit": limit, "remaining": left, "ends": ends} for key, (limit, left, ends) in values]
        self.upsert(allowances, rows)
