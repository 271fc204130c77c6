"""The files that a new board begins with: its declaration, the settings of its service, and its card."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import tomlkit

from bot.errors import CallError
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard, shipped
from bot.evaluation.result import Result
from bot.publishing.board import CSV_NAME
from bot.publishing.card import BEGIN, END
from bot.publishing.publication import Form
from bot.reporting.draft import draft_text
from bot.reporting.escape import brief
from bot.service.config import parse_settings

BOARD, SETTINGS, CARD = "board.toml", "bot.toml", "README.md"
EXAMPLE = "bot.example.toml"
PATHS = ("**/*.json", "**/*.eval")
NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# What the Hub reads of the card of a data set: its name, and that the table is what its viewer shows.
HUB_HEAD = """\
---
pretty_name: {title}
tags:
- leaderboard
configs:
- config_name: board
  data_files: {table}
---

"""
LONGEST_WORDS = 500  # characters of a title or a description


@dataclass(frozen=True, slots=True)
class NewBoard:
    """Where results come from and where rows go, and what people call the board; "" leaves that to be decided."""

    source: str
    target: str
    form: Form
    title: str = ""
    description: str = ""


def drafted(results: Sequence[Result], board: NewBoard) -> str:
    """The declaration that takes these results."""
    return _with_words(draft_text(draft_of(results)), board)


def copied(leaderboard_id: str, board: NewBoard) -> str:
    """A shipped declaration, to be changed. Raises CallError if there is none of that id."""
    if leaderboard_id not in shipped():
        raise CallError(f"there is no leaderboard {leaderboard_id!r}; shipped are {', '.join(shipped())}")
    text = files("bot").joinpath("data", "leaderboards", f"{leaderboard_id}.toml").read_text(encoding="utf-8")
    return _with_words(text, board)


def _with_words(text: str, board: NewBoard) -> str:
    """The declaration with the title and the description, where they are known; all else stays as it is."""
    document = tomlkit.parse(text)
    for key, words in (("title", board.title), ("description", board.description)):
        if words:
            document[key] = brief(words, LONGEST_WORDS)
    written = tomlkit.dumps(document)
    parse_leaderboard(written, Path(BOARD).stem, BOARD)
    return written


def settings_text(board: NewBoard) -> str:
    """The settings, every key explained: the example that comes with the program, with this board's values."""
    document: Any = tomlkit.parse(_example())
    watch = document["watches"][0]
    changes = {"name": _name(board), "leaderboard": BOARD, "source": board.source, "paths": list(PATHS)}
    document["public_url"] = ""
    for key, value in {**changes, "maintainers": [], "owners": tomlkit.inline_table(), "site": ""}.items():
        watch[key] = value
    target, *others = watch["targets"]
    target["to"], target["as"] = board.target, board.form
    for _ in others:
        del watch["targets"][-1]
    written = tomlkit.dumps(document).rstrip().replace(": copy to bot.toml.", ".", 1) + "\n"
    parse_settings(written, SETTINGS)
    return written


def _example() -> str:
    """The example of the settings: in an installed package beside the data, in a clone at its root."""
    inside = files("bot").joinpath("data", EXAMPLE)
    place = inside if inside.is_file() else Path(__file__).parents[2] / EXAMPLE
    return place.read_text(encoding="utf-8")


def _name(board: NewBoard) -> str:
    return NOT_A_NAME.sub("-", board.target.rstrip("/").rpartition("/")[2]).strip("-._") or "board"


def card_text(board: NewBoard, declared: Leaderboard) -> str:
    """The card of the board, with the marks between which the bot keeps the table."""
    head = HUB_HEAD.format(title=json.dumps(declared.title, ensure_ascii=False), table=CSV_NAME)
    return f"""\
{head if board.target.startswith("hf://") else ""}# {declared.title}

{declared.description}

{BEGIN}
{END}

Each row is a file in `entries/`, with all of its numbers and the files that they come from. Results are pushed to
`{board.source}`. What they must hold and how they are scored is in `{BOARD}`.
"""
