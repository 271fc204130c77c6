"""What the files of a folder come to: each is in one submission, or is a file of another kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bot.evaluation.discovery import ListedFile, Read, candidates_in, read_candidate
from bot.evaluation.submission import Parsed, UnreadPath

Found = dict[str, Parsed | UnreadPath]


def discover(listing: Iterable[ListedFile], read: Read, named: Collection[str] = ()) -> Found:
    """What the files of a listing come to, by the path of the file or the run's folder."""
    return {one.path: read_candidate(one, read, is_named=one.path in named) for one in candidates_in(listing)}


def found_in(files: Mapping[str, bytes], named: Collection[str] = ()) -> Found:
    """The same of files in memory."""
    listing = [ListedFile(path, len(data)) for path, data in files.items()]
    return discover(listing, lambda path, size: files[path][:size], named)


def found_below(root: Path, paths: Iterable[str]) -> Found:
    """The same of files on the disk, by their paths below a folder."""
    listing = [ListedFile(path, (root / path).stat().st_size) for path in paths]
    return discover(listing, lambda path, size: (root / path).read_bytes()[:size])
