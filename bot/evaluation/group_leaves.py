"""Put the leaves of the catalogue's groups into a declaration, so that MMLU takes one line instead of 57."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.evaluation.catalogue import PLACE, Group, Guessable, catalogue, find_group, members_of
from bot.evaluation.toml_file import Fault


def with_group_leaves(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """A declaration's data with the leaves of every task that names a group; data of any type is let through."""
    harness = data.get("harness")
    formats = harness.get("formats") if isinstance(harness, dict) else None
    tasks = data.get("tasks")
    if not isinstance(tasks, list):
        return dict(data), []
    faults = [fault for number, task in enumerate(tasks) for fault in _faults(number, task)]
    wanted = [one for one in formats if isinstance(one, str)] if isinstance(formats, list) else []
    return {**data, "tasks": [_with_leaves(task, wanted) for task in tasks]}, faults


def _faults(number: int, task: Any) -> Iterator[Fault]:
    name = task.get("group") if isinstance(task, dict) else None
    if not isinstance(name, str):
        return
    if "leaves" in task:
        yield f"tasks.{number}.group", "a task has leaves or a group, not both"
    if find_group(name) is None:
        known = ", ".join(sorted(catalogue().groups))
        yield f"tasks.{number}.group", f"there is no group {name!r} in the catalogue; there are {known}"


def _with_leaves(task: Any, formats: list[str]) -> Any:
    name = task.get("group") if isinstance(task, dict) else None
    group = find_group(name) if isinstance(name, str) else None
    if group is None or "leaves" in task:
        return task
    return {"groups": list(group.rows), **task, "leaves": list(_leaves(group, task, formats))}


def _leaves(group: Group, task: Mapping[str, Any], formats: list[str]) -> Iterator[dict[str, Any]]:
    given = task.get("group_keys")
    patterns = {**group.keys, **(given if isinstance(given, dict) else {})}
    has_bounds = task.get("normalize") == "leaf" and "lower_bound" not in task
    for name, member in members_of(group).items():
        leaf: dict[str, Any] = {"id": group.key.replace(PLACE, name), "samples": member.samples}
        keys = {one: patterns[one].replace(PLACE, name) for one in formats if isinstance(patterns.get(one), str)}
        known = member if member.choices or member.guess is not None else group
        yield leaf | ({"keys": keys} if keys else {}) | (_bound(known, task) if has_bounds else {})


def _bound(known: Guessable, task: Mapping[str, Any]) -> dict[str, str]:
    """Where guessing is worth 0, in the task's unit."""
    bound = known.guessing * (100 if task.get("unit") == "percent" else 1)
    return {"lower_bound": str(bound), "bound_reason": known.why} if bound else {}
