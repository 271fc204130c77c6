"""A leaderboard's declaration: which results it requires, how it scores them, and its digests.

A task may name a group of the catalogue whose members are its leaves, so that MMLU takes one line instead of 57.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from fnmatch import filter as matching
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, StrictBool

from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.benchmarks.catalogue import PLACE, Group, Guessable, catalogue, find_group, members_of
from bot.evaluation.definition import definitions_in, released_names
from bot.evaluation.evidence import STRENGTH, EvidenceWord
from bot.evaluation.finding import grouped
from bot.evaluation.formats import find_format
from bot.evaluation.formats.fields import PRECISIONS, items, table
from bot.evaluation.forms import MOST_FORMS, DeclaredForm, form_ids
from bot.evaluation.task import ID, ID_FORM, DeclarationModel, FormatId, Id, Leaf, Metric, Revision, Task, Text
from bot.evaluation.toml_file import Fault, parse_toml, read_toml, spelled, toml_key, toml_text


def with_group_leaves(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """A declaration's data with the leaves of every task that names a group; data of other types is not changed."""
    tasks = data.get("tasks")
    if not isinstance(tasks, list):
        return dict(data), []
    tasks = [_with_members(task) for task in tasks]
    faults = [fault for number, task in enumerate(tasks) for fault in _faults(number, task)]
    wanted = [one for one in items(table(data.get("harness")).get("formats")) if isinstance(one, str)]
    return {**data, "tasks": [_with_leaves(task, wanted) for task in tasks]}, faults


def _with_members(task: Any) -> Any:
    """The task with `members` where it has no leaves and its `group` is one of the catalogue."""
    name = table(task).get("group")
    if "leaves" in table(task) or "members" in table(task) or not isinstance(name, str) or find_group(name) is None:
        return task
    return {"member_keys" if key == "group_keys" else "members" if key == "group" else key: value
            for key, value in task.items()}  # fmt: skip


def _faults(number: int, task: Any) -> Iterator[Fault]:
    name = table(task).get("members")
    if not isinstance(name, str):
        return
    if "leaves" in task:
        yield f"tasks.{number}.members", "a task has leaves or the members of a group, not both"
    if find_group(name) is None:
        known = ", ".join(sorted(catalogue().groups))
        yield f"tasks.{number}.members", f"there is no group {name!r} in the catalogue; there are {known}"


def _with_leaves(task: Any, formats: list[str]) -> Any:
    name = table(task).get("members")
    group = find_group(name) if isinstance(name, str) else None
    if group is None or "leaves" in task:
        return task
    nested = {"nested": True} if group.nested else {}
    return {"groups": list(group.rows), **nested, **task, "leaves": list(_leaves(group, task, formats))}


def _leaves(group: Group, task: Mapping[str, Any], formats: list[str]) -> Iterator[dict[str, Any]]:
    patterns = {**group.keys, **table(task.get("member_keys"))}
    has_bounds = task.get("normalize") == "leaf" and "lower_bound" not in task
    for name, member in members_of(group).items():
        leaf: dict[str, Any] = {"id": group.key.replace(PLACE, name), "samples": member.samples}
        keys = {one: patterns[one].replace(PLACE, name) for one in formats if isinstance(patterns.get(one), str)}
        known = member if member.choices or member.guess is not None else group
        yield leaf | ({"keys": keys} if keys else {}) | (_bound(known, task) if has_bounds else {})


def _bound(known: Guessable, task: Mapping[str, Any]) -> dict[str, str]:
    """The value of guessing, in the task's unit."""
    bound = known.guessing * (100 if task.get("unit") == "percent" else 1)
    return {"lower_bound": str(bound), "bound_reason": known.why} if bound else {}


class Definition(DeclarationModel):
    """What some leaves must have asked: for each field of their definition the values that count.

    `leaves` are ids, or shell patterns over them. A value is the text itself, or `sha256:` and its digest; "" stands
    for a field without a value, as every field does that is not named. `formats` are those that record these fields,
    `versions` the releases or commits of the harness that have the definition, any where there are none.
    """

    leaves: Annotated[tuple[Text, ...], Field(min_length=1)]
    formats: tuple[FormatId, ...] = ()
    versions: tuple[Text, ...] = ()
    fields: dict[Text, tuple[str, ...]]


