"""Entries: one row of a leaderboard with its evidence, as canonical bytes that are read back before they are used."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from bot import __version__
from bot.errors import MalformedEntry
from bot.evaluation.evidence import DOES_NOT_SHOW, SHOWS, RowWord
from bot.evaluation.finding import Finding, Severity, Waived, examples, file_of, grouped, in_units
from bot.evaluation.formats import find_format
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.identity import fits, is_folders
from bot.evaluation.likeness import Fingerprint, fingerprint
from bot.evaluation.measurement import Coverage, definitions_of
from bot.evaluation.result import HarnessVersion, Result, model_size
from bot.evaluation.score import HUGE, ColumnValue, GroupScore, LeafScore, Scores, TaskScore
from bot.evaluation.submission import iso_date, own_date
from bot.evaluation.task import FRACTION
from bot.evaluation.verdict import Row, RowFacts, Verdict

Schema = Literal["leaderboard-bot/entry/2"]
SCHEMA: Schema = "leaderboard-bot/entry/2"
FOLDER = "entries"
KEPT_FOLDER = "evidence"
SHA256 = re.compile(r"[0-9a-f]{64}")
MAX_BYTES = 512 * 1024
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
DATE = re.compile(r"(\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?)?", re.ASCII)
MAX_REMARKS, LONGEST_REMARK = 50, 1_000  # warnings that one entry carries, and the characters of each
KEPT_TOO_LARGE = (
    f"{{path}} has {{size}}, and of a source without commits at most {in_units(MAX_BYTES)} are kept beside a row: "
    "push it to a repository"
)


class Declared(msgspec.Struct, frozen=True):
    """The leaderboard that a row was scored by, with the digests of its declaration."""

    id: str
    digest: str
    scoring_digest: str


class EntryModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """The model of a row; "" if the result does not say, and None of its chat template.

    `parameters` is their number where the file states it.
    """

    id: str
    revision: str
    precision: str
    chat_template: bool | None
    parameters: int | None = None

    @property
    def day(self) -> str:
        """The day of the measurement, where it stands for the revision of a model that only a service has; else ""."""
        return self.revision if DAY.fullmatch(self.revision) and not self.precision else ""


class Evidence(msgspec.Struct, frozen=True):
    """A submission that numbers of the row come from.

    `source` is the name of the repository that it lies in, "" for a file on somebody's machine; `commit` the commit
    that it was read at, "" outside of a repository; `submitter` who brought it, "" if nobody knows. `date` is when
    it was measured (ISO 8601, UTC), believed no further than its commit, "" if neither file, name nor commit says.
    `kept` has the SHA-256 of each of its files by its path in a source that keeps no commits: the target keeps them,
    see `kept_path`; the field is left out for other sources.
    `dated_by` is left out where the file says itself when it was measured, `quoted_from` where its numbers were.
    What the file itself shows (`sha256`, `date`, `format`, `harness`, `kept`) is filled in when the entry is made.
    """

    source: str = ""
    path: str = ""
    commit: str = ""
    sha256: str = ""
    submitter: str = ""
    date: str = ""
    format: str = ""
    harness: HarnessVersion = HarnessVersion("")
    kept: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    dated_by: Literal["commit"] | msgspec.UnsetType = msgspec.UNSET
    quoted_from: str | msgspec.UnsetType = msgspec.UNSET


class Remark(msgspec.Struct, frozen=True):
    """A warning in an entry; a waived error is one, too."""

    rule: str
    message: str


class EntrySamples(msgspec.Struct, frozen=True):
    """The sample log behind the number of a leaf.

    `log` is its path from the folder of the leaf's evidence, `samples` how many it has, `documents` a digest of their
    documents. `shows` says what the log shows: `rescored` where the answers give the number, `samples` where only the
    logged scores do. `mark` tells its answers from those of other runs, see `AnswerMark`; "" where they are too short.
    `prompts` is a digest of what was asked in which words, `scoring` of how the settings say that it is scored.
    """

    leaf: str
    log: str
    sha256: str
    samples: int
    documents: str
    shows: Literal["samples", "rescored"]
    mark: str = ""
    prompts: str = ""
    scoring: str = ""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row. `average` and `stderr` (points) are None if the row is incomplete; such a row has no rank.

    `rests_on` is what the evidence shows, in one word. `evidence` has the newest file first. Each leaf of a task names
    its file by the path that the evidence has. `facts` are what decided beside the files and the declaration; the field
    is left out where nothing did. `definitions` has the digest of what each leaf asked, where its file records it.
    `samples` are the sample logs that were checked; without any the field is left out.
    `groups` are the means of groups of tasks, which the average is over where `average_over` says so; `columns` are
    shown and count nowhere.
    """

    schema: Schema
    key: str
    leaderboard: Declared
    model: EntryModel
    verdict: Literal["accepted", "incomplete"]
    rests_on: RowWord
    average: float | None
    stderr: float | None
    tasks: tuple[TaskScore, ...]
    coverage: Coverage
    evidence: tuple[Evidence, ...]
    harness: HarnessVersion
    versions: dict[str, str]
    num_fewshot: dict[str, int] = msgspec.field(name="n-shot")
    num_samples: dict[str, int] = msgspec.field(name="n-samples")
    warnings: tuple[Remark, ...]
    waivers: tuple[Waived, ...]
    tool: str
    facts: RowFacts | None = None
    definitions: dict[str, str] = {}
    samples: tuple[EntrySamples, ...] = ()
    groups: tuple[GroupScore, ...] = ()
    columns: tuple[ColumnValue, ...] = ()
    average_over: Literal["tasks", "groups"] = "tasks"

    @property
    def scores(self) -> Scores:
        """The numbers of the row."""
        return Scores(self.average, self.tasks, self.groups, self.columns, self.average_over)

    def evidence_of(self, leaf: LeafScore) -> Evidence | None:
        """The file that the number of a leaf comes from."""
        return next((one for one in self.evidence if leaf.file in (one.path, f"{one.source}/{one.path}")), None)

    @property
    def fingerprint(self) -> Fingerprint:
        """What of the row is compared with the rows of other models."""
        facts = self.facts or RowFacts()
        named = facts.alike.model if facts.alike else facts.same_values
        return fingerprint(self.model.id, self.tasks, {one.leaf: one.mark for one in self.samples}, named)

    @property
    def harnesses(self) -> tuple[HarnessVersion, ...]:
        """The harnesses of its files, the newest first."""
        return tuple(dict.fromkeys((self.harness, *(one.harness for one in self.evidence if one.harness.name))))

    @property
    def path(self) -> str:
        """The path of the entry in the target."""
        return entry_path(self.key)

    @property
    def date(self) -> str:
        """When the newest of its files was measured, ISO 8601 in UTC, "" if that is unknown."""
        return max([file.date for file in self.evidence], default="")

    @property
    def measured(self) -> str:
        """The same as its files say it, "" where none that is not quoted does."""
        return max([file.date for file in self.evidence if not (file.dated_by or file.quoted_from)], default="")

    @property
    def when(self) -> str:
        """The date that tables and pages show: as its files say it, else when the newest of them was pushed."""
        return self.measured or self.date

    @property
    def shown(self) -> tuple[str, str]:
        """What the row shows by itself, and what it does not; quoted columns are named where others have a run."""
        files = [(task.title, self.evidence_of(leaf)) for task in self.tasks for leaf in task.leaves]
        quoted = dict.fromkeys(title for title, file in files if file and file.quoted_from)
        if self.rests_on != "quoted" or not quoted or all(file and file.quoted_from for _, file in files):
            return SHOWS[self.rests_on], DOES_NOT_SHOW[self.rests_on]
        are = "is" if len(quoted) == 1 else "are"
        what = f"{examples(list(quoted))} {are} quoted, without a file of a run; the rest is from result files"
        return what, DOES_NOT_SHOW["file"]

    @property
    def age(self) -> tuple[str, list[str]]:
        """What orders entries, largest for the newest: the date of its newest file, then the digests of all."""
        return self.date, sorted(file.sha256 for file in self.evidence)

    def to_bytes(self) -> bytes:
        """The canonical bytes: fields in declared order, two spaces, one line feed at the end."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


DECODER = msgspec.json.Decoder(Entry)


def entry_path(key: str) -> str:
    """The path of an entry's file below the root of the target."""
    return f"{FOLDER}/{key}.json"


