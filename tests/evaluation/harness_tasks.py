"""The task files of the installed lm-evaluation-harness, read as they lie: importing the harness takes ten seconds."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

NAME = re.compile(r"^['\"]?(?:task|group)['\"]?: *['\"]?([^\s'\"\[]+)", re.MULTILINE)
TAGS = re.compile(r"^['\"]?tag['\"]?:(.*(?:\n\s*-.*)*)", re.MULTILINE)
INCLUDED = re.compile(r"^['\"]?include['\"]?: *['\"]?([^\s'\"\[]+)", re.MULTILINE)


class Loader(yaml.SafeLoader):
    """YAML in which `!function x.y` is the text x.y."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@cache
def folder() -> Path:
    """Where the task files lie; the test is skipped where the harness is not installed."""
    spec = find_spec("lm_eval")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("lm_eval is not installed")
    return Path(spec.submodule_search_locations[0]) / "tasks"


@cache
def task_files() -> dict[str, Path]:
    """Every task and group that a file of its own declares, by name."""
    found: dict[str, Path] = {}
    for path in sorted(folder().rglob("*.yaml")):
        match = NAME.search(path.read_text(encoding="utf-8"))
        if match:
            found.setdefault(match[1], path)
    return found


def config(name: str) -> dict[str, Any]:
    """What the harness knows of a task or group, with the files that its file includes."""
    return _load(task_files()[name])


def _load(path: Path) -> dict[str, Any]:
    own = yaml.load(path.read_text(encoding="utf-8"), Loader)
    included = own.pop("include", [])
    merged: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        merged |= _load(path.parent / name)
    return merged | own


@cache
def tagged(tag: str, top: str) -> set[str]:
    """The tasks that bear a tag, below one folder of the tasks: what others call by the same tag is not meant."""
    named = {path: name for name, path in task_files().items()}
    below = [path for path in named if path.relative_to(folder()).parts[0] == top]
    return {named[path] for path in below if tag in _tags(path)}


def _tags(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    above = INCLUDED.search(text)
    if above and not TAGS.search(text):
        text = (path.parent / above[1]).read_text(encoding="utf-8")
    match = TAGS.search(text)
    return re.findall(r"\w[\w-]*", match[1]) if match else []


def members(name: str, top: str = "") -> set[str]:
    """The tasks below a group or tag; `top` is the folder in which a tag is looked for."""
    if name not in task_files():
        return tagged(name, top or name.partition("_")[0])
    path, tasks = task_files()[name], config(name).get("task")
    if isinstance(tasks, str):
        return {name}
    top = path.relative_to(folder()).parts[0]
    return {leaf for task in tasks for leaf in _below(task, top)}


def _below(task: Any, top: str) -> set[str]:
    if isinstance(task, str):
        return members(task, top)
    return {leaf for inner in task["task"] for leaf in _below(inner, top)}