class Accepted(DeclarationModel):
    """A range of harness commits that results may come from; ends are inclusive, no `until` leaves it open.

    `commits` are known members of the range (checked without a network), `releases` names of the shipped table.
    `formats` are those that the range writes, any where there are none. `definitions` names a shipped file of what
    the leaves ask in it: `Harness.definitions` then has those, too.
    """

    repository: Annotated[str, spelled(r"[\w.-]+/[\w.-]+", "write org/name")]
    since: Revision | None = None
    until: Revision | None = None
    commits: tuple[Revision, ...] = ()
    releases: tuple[Text, ...] = ()
    formats: tuple[FormatId, ...] = ()
    definitions: Annotated[Text | None, Field(exclude=True)] = None
    reason: Text


class KnownBad(DeclarationModel):
    """A harness version whose results for some leaves are wrong for everybody; `leaves` are shell patterns."""

    release: Text | None = None
    commits: tuple[Revision, ...] = ()
    leaves: Annotated[tuple[Text, ...], Field(min_length=1)]
    reason: Text


class Harness(DeclarationModel):
    """The required harness of results.

    `pins` says whether a file must show all of it that is declared, `quoted` whether numbers may be copied from a place
    that did not measure them; a row with such numbers says so.
    """

    formats: Annotated[tuple[FormatId, ...], Field(min_length=1)]
    accepted: tuple[Accepted, ...] = ()
    known_bad: tuple[KnownBad, ...] = ()
    definitions: tuple[Definition, ...] = ()
    chat_template: Literal["any", "never", "always"] = "any"
    pins: Literal["any", "required"] = "any"
    quoted: Literal["refused", "accepted"] = "refused"


class EvidenceDemand(DeclarationModel):
    """Whether sample logs beside a result are ignored, checked if there are any, or required.

    `least` is the weakest word of evidence of a row with a rank.
    """

    samples: Literal["ignored", "checked", "required"] = "ignored"
    least: EvidenceWord = "quoted"


class Waiver(DeclarationModel):
    """A dated, signed exception: `submission` is a shell pattern on the path, `sha256:…`, or a model id.

    `tasks` are the ids of those whose errors it excuses, any where there are none.
    """

    rule: Text
    submission: Text
    tasks: tuple[Text, ...] = ()
    reason: Text
    who: Text
    until: date


class Average(DeclarationModel):
    """How the average is made, and whether an incomplete row stands unranked or is refused.

    It is the plain mean of the tasks, or `over` the groups, each of which is the plain mean of its tasks.
    """

    over: Literal["tasks", "groups"] = "tasks"
    aggregation: Literal["mean"] = "mean"
    missing: Literal["unranked", "refused"] = "unranked"


class Join(DeclarationModel):
    """Which submissions make one row: `"same"` joins those of one accepted range and equal settings, `"never"` none."""

    settings: Literal["same", "never"] = "same"


def _averaged(average: object) -> object:
    """An average that is written as what it is made over."""
    return {"over": average} if isinstance(average, str) else average


def _named(metric: object) -> object:
    """A metric that is written as its name alone."""
    return {"name": metric} if isinstance(metric, str) else metric


class Column(DeclarationModel):
    """A column that is shown and does not count: another metric of some leaves, a cost, tokens, seconds.

    `leaves` are ids of the tasks' leaves, or keys as the files have them; where there are several, their values are
    averaged or summed. `unit` is "fraction", "percent", "plain" (none), or what stands behind the number.
    """

    id: Id
    title: Text
    leaves: Annotated[tuple[Text, ...], Field(min_length=1)]
    metric: Annotated[Metric, BeforeValidator(_named)]
    unit: Text = "fraction"
    higher_is_better: StrictBool = True
    aggregation: Literal["mean", "sum"] = "mean"


MODEL = re.compile(r"[\w.-]+(/[\w.-]+)?(@[0-9a-f]{40})?")


