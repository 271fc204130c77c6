"""The results repository of a demo-leaderboard board: one result file for each model and precision."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.errors import CallError, Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.tables.mapping import TemplateOptions
from bot.publishing.tables.template import Drafted, TemplateFiles, draft_each, json_object, precision_of
from bot.publishing.tables.values import RowView, exact, scaled
from bot.reporting.escape import brief

TORCH = frozenset({"float16", "bfloat16", "float32"})
MARK = "leaderboard_bot"  # in `config`, of which the readers take the keys that they know


class ResultFiles(TemplateFiles):
    """The layout of the results repository. The board knows no revisions.

    Raises CallError if the settings name a task that the leaderboard has not.
    """

    def __init__(self, options: TemplateOptions, leaderboard: Leaderboard) -> None:
        super().__init__(options)
        self.leaderboard = leaderboard
        known = {task.id for task in leaderboard.tasks}
        for task_id in options.tasks.keys() - known:
            raise CallError(f"tasks: the leaderboard has no task {task_id!r}; it has {', '.join(sorted(known))}")

    def folder(self, entry: Entry) -> str:
        """Where the result files of a model lie."""
        return f"{self.options.folder.strip('/')}/{entry.model.id}".lstrip("/")

    def path(self, entry: Entry) -> str:
        """The file of a row; its name comes after those that begin with a date, and readers take the last."""
        return f"{self.folder(entry)}/results_{precision_of(entry)}.json"

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of each model, in which nothing but JSON files may lie."""
        return self.each(changes, self.folder)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """Everything in the folders, and the files to be written."""
        return tuple(dict.fromkeys([*sorted(listed), *self.each(changes, self.path)]))

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The result files of the rows; a file of somebody else is not replaced."""
        return draft_each(changes, lambda change: self._one(change, current))

    def _one(self, change: RowChange, current: Mapping[str, bytes]) -> Drafted | None:
        entry = self.subject(change)
        path = self.path(entry)
        self._check_folder(entry, path, current)
        old, new = current.get(path), None if change.entry is None else self._content(change, entry)
        return None if self.is_same([change], path, old, new) else (path, new, _shown(old, new))

    def _check_folder(self, entry: Entry, path: str, current: Mapping[str, bytes]) -> None:
        """Raise Unwritable where the board would not show the bot's file."""
        for name, data in current.items():
            if not name.startswith(f"{self.folder(entry)}/"):
                continue
            if not name.endswith(".json"):
                raise Unwritable(f"{brief(name)} is not a JSON file, so the board ignores the whole folder")
            config = _config(data)
            precision = str(config.get("model_dtype")).removeprefix("torch.")
            if MARK not in config and (name == path or precision == precision_of(entry)):
                raise Unwritable(
                    f"{brief(name)} already has results of this model and precision that the bot did not write"
                )

    def _content(self, change: RowChange, entry: Entry) -> bytes:
        precision = precision_of(entry)
        config = {
            "model_name": entry.model.id,
            "model_dtype": f"torch.{precision}" if precision in TORCH else precision,
            "model_sha": entry.model.revision or "main",
            MARK: {"key": change.key, "leaderboard": self.leaderboard.id, "evidence": change.links.evidence},
        }
        return (json.dumps({"config": config, "results": self._results(entry)}, indent=2) + "\n").encode()

    def _results(self, entry: Entry) -> dict[str, dict[str, float]]:
        """The values by benchmark and metric. Raises Unwritable if one is missing."""
        row = RowView(entry, self.leaderboard)
        results: dict[str, dict[str, float]] = {}
        for task_id, place in self.options.tasks.items():
            task = row.task(task_id)
            number = exact(task.raw if place.value == "raw" else task.score)
            if number is None:
                raise Unwritable(f"the row has no value for {task_id}, and the board drops models with a missing task")
            unit = row.unit(task_id) if place.value == "raw" else "percent"
            results.setdefault(place.benchmark, {})[place.metric] = float(scaled(number, unit, "proportion"))
        return results

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both say the same about the model and its values."""
        del changes, path
        return bool(_read_parts(one) == _read_parts(other))

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The values of a row by benchmark and metric. Raises Unwritable."""
        path = self.path(self.subject(change))
        return _values(current[path]) if path in current else None


def _config(data: bytes | None) -> Mapping[str, Any]:
    found = json_object(data)
    config = found.get("config", found.get("config_general"))
    return config if isinstance(config, dict) else {}


def _read_parts(data: bytes | None) -> Any:
    """The parts of a result file that readers use."""
    names = ("model_name", "model_dtype", "model_sha")
    return None if data is None else ([_config(data).get(name) for name in names], json_object(data).get("results"))


def _values(data: bytes | None) -> dict[str, str]:
    results = json_object(data).get("results")
    rows = results if isinstance(results, dict) else {}
    pairs = ((name, each) for name, row in rows.items() if isinstance(row, dict) for each in row.items())
    return {f"{name} {metric}": repr(value) for name, (metric, value) in pairs}


def _shown(before: bytes | None, after: bytes | None) -> tuple[CellChange, ...]:
    old, new = _values(before), _values(after)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return tuple(CellChange(name, old.get(name), new.get(name, "")) for name in names)
