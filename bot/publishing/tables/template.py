"""The common part of both repositories of a demo-leaderboard board: a change's row, file names, file reading.

The board's readers drop a model without a message where a task is missing, a value is not a number, or its folder
holds a file that is not JSON; an unknown key in a request file stops the back end for everybody. So a row is complete
or refused, and only the status of a request file changes. The caller writes both with the commit that was read as
parent, because the back end overwrites request files without a check.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from bot.errors import CallError, Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.addresses import evidence_link
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.tables.json_sheet import children, load
from bot.publishing.tables.mapping import REQUEST, TemplateOptions
from bot.publishing.tables.sheet import Splice, spliced
from bot.publishing.tables.values import RowView, printed
from bot.reporting.escape import brief

HUB_ID = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+", re.ASCII)
Drafted = tuple[str, bytes | None, tuple[CellChange, ...]]  # a path, its bytes, the text for a person


TORCH = frozenset({"float16", "bfloat16", "float32"})
MARK = "leaderboard_bot"  # in `config`, of which the readers take the keys that they know


class TemplateFiles(ABC):
    """The files of one of the repositories."""

    def __init__(self, options: TemplateOptions) -> None:
        self.options = options

    def precision(self, entry: Entry) -> str:
        """A precision as the board writes it, without the library's name."""
        return entry.model.precision.removeprefix("torch.")

    def subject(self, change: RowChange) -> Entry:
        """The row that a change is about. Raises Unwritable if it is unknown, or cannot be on the board."""
        entry = change.entry or change.published
        if entry is None:
            raise Unwritable("its submission was withdrawn, and the bot has no record of its row")
        if not HUB_ID.fullmatch(entry.model.id):
            raise Unwritable(f"{brief(entry.model.id, 60)!r} is not the id of a model on the Hub, as the board needs")
        if not self.precision(entry):
            raise Unwritable("no file of the row states the precision of the model: declare it as `precision`")
        if self.precision(entry) not in self.options.precisions:
            raise Unwritable(f"the board does not know the precision {brief(self.precision(entry), 40)!r}")
        return entry

    def count(self, current: Mapping[str, bytes]) -> int:
        """The number of files of rows, of those that were read."""
        return sum(path.endswith(".json") for path in current)

    def each(self, changes: Sequence[RowChange], place: Callable[[Entry], str]) -> tuple[str, ...]:
        """The paths of every row that the board can have."""
        found = []
        for change in changes:
            try:
                found.append(place(self.subject(change)))
            except Unwritable:
                continue
        return tuple(dict.fromkeys(found))

    @abstractmethod
    def one(self, change: RowChange, current: Mapping[str, bytes]) -> Drafted | None:
        """The file of one row, None if nothing changes. Raises Unwritable."""

    def kept(self, entry: Entry) -> str:
        """The file that is a row's own where nothing changes, "" for none."""
        return ""

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The files of the rows, each drafted on its own; of two rows with one file the first has it."""
        files: dict[str, bytes | None] = {}
        taken: set[str] = set()
        refused: dict[str, str] = {}
        cells: dict[str, tuple[CellChange, ...]] = {}
        for change in changes:
            try:
                drafted = self.one(change, current)
            except Unwritable as error:
                refused[change.key] = str(error)
                continue
            if drafted is not None and drafted[0] in taken:
                refused[change.key] = "another revision of the model uses the same file; the board has one row for both"
            elif drafted is not None:
                files[drafted[0]], cells[change.key] = drafted[1:]
                taken.add(drafted[0])
            elif change.entry is not None:
                taken.add(self.kept(change.entry))
        return Draft(files, refused, cells)


def rows_of_template(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """The rows that the board shows of these result files, the last by name of each model and precision."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for _, data in sorted(files.items()):
        config, results = _config(data), json_object(data).get("results")
        given = dict(part.partition("=")[::2] for part in str(config.get("model_args", "")).split(","))
        name, precision = config.get("model_name") or given.get("pretrained"), config.get("model_dtype")
        if name and precision and isinstance(results, dict):
            said = {"model": str(name), "precision": str(precision).removeprefix("torch.")}
            tasks = {benchmark: each for benchmark, each in results.items() if isinstance(each, dict)}
            revision = config.get("model_sha")
            rows[said["model"], said["precision"]] = {**said, **({"revision": revision} if revision else {}), **tasks}
    return list(rows.values())


