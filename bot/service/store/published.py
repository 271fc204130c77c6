"""A record of the rows that the bot wrote into tables: a table has no room for a mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select

from bot.service.store.database import Database, batches
from bot.service.store.tables import published

Written = tuple[bytes, bytes | None]


class Published(Database):
    """Keeps for each row of a table the entry that was written last, and the one that stood there before, if any."""

    def published(self, watch: str, target: str) -> dict[str, Written]:
        """The rows of one watch in one table, by key."""
        found = select(published).where(published.c.watch == watch, published.c.target == target)
        with self.transaction() as connection:
            return {row.key: (row.entry, row.earlier) for row in connection.execute(found)}

    def set_published(self, watch: str, target: str, rows: Mapping[str, Written]) -> None:
        """Remember what was written."""
        where = {"watch": watch, "target": target}
        self.upsert(published, [{**where, "key": key, "entry": e, "earlier": b} for key, (e, b) in rows.items()])

    def forget_published(self, watch: str, target: str, keys: Iterable[str]) -> None:
        """Forget rows that are not in the table any more."""
        where = (published.c.watch == watch, published.c.target == target)
        with self.transaction() as connection:
            for some in batches(keys):
                connection.execute(delete(published).where(*where, published.c.key.in_(some)))
