"""Read submissions: changed files are read at the observed commit, judged and stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from msgspec.structs import replace

from bot.errors import BotError, Unavailable
from bot.evaluation.discovery import RESULT_NAME, Candidate, ListedFile, Read, read_candidate
from bot.evaluation.finding import Finding, counted, examples, file_of, in_units, shown
from bot.evaluation.formats import MAX_BYTES, most_bytes
from bot.evaluation.formats.content import JSON_LINES, TABLES, YAML
from bot.evaluation.formats.other_files import OTHER
from bot.evaluation.row_key import reading_of, twins
from bot.evaluation.rules.missing_task import missing_task
from bot.evaluation.submission import Parsed, Problem, UnreadPath
from bot.evaluation.verdict import Judgement, Row
from bot.platforms.net import check_lease
from bot.platforms.source import LastCommit, Source, read_whole_files
from bot.publishing.entry import digest_of
from bot.service.context import WatchContext
from bot.service.judge.facts import peer_of, with_near
from bot.service.judge.samples import LogSamples
from bot.service.store.database import batches
from bot.service.store.items import Cause, Item, Mark, marks
from bot.service.store.sources import RowLine, StoredSubmission
from bot.service.watch.observe import candidates_at

THREADS = 8
NOT_TOLD = frozenset(
    {OTHER.id, "git-lfs-pointer", "byte-order-mark", "utf-16", "archive", "gzip"}
)  # kinds that tell of no tool
READ_BY_FORMS = (".json", *JSON_LINES, *TABLES, *YAML)
LARGE = 2_000_000  # bytes of a submission beyond which it is read by itself
BATCH = 100  # files between two notes of how far a reading came
Fail = Callable[[Item, Exception], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A submission that is to be read."""

    item: Item
    candidate: Candidate
    oid: str


def read_files(context: WatchContext, items: Sequence[Item], fail: Fail, source: Source) -> None:
    """Read the submissions of these items; `fail` is called for each that cannot be read, and the others go on.

    `source` is that of the watch, unchanged or prepared for reading very many files.
    """
    if context.state.commit is None:  # the source was not listed to its end
        return
    for batch in batches(items, BATCH):
        _read_batch(context, source, batch, fail)


def _read_batch(context: WatchContext, source: Source, items: Sequence[Item], fail: Fail) -> None:
    check_lease()
    state = context.state
    before = state.submissions.of_files([item.subject for item in items])
    found = candidates_at(context, [item.subject for item in items])
    wanted = [
        Wanted(item, *there)
        for item in items
        if (there := found[item.subject]) is not None
        and not ((known := before.get(item.subject)) and known.oid == there[1])
    ]
    gone = [path for path in before if found[path if path in found else file_of(path)] is None]
    read = list(_read_all(context, source, wanted, fail))
    kept = {one.path for one in read}
    failed = {one.item.subject for one in wanted} - kept
    again = {one.item.subject for one in wanted} - failed
    gone += [path for path in before if path not in found and path not in kept and file_of(path) in again]
    with state.transaction():
        state.submissions.keep(read, gone)
        if context.leaderboard.asks_samples:  # their logs are compared with those of other rows
            state.submissions.set_verdicts(judged(context, read))
        causes = {item.cause for item in items}
        cause: Cause = "push" if "push" in causes else "bulk" if "bulk" in causes else "lost"
        mark_changed(context, [before[path] for path in gone], read, before, cause)
        context.finish([item for item in items if item.subject not in failed])


def _read_all(
    context: WatchContext, source: Source, wanted: Sequence[Wanted], fail: Fail
) -> Iterator[StoredSubmission]:
    """Read and judge; `fail` is called for each that cannot be read."""
    if not wanted:
        return
    commit = context.state.commit or ""
    try:
        touched = source.touched([file.path for one in wanted for file in one.candidate.files], commit)
    except BotError as failure:
        for one in wanted:
            fail(one.item, failure)
        return

    def listing(folder: str) -> Iterator[ListedFile]:
        return (ListedFile(one.path, one.size) for one in context.state.files.in_folder(folder).values())

    logs = LogSamples(source.save, commit, listing) if context.leaderboard.asks_samples else None
    sized = [(sum(file.size for file in one.candidate.files) > LARGE, one) for one in wanted]
    for is_large, threads in ((False, THREADS), (True, 1)):  # of large ones, no two are in memory at once
        with ThreadPoolExecutor(threads) as pool:
            reads = [
                (one, pool.submit(copy_context().run, _read, context, source, one, commit, touched, logs=logs))
                for large, one in sized
                if large == is_large
            ]
            for one, future in reads:
                try:
                    yield from future.result()
                except Exception as failure:  # noqa: BLE001 - one file never stops the others; `fail` logs it
                    fail(one.item, failure)


