"""Result files cut into parts: what a harness writes when it is called task by task."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

BY_LEAF = ("results", "versions", "n-shot", "n-samples", "configs", "higher_is_better", "task_hashes")


def leaves_of(data: dict[str, Any]) -> list[str]:
    """The keys of the leaves of a file of lm-eval 0.4."""
    groups = {*data.get("groups", {}), *data.get("group_subtasks", {})}
    return [key for key in data["results"] if key not in groups]


def only(data: dict[str, Any], leaves: set[str]) -> dict[str, Any]:
    """The file as the harness would have written it for these leaves alone, without aggregates."""
    part = deepcopy(data)
    for name in BY_LEAF:
        if name in part:
            part[name] = {key: value for key, value in part[name].items() if key in leaves}
    part["groups"], part["group_subtasks"] = {}, {}
    return part


def parts_of(data: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The file cut into this many, the leaves dealt out in turn."""
    leaves = leaves_of(data)
    return [only(data, set(leaves[start::count])) for start in range(count)]
