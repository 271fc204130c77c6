"""Read the evidence of a row: its files at their commits, what happened to them since, and the model it names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from posixpath import dirname, normpath
from shutil import copyfileobj
from typing import IO, Literal

from msgspec import structs
from msgspec.structs import replace

from bot.audits.samples.check import MAX_LOG
from bot.audits.samples.helm import STATISTICS
from bot.errors import BotError, CallError, Gone, Refused
from bot.evaluation.discovery import Candidate, ListedFile, read_candidate
from bot.evaluation.finding import file_of, grouped
from bot.evaluation.formats import formats, most_bytes
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.result import CheckedSamples, Result
from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.git.repository import find_layout, is_closed
from bot.platforms.git.source import GitSource
from bot.platforms.history import with_history
from bot.platforms.inputs import entries_below
from bot.platforms.platform import Opener
from bot.platforms.source import LastCommit, Source, TooLarge
from bot.platforms.target import Target
from bot.publishing.entry import Entry, Evidence, kept_path
from bot.service.judge.samples import LogSamples

FILES_ONE_BY_ONE = 20  # files of a source that are asked for one by one; more come over git with their history
MOST_SOURCES = 20  # that one row may name: each is asked for, also one that is another only in its spelling
KEPT_AT_ONCE = 200  # files that a target keeps for rows, which are read and in memory together
MOST_HISTORIES = 4  # on the disk at once: whoever wrote the board names the sources
COMMIT = re.compile(r"[0-9a-f]{40}")
UNREAD = "the files of this row cannot be read, so generation settings are not compared"
READ = ("hf://", "github://")  # addresses at which evidence is read; any other name is a label


class Unfounded(Exception):
    """The evidence of a row cannot be read, so that the row cannot be recomputed."""

    def __init__(self, outcome: Literal["evidence", "gone", "untraceable"], why: str) -> None:
        self.outcome: Literal["evidence", "gone", "untraceable"] = outcome
        super().__init__(why)


@dataclass
class Remote:
    """A source on the Hub or GitHub, the commit at its main branch, and the last commits of the wanted files there."""

    source: Source
    head: str = ""
    last: Mapping[str, LastCommit] = field(default_factory=dict)


@dataclass
class EvidenceReader:
    """Reads the files that rows name, each at its commit; a source is asked once for its head, and for many files.

    A file comes from one of the `folders` where it lies there with the SHA-256 that the row names, and else from the
    Hub or GitHub. No other folder is read, whatever a row says. A file of a source without commits comes from `target`,
    which keeps it.
    """

    opener: Opener
    folders: Sequence[Path] = ()
    target: Target | None = None
    forms: tuple[DeclaredForm, ...] = ()  # of the declaration of the row that is read now
    _wanted: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _remotes: dict[str, Remote] = field(default_factory=dict, repr=False)
    _heads: dict[str, str] = field(default_factory=dict, repr=False)
    _opened: dict[tuple[Path, str], list[GitSource | FolderFiles]] = field(default_factory=dict, repr=False)
    _names: dict[Path, Mapping[str, Sequence[Path]]] = field(default_factory=dict, repr=False)
    _digests: dict[tuple[FolderFiles, str, str, tuple[DeclaredForm, ...]], set[str]] = field(
        default_factory=dict, repr=False
    )
    _histories: int = 0
    _kept: list[str] = field(default_factory=list, repr=False)
    _kept_files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    _fetched: ExitStack = field(default_factory=ExitStack, repr=False)

    def expect(self, files: Iterable[Evidence]) -> None:
        """Learn which files will be read, so that each source is asked about many of them at once."""
        for file in files:
            self._kept += map(kept_path, (file.kept or {}).values())
            if not file.kept:
                self._wanted.setdefault(file.source, []).append(file_of(file.path))

    def close(self) -> None:
        """Remove what was fetched."""
        self._fetched.close()

    def _remote(self, name: str) -> Remote:
        """A source on the Hub or GitHub; with its whole history on the disk where very many files of it are wanted."""
        if name not in self._remotes:
            paths = list(dict.fromkeys(self._wanted.get(name, [])))
            source = self.opener.source(name)
            if len(paths) > FILES_ONE_BY_ONE and self._histories < MOST_HISTORIES:
                self._histories += 1
                source = self._fetched.enter_context(with_history(name, self.opener))
            self._remotes[name] = remote = Remote(source)
            with suppress(BotError):  # whoever reads a file of it hears why it cannot be asked
                head = source.head()
                remote.last = source.touched(paths, head)
                remote.head = head
        return self._remotes[name]

    def read(self, file: Evidence) -> tuple[Parsed, float | None]:
        """A submission as it stands at its commit, and when that was committed, in Unix seconds.

        Raises Unfounded if it is not there, or is not what the row names.
        """
        if file.kept:
            return self._read_kept(file, file.kept), None
        if (file.source or file.commit) and not COMMIT.fullmatch(file.commit):
            raise Unfounded("untraceable", f"{file.path} names no whole commit id of {file.source or 'its repository'}")
        found, why = self._in_folders(file)
        if found is None and not file.source.startswith(READ):
            raise why or Unfounded("untraceable", _no_folder(file, self.folders))
        try:
            parsed, last = self._read_at(found, file)
        except Gone as error:
            raise Unfounded("gone", f"{_gone(file)}: {error}") from None
        except CallError as error:  # such an address is nobody's, and asking again brings nothing
            raise Unfounded("untraceable", str(error)) from None
        if parsed.sha256 != file.sha256:
            raise _other_bytes(file)
        return parsed, last.date if last else None

    def _read_kept(self, file: Evidence, kept: Mapping[str, str]) -> Parsed:
        """A submission from the files that the target keeps for it."""
        paths = {path: kept_path(digest) for path, digest in kept.items()}
        missing = [path for path in paths.values() if path not in self._kept_files]
        if missing and self.target is not None:  # those of the rows that follow come along
            start = self._kept.index(missing[0]) if missing[0] in self._kept else 0
            self._kept_files = self.target.read_files({*missing, *self._kept[start : start + KEPT_AT_ONCE]})
        contents = {path: self._kept_files[where] for path, where in paths.items() if where in self._kept_files}
        if contents.keys() != paths.keys():
            lost = next(where for path, where in paths.items() if path not in contents)
            at = f" from {self.target.name}" if self.target is not None else ""
            raise Unfounded("gone", f"{lost}, which is kept for {file.path}, is gone{at}")
        for path, data in contents.items():
            if hashlib.sha256(data).hexdigest() != kept[path]:
                raise Unfounded("evidence", f"{paths[path]} is not the file that its name says: its SHA-256 differs")
        parsed = _read(KeptFiles(contents), file, self.forms)
        if parsed.sha256 != file.sha256:
            raise _other_bytes(file)
        return parsed

    def _read_at(self, found: GitSource | FolderFiles | None, file: Evidence) -> tuple[Parsed, LastCommit | None]:
        """A submission from a folder, or else from its own source, and the commit that last touched it there."""
        if isinstance(found, FolderFiles):
            return _read(found, file, self.forms), None
        remote, path = Remote(found) if found else self._remote(file.source), file_of(file.path)
        parsed, last = _read(remote.source, file, self.forms), remote.last.get(path)
        if last is None or last.oid != file.commit:
            if not remote.source.contains(remote.head or remote.source.head(), file.commit):
                # Anybody may put files into a request or a fork.
                where = f"{file.commit[:12]} of {file.source}"
                why = f"{where} is not in the history of its main branch: nobody has accepted it there"
                raise Unfounded("untraceable", f"{file.path}: {why}")
            last = remote.source.touched([path], file.commit).get(path)
        return parsed, last

    def results(self, entry: Entry) -> tuple[dict[str, Result], str]:
        """The results that a row was made from, by path; or none, and why. Call `expect` before."""
        try:
            refuse_many_sources(entry)
            read = {file.path: self.read(file)[0].result for file in entry.evidence}
        except (BotError, Unfounded) as failure:
            return {}, str(failure)
        return {path: result for path, result in read.items() if result is not None}, ""

    def with_samples(self, parsed: Parsed, file: Evidence, entry: Entry) -> Parsed:
        """A submission with what the sample logs of a row show, at the commit of the file or, where later, at the head.

        Raises Unfounded for a log that is gone, or is not the one that the row names.
        """
        found, _ = self._in_folders(file)
        source = found or self.opener.source(file.source)
        folder = file.path if file.format == "helm" else file.path.rpartition("/")[0]
        logs = {_beside(folder, one.log): one for one in entry.samples}
        names = [*logs, f"{folder}/{STATISTICS}".lstrip("/")] if file.format == "helm" else list(logs)
        listed = [ListedFile(path, MAX_LOG) for path in names]
        later = "" if isinstance(source, FolderFiles) else source.head()

        def beside(folder: str) -> Iterator[ListedFile]:
            return (one for one in listed if dirname(one.path) == folder)

        named: dict[str, CheckedSamples] = {}
        for commit in (file.commit, later):  # a log may be edited after the result
            looked = LogSamples(source.save, commit, beside, 1 << 62, later).look(parsed)
            samples = looked.samples or ()
            named |= {one.leaf: one for one in samples if one.sha256 == logs[_beside(folder, one.path)].sha256}
            if all(one.leaf in named for one in samples):
                return replace(looked, samples=tuple(named[one.leaf] for one in samples))
        other = next(one.path for one in samples if one.leaf not in named)
        raise Unfounded("evidence", f"{other} is not the sample log that the row names: its SHA-256 differs")

    def since(self, file: Evidence) -> str:
        """What happened to a file after the row was made; "" if nothing did, or if the service does not answer."""
        if file.kept:
            return f"{file.path} was read as the board keeps it: that it lay in {file.source} is the row's own word"
        with suppress(BotError):
            found, _ = self._in_folders(file)
            if isinstance(found, FolderFiles):
                return f"that {file.path} is of commit {file.commit[:12]} is the row's own word" if file.commit else ""
            if found is None and not file.source.startswith(READ):
                return ""
            if found is None:
                return _moved_on(self._remote(file.source), file, self.forms)
            if file.source not in self._heads:
                self._heads[file.source] = found.head()
            head = self._heads[file.source]
            is_last = head == file.commit
            last = {} if is_last else found.touched([file_of(file.path)], head)
            return _moved_on(Remote(found, head, last), file, self.forms)
        return ""

    def _in_folders(self, file: Evidence) -> tuple[GitSource | FolderFiles | None, Unfounded | None]:
        """The folder of `folders` that holds the very file that a row names; else why no file found there is it."""
        why: Unfounded | None = None
        for folder in self.folders:
            lost: set[Path] = set()  # repositories without the commit: what lies there proves nothing about it
            for source in self._sources(folder, file.source):
                is_known = bool(file.commit) and isinstance(source, GitSource) and source.knows(file.commit)
                if isinstance(source, GitSource) and not is_known:
                    if file.commit:
                        lost.add(source.folder)
                        why = why or _no_commit(file, source.folder, is_source=source.folder != folder)
                    continue
                if source.folder in lost:
                    continue
                try:
                    if _read(source, file, self.forms).sha256 == file.sha256:
                        return source, None
                    found = _other_bytes(file)
                except Unfounded as unfounded:
                    found = unfounded
                if is_known:
                    return None, found  # this is the commit that the row names
                why = why or (found if found.outcome == "evidence" else None)
            if (further := self._further_below(folder, file)) is not None:
                return further, None
        return None, why

    def _further_below(self, folder: Path, file: Evidence) -> FolderFiles | None:
        """A folder anywhere below that has a file at its path: a row names a folder only by its last part."""
        if file.commit or file.path.startswith("/"):  # a repository without the commit proves nothing
            return None
        if folder not in self._names:
            below = sorted(one.path for one in entries_below(str(folder), {".git"}, is_strict=False))
            self._names[folder] = grouped((one.name, one) for one in map(Path, below))
        parts = Path(file_of(file.path)).parts
        for found in self._names[folder].get(parts[-1] if parts else "", ()):
            if found.parts[-len(parts) :] != parts:
                continue
            source = FolderFiles(found.parents[len(parts) - 1], folder)
            place = source, file.path, file.format, self.forms
            if place not in self._digests:  # many rows may name one path, and many folders may have it
                self._digests[place] = set()
                with suppress(Unfounded):  # another file of this name
                    self._digests[place] = {one.sha256 for one in _read_parts(source, file, self.forms)}
            if file.sha256 in self._digests[place]:
                return source
        return None

    def _sources(self, folder: Path, name: str) -> list[GitSource | FolderFiles]:
        """The folders that may be the source of this name: the one below that has the name, and the folder itself."""
        if (folder, name) not in self._opened:
            below = _below(folder, name)
            places = [below, folder] if below is not None and below.is_dir() and below != folder else [folder]
            found: list[GitSource | FolderFiles] = []
            for place in places:
                layout = find_layout(place)
                if layout is not None and is_closed(layout, folder):
                    found.append(GitSource(place, name))
                found.append(FolderFiles(place, folder))
            self._opened[folder, name] = found
        return self._opened[folder, name]


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder as they lie on the disk, none of them outside `within`; there are no commits."""

    folder: Path
    within: Path

    def read(self, path: str, commit: str, limit: int) -> bytes | None:
        """A file's bytes; None if it is not there, or leads out of the folder. Raises TooLarge past the limit."""
        body = BytesIO()
        return body.getvalue() if self.save(path, commit, limit, body) else None

    def save(self, path: str, commit: str, limit: int, file: IO[bytes]) -> bool:
        """Write a file's bytes to an open one, as `read` gives them; False if it is not there."""
        del commit
        place = _below(self.folder, path)
        try:
            if place is None or not place.resolve().is_relative_to(self.within.resolve()) or not place.is_file():
                return False
            if place.stat().st_size > limit:
                raise TooLarge(f"more than {limit:,} bytes")
            with place.open("rb") as found:
                copyfileobj(found, file)
        except (OSError, ValueError):
            return False
        return True


