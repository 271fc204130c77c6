"""Each command that a text of the product names exists, with the options that the text gives it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bot
from bot.cli.app import Commands

ROOT = Path(bot.__file__).parent
NAMED = re.compile(r"(?:leaderboard-bot|python -m bot) ((?:[a-z]+)(?: [^`\n;]*)?)")
# What stands behind the name in sentences: no command.
NO_COMMAND = frozenset({"reads", "does", "knows", "did", "could", "runs", "table", "wrote"})


def texts(path: Path) -> Iterator[str]:
    """Every text of a file, with {} for what is filled in; texts in f-strings are parts of those."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


@cache
def named() -> list[tuple[str, str]]:
    """The commands that texts name, each with its file."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for text in texts(path):
            for command in NAMED.findall(text):
                if command.split()[0] not in NO_COMMAND:
                    found[path.relative_to(ROOT).as_posix(), command.strip()] = None
    return list(found)


@pytest.mark.parametrize(("path", "text"), named())
def test_a_named_command_exists_with_its_options(path: str, text: str) -> None:
    name, *words = text.split()
    command: Any = Commands().get_command(None, name)
    assert command is not None, f"{path}: there is no command {text!r}"
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words.pop(0)]
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    used = {word.strip(",.()").partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
    assert used <= options, f"{path}: {text!r}"


def test_commands_are_named_in_texts() -> None:
    assert len(named()) > 20
