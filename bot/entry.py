"""What was judged in, an entry out: one row of a leaderboard with its evidence, as canonical bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from bot import __version__
from bot.errors import MalformedEntry
from bot.finding import Finding, Severity
from bot.leaderboard import Leaderboard, canonical_version
from bot.measure import Measures
from bot.result import Model, Result
from bot.score import Scores, TaskScore

Schema = Literal["leaderboard-bot/entry/1"]
SCHEMA: Schema = "leaderboard-bot/entry/1"
FOLDER = "entries"
STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})[-:](\d{2})[-:](\d{2})")
UNSAFE = re.compile(r"[^\w.-]", re.ASCII)
DOTS = re.compile(r"^\.+|\.{2,}|\.+$")


class Declared(msgspec.Struct, frozen=True):
    """The leaderboard that a row was scored by, with the digest of its declaration."""

    id: str
    digest: str


class EntryModel(msgspec.Struct, frozen=True):
    """The model of a row; "" where the result does not say."""

    id: str
    revision: str
    precision: str
    chat_template: bool


class EntryHarness(msgspec.Struct, frozen=True):
    """What measured, as the result says."""

    name: str
    repository: str | None
    git_hash: str | None
    version: str | None


class Coverage(msgspec.Struct, frozen=True):
    """How many leaves are there, how many the leaderboard needs, and which are missing."""

    present: int
    required: int
    missing: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True):
    """Where the result file lies: `source` a repository or folder's name, `commit` "" outside of one.

    `date` is when it was measured (ISO 8601, UTC), from the file or else from its name, "" where neither says.
    """

    source: str
    path: str
    commit: str
    sha256: str
    date: str = ""


class Superseded(msgspec.Struct, frozen=True):
    """A submission of the same key whose place this one took."""

    path: str
    sha256: str


class Remark(msgspec.Struct, frozen=True):
    """A warning that the row carries; a waived error is one too."""

    rule: str
    message: str


class Entry(msgspec.Struct, frozen=True):
    """One row. `average` and `stderr` (points) are None where the row is incomplete; such a row has no rank."""

    schema: Schema
    key: str
    leaderboard: Declared
    model: EntryModel
    verdict: Literal["accepted", "incomplete"]
    average: float | None
    stderr: float | None
    tasks: tuple[TaskScore, ...]
    coverage: Coverage
    evidence: Evidence
    harness: EntryHarness
    versions: dict[str, str]
    num_fewshot: dict[str, int]
    warnings: tuple[Remark, ...]
    supersedes: tuple[Superseded, ...]
    tool: str

    @property
    def path(self) -> str:
        """Where the entry stands in the target."""
        return entry_path(self.key)

    def to_bytes(self) -> bytes:
        """The canonical bytes: fields in declared order, two spaces, one line feed at the end."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


DECODER = msgspec.json.Decoder(Entry)


def entry_path(key: str) -> str:
    """The path of an entry's file below the root of the target."""
    return f"{FOLDER}/{key}.json"


def parse_entry(data: bytes, path: str = "") -> Entry:
    """Read an entry back. Raises MalformedEntry where the bytes are none."""
    try:
        return DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEntry(f"{path or 'the entry'} is no entry of {SCHEMA}: {error}") from None


def entry_key(model: Model) -> str:
    """`<org>__<model>/<revision, 12 digits>-<precision>[-chat]`, safe as a path and as a branch name."""
    chat = "-chat" if model.chat_template else ""
    return f"{_safe(model.id)}/{_safe(model.revision[:12])}-{_safe(model.precision)}{chat}"


def _safe(text: str) -> str:
    """One part of a path and of a git reference, in which dots may neither lead, end, nor stand together."""
    part = DOTS.sub("_", UNSAFE.sub("_", text.replace("/", "__"))) or "unknown"
    return f"{part}_" if part.endswith(".lock") else part


def measured_on(result: Result, path: str) -> str:
    """When a result was measured, ISO 8601 in UTC, "" where neither the file nor its name says."""
    if result.date is not None and 0 < result.date < 4e9:
        return datetime.fromtimestamp(result.date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    stamp = STAMP.search(path.rpartition("/")[2])
    return f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}Z" if stamp else ""


