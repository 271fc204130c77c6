"""What no linter knows of the code: a class name stands for one thing, and facts are put together in one place."""

# ruff: noqa: INP001, T201 -- a script that prints, in a folder that is no package
from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The doors, which have facts of their own, and the judge.
FACTS = {"cli/scoring.py", "evaluation/rules/rule.py", "service/judge/facts.py"}


def faults(bot: Path) -> Iterator[str]:
    """Yield a line for each breach below this folder."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(bot.rglob("*.py")):
        place = path.relative_to(bot).as_posix()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(place)
            elif place not in FACTS and isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Facts":
                yield f"{place}:{node.lineno}: facts are put together in service/judge/facts.py alone"
    for name, places in homes.items():
        if len(places) > 1:
            yield f"{name} stands for several things: {', '.join(places)}"


def main(bot: Path = ROOT / "bot") -> int:
    """0 where nothing was found, 1 otherwise."""
    found = list(faults(bot))
    print("\n".join(found) or "names of classes and the place of facts checked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
