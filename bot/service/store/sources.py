"""What is remembered of a source: its files, the outcome of each submission, and their rows."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Column, ColumnElement, Select, bindparam, delete, func, or_, select, update

from bot.evaluation.finding import file_of
from bot.evaluation.likeness import MOST_SHARING, Peer
from bot.evaluation.row_key import model_folder, reading_of
from bot.evaluation.submission import Parsed, UnreadPath
from bot.service.store.database import Part, among, batches, first_of_marks, same
from bot.service.store.tables import files, row_marks, rows, submissions

DIGEST_DIGITS = 64  # of the digest of a row; where a row cannot be written, the reason is in its place
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(tuple[str, str])
PEERS = msgspec.msgpack.Decoder(Peer)


class IndexedFile(msgspec.Struct, frozen=True):
    """A file of the source: `oid` names its content, `size` is in bytes."""

    path: str
    oid: str
    size: int


class StoredSubmission(msgspec.Struct, frozen=True):
    """A submission and the outcome of reading it.

    `status` is that of its verdict ("unread" for a file that is no result), `key` the row that it measures, None if it
    measures none. `commit` last touched it, at `committed` (Unix seconds, None if unknown). `why` names the rules whose
    errors reject it, and `missing-task` where it has no task of the board; "" for none.
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


class RowLine(NamedTuple):
    """The digest of a row that submissions make, and what others are compared with."""

    digest: str
    peer: Peer | None = None
    is_incomplete: bool = False


LINE = [submissions.c[name] for name in ("path", "status", "key", "commit", "committed", "why")]


def folder_of(path: str) -> str:
    """The folder that a path lies in, "" for the top."""
    return path.rpartition("/")[0]


_FILES_AT = select(files).where(same(files, "watch"), among(files.c.path))
_FILES_IN = select(files).where(same(files, "watch", "folder"))
_PATHS = select(files.c.path).where(same(files, "watch"))
_COUNT_FILES = select(func.count(), func.coalesce(func.sum(files.c.size), 0)).where(same(files, "watch"))
_FORGET_FILES = delete(files).where(same(files, "watch"), among(files.c.path))


class Files(Part):
    """The files of the source."""

    def at(self, paths: Iterable[str]) -> dict[str, IndexedFile]:
        return {row.path: IndexedFile(row.path, row.oid, row.size) for row in self.select_in(_FILES_AT, paths)}

    def in_folder(self, folder: str) -> dict[str, IndexedFile]:
        """The files in a folder, not in its subfolders."""
        found = self.select(_FILES_IN, folder=folder)
        return {row.path: IndexedFile(row.path, row.oid, row.size) for row in found}

    def paths(self) -> set[str]:
        return set(self.column(_PATHS))

    def count(self) -> tuple[int, int]:
        """The number of files, and their bytes together."""
        count, size = self.select(_COUNT_FILES)[0]
        return int(count), int(size)

    def any(self) -> bool:
        """Tell whether there is any file."""
        return self.db.once((self.watch, "files"), lambda: bool(self.select(_PATHS.limit(1))))

    def keep(self, there: Iterable[IndexedFile], gone: Iterable[str] = ()) -> None:
        """Remember files, and forget those that are gone."""
        with self.db.transaction():
            self.change_in(_FORGET_FILES, gone)
            values = (
                {"path": one.path, "folder": folder_of(one.path), "oid": one.oid, "size": one.size} for one in there
            )
            self.upsert(files, values)
        self.db.forget_read(self.watch, "files")


_OURS = same(submissions, "watch")
_AT_PATHS = select(submissions).where(_OURS, among(submissions.c.path))
_OF_KEYS = select(submissions).where(_OURS, among(submissions.c.key))
_AT_PATH = select(submissions).where(same(submissions, "watch", "path"))
_PATHS_OF = select(submissions.c.path).where(same(submissions, "watch", "key"))
_SPELLINGS = select(submissions.c.path, submissions.c.key, submissions.c.committed).where(
    _OURS, among(submissions.c.reading)
)
_KEYS_BETWEEN = (
    select(submissions.c.key)
    .where(_OURS, submissions.c.key > bindparam("at_after"), submissions.c.key < bindparam("at_before"))
    .distinct()
)
_LINES_IN = select(*LINE).where(same(submissions, "watch", "folder"))
_LINES_AT = select(*LINE).where(_OURS, among(submissions.c.path)).order_by(submissions.c.path)
# Each of these names only the columns of one index: a database may otherwise choose another, and read everything.
_PLACES = select(submissions.c.key, submissions.c.folder, submissions.c.status)
_PLACES_IN = _PLACES.where(same(submissions, "watch", "folder"))
_PLACES_OF = _PLACES.where(_OURS, among(submissions.c.key))
_FOLDERS_OF = select(submissions.c.folder).where(_OURS, among(submissions.c.key))
_FOLDERS_WITH = select(submissions.c.folder).where(same(submissions, "watch", "status"))
_FORGET = delete(submissions).where(_OURS, among(submissions.c.path))
_SET_VERDICT = (
    update(submissions)
    .where(same(submissions, "watch", "path"))
    .values({name: bindparam(name) for name in ("key", "reading", "status", "why")})
)
_COUNTS = select(submissions.c.status, func.count()).where(_OURS).group_by(submissions.c.status)
_REJECTIONS = (
    select(submissions.c.why, func.count())
    .where(same(submissions, "watch", "status"))
    .group_by(submissions.c.why)
    .order_by(func.count().desc(), submissions.c.why)
    .limit(bindparam("at_limit"))
)


