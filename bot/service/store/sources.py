"""The remembered state of a source: its files, the outcome of each submission, and their rows."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import inf
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, delete, func, select, update

from bot.evaluation.row_key import reading_of
from bot.evaluation.submission import Parsed, UnreadPath
from bot.service.store.engine import Database, batches
from bot.service.store.tables import files, rows, submissions

DIGITS = 64  # of the digest of a row; where a row cannot be written, the reason is in its place
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(tuple[str, str])


class IndexedFile(msgspec.Struct, frozen=True):
    """A file of the source: `oid` names its content, `size` is in bytes."""

    path: str
    oid: str
    size: int


class StoredSubmission(msgspec.Struct, frozen=True):
    """A submission and what reading it came to.

    `status` is that of its verdict ("unread" for a file that is not a result), `key` the row that it measures,
    None if it measures none. `commit` last touched it, at `committed` (Unix seconds, None if unknown).
    """

    path: str
    folder: str
    key: str | None
    status: str
    oid: str
    commit: str
    committed: float | None
    content: Parsed | UnreadPath

    @property
    def parsed(self) -> Parsed | None:
        """The parsed submission; None for a file that is not a result."""
        return self.content if isinstance(self.content, Parsed) else None


def folder_of(path: str) -> str:
    """The folder that a path lies in, "" for the top."""
    return path.rpartition("/")[0]


class Sources(Database):
    """Files, submissions and rows of each watch."""

    # files

    def files_at(self, watch: str, paths: Iterable[str]) -> dict[str, IndexedFile]:
        """The files at these paths."""
        return self._files(watch, (files.c.path.in_(some) for some in batches(paths)))

    def files_in(self, watch: str, folder: str) -> dict[str, IndexedFile]:
        """The files that lie in a folder, not below it."""
        return self._files(watch, [files.c.folder == folder])

    def _files(self, watch: str, wheres: Iterable[ColumnElement[bool]]) -> dict[str, IndexedFile]:
        with self.transaction() as connection:
            return {
                row.path: IndexedFile(row.path, row.oid, row.size)
                for where in wheres
                for row in connection.execute(select(files).where(files.c.watch == watch, where))
            }

    def file_paths(self, watch: str) -> set[str]:
        """The paths of all files."""
        with self.transaction() as connection:
            return set(connection.execute(select(files.c.path).where(files.c.watch == watch)).scalars())

    def count_files(self, watch: str) -> tuple[int, int]:
        """How many files there are, and how many bytes they have."""
        found = select(func.count(), func.coalesce(func.sum(files.c.size), 0)).where(files.c.watch == watch)
        with self.transaction() as connection:
            count, size = connection.execute(found).one()
        return int(count), int(size)

    def has_files(self, watch: str) -> bool:
        """Tell whether there is any file."""
        with self.transaction() as connection:
            return connection.execute(select(files.c.path).where(files.c.watch == watch).limit(1)).first() is not None

    def forget_contents(self, watch: str) -> None:
        """Forget which contents were listed and read, so that all files count as changed."""
        with self.transaction() as connection:
            for table in (files, submissions):
                connection.execute(update(table).where(table.c.watch == watch).values(oid=""))

    def set_files(self, watch: str, there: Iterable[IndexedFile], gone: Iterable[str] = ()) -> None:
        """Remember files, and forget those that are gone."""
        with self.transaction() as connection:
            for some in batches(gone):
                connection.execute(delete(files).where(files.c.watch == watch, files.c.path.in_(some)))
            values = [
                {"watch": watch, "path": one.path, "folder": folder_of(one.path), "oid": one.oid, "size": one.size}
                for one in there
            ]
            self.upsert(files, values)

    # submissions

    def submissions_at(self, watch: str, paths: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions at these paths."""
        return self._submissions(watch, (submissions.c.path.in_(some) for some in batches(paths)))

    def submissions_of(self, watch: str, keys: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions that measure these rows."""
        return self._submissions(watch, (submissions.c.key.in_(some) for some in batches(keys)))

    def spellings(self, watch: str, readings: Iterable[str], without: Collection[str] = ()) -> list[tuple[float, str]]:
        """When submissions with these readings came (Unix seconds, infinity if unknown), and their keys.

        `without` are paths of submissions that do not count.
        """
        columns = select(submissions.c.path, submissions.c.key, submissions.c.committed)
        with self.transaction() as connection:
            return [
                (inf if row.committed is None else row.committed, row.key)
                for some in batches(readings)
                for row in connection.execute(
                    columns.where(submissions.c.watch == watch, submissions.c.reading.in_(some))
                )
                if row.path not in without
            ]

    def keys_below(self, watch: str, folder: str) -> set[str]:
        """The rows that submissions measure and whose keys begin with a folder, such as all rows of one model."""
        below = (submissions.c.key > f"{folder}/", submissions.c.key < f"{folder}0")  # "0" comes after "/"
        with self.transaction() as connection:
            found = select(submissions.c.key).where(submissions.c.watch == watch, *below).distinct()
            return set(connection.execute(found).scalars())

    def submissions_in(self, watch: str, folder: str) -> dict[str, StoredSubmission]:
        """The submissions that lie in a folder, not below it."""
        return self._submissions(watch, [submissions.c.folder == folder])

    def shared_keys(self, watch: str, folder: str, most: int) -> list[str]:
        """The first rows that accepted submissions of a folder measure, and accepted ones of another folder too.

        Each statement names what one index has, and no more: a database may take another index for the rest, and read
        everything.
        """
        columns = select(submissions.c.key, submissions.c.folder, submissions.c.status)
        in_folder = columns.where(submissions.c.watch == watch, submissions.c.folder == folder)
        shared: list[str] = []
        with self.transaction() as connection:
            here = {row.key for row in connection.execute(in_folder) if row.key and row.status == "accepted"}
            for some in batches(sorted(here)):
                found = connection.execute(columns.where(submissions.c.watch == watch, submissions.c.key.in_(some)))
                there = {row.key for row in found if row.folder != folder and row.status == "accepted"}
                shared += sorted(there)
                if len(shared) >= most:
                    break
        return shared[:most]

    def folders_of(self, watch: str, keys: Iterable[str]) -> set[str]:
        """The folders in which these rows are measured."""
        with self.transaction() as connection:
            return {
                folder
                for some in batches(keys)
                for folder in connection.execute(
                    select(submissions.c.folder).where(submissions.c.watch == watch, submissions.c.key.in_(some))
                ).scalars()
            }

    def rejected_folders(self, watch: str) -> list[str]:
        """The folders in which a submission is rejected."""
        found = select(submissions.c.folder).where(submissions.c.watch == watch, submissions.c.status == "rejected")
        with self.transaction() as connection:
            return sorted(set(connection.execute(found).scalars()))

    def _submissions(self, watch: str, wheres: Iterable[ColumnElement[bool]]) -> dict[str, StoredSubmission]:
        """By path; of each part by row and path, for a database gives any order that is not asked for.

        They are put in order here: SQLite would read all rows of the watch by an index that has this order.
        """
        wanted = select(submissions).where(submissions.c.watch == watch)
        with self.transaction() as connection:
            parts = (sorted(connection.execute(wanted.where(where)), key=_by_row_and_path) for where in wheres)
            return {row.path: _restored(row) for part in parts for row in part}

    def all_submissions(self, watch: str, size: int = 500) -> Iterator[list[StoredSubmission]]:
        """All submissions, about so many at once: those of no row in the order of their paths, then row by row."""
        alone = (submissions.c.watch == watch, submissions.c.key.is_(None))
        last = ""
        while paths := self._next(submissions.c.path, last, size, *alone):
            yield list(self.submissions_at(watch, paths).values())
            last = paths[-1]
        last = ""
        while keys := self._next(submissions.c.key, last, size, submissions.c.watch == watch):
            yield list(self.submissions_of(watch, keys).values())
            last = keys[-1]

    def _next(self, column: Column[str], last: str, size: int, *where: ColumnElement[bool]) -> list[str]:
        """The values that follow the last one."""
        found = select(column).where(*where, column > last).distinct().order_by(column).limit(size)
        with self.transaction() as connection:
            return list(connection.execute(found).scalars())

    def set_submissions(self, watch: str, there: Iterable[StoredSubmission], gone: Iterable[str] = ()) -> None:
        """Remember submissions, and forget those that are gone."""
        with self.transaction() as connection:
            for some in batches(gone):
                connection.execute(
                    delete(submissions).where(submissions.c.watch == watch, submissions.c.path.in_(some))
                )
            self.upsert(submissions, [_stored(watch, one) for one in there])

    def set_verdicts(self, watch: str, verdicts: Mapping[str, tuple[str | None, str]]) -> None:
        """Remember key and status of submissions that were judged again, by path."""
        with self.transaction() as connection:
            for path, (row_key, status) in verdicts.items():
                where = (submissions.c.watch == watch, submissions.c.path == path)
                values = {"key": row_key, "reading": _reading(row_key), "status": status}
                connection.execute(update(submissions).where(*where).values(values))

    def count_submissions(self, watch: str) -> dict[str, int]:
        """How many submissions have each status."""
        found = (
            select(submissions.c.status, func.count())
            .where(submissions.c.watch == watch)
            .group_by(submissions.c.status)
        )
        with self.transaction() as connection:
            return {row[0]: row[1] for row in connection.execute(found)}

    # rows

    def row_digests(self, watch: str, keys: Iterable[str]) -> dict[str, str]:
        """The digests of these rows, as they were when they were last found to be out of step."""
        with self.transaction() as connection:
            return {
                row.key: row.digest
                for some in batches(keys)
                for row in connection.execute(select(rows).where(rows.c.watch == watch, rows.c.key.in_(some)))
            }

    def accepted_rows(self, watch: str) -> dict[str, str]:
        """The digests of the rows that the submissions make now, and that can be written."""
        with self.transaction() as connection:
            found = connection.execute(select(rows).where(rows.c.watch == watch, func.length(rows.c.digest) == DIGITS))
            return {row.key: row.digest for row in found}

    def row_keys(self, watch: str) -> set[str]:
        """The keys of all rows that were ever made."""
        with self.transaction() as connection:
            return set(connection.execute(select(rows.c.key).where(rows.c.watch == watch)).scalars())

    def keys_beside(self, watch: str, key: str) -> list[str]:
        """The keys of the other rows of a row's model that were ever made, in order."""
        model = key.rpartition("/")[0]
        is_below = (rows.c.key > f"{model}/", rows.c.key < f"{model}0")  # "0" follows "/"
        found = select(rows.c.key).where(rows.c.watch == watch, *is_below, rows.c.key != key).order_by(rows.c.key)
        with self.transaction() as connection:
            return list(connection.execute(found).scalars())

    def count_rows(self, watch: str) -> int:
        """How many rows were ever made."""
        found = select(func.count()).select_from(rows).where(rows.c.watch == watch)
        with self.transaction() as connection:
            return int(connection.execute(found).scalar_one())

    def set_row_digests(self, watch: str, digests: Mapping[str, str]) -> None:
        """Remember the digests of rows."""
        self.upsert(rows, [{"watch": watch, "key": each, "digest": digest} for each, digest in digests.items()])


def _stored(watch: str, one: StoredSubmission) -> dict[str, Any]:
    content = one.content
    raw = content.to_bytes() if isinstance(content, Parsed) else ENCODER.encode((content.kind, content.why))
    return {
        "watch": watch,
        "path": one.path,
        "folder": one.folder,
        "key": one.key,
        "reading": _reading(one.key),
        "status": one.status,
        "oid": one.oid,
        "commit": one.commit,
        "committed": one.committed,
        "data": (b"P" if isinstance(content, Parsed) else b"U") + zlib.compress(raw),
    }


def _reading(row_key: str | None) -> str | None:
    return None if row_key is None else reading_of(row_key)


def _by_row_and_path(row: Any) -> tuple[str, str]:
    return row.key or "", row.path


def _restored(row: Any) -> StoredSubmission:
    raw = zlib.decompress(row.data[1:])
    content = Parsed.from_bytes(raw) if row.data[:1] == b"P" else UnreadPath(row.path, *DECODER.decode(raw))
    return StoredSubmission(row.path, row.folder, row.key, row.status, row.oid, row.commit, row.committed, content)