def coverage_of(measures: Measures, leaderboard: Leaderboard) -> Coverage:
    """Count the leaves that are there and name the others."""
    missing = tuple(dict.fromkeys(need.leaf_id for need in measures.missing))
    required = sum(1 for _ in leaderboard.leaves())
    return Coverage(required - len(missing), required, missing)


def make_entry(
    *,
    leaderboard: Leaderboard,
    result: Result,
    measures: Measures,
    scores: Scores,
    findings: Iterable[Finding],
    evidence: Evidence,
) -> Entry:
    """Make the row of one submission that was not rejected."""
    coverage = coverage_of(measures, leaderboard)
    model, harness = result.model, result.harness
    versions, shots = _conditions(measures)
    return Entry(
        schema=SCHEMA,
        key=entry_key(model),
        leaderboard=Declared(leaderboard.id, leaderboard.digest),
        model=EntryModel(model.id, model.revision, model.precision, model.chat_template),
        verdict="incomplete" if scores.average is None else "accepted",
        average=scores.average,
        stderr=scores.stderr,
        tasks=scores.tasks,
        coverage=coverage,
        evidence=evidence,
        harness=EntryHarness(harness.name, harness.repository, harness.git_hash, harness.version),
        versions=versions,
        num_fewshot=shots,
        warnings=tuple(Remark(found.rule, found.message) for found in findings if found.severity is Severity.WARNING),
        supersedes=(),
        tool=__version__,
    )


def _conditions(measures: Measures) -> tuple[dict[str, str], dict[str, int]]:
    """The task version and the shots of each leaf, where recorded."""
    leaves = {measure.need.leaf_id: measure.leaf for measure in measures.present}
    versions = {key: canonical_version(leaf.version) for key, leaf in leaves.items() if leaf.version is not None}
    shots = {key: leaf.num_fewshot for key, leaf in leaves.items() if leaf.num_fewshot is not None}
    return versions, shots


def choose(candidates: Iterable[Entry], standing: Entry | None = None) -> Entry:
    """Of the submissions of one key, the newest complete one, naming those whose place it takes.

    `standing` is the entry at the target. It stays as it is where it is the newest complete one, unless a candidate
    is the same file measured or scored anew; a file whose bytes are the same keeps the commit that stands there, so
    that reading it at a later one changes nothing.
    """
    rivals = sorted((_as_evidenced(candidate, standing) for candidate in candidates), key=_precedence)
    same_file = {(rival.evidence.source, rival.evidence.path) for rival in rivals}
    if standing is not None and (standing.evidence.source, standing.evidence.path) not in same_file:
        if not rivals or _precedence(standing) >= _precedence(rivals[-1]):
            return standing
        rivals.insert(0, standing)
    best, *others = reversed(rivals)
    gone = {(other.evidence.path, other.evidence.sha256) for other in others}
    gone.update((old.path, old.sha256) for old in (standing.supersedes if standing else ()))
    gone.discard((best.evidence.path, best.evidence.sha256))
    return replace(best, supersedes=tuple(Superseded(*pair) for pair in sorted(gone)))


def _as_evidenced(entry: Entry, standing: Entry | None) -> Entry:
    old, new = standing.evidence if standing else None, entry.evidence
    if old is None or not old.commit or (old.source, old.path, old.sha256) != (new.source, new.path, new.sha256):
        return entry
    return replace(entry, evidence=replace(new, commit=old.commit))


def _precedence(entry: Entry) -> tuple[bool, str, str, str]:
    return entry.verdict == "accepted", entry.evidence.date, entry.evidence.path, entry.evidence.sha256


def is_same_row(one: bytes | None, other: bytes | None) -> bool:
    """Whether two files are the same entry but for the version of the program that wrote them."""
    if one is None or other is None or one == other:
        return one == other
    row = _untooled(one)
    return row is not None and row == _untooled(other)


def _untooled(data: bytes) -> Mapping[str, Any] | None:
    try:
        entry: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    entry.pop("tool", None)
    return entry
