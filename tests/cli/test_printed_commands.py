"""Commands that the bot posts work as printed, on a machine that has neither the settings nor the declaration."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.publishing.repeat import LATER
from tests.service.stories import Story
from tests.world.hub import Hub


@pytest.fixture
def runner(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """A stranger's machine."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return CliRunner(env={"HF_TOKEN": None, "HF_ENDPOINT": hub.url})


def words_of(text: str) -> list[str]:
    """The command in a text, without the program's name."""
    (found,) = re.findall(r"leaderboard-bot ((?:check|explain) [^`\n]+)", text)
    return shlex.split(found)


def test_what_a_request_and_a_discussion_print_can_be_pasted(hub: Hub, tmp_path: Path, runner: CliRunner) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    (request,) = story.requests
    early = runner.invoke(app, words_of(request.description))
    assert LATER in request.description
    assert LATER in str(early.exception)
    hub.merge(story.target, request)
    story.settle()
    explained = runner.invoke(app, words_of(request.description))
    assert explained.exit_code == 0, explained.output
    assert "58.33" in explained.stdout
    story.push(b'{"results": ', "acme__atlas-7b/results_torn.json")
    story.settle()
    (said,) = story.discussions
    checked = runner.invoke(app, words_of(said.description))
    assert checked.exit_code == 1, checked.output
    assert "malformed-file" in checked.stdout
    story.news()
    story.end()
