"""The layout of a table in Parquet files, with the dataset card that counts its rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from pathspec import PathSpec

from bot.errors import Unwritable
from bot.publishing.layout import Draft, RowChange
from bot.publishing.tables.card_counts import Growth, counts_of, grown
from bot.publishing.tables.cells import Cell, Way
from bot.publishing.tables.edit import TableEdit, changes_of
from bot.publishing.tables.open import check_bytes
from bot.publishing.tables.parquet_grid import ParquetGrid, prove_parquet, read_parquet
from bot.publishing.tables.proof import sequence
from bot.publishing.tables.rows import MappedRows

CARD = "README.md"
Files = dict[str, bytes | None]
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})")


@dataclass(frozen=True)
class Shards:
    """The files of one table, in the order of their names."""

    grids: Mapping[str, ParquetGrid]

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """The number of the first row of each file."""
        starts, rows = {}, 0
        for path, grid in self.grids.items():
            starts[path] = rows
            rows += len(grid)
        return starts

    @cached_property
    def ways(self) -> Collection[Way]:
        """The columns that all files have."""
        first, *rest = self.grids.values()
        return [way for way in first.ways if all(way in grid.ways for grid in rest)]

    def __len__(self) -> int:
        return sum(map(len, self.grids.values()))

    def plain(self, text: str) -> str:
        """The text itself: Parquet has no markup."""
        return text

    def cell(self, row: int, way: Way) -> Cell:
        """A cell of the row with this number in the whole table."""
        path = self.home(row)
        return self.grids[path].cell(row - self.starts[path], way)

    def home(self, row: int) -> str:
        """The file in which a row lies, the last one for a row at the end."""
        return [path for path in self.grids if self.starts[path] <= row][-1]

    def part(self, path: str, edit: TableEdit) -> TableEdit:
        """The part of an edit that concerns one file, with the row numbers of that file."""
        start = self.starts[path]
        updates = [replace(each, row=each.row - start) for each in edit.updates if self.home(each.row) == path]
        new = [replace(each, before=each.before - start) for each in edit.insertions if self.home(each.before) == path]
        return TableEdit(updates, new)


class ParquetLayout:
    """The Parquet files of one split; the file with the row, or the last one, is rewritten.

    The caller must be able to write binary files, which the Hub keeps in its large-file storage.
    """

    def __init__(self, rows: MappedRows) -> None:
        self.rows, self.options = rows, rows.options

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of the files."""
        del changes
        folder = str(PurePosixPath(self.options.path).parent)
        return () if folder == "." else (folder,)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """All files of the table, and the card."""
        del changes
        matching = PathSpec.from_lines("gitignore", [f"/{self.options.path}"])
        return (*(sorted(matching.match_files(listed)) or [self.options.path]), CARD)

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The files with the rows of the changes; where they cannot be edited, every row is refused."""
        try:
            shards = self._shards(current)
            edit = self.rows.edit(shards, changes)
            if not edit.updates and not edit.insertions:
                return Draft(refused=edit.refused)
            card = current[CARD].decode() if CARD in current else ""
            files = self._files(shards, edit, card, current)
        except Unwritable as error:
            return Draft(refused=dict.fromkeys((change.key for change in changes), f"{self.options.path}: {error}"))
        except UnicodeDecodeError:
            return Draft(refused=dict.fromkeys((change.key for change in changes), f"{CARD}: it is not UTF-8 text"))
        return Draft(files, edit.refused, changes_of(shards, edit), tuple(self.rows.remarks(shards, edit)))

    def _shards(self, current: Mapping[str, bytes]) -> Shards:
        """The files of the table. Raises Unwritable if there are none, or one of several is missing."""
        found = {path: data for path, data in sorted(current.items()) if path != CARD}
        if not found:
            raise Unwritable("there is no such file at the target")
        _check_names(list(found))
        for data in found.values():
            check_bytes(data)
        return Shards({path: read_parquet(data) for path, data in found.items()})

    def _files(
        self, shards: Shards, edit: TableEdit, card: str, current: Mapping[str, bytes]
    ) -> dict[str, bytes | None]:
        files: dict[str, bytes | None] = {}
        growth = Growth(0, 0, 0)
        for path, grid in shards.grids.items():
            part = shards.part(path, edit)
            if not part.updates and not part.insertions:
                continue
            slots = sequence(len(grid), part)
            edited = grid.edited(slots)
            data = edited.to_bytes()
            prove_parquet(grid, read_parquet(data), slots)
            files[path] = data
            growth = Growth(
                growth.rows + len(edited) - len(grid),
                growth.memory + edited.table.nbytes - grid.table.combine_chunks().nbytes,
                growth.files + len(data) - len(current[path]),
            )
        return {**files, **self._card(shards, card, growth)}

    def _card(self, shards: Shards, card: str, growth: Growth) -> Files:
        """The card with the new counts, nothing if it counts nothing."""
        config, split = _split(next(iter(shards.grids)))
        counts = counts_of(card, config, split)
        if counts is None:
            if len(shards.grids) > 1:
                raise Unwritable(f"it has several files, and {CARD} does not say num_examples for {split!r}")
            return {}
        if counts["num_examples"][2] != len(shards):
            there = counts["num_examples"][2]
            raise Unwritable(f"{CARD} says num_examples {there}, and the files have {len(shards)} rows")
        return {CARD: grown(card, counts, growth).encode()}

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Whether both versions of a file say the same in the rows of these changes; the card follows the files."""
        if one is None or other is None or one == other:
            return one == other
        if path == CARD:
            return True
        try:
            return self.rows.say_the_same(changes, read_parquet(one), read_parquet(other))
        except Unwritable:
            return False

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The mapped cells of one row. Raises Unwritable if the files cannot be read."""
        return self.rows.read(self.rows.index(self._shards(current)), change) if current.keys() - {CARD} else None


def _check_names(paths: Sequence[str]) -> None:
    """Several files are one table only where each says which of how many it is."""
    found = [SHARD.fullmatch(PurePosixPath(path).stem) for path in paths]
    named = [(match[1], int(match[2]), int(match[3])) for match in found if match]
    if len(paths) == 1 and not named:
        return
    stems = {stem for stem, _, _ in named}
    numbers = [number for _, number, _ in named]
    if len(named) < len(paths) or len(stems) > 1 or numbers != list(range(len(paths))) or named[0][2] != len(paths):
        raise Unwritable(f"its {len(paths)} files are not numbered like train-00000-of-{len(paths):05}.parquet")


def _split(path: str) -> tuple[str, str]:
    """The configuration and the split of a file, as `push_to_hub` names folders and files."""
    place = PurePosixPath(path)
    shard = SHARD.fullmatch(place.stem)
    folder = place.parent.name
    return "default" if folder in {"", "data"} else folder, shard[1] if shard else place.stem
