"""The requests repository of a demo-leaderboard board: the status of each model's request file."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from bot.errors import Unwritable
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.tables.json_text import load, members
from bot.publishing.tables.mapping import REQUEST
from bot.publishing.tables.sheet import Splice, spliced
from bot.publishing.tables.template import Drafted, TemplateFiles, draft_each, json_object, precision_of
from bot.reporting.escape import brief


class RequestFiles(TemplateFiles):
    """The layout of the requests repository: only the status changes, no key is added."""

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of each organization."""
        return self.each(changes, lambda entry: entry.model.id.partition("/")[0])

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The request files of the models, whatever their precision."""
        starts = self.each(changes, _start)
        return tuple(path for path in sorted(listed) if path.startswith(starts) and path.endswith(".json"))

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The request files with their new status."""
        return draft_each(changes, lambda change: self._one(change, current))

    def _one(self, change: RowChange, current: Mapping[str, bytes]) -> Drafted | None:
        entry = self.subject(change)
        path = self._newest(entry, current)
        if path is None:
            return None if change.entry is None else self._new(entry)
        status = self.options.withdrawn if change.entry is None else self.options.finished
        new = self._with_status(path, current[path], status)
        return None if new is None else (path, new, (CellChange("status", _status(current[path]), status),))

    def _newest(self, entry: Entry, current: Mapping[str, bytes]) -> str | None:
        """The request file that the board uses: the last by name of those for the model and precision."""
        mine = {path: data for path, data in current.items() if path.startswith(_start(entry))}
        said = {path: str(json_object(data).get("precision")).removeprefix("torch.") for path, data in mine.items()}
        return max((path for path, precision in said.items() if precision == precision_of(entry)), default=None)

    def _with_status(self, path: str, data: bytes, status: str) -> bytes | None:
        """A request file with another status, None if it has it. Raises Unwritable for an unexpected status."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unwritable(f"{brief(path)} is not UTF-8 text") from None
        whole = load(text)
        there = [each for each in members(text, whole.start) if each.name == "status"]
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
            "precision": precision_of(entry),
            "status": self.options.finished,
            "submitted_time": entry.date,
        }
        content = {**REQUEST, **self.options.request_defaults, **said}
        path = f"{_start(entry)}False_{precision_of(entry)}_{content['weight_type']}.json"
        data = (json.dumps(content, indent=2) + "\n").encode()
        return path, data, (CellChange("status", None, self.options.finished),)

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both have the same status."""
        del changes, path
        return (one is None) == (other is None) and _status(one) == _status(other)

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The status of a row's request file. Raises Unwritable."""
        path = self._newest(self.subject(change), current)
        return None if path is None else {"status": _status(current[path])}


def _start(entry: Entry) -> str:
    return f"{entry.model.id}_eval_request_"


def _status(data: bytes | None) -> str:
    return str(json_object(data).get("status", ""))
