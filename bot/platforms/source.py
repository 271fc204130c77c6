"""The interface of all sources of results, the patterns that select their files, and reading a file in parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from io import BytesIO
from typing import IO, ClassVar, Protocol

import msgspec

from bot.errors import BotError
from bot.evaluation.discovery import Read
from bot.evaluation.formats import MAX_BYTES, most_bytes

# Of a path: an entry of an index of PostgreSQL has at most 2,704 bytes, a path and a key beside each other.
LONGEST_NAME, KEPT_OF_NAME = 1_000, 200
ASKED_FOR = 20  # files that a listing lacks
HALF = re.compile("[\ud800-\udfff]")  # half surrogates; git writes a byte that is no text as one of the last 128
NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


class TooLarge(BotError):
    """A file holds more bytes than the limit, and was not read further (exit status 1)."""

    status = 1


class Change(msgspec.Struct, frozen=True, gc=False):
    """A file whose content changed; `oid` names the present content, None if the file is gone.

    `size` is in bytes, 0 if the service does not say. `fault` says why the file cannot be read, "" if it can; `path` is
    then its name with the odd bytes escaped, or its begin, a digest and its end.
    """

    path: str
    oid: str | None
    size: int
    fault: str = ""


def named_change(path: str, oid: str | None, size: int) -> Change:
    """The change of a file; a name that is not text is escaped, a long one is cut, and `fault` says so.

    Half surrogates in `path` stand for bytes that are not UTF-8 (git), or come from escapes in JSON (the Hub).
    """
    name = path.encode("utf-8", "surrogatepass" if NO_BYTE.search(path) else "surrogateescape")
    if len(name) > LONGEST_NAME:
        # Patterns of paths look at the beginning and at the end.
        start, end = (part.decode("utf-8", "backslashreplace") for part in (name[:KEPT_OF_NAME], name[-KEPT_OF_NAME:]))
        why = f"its name has more than {LONGEST_NAME:,} bytes; rename it"
        return Change(f"{start}…{hashlib.sha256(name).hexdigest()[:16]}…{end}", oid, size, why)
    if not HALF.search(path):
        return Change(path, oid, size)
    return Change(name.decode("utf-8", "backslashreplace"), oid, size, "its name is not UTF-8; rename it")


class LastCommit(msgspec.Struct, frozen=True, gc=False):
    """The commit that last touched a file; `date` is in Unix seconds, None if it is unknown."""

    oid: str
    date: float | None = None


class Source(Protocol):
    """A repository to which results are pushed; commits are full ids.

    Unless it `has_commits`, a digest of a listing stands for a commit, the target keeps the files that make a row, and
    what is gone is found by a comparison with the files that are known.
    """

    has_commits: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        ...

    def head(self) -> str:
        """The commit at main."""
        ...

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is still there; a rewritten history may have lost it."""
        ...

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether the history of `head` has a commit. A service also knows commits of requests and forks."""
        ...

    def changes(self, old: str | None, new: str) -> Iterable[Change]:
        """The files that differ between two commits; every file where there is no old one."""
        ...

    def uncommitted(self, patterns: Collection[str]) -> list[str]:
        """The wanted files in a folder of this machine that its commit has not, or not as they are."""
        del patterns
        return []

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`."""
        ...

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None if it is not there. Raises TooLarge past the limit.

        `oid` is the object id that a listing gave (git's SHA-1, or a SHA-256 for large files): bytes that it does not
        name are asked for again, then Unavailable is raised.
        """
        body = BytesIO()
        try:
            return body.getvalue() if self.save(path, commit, limit, body, oid) else None
        except TooLarge as error:
            raise TooLarge(f"{path}: {error}") from None

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes at a commit to an open one, piece by piece; False if it is not there.

        Raises as `read` does.
        """
        ...

    def there(self, paths: Sequence[str], commit: str) -> set[str]:
        """Those of these paths that are files, each asked for by itself: a listing may lack some.

        Of a host that says where it cuts a listing, only the first ones are asked for.
        """
        found: set[str] = set()
        for path in paths[:ASKED_FOR]:
            try:
                found |= {path} if self.read(path, commit, 1) is not None else set()
            except TooLarge:
                found.add(path)
        return found

    def in_bulk(self, commit: str, count: int) -> AbstractContextManager[Source]:
        """The source, prepared to read so many files of a commit; most sources need no preparation."""
        return nullcontext(self)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as git and GitHub's `paths` read it: `*` matches within a folder, `**/` any number of folders."""
    return re.compile("".join(map(_translate, TOKEN.findall(pattern.removeprefix("./")))), re.DOTALL)


def _translate(token: str) -> str:
    plain = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
    if plain is not None:
        return plain
    if len(token) > 1:
        inside = token[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("&&", r"\&&")
        return "[" + (f"^{inside[1:]}" if inside.startswith("!") else inside.replace("^", r"\^")) + "]"
    return re.escape(token)


def is_wanted(path: str, patterns: Collection[str]) -> bool:
    """Tell whether a path matches any of the patterns, and none of those that begin with `!`."""
    found = {one.startswith("!") for one in patterns if _matches(path, one.removeprefix("!"))}
    return found == {False}


def _matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches one pattern; a pattern that names a folder matches all files below it."""
    folder = pattern.removeprefix("./").strip("/")
    return bool(compiled(pattern).fullmatch(path)) or path.startswith(f"{folder}/")


def read_whole_files(
    source: Source, commit: str, shown: str = "", max_bytes: int = MAX_BYTES, oids: Mapping[str, str] | None = None
) -> Read:
    """A function that reads files of a source by their shown names, and keeps the last one, which is read in parts.

    `oids` are the object ids that the bytes must have, where they are known.
    """
    known = oids or {}
    last: dict[str, bytes | None] = {}

    def read(path: str, limit: int) -> bytes | None:
        if path not in last:
            last.clear()
            try:
                most = max(max_bytes, most_bytes(path))
                last[path] = source.read(path.removeprefix(shown), commit, most, known.get(path))
            except TooLarge:
                last[path] = b""
        data = last[path]
        return None if data is None else data[:limit]

    return read