def parse_entry(data: bytes, path: str = "") -> Entry:
    """Read an entry back. Raises MalformedEntry if the bytes are not an entry."""
    if len(data) > MAX_BYTES:
        raise MalformedEntry(f"{path or 'the entry'} has {in_units(len(data))}; the limit is {in_units(MAX_BYTES)}")
    try:
        entry = DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEntry(f"{path or 'the entry'} is not an entry of {SCHEMA}: {error}") from None
    others = [entry.average, entry.stderr, *(one for group in entry.groups for one in (group.score, group.stderr))]
    others += [column.value for column in entry.columns]
    if not all(map(_is_possible, entry.tasks)) or any(one and abs(one) > HUGE for one in others):
        raise MalformedEntry(f"{path or 'the entry'} has a number that no measurement gives")
    if entry.model.parameters != model_size(entry.model.parameters):
        raise MalformedEntry(f"{path or 'the entry'} has a number of parameters that no model has")
    if not all(SHA256.fullmatch(digest) for file in entry.evidence for digest in (file.kept or {}).values()):
        raise MalformedEntry(f"{path or 'the entry'} names a kept file by what is no SHA-256")
    if not all(DATE.fullmatch(file.date) for file in entry.evidence):
        raise MalformedEntry(f"{path or 'the entry'} has a date that is not as 2026-03-02T10:00:00Z")
    return entry