def _next(column: Column[str], *where: ColumnElement[bool]) -> Select[Any]:
    """The next values of a column, in order."""
    after = select(column).where(_OURS, *where, column > bindparam("at_after"))
    return after.distinct().order_by(column).limit(bindparam("at_limit"))


_NEXT_PATHS = _next(submissions.c.path, submissions.c.key.is_(None))
_NEXT_KEYS = _next(submissions.c.key)


class Submissions(Part):
    """The outcomes of the submissions at the source."""

    def at(self, paths: Iterable[str]) -> dict[str, StoredSubmission]:
        return _restored(self.select_in(_AT_PATHS, paths))

    def of_files(self, paths: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions at these paths of files, with the further ones of the same files."""
        found = self.at(paths)
        first = [path for path, one in found.items() if one.parsed is not None and one.path == file_of(path)]
        counts = {path: one.of for path in first if (one := found[path].parsed) is not None and one.of > 1}
        further = [f"{path}#{number}" for path, count in counts.items() for number in range(2, count + 1)]
        return {**found, **(self.at(further) if further else {})}

    def of(self, keys: Iterable[str]) -> dict[str, StoredSubmission]:
        """The submissions that measure these rows."""
        return _restored(self.select_in(_OF_KEYS, keys))

    def first_of(self, key: str, most: int, size: int) -> dict[str, StoredSubmission]:
        """The first submissions by path that measure a row, at most so many, of `size` bytes as they are read."""
        found: dict[str, StoredSubmission] = {}
        for path in sorted(self.column(_PATHS_OF, key=key))[:most]:
            rows = self.select(_AT_PATH, path=path)
            size -= sum(len(zlib.decompress(row.data[1:])) for row in rows)
            if size < 0:
                break
            found |= _restored(rows)
        return found

    def spellings(self, readings: Iterable[str], without: Collection[str] = ()) -> list[tuple[float, str, str]]:
        """When submissions with these readings came (Unix seconds, infinity if unknown), their keys and their paths.

        `without` are paths of submissions that do not count.
        """
        others = (row for row in self.select_in(_SPELLINGS, readings) if row.path not in without)
        return [(inf if row.committed is None else row.committed, row.key, row.path) for row in others]

    def keys_below(self, folder: str) -> set[str]:
        """The rows that submissions measure and whose keys begin with a folder, such as all rows of one model."""
        return set(self.column(_KEYS_BETWEEN, after=f"{folder}/", before=f"{folder}0"))  # "0" comes after "/"

    def in_folder(self, folder: str) -> list[SubmissionLine]:
        """The submissions in a folder, not in its subfolders, by path."""
        found = self.select(_LINES_IN, folder=folder)
        return sorted((SubmissionLine(*row) for row in found), key=lambda one: one.path)

    def shared_keys(self, folder: str, most: int) -> list[str]:
        """The first rows that accepted submissions of a folder measure, and accepted ones of another folder too."""
        in_folder = self.select(_PLACES_IN, folder=folder)
        here = sorted({row.key for row in in_folder if row.key and row.status == "accepted"})
        shared: list[str] = []
        for some in batches(here):
            found = self.select_in(_PLACES_OF, some)
            shared += sorted({row.key for row in found if row.folder != folder and row.status == "accepted"})
            if len(shared) >= most:
                break
        return shared[:most]

    def folders_of(self, keys: Iterable[str]) -> set[str]:
        """The folders in which these rows are measured."""
        return {row.folder for row in self.select_in(_FOLDERS_OF, keys)}

    def rejected_folders(self) -> list[str]:
        """The folders in which a submission is rejected."""
        return sorted(set(self.column(_FOLDERS_WITH, status="rejected")))

    def all(self, size: int = 500) -> Iterator[list[StoredSubmission]]:
        """All submissions, about so many at once: those of no row in the order of their paths, then model by model."""
        last = ""
        while paths := self.column(_NEXT_PATHS, after=last, limit=size):
            yield list(self.at(paths).values())
            last = paths[-1]
        last = ""
        while keys := self.column(_NEXT_KEYS, after=last, limit=size):
            rest = {key for key in self.keys_below(model_folder(keys[-1])) if key > keys[-1]}
            yield list(self.of([*keys, *sorted(rest)]).values())
            last = max([keys[-1], *rest])

    def keep(self, there: Iterable[StoredSubmission], gone: Iterable[str] = ()) -> None:
        """Remember submissions, and forget those that are gone."""
        with self.db.transaction():
            self.change_in(_FORGET, gone)
            self.upsert(submissions, map(_stored, there))

    def set_verdicts(self, again: Iterable[StoredSubmission]) -> None:
        """Remember key, status and reason of submissions that were judged again."""
        values = (
            self.where(path=one.path)
            | {"key": one.key, "reading": _reading(one.key), "status": one.status, "why": one.why}
            for one in again
        )
        with self.db.transaction():
            for some in batches(values):
                self.db.run(_SET_VERDICT, some)

    def counts(self) -> dict[str, int]:
        """How many submissions have each status."""
        return {row[0]: row[1] for row in self.select(_COUNTS)}

    def rejections(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent reasons for rejection, each with its number of submissions."""
        return [(row[0], row[1]) for row in self.select(_REJECTIONS, status="rejected", limit=limit)]

    def page(self, status: str = "", text: str = "", after: str = "", limit: int = 50) -> list[SubmissionLine]:
        """Submissions in the order of their paths, those after one; `text` is a part of path, key or reason."""
        where = [_OURS, submissions.c.path > after]
        if status:
            where.append(submissions.c.status == status)
        if text:
            where.append(_has(text))
        # The index on watch, path, status, key and reason answers this without the rows, which hold what was read.
        found = select(submissions.c.path).where(*where).order_by(submissions.c.path).limit(limit)
        with self.db.transaction():
            return [SubmissionLine(*row) for row in self.select_in(_LINES_AT, self.column(found))]


_LINES = select(rows).where(same(rows, "watch"), among(rows.c.key))
_PEERS = select(rows.c.peer).where(
    same(rows, "watch"), rows.c.key.in_(first_of_marks(row_marks, MOST_SHARING, "came", "measured", "key"))
)
_FORGET_MARK = delete(row_marks).where(same(row_marks, "watch", "mark", "came", "measured", "key"))
_ACCEPTED = select(rows).where(same(rows, "watch"), func.length(rows.c.digest) == DIGEST_DIGITS)
_ALL_KEYS = select(rows.c.key).where(same(rows, "watch"))
_BESIDE = (
    _ALL_KEYS.where(rows.c.key > bindparam("at_after"), rows.c.key < bindparam("at_before"))
    .where(rows.c.key != bindparam("at_key"))
    .order_by(rows.c.key)
)
_COUNT_ROWS = select(func.count()).select_from(rows).where(same(rows, "watch"))


class Rows(Part):
    """The digests of the rows that the submissions made."""

    def digests(self, keys: Iterable[str]) -> dict[str, str]:
        """The stored digests of these rows, as they were when the rows were last marked."""
        return {key: line.digest for key, line in self.lines(keys).items()}

    def lines(self, keys: Iterable[str]) -> dict[str, RowLine]:
        """The same, with what others are compared with."""
        found = self.select_in(_LINES, keys)
        return {row.key: RowLine(row.digest, row.peer and PEERS.decode(row.peer), row.is_incomplete) for row in found}

    def peers(self, marks: Iterable[str]) -> list[Peer]:
        """The rows with one of these marks, of each mark those that came first."""
        return [PEERS.decode(data) for data in {row.peer for row in self.select_in(_PEERS, marks)}]

    def accepted(self) -> dict[str, str]:
        """The digests of the rows that the submissions make now and that can be written."""
        return {row.key: row.digest for row in self.select(_ACCEPTED)}

    def incomplete(self) -> set[str]:
        """The keys of those among the accepted rows that lack a task."""
        return {row.key for row in self.select(_ACCEPTED) if row.is_incomplete}

    def all_keys(self) -> set[str]:
        """The keys of all rows that were ever made."""
        return set(self.column(_ALL_KEYS))

    def beside(self, key: str) -> list[str]:
        """The keys of the other rows of a row's model, in order."""
        model = model_folder(key)
        return self.column(_BESIDE, after=f"{model}/", before=f"{model}0", key=key)  # "0" follows "/"

    def count(self) -> int:
        """How many rows were ever made."""
        return int(self.value(_COUNT_ROWS))

    def keep(self, lines: Mapping[str, RowLine], known: Mapping[str, RowLine]) -> None:
        """Remember rows; `known` are the lines that were stored of them."""
        with self.db.transaction():
            for some in batches(self.where(**mark) for key in lines.keys() & known for mark in _marks_of(known[key])):
                self.db.run(_FORGET_MARK, some)
            self.upsert(rows, (_stored_line(key, one) for key, one in lines.items()))
            for some in batches(mark for line in lines.values() for mark in _marks_of(line)):
                self.upsert(row_marks, some)


def _stored_line(key: str, line: RowLine) -> dict[str, Any]:
    peer = line.peer and ENCODER.encode(line.peer)
    return {"key": key, "digest": line.digest, "is_incomplete": line.is_incomplete, "peer": peer}


def _marks_of(line: RowLine) -> Iterator[dict[str, Any]]:
    if (peer := line.peer) is not None:
        for mark in dict.fromkeys(peer.row.marks):
            yield {"mark": mark, "came": peer.came, "measured": peer.measured, "key": peer.key}


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
