"""What is remembered of a source: its files, the outcome of each submission, and their rows."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, delete, func, or_, select, update

from bot.evaluation.row_key import reading_of
from bot.evaluation.submission import Parsed, UnreadPath
from bot.service.store.engine import Part, batches
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
    """A submission and the outcome of reading it.

    `status` is that of its verdict ("unread" for a file that is no result), `key` the row that it measures, None if it
    measures none. `commit` last touched it, at `committed` (Unix seconds, None if unknown). `why` names the rules whose
    errors reject it, "" if none does.
    """

    path: str
    key: str | None
    status: str
    oid: str
    commit: str
    committed: float | None
    content: Parsed | UnreadPath
    why: str = ""

    @property
    def folder(self) -> str:
        """The folder that it lies in, "" for the top."""
        return folder_of(self.path)

    @property
    def parsed(self) -> Parsed | None:
        """The parsed submission; None for a file that is not a result."""
        return self.content if isinstance(self.content, Parsed) else None


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """A submission for a list, without its content; `committed` is in Unix seconds, None if unknown."""

    path: str
    status: str
    key: str | None
    commit: str
    committed: float | None
    why: str


LINE = [submissions.c[name] for name in ("path", "status", "key", "commit", "committed", "why")]


def folder_of(path: str) -> str:
    """The folder that a path lies in, "" for the top."""
    return path.rpartition("/")[0]


class Files(Part):
    """The files of the source."""

    def at(self, paths: Iterable[str]) -> dict[str, IndexedFile]:
        """The files at these paths."""
        found = self.db.rows_in(select(files).where(self.ours(files)), files.c.path, paths)
        return {row.path: IndexedFile(row.path, row.oid, row.size) for row in found}

    def in_folder(self, folder: str) -> dict[str, IndexedFile]:
        """The files in a folder, not in its subfolders."""
        found = self.db.rows(select(files).where(self.ours(files, folder=folder)))
        return {row.path: IndexedFile(row.path, row.oid, row.size) for row in found}

    def paths(self) -> set[str]:
        """The paths of all files."""
        return set(self.db.values(select(files.c.path).where(self.ours(files))))

    def count(self) -> tuple[int, int]:
        """The number of files, and their bytes together."""
        found = select(func.count(), func.coalesce(func.sum(files.c.size), 0)).where(self.ours(files))
        count, size = self.db.rows(found)[0]
        return int(count), int(size)

    def any(self) -> bool:
        """Tell whether there is any file."""
        return bool(self.db.rows(select(files.c.path).where(self.ours(files)).limit(1)))

    def keep(self, there: Iterable[IndexedFile], gone: Iterable[str] = ()) -> None:
        """Remember files, and forget those that are gone."""
        with self.db.transaction():
            self.db.delete_in(delete(files).where(self.ours(files)), files.c.path, gone)
            values = (
                {"path": one.path, "folder": folder_of(one.path), "oid": one.oid, "size": one.size} for one in there
            )
            self.upsert(files, values)


class Submissions(Part):
    """The outcomes of the submissions at the source."""

    def at(self, paths: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions at these paths."""
        return _restored(self.db.rows_in(select(submissions).where(self.ours(submissions)), submissions.c.path, paths))

    def of(self, keys: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions that measure these rows."""
        return _restored(self.db.rows_in(select(submissions).where(self.ours(submissions)), submissions.c.key, keys))

    def first_of(self, key: str, most: int, size: int) -> dict[str, StoredSubmission]:
        """The first submissions by path that measure a row, at most so many, of `size` bytes as they are read."""
        paths = sorted(self.db.values(select(submissions.c.path).where(self.ours(submissions, key=key))))
        found: dict[str, StoredSubmission] = {}
        for path in paths[:most]:
            rows = self.db.rows(select(submissions).where(self.ours(submissions, path=path)))
            size -= sum(len(zlib.decompress(row.data[1:])) for row in rows)
            if size < 0:
                break
            found |= _restored(rows)
        return found

    def spellings(self, readings: Iterable[str], without: Collection[str] = ()) -> list[tuple[float, str, str]]:
        """When submissions with these readings came (Unix seconds, infinity if unknown), their keys and their paths.

        `without` are paths of submissions that do not count.
        """
        columns = select(submissions.c.path, submissions.c.key, submissions.c.committed)
        found = self.db.rows_in(columns.where(self.ours(submissions)), submissions.c.reading, readings)
        others = (row for row in found if row.path not in without)
        return [(inf if row.committed is None else row.committed, row.key, row.path) for row in others]

    def keys_below(self, folder: str) -> set[str]:
        """The rows that submissions measure and whose keys begin with a folder, such as all rows of one model."""
        below = (submissions.c.key > f"{folder}/", submissions.c.key < f"{folder}0")  # "0" comes after "/"
        return set(self.db.values(select(submissions.c.key).where(self.ours(submissions), *below).distinct()))

    def in_folder(self, folder: str) -> list[SubmissionLine]:
        """The submissions in a folder, not in its subfolders, by path."""
        found = self.db.rows(select(*LINE).where(self.ours(submissions, folder=folder)))
        return sorted((SubmissionLine(*row) for row in found), key=lambda one: one.path)

    def shared_keys(self, folder: str, most: int) -> list[str]:
        """The first rows that accepted submissions of a folder measure, and accepted ones of another folder too.

        Each query names only the columns of one index: a database may otherwise choose another index, and read
        everything.
        """
        columns = select(submissions.c.key, submissions.c.folder, submissions.c.status)
        ours = columns.where(self.ours(submissions))
        in_folder = self.db.rows(columns.where(self.ours(submissions, folder=folder)))
        here = sorted({row.key for row in in_folder if row.key and row.status == "accepted"})
        shared: list[str] = []
        for some in batches(here):
            found = self.db.rows(ours.where(submissions.c.key.in_(some)))
            shared += sorted({row.key for row in found if row.folder != folder and row.status == "accepted"})
            if len(shared) >= most:
                break
        return shared[:most]

    def folders_of(self, keys: Iterable[str]) -> set[str]:
        """The folders in which these rows are measured."""
        found = select(submissions.c.folder).where(self.ours(submissions))
        return {row.folder for row in self.db.rows_in(found, submissions.c.key, keys)}

    def rejected_folders(self) -> list[str]:
        """The folders in which a submission is rejected."""
        found = select(submissions.c.folder).where(self.ours(submissions, status="rejected"))
        return sorted(set(self.db.values(found)))

    def all(self, size: int = 500) -> Iterator[list[StoredSubmission]]:
        """All submissions, about so many at once: those of no row in the order of their paths, then row by row."""
        alone = (self.ours(submissions), submissions.c.key.is_(None))
        last = ""
        while paths := self._next(submissions.c.path, last, size, *alone):
            yield list(self.at(paths).values())
            last = paths[-1]
        last = ""
        while keys := self._next(submissions.c.key, last, size, self.ours(submissions)):
            yield list(self.of(keys).values())
            last = keys[-1]

    def _next(self, column: Column[str], last: str, size: int, *where: ColumnElement[bool]) -> list[str]:
        """The values of a column after the last one, in order."""
        return self.db.values(select(column).where(*where, column > last).distinct().order_by(column).limit(size))

    def keep(self, there: Iterable[StoredSubmission], gone: Iterable[str] = ()) -> None:
        """Remember submissions, and forget those that are gone."""
        with self.db.transaction():
            self.db.delete_in(delete(submissions).where(self.ours(submissions)), submissions.c.path, gone)
            self.upsert(submissions, map(_stored, there))

    def set_verdicts(self, again: Iterable[StoredSubmission]) -> None:
        """Remember key, status and reason of submissions that were judged again."""
        with self.db.transaction():
            for one in again:
                where = self.ours(submissions, path=one.path)
                values = {"key": one.key, "reading": _reading(one.key), "status": one.status, "why": one.why}
                self.db.run(update(submissions).where(where).values(values))

    def counts(self) -> dict[str, int]:
        """How many submissions have each status."""
        counted = select(submissions.c.status, func.count()).where(self.ours(submissions))
        return {row[0]: row[1] for row in self.db.rows(counted.group_by(submissions.c.status))}

    def rejections(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent reasons for rejection, each with its number of submissions."""
        count, rejected = func.count(), self.ours(submissions, status="rejected")
        found = select(submissions.c.why, count).where(rejected).group_by(submissions.c.why)
        return [(row[0], row[1]) for row in self.db.rows(found.order_by(count.desc(), submissions.c.why).limit(limit))]

    def page(self, status: str = "", text: str = "", after: str = "", limit: int = 50) -> list[SubmissionLine]:
        """Submissions in the order of their paths, those after one; `text` is a part of path, key or reason."""
        where = [self.ours(submissions), submissions.c.path > after]
        if status:
            where.append(submissions.c.status == status)
        if text:
            where.append(_has(text))
        # The index on watch, path, status, key and reason answers this without the rows, which hold what was read.
        found = select(submissions.c.path).where(*where).order_by(submissions.c.path).limit(limit)
        lines = select(*LINE).where(self.ours(submissions))
        with self.db.transaction():
            paths = self.db.values(found)
            return [
                SubmissionLine(*row)
                for row in self.db.rows_in(lines.order_by(submissions.c.path), submissions.c.path, paths)
            ]


class Rows(Part):
    """The digests of the rows that the submissions made."""

    def digests(self, keys: Iterable[str]) -> dict[str, str]:
        """The stored digests of these rows, as they were when the rows were last marked."""
        return {row.key: row.digest for row in self.db.rows_in(select(rows).where(self.ours(rows)), rows.c.key, keys)}

    def accepted(self) -> dict[str, str]:
        """The digests of the rows that the submissions make now and that can be written."""
        found = self.db.rows(select(rows).where(self.ours(rows), func.length(rows.c.digest) == DIGITS))
        return {row.key: row.digest for row in found}

    def all_keys(self) -> set[str]:
        """The keys of all rows that were ever made."""
        return set(self.db.values(select(rows.c.key).where(self.ours(rows))))

    def beside(self, key: str) -> list[str]:
        """The keys of the other rows of a row's model, in order."""
        model = key.rpartition("/")[0]
        is_below = (rows.c.key > f"{model}/", rows.c.key < f"{model}0")  # "0" follows "/"
        found = select(rows.c.key).where(self.ours(rows), *is_below, rows.c.key != key)
        return self.db.values(found.order_by(rows.c.key))

    def count(self) -> int:
        """How many rows were ever made."""
        return int(self.db.value(select(func.count()).select_from(rows).where(self.ours(rows))))

    def keep(self, digests: Mapping[str, str]) -> None:
        """Remember the digests of rows."""
        self.upsert(rows, ({"key": each, "digest": digest} for each, digest in digests.items()))


def _stored(one: StoredSubmission) -> dict[str, Any]:
    content = one.content
    raw = content.to_bytes() if isinstance(content, Parsed) else ENCODER.encode((content.kind, content.why))
    return {
        "path": one.path,
        "folder": one.folder,
        "key": one.key,
        "reading": _reading(one.key),
        "status": one.status,
        "why": one.why,
        "oid": one.oid,
        "commit": one.commit,
        "committed": one.committed,
        "data": (b"P" if isinstance(content, Parsed) else b"U") + zlib.compress(raw),
    }


def _reading(row_key: str | None) -> str | None:
    return None if row_key is None else reading_of(row_key)


def _restored(found: Iterable[Any]) -> dict[str, StoredSubmission]:
    """Submissions by path, in the order of rows and paths.

    They are sorted here: SQLite would choose an index with that order, and read all rows of the watch.
    """
    restored = {}
    for row in sorted(found, key=lambda row: (row.key or "", row.path)):
        raw = zlib.decompress(row.data[1:])
        content = Parsed.from_bytes(raw) if row.data[:1] == b"P" else UnreadPath(row.path, *DECODER.decode(raw))
        restored[row.path] = StoredSubmission(
            row.path, row.key, row.status, row.oid, row.commit, row.committed, content, row.why
        )
    return restored


def _has(text: str) -> ColumnElement[bool]:
    searched = (submissions.c.path, submissions.c.key, submissions.c.why)
    return or_(*(column.icontains(text, autoescape=True) for column in searched))
