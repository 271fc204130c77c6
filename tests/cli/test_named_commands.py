"""Each command that a text of the product names exists, with the options that the text gives it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def named() -> Iterator[tuple[str, str]]:
    """The commands that texts name, each with its file."""
    for path in sorted(ROOT.rglob("*.py")):
        if NAMED.search(path.read_text(encoding="utf-8")):
            for text in texts(path):
                yield from ((path.relative_to(ROOT).as_posix(), command.strip()) for command in NAMED.findall(text))


def faults_of(text: str) -> Iterator[str]:
    name, *words = text.split()
    command: Any = Commands().get_command(None, name)
    if command is None:
        yield "no such command"
        return
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words.pop(0)]
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    yield from {word.strip(",.()").partition("=")[0] for word in words if re.match(r"--[a-z]", word)} - options


def test_a_named_command_exists_with_its_options() -> None:
    found = {one for one in named() if one[1].split()[0] not in NO_COMMAND}

    assert len(found) > 20
    assert [(*one, fault) for one in sorted(found) for fault in faults_of(one[1])] == []
