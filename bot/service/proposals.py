"""What a request at the source proposes: its result files, read one by one within a budget, and all else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.evaluation.discovery import Candidate, ListedFile, candidates_in, read_candidate
from bot.evaluation.formats import formats
from bot.evaluation.submission import Parsed
from bot.platforms.hub.source import HubSource
from bot.platforms.inputs import read_whole_files
from bot.platforms.patterns import is_wanted
from bot.platforms.source import Change
from bot.service import quotas
from bot.service.context import WatchContext
from bot.service.reading import is_named_as_result, unread_for_size
from bot.service.store import StoredSubmission, folder_of


@dataclass(frozen=True)
class SourceRequest:
    """The files of one request at its head.

    `files` are the submissions that were read. `unread` has, by the reason, the paths of those that were not.
    `deleted` and `replaced` are files of the main branch; `others` counts changed files that the watch does not select.
    `touched` are the submissions of the main branch that the request takes away or puts others in the place of.
    """

    head: str
    files: Sequence[StoredSubmission] = ()
    unread: Mapping[str, Sequence[str]] = field(default_factory=dict)
    deleted: Sequence[str] = ()
    replaced: Sequence[str] = ()
    others: int = 0
    touched: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it touches no result."""
        return not (self.files or self.unread or self.deleted or self.replaced)


@dataclass
class Budget:
    """What one request has cost so far; each method says why a file is beyond the budget, "" where it is not."""

    looked_at: int = 0
    results: int = 0
    size: int = 0
    values: int = 0

    def admit(self, size: int) -> str:
        """Whether a file of so many bytes may be read at all."""
        if self.results >= quotas.REVIEW_FILES:
            return f"a review judges {quotas.REVIEW_FILES} result files at most"
        if self.looked_at >= quotas.REVIEW_READS:
            return f"a review looks at {quotas.REVIEW_READS} files at most"
        if self.size + size > quotas.REVIEW_BYTES:
            return f"a review reads {quotas.REVIEW_BYTES // 2**20} MiB at most"
        self.looked_at, self.size = self.looked_at + 1, self.size + size
        return ""

    def keep(self, parsed: Parsed) -> str:
        """Whether what was read may be kept and judged."""
        found = parsed.result.leaves.values() if parsed.result else ()
        values = sum(max(1, len(leaf.numbers)) for leaf in found)
        if self.values + values > quotas.REVIEW_LEAVES:
            return f"a review judges {quotas.REVIEW_LEAVES:,} values at most"
        self.results, self.values = self.results + 1, self.values + values
        return ""


def read_proposal(context: WatchContext, source: HubSource, head: str, main: str) -> SourceRequest:
    """Read what a request changes against the commit at which it left the main branch."""
    found = source.changes(source.fork_point(head, main), head)
    changes = list({change.path: change for change in found}.values())  # a changed file is removed, then added
    wanted = [change for change in changes if is_wanted(change.path, context.watch.paths)]
    known = context.store.files_at(context.name, [change.path for change in wanted])
    news = [one for one in wanted if known.get(one.path) is None or known[one.path].oid != one.oid]
    unread: dict[str, list[str]] = {}
    files = list(_read(context, source, head, news, unread))
    return SourceRequest(
        head,
        files,
        unread,
        [one.path for one in news if one.oid is None and one.path in known],
        [one.path for one in news if one.oid is not None and one.path in known],
        len(changes) - len(wanted),
        frozenset(subject for one in news for subject in subjects_of(one.path)),
    )


def subjects_of(path: str) -> tuple[str, ...]:
    """The submissions to which a file may belong: itself, and its run's folder."""
    return (path, folder_of(path)) if path.rpartition("/")[2] in _members() else (path,)


def _members() -> set[str]:
    return {name for known in formats() for name in (*known.members, *known.optional, *known.beside)}


def _read(
    context: WatchContext, source: HubSource, head: str, changes: Sequence[Change], unread: dict[str, list[str]]
) -> Iterator[StoredSubmission]:
    """Read the results one after the other; of each only what judging needs is kept."""
    limit = context.watch.max_file_bytes
    budget, read = Budget(), read_whole_files(source, head, max_bytes=limit)
    for one in changes:
        if one.oid is not None and one.fault:
            unread.setdefault(one.fault, []).append(one.path)
    for candidate in _candidates(context, changes):
        found = unread_for_size(candidate, limit)
        why = budget.admit(0 if found else sum(file.size for file in candidate.files))
        if not why and found is None:
            content = read_candidate(candidate, read, is_named=is_named_as_result(candidate.path), max_bytes=limit)
            found = content if isinstance(content, Parsed) else None
        why = why or (budget.keep(found) if found else "")
        if why:
            unread.setdefault(why, []).append(candidate.path)
        elif found is not None:
            yield StoredSubmission(candidate.path, folder_of(candidate.path), None, "unread", head, head, None, found)


def _candidates(context: WatchContext, changes: Iterable[Change]) -> list[Candidate]:
    """The submissions as they would stand after the merge; a run's folder also has its files of the main branch."""
    changed = {one.path: one for one in changes if not one.fault}
    folders = {folder_of(path) for path in changed if path.rpartition("/")[2] in _members()}
    there = {
        path: ListedFile(path, file.size)
        for folder in folders
        for path, file in context.store.files_in(context.name, folder).items()
    }
    there |= {path: ListedFile(path, one.size) for path, one in changed.items()}
    listing = [file for path, file in there.items() if path not in changed or changed[path].oid is not None]
    found = candidates_in(listing)
    return [one for one in found if any(file.path in changed for file in one.files)]
