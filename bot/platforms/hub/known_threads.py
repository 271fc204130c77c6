"""The remembered discussions and requests of the bot in one repository, by number, kind, state and mark."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from bot.platforms.discussions import OPEN, Kind

Row = dict[str, str]
LISTED = 0  # the number under which the times of the last whole lists are kept; no discussion has it


@dataclass
class KnownThreads:
    """What `memory` keeps of the discussions and requests that we opened, each decoded once."""

    memory: MutableMapping[int, bytes]
    _rows: dict[int, Row] = field(default_factory=dict, repr=False)
    _open: dict[str, set[int]] = field(default_factory=dict, repr=False)
    _by_mark: dict[tuple[str, str], set[int]] = field(default_factory=dict, repr=False)

    def put(self, num: int, row: Row) -> None:
        """Remember one."""
        self.memory[num] = json.dumps(row).encode()
        self._learn(num, row)

    def _learn(self, num: int, row: Row) -> None:
        kind, before = row["kind"], self._rows.get(num)
        if before is not None:
            self._by_mark[kind, before["mark"]].discard(num)
        self._rows[num] = row
        self._by_mark.setdefault((kind, row["mark"]), set()).add(num)
        numbers = self._open.setdefault(kind, set())
        (numbers.add if row["status"] in OPEN else numbers.discard)(num)

    def find(self, num: int) -> Row | None:
        """One of them; what another process remembered of it meanwhile is found, too."""
        if num not in self._rows and (data := self.memory.get(num)) is not None:
            self._learn(num, json.loads(data))
        return self._rows.get(num)

    def ask_memory(self) -> None:
        """Learn what other processes remembered since."""
        for num in self.memory.keys() - self._rows.keys() - {LISTED}:
            self._learn(num, json.loads(self.memory[num]))

    def of(self, kind: Kind) -> list[tuple[int, Row]]:
        """All of one kind, oldest first."""
        return [(num, row) for num, row in sorted(self._rows.items()) if row["kind"] == kind]

    def with_mark(self, kind: Kind, mark: str) -> list[tuple[int, Row]]:
        """Those of one kind with one mark, oldest first."""
        return [(num, self._rows[num]) for num in sorted(self._by_mark.get((kind, mark), ()))]

    def open_ones(self, kind: Kind) -> set[int]:
        """The numbers of those that are open."""
        return self._open.get(kind, set()).copy()

    def listed_at(self, kind: Kind) -> float | None:
        """When the lists of one kind were read to their ends, in Unix seconds; None if they never were."""
        found: float | None = self._times().get(kind)
        return found

    def set_listed(self, kind: Kind, now: float) -> None:
        """Note that the lists of one kind were read to their ends."""
        self.memory[LISTED] = json.dumps(self._times() | {kind: now}).encode()

    def _times(self) -> dict[str, float]:
        times: dict[str, float] = json.loads(self.memory.get(LISTED, b"{}"))
        return times