def _model_name(value: Any) -> str | bool:
    """A name of a model, or the value of `plain`."""
    if isinstance(value, bool) or (isinstance(value, str) and MODEL.fullmatch(value)):
        return value
    parts = "; only `identity` of a watch and --model-name repeat parts of a path" if "{" in str(value) else ""
    raise ValueError(f"write org/name, or org/name@ and a full commit{parts}")


# The columns of a board's table and of a table of scores that are not tasks.
COLUMNS = frozenset({"path", "rank_best", "rank_worst", "model", "revision", "precision", "chat_template", "average",
                     "average_stderr", "average_without_quarantined", "verdict", "missing", "warnings",
                     "entry", "date", "evidence"})  # fmt: skip
PLAIN = "plain"  # the one key of [models] that names no model
KEPT = "# As rows were scored by it: groups of the catalogue and definitions of releases are written out."
MOST_NUMBERS = 100_000  # leaves times metrics
WILD = re.compile(r"[*?[]")  # what makes a name of leaves a pattern
MOST_PAIRS = 1_000_000  # leaves times the patterns of leaves
ID_REASON = "the file's name is the id; leave the key out"
# What is said to people and decides neither verdicts nor scores.
WORDS = frozenset({"title", "description", "homepage", "reason", "bound_reason", "who", "quarantined", "hub"})
NAMED_BY_FILES = frozenset({"fields", "models"})  # tables whose keys are no keys of a declaration: all of them decide