def _is_possible(task: TaskScore) -> bool:
    """Tell whether computing with the scores and bounds of a column gives numbers."""
    raws = [leaf.raw for leaf in task.leaves]
    scores = [task.score, task.stderr, task.raw, *raws, *(leaf.score for leaf in task.leaves)]
    are_scores = all(one is None or abs(one) < HUGE for one in scores)
    return are_scores and all(_are_bounds(leaf.lower_bound, leaf.upper_bound) for leaf in task.leaves)


@lru_cache(maxsize=1024)
def _are_bounds(lower: str, upper: str) -> bool:
    """Tell whether these are two different fractions that a declaration can have."""
    return all(map(FRACTION.fullmatch, (lower, upper))) and Fraction(lower) != Fraction(upper)


def entry_of(row: Row, evidence: Mapping[str, Evidence] | None = None) -> Entry | None:
    """The entry of a row, None if it is rejected or the declaration refuses incomplete rows.

    `evidence` says, by the path of a submission, where it lies; one that it does not name lies at its own path. Raises
    MalformedEntry where the entry would be too large, or would not be read back as it is.
    """
    if row.status == "rejected" or (row.status == "incomplete" and row.leaderboard.average.missing == "refused"):
        return None
    board, model = row.leaderboard, row.model
    places = {file.path: _evidence(file, (evidence or {}).get(file.path)) for file in row.files}
    found = [*row.findings, *(finding for file in row.files for finding in file.findings)]
    entry = Entry(
        schema=SCHEMA,
        key=row.key.text,
        leaderboard=Declared(board.id, board.digest, board.scoring_digest),
        model=EntryModel(model.id, model.revision, model.precision, model.chat_template, model.parameters),
        verdict="incomplete" if row.scores.average is None else "accepted",
        rests_on=row.rests_on,
        average=row.scores.average,
        stderr=row.scores.stderr,
        tasks=_with_places(row.scores.tasks, _names(places)),
        coverage=row.coverage,
        evidence=tuple(places.values()),
        harness=row.result.harness,
        versions={leaf: canonical_version(version) for leaf, version in _recorded(row, "version").items()},
        num_fewshot=_recorded(row, "num_fewshot"),
        num_samples=_recorded(row, "samples"),
        warnings=_remarks(found),
        waivers=tuple(dict.fromkeys(finding.waived for finding in found if finding.waived)),
        tool=__version__,
        facts=_facts(row, places),
        definitions=definitions_of(row.measurements),
        samples=tuple(
            EntrySamples(
                leaf,
                _as_text(log.path),
                log.sha256,
                log.count,
                log.documents,
                shows,
                log.mark,
                log.prompts,
                log.scoring,
            )
            for leaf, (log, shows) in row.logs.items()
        ),
        groups=row.scores.groups,
        columns=row.scores.columns,
        average_over=row.scores.over,
    )
    return checked(entry)


