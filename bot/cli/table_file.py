"""Open a table that exists: here, in a dataset on the Hub, or in a repository on GitHub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bot.audits.samples.records import is_own_file
from bot.errors import CallError
from bot.platforms.git.repository import root_of
from bot.platforms.inputs import GITHUB_FILE, read_file
from bot.platforms.platform import Opener, refuse_pasted
from bot.publishing.tables.mapping import SUFFIXES, TableFormat
from bot.publishing.tables.sheet import LARGEST
from bot.publishing.tables.table_layout import WORKFLOWS
from bot.reporting.escape import visible
from bot.service.settings.environment import read_access


@dataclass(frozen=True)
class TableFile:
    """A table's file: where its repository is (a target), its path there, its bytes, and the files around it."""

    target: str
    path: str
    data: bytes
    written: TableFormat
    around: Mapping[str, bytes]
    place: Path | None = None  # on this machine

    @property
    def shown(self) -> str:
        """The name of the table for people."""
        return visible(self.path)


def open_table(name: str) -> TableFile:
    """Read a table here, in a dataset on the Hub, or in a repository on GitHub. Raises CallError."""
    suffix = PurePosixPath(name).suffix.lower()
    refuse_pasted(name)
    if suffix not in SUFFIXES:
        raise CallError(f"{name}: a table is a file that ends in {', '.join(SUFFIXES)}")
    if name.startswith("hf://"):
        return _table_on_hub(name, SUFFIXES[suffix])
    if name.startswith("github://"):
        return _table_on_github(name, SUFFIXES[suffix])
    path = Path(name)
    data = read_file(name, LARGEST + 1) if path.is_file() else None
    if data is None:
        raise CallError(f"{name}: there is no such file")
    place = path.resolve()
    root = root_of(place.parent) or place.parent
    around = {file.relative_to(root).as_posix(): file for file in (root / WORKFLOWS).glob("*.y*ml")}
    texts = {**around, "README.md": root / "README.md"}
    read = {where: read_file(str(file), LARGEST) or b"" for where, file in texts.items() if is_own_file(file)}
    return TableFile(os.path.relpath(root), place.relative_to(root).as_posix(), data, SUFFIXES[suffix], read, place)


def _table_on_hub(name: str, written: TableFormat) -> TableFile:
    from bot.platforms.hub.address import parse_address
    from bot.platforms.hub.source import open_pinned

    address = parse_address(name)
    source, commit = open_pinned(address, name, read_access())
    data = source.read(address.path, commit, LARGEST)
    card = source.read("README.md", commit, LARGEST)
    if data is None:
        raise CallError(f"{name}: there is no such file")
    return TableFile(address.url, address.path, data, written, {} if card is None else {"README.md": card})


def _table_on_github(name: str, written: TableFormat) -> TableFile:
    from bot.platforms.github.platform import PLATFORM

    match = GITHUB_FILE.fullmatch(name)
    if match is None:
        raise CallError(f"{name}: expected a file, github://owner/name[@commit]/path")
    source, path = PLATFORM.open_source(match["repository"], Opener(read_access())), match["path"]
    commit = match["commit"] or source.head()
    data = source.read(path, commit, LARGEST)
    if data is None:
        raise CallError(f"{name}: there is no such file")
    workflows = [item.path for item in source.folder(WORKFLOWS.rstrip("/"), commit)]
    around = {each: source.read(each, commit, LARGEST) for each in ("README.md", *workflows)}
    return TableFile(source.name, path, data, written, {each: read for each, read in around.items() if read})
