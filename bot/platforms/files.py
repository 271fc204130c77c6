"""Local files: the named ones, and all files below the named folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from bot.errors import CallError
from bot.evaluation.discovery import ListedFile
from bot.platforms.platform import refuse_pasted

UNSEEN = frozenset({".git", "__pycache__", ".venv", "node_modules"})  # folders of tools


def list_files(name: str) -> tuple[list[ListedFile], list[str]]:
    """The file of this name, or every file below the folder of this name, and the links there; in order of their paths.

    A link is followed where it is named itself, and nowhere else: a folder may be a stranger's. Raises CallError for
    what is not there.
    """
    if not name:
        raise CallError("a path is empty: name a file or a folder")
    path = Path(name)
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            links: list[str] = []
            return sorted(walk(name, links)), sorted(links)
        if stat.S_ISREG(found.st_mode):
            return [ListedFile(name, found.st_size)], []
        raise CallError(f"{name}: is neither a file nor a folder")
    except FileNotFoundError:
        refuse_pasted(name)
        raise CallError(f"{name}: there is no such file or folder") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "is not a path of this machine"
        raise CallError(f"{name[:80]!r}: {why}") from None


def walk(folder: str, links: list[str]) -> Iterator[ListedFile]:
    """Every file below a folder with its size; adds the paths of links to `links`."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                links.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in UNSEEN:
                    yield from walk(entry.path, links)
            elif entry.is_file(follow_symlinks=False):
                yield ListedFile(entry.path, entry.stat(follow_symlinks=False).st_size)


def place_of(name: str) -> str:
    """The recorded place of a local file: its folder and its name, in the layout of the harness.

    So a row is the same from whichever folder it is published, and no path of a person's machine is published with it.
    """
    folder, _, file = name.rpartition("/")
    parent = folder.rpartition("/")[2]
    if {parent, file}.isdisjoint({"", "."}) and os.sep == "/":  # nearly all; a Path costs, for thousands
        return f"{parent}/{file}"
    return "/".join(Path(name).absolute().parts[-2:]).replace("//", "/")


def read_file(name: str, limit: int) -> bytes:
    """At most so many bytes of the beginning of a file. Raises CallError if it cannot be read."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)  # thousands of files are read, and file objects cost
        try:
            return os.read(descriptor, limit)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CallError(f"{name}: cannot be read: {error.strerror or error}") from None