class MadeEntries(msgspec.Struct, frozen=True, gc=False):
    """The entries of the rows that are not rejected; `refused` says by key why a row cannot be stored."""

    entries: tuple[Entry, ...] = ()
    refused: Mapping[str, str] = {}


def make_entries(rows: Iterable[Row], evidence: Mapping[str, Evidence]) -> MadeEntries:
    """Make the entry of each row, see `entry_of`."""
    entries: list[Entry] = []
    refused: dict[str, str] = {}
    for row in rows:
        try:
            entry = entry_of(row, evidence)
        except MalformedEntry as error:
            refused[row.key.text] = str(error)
            continue
        entries += [] if entry is None else [entry]
    return MadeEntries(tuple(entries), refused)


def checked(entry: Entry) -> Entry:
    """The entry, once its bytes were read back as the same entry. Raises MalformedEntry."""
    if parse_entry(entry.to_bytes(), entry.path) != entry:
        raise MalformedEntry(f"{entry.path} does not read back as it was written")
    return entry


def _evidence(file: Verdict, place: Evidence | None) -> Evidence:
    """The evidence of a file; it is kept where `kept` of its place is set. Raises MalformedEntry if it is too large."""
    place = place or Evidence(path=file.path)
    names = {name: _as_text(getattr(place, name)) for name in ("source", "path", "submitter")}
    kept = place.kept
    if kept is not msgspec.UNSET:
        if file.parsed.size > MAX_BYTES:
            raise MalformedEntry(KEPT_TOO_LARGE.format(path=place.path, size=in_units(file.parsed.size)))
        own = file_of(names["path"]) if file.parsed.of > 1 else names["path"]
        kept = {f"{own}/{name}" if name else own: digest for name, digest in file.parsed.digests.items()}
    result = file.result
    is_by_commit = result is not None and bool(file.date) and own_date(result, file.path) is None
    return replace(
        place,
        **names,
        kept=kept,
        dated_by="commit" if is_by_commit else msgspec.UNSET,
        quoted_from=result.quoted_from if result is not None and result.quoted_from else msgspec.UNSET,
        sha256=file.sha256,
        date=iso_date(file.date),
        format=file.parsed.format or "",
        harness=file.result.harness if isinstance(file.result, Result) else HarnessVersion(""),
    )


def _facts(row: Row, places: Mapping[str, Evidence]) -> RowFacts | None:
    """The facts of a row; what a path said of its model is said of the folder that the evidence has of that path."""
    names = dict(row.facts.names) if row.facts else {}
    for file in row.files:
        place, known = places[file.path], find_format(file.parsed.format or "")
        is_pattern = is_folders(file.called) and not fits(file.called, place.path)
        if "/" in place.path and (is_pattern or (known and known.names_by_path and not place.source)):
            names.pop(file.called, None)
            folder = place.path.rpartition("/")[0]
            names[f"{folder}/"] = "@".join(filter(None, (row.model.id, row.model.revision)))
    return replace(row.facts or RowFacts(), names=names) if names else row.facts


def _as_text(name: str) -> str:
    """A file's name as JSON can hold it: bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _names(places: Mapping[str, Evidence]) -> dict[str, str]:
    """The name of each file in leaves: its path, with its source in front if two sources have the same path."""
    paths = [place.path for place in places.values()]
    return {
        path: place.path if paths.count(place.path) == 1 else f"{place.source}/{place.path}"
        for path, place in places.items()
    }


def _with_places(tasks: Iterable[TaskScore], names: Mapping[str, str]) -> tuple[TaskScore, ...]:
    return tuple(
        replace(task, leaves=tuple(replace(leaf, file=names.get(leaf.file, "")) for leaf in task.leaves))
        for task in tasks
    )


def _recorded(row: Row, name: Literal["version", "num_fewshot", "samples"]) -> dict[str, Any]:
    """The files' record of each leaf: its version, its number of shots, or its number of scored samples."""
    found = {one.required.leaf.id: getattr(one.leaf, name) for one in row.measurements.present}
    return {leaf: value for leaf, value in found.items() if value is not None}


