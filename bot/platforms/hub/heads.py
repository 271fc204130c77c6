"""Read the commit at the main branch of models on the Hub, to see if a measured revision is still the newest."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from bot.errors import CallError, Refused
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource

THREADS = 8


def read_heads(client: HubClient, models: Iterable[str]) -> dict[str, str]:
    """The commit at main of each model, one request each; models that the bot may not see are left out.

    Raises Unavailable if the Hub does not answer.
    """

    def head(model: str) -> str:
        try:
            return HubSource(client, parse_address(f"hf://models/{model}")).head()
        except (CallError, Refused):
            return ""

    names = list(dict.fromkeys(models))
    contexts = [copy_context() for _ in names]  # work that can wait can wait in the threads, too
    with ThreadPoolExecutor(THREADS) as pool:
        found = pool.map(lambda context, name: context.run(head, name), contexts, names)
        return {name: commit for name, commit in zip(names, found, strict=True) if commit}
