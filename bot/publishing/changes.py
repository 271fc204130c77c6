"""The rows that were added, changed or removed on a board, in the order of time, and what differs between two rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from bot import __version__
from bot.evaluation.compare import SettingDifference
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rounding import half_up
from bot.publishing.addresses import request_url
from bot.publishing.compared_rows import compared_rows, numbers_of, settings_of
from bot.publishing.entry import Entry, digest_of
from bot.reporting.escape import brief
from bot.reporting.scores import value_text

SCHEMA = "leaderboard-bot/change/1"
MEASURED = "measured"  # begins the reason of a change that files made, which names the newest
DAY = len("2026-11-30")
MOST_NAMED = 3  # scores, settings or tasks in a sentence
MERGED = re.compile(r"\(#([0-9]+)\)$|^Merge pull request #([0-9]+) ")


class ScoreChange(msgspec.Struct, frozen=True):
    """A score of a row that stayed on the board, 0 to 100, before and after a change; None where there is no score."""

    title: str
    before: float | None
    after: float | None

    @property
    def size(self) -> float:
        """The size of the change; a score that came or went counts as the largest."""
        return inf if self.before is None or self.after is None else abs(self.after - self.before)

    def __str__(self) -> str:
        before, after = ("–" if score is None else str(half_up(score, 2)) for score in (self.before, self.after))
        return f"{self.title} {before} → {after}"


class ColumnChange(msgspec.Struct, frozen=True):
    """A number that does not count, before and after a change, as texts with its unit; a dash where there is none."""

    title: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.title} {self.before} → {self.after}"


class BoardChange(msgspec.Struct, frozen=True):
    """One change of one row; `date` is ISO 8601 in UTC, "" if it is unknown.

    `before` and `after` are the averages, None if there was no row or the row has no average. `commit` is where it
    happened at the target, "" if only the row's evidence is known. `scores` are those that differ in a changed row, in
    the order of the declaration, and `columns` the numbers that do not count; `why` says what else differs: the
    declaration, or how the row was measured.
    """

    date: str
    kind: Literal["added", "changed", "removed"]
    key: str
    model: str
    before: float | None
    after: float | None
    reason: str
    commit: str = ""
    scores: tuple[ScoreChange, ...] = ()
    schema: str = SCHEMA
    why: str = ""
    columns: tuple[ColumnChange, ...] = ()

    @property
    def details(self) -> str:
        """What moved and why, as sentences: "BBH 30.10 → 33.00. Measured again; no recorded setting differs."."""
        return " ".join(filter(None, [self._moved, self.why]))

    @property
    def _moved(self) -> str:
        """Sentences about the scores that changed most, and about what does not count."""
        largest = sorted(self.scores, key=lambda score: score.size, reverse=True)[:MOST_NAMED]
        moved = _and_more(map(str, largest), len(self.scores) - len(largest), "score")
        first = self.columns[:MOST_NAMED]
        others = _and_more(map(str, first), len(self.columns) - len(first), "column")
        return " ".join([f"{moved}."] * bool(moved) + [f"{others}, not counted."] * bool(others))


def request_of(change: BoardChange, target: str) -> str:
    """Where people see the request that made a change, "" if it is not known.

    The Hub and GitHub put its number into the title of the merge.
    """
    found = MERGED.search(change.reason) if change.commit else None
    return request_url(target, found[1] or found[2]) if found else ""


def additions(entries: Iterable[Entry]) -> tuple[BoardChange, ...]:
    """All rows as added when they were measured, newest first, for a board without a known history."""
    found = [
        BoardChange(entry.date, "added", entry.key, entry.model.id, None, entry.average, _source(entry))
        for entry in entries
    ]
    return tuple(sorted(found, key=lambda change: (change.date, change.key), reverse=True))


def change_of(before: Entry | None, after: Entry | None, date: str) -> BoardChange | None:
    """What happened to one row between two states of a board, None if every number stayed."""
    entry = after or before
    if entry is None or (before and after and digest_of(before) == digest_of(after)):
        return None
    averages = (before.average if before else None, after.average if after else None)
    if after is None:
        return BoardChange(date, "removed", entry.key, entry.model.id, *averages, "is not on the board any more")
    if before is None:
        return BoardChange(date, "added", entry.key, entry.model.id, *averages, _source(after))
    is_rescored = before.leaderboard.scoring_digest != after.leaderboard.scoring_digest
    scores = tuple(_score_changes(before, after))
    why = "The declaration changed." if is_rescored else _measured_anew(before, after)
    changed = BoardChange(date, "changed", entry.key, entry.model.id, *averages, _source(after), scores=scores, why=why)
    return replace(changed, columns=tuple(column_changes(before, after)))


def _measured_anew(before: Entry, after: Entry) -> str:
    """How the measurement of a changed row differs from the one before; "" if the files are the same."""
    had, has = ({file.sha256: file for file in entry.evidence} for entry in (before, after))
    gone, new = ([file for digest, file in one.items() if digest not in two] for one, two in ((had, has), (has, had)))
    if not gone and not new:
        return ""
    newest = max(gone, key=lambda file: file.date, default=None)
    if newest is not None and newest.date > max([file.date for file in new], default=""):
        return f"{newest.path} of {newest.date[:DAY]} no longer counts."  # else it would, as the newer one
    if numbers_of(before) == numbers_of(after):
        return "Its files changed, and no number that counts."
    told: list[str] = []
    if settings_of(before) != settings_of(after):
        compared = compared_rows(before, after, ("", ""))
        told = [_said(one, len(compared.tasks)) for one in compared.settings] if compared else []
    if not told:
        return "Measured again; no recorded setting differs."
    return f"Measured differently: {_and_more(told[:MOST_NAMED], len(told[MOST_NAMED:]), 'setting')}."


def _said(setting: SettingDifference, tasks: int) -> str:
    """A setting with both values, and its tasks if it does not concern all of them."""
    values = " → ".join(map(brief, setting.values))
    named, rest = setting.tasks[:MOST_NAMED], len(setting.tasks[MOST_NAMED:])
    return f"{setting.name} {values}" + (f" ({_and_more(named, rest, 'task')})" if len(setting.tasks) < tasks else "")


def _and_more(named: Iterable[str], rest: int, what: str) -> str:
    return ", ".join(named) + (f" and {counted(rest, f'more {what}')}" if rest else "")


def column_changes(before: Entry, after: Entry) -> Iterator[ColumnChange]:
    """The numbers of a row that do not count and that differ."""
    old = {one.id: one for one in before.columns}
    for one in after.columns:
        was, now = value_text(old.get(one.id)), value_text(one)
        if was != now:
            yield ColumnChange(one.name, was, now)


def _score_changes(before: Entry, after: Entry) -> Iterator[ScoreChange]:
    old, new = ({task.id: task for task in entry.tasks} for entry in (before, after))
    for name in dict.fromkeys([*new, *old]):
        was, is_now = (tasks[name].score if name in tasks else None for tasks in (old, new))
        if was != is_now:
            yield ScoreChange((new.get(name) or old[name]).title, was, is_now)


def _source(entry: Entry) -> str:
    newest = entry.evidence[0] if entry.evidence else None
    where = " of ".join(part for part in (newest.path, newest.source) if part) if newest else ""
    return f"{MEASURED}: {where}" if where else MEASURED


MOST_KEYS, LONGEST_VALUE = 5, 40  # keys of a declaration that a reason names, and the characters of a value


def why_rescored(before: Entry, after: Entry | None, old: Leaderboard | None, new: Leaderboard) -> str:
    """Why a row has other numbers, or none any more, although its files are the same.

    `old` is the declaration that `before` names.
    """
    if before.leaderboard.scoring_digest == new.scoring_digest:
        is_newer = before.tool != (__version__ if after is None else after.tool)
        why = "the bot has another version" if is_newer else "waivers, owners or other facts changed"
    else:
        keys = changed_keys(old, new) if old is not None else []
        more = f" and {counted(len(keys) - MOST_KEYS, 'more key')}" if len(keys) > MOST_KEYS else ""
        why = f"the declaration changed{': ' if keys else ''}{', '.join(keys[:MOST_KEYS])}{more}"
    return why if after is not None else f"{why}, and the files are no longer accepted"


def changed_keys(old: Leaderboard, new: Leaderboard) -> list[str]:
    """The deciding keys of two declarations that differ, with both values: `tasks.musr.lower_bound: 1/4 → 1/5`."""
    return list(_changed_keys(old.deciding, new.deciding, ()))


def _changed_keys(old: Any, new: Any, key: tuple[str, ...]) -> Iterator[str]:
    old, new = _by_id(old), _by_id(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from _changed_keys(old.get(name), new.get(name), (*key, name))
    elif old != new:
        yield f"{'.'.join(key)}: {_short(old)} → {_short(new)}"


def _by_id(value: Any) -> Any:
    """A list of tables that have ids as a table by id; all else as it is."""
    has_ids = isinstance(value, list) and value and all(isinstance(one, dict) and "id" in one for one in value)
    return {one["id"]: one for one in value} if has_ids else value


def _short(value: Any) -> str:
    if value is None or value in ([], {}):
        return "–"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def to_jsonl(changes: Iterable[BoardChange]) -> bytes:
    """One JSON object for each line, newest first."""
    return b"".join(msgspec.json.encode(change) + b"\n" for change in changes)


# Fields that nobody can compute again: what wrote the entry, and when. docs/command-line.md names them.
CANNOT_FOLLOW = frozenset({"tool", "evidence[].date", "evidence[].dated_by", "facts.today"})
# Fields that another declaration always has otherwise, whatever it gives for the row.
OF_DECLARATION = frozenset({"leaderboard.digest", "leaderboard.scoring_digest", "tasks[].title"})
# Rules about files that the row is not made of, and that its evidence does not name: of its key, and of other rows.
OF_OTHER_FILES = frozenset({"rerun-differs", "settings-differ", "scored-as-no-other"})
WARNINGS = frozenset({"warnings[].rule", "warnings[].message"})

Value = float | str | None


class Difference(msgspec.Struct, frozen=True):
    """A field of a row, or a cell of its table: `name` says which, `published` is the value at the target.

    `computed` is the value from the evidence; for a cell, the value from the row beside the table.
    """

    name: str
    published: Value
    computed: Value


def differences(
    published: Entry, computed: Entry | None, leave_out: Collection[str] = frozenset()
) -> tuple[Difference, ...]:
    """Every field in which two rows differ, numbers to the last digit; every field if nothing could be computed.

    `leave_out` has further fields that do not count, such as `leaderboard.digest`. Warnings count only where both rows
    are of one version of the tool, which words them, and are not about files that are no evidence of the row.
    """
    excused = CANNOT_FOLLOW.union(leave_out)
    if computed is not None and published.tool != computed.tool:
        excused |= WARNINGS
    there = _fields(published, excused)
    if all(file.quoted_from is msgspec.UNSET for file in published.evidence):
        excused |= {"evidence[].quoted_from"}  # older entries lack it
    here = _fields(computed, excused) if computed is not None else {}
    names = dict.fromkeys([*there, *here])
    found = [
        Difference(".".join(name), there.get(name), here.get(name))
        for name in names
        if there.get(name) != here.get(name)
    ]
    if not found and computed is not None and (moved := _order(published, computed)):
        found.append(moved)
    return tuple(found)


def _order(published: Entry, computed: Entry) -> Difference | None:
    """The order of the tasks and of the leaves of each, where that alone differs."""
    there, here = (
        " ".join(name for task in one.tasks for name in (task.id, *(leaf.id for leaf in task.leaves)))
        for one in (published, computed)
    )
    return Difference("order of tasks", there, here) if there != here else None


def _fields(entry: Entry, excused: Collection[str]) -> dict[tuple[str, ...], Value]:
    """The values of an entry by name, without excused fields and warnings about other files."""
    warnings = tuple(one for one in entry.warnings if one.rule not in OF_OTHER_FILES)
    found = _values(msgspec.to_builtins(replace(entry, warnings=warnings)), (), "")
    return {name: value for name, field, value in found if field not in excused}


def _values(value: Any, name: tuple[str, ...], field: str) -> Iterator[tuple[tuple[str, ...], str, Value]]:
    """All single values below a value, with name and field: `tasks.bbh.raw` has the field `tasks[].raw`."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _values(below, (*name, key), f"{field}.{key}" if field else key)
    elif isinstance(value, list | tuple):
        for key, below in zip(_names(value), value, strict=True):
            yield from _values(below, (*name, key), f"{field}[]")
    else:
        yield name, field, value


def _names(items: Sequence[Any]) -> list[str]:
    """The names of the members of a list: their ids, with the metric where a leaf has several, else their places."""
    dicts = [item if isinstance(item, dict) else {} for item in items]
    ids = [str(item.get("id", place)) for place, item in enumerate(dicts)]
    count = Counter(ids)
    return [
        one if count[one] == 1 else f"{one} {item.get('metric', place)}"
        for place, (one, item) in enumerate(zip(ids, dicts, strict=True))
    ]
