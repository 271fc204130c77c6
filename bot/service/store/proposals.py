"""Remembered content of open requests at a source: looking at them again costs no request."""

from __future__ import annotations

import zlib

from sqlalchemy import delete, select

from bot.service.store.database import Database
from bot.service.store.tables import proposals


class Proposals(Database):
    """Keeps what was read of each open request at the source of a watch, by its number."""

    def proposal(self, watch: str, num: int) -> bytes | None:
        """The kept content of a request; None if there is none."""
        found = select(proposals.c.data).where(proposals.c.watch == watch, proposals.c.num == num)
        with self.transaction() as connection:
            data = connection.execute(found).scalar_one_or_none()
        return None if data is None else zlib.decompress(data)

    def set_proposal(self, watch: str, num: int, data: bytes | None) -> None:
        """Keep what was read of a request; None forgets it."""
        if data is not None:
            self.upsert(proposals, [{"watch": watch, "num": num, "data": zlib.compress(data, 1)}])
            return
        with self.transaction() as connection:
            connection.execute(delete(proposals).where(proposals.c.watch == watch, proposals.c.num == num))