class Leaderboard(DeclarationModel):
    """A leaderboard as data; the id is the stem of its file.

    `formats` are the forms of its own result files. `precision` is that of models whose files record none. With
    `served_models` a model that only a service has is called by the service and its name there, and the day of the
    measurement is its revision.
    """

    id: Annotated[str, spelled(ID, f"the file's name is the id; write it with {ID_FORM}")]
    title: Text
    description: Text
    homepage: Text | None = None
    average: Annotated[Average, BeforeValidator(_averaged)] = Average()
    join: Join = Join()
    harness: Harness
    evidence: EvidenceDemand = EvidenceDemand()
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]
    columns: tuple[Column, ...] = ()
    models: dict[Text, Annotated[str | bool, PlainValidator(_model_name)]] = Field(default={})
    precision: Annotated[str, spelled("|".join(PRECISIONS), "write a precision, such as bfloat16")] | None = None
    served_models: StrictBool = False
    formats: Annotated[tuple[DeclaredForm, ...], Field(max_length=MOST_FORMS)] = ()
    waivers: tuple[Waiver, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaderboard) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def text(self) -> str:
        """The TOML of this declaration with this digest, independent of the data of a bot's version."""
        declared = {key: value for key, value in self._declared.items() if key != "id"}
        return "\n".join([KEPT, *(f"{toml_key(key)} = {toml_text(value)}" for key, value in declared.items()), ""])

    def leaves(self) -> Iterator[tuple[Task, Leaf]]:
        """Every required leaf with its task, in the order of the declaration."""
        return ((task, leaf) for task in self.tasks for leaf in task.leaves)

    @cached_property
    def leaf_count(self) -> int:
        """How many leaves are required."""
        return sum(len(task.leaves) for task in self.tasks)

    def formats_of(self, leaf: Leaf) -> tuple[str, ...]:
        """The formats whose files can have a leaf: all, but of one whose key has a bar those that write it so.

        A form that names all leaves of its files has no other.
        """
        return self._formats_by_leaf[leaf.id]

    @cached_property
    def _formats_by_leaf(self) -> Mapping[str, tuple[str, ...]]:
        found = {}
        for _, leaf in self.leaves():
            barred = {one for one, key in leaf.keys.items() if "|" in key}
            accepted = tuple([one for one in self.harness.formats if self._can_have(one, leaf)]) or self.harness.formats
            if barred:
                named = [one.formats for one in self.harness.definitions if leaves_like_any(one.leaves, leaf.id)]
                barred = {one for formats in named for one in formats} or barred
            found[leaf.id] = tuple(one for one in accepted if one in barred) or accepted
        return found

    @cached_property
    def forms(self) -> frozenset[str]:
        """Those of the accepted formats whose layout is data."""
        known = {one.id for one in self.formats}
        is_form = {one: one in known or ((found := find_format(one)) is not None and found.is_form)
                   for one in self.harness.formats}  # fmt: skip
        return frozenset(one for one in is_form if is_form[one])

    @cached_property
    def has_sources(self) -> bool:
        """Tell whether files of two formats may bring leaves of one row that the other format never has."""
        formats = self.harness.formats
        if len(formats) < 2 or self.join.settings == "never":
            return False
        return any(len(self.formats_of(leaf)) < len(formats) for _, leaf in self.leaves()) or (
            not self.harness.accepted and bool(self.forms)
        )

    def _can_have(self, format_id: str, leaf: Leaf) -> bool:
        known = next((one.format for one in self.formats if one.id == format_id), None) or find_format(format_id)
        return known is None or known.only_leaves is None or leaf.key(format_id) in known.only_leaves

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the SHA-256 of the declaration's canonical JSON, without keys that have their default."""
        return _digest(self._declared)

    @cached_property
    def scoring_digest(self) -> str:
        """The digest of what decides scores: neither a changed description nor another name of a model changes it."""
        return _digest({key: value for key, value in _without_words(self._declared).items() if key != "models"})

    @cached_property
    def judging_digest(self) -> str:
        """The digest of all that decides: verdicts, scores, and which model a result is of."""
        return _digest(_without_words(self._declared))

    @property
    def model_names(self) -> Mapping[str, str]:
        """The Hub ids of models by what the files call them."""
        return {key: name for key, name in self.models.items() if isinstance(name, str)}

    @property
    def takes_plain_names(self) -> bool:
        """Whether a name without an organization is the id of a model on this board."""
        return self.models.get(PLAIN) is True

    @cached_property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The tasks of each group, in the order of the declaration."""
        found = grouped((task.group, task.id) for task in self.tasks if task.group)
        return {name: tuple(tasks) for name, tasks in found.items()}

    @property
    def asks_samples(self) -> bool:
        """Tell whether sample logs are looked at."""
        return self.evidence.samples != "ignored" or STRENGTH[self.evidence.least] >= STRENGTH["samples"]

    @property
    def requires_samples(self) -> bool:
        """Tell whether a row without sample logs has no place or no rank."""
        return self.evidence.samples == "required" or STRENGTH[self.evidence.least] >= STRENGTH["samples"]

    @property
    def deciding(self) -> Any:
        """The part that decides verdicts and scores, with defaults filled in."""
        return _without_words(self.model_dump(mode="json"))

    @property
    def _declared(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)


def _digest(declared: Any) -> str:
    text = json.dumps(declared, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _without_words(declared: Any) -> Any:
    if isinstance(declared, list):
        return [_without_words(inner) for inner in declared]
    if not isinstance(declared, dict):
        return declared
    kept = {
        key: value if key in NAMED_BY_FILES else _without_words(value)
        for key, value in declared.items()
        if key not in WORDS
    }
    if "older_versions" in kept:  # each with the words that say what was different
        kept["older_versions"] = sorted(kept["older_versions"])
    return kept


def _prepared(leaderboard_id: str, data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """The data with its id and the leaves of groups, and what is wrong between its tables."""
    prepared, faults = with_group_leaves({**data, "id": leaderboard_id})
    faults += [*_unknown_definitions(prepared), *_faults_between_tables(prepared)]
    faults += [("id", ID_REASON)] if "id" in data else []
    return _with_definitions(_with_own_formats(prepared)), faults


def _with_own_formats(data: dict[str, Any]) -> dict[str, Any]:
    """The data with its own forms as the formats that it takes, where it does not name any."""
    harness, ids = data.get("harness", {}), [table(one).get("id") for one in items(data.get("formats"))]
    if not ids or not isinstance(harness, dict) or "formats" in harness:
        return data
    return {**data, "harness": {"formats": ids, **harness}}


def _unknown_definitions(data: Mapping[str, Any]) -> Iterator[Fault]:
    """The names of definitions that accepted ranges give and that no shipped file has."""
    for number, span in enumerate(items(table(data.get("harness")).get("accepted"))):
        name = table(span).get("definitions")
        if isinstance(name, str) and name not in released_names():
            known = ", ".join(sorted(released_names()))
            yield f"harness.accepted.{number}.definitions", f"there is no file {name!r}; there are {known}"


def _with_definitions(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with the shipped definitions that accepted ranges name, behind those that it gives itself."""
    harness = data.get("harness")
    if not isinstance(harness, dict) or not isinstance(harness.get("definitions", []), list):
        return dict(data)
    names = [str(table(span).get("definitions")) for span in items(harness.get("accepted"))]
    ids = {str(leaf.get("id")) for leaf in _leaves_in(data)}
    found = [one for name in dict.fromkeys(names) if name in released_names() for one in definitions_in(name, ids)]
    return {**data, "harness": {**harness, "definitions": [*items(harness.get("definitions")), *found]}}


