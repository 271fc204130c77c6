"""Observing a source: what changed since the remembered commit becomes items, together with the new cursor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence

from bot.audits.samples.find import SAMPLE_LOGS, folders_of_logs, folders_of_results
from bot.evaluation.discovery import Candidate, ListedFile, candidates_in, is_of_a_run
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.submission import Parsed, Problem
from bot.platforms.source import Change, is_wanted
from bot.service.context import WatchContext
from bot.service.settings.config import WatchTarget
from bot.service.store.database import batches
from bot.service.store.items import Cause, Mark, marks
from bot.service.store.memory import DISCUSSION, SOURCE, TARGET, SourceRead
from bot.service.store.sources import IndexedFile, StoredSubmission, folder_of

LISTED = 1000  # files that are recorded in one transaction
MANY_CHANGES = 500  # files that change at once beyond which nobody waits for each of them


def observe(context: WatchContext) -> list[StoredSubmission]:
    """Record what changed at the source: index and items together, and the cursor when everything is recorded.

    Gives the new files that cannot even be requested, such as one whose name is not UTF-8. The cursor moves when the
    change is recorded, whether or not publishing succeeds later. Where other files are selected, everything is listed
    and compared with the index. Where the remembered commit is gone, any other commit that texts name may be gone too:
    all files are read again.
    """
    state, source = context.state, context.source
    known, head = state.recall(SOURCE), source.head()
    old = None if known is None else known.commit
    now = SourceRead(head, selection_of(context), context.definition(), forms_digest(context.leaderboard))
    is_selected = known is not None and known.selection == now.selection
    is_rewritten = source.has_commits and old is not None and old != head and not source.knows(old)
    if is_rewritten:
        state.forget_contents()
        _forget_talk(context)
    if is_rewritten or not is_selected or (old != head and not source.has_commits):
        old = None
    if not state.files.any():
        old = None  # an empty listing is no proof that there is nothing: the source is listed until it has something
    changes: Sequence[Change] = []
    faulty: list[StoredSubmission] = []
    if old is None:
        cause: Cause = "lost" if known is None else "push"
        changes, faulty = _record_everything(context, head, cause)
    elif old != head:
        changes = _new(context, list(_wanted(source.changes(old, head), patterns_of(context))))
    with state.transaction():
        faulty += _record(context, changes)
        if known is None:
            context.mark(_lost(context))
        elif known.definition != now.definition:  # everything is judged again
            context.mark([Mark("judge")])
        if known is not None and known.forms != now.forms:  # every file is read again
            context.mark(marks("file", sorted(state.files.paths()), cause="bulk"))
        _mark_targets(context, is_first=known is None)
        state.remember(SOURCE, now)
    return faulty


def _forget_talk(context: WatchContext) -> None:
    """Forget which discussions are ours: where the repository was made again, the numbers are those of others."""
    if context.discussions is not None:
        context.discussions.known.clear()
    for number in context.state.recall_all(DISCUSSION):
        context.state.remember(DISCUSSION, None, number)


def selection_of(context: WatchContext) -> str:
    """What is remembered of the files that the settings select: where it changes, all files are listed again."""
    return repr((context.watch.source, sorted(patterns_of(context))))


def patterns_of(context: WatchContext) -> Sequence[str]:
    """The patterns of the files that matter: those of the settings, and sample logs where the leaderboard asks."""
    return [*context.watch.paths, *(SAMPLE_LOGS if context.leaderboard.asks_samples else ())]


def is_sample_log(path: str) -> bool:
    """Tell whether a file has the name of a sample log."""
    return is_wanted(path, SAMPLE_LOGS)


def _record_everything(context: WatchContext, head: str, cause: Cause) -> tuple[list[Change], list[StoredSubmission]]:
    """Record all files of a commit, part by part, so that memory does not grow with them.

    Gives what is gone, and the new files that cannot be requested. Each part is recorded together with its items. A
    listing that breaks off begins again, and knows by then what it recorded.
    """
    gone, faulty = context.state.files.paths(), list[StoredSubmission]()
    for some in batches(_wanted(context.source.changes(None, head), patterns_of(context)), LISTED):
        gone -= {change.path for change in some}
        new = _new(context, some)
        cause = "bulk" if cause == "push" and len(new) > MANY_CHANGES else cause
        with context.state.transaction():
            faulty += _record(context, new, cause)
    return [Change(path, None, 0) for path in sorted(gone)], faulty


def _wanted(changes: Iterable[Change], patterns: Sequence[str]) -> Iterator[Change]:
    return (change for change in changes if is_wanted(change.path, patterns))


def _new(context: WatchContext, changes: Sequence[Change]) -> list[Change]:
    """The changes that are not in the index yet."""
    known = context.state.files.at([change.path for change in changes])
    oids = {path: file.oid for path, file in known.items()}
    return [change for change in changes if oids.get(change.path) != change.oid]


def _record(context: WatchContext, changes: Sequence[Change], cause: Cause = "push") -> list[StoredSubmission]:
    """Update the index, and mark every submission that a change may touch.

    Very many changes are bulk work, as is everything else of the same push.
    """
    cause = "bulk" if cause == "push" and len(changes) > MANY_CHANGES else cause
    there = [IndexedFile(change.path, change.oid, change.size) for change in changes if change.oid is not None]
    context.state.files.keep(there, [change.path for change in changes if change.oid is None])
    faulty = [_unreadable(change) for change in changes if change.fault and change.oid is not None]
    context.state.submissions.keep(faulty)
    context.mark([Mark("folder", f"/{one.folder}") for one in faulty])
    subjects = dict.fromkeys(change.path for change in changes if not change.fault or change.oid is None)
    runs = {folder_of(path) for path in subjects if is_of_a_run(path)} - {""}
    folders = sorted({folder for path in subjects if is_sample_log(path) for folder in folders_of_results(path)})
    beside = [path for folder in folders for path in context.state.files.in_folder(folder)]
    # A file of a run is one by itself, of no format, as long as the run is not whole.
    beside += [path for run in sorted(runs) for path in context.state.files.in_folder(run) if is_of_a_run(path)]
    found = [path for path in dict.fromkeys([*subjects, *beside, *sorted(runs)]) if not is_sample_log(path)]
    context.mark(marks("file", found, cause=cause))
    return faulty


def _unreadable(change: Change) -> StoredSubmission:
    """A submission that stands for a file whose name cannot be used, and says so."""
    why, _, hint = change.fault.partition("; ")
    content = Parsed(change.path, "", change.size, problem=Problem(f"cannot be read: {why}", hint=hint))
    return StoredSubmission(change.path, None, "rejected", change.oid or "", "", None, content, "malformed-file")


def _lost(context: WatchContext) -> list[Mark]:
    """The marks after a loss of the state: only they find rows and folders that were withdrawn meanwhile."""
    targets = [settings.to for _, settings in context.targets]
    said = [Mark("folder", "", "", "lost")] if context.discussions is not None else []
    return [*marks("row", [""], targets, "lost"), *said]


def _mark_targets(context: WatchContext, *, is_first: bool) -> None:
    """Mark all rows at a target that is new in the settings, or whose deciding settings changed."""
    state, known = context.state, context.state.recall_all(TARGET)
    decides = {settings.to: _decides(settings, context.leaderboard) for _, settings in context.targets}
    for to in known.keys() - decides.keys():  # what changes while it is away is marked when it comes back
        state.remember(TARGET, None, to)
    for to in [to for to, digest in decides.items() if known.get(to) != digest]:
        if not is_first:
            context.mark(marks("row", sorted(state.rows.all_keys()), [to], "declaration"))
        state.remember(TARGET, decides[to], to)


def _decides(settings: WatchTarget, board: Leaderboard) -> str:
    """A digest of the settings that decide about the rows of a target: its own, and the benchmarks for model pages."""
    said = [settings.model_dump_json()]
    if settings.models is not None:
        said += [task.hub.model_dump_json() for task in board.tasks if task.hub]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def candidates_at(context: WatchContext, paths: Sequence[str]) -> dict[str, tuple[Candidate, str] | None]:
    """The submissions that the index has at paths, with the ids of their content; None for a path without one."""
    known = context.state.files.at(paths)
    return {path: _candidate_at(context, path, known.get(path)) for path in paths}


def _logs_beside(context: WatchContext, path: str) -> str:
    """The object ids of the sample logs beside a file, which is read again when one changes; "" without any."""
    if not context.leaderboard.asks_samples:
        return ""
    files = [file for place in folders_of_logs(path) for file in context.state.files.in_folder(place).values()]
    oids = sorted(file.oid for file in files if is_sample_log(file.path))
    return f" {hashlib.sha256(repr(oids).encode()).hexdigest()[:16]}" if oids else ""


def forms_digest(leaderboard: Leaderboard) -> str:
    """What names the forms that files are read by, beside the ids of their content; "" without any."""
    if not leaderboard.formats:
        return ""
    said = [form.model_dump(mode="json", exclude_defaults=True) for form in leaderboard.formats]
    return f" {hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]}"


def _candidate_at(context: WatchContext, path: str, own: IndexedFile | None) -> tuple[Candidate, str] | None:
    if own is not None and not (is_of_a_run(path) and folder_of(path)):  # a run at the top has no folder to be named by
        candidate = Candidate(path, (ListedFile(path, own.size),), forms=context.leaderboard.formats)
        return candidate, own.oid + forms_digest(context.leaderboard) + _logs_beside(context, path)
    files = context.state.files.in_folder(folder_of(path) if own is not None else path)
    for candidate in candidates_in(ListedFile(file.path, file.size) for file in files.values()):
        if candidate.path == path:
            return candidate, " ".join(files[file.path].oid for file in candidate.files)
    return None
