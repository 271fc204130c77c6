"""One table that people and the bot write, on the local Hub or the local GitHub, told in the same verbs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.service.settings.config import Watch, parse_settings
from bot.service.watch.outcome import Outcome
from tests.service.github_stories import SETTINGS, TARGET, GitHubStory
from tests.service.stories import TABLE_TARGET
from tests.service.table_stories import TableStory
from tests.world.discussions import Discussion
from tests.world.results import path_of, result
from tests.world.routes_talk import merged_changes

START = b"Model,Average,Note\nolympus/zeus,90.10,by hand\nolympus/hera,15.00,\n"


class SharedTable(ABC):
    """A table on main, and the bot's requests that change it; requests are named by their numbers."""

    @abstractmethod
    def table(self, request: int = 0) -> bytes:
        """The table on main, or in a request."""

    @abstractmethod
    def edit(self, data: bytes) -> None:
        """A person pushes the table to main."""

    @abstractmethod
    def go_back(self) -> None:
        """A person takes the last commit from main, by force."""

    @abstractmethod
    def push(self, model: str, right: tuple[int, int, int] = (50, 60, 70)) -> None:
        """A result arrives at the source."""

    @abstractmethod
    def settle(self) -> list[Outcome]:
        """One pass of the bot."""

    @abstractmethod
    def requests(self) -> list[int]:
        """The open requests of the bot."""

    @abstractmethod
    def conflicts(self, request: int) -> list[str]:
        """The files at which a request does not merge."""

    @abstractmethod
    def merge(self, request: int) -> None:
        """A person merges a request."""

    @abstractmethod
    def close(self, request: int) -> None:
        """A person closes a request."""

    @abstractmethod
    def text(self, request: int) -> str:
        """All that is written on a request."""

    @abstractmethod
    def lose_state(self) -> None:
        """What a wiped disk does."""

    def rows(self, request: int = 0) -> list[str]:
        """The names of the rows, in order."""
        return [line.split(",")[0] for line in self.table(request).decode().splitlines()[1:]]


@dataclass
class HubTable(SharedTable):
    """The table on the Hub."""

    story: TableStory

    def table(self, request: int = 0) -> bytes:
        return self.story.board(f"refs/pr/{request}" if request else "main")

    def edit(self, data: bytes) -> None:
        self.story.hub.push(self.story.target, {"board.csv": data}, "By hand", user="ann")

    def go_back(self) -> None:
        target = self.story.target
        target.refs["refs/heads/main"] = list(target.main.history())[1]

    def push(self, model: str, right: tuple[int, int, int] = (50, 60, 70)) -> None:
        self.story.push(model=model, right=right)

    def settle(self) -> list[Outcome]:
        return self.story.settle()

    def requests(self) -> list[int]:
        return [row.num for row in self.story.requests]

    def conflicts(self, request: int) -> list[str]:
        return merged_changes(self.story.target, self._row(request)).conflicts

    def merge(self, request: int) -> None:
        self.story.hub.merge(self.story.target, self._row(request))

    def close(self, request: int) -> None:
        self.story.hub.set_status(self.story.target, self._row(request), "closed", "ann")

    def text(self, request: int) -> str:
        return "\n".join(self._row(request).comments())

    def lose_state(self) -> None:
        self.story.lose_state()

    def _row(self, request: int) -> Discussion:
        return self.story.hub.talk(self.story.target).all[request]


@dataclass
class GitHubTableStory(GitHubStory):
    """A watch whose target on GitHub is a table."""

    @property
    def watch(self) -> Watch:
        text = SETTINGS.format(maintainers=self.maintainers) + TABLE_TARGET
        return parse_settings(text, "bot.toml").watches[0]


@dataclass
class GitHubTable(SharedTable):
    """The table on GitHub."""

    story: GitHubTableStory

    def table(self, request: int = 0) -> bytes:
        branch = self.story.target.issues[request].head if request else "main"
        return self.story.target.git.read(f"heads/{branch}", "board.csv")

    def edit(self, data: bytes) -> None:
        self.story.target.git.push("heads/main", {"board.csv": data}, "By hand", "ann")

    def go_back(self) -> None:
        git = self.story.target.git
        git.refs["heads/main"] = git.commits[git.refs["heads/main"]].parents[0]

    def push(self, model: str, right: tuple[int, int, int] = (50, 60, 70)) -> None:
        self.story.source.git.push("heads/main", {path_of(model): result(model, right=right)})

    def settle(self) -> list[Outcome]:
        return self.story.settle()

    def requests(self) -> list[int]:
        return [pull.number for pull in self.story.target.pulls("open")]

    def conflicts(self, request: int) -> list[str]:
        git = self.story.target.git
        return git.merge(git.refs["heads/main"], git.refs[f"heads/{self.story.target.issues[request].head}"]).conflicts

    def merge(self, request: int) -> None:
        self.story.server.state.merge(TARGET, request)

    def close(self, request: int) -> None:
        self.story.server.state.close(TARGET, request)

    def text(self, request: int) -> str:
        return self.story.target.issues[request].body

    def lose_state(self) -> None:
        self.story.lose_state()


SERVICES = ("hub", "github")


def shared_table(request: pytest.FixtureRequest, service: str, folder: Path) -> SharedTable:
    """A table on the local service of this name, which the fixture of that name starts."""
    if service == "hub":
        return HubTable(TableStory(request.getfixturevalue("hub"), folder, table=START))
    story = GitHubTableStory(request.getfixturevalue("github"), folder)
    story.target.git.push("heads/main", {"board.csv": START})
    return GitHubTable(story)