def _faults_between_tables(data: Mapping[str, Any]) -> Iterator[Fault]:
    """The mistakes between tables: names that are used twice or are reserved."""
    tasks = [task for task in items(data.get("tasks")) if isinstance(task, dict)]
    yield from _faults_of_columns(data, tasks)
    if tasks and all(task.get("quarantined") for task in tasks):
        yield "tasks", "every task is quarantined, so no average is left without them"
    ids = [task.get("id") for task in tasks]
    for number, taken in enumerate(ids):
        if isinstance(taken, str) and taken in COLUMNS:
            yield f"tasks.{number}.id", f"the task {taken} has the name of a column that every board has"
    yield from _twice("task", ids)
    leaves = _leaves_in(data)
    yield from _too_many(data, tasks, len(leaves))
    yield from _twice("leaf", [leaf.get("id") for leaf in leaves])
    twice = Counter(table(one).get("id") for one in items(data.get("formats")))
    yield from (("formats", f"the form {name} is declared twice") for name, count in twice.items() if count > 1)
    yield from _contradicted_directions(data, tasks)
    for format_id in items(table(data.get("harness")).get("formats")):
        keys = [_spelled(leaf, format_id) for leaf in leaves]
        if keys != [leaf.get("id") for leaf in leaves]:
            yield from _twice(f"{format_id} key", keys)


def _contradicted_directions(data: Mapping[str, Any], tasks: list[dict[str, Any]]) -> Iterator[Fault]:
    """The tasks that count more as better though a form says that less of their metric is."""
    for form in items(data.get("formats")):
        for value in [one for one in items(table(form).get("values")) if table(one).get("higher_is_better") is False]:
            reduce = value.get("reduce", "mean")
            leaf = _like(value.get("leaf"))
            metric = _like(value.get("metric") or ("score" if reduce == "mean" else reduce))
            for number, task in enumerate(tasks):
                names = [one if isinstance(one, str) else table(one).get("name") for one in items(task.get("metrics"))]
                keys = [_spelled(one, table(form).get("id")) for one in items(task.get("leaves")) if table(one)]
                is_read = any(leaf.fullmatch(str(one)) for one in keys) and any(
                    metric.fullmatch(str(one)) for one in names
                )
                if is_read and task.get("higher_is_better", True) is True:
                    why = f"the form {table(form).get('id')} says that less of {value.get('leaf')} is better"
                    yield (
                        f"tasks.{number}.higher_is_better",
                        f"{why}: write false here, with bounds, or take it out there",
                    )


def _like(text: object) -> re.Pattern[str]:
    """The names that a text with parts in braces can give."""
    return re.compile(re.sub(r"\\\{[^{}]*\\\}", ".+", re.escape(str(text))))


def _faults_of_columns(data: Mapping[str, Any], tasks: list[dict[str, Any]]) -> Iterator[Fault]:
    """The mistakes of groups and of columns that do not count."""
    groups = [task.get("group") for task in tasks]
    over = data.get("average")
    if "groups" in (over, table(over).get("over")) and not all(groups):
        yield "average", "over groups needs the group of each task"
    ids = dict.fromkeys(str(task.get("id")) for task in tasks)
    taken = {f"{name}{part}" for name in ids for part in ("", "_raw", "_stderr")}
    listed = [table(column).get("id") for column in items(data.get("columns"))]
    for name in (*dict.fromkeys(groups), *listed):
        if isinstance(name, str) and name in COLUMNS | taken:
            yield "columns" if name in listed else "tasks", f"{name} is the name of two columns"
        taken |= {name} if isinstance(name, str) else set()
    for key, name in table(data.get("models")).items():
        if isinstance(name, bool) and key != PLAIN:
            yield f"models.{key}", f"write a name; only {PLAIN} is true or false"