@dataclass(frozen=True)
class KeptFiles:
    """The files that a target keeps for one submission, by their paths in its source."""

    contents: Mapping[str, bytes]

    def read(self, path: str, commit: str, limit: int) -> bytes | None:
        """A file's bytes; None if it is not kept. Raises TooLarge past the limit."""
        del commit
        data = self.contents.get(path)
        if data is not None and len(data) > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        return data


def refuse_many_sources(entry: Entry) -> None:
    """Raise Unfounded for a row that names more sources than any row is made from, before one of them is asked."""
    count = len({file.source for file in entry.evidence})
    if count > MOST_SOURCES:
        raise Unfounded("untraceable", f"it names files of {count:,} sources; those of {MOST_SOURCES} are read")


def _beside(folder: str, log: str) -> str:
    """The path of a log that is given from the folder of its result."""
    return normpath(f"{folder or '.'}/{log}")


def _below(folder: Path, name: str) -> Path | None:
    """The path of a relative name below a folder; None for an absolute one, or one that leads out of the folder."""
    parts = name.split("/")
    if not name or name.startswith("/") or ".." in parts or "\0" in name or ":" in parts[0]:
        return None
    try:
        place = folder / name
        return place if place.exists() and place.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, ValueError):
        return None


def _no_folder(file: Evidence, folders: Sequence[Path]) -> str:
    where = f"of {file.source!r}" if file.source else "of a machine"
    if folders:
        first = file.path.partition("/")[0]
        return (
            f"there is no {file.path} {where} in {', '.join(map(str, folders))}: "
            f"name with --sources the folder in which {first} lies"
        )
    return f"{file.path} {where} is no file of the Hub or GitHub: name the folder that holds it with --sources DIR"