def json_object(data: bytes | None) -> Mapping[str, Any]:
    """The object in a file, an empty one if there is none."""
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class RequestFiles(TemplateFiles):
    """The layout of the requests repository: only the status changes, no key is added."""

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of each organization."""
        return self.each(changes, lambda entry: entry.model.id.partition("/")[0])

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The request files of the models, whatever their precision."""
        starts = self.each(changes, _start)
        return tuple(path for path in sorted(listed) if path.startswith(starts) and path.endswith(".json"))

    def one(self, change: RowChange, current: Mapping[str, bytes]) -> Drafted | None:
        """The request file of a row with its new status."""
        entry = self.subject(change)
        path = self._newest(entry, current)
        if path is None:
            return None if change.entry is None else self._new(entry)
        status = self.options.withdrawn if change.entry is None else self.options.finished
        new = self._with_status(path, current[path], status)
        before = str(json_object(current[path]).get("status", ""))
        return None if new is None else (path, new, (CellChange("status", before, status),))

    def _newest(self, entry: Entry, current: Mapping[str, bytes]) -> str | None:
        """The request file that the board uses: the last by name of those for the model and precision."""
        mine = {path: data for path, data in current.items() if path.startswith(_start(entry))}
        said = {path: str(json_object(data).get("precision")).removeprefix("torch.") for path, data in mine.items()}
        return max((path for path, precision in said.items() if precision == self.precision(entry)), default=None)

    def _with_status(self, path: str, data: bytes, status: str) -> bytes | None:
        """A request file with another status, None if it has it. Raises Unwritable for an unexpected status."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unwritable(f"{brief(path)} is not UTF-8 text") from None
        there = [each for each in children(text, load(text)) if each.name == "status"]
        if len(there) != 1:
            raise Unwritable(f"{brief(path)} has not exactly one status")
        old = there[0].value
        if old == status or (status == self.options.finished and str(old).startswith(status)):
            return None
        if old not in (*self.options.expected, self.options.finished):
            raise Unwritable(f"{brief(path)} has the status {brief(str(old), 40)!r}, which the bot does not change")
        return spliced(text, [Splice(there[0].start, there[0].end, json.dumps(status))]).encode()

    def _new(self, entry: Entry) -> Drafted:
        """A request file with the keys that the back end knows, and no other."""
        if not self.options.create_requests:
            raise Unwritable("there is no request file, so the board shows the model without its metadata")
        said = {
            "model": entry.model.id,
            "revision": entry.model.revision or "main",
            "precision": self.precision(entry),
            "status": self.options.finished,
            "submitted_time": entry.date,
        }
        content = {**REQUEST, **self.options.request_defaults, **said}
        path = f"{_start(entry)}False_{self.precision(entry)}_{content['weight_type']}.json"
        data = (json.dumps(content, indent=2) + "\n").encode()
        return path, data, (CellChange("status", None, self.options.finished),)


def _start(entry: Entry) -> str:
    return f"{entry.model.id}_eval_request_"


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
        return f"{self.options.folder.rstrip('/')}/{entry.model.id}".lstrip("/")

    def path(self, entry: Entry) -> str:
        """The file of a row; its name comes after those that begin with a date, and readers take the last."""
        return f"{self.folder(entry)}/results_{self.precision(entry)}.json"

    kept = path

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of each model, in which nothing but JSON files may lie."""
        return self.each(changes, self.folder)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """Everything in the folders, and the files to be written."""
        return tuple(dict.fromkeys([*sorted(listed), *self.each(changes, self.path)]))

    def one(self, change: RowChange, current: Mapping[str, bytes]) -> Drafted | None:
        """The result file of a row; that of somebody else stays, and counts where it says the same."""
        entry = self.subject(change)
        path = self.path(entry)
        others = self._others(entry, path, current)
        mine = None if path in others else current.get(path)
        new = None if change.entry is None else self._content(change, entry)
        shown = next(reversed(others.values()), None) if mine is None else mine
        is_given = mine is None and new is not None and _gives(shown, new)
        if is_given or _read_parts(mine) == _read_parts(new):
            return None
        self._check_others(others, path)
        return path, new, _shown(shown, new)

    def _others(self, entry: Entry, path: str, current: Mapping[str, bytes]) -> dict[str, bytes]:
        """Somebody else's results of this row by path, in the order of their names.

        Raises Unwritable if the board ignores the folder.
        """
        found = {}
        for name, data in sorted(current.items()):
            if not name.startswith(f"{self.folder(entry)}/"):
                continue
            if not name.endswith(".json"):
                raise Unwritable(f"{brief(name)} is not a JSON file, so the board ignores the whole folder")
            config = _config(data)
            precision = str(config.get("model_dtype")).removeprefix("torch.")
            if MARK not in config and (name == path or precision == self.precision(entry)):
                found[name] = data
        return found

    def _check_others(self, others: Iterable[str], path: str) -> None:
        """Raise Unwritable where the bot's file may not stand for one of somebody else, or is not the one shown."""
        for name in others:
            if self.options.on_existing == "refuse" or name > path:
                is_last = self.options.on_existing == "update"
                why = "and the board takes the last file by name" if is_last else "that the bot did not write"
                raise Unwritable(f"{brief(name)} already has results of this model and precision {why}")

    def _content(self, change: RowChange, entry: Entry) -> bytes:
        precision = self.precision(entry)
        config = {
            "model_name": entry.model.id,
            "model_dtype": f"torch.{precision}" if precision in TORCH else precision,
            "model_sha": entry.model.revision or "main",
            MARK: {"key": change.key, "leaderboard": self.leaderboard.id, "evidence": evidence_link(entry)},
        }
        return (json.dumps({"config": config, "results": self._results(entry)}, indent=2) + "\n").encode()

    def _results(self, entry: Entry) -> dict[str, dict[str, float]]:
        """The values by benchmark and metric. Raises Unwritable if one is missing."""
        row = RowView(entry, self.leaderboard)
        results: dict[str, dict[str, float]] = {}
        for task_id, place in self.options.tasks.items():
            number = printed(f"tasks.{task_id}.{place.value}", row, place.unit, place.decimals)
            if not isinstance(number, Decimal):
                raise Unwritable(f"the row has no value for {task_id}, and the board drops models with a missing task")
            results.setdefault(place.benchmark, {})[place.metric] = float(number)
        return results


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
    return {f"{name} {metric}": repr(value) for name, (metric, value) in pairs if isinstance(value, int | float)}


def _gives(shown: bytes | None, new: bytes) -> bool:
    """Tell whether two files have the same values to 12 significant digits."""
    old = _values(shown)
    return all(
        name in old and f"{float(old[name]):.12g}" == f"{float(value):.12g}" for name, value in _values(new).items()
    )


def _shown(before: bytes | None, after: bytes | None) -> tuple[CellChange, ...]:
    old, new = _values(before), _values(after)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return tuple(CellChange(name, old.get(name), new.get(name, "")) for name in names)
