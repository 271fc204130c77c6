"""What the Hub makes of `.eval_results` files: `evalResults` of a model, and the leaderboard of a benchmark.

A file with one fault hides all its entries: the answer has its name and an error instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import yaml

from .git import Blob, Repository, Tree
from .reply import Failure, Reply, answer

if TYPE_CHECKING:
    from .hub import Call, Hub

Json = dict[str, Any]
FOLDER = ".eval_results"
CARD = "README.md"


class Faulty(Exception):
    """A result file that the Hub does not show."""


def of_model(hub: Hub, repository: Repository) -> list[Json]:
    """The entries on main and in every open request, as `evalResults` has them."""
    main = files_of(repository.main.tree)
    found = [item for path, blob in main.items() for item in shown(hub, path, blob.data)]
    for row in sorted(hub.talk(repository).all.values(), key=lambda row: row.num):
        if not row.pull_request or row.status not in {"open", "draft"} or row.ref not in repository.refs:
            continue
        for path, blob in files_of(repository.refs[row.ref].tree).items():
            if path not in main or main[path].oid != blob.oid:
                found += [item | {"pullRequest": row.num} for item in shown(hub, path, blob.data)]
    return found


def files_of(tree: Tree) -> dict[str, Blob]:
    folder = tree.at(FOLDER)
    rows = folder.files(f"{FOLDER}/") if isinstance(folder, Tree) else ()
    return {path: blob for path, blob in rows if path.endswith((".yaml", ".yml"))}


def shown(hub: Hub, path: str, data: bytes) -> list[Json]:
    try:
        return [{"filename": path, "verified": False, "data": each} for each in entries(hub, data)]
    except Faulty as fault:
        return [{"filename": path, "error": str(fault)}]


def entries(hub: Hub, data: bytes) -> list[Json]:
    """The entries of a file. Raises Faulty as the Hub's own check would."""
    for text, message in hub.refused_results.items():
        if text.encode() in data:
            raise Faulty(message)
    try:
        rows = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Faulty("Invalid YAML") from error
    if not isinstance(rows, list) or not rows:
        raise Faulty("Expected array")
    return [checked(hub, row) for row in rows]


def checked(hub: Hub, row: Any) -> Json:
    dataset = row.get("dataset") if isinstance(row, dict) else None
    if not isinstance(dataset, dict) or not isinstance(dataset.get("id"), str):
        raise Faulty("[0].dataset.id: Required")
    if not isinstance(dataset.get("task_id"), str):
        raise Faulty("[0].dataset.task_id: Required")
    value = row.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Faulty("[0].value: Expected number")
    if "source" in row and "url" not in row["source"]:
        raise Faulty("[0].source.url: Required")
    known = tasks_of(hub, dataset["id"])
    if known and dataset["task_id"] not in known:
        raise Faulty(f"Task {dataset['task_id']} is not in the eval.yaml of {dataset['id']}")
    return {key: str(value) if key == "date" else value for key, value in row.items()}


def tasks_of(hub: Hub, dataset: str) -> list[str]:
    """The task ids in a benchmark's `eval.yaml`, none where it has none."""
    repository = hub.repositories.get(("dataset", dataset))
    blob = repository.main.tree.at("eval.yaml") if repository else None
    try:
        read = yaml.safe_load(blob.data) if isinstance(blob, Blob) else {}
    except yaml.YAMLError:
        return []
    return [task["id"] for task in read.get("tasks", [])]


def leaderboard(hub: Hub, call: Call, dataset: Repository) -> Reply:
    """The results of all models on one benchmark, the highest first; derived models only where they are asked for."""
    if not tasks_of(hub, dataset.name):
        raise Failure(404, "This dataset does not have a leaderboard")
    rows = list(ranked(hub, dataset.name, base_only=call.query.get("base_model") != "false"))
    rows.sort(key=lambda row: -row["value"])
    return answer([{"rank": rank, **row} for rank, row in enumerate(rows, 1)])


def ranked(hub: Hub, dataset: str, *, base_only: bool) -> Iterator[Json]:
    for (kind, name), repository in hub.repositories.items():
        if kind != "model" or (base_only and has_base(repository)):
            continue
        for item in of_model(hub, repository):
            data = item.get("data")
            if data is None or data["dataset"]["id"] != dataset:
                continue
            author = {"type": "org", "name": name.partition("/")[0]}
            row = {"modelId": name, "value": data["value"], "author": author}
            row |= {key: item[key] for key in ("filename", "verified", "pullRequest") if key in item}
            yield row | {key: data[key] for key in ("source", "notes") if key in data}


def has_base(repository: Repository) -> bool:
    """Whether the card names a model that this one is derived from."""
    card = repository.main.tree.at(CARD)
    return isinstance(card, Blob) and b"\nbase_model:" in card.data
