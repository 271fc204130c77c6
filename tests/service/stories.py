"""A watch on the local Hub, told in verbs: push, settle, merge, close, lose the state; nothing unasserted is left."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import Watch, parse_settings
from bot.service.store.engine import IN_MEMORY, connect
from bot.service.store.state import Store, WatchState
from bot.service.watch.outcome import Outcome
from tests.service.passes import settle
from tests.world.discussions import Discussion
from tests.world.git import Commit, Repository
from tests.world.hub import Hub, Posted
from tests.world.results import TINY, path_of, result

# A story with the state kept between its passes, and with it lost: both end alike.
STATES = pytest.mark.parametrize("is_lost", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["kept", "lost"])

SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "hf://datasets/acme/results"
backfill_limit = {limit}
pull_requests = "{style}"
maintainers = ["meg"]
{more}
[[watches.targets]]
to = "hf://datasets/acme/contents"
as = "{form}"
"""

TABLE_TARGET = """kind = "table"
[watches.targets.table]
path = "board.csv"
key = ["Model"]
columns = { Model = "model.id", Average = { value = "average", decimals = 2 } }
"""

KEY = "tiny/acme/atlas-7b/8d6b817702bf0f8bf021479e6c3d99040ba3f2f2-bfloat16"  # of the row that `push` brings


def settings_of(source: str, to: str, form: str, target: str, more: str = "") -> str:
    """The settings of a watch with one target, whose own lines are `target`; `more` are further lines of the watch."""
    return f"""
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "{source}"
maintainers = ["meg"]
{more}
[[watches.targets]]
to = "{to}"
as = "{form}"
{target}"""


def unnamed_result() -> bytes:
    """A result whose model has no name on the Hub, so that the settings must say which it is."""
    config = {"model": "hf", "model_args": "pretrained=/scratch/atlas,dtype=bfloat16", "model_sha": ""}
    return result("/scratch/atlas", config=config)


def runs_are_of(model: str) -> str:
    """The line of a watch that names the model of the files in `runs/`."""
    return f'identity = [{{path = "runs/", id = "{model}"}}]'


@cache
def empty_state() -> bytes:
    """The file of a state in which nothing was remembered yet: to make its tables takes longer than many a pass."""
    engine = connect(IN_MEMORY)
    with engine.connect() as connection:
        memory = connection.connection.driver_connection
        assert isinstance(memory, sqlite3.Connection)
        return memory.serialize()


@dataclass
class Story:
    """One bot, one source, one target."""

    hub: Hub
    folder: Path
    form: str = "pull-request"
    style: str = "entry"
    more: str = ""
    limit: int = 20
    maintainer: str = "meg"
    told: int = 0
    database: str = ""
    source: Repository = field(init=False)
    target: Repository = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "tiny.toml").write_text(TINY)
        self.source = self.hub.repository("acme/results")
        self.target = self.hub.repository("acme/contents")
        self.hub.writers.add(("bot", "acme/contents"))
        self.token = self.hub.person("bot")
        self.contexts = self.open_context_factory()

    @property
    def text(self) -> str:
        """The settings."""
        text = SETTINGS.format(form=self.form, style=self.style, limit=self.limit, more=self.more)
        return text.replace('"meg"', f'"{self.maintainer}"')

    @property
    def watch(self) -> Watch:
        return parse_settings(self.text, "bot.toml").watches[0]

    @property
    def state(self) -> WatchState:
        """What the bot remembers of the watch."""
        return self.contexts.store.of("tiny")

    def open_context_factory(self, state: str = "state.db") -> ContextFactory:
        """A bot with its own state file, which begins with empty tables."""
        if not self.database and not (self.folder / state).exists():
            (self.folder / state).write_bytes(empty_state())
        store = Store(connect(self.database or f"sqlite:///{self.folder / state}"))
        contexts = ContextFactory(
            Access(hf_token=self.token, hf_endpoint=self.hub.url, cache=self.folder / "cache"), store, self.folder
        )
        client = HubPlatform.client(contexts.opener)
        client.pause, client.unknown_fate = 0.01, 0.1
        return contexts

    def lose_state(self) -> None:
        """What a wiped disk does."""
        self.contexts.store.close()
        for file in self.folder.glob("state.db*"):
            file.unlink()
        self.contexts = self.open_context_factory()

    def settle(self, contexts: ContextFactory | None = None) -> list[Outcome]:
        return settle((contexts or self.contexts).open_context(self.watch))

    def push(self, data: bytes | None = None, path: str | None = None, **how: Any) -> Commit:
        """Push one result."""
        path = path or path_of(how.get("model", "acme/atlas-7b"))
        return self.hub.push(self.source, {path: result(**how) if data is None else data})

    @staticmethod
    def result(**how: Any) -> bytes:
        return result(**how)

    def remove(self, path: str | None = None) -> Commit:
        """Take one result away; a file stays, for a source that lists nothing withdraws no row by itself."""
        return self.hub.push(self.source, {path or path_of(): None, "notes.json": b"{}"}, "Remove")

    def news(self) -> list[Posted]:
        """What the bot posted since the last time somebody asked."""
        posted = self.hub.by("bot")
        new, self.told = posted[self.told :], len(posted)
        return new

    def acts(self) -> list[str]:
        return [posted.act for posted in self.news()]

    @property
    def requests(self) -> list[Discussion]:
        return self.hub.requests(self.target)

    @property
    def discussions(self) -> list[Discussion]:
        return self.hub.conversations(self.source)

    def end(self) -> None:
        """Nothing was posted that the story did not look at, and another settlement posts nothing."""
        assert self.acts() == []
        self.settle()
        assert self.acts() == []
        self.contexts.store.close()
