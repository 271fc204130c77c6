"""The facts of one run of the Action, and its output to the log, where the runner looks for commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from bot.action.inputs import Inputs
from bot.action.trigger import TriggerContext
from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.github.client import GitHubClient
from bot.platforms.registry import Access
from bot.reporting.annotations import command
from bot.reporting.escape import visible, without_commands


@dataclass(frozen=True, slots=True)
class Run:
    """All that a run knows; `out` is the log, where workflow commands are heard."""

    inputs: Inputs
    trigger: TriggerContext
    access: Access
    leaderboard: Leaderboard
    environ: Mapping[str, str]
    out: TextIO

    def say(self, text: str) -> None:
        """Write one line to the log, in which nothing is a command to the runner."""
        self.out.write(f"{without_commands(one_line(text))}\n")

    def warn(self, text: str) -> None:
        """Annotate the run, on no file."""
        self.out.write(f"{command(Severity.WARNING, one_line(text), title='leaderboard-bot')}\n")

    def client(self) -> GitHubClient:
        """The workflow's token at its own GitHub."""
        return GitHubClient(self.access.github_token, self.access.github_api_url)


def one_line(text: str) -> str:
    """The text in one line of what can be printed."""
    return visible(" ".join(text.split()))
