"""A bot that settles without end until it is killed; run in a process of its own."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from bot.errors import BotError
from bot.forges.targets import Access
from bot.settle import settle
from bot.settle.desk import Office
from bot.store import Store, connect
from bot.watch import Watch


def work(folder: Path, url: str, token: str, watch: Watch) -> None:
    """Settle again and again."""
    while True:
        store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
        office = Office(Access(hf_token=token, hf_endpoint=url), store, folder)
        office.client.pause = 0.01
        with suppress(BotError):
            settle(office.open_desk(watch))
        store.close()
        time.sleep(0.01)
