"""Paths on this machine in, submissions out: files as named, folders walked for result files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from bot.errors import CallError
from bot.formats import MAX_BYTES
from bot.pipeline import Submission

PATTERN = "results*.json"


def find_files(paths: Iterable[str]) -> list[str]:
    """Files as they are named, and the result files below each folder named, in the order of their names.

    Raises CallError for a path that is not there and for a folder without result files.
    """
    found: list[str] = []
    for name in paths:
        path = Path(name)
        if not name:
            raise CallError("a path is empty: name a file or a folder")
        if not _exists(path, name):
            raise CallError(f"{name}: there is no such file or folder")
        if not path.is_dir():
            found.append(name)
            continue
        below = sorted(file.as_posix() for file in path.rglob(PATTERN) if file.is_file())
        if not below:
            raise CallError(f"{name}: there is no result file ({PATTERN}) in this folder or below it")
        found += below
    return found


def place_of(name: str) -> str:
    """What is recorded of where a local file lies: its folder and its name, as the harness lays results out.

    So a row is the same from whichever folder it is published, and no path of a person's machine is published with it.
    """
    return "/".join(Path(name).absolute().parts[-2:]).replace("//", "/")


def _exists(path: Path, name: str) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        raise CallError(f"{name[:80]!r}: is no path of this machine") from None


def read_submission(name: str) -> Submission:
    """Read one file; one over the size limit is not read, and its submission says so. Raises CallError."""
    try:
        found = os.stat(name)  # noqa: PTH116 - see below
        if not stat.S_ISREG(found.st_mode):
            raise CallError(f"{name}: is neither a file nor a folder")
        if found.st_size > MAX_BYTES:
            return Submission(name, None, found.st_size)
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - thousands of files are read, and Path costs
            data = file.read(found.st_size + 1)
    except OSError as error:
        raise CallError(f"{name}: cannot be read: {error.strerror or error}") from None
    return Submission(name, data, len(data))
