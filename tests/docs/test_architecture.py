"""The page about the architecture names each room in the words of the room itself, and only files that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOT = ROOT / "bot"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = sorted(str(path.parent.relative_to(BOT)) for path in BOT.rglob("__init__.py") if path.parent != BOT)
NAMES = re.findall(r"`([\w/]+(?:/|\.py))`", PAGE)


def sentence_of(room: str) -> str:
    lines = (ast.get_docstring(ast.parse((BOT / room / "__init__.py").read_text(encoding="utf-8"))) or "").split("\n\n")
    return " ".join(lines[0].split())


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_is_described_as_it_describes_itself(room: str) -> None:
    assert f"| `{room}/` | {sentence_of(room)} |" in PAGE


def test_no_room_is_described_that_is_not_there() -> None:
    assert sorted(re.findall(r"^\| `([\w/]+)/` \|", PAGE, re.MULTILINE)) == ROOMS


@pytest.mark.parametrize("name", NAMES)
def test_each_file_that_the_page_names_is_there(name: str) -> None:
    found = list(BOT.rglob(name)) if "/" not in name else [BOT / name]

    assert any(path.exists() for path in found)


def test_the_rooms_stand_in_the_order_of_their_imports() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("layers = [")[2].partition("]")[0]
    layers = [name for line in re.findall(r'"([^"]+)"', contract) for name in line.split(" | ")]
    tops = list(re.findall(r"^\| `([\w]+)/` \|", PAGE, re.MULTILINE))

    assert tops == [name for name in layers if (BOT / name).is_dir()]
