"""Read what a request at the source changes: its result files, within a budget, and how many others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from bot.audits.samples.find import folders_of_results
from bot.evaluation.discovery import Candidate, ListedFile, candidates_in
from bot.evaluation.formats import formats
from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.discussions import ReviewedSource
from bot.platforms.source import Change, is_wanted, read_whole_files
from bot.service.context import WatchContext
from bot.service.judge.reading import read_pushed, unread_for_size
from bot.service.judge.samples import LogSamples
from bot.service.store.sources import IndexedFile, StoredSubmission, folder_of
from bot.service.watch.observe import forms_digest, is_sample_log, patterns_of

# Limits of one review, whoever opened the request.
REVIEW_FILES = 50  # result files of one request that are judged
REVIEW_READS = 200  # files of one request that are looked at, those that turn out to be no results among them
REVIEW_BYTES = 64 * 1024 * 1024  # of those files together
REVIEW_LEAVES = 20_000  # values that those files bring together


@dataclass(frozen=True)
class SourceRequest:
    """The files of one request at its head.

    `files` are the submissions that were read. `unread` has, by the reason, the paths of those that were not.
    `deleted` and `replaced` are files of the main branch; `others` counts changed files that the watch does not select.
    `touched` are the submissions of the main branch that the request deletes or replaces.
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
        """Tell whether it touches no result."""
        return not (self.files or self.unread or self.deleted or self.replaced)


class CachedContent(msgspec.Struct, frozen=True):
    """The outcome of reading one submission of a request: its bytes, "" if it is no result or is not kept.

    `values` is how many values it brings.
    """

    values: int = 0
    data: bytes = b""


class CachedProposal(msgspec.Struct):
    """What was read of a request at one head, so that looking again costs no request.

    `changes` are those that the watch selects, `others` counts the rest. Both are void if `head` is another, or if main
    no longer has the files `there`: the request's commits may have come to main in another way. `contents` has what was
    read, by path and object ids.
    """

    head: str = ""
    there: dict[str, str] = {}
    changes: list[Change] = []
    others: int = 0
    contents: dict[str, CachedContent] = {}

    def to_bytes(self) -> bytes:
        """The bytes to be stored."""
        return msgspec.msgpack.encode(self)


def parse_cached(data: bytes | None) -> CachedProposal:
    """Decode the bytes of `to_bytes`; nothing if they are from another version."""
    try:
        return msgspec.msgpack.decode(data or b"", type=CachedProposal)
    except msgspec.DecodeError:
        return CachedProposal()


@dataclass
class Budget:
    """What reading one request has cost; each method says why a file is beyond the budget, "" if it is not."""

    looked_at: int = 0
    results: int = 0
    size: int = 0
    values: int = 0

    def admit(self, size: int) -> str:
        """Count a file of so many bytes, if it may be read."""
        if self.results >= REVIEW_FILES:
            return f"a review judges {REVIEW_FILES} result files at most"
        if self.looked_at >= REVIEW_READS:
            return f"a review looks at {REVIEW_READS} files at most"
        if self.size + size > REVIEW_BYTES:
            return f"a review reads {REVIEW_BYTES // 2**20} MiB at most"
        self.looked_at, self.size = self.looked_at + 1, self.size + size
        return ""

    def keep(self, values: int) -> str:
        """Count a result with so many values, if it may be judged."""
        if self.values + values > REVIEW_LEAVES:
            return f"a review judges {REVIEW_LEAVES:,} values at most"
        self.results, self.values = self.results + 1, self.values + values
        return ""


def read_proposal(
    context: WatchContext, source: ReviewedSource, head: str, main: str, kept: CachedProposal
) -> SourceRequest:
    """Read what a request changes against the commit at which it left the main branch.

    What `kept` has is not requested again; `kept` is updated.
    """
    if kept.head != head or kept.there != _oids_on_main(context, kept.changes):
        found = source.changes(source.fork_point(head, main), head)
        changes = list({change.path: change for change in found}.values())  # a changed file is removed, then added
        kept.changes = [change for change in changes if is_wanted(change.path, patterns_of(context))]
        kept.head, kept.others, kept.contents = head, len(changes) - len(kept.changes), {}
        kept.there = _oids_on_main(context, kept.changes)
    there = kept.there
    news = [one for one in kept.changes if there.get(one.path) != one.oid]
    unread: dict[str, list[str]] = {}
    files = list(_read(context, source, kept, news, unread))
    old = [one for one in news if one.path in there and not is_sample_log(one.path)]
    return SourceRequest(
        head,
        files,
        unread,
        [one.path for one in old if one.oid is None],
        [one.path for one in old if one.oid is not None],
        kept.others,
        frozenset(subject for one in news for subject in subjects_of(one.path)) | {one.path for one in files},
    )