def _read(
    context: WatchContext,
    source: Source,
    one: Wanted,
    commit: str,
    touched: Mapping[str, LastCommit],
    *,
    logs: LogSamples | None,
) -> list[StoredSubmission]:
    limit = context.watch.max_file_bytes
    oids = dict(zip((file.path for file in one.candidate.files), one.oid.split(" "), strict=False))
    read = read_whole_files(source, commit, max_bytes=limit, oids=oids)
    content = unread_for_size(one.candidate, limit) or read_pushed(one.candidate, read, limit)
    problem = getattr(content, "problem", None)
    if problem is not None and problem.why == "is gone":
        raise Unavailable(context.source.name, f"{one.candidate.path} is listed at {commit[:12]} but missing")
    if logs is not None and isinstance(content, Parsed):
        content = logs.look(content)
    last = max(
        (touched[file.path] for file in one.candidate.files if file.path in touched),
        key=lambda found: found.date or 0.0,
        default=LastCommit(commit, None),
    )
    contents = content.parts if isinstance(content, Parsed) else [content]
    stored = [StoredSubmission(part.path, None, "unread", one.oid, last.oid, last.date, part) for part in contents]
    # Alone: it is compared with others when all that came with it are stored.
    return _as_judged(stored, context.judge(stored, is_compared=False))


def unread_for_size(candidate: Candidate, max_bytes: int) -> Parsed | None:
    """The refusal of a submission that is too large for every format: it is not even requested. Else None."""
    limit = candidate.limit or most_bytes(candidate.path)
    limit = max_bytes if limit == MAX_BYTES and not candidate.limit else limit
    size = max(file.size for file in candidate.files)
    if size <= limit:
        return None
    return Parsed(candidate.path, "", size, problem=Problem(f"has {in_units(size)}; the limit is {in_units(limit)}"))


def read_pushed(candidate: Candidate, read: Read, max_bytes: int) -> Parsed | UnreadPath:
    """Read what was pushed. A file called as harnesses call results is one that its submitter names.

    So who pushes an empty or packed one hears about it. A file of another tool stays one, whatever it is called. Where
    the declaration has forms, so is a file of a kind that they read and whose bytes are broken.
    """
    found = read_candidate(candidate, read, is_named=False, max_bytes=max_bytes)
    is_result = RESULT_NAME.fullmatch(candidate.path) is not None
    is_of_forms = bool(candidate.forms) and candidate.path.lower().endswith(READ_BY_FORMS)
    if not isinstance(found, UnreadPath) or found.kind not in NOT_TOLD or not (is_result or is_of_forms):
        return found
    named = read_candidate(candidate, read, is_named=True, max_bytes=max_bytes)
    is_broken = isinstance(named, Parsed) and named.problem is not None and named.problem.is_damage
    return named if is_result or is_broken else found


def whys_of(context: WatchContext, found: Sequence[StoredSubmission]) -> dict[str, str]:
    """Why submissions are rejected, by their paths: the first error of each, how many more, and what to do."""
    verdicts = context.judge(found).verdicts if found else ()
    return {verdict.path: why_rejected(verdict.findings) for verdict in verdicts}


def why_rejected(findings: Iterable[Finding]) -> str:
    """The first error, how many more there are, and what to do."""
    errors = [finding for finding in findings if finding.is_error]
    if not errors:
        return "rejected"
    more = f" (and {counted(len(errors) - 1, 'other error')})" if len(errors) > 1 else ""
    line = f" line {errors[0].location.line}" if errors[0].location.line else ""
    why, hint = f"{errors[0].rule}{line}: {errors[0].message}{more}", errors[0].hint
    if hint.endswith(":"):  # it stands above commands
        hint = f"{hint[:-1]}, as `check` of the file shows"
    return f"{why}; {hint}" if hint else why


def judged(context: WatchContext, found: Sequence[StoredSubmission]) -> list[StoredSubmission]:
    """The submissions with key and status under today's declaration."""
    return _as_judged(found, context.judge(found))


def _as_judged(found: Sequence[StoredSubmission], judgement: Judgement) -> list[StoredSubmission]:
    verdicts = {verdict.path: verdict for verdict in judgement.verdicts}
    done = []
    for one in found:
        verdict = verdicts.get(one.path)
        key, status, why = None, "unread", shown(one.content.why, 200) if isinstance(one.content, UnreadPath) else ""
        if verdict is not None:
            status = verdict.status
            key = own.text if (own := verdict.own_key) is not None else None
            rules = {finding.rule for finding in verdict.findings if finding.is_error}
            rules |= {missing_task.id} if verdict.measurements and not verdict.measurements.present else set()
            why = examples(sorted(rules), 5)
        done.append(replace(one, key=key, status=status, why=why))
    return done


