"""A leaderboard's declaration: TOML in, a checked Leaderboard out, with the digest that every entry carries."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    model_validator,
)

from bot.errors import CallError, MalformedDeclaration

Format = Literal["lm-eval-0.4", "lm-eval-0.3", "open-llm-v1"]
MmluFamily = Literal[
    "original",
    "helm",
    "harness_2023",
    "harness_letters",
    "harness_letters_one_newline",
    "harness_generative",
    "harness_continuation",
]
Revision = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,40}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$")]


def _fraction(value: object) -> Fraction:
    """Read "1/3", "0" or 1; a float is refused, for 0.333 is not a third."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError('write an exact fraction in quotes, such as "1/3"')
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f'{value!r} is no fraction; write one in quotes, such as "1/3"') from None


def canonical_version(value: object) -> str:
    """Spell a task version one way, whatever type the file gives it: 1, 1.0 and "1.0" are all "1"."""
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value)


Bound = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str)]
Version = Annotated[str, BeforeValidator(canonical_version)]


class _Declared(BaseModel):
    """A table of the declaration: what we do not know is refused."""

    # built with the whole that holds it, not one by one: the cold start of `check` has a bar
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Metric(_Declared):
    """A number that a leaf yields.

    `filter` is lm-eval 0.4's name of the answer filter, `keys` the spelling in formats that deviate. `samples` is the
    number of values behind the mean where it is not the leaf's. `integral` says that value * samples is a whole number:
    the metric is the mean of zeros and ones.
    """

    name: Text
    filter: Text = "none"
    keys: dict[Format, Text] = {}
    samples: Annotated[int, Field(gt=0)] | None = None
    integral: bool = True

    def key(self, spelled: Format) -> str:
        """The key of the value in a leaf's row of that format."""
        return self.keys.get(spelled) or (f"{self.name},{self.filter}" if spelled == "lm-eval-0.4" else self.name)

    def stderr_key(self, spelled: Format) -> str:
        """The key of the value's standard error beside it."""
        name, comma, answer_filter = self.key(spelled).partition(",")
        return f"{name}_stderr{comma}{answer_filter}"


class Leaf(_Declared):
    """A subtask that was run: its key in each format (the id where none is given), its bounds, its sample count."""

    id: Id
    keys: dict[Format, Text] = {}
    lower_bound: Bound | None = None
    bound_reason: Text | None = None
    samples: Annotated[int, Field(gt=0)]

    def key(self, spelled: Format) -> str:
        """The key of this leaf in a result of that format."""
        return self.keys.get(spelled, self.id)


