"""Many sources of one watch: a list, or a pattern of an organization's datasets, becomes one watch for each source.

Each has its own name, index and conversations: a fault of one source stops no other. They share the declaration, the
targets and every other setting. Rows of one model from two sources compete as any two submissions do.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from bot.errors import CallError
from bot.platforms.platform import Access
from bot.service.settings.config import Settings, Watch, load_settings

PATTERN = re.compile(r"hf://datasets/([\w.-]+)/([\w.*-]*\*[\w.*-]*)")
MOST = 1_000  # datasets that one pattern may name
Datasets = Callable[[str], Iterable[str]]


def open_settings(path: Path, access: Access) -> Settings:
    """The settings of a file, with a watch for each dataset that a pattern names now.

    Raises what reading the file raises, Unavailable and Refused where the Hub does not list an organization's datasets.
    """
    return with_patterns(load_settings(path), lambda organization: _datasets_of(organization, access))


def has_patterns(settings: Settings) -> bool:
    """Tell whether new datasets may come to count without a change of the file."""
    return any("*" in watch.source for watch in settings.watches)


def with_patterns(settings: Settings, datasets: Datasets) -> Settings:
    """The settings with a watch for each dataset that a pattern names. Raises CallError if that is none."""
    found = [one for watch in settings.watches for one in _watches_of(watch, cache(lambda org: tuple(datasets(org))))]
    return Settings(public_url=settings.public_url, watches=tuple(found))


def _watches_of(watch: Watch, datasets: Datasets) -> list[Watch]:
    if "*" not in watch.source:
        return [watch]
    match = PATTERN.fullmatch(watch.source)
    if match is None:
        raise CallError(f"{watch.source}: a pattern names datasets of one organization: hf://datasets/acme/*-results")
    organization, pattern = match.groups()
    names = sorted(name for name in datasets(organization) if fnmatch.fnmatchcase(name.partition("/")[2], pattern))
    if not names:
        raise CallError(f"{watch.source}: {organization} has no dataset with a matching name that this token may see")
    if len(names) > MOST:
        raise CallError(f"{watch.source}: names {len(names):,} datasets; more than {MOST:,} are not watched")
    return [watch.of_source(f"hf://datasets/{name}") for name in names]


def _datasets_of(organization: str, access: Access) -> Iterable[str]:
    from bot.platforms.hub.platform import HubPlatform
    from bot.platforms.platform import Opener

    client = HubPlatform.client(Opener(access))
    return client.get_pages("/api/datasets", lambda row: str(row["id"]), author=organization, limit=MOST)
