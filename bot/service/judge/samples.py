"""Look at the sample logs beside results: on this machine as they lie there, from a source within a limit of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from msgspec.structs import replace

from bot.audits.samples.check import STATES, STATISTICS, check_leaf, find_logs, logs_of
from bot.evaluation.discovery import ListedFile
from bot.evaluation.finding import in_units
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import CheckedSamples, Result
from bot.evaluation.submission import Parsed
from bot.platforms.inputs import Place
from bot.platforms.source import Source, TooLarge, is_wanted
from bot.publishing.entry import Entry, EntrySamples

MOST_OF_PUSH = 1_000_000_000  # bytes of all logs that one batch of files may cost
PATTERNS = ("**/samples_*.jsonl", "**/samples_*.jsonl.gz", "**/details_*.parquet")


def asks_samples(leaderboard: Leaderboard) -> bool:
    """Tell whether a leaderboard looks at sample logs."""
    return leaderboard.evidence.samples != "ignored"


def is_sample_log(path: str) -> bool:
    """Tell whether a file has the name of a sample log."""
    return is_wanted(path, PATTERNS)


def with_local_samples(parsed: Parsed, path: Path) -> Parsed:
    """A submission on this machine with what the logs beside it show."""
    folder = path if path.is_dir() else path.parent
    if parsed.result is None or not folder.is_dir():
        return parsed
    logs = find_logs(path, parsed.result)
    names = {leaf: str(log.relative_to(folder)) if log != folder else STATES for leaf, log in logs.items()}
    checked = [check_leaf(parsed.result, leaf, log, names[leaf]) for leaf, log in logs.items()]
    return replace(parsed, samples=tuple(one for one in checked if one is not None))


def with_samples(parsed: Iterable[Parsed], places: Iterable[Place], root: Path = Path()) -> list[Parsed]:
    """Submissions with what the logs beside them show: of places below `root` on this machine, and of repositories."""
    by_name = {place.name: place for place in places}
    readers: dict[str, LogSamples] = {}
    found = []
    for one in parsed:
        place = by_name[one.path]
        if place.origin is None:
            found.append(with_local_samples(one, root / place.candidate.path))
            continue
        reader = readers.get(place.source) or LogSamples(place.origin, place.commit, _lister(place))
        readers[place.source] = reader
        looked = reader.look(replace(one, path=place.path))
        found.append(replace(looked, path=one.path))
    return found


def _lister(place: Place) -> Callable[[str], Iterable[ListedFile]]:
    """What lists the files of a folder at the commit of a place."""
    source, commit = place.origin, place.commit
    known = {} if source is None else {one.path: one.size for one in source.changes(None, commit)}

    def listing(folder: str) -> Iterator[ListedFile]:
        return (
            ListedFile(path, size) for path, size in known.items() if path.startswith(f"{folder}/" if folder else "")
        )

    return listing


@dataclass
class LogSamples:
    """Reads the sample logs beside results of a source at a commit, `left` bytes in all.

    `listing` gives the files of a folder and below it, by their paths in the source. What is not there yet is read at
    the commit `later`.
    """

    source: Source
    commit: str
    listing: Callable[[str], Iterable[ListedFile]]
    left: int = MOST_OF_PUSH
    later: str = ""
    _lock: Lock = field(default_factory=Lock, repr=False)

    def look(self, parsed: Parsed) -> Parsed:
        """The submission with what the logs beside it show."""
        if parsed.result is None:
            return parsed
        is_run = parsed.result.format == "helm"
        folder, _, name = parsed.path.rpartition("/")
        folder = parsed.path if is_run else folder
        below = {file.path.removeprefix(f"{folder}/" if folder else ""): file for file in self.listing(folder)}
        if is_run:
            named = dict.fromkeys(parsed.result.leaves, STATES) if STATES in below else {}
        else:
            named = logs_of(parsed.result, name, below)
        wanted = {
            log: [below[one] for one in ((log, STATISTICS) if is_run else (log,)) if one in below]
            for log in named.values()
        }
        with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
            checked = [
                one
                for number, (log, files) in enumerate(wanted.items())
                for one in self._check(
                    parsed.result,
                    log,
                    files,
                    [leaf for leaf in named if named[leaf] == log],
                    Path(scratch) / str(number),
                )
            ]
        return replace(parsed, samples=tuple(checked))

    def _check(
        self, result: Result, log: str, files: list[ListedFile], leaves: list[str], place: Path
    ) -> Iterable[CheckedSamples]:
        """Check the leaves of one log."""
        size = sum(file.size for file in files)
        with self._lock:
            is_too_much = size > self.left
            self.left -= 0 if is_too_much else size
        if is_too_much:
            why = f"has {in_units(size)}; {in_units(MOST_OF_PUSH)} of logs are read at once"
            return [CheckedSamples(leaf, log, unreadable=why) for leaf in leaves]
        place.mkdir()
        if not all(self._copy(file, place / file.path.rpartition("/")[2]) for file in files):
            why = "it is gone, or larger than its listing says"
            return [CheckedSamples(leaf, log, unreadable=why) for leaf in leaves]
        local = place if log == STATES else place / log.rpartition("/")[2]
        found = [one for leaf in leaves if (one := check_leaf(result, leaf, local, log)) is not None]
        for copied in place.iterdir():
            copied.unlink()
        return found

    def _copy(self, file: ListedFile, place: Path) -> bool:
        """Copy a file of the source to this machine, as it is at the commit or else later; "no" where it is not."""
        with place.open("wb+") as copy:
            try:
                commits = (one for one in (self.commit, self.later) if one)
                return any(self.source.save(file.path, commit, max(file.size, 1), copy) for commit in commits)
            except TooLarge:
                return False


def as_recorded(parsed: Parsed, entry: Entry, declared: Leaderboard) -> Parsed:
    """A submission with what an entry says of its logs, for whoever does not read them again."""
    if parsed.result is None or not asks_samples(declared):
        return parsed
    logs: Mapping[str, EntrySamples] = {one.leaf: one for one in entry.samples}
    found: dict[str, CheckedSamples] = {}
    for one in take_measurements(parsed.result, declared, parsed.path).present:
        log, key = logs.get(one.required.leaf_id), one.required.value_key
        if log is None or not isinstance(one.raw, float):
            continue
        known = found.get(one.required.leaf_key)
        answers = ((key,) if log.recomputed == "answers" else ()) + (known.answers if known else ())
        means = {**(known.means if known else {}), key: one.raw}
        found[one.required.leaf_key] = CheckedSamples(
            one.required.leaf_key, log.log, log.sha256, log.samples, log.documents, means, answers
        )
    return replace(parsed, samples=tuple(found.values()))
