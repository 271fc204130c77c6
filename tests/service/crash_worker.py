"""A bot that settles without end until it is killed; run in a process of its own."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from bot.errors import BotError
from bot.platforms.hub.platform import HubPlatform
from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import Watch
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.service.passes import settle


def work(folder: Path, url: str, token: str, watch: Watch) -> None:
    """Settle again and again."""
    while True:
        store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
        contexts = ContextFactory(Access(hf_token=token, hf_endpoint=url), store, folder)
        client = HubPlatform.client(contexts.opener)
        client.pause, client.unknown_fate = 0.01, 0.1
        with suppress(BotError):
            settle(contexts.open_context(watch))
        store.close()
        time.sleep(0.01)
