"""Read the evidence of a row: its files at their commits, and what happened to them since."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from bot.errors import BotError, Gone
from bot.evaluation.discovery import Candidate, ListedFile, read_candidate
from bot.evaluation.formats import formats, most_bytes
from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.registry import Opener
from bot.platforms.source import Source, TooLarge
from bot.publishing.entry import Evidence


class Unfounded(Exception):
    """Why a row cannot be recomputed."""

    def __init__(self, outcome: Literal["evidence", "gone", "untraceable"], why: str) -> None:
        self.outcome: Literal["evidence", "gone", "untraceable"] = outcome
        super().__init__(why)


@dataclass
class EvidenceReader:
    """Reads the files that rows name, each at its commit; the head of a source is asked for once."""

    opener: Opener
    _heads: dict[str, str] = field(default_factory=dict, repr=False)

    def read(self, file: Evidence) -> tuple[Parsed, float | None]:
        """A submission as it stands at its commit, and when that was committed, in Unix seconds.

        Raises Unfounded if it is not there, or is not what the row names.
        """
        if not file.source or not file.commit:
            raise Unfounded("untraceable", f"{file.path} names no repository and commit")
        source = self.opener.source(file.source)
        try:
            parsed = _read(source, file)
            last = source.touched([file.path], file.commit).get(file.path)
        except Gone as error:
            raise Unfounded("gone", f"{_gone(file)}: {error}") from None
        if parsed.sha256 != file.sha256:
            raise Unfounded(
                "evidence", f"{file.path} at {file.commit[:12]} is not the file that the row names: its SHA-256 differs"
            )
        return parsed, last.date if last else None

    def since(self, file: Evidence) -> str:
        """The change of a file after the row was made; "" if there is none, or if no service answers."""
        with suppress(BotError):
            source = self.opener.source(file.source)
            if file.source not in self._heads:
                self._heads[file.source] = source.head()
            return _moved_on(source, file, self._heads[file.source])
        return ""


def _gone(file: Evidence) -> str:
    return f"{file.path} is gone from {file.source} at {file.commit[:12]}"


def _moved_on(source: Source, file: Evidence, head: str) -> str:
    last = None if head == file.commit else source.touched([file.path], head).get(file.path)
    if head == file.commit or (last is not None and last.oid == file.commit):
        return ""
    now = f"by {head[:12]} of {file.source}"
    try:
        is_same = _read(source, replace(file, commit=head)).sha256 == file.sha256
    except Unfounded as unfounded:
        was = "removed" if unfounded.outcome == "gone" else "replaced by something else"
        return f"{file.path} was {was} {now}"
    return "" if is_same else f"{file.path} was edited {now}"


def _read(source: Source, file: Evidence) -> Parsed:
    """Read the submission that evidence names: one file, or the files of a run's folder."""
    data = _bytes(source, file, file.path)
    names = [file.path] if data is not None else []
    known = None
    for known in formats() if data is None else ():
        if known.id == file.format and known.members:
            names = [f"{file.path}/{name}" for name in (*known.members, *known.optional)]
            break
    contents = {name: found for name in names if (found := _bytes(source, file, name)) is not None}
    if not contents:
        raise Unfounded("gone", _gone(file))
    listed = tuple(ListedFile(name, len(found)) for name, found in contents.items())
    candidate = Candidate(file.path, listed, (), known)
    read = read_candidate(candidate, lambda path, limit: contents[path][:limit], is_named=True)
    if isinstance(read, UnreadPath):
        raise Unfounded("evidence", f"{file.path} is not a result: {read.why}")
    return read


def _bytes(source: Source, file: Evidence, path: str) -> bytes | None:
    try:
        return source.read(path, file.commit, most_bytes(path))
    except TooLarge:
        raise Unfounded("evidence", f"{path} is too large to read") from None