def _remarks(findings: Iterable[Finding]) -> tuple[Remark, ...]:
    """The warnings, each once; of very many only the first, with the number of the others."""
    found = dict.fromkeys(
        Remark(finding.rule, _as_text(finding.message[:LONGEST_REMARK]))
        for finding in findings
        if finding.severity is Severity.WARNING
    )
    remarks = tuple(found)
    if len(remarks) <= MAX_REMARKS:
        return remarks
    more = Remark(remarks[MAX_REMARKS - 1].rule, f"and {len(remarks) - MAX_REMARKS + 1} more warnings")
    return (*remarks[: MAX_REMARKS - 1], more)


def digest_of(entry: Entry) -> str:
    """The SHA-256 of what makes a row the same: the sources and bytes of its evidence, and every number.

    Another commit, path, date or tool version leaves it as it is.
    """
    files = sorted((file.source, file.sha256) for file in entry.evidence)
    data = msgspec.json.encode((entry.key, entry.verdict, files, list(_numbers(entry))))
    data += msgspec.json.encode(entry.samples) if entry.samples else b""
    columns = [{"id": one.id, "value": one.value} for one in entry.columns]
    data += msgspec.json.encode((entry.groups, columns)) if entry.groups or columns else b""
    return hashlib.sha256(data).hexdigest()


def _numbers(entry: Entry) -> Iterator[tuple[str, str, float | None, float | None, float | None]]:
    yield "", "", entry.average, None, entry.stderr
    for task in entry.tasks:
        yield task.id, "", task.raw, task.score, task.stderr
        yield from ((leaf.id, leaf.metric, leaf.raw, leaf.score, leaf.stderr) for leaf in task.leaves)


def is_same_row(one: bytes | None, other: bytes | None) -> bool:
    """Whether two files are entries of one row, see `digest_of`; a file that is not an entry equals only itself."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return digest_of(parse_entry(one)) == digest_of(parse_entry(other))
    except MalformedEntry:
        return False


def choose(candidates: Iterable[Entry], current: Entry | None = None) -> Entry:
    """Of several entries of one key and the one at the target: the most complete, then the newest.

    If its evidence is the same as at the target, it keeps the commits that are named there.
    """
    rivals = [*candidates, *([current] if current else [])]
    best = max(rivals, key=lambda one: (one.coverage.present, one.age))
    if current is not None and digest_of(best) == digest_of(current):
        return current
    return best


def kept_path(digest: str) -> str:
    """The path at a target of a file that it keeps, by the SHA-256 of the file."""
    return f"{KEPT_FOLDER}/{digest}"


def is_kept(path: str) -> bool:
    """Tell whether a path at a target is that of a file which it keeps for a row."""
    return path.startswith(f"{KEPT_FOLDER}/")


def kept_first(path: str) -> tuple[bool, str]:
    """What orders files that are written: a row is never there without the files that are kept for it."""
    return not is_kept(path), path


def kept_for(files: Mapping[str, bytes | None]) -> dict[str, tuple[str, str]]:
    """What the entries among files have a target keep: the source and the path there, by the path at the target."""
    entries: list[Entry] = []
    for path, data in files.items():
        if data is not None and path.startswith(f"{FOLDER}/") and b'"kept"' in data:
            with suppress(MalformedEntry):
                entries.append(parse_entry(data))
    return {
        kept_path(digest): (file.source, path)
        for entry in entries
        for file in entry.evidence
        for path, digest in (file.kept or {}).items()
    }


def declaration_path(digest: str) -> str:
    """The path at a target of the declaration with this digest, with which anybody can compute its rows again."""
    return f"declarations/{digest.removeprefix('sha256:')}.toml"


def board_declaration_path(board: str) -> str:
    """The path at a target of the declaration that a board there stands for."""
    return f"declarations/{board}.toml"


def newest_declared(entries: Iterable[Entry]) -> Declared:
    """The declaration of the newest of some rows; of equally new ones that of most rows."""
    dates = grouped((entry.leaderboard, entry.date) for entry in entries)
    return max(dates, key=lambda one: (max(dates[one]), len(dates[one]), one.digest))


def raws_of(entry: Entry) -> tuple[float, ...] | None:
    """The raw values of all tasks in order, None where one is missing."""
    raws = tuple(task.raw for task in entry.tasks if task.raw is not None)
    return raws if raws and len(raws) == len(entry.tasks) else None