def _too_many(data: Mapping[str, Any], tasks: list[dict[str, Any]], leaves: int) -> Iterator[Fault]:
    """Why the first result would take minutes or all memory: a small file can combine very many things."""
    if sum(len(items(task.get("leaves"))) * len(items(task.get("metrics"))) for task in tasks) > MOST_NUMBERS:
        yield "tasks", f"ask for more than {MOST_NUMBERS:,} numbers (leaves times metrics)"
    harness = table(data.get("harness"))
    named = [*items(harness.get("definitions")), *items(harness.get("known_bad"))]
    patterns = [name for one in named for name in items(table(one).get("leaves")) if WILD.search(str(name))]
    if leaves * len(patterns) > MOST_PAIRS:
        yield "harness", f"has more than {MOST_PAIRS:,} pairs of a leaf and a pattern of leaves"


def leaves_like(pattern: str, leaves: Collection[str]) -> Collection[str]:
    """The leaves that match a pattern."""
    return matching(leaves, pattern) if WILD.search(pattern) else {pattern}.intersection(leaves)


def leaves_like_any(patterns: Iterable[str], leaf: str) -> bool:
    """Tell whether one of the patterns matches a leaf."""
    return any(leaves_like(pattern, {leaf}) for pattern in patterns)


def _leaves_in(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    leaves = (leaf for task in items(data.get("tasks")) for leaf in items(table(task).get("leaves")))
    return [leaf for leaf in leaves if isinstance(leaf, dict)]


def _spelled(leaf: Mapping[str, Any], format_id: object) -> Any:
    spelled = table(leaf.get("keys")).get(format_id) if isinstance(format_id, str) else None
    return spelled or leaf.get("id")


def _twice(what: str, names: list[Any]) -> Iterator[Fault]:
    counts = Counter(name for name in names if isinstance(name, str))
    yield from (("tasks", f"the {what} {name} is declared twice") for name, count in counts.items() if count > 1)


@cache
def shipped() -> tuple[str, ...]:
    """The ids of the declarations that come with the program."""
    folder = files("bot").joinpath("data", "leaderboards")
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


@lru_cache(maxsize=8)
def load_shipped(leaderboard_id: str) -> Leaderboard:
    """Read a shipped declaration, once."""
    text = files("bot").joinpath("data", "leaderboards", f"{leaderboard_id}.toml").read_text(encoding="utf-8")
    return parse_leaderboard(text, leaderboard_id, f"{leaderboard_id}.toml")


def load_leaderboard(id_or_path: str) -> Leaderboard:
    """Read a shipped declaration by its id, or anyone's by the path of its TOML file.

    Raises CallError if there is no such id or file, MalformedDeclaration where the file is refused.
    """
    if id_or_path in shipped():
        return load_shipped(id_or_path)
    path = Path(id_or_path)
    try:
        return parse_leaderboard(read_toml(path), path.stem, id_or_path)
    except FileNotFoundError:
        known = ", ".join(shipped())
        raise CallError(f"there is no leaderboard {id_or_path!r}: name a TOML file, or one of {known}") from None
    except UnicodeDecodeError:
        raise MalformedDeclaration(id_or_path, [("", "is not UTF-8 text")]) from None
    except (OSError, ValueError) as error:  # ValueError: there is a NUL in the path
        raise CallError(f"{id_or_path[:80]!r} cannot be read: {getattr(error, 'strerror', error)}") from None


@lru_cache(maxsize=32)  # each pass opens its declaration, and a stranger may keep one text under very many names
def parse_leaderboard(text: str, leaderboard_id: str, path: str) -> Leaderboard:
    """Check a declaration's text; `path` names it in errors. Raises MalformedDeclaration with every key at fault."""
    return parse_toml(
        text, path, Leaderboard, partial(_prepared, leaderboard_id), lambda data: {"formats": form_ids(data)}
    )