def _no_commit(file: Evidence, folder: Path, *, is_source: bool) -> Unfounded:
    if is_source:
        return Unfounded("gone", _gone(file))
    where = f"{folder} is a git repository without the commit {file.commit[:12]} of {file.source!r}"
    return Unfounded("untraceable", f"{where}: name the folder that has it with --sources DIR")


def _other_bytes(file: Evidence) -> Unfounded:
    where = f" at {file.commit[:12]}" if file.commit else ""
    return Unfounded("evidence", f"{file.path}{where} is not the file that the row names: its SHA-256 differs")


def _gone(file: Evidence) -> str:
    return f"{file.path} is gone from {file.source} at {file.commit[:12]}"


def _moved_on(remote: Remote, file: Evidence, forms: tuple[DeclaredForm, ...]) -> str:
    source, head, last = remote.source, remote.head, remote.last.get(file_of(file.path))
    if head in {"", file.commit} or (last is not None and last.oid == file.commit):
        return ""
    now = f"by {head[:12]} of {file.source}"
    try:
        is_same = _read(source, replace(file, commit=head), forms).sha256 == file.sha256
    except Unfounded as unfounded:
        was = "removed" if unfounded.outcome == "gone" else "replaced by something else"
        return f"{file.path} was {was} {now}"
    return "" if is_same else f"{file.path} was edited {now}"


