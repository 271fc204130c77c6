"""What the processes of one database share: request windows of the services, and writes under way."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import BotError, Unavailable, Unsettled
from bot.service.store.engine import Database
from bot.service.store.tables import allowances, intents

LOOK = 15.0  # seconds, at most, until it is looked whether the other one's write shows


class Shared(Database):
    """The windows of services and accounts, as any process knew them last, and the writes that may be done once.

    A window has its limit, the requests that are left, and its end. The fate of a write whose process was killed is not
    known before its time is over.
    """

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

    # writes

    @contextmanager
    def intend(self, name: str, seconds: float) -> Iterator[None]:
        """Say what is written in the block, for so many seconds at most. Raises Unsettled if another holds it."""
        holder = uuid.uuid4().hex
        left = self._take(name, holder, seconds)
        if left:
            why = f"this or another process sent it, and it may still show; it is not sent again for {left:.0f} s"
            raise Unsettled(why, min(left, LOOK))
        try:
            yield
        except BotError as failure:  # how the write ended is known; of an interrupted one it is not
            unknown_for = failure.unknown_for if isinstance(failure, Unavailable) else 0.0
            self._give_back(name, holder, until=time.time() + unknown_for if unknown_for else None)
            raise
        self._give_back(name, holder)

    def _give_back(self, name: str, holder: str, until: float | None = None) -> None:
        """Let others write; only after a time (Unix seconds) where the write may show until then."""
        ours = (intents.c.name == name, intents.c.holder == holder)
        change = delete(intents) if until is None else update(intents).values(until=until)
        with self.transaction() as connection:
            connection.execute(change.where(*ours))

    def _take(self, name: str, holder: str, seconds: float) -> float:
        """Take a name that nobody holds, or whose time is over; else the seconds until it is.

        What is over is forgotten, whatever its name.
        """
        now = time.time()
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(intents)
        values = {"holder": holder, "until": now + seconds}
        was_wrong = intents.c.until > now + 2 * seconds  # the other one's clock
        statement = insert.values(name=name, **values).on_conflict_do_update(
            index_elements=["name"], set_=values, where=was_wrong
        )
        with self.transaction() as connection:
            connection.execute(delete(intents).where(intents.c.until <= now))
            connection.execute(statement)
            held = connection.execute(select(intents).where(intents.c.name == name)).one()
        return 0.0 if held.holder == holder else max(0.1, held.until - now)
