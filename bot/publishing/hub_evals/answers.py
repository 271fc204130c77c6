"""The Hub's answer about a model's result files after a request was opened: its only validation of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.reporting.escape import brief


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A result file as the Hub shows it: `error` is its message where it hides the file, "" else."""

    filename: str
    task_ids: tuple[str, ...]
    error: str = ""


def shown_files(answer: Any) -> Mapping[str, ShownFile]:
    """The files in `evalResults` of a model's raw JSON, by name; the client drops names and errors, so it is not asked.

    Items of another shape are ignored.
    """
    found: dict[str, ShownFile] = {}
    for item in answer if isinstance(answer, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("filename"), str):
            continue
        name, data = item["filename"], item.get("data")
        dataset = data.get("dataset") if isinstance(data, dict) else None
        task_id = dataset.get("task_id") if isinstance(dataset, dict) else None
        tasks = found[name].task_ids if name in found else ()
        error = brief(str(item["error"]), 300) if "error" in item else ""
        found[name] = ShownFile(name, (*tasks, str(task_id)) if task_id is not None else tasks, error)
    return found


def faults(answer: Any, paths: Mapping[str, str]) -> list[str]:
    """The faults of proposed files, empty if the Hub shows all of them; `paths` gives the task id of each file.

    The Hub may name a file by its path or without its folder.
    """
    shown = shown_files(answer)
    said = []
    for path, task_id in paths.items():
        file = shown.get(path) or shown.get(path.rpartition("/")[2])
        if file is None:
            said.append(f"the Hub does not show {path}")
        elif file.error:
            said.append(f"the Hub hides {path}: {file.error}")
        elif task_id not in file.task_ids:
            said.append(f"the Hub shows {path} without the task {task_id}")
    return said
