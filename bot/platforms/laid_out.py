"""A target whose rows lie in files of its own layout: any platform's target, with what passes through translated.

The reconciler speaks of entries at their canonical paths; the target has, for example, one YAML file for each row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from bot.errors import MalformedEntry
from bot.platforms.conversations import Conversations
from bot.platforms.duplicates import Duplicate
from bot.platforms.target import Target
from bot.publishing.board import Board
from bot.publishing.entry import Entry, parse_entry
from bot.publishing.layout import ENTRIES, RowChange, RowFiles, StoredEntries
from bot.publishing.publication import (
    Commit,
    CurrentState,
    Form,
    Marker,
    OpenRequest,
    Publication,
    Reply,
    Request,
    UpdateRequest,
)

Data = TypeVar("Data", bytes, bytes | None)


def lay_out(target: Target, layout: RowFiles, name: str = "") -> Target:
    """A target whose rows lie as `layout` says; `name` is how people write it, the target's own name without one."""
    return LaidOut(target, layout, name)


class LaidOut:
    """A target with a layout of its own."""

    def __init__(self, target: Target, layout: RowFiles, name: str = "") -> None:
        self._target, self._layout = target, layout
        self.name = name or target.name

    @property
    def conversations(self) -> Conversations | None:
        """The comments of people on the bot's requests; None if nobody can comment."""
        return self._target.conversations

    def check(self) -> None:
        """See that the target can be one. Raises CallError, Unavailable or Refused."""
        self._target.check()

    def check_readable(self) -> None:
        """See that the target is there. Raises as `check` does."""
        self._target.check_readable()

    def head(self) -> str:
        """The commit at the main branch, "" if there is none yet."""
        return self._target.head()

    def read_entries(self) -> list[Entry]:
        """All entries on the main branch."""
        return list(self.scan_entries().entries)

    def scan_entries(self, layout: RowFiles | None = None) -> StoredEntries:
        """All entries on the main branch, and what stands among them and is none."""
        return self._target.scan_entries(layout or self._layout)

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder, as they lie there."""
        return self._target.list_folder(folder)

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that the bot's open requests, or the bot's comments, are about."""
        return self._target.read_keys(leaderboard)

    def read_files(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """The files at these paths on the main branch, as entries at their canonical paths."""
        return self._read(self._target.read_files([self._own_path(path) for path in paths]))

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state for one mark, as entries at their canonical paths."""
        state = self._target.read_state(mark, tuple(self._own_path(path) for path in paths))
        return replace(
            state,
            files=self._read(state.files),
            request=self._read_request(state.request) if state.request else None,
            duplicates=tuple(self._read_request(request) for request in state.duplicates),
            declined=None if state.declined is None else self._read(state.declined),
        )

    def read_replies(self, mark: Marker) -> list[Reply]:
        """The comments of others in the discussion that holds a comment of the bot."""
        return self._target.read_replies(mark)

    def apply(self, publication: Publication) -> str:
        """Do it, with the files as they lie here. Raises Stale if what stands there moved since it was read."""
        match publication:
            case UpdateRequest():
                request = replace(publication.request, files=self._write(publication.request.files))
                publication = replace(publication, request=request, files=self._write(publication.files))
            case OpenRequest() | Commit():
                publication = replace(publication, files=self._write(publication.files))
            case _:
                pass
        return self._target.apply(publication)

    def find_duplicates(self) -> list[Duplicate]:
        """The bot's duplicates under one mark."""
        return self._target.find_duplicates()

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close the later one, or take it away."""
        self._target.remove_duplicate(duplicate)

    def filling(self, mark: Marker, form: Form) -> None:
        """None: each row is translated."""

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The derived files that are not as the entries give."""
        return self._target.board_files(board)

    def rebuild_board(self, board: Board) -> bool:
        """Write the table where it is not what the entries give."""
        return self._target.rebuild_board(board)

    def _own_path(self, path: str) -> str:
        """The path of the row with this canonical path; the path of another file stays the same."""
        key = ENTRIES.key_of(path)
        return path if key is None else self._layout.paths([RowChange(key, None)], ())[0]

    def _read_request(self, request: Request) -> Request:
        return replace(request, files=self._read(request.files))

    def _read(self, files: Mapping[str, Data]) -> dict[str, Data]:
        """Files of the target as entries at their canonical paths; files that are not the bot's rows stay unchanged."""
        found: dict[str, Data] = {}
        for path, data in files.items():
            key = self._layout.key_of(path)
            found[path if key is None else ENTRIES.path_of(key)] = data if data is None else self._entry(data, path)
        return found

    def _entry(self, data: bytes, path: str) -> bytes:
        try:
            return self._layout.parse(data, path).to_bytes()
        except MalformedEntry:
            return data

    def _write(self, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Entries at their canonical paths as files of the target."""
        found: dict[str, bytes | None] = {}
        for path, data in files.items():
            key = ENTRIES.key_of(path)
            if key is None:
                found[path] = data
            elif data is None:
                found[self._own_path(path)] = None
            else:
                found.update(self._layout.draft([RowChange(key, parse_entry(data, path))], {}).files)
        return found
