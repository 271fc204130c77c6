"""Open what the command line names: the files of a PATH, on this machine, in a dataset on the Hub, or on GitHub.

A PATH on this machine is a file, or a folder with everything below it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace as changed

from bot.errors import CallError
from bot.evaluation.discovery import Candidate, ListedFile, Read, candidates_in, read_candidate
from bot.evaluation.finding import file_of
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.caches import blob_id
from bot.platforms.platform import Access, Opener, refuse_pasted
from bot.platforms.source import LastCommit, Source, read_whole_files
from bot.publishing.entry import Evidence

GITHUB_FILE = re.compile(
    r"(?P<repository>github://[^/@#]+/[^/@#]+)(?:@(?P<commit>[0-9a-f]{40}))?/(?P<path>.*)", re.DOTALL
)
NO_FILE = (
    "files are read on this machine, at hf://datasets/…, hf://buckets/… and at github://owner/name[@commit]/path; "
    "`explain BOARD --model ID` reads a row of a board"
)


class Place(msgspec.Struct, frozen=True, gc=False):
    """A place that may hold a submission: how its files are read, and where evidence says that it lies.

    `source` is the name of the repository that it lies in, `path` its path there and `commit` the commit at which it is
    read. `origin` is the repository itself where it can be asked for the commit that last touched a file, and `last` is
    that commit. `is_named` says that the caller named the place itself. A file of more than `max_bytes` is not read,
    nor is one that `is_link`.
    """

    candidate: Candidate
    read: Read
    path: str
    is_named: bool = False
    source: str = ""
    commit: str = ""
    origin: Source | None = None
    max_bytes: int = MAX_BYTES
    is_link: bool = False
    last: LastCommit | None = None

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.candidate.path

    def parse(self) -> Parsed | UnreadPath:
        """Read the place; see `read_candidate`."""
        if self.is_link:
            return UnreadPath(self.name, "link", "a link is not followed; name the file that it leads to")
        return read_candidate(self.candidate, self.read, is_named=self.is_named, max_bytes=self.max_bytes)

    def part(self, path: str) -> Place:
        """The place of a further submission in the file, which has this path."""
        number = path.removeprefix(self.name)
        return changed(self, candidate=changed(self.candidate, path=path), path=self.path + number)


def find_places(
    paths: Iterable[str], access: Access, max_bytes: int = MAX_BYTES, forms: tuple[DeclaredForm, ...] = ()
) -> list[Place]:
    """The places that the paths name, each once; `forms` are those of the declaration.

    Raises CallError for a missing path, or a folder without files.
    """
    found: dict[str, Place] = {}
    for name in paths:
        if name.startswith("hf://buckets/"):
            places = bucket_places(name, access, max_bytes, forms)
        elif name.startswith("hf://"):
            places = hub_places(name, access, max_bytes, forms)
        elif name.startswith("github://"):
            places = github_places(name, access, max_bytes, forms)
        else:
            places = local_places(name, max_bytes, forms)
        for place in places:
            known = found.get(place.name)
            found[place.name] = place if known is None or place.is_named else known
    return list(found.values())


def local_places(name: str, max_bytes: int = MAX_BYTES, forms: tuple[DeclaredForm, ...] = ()) -> Iterator[Place]:
    """A file of this machine, or everything below a folder."""
    listing, links = list_files(name)
    if not listing and not links:
        raise CallError(f"{name}: there is no result file in this folder or below it")
    for candidate in candidates_in(listing):
        lies_at = os.path.abspath(candidate.path)  # noqa: PTH100 - Path costs, and so does `replace`, for thousands
        placed = Candidate(candidate.path, candidate.files, candidate.others, candidate.limit, lies_at, forms)
        yield Place(placed, read_file, place_of(candidate.path), candidate.path == name, max_bytes=max_bytes)
    for link in links:
        yield Place(Candidate(link, ()), read_file, place_of(link), is_link=True)


def hub_places(
    name: str, access: Access, max_bytes: int = MAX_BYTES, forms: tuple[DeclaredForm, ...] = ()
) -> Iterator[Place]:
    """The files at an `hf://` address, pinned to the commit that its revision names now."""
    from bot.platforms.hub.address import parse_address
    from bot.platforms.hub.source import open_pinned

    address = parse_address(name)
    source, commit = open_pinned(address, name, access)
    named = source.files_at([address.path], commit) if address.path else []
    files = named or source.walk(commit, address.path)
    if not files:
        raise CallError(f"{name}: there is no such file, and no file below it")
    shown = f"{address.url}@{commit[:12]}/"
    read = read_whole_files(source, commit, shown, max_bytes)
    for candidate in candidates_in((ListedFile(shown + item.path, item.size) for item in files), forms):
        path = candidate.path.removeprefix(shown)
        yield Place(candidate, read, path, bool(named), source.name, commit, source, max_bytes)


def github_places(
    name: str, access: Access, max_bytes: int = MAX_BYTES, forms: tuple[DeclaredForm, ...] = ()
) -> Iterator[Place]:
    """The files at `github://owner/name[@commit]/path`; without a commit, as they are on the default branch now."""
    match = GITHUB_FILE.fullmatch(name)
    if match is None:
        raise CallError(f"{name}: {NO_FILE}")
    source = Opener(access).source(match["repository"])
    commit = match["commit"] or source.head()
    shown = f"{source.name}@{commit[:12]}/"
    yield from listed_places(source, commit, match["path"].strip("/"), shown, max_bytes=max_bytes, forms=forms)


def bucket_places(
    name: str, access: Access, max_bytes: int = MAX_BYTES, forms: tuple[DeclaredForm, ...] = ()
) -> Iterator[Place]:
    """The files at `hf://buckets/org/name[/path]` as they are now."""
    from bot.platforms.hub.address import parse_address

    address = parse_address(name)
    source = Opener(access).source(address.url)
    yield from listed_places(source, source.head(), address.path, f"{source.name}/", max_bytes=max_bytes, forms=forms)


def listed_places(
    source: Source, commit: str, path: str, shown: str, *, max_bytes: int, forms: tuple[DeclaredForm, ...]
) -> Iterator[Place]:
    """The file of a source at a path, or the files below it; `shown` is what precedes their paths in reports."""
    everything = source.changes(None, commit)
    files = [one for one in everything if not path or one.path == path or one.path.startswith(f"{path}/")]
    if not files:
        raise CallError(f"{shown}{path}: there is no such file, and no file below it")
    oids = {shown + item.path: item.oid for item in files if item.oid is not None}
    read = read_whole_files(source, commit, shown, max_bytes, oids)
    for candidate in candidates_in((ListedFile(shown + item.path, item.size) for item in files), forms):
        place = candidate.path.removeprefix(shown)
        yield Place(candidate, read, place, place == path, source.name, commit, source, max_bytes)


def in_repositories(places: Iterable[Place]) -> list[Place]:
    """The places, each with the local repository whose commit has its files as they are.

    So the row names the repository, the commit, and the path from the root. A file that was changed since, or that no
    repository has, is named by its folder.
    """
    from bot.platforms.git.repository import Blob, Repository, root_of
    from bot.platforms.git.source import GitSource  # only publishing asks for it

    @cache
    def opened(root: Path) -> tuple[GitSource, str, Mapping[str, Blob]]:
        repository = Repository(root)
        commit = repository.resolve(repository.head())
        return GitSource(root, repository.address()), commit, repository.listing(commit)

    root_above = cache(root_of)

    def placed(place: Place) -> Place:
        files = place.candidate.files
        root = root_above(Path(files[0].path).absolute().parent) if files and not place.source else None
        if root is None:
            return place
        source, commit, committed = opened(root)
        blobs = [committed.get(Path(file.path).absolute().relative_to(root).as_posix()) for file in files]
        for file, blob in zip(files, blobs, strict=True):  # a file of another size is not read, however large it is
            if blob is None or blob.size != file.size or blob_id(place.read(file.path, file.size) or b"") != blob.oid:
                return place
        path = Path(place.candidate.path).absolute().relative_to(root).as_posix()
        return changed(place, source=source.name, path=path, commit=commit, origin=source)

    return [placed(place) for place in places]


def with_commits(places: Iterable[Place]) -> list[Place]:
    """The places with the commit that last changed each, where their repository can be asked."""
    known = list(places)
    found: dict[str, LastCommit] = {}
    origins = {id(place.origin): place.origin for place in known if place.origin is not None}
    for origin in origins.values():
        group = [place for place in known if place.origin is origin]
        touched = origin.touched([place.path for place in group], group[0].commit)
        found |= {place.name: touched[place.path] for place in group if place.path in touched}
    return [changed(place, last=found[place.name]) if place.name in found else place for place in known]


def evidence_of(places: Iterable[Place]) -> dict[str, Evidence]:
    """The evidence of each place by its name, with the commit that last changed it where that is known."""

    def evidence(place: Place) -> Evidence:
        if place.origin is not None and not place.origin.has_commits:
            return Evidence(place.source, place.path, kept={})
        return Evidence(place.source, place.path, place.last.oid if place.last else place.commit)

    return {place.name: evidence(place) for place in places}


def commit_dates(places: Iterable[Place]) -> dict[str, float]:
    """The date in Unix seconds of the commit that last changed each place, by its name, where that is known."""
    found = {place.name: place.last.date for place in places if place.last is not None}
    return {name: date for name, date in found.items() if date is not None}


def reader_of(places: Iterable[Place]) -> Callable[[str], bytes | None]:
    """A function that reads a file of a submission again, to find the lines of findings."""
    files = {file.path: (place.read, file.size) for place in places for file in place.candidate.files}

    def read(path: str) -> bytes | None:
        path = path if path in files else file_of(path)
        if path not in files:
            return None
        read_part, size = files[path]
        return read_part(path, size)

    return read


UNSEEN = frozenset({".git", "__pycache__", ".venv", "node_modules"})  # folders of tools


def list_files(name: str) -> tuple[list[ListedFile], list[str]]:
    """The file with this name, or every file below the folder with this name, and the links there, in order of paths.

    A link is followed only where it is named itself: a folder may be a stranger's. Raises CallError for a name of
    nothing.
    """
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
        raise CallError(f"{name}: {NO_FILE if '://' in name else 'there is no such file or folder'}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "is not a path of this machine"
        raise CallError(f"{name[:80]!r}: {why}") from None


def walk(folder: str, links: list[str]) -> Iterator[ListedFile]:
    """Every file below a folder with its size; the paths of links are added to `links`."""
    for entry in entries_below(folder, UNSEEN):
        if entry.is_symlink():
            links.append(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield ListedFile(entry.path, entry.stat(follow_symlinks=False).st_size)


def entries_below(folder: str, unseen: Container[str], *, is_strict: bool = True) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder, in no order, except for the folders with these names; no link is followed.

    A stranger may nest folders to any depth, so nothing here is recursive. Raises OSError for a folder that cannot be
    read; unless it `is_strict`, such a folder is left out.
    """
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = list(found)
        except OSError:
            if is_strict:
                raise
            continue
        entries = [one for one in entries if one.name not in unseen or not one.is_dir(follow_symlinks=False)]
        yield from entries
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def place_of(name: str) -> str:
    """The place of a local file as evidence records it: its folder and its name, in the layout of the harness.

    So a row is the same from whichever folder it is published, and no path of a person's machine is published with it.
    """
    parts = [part for part in name.split("/") if part not in {"", "."}]  # a Path costs, for thousands
    return "/".join(parts[-2:] if len(parts) > 1 else Path(name).absolute().parts[-2:]).replace("//", "/")


def read_file(name: str, limit: int) -> bytes:
    """The first bytes of a file, at most so many. Raises CallError if it cannot be read."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)  # thousands of files are read, and file objects cost
        try:
            return os.read(descriptor, limit)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CallError(f"{name}: cannot be read: {error.strerror or error}") from None