def _oids_on_main(context: WatchContext, changes: Iterable[Change]) -> dict[str, str]:
    """The object ids that main has at the paths of these changes."""
    return {path: file.oid for path, file in context.state.files.at([one.path for one in changes]).items()}


def subjects_of(path: str) -> tuple[str, ...]:
    """The submissions to which a file may belong: itself, and its run's folder."""
    return (path, folder_of(path)) if path.rpartition("/")[2] in _members() else (path,)


def _members() -> set[str]:
    return {name for known in formats() for name in (*known.members, *known.optional, *known.beside)}


def _read(
    context: WatchContext,
    source: ReviewedSource,
    kept: CachedProposal,
    changes: Sequence[Change],
    unread: dict[str, list[str]],
) -> Iterator[StoredSubmission]:
    """Read the results one after the other, and keep of each only what judging needs."""
    limit, head = context.watch.max_file_bytes, kept.head
    budget, read = Budget(), read_whole_files(source, head, max_bytes=limit)
    logs = LogSamples(source.save, head, _listing(context, changes)) if context.leaderboard.asks_samples else None
    for one in changes:
        if one.oid is not None and one.fault:
            unread.setdefault(one.fault, []).append(one.path)
    for candidate, name in _candidates(context, changes):
        found = unread_for_size(candidate, limit)
        why = budget.admit(0 if found else sum(file.size for file in candidate.files))
        if not why and found is None:
            if name not in kept.contents:
                content = read_pushed(candidate, read, limit)
                content = logs.look(content) if logs is not None and isinstance(content, Parsed) else content
                kept.contents[name] = _cached_content(content)
            why, found = _admitted(budget, kept.contents[name])
        if why:
            unread.setdefault(why, []).append(candidate.path)
        elif found is not None:
            for part in found.parts:
                yield StoredSubmission(part.path, None, "unread", head, head, None, part)


def _cached_content(content: Parsed | UnreadPath) -> CachedContent:
    if not isinstance(content, Parsed):
        return CachedContent()
    leaves = [leaf for part in content.parts if part.result for leaf in part.result.leaves.values()]
    values = sum(max(1, len(leaf.numbers)) for leaf in leaves)
    return CachedContent(values, content.to_bytes() if values <= REVIEW_LEAVES else b"")


def _admitted(budget: Budget, content: CachedContent) -> tuple[str, Parsed | None]:
    """Why a content is beyond the budget, or the content itself."""
    if not content.data and not content.values:
        return "", None
    why = budget.keep(content.values)
    return why, None if why else Parsed.from_bytes(content.data)


def _listing(context: WatchContext, changes: Iterable[Change]) -> Callable[[str], Iterable[ListedFile]]:
    """What lists the files of a folder as they would stand after the merge."""
    changed = {one.path: one for one in changes if not one.fault}

    def listing(folder: str) -> Iterator[ListedFile]:
        there = context.state.files.in_folder(folder)
        yield from (ListedFile(file.path, file.size) for path, file in there.items() if path not in changed)
        for path, one in changed.items():
            if one.oid is not None and folder_of(path) == folder:
                yield ListedFile(path, one.size)

    return listing


def _candidates(context: WatchContext, changes: Iterable[Change]) -> list[tuple[Candidate, str]]:
    """The submissions as they would stand after the merge, each with the name of its contents.

    A run's folder also has its files of the main branch; where a sample log changes, the results beside it count.
    """
    changed = {one.path: one for one in changes if not one.fault}
    with_logs = {folder for path in changed if is_sample_log(path) for folder in folders_of_results(path)}
    folders = {folder_of(path) for path in changed if path.rpartition("/")[2] in _members()} | with_logs
    there = {path: file for folder in folders for path, file in context.state.files.in_folder(folder).items()}
    there |= {path: IndexedFile(path, one.oid or "", one.size) for path, one in changed.items()}
    listing = [file for path, file in there.items() if path not in changed or changed[path].oid is not None]
    files = (ListedFile(file.path, file.size) for file in listing if not is_sample_log(file.path))
    found = candidates_in(files, context.leaderboard.formats)
    touched = [
        one for one in found if any(file.path in changed or folder_of(file.path) in with_logs for file in one.files)
    ]
    forms = forms_digest(context.leaderboard)
    return [(one, " ".join([one.path, *(there[file.path].oid for file in one.files)]) + forms) for one in touched]
