"""The stories of `make test-live`, told on the local Hub and GitHub: their code works before it meets the real ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from tests.live import github_stories, hub_stories
from tests.live.__main__ import main
from tests.live.github_stories import LiveGitHub
from tests.live.hub import LiveHub
from tests.platforms.github.fixtures import github
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]
Story = Callable[[Any], None]


@pytest.mark.slow
@pytest.mark.parametrize("story", [*hub_stories.STORIES, *hub_stories.WITH_TWO_ACCOUNTS])
def test_a_story_of_the_hub(story: Story, hub: Hub, tmp_path: Path) -> None:
    hub.members["lab"] = {"bot", "meg"}
    api, other = (HfApi(hub.url, token=hub.person(name)) for name in ("bot", "meg"))
    live = LiveHub(api, tmp_path, "lab", other, patience=0.5)

    story(live)
    assert all(repository.private for repository in hub.repositories.values())
    assert live.close() == []
    assert hub.repositories == {}


@pytest.mark.slow
@pytest.mark.parametrize("story", github_stories.STORIES)
def test_a_story_of_github(story: Story, github: GitHubServer, tmp_path: Path) -> None:
    there = set(github.state.repos)
    live = LiveGitHub("bot-token", github.url, tmp_path)

    story(live)
    made = [repo.private for name, repo in github.state.repos.items() if name not in there]
    assert made
    assert all(made)
    assert live.close() == []
    assert set(github.state.repos) == there


def test_without_a_token_nothing_is_told_and_the_reason_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({}) == 2
    assert "set HF_TOKEN" in capsys.readouterr().out


def test_a_hub_that_cannot_be_reached_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({"HF_TOKEN": "hf_x", "HF_ENDPOINT": "http://127.0.0.1:9"}) == 3
    assert capsys.readouterr().out.startswith("the Hub cannot be reached, or refuses the token: ")


def test_a_story_that_fails_is_named_and_cleaned_up_after(
    hub: Hub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(live: LiveHub) -> None:
        live.repository("results")
        raise AssertionError

    monkeypatch.setattr(hub_stories, "STORIES", [fails])
    assert main({"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url}) == 1
    assert "FAILED  fails\n0 of 1 stories passed" in capsys.readouterr().out
    assert hub.repositories == {}


def test_the_list_of_assumptions_names_every_story_and_no_other() -> None:
    text = (Path(__file__).parents[1] / "world" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(an?_[a-z_]+|what_[a-z_]+)`", text))
    told = [*hub_stories.STORIES, *hub_stories.WITH_TWO_ACCOUNTS, *github_stories.STORIES]

    assert named == {story.__name__ for story in told}
    assert all(line.count("|") == 4 for line in text.splitlines() if line.startswith("|"))
