"""Read the sample logs beside results: on this machine, or from a source within a limit of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, dirname, relpath
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock
from typing import IO, TypeAlias

from msgspec.structs import replace

from bot.audits.samples.check import check_leaf
from bot.audits.samples.find import find_logs, folders_of_logs, logs_of
from bot.audits.samples.helm import STATES, STATISTICS
from bot.audits.samples.inline import write_logs
from bot.audits.samples.pairs import pairs_between
from bot.evaluation.compare import MeasuredRun, Paired
from bot.evaluation.discovery import ListedFile
from bot.evaluation.finding import in_units
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import CheckedSamples, Result
from bot.evaluation.submission import Parsed
from bot.platforms.inputs import Place
from bot.platforms.source import TooLarge
from bot.publishing.entry import Entry, EntrySamples

MOST_OF_PUSH = 1 << 30  # bytes of all logs that one batch of files may cost
Results: TypeAlias = Sequence[tuple[Place, Result]]


def with_local_samples(parsed: Parsed, path: Path) -> Parsed:
    """A submission on this machine with the findings of the sample logs beside it."""
    folder = path if path.is_dir() else path.parent.resolve()
    if parsed.result is None or not folder.is_dir():
        return parsed
    checked = [
        check_leaf(parsed.result, leaf, log, STATES if log == folder else relpath(log, folder))
        for leaf, log in find_logs(path, parsed.result).items()
    ]
    return replace(parsed, samples=tuple(one for one in checked if one is not None))


def with_samples(parsed: Iterable[Parsed], places: Iterable[Place], root: Path = Path()) -> list[Parsed]:
    """Submissions with the findings of the sample logs beside them: below `root` here, or in repositories."""
    by_name, beside = {place.name: place for place in places}, LogsBeside(root)
    return [beside.look(one, by_name[one.path]) for one in parsed]


@dataclass
class LogsBeside:
    """The sample logs beside places on this machine, below `root`, or in repositories, each of which is listed once.

    With `folder` the logs lie anywhere below that folder instead.
    """

    root: Path = Path()
    folder: Path | None = None
    _readers: dict[tuple[str, str], LogSamples] = field(default_factory=dict, repr=False)

    def look(self, parsed: Parsed, place: Place) -> Parsed:
        """The submission at a place with the findings of its sample logs."""
        if place.origin is None:
            return with_local_samples(parsed, self.root / place.candidate.path)
        return replace(self._reader(place).look(replace(parsed, path=place.path)), path=parsed.path)

    def pairs(self, sides: tuple[Results, Results], first: MeasuredRun, second: MeasuredRun) -> Paired:
        """The paired answers of two runs by task, from the logs beside the results that each was made from."""
        if not all(sides):
            return {}
        with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
            one, other = (
                {leaf: log for each in side for leaf, log in self._logs_or_own(*each, Path(scratch)).items()}
                for side in sides
            )
            return pairs_between(first, second, (one, other), sides[0][-1][1].format)

    def logs(self, place: Place, result: Result, scratch: Path) -> dict[str, Path]:
        """The logs of the result at a place by leaf; those of a repository are copied into a folder."""
        if place.origin is None or self.folder:
            return find_logs(self.root / place.candidate.path, result, self.folder)
        copies = self._reader(place).copies(result, place.path, scratch)
        return {leaf: copy for _, leaves, copy in copies if isinstance(copy, Path) for leaf in leaves}

    def _logs_or_own(self, place: Place, result: Result, scratch: Path) -> dict[str, Path]:
        """The logs of the result at a place by leaf, else the samples that it has in itself."""
        found = self.logs(place, result, scratch)
        if found or place.candidate.limit:
            return found
        content = place.read(place.candidate.files[0].path, place.max_bytes) or b""
        return write_logs(content, result, Path(mkdtemp(dir=scratch)))

    def _reader(self, place: Place) -> LogSamples:
        at = (place.source, place.commit)
        if at not in self._readers:
            assert place.origin is not None  # noqa: S101 - the callers asked
            self._readers[at] = LogSamples(place.origin.save, place.commit, _lister(place))
        return self._readers[at]


def _lister(place: Place) -> Callable[[str], Iterable[ListedFile]]:
    """What lists the files of a folder at the commit of a place."""
    known: dict[str, list[ListedFile]] = {}
    for one in place.origin.changes(None, place.commit) if place.origin is not None else ():
        known.setdefault(dirname(one.path), []).append(ListedFile(one.path, one.size))
    return lambda folder: known.get(folder, ())


@dataclass
class LogSamples:
    """Reads the sample logs beside results of a source at a commit, `left` bytes in all.

    `save` is that of the source, and `listing` gives the files of a folder by their paths in the source. What is not
    there yet is read at the commit `later`.
    """

    save: Callable[[str, str, int, IO[bytes]], bool]
    commit: str
    listing: Callable[[str], Iterable[ListedFile]]
    left: int = MOST_OF_PUSH
    later: str = ""
    _lock: Lock = field(default_factory=Lock, repr=False)

    def look(self, parsed: Parsed) -> Parsed:
        """The submission with the findings of the sample logs beside it."""
        if parsed.result is None:
            return parsed
        checked: list[CheckedSamples | None] = []
        with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
            for log, leaves, copy in self.copies(parsed.result, parsed.path, Path(scratch)):
                if isinstance(copy, str):
                    checked += [CheckedSamples(leaf, log, unreadable=copy) for leaf in leaves]
                else:
                    checked += [check_leaf(parsed.result, leaf, copy, log) for leaf in leaves]
                    rmtree(copy if copy.is_dir() else copy.parent)
        return replace(parsed, samples=tuple(one for one in checked if one is not None))

    def copies(self, result: Result, path: str, scratch: Path) -> Iterator[tuple[str, list[str], Path | str]]:
        """The logs of the result at a path: the name, the leaves, and a copy in a folder of its own in `scratch`.

        The name is the path from the folder of the result. Instead of a copy, why there is none.
        """
        is_run = result.format == "helm"
        folder = path if is_run else dirname(path)
        places = [path] if is_run else folders_of_logs(path)
        there = {file.path: file for place in dict.fromkeys(places) for file in self.listing(place)}
        states, statistics = (f"{path}/{name}".lstrip("/") for name in (STATES, STATISTICS))
        if result.format == "inspect":
            named = dict.fromkeys(result.leaves, path)
        elif is_run:
            named = dict.fromkeys(result.leaves, states) if states in there else {}
        else:
            named = logs_of(result, path, there)
        for log in dict.fromkeys(named.values()):
            files = [there[one] for one in ((log, statistics) if is_run else (log,)) if one in there]
            place = Path(mkdtemp(dir=scratch))
            leaves = [leaf for leaf in named if named[leaf] == log]
            why = self._copy_all(files, place, len(leaves))
            yield (
                relpath(log, folder or "."),
                leaves,
                why or (place if is_run else place / basename(log)),
            )

    def _copy_all(self, files: Sequence[ListedFile], place: Path, times: int) -> str:
        """Copy the files of a log that is read so many times into a folder; why they are not there, "" if they are."""
        size = sum(file.size for file in files) * times
        with self._lock:
            is_too_much = size > self.left
            self.left -= 0 if is_too_much else size
        if is_too_much:
            return f"{in_units(size)} are to be read of it; {in_units(MOST_OF_PUSH)} of logs are read at once"
        is_there = all(self._copy(file, place / basename(file.path)) for file in files)
        return "" if is_there else "it is gone, or larger than its listing says"

    def _copy(self, file: ListedFile, place: Path) -> bool:
        """Copy a file of the source to this machine, as it is at the commit or else later; "no" where it is not."""
        with place.open("wb+") as copy:
            try:
                commits = (self.commit, *([self.later] if self.later else []))
                return any(self.save(file.path, commit, max(file.size, 1), copy) for commit in commits)
            except TooLarge:
                return False


def as_recorded(parsed: Parsed, entry: Entry, declared: Leaderboard) -> Parsed:
    """A submission with what an entry records of its logs, for callers that do not read them again."""
    if parsed.result is None or not declared.asks_samples:
        return parsed
    logs: Mapping[str, EntrySamples] = {one.leaf: one for one in entry.samples}
    found: dict[str, CheckedSamples] = {}
    for one in take_measurements(parsed.result, declared, parsed.path).present:
        log, key = logs.get(one.required.leaf.id), one.required.value_key
        if log is None or not isinstance(one.raw, float):
            continue
        known = found.get(one.required.leaf_key)
        answers = ((key,) if log.shows == "rescored" else ()) + (known.answers if known else ())
        means = {**(known.means if known else {}), key: one.raw}
        found[one.required.leaf_key] = CheckedSamples(
            one.required.leaf_key,
            log.log,
            log.sha256,
            log.samples,
            log.documents,
            means,
            answers,
            mark=log.mark,
            prompts=log.prompts,
            scoring=log.scoring,
        )
    return replace(parsed, samples=tuple(found.values()))
