"""The commands and variables of services that the docs name exist in the installed clients."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import huggingface_hub
import pytest
from click.testing import CliRunner
from huggingface_hub.cli.hf import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["deploy.md", "hub.md", "github.md", "command-line.md", "scale.md", "space/README.md"]
COMMAND = re.compile(r"(?:^|`)(hf [a-z][^`\n#|]*)", re.MULTILINE)
OURS = "hf evals"  # the bot as an extension of the client
VARIABLE = re.compile(r"\bHF_[A-Z_]+\b")


def commands() -> Iterator[str]:
    for page in PAGES:
        found = COMMAND.findall((DOCS / page).read_text(encoding="utf-8"))
        yield from (one.strip() for one in found if not one.startswith(OURS))


def test_the_docs_name_commands_of_the_client() -> None:
    assert any(one.startswith("hf jobs run ") for one in commands())


@pytest.mark.parametrize("line", dict.fromkeys(commands()))
def test_a_command_of_the_client_has_these_words_and_options(line: str) -> None:
    """Up to the image of a job: what follows is the program's own."""
    words = [*takewhile(lambda word: not word.startswith("<"), shlex.split(line)[1:])]
    path = [*takewhile(str.islower, (word for word in words if not word.startswith("@")))]
    path = path[: next((place for place, word in enumerate(path) if word.startswith("-")), None)]
    done = CliRunner().invoke(app, [*path, "--help"])

    assert done.exit_code == 0, done.output
    known = set(re.findall(r"--[a-z-]+", done.stdout))
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known


def test_the_variables_of_the_client_are_read_by_it() -> None:
    named = {name for page in PAGES for name in VARIABLE.findall((DOCS / page).read_text(encoding="utf-8"))}
    package = Path(huggingface_hub.__file__).parent
    read = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert {name for name in named if name not in read} == set()
