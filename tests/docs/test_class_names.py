"""A class name stands for one thing in the whole project."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.evaluation.judging import ROOT


def test_no_class_name_stands_for_two_things() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in (ROOT / "bot").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(homes) > 100
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
