"""Tells groups from tasks by the indentation of their aliases, where a file does not list the members of its groups.

Files of harness 0.4.0 have no `group_subtasks`. They name a group "mmlu", the groups in it " - humanities" and the
tasks in those "  - formal_logic": what is indented belongs to the last row before it that is indented less.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

INDENTED = re.compile(r"( +)- ")


def subtasks_by_alias(results: Mapping[str, Any], tasks: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The members of each group, in order; a row that is among `tasks`, those with a configuration, is not a group."""
    members: dict[str, list[str]] = {}
    above: list[tuple[int, str]] = []
    for key, row in results.items():
        depth = _depth(row)
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            members.setdefault(above[-1][1], []).append(key)
        if key not in tasks:
            above.append((depth, key))
    return {group: tuple(found) for group, found in members.items()}


def _depth(row: Any) -> int:
    """How deep a row is indented, 0 if it is not."""
    alias = row.get("alias") if isinstance(row, dict) else None
    match = INDENTED.match(alias) if isinstance(alias, str) else None
    return len(match[1]) if match else 0
