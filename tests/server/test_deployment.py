"""The Dockerfile and the Space's README, held to what a Docker Space asks for and to the command line that there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import typer

from bot.cli.app import app
from bot.service.settings.environment import cache_folder

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SPACE = (ROOT / "docs" / "space" / "README.md").read_text()


def test_the_image_runs_as_user_1000_on_the_port_of_the_space() -> None:
    [command] = [json.loads(line.removeprefix("CMD ")) for line in DOCKERFILE.splitlines() if line.startswith("CMD ")]

    assert "--uid 1000 user" in DOCKERFILE
    assert DOCKERFILE.index("USER user") < DOCKERFILE.index("CMD ")
    assert command[-2:] == ["--port", re.findall(r"app_port: (\d+)", SPACE)[0]] == ["--port", "7860"]
    assert "sdk: docker" in SPACE


def test_the_image_s_command_is_one_that_there_is() -> None:
    words = json.loads(re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)[0])
    group = typer.main.get_command(app)
    command = group.get_command(click.Context(group), words[1])  # type: ignore[attr-defined]
    options = {name for option in command.params for name in option.opts}

    assert words[0] == "leaderboard-bot"
    assert {word for word in words if word.startswith("--")} <= options


def test_what_the_image_copies_is_there_but_for_the_settings() -> None:
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()]

    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == ["bot.toml", "board*.toml"]


def test_every_variable_of_the_image_is_documented() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text() + (ROOT / "docs" / "command-line.md").read_text()
    [line] = re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)
    names = [pair.partition("=")[0] for pair in line.split()]

    assert [name for name in names if f"`{name}`" not in page] == ["PYTHONPATH", "HF_HUB_DISABLE_TELEMETRY"]


def test_the_unit_of_systemd_may_write_where_it_keeps_state_and_cache() -> None:
    """A user that systemd makes up has no home, and the whole file system but for these folders can only be read."""
    [unit] = re.findall(r"^```ini\n(.*?)^```", (ROOT / "docs" / "deploy.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.partition("=")[::2] for line in unit.splitlines()]
    given = {name: value for name, value in lines if name != "Environment"}
    environ = dict(value.split("=", 1) for name, value in lines if name == "Environment")

    assert environ["DATABASE_URL"].startswith(f"sqlite:////var/lib/{given['StateDirectory']}/")
    assert cache_folder(environ) == Path("/var/cache", given["CacheDirectory"])
