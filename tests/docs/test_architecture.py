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
# Every path in the text or in code, as it is written; links are held by test_docs.py, and an operator writes bot.toml.
TEXT = re.sub(r"\[[^]]*\]\([^)]*\)", "", PAGE).replace("`bot.toml`", "")
PATHS = sorted(set(re.findall(r"(?<![\w./-])[\w.-][\w./-]*(?:/(?!\w)|\.(?:py|toml|html|md)\b)", TEXT)))


def sentence_of(room: str) -> str:
    lines = (ast.get_docstring(ast.parse((BOT / room / "__init__.py").read_text(encoding="utf-8"))) or "").split("\n\n")
    return " ".join(lines[0].split())


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_is_described_as_it_describes_itself(room: str) -> None:
    assert f"- `{room}/` {sentence_of(room)}\n" in PAGE


def test_no_room_is_described_that_is_not_there() -> None:
    assert sorted(re.findall(r"^ *- `([\w/]+)/` ", PAGE, re.MULTILINE)) == ROOMS


def test_each_path_that_the_page_names_is_there_as_it_is_written() -> None:
    assert len(PATHS) > 150
    assert [path for path in PATHS if not (BOT / path).exists() and not (ROOT / path).exists()] == []


def test_the_rooms_stand_in_the_order_of_their_imports() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("layers = [")[2].partition("]")[0]
    layers = [name for line in re.findall(r'"([^"]+)"', contract) for name in line.split(" | ")]
    tops = list(re.findall(r"^- `([\w]+)/` ", PAGE, re.MULTILINE))

    assert tops == [name for name in layers if (BOT / name).is_dir()]


# `a`, `B.c` (why) and `d` in `some/file.py`, or `some/file.py`, `a`: each is defined in the file, `c` in its class.
NAME = r"`[A-Za-z_][\w.]*`(?: \([^)]*\))?"
LIST = rf"(?:{NAME}(?:, (?:and |or )?| and | or ))*{NAME}"
LINE = " ".join(PAGE.split())
NAMED_IN = [
    *re.findall(rf"({LIST}) (?:in|of) `([\w/]+\.py)`", LINE),
    *((names, path) for path, names in re.findall(rf"`([\w/]+\.py)`[,:] ({LIST})(?! (?:in|of) `[\w/]+\.py`)", LINE)),
]


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def defined_in(path: Path) -> set[str]:
    """What a module defines at its top, and the methods and fields of its classes as `Class.name`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, FUNCTION)}
            fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
            found |= {f"{node.name}.{one.id}" for one in fields if isinstance(one, ast.Name)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return found


def test_each_name_that_the_page_places_in_a_file_is_defined_there() -> None:
    wrong = []
    for names, place in NAMED_IN:
        known = defined_in(BOT / place) if (BOT / place).exists() else defined_in(ROOT / place)
        said = re.findall(r"`([\w.]+)`", re.sub(r"\([^)]*\)", "", names))
        wrong += [f"{name} in {place}" for name in said if name not in known]
    assert len(NAMED_IN) > 100
    assert wrong == []
