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


# `a`, `B.c` (why) and `d` in `some/file.py`: each name is defined in the file, a method in its class.
NAME = r"`[A-Za-z_][\w.]*`(?: \([^)]*\))?"
NAMED_IN = re.findall(rf"((?:{NAME}(?:, (?:and |or )?| and | or ))*{NAME}) (?:in|of) `([\w/]+\.py)`", PAGE)


def defined_in(path: Path) -> set[str]:
    """What a module defines at its top, and the methods of its classes as `Class.name`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return found


def test_each_name_that_the_page_places_in_a_file_is_defined_there() -> None:
    wrong = []
    for names, place in NAMED_IN:
        files = [BOT / place] if "/" in place else list(BOT.rglob(place))
        known = set[str]().union(*(defined_in(file) for file in files))
        said = re.findall(r"`([\w.]+)`", re.sub(r"\([^)]*\)", "", names))
        wrong += [f"{name} in {place}" for name in said if name not in known]
    assert len(NAMED_IN) > 40
    assert wrong == []
