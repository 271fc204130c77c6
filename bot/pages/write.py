"""Write a site into a folder: only changed files, all or nothing, and no file that is not part of the site."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from bot import HOME
from bot.errors import CallError
from bot.pages.addresses import BADGES, COLUMNS, ROWS
from bot.pages.environment import ASSETS
from bot.pages.site import Site

BADGE = b'<svg xmlns="http://www.w3.org/2000/svg" width='  # how each badge begins
MARK = f'Made by <a href="{HOME}">leaderboard-bot</a>'.encode()  # of the foot of each page
ASSET = re.compile("|".join(name.replace(".", r"\.[0-9a-f]{8}\.") for name in ASSETS))  # of any version
STAGE = ".leaderboard-bot-"
STAMPED = 200  # bytes at the beginning of a page that hold its stamp
FIRST_WRITTEN = "index.html"


@dataclass(frozen=True, slots=True)
class Written:
    """What was done: the numbers of files written, left as they were, and removed."""

    changed: int
    same: int
    removed: int


def write_site(site: Site, folder: Path) -> Written:
    """Bring a folder in step with a site. Raises CallError if it cannot be written or holds another site.

    What changes is first written aside, inside of the folder, and moved when all of it is there; the first page moves
    last. A page of a row that bears the right stamp is not even made.
    """
    try:
        return _write(site, folder)
    except OSError as error:
        raise CallError(f"{folder}: cannot be written: {error.strerror or error}") from None


def _write(site: Site, folder: Path) -> Written:
    is_new = not folder.exists()
    is_ours = not is_new and _is_ours(folder)
    if not is_new and not is_ours:
        _refuse_foreign(site, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{STAGE}*"):  # by a process that was killed
        rmtree(left)
    stage = Path(mkdtemp(prefix=STAGE, dir=folder))
    is_done = False
    try:
        changed = list(_stage(site, folder, stage))
        for place in {(folder / path).parent for path in changed}:
            if place.resolve() != folder.resolve() / place.relative_to(folder):
                raise CallError(f"{place} leads out of {folder}: remove the link, or name another folder")
        for path in changed:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (stage / path).replace(folder / path)
        is_done = True
    finally:
        rmtree(stage, ignore_errors=True)
        if is_new and not is_done:
            with suppress(OSError):  # something of it was moved already
                folder.rmdir()
    removed = list(_remove(site, folder)) if is_ours else []
    return Written(len(changed), len(site) - len(changed), len(removed))


def _is_ours(folder: Path) -> bool:
    """Tell whether a folder holds a site of the bot, or a part of one after a kill. Raises CallError for another's."""
    if not folder.is_dir():
        raise CallError(f"{folder} is a file; name a folder for the site")
    first = folder / FIRST_WRITTEN
    if first.exists() and MARK not in first.read_bytes():
        raise CallError(
            f"{folder} holds another site: leaderboard-bot did not write its {FIRST_WRITTEN}; name another folder"
        )
    return first.exists() or any(folder.glob(f"{STAGE}*"))


def _refuse_foreign(site: Site, folder: Path) -> None:
    """Refuse a folder where something stands in the way of a first site. Raises CallError."""
    others = [name for name in (ROWS, COLUMNS, BADGES) if (folder / name).exists()]
    if others:
        raise CallError(f"{folder} holds a folder {others[0]} but no site of leaderboard-bot; name another folder")
    for path in site:
        if "/" not in path and (folder / path).exists() and not _has(folder / path, site[path]):
            raise CallError(f"{folder} holds a file {path} that leaderboard-bot did not write; name another folder")


def _stage(site: Site, folder: Path, stage: Path) -> Iterator[str]:
    """Write what differs aside, and yield its paths in the order of the site."""
    stamps = site.stamps()
    for path in site:
        stamp = stamps.get(path)
        if stamp and _bears(folder / path, stamp):
            continue
        data = site[path]
        if not stamp and _has(folder / path, data):
            continue
        (stage / path).parent.mkdir(parents=True, exist_ok=True)
        (stage / path).write_bytes(data)
        yield path


def _bears(file: Path, stamp: str) -> bool:
    try:
        with file.open("rb", buffering=0) as opened:
            return stamp.encode() in opened.read(STAMPED)
    except OSError:
        return False


def _has(file: Path, data: bytes) -> bool:
    try:
        return file.stat().st_size == len(data) and file.read_bytes() == data
    except OSError:
        return False


def _remove(site: Site, folder: Path) -> Iterator[str]:
    """Remove pages of rows that are gone, and the style and script of older versions."""
    wanted = {os.path.join(folder, path) for path in site}  # noqa: PTH118 - ten thousand of them
    for kind, mark in ((ROWS, MARK), (COLUMNS, MARK), (BADGES, BADGE)):
        removed = set[str]()
        for place, folders, names in os.walk(folder / kind, topdown=False):
            pages = [os.path.join(place, name) for name in names]  # noqa: PTH118 - the same
            gone = [path for path in pages if path not in wanted and mark in Path(path).read_bytes()]
            for path in gone:
                Path(path).unlink()
                yield path
            inner = {os.path.join(place, name) for name in folders}  # noqa: PTH118 - the same
            if len(gone) == len(names) and inner <= removed:
                with suppress(OSError):  # somebody added to it
                    os.rmdir(place)  # noqa: PTH106 - the same
                    removed.add(place)
    for old in folder.glob("*.*"):
        if ASSET.fullmatch(old.name) and str(old) not in wanted:
            old.unlink()
            yield str(old)