def _read(source: Source | FolderFiles | KeptFiles, file: Evidence, forms: tuple[DeclaredForm, ...]) -> Parsed:
    """Read the submission that evidence names: one file, one of several in it, or the files of a run's folder."""
    parts = _read_parts(source, file, forms)
    own = next((one for one in parts if one.sha256 == file.sha256), parts[0])  # it may have moved in the file
    return structs.replace(own, path=file.path)


def _read_parts(
    source: Source | FolderFiles | KeptFiles, file: Evidence, forms: tuple[DeclaredForm, ...]
) -> list[Parsed]:
    """Read all submissions in the file that evidence names, whichever of them it names."""
    path = file.path
    data = _bytes(source, file, path)
    if data is None and path != file_of(path):
        path = file_of(path)
        data = _bytes(source, file, path)
    names = [path] if data is not None else []
    limit = 0
    for known in formats() if data is None else ():
        if known.id == file.format and known.members:
            names, limit = [f"{file.path}/{name}" for name in (*known.members, *known.optional)], known.max_bytes
    contents = {name: found for name in names if (found := _bytes(source, file, name)) is not None}
    if not contents:
        raise Unfounded("gone", _gone(file))
    listed = tuple(ListedFile(name, len(found)) for name, found in contents.items())
    candidate = Candidate(path, listed, limit=limit, forms=forms)
    read = read_candidate(candidate, lambda path, limit: contents[path][:limit], is_named=True)
    if isinstance(read, UnreadPath):
        raise Unfounded("evidence", f"{file.path} is not a result: {read.why}")
    return read.parts


def _bytes(source: Source | FolderFiles | KeptFiles, file: Evidence, path: str) -> bytes | None:
    try:
        return source.read(path, file.commit, most_bytes(path))
    except TooLarge:
        raise Unfounded("evidence", f"{path} is too large to read") from None


@dataclass(frozen=True, slots=True)
class ModelState:
    """What the Hub has of a model: `said` is a sentence about it, "" if there is nothing to say."""

    said: str = ""
    is_gone: bool = False


def model_state(opener: Opener, model: str, revision: str) -> ModelState:
    """What the Hub has of a model at a revision. Raises Unavailable if it cannot be asked."""
    if not COMMIT.fullmatch(revision):
        return ModelState("the row names no commit of the model")
    try:
        source = opener.source(f"hf://models/{model}")
    except CallError:
        return ModelState("the model's name is not a Hub id")
    try:
        if not source.knows(revision):
            return ModelState(f"{model} is on the Hub, but its revision {revision[:12]} is not", is_gone=True)
        head = source.head()
    except Refused:
        return ModelState("the model is not on the Hub, or this token may not see it")
    return ModelState() if head == revision else ModelState(f"the model's main branch has moved on to {head[:12]}")
