"""The remembered discussions and requests of the bot, by kind, state and mark; a look reads only new ones."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from bot.platforms.discussions import OPEN, Kind

Row = dict[str, str]


@dataclass
class KnownKind:
    """Those of one kind, by number; `open` and `ended` are the numbers of those that are open and of all others."""

    rows: dict[int, Row] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    by_mark: dict[str, set[int]] = field(default_factory=dict)

    def put(self, num: int, row: Row) -> None:
        """Take in how one stands now."""
        before = self.rows.get(num)
        if before is not None and before["mark"] != row["mark"]:
            self.by_mark[before["mark"]].discard(num)
        self.rows[num] = row
        is_open = row["status"] in OPEN
        (self.open if is_open else self.ended).add(num)
        (self.ended if is_open else self.open).discard(num)
        self.by_mark.setdefault(row["mark"], set()).add(num)

    def marked(self) -> list[tuple[int, Row]]:
        """Those with a mark, oldest first."""
        return [(num, row) for num, row in sorted(self.rows.items()) if row["mark"]]

    def with_mark(self, mark: str) -> list[tuple[int, Row]]:
        """Those with one mark, oldest first."""
        return [(num, self.rows[num]) for num in sorted(self.by_mark.get(mark, ()))]


@dataclass
class KnownThreads:
    """The discussions and requests that we opened in one repository, each decoded once.

    `memory` keeps them. What is put in here is found in `of` once `take_in` was called: what is decided between two
    looks is decided on one state.
    """

    memory: MutableMapping[int, bytes]
    _kinds: dict[str, KnownKind] = field(default_factory=dict, repr=False)
    _seen: dict[int, str] = field(default_factory=dict, repr=False)
    _new: dict[str, dict[int, Row]] = field(default_factory=dict, repr=False)

    def of(self, kind: Kind) -> KnownKind:
        """Those of one kind, as they stood at the last look."""
        return self._kinds.setdefault(kind, KnownKind())

    def put(self, num: int, row: Row) -> None:
        """Remember one."""
        self.memory[num] = json.dumps(row).encode()
        self._learn(num, row)

    def _learn(self, num: int, row: Row) -> None:
        self._seen[num] = row["kind"]
        self._new.setdefault(row["kind"], {})[num] = row

    def find(self, num: int) -> Row | None:
        """One, as it stands now; what another process remembered of it meanwhile is found, too."""
        kind = self._seen.get(num)
        if kind is None:
            data = self.memory.get(num)
            return None if data is None else self._decode(num, data)
        return self._new.get(kind, {}).get(num) or self._kinds[kind].rows[num]

    def _decode(self, num: int, data: bytes) -> Row:
        row: Row = json.loads(data)
        self._learn(num, row)
        return row

    def ask_memory(self) -> None:
        """Learn what other processes remembered since."""
        for num in self.memory.keys() - self._seen.keys():
            self._decode(num, self.memory[num])

    def now(self, kind: Kind) -> list[tuple[int, Row]]:
        """Those of one kind, as they stand now, oldest first."""
        return sorted((self.of(kind).rows | self._new.get(kind, {})).items())

    def take_in(self, kind: Kind) -> KnownKind:
        """Those of one kind, with all that was learned since the last look."""
        known, new = self.of(kind), self._new.get(kind, {})
        for num, row in list(new.items()):
            known.put(num, row)
            if new[num] is row:  # another thread may have learned more meanwhile
                del new[num]
        return known