def mark_changed(
    context: WatchContext,
    gone: Iterable[StoredSubmission],
    read: Iterable[StoredSubmission],
    before: Mapping[str, StoredSubmission],
    cause: Cause = "push",
) -> None:
    """Mark the rows and folders that submissions touch, also those that a submission left."""
    changed = [*gone, *read]
    changed += [before[one.path] for one in changed if one.path in before]
    keys = {one.key for one in changed if one.key is not None}
    judge_twins(context, keys, cause)
    mark_rows(context, keys, cause, is_moved=True)  # open requests name the places of files, too
    mark_rows(context, set(with_near(keys, context.leaderboard, context.state)) - keys, cause)
    mark_folders(context, {one.folder for one in changed} | context.state.submissions.folders_of(keys), cause)


def judge_twins(context: WatchContext, keys: Iterable[str], cause: Cause = "push") -> None:
    """Judge the submissions again whose rows read like these rows: another of the two may count now."""
    state = context.state
    for some in batches(keys, BATCH):
        readings = {reading_of(key) for key in some}
        ours = {key for _, key, _ in state.submissions.spellings(readings)}
        every = {*some, *ours, *(key for _, key in state.boards.spellings(readings))}
        unlike = {reading_of(key) for key in twins((0, key) for key in every)}
        for part in batches(sorted(key for key in ours if reading_of(key) in unlike), BATCH):
            found = list(state.submissions.of(part).values())
            again = judged(context, found)
            state.submissions.set_verdicts(again)
            mark_rows(context, part, cause)
            mark_folders(context, {one.folder for one in again}, cause)


def mark_folders(context: WatchContext, folders: Iterable[str], cause: Cause) -> None:
    """Mark the folders in whose discussions something may change."""
    if context.discussions is not None:
        context.mark(Mark("folder", f"/{folder}", "", cause) for folder in sorted(folders))


def mark_rows(context: WatchContext, keys: Iterable[str], cause: Cause, *, is_moved: bool = False) -> None:
    """Mark the rows whose digest changed since they were marked last; all of them where files moved."""
    for some in batches(sorted(keys), BATCH):
        _mark_moved(context, row_lines(context, some), cause, some if is_moved else ())


def _mark_moved(context: WatchContext, lines: Mapping[str, RowLine], cause: Cause, others: Iterable[str] = ()) -> None:
    known = context.state.rows.lines(lines)
    context.state.rows.keep({key: line for key, line in lines.items() if line != known.get(key)}, known)
    moved = [key for key, line in lines.items() if key not in known or line.digest != known[key].digest]
    targets = [settings.to for _, settings in context.targets]
    context.mark(marks("row", dict.fromkeys([*moved, *others]), targets, cause))


def row_lines(context: WatchContext, keys: Sequence[str]) -> dict[str, RowLine]:
    """What is remembered of rows, as their submissions make them now."""
    found = context.submissions_of(keys)
    return _lines(context, found, context.judge(found).rows, keys)


def _lines(
    context: WatchContext, found: Sequence[StoredSubmission], rows: Iterable[Row], keys: Collection[str]
) -> dict[str, RowLine]:
    """The lines of rows; the digest is "" if nothing makes one, and the reason where it cannot be written."""
    by_key = {row.key.text: row for row in rows}
    made = context.made_of((by_key[key] for key in keys if key in by_key), found)
    committed = {one.path: one.committed for one in found if one.committed is not None}
    lines = {key: RowLine(why) for key, why in made.refused.items()}
    for one in made.entries:
        lines[one.key] = RowLine(digest_of(one), peer_of(by_key[one.key], committed), one.verdict == "incomplete")
    return {key: lines.get(key, RowLine("")) for key in keys}


def judge_again(context: WatchContext, item: Item) -> None:
    """Judge every submission under today's declaration, from what was read; only rows that change are marked."""
    for some in context.state.submissions.all():
        judgement = context.judge(some)
        again = _as_judged(some, judgement)
        with context.state.transaction():
            _mark_judged(context, some, again, judgement.rows)
    context.finish([item])


def _mark_judged(
    context: WatchContext, before: Sequence[StoredSubmission], again: Sequence[StoredSubmission], rows: Sequence[Row]
) -> None:
    """Store the new verdicts, and mark what they change. All submissions of a model must come together."""
    moved = {new.path: new for new, old in zip(again, before, strict=True) if _verdict(new) != _verdict(old)}
    context.state.submissions.set_verdicts(moved.values())
    known = {one.key for one in before if one.key is not None}
    _mark_moved(context, _lines(context, before, rows, sorted(known)), "declaration")
    mark_rows(context, {one.key for one in again if one.key is not None} - known, "declaration")
    folders = {one.folder for one in again if one.status == "rejected" or one.path in moved}
    mark_folders(context, folders, "declaration")


def _verdict(one: StoredSubmission) -> tuple[str | None, str, str]:
    return one.key, one.status, one.why