class Task(_Declared):
    """A column: leaves, the metric or the metrics whose mean counts, and the way from raw values to a score.

    `normalize = "leaf"` scores each leaf and averages the scores; `"task"` aggregates the raw values and scores that.
    Bounds and range are in the metric's own unit; where less is better the lower_bound lies above the upper_bound.
    `older_versions` names accepted versions whose scorer is not today's, each with what was different.
    `quarantined` says why the column is in doubt: the board then shows the average without it, too.
    """

    id: Id
    title: Text
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    higher_is_better: bool = True
    unit: Literal["fraction", "percent"] = "fraction"
    range: tuple[FiniteFloat, FiniteFloat] = (0.0, 1.0)
    num_fewshot: Annotated[int, Field(ge=0)]
    aggregation: Literal["mean", "size-weighted"] = "mean"
    normalize: Literal["leaf", "task"] = "task"
    lower_bound: Bound = Fraction(0)
    upper_bound: Bound = Fraction(1)
    bound_reason: Text | None = None
    versions: tuple[Version, ...] = ()
    older_versions: dict[Version, Text] = {}
    mmlu_family: MmluFamily | None = None
    quarantined: Text | None = None
    groups: tuple[Text, ...] = ()
    leaves: Annotated[tuple[Leaf, ...], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _percent_reaches_to_100(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("unit") == "percent":
            return {"range": (0.0, 100.0), "upper_bound": "100", **data}
        return data

    @model_validator(mode="after")
    def _bounds_are_sound(self) -> Self:
        for leaf in self.leaves:
            lower = self.leaf_lower_bound(leaf)
            if lower == self.upper_bound or (lower < self.upper_bound) != self.higher_is_better:
                side = "below" if self.higher_is_better else "above"
                raise ValueError(f"{leaf.id}: lower_bound {lower} is not {side} upper_bound {self.upper_bound}")
            if lower and not (leaf.bound_reason or self.bound_reason):
                raise ValueError(f"{leaf.id}: lower_bound {lower} needs a bound_reason")
            if leaf.lower_bound is not None and self.normalize == "task":
                raise ValueError(f'{leaf.id}: a leaf has a lower_bound only where normalize = "leaf"')
        return self

    def leaf_lower_bound(self, leaf: Leaf) -> Fraction:
        """The raw value of `leaf` that becomes 0."""
        return self.lower_bound if leaf.lower_bound is None else leaf.lower_bound


class Accepted(_Declared):
    """A range of harness commits that results may come from; ends are inclusive, no `until` leaves it open.

    `commits` are known members of the range (checked without a network), `releases` names of the shipped table.
    """

    repository: Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$")]
    since: Revision | None = None
    until: Revision | None = None
    commits: tuple[Revision, ...] = ()
    releases: tuple[Text, ...] = ()
    reason: Text


class KnownBad(_Declared):
    """A harness version whose results for some leaves are wrong for everybody; `leaves` are shell patterns."""

    release: Text | None = None
    commits: tuple[Revision, ...] = ()
    leaves: Annotated[tuple[Text, ...], Field(min_length=1)]
    reason: Text


class Harness(_Declared):
    """What results must have been measured with."""

    formats: Annotated[tuple[Format, ...], Field(min_length=1)]
    accepted: tuple[Accepted, ...] = ()
    known_bad: tuple[KnownBad, ...] = ()
    chat_template: Literal["any", "never", "always"] = "any"


class Waiver(_Declared):
    """A dated, signed exception: `submission` is a shell pattern on the path, `sha256:…`, or a model id."""

    rule: Text
    submission: Text
    reason: Text
    who: Text
    until: date


class Average(_Declared):
    """How the average is made, and whether an incomplete row stands unranked or is refused."""

    aggregation: Literal["mean"] = "mean"
    missing: Literal["unranked", "refused"] = "unranked"


# The columns of a table of rows that are no tasks (board.py, render/scores.py).
COLUMNS = frozenset({"path", "rank", "model", "revision", "precision", "chat_template", "average", "average_stderr",
                     "average_without_quarantined", "verdict", "missing", "warnings", "entry"})  # fmt: skip


class Leaderboard(_Declared):
    """A leaderboard as data; the id is the stem of its file."""

    id: Id
    title: Text
    description: Text
    homepage: Text | None = None
    average: Average = Average()
    harness: Harness
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]
    waivers: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _nothing_twice(self) -> Self:
        if all(task.quarantined for task in self.tasks):
            raise ValueError("every task is quarantined, so no average is left without them")
        for taken in (task.id for task in self.tasks if task.id in COLUMNS):
            raise ValueError(f"the task {taken} has the name of a column that every board has")
        _refuse_twice("task", [task.id for task in self.tasks])
        _refuse_twice("leaf", [leaf.id for _, leaf in self.leaves()])
        for spelled in self.harness.formats:
            _refuse_twice(f"{spelled} key", [leaf.key(spelled) for _, leaf in self.leaves()])
        return self

    def leaves(self) -> Iterator[tuple[Task, Leaf]]:
        """Every required leaf with its task, in the order of the declaration."""
        return ((task, leaf) for task in self.tasks for leaf in task.leaves)

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the SHA-256 of the declaration's canonical JSON, without keys that say nothing."""
        said = self.model_dump(mode="json", exclude_none=True)
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _refuse_twice(what: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the {what} {twice} is declared twice")


def shipped() -> tuple[str, ...]:
    """The ids of the declarations that come with the program."""
    folder = files("bot").joinpath("leaderboards")
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def load_leaderboard(id_or_path: str) -> Leaderboard:
    """Read a shipped declaration by its id, or anyone's by the path of its TOML file.

    Raises CallError where there is no such id or file, MalformedDeclaration where the file is refused.
    """
    if id_or_path in shipped():
        text = files("bot").joinpath("leaderboards", f"{id_or_path}.toml").read_text(encoding="utf-8")
        return parse_leaderboard(text, id_or_path, f"{id_or_path}.toml")
    path = Path(id_or_path)
    try:
        return parse_leaderboard(path.read_text(encoding="utf-8"), path.stem, id_or_path)
    except FileNotFoundError:
        known = ", ".join(shipped())
        raise CallError(f"there is no leaderboard {id_or_path!r}: name a TOML file, or one of {known}") from None
    except UnicodeDecodeError:
        raise MalformedDeclaration(id_or_path, "", "is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # ValueError: there is a NUL in the path
        raise CallError(f"{id_or_path[:80]!r} cannot be read: {getattr(error, 'strerror', error)}") from None


def parse_leaderboard(text: str, leaderboard_id: str, path: str) -> Leaderboard:
    """Check a declaration's text; `path` names it in errors. Raises MalformedDeclaration with the key's path."""
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedDeclaration(path, "", f"is no TOML: {error}") from None
    if "id" in data:
        raise MalformedDeclaration(path, "id", "the file's name is the id; leave the key out")
    try:
        return Leaderboard.model_validate(data | {"id": leaderboard_id})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise MalformedDeclaration(path, key, first["msg"].removeprefix("Value error, ")) from None
