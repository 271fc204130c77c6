"""The tasks of a declaration: columns, their subtasks, metrics and bounds, and the types of values of all tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainSerializer,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from bot.evaluation.formats import find_format, format_ids, format_of
from bot.evaluation.formats.fields import ONE_LINE, canonical_version
from bot.evaluation.toml_file import spelled


def _known_format(value: str, info: ValidationInfo) -> str:
    """Refuse, in a declaration, the id of a format that is neither installed nor a form of that declaration."""
    known = (info.context or {}).get("formats")
    if known is not None and value not in known and find_format(value) is None:
        raise ValueError(f"there is no result format {value!r}; there are {', '.join(sorted(format_ids() | known))}")
    return value


FormatId = Annotated[str, AfterValidator(_known_format)]
FRACTION = re.compile(r"[-+]?\d{1,18}(/0*[1-9]\d{0,17}|\.\d{1,18})?")
MmluFamily = Literal[
    "original",
    "helm",
    "harness_2023",
    "harness_letters",
    "harness_letters_one_newline",
    "harness_generative",
    "harness_continuation",
]
Revision = Annotated[str, spelled(r"[0-9a-f]{7,40}", "write a commit: 7 to 40 of the characters 0 to 9 and a to f")]
Dataset = Annotated[str, spelled(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", "write org/name of the dataset")]
DocumentsDigest = Annotated[str, spelled(r"[0-9a-f]{32}", "write the 32 characters that `check --samples` shows")]
Text = Annotated[
    str, StringConstraints(min_length=1), spelled(ONE_LINE, "write it in one line, without control characters")
]
ID = r"[A-Za-z0-9][A-Za-z0-9_.:-]*"
WORST_FIRST = (
    "where less is better, lower_bound is the worst value and upper_bound the best, such as "
    'lower_bound = "100" with a bound_reason, and upper_bound = "0"'
)
ID_FORM = "letters, digits and _ . : - without spaces; first a letter or digit"
Id = Annotated[str, spelled(ID, f"write {ID_FORM}")]


def _fraction(value: object) -> Fraction:
    """Read "1/3", "0" or 1; a float is refused, for 0.333 is not a third."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError('write an exact fraction in quotes, such as "1/3"')
    if FRACTION.fullmatch(str(value)) is None:
        raise ValueError(f'{str(value)[:40]!r} is not a fraction; write one in quotes, such as "1/3"')
    return Fraction(value)


Limit = Annotated[FiniteFloat, Field(ge=-1e100, le=1e100, strict=True)]
Bound = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str)]
Version = Annotated[str, BeforeValidator(canonical_version)]


class DeclarationModel(BaseModel):
    """A table of a declaration: an unknown key is refused."""

    # built together with the model that holds it, not one by one: the cold start of `check` has a bar
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Metric(DeclarationModel):
    """A number that a leaf yields.

    `filter` is lm-eval 0.4's name of the answer filter, `keys` the spelling in formats that spell it otherwise.
    `samples` is the number of values behind the mean where it is not the leaf's. `integral` says that value * samples
    is a whole number: the metric is the mean of zeros and ones.
    """

    name: Text
    filter: Text = "none"
    keys: dict[FormatId, Text] = Field(default_factory=dict)
    samples: Annotated[int, Field(gt=0, strict=True)] | None = None
    integral: StrictBool = True

    def key(self, format_id: str) -> str:
        """The key of the value in a leaf's row of that format."""
        return self.keys.get(format_id) or format_of(format_id).metric_key(self.name, self.filter)

    def stderr_key(self, format_id: str) -> str:
        """The key of the value's standard error beside it."""
        return format_of(format_id).stderr_key(self.key(format_id))


class Leaf(DeclarationModel):
    """A subtask that was run: its key in each format (the id where none is given), its bounds, its sample count.

    Where `samples` is None, any number of samples is accepted.
    """

    id: Id
    keys: dict[FormatId, Text] = Field(default_factory=dict)
    lower_bound: Bound | None = None
    bound_reason: Text | None = None
    samples: Annotated[int, Field(gt=0, strict=True)] | None = None

    def key(self, format_id: str) -> str:
        """The key of this leaf in a result of that format."""
        return self.keys.get(format_id) or self.id


class HubBenchmark(DeclarationModel):
    """The benchmark on the Hub that a task's raw value belongs to: what goes to the page of each model.

    `task_id` is one of those in the dataset's `eval.yaml`, `unit` that of the benchmark's board, for which no file has
    a field. `leaf` publishes one subtask and not the whole column. `framework_differs` is the reason for publishing
    what another harness than the benchmark's own measured.
    """

    dataset: Dataset
    task_id: Text
    unit: Literal["percent", "proportion"]
    leaf: Id | None = None
    framework_differs: Text | None = None


class NotComparable(DeclarationModel):
    """Results that are accepted, although their numbers are not comparable with the others.

    They may have any task version where `versions` names none.
    """

    formats: Annotated[tuple[FormatId, ...], Field(min_length=1)]
    versions: tuple[Version, ...] = ()
    reason: Text

    def covers(self, format_id: str, version: float | str | None) -> bool:
        """Tell whether a leaf of that format and task version is one of these."""
        return format_id in self.formats and (not self.versions or canonical_version(version) in self.versions)


class Task(DeclarationModel):
    """A column: leaves, the metric or the metrics whose mean counts, and the way from raw values to a score.

    `normalize = "leaf"` scores each leaf and averages the scores; `"task"` aggregates the raw values and scores that.
    Bounds and range are in the metric's own unit; where less is better the lower_bound lies above the upper_bound.
    `num_fewshot` is None if the number of shots is not asked. `versions` are the accepted task versions,
    `format_versions` those of formats that count them otherwise; none are asked where they are empty.
    `older_versions` names accepted versions whose scorer is not today's, each with what was different. `quarantined`
    says why the column is in doubt: the board then shows the average without it, too. `nested` says that the questions
    of each leaf are among those of every larger one, so that their errors are no independent ones.

    `group` is the title of the group of columns that it belongs to. `members` names a group of the catalogue,
    `member_keys` what its members are called in further formats, `{}` standing for the member's name. `documents` has,
    by leaf, the digests that its questions and targets may have in sample logs. `leaves` then has the members: the
    digest holds them, and not the name.
    """

    id: Id
    title: Text
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    higher_is_better: StrictBool = True
    unit: Literal["fraction", "percent"] = "fraction"
    range: tuple[Limit, Limit] = (0.0, 1.0)
    num_fewshot: Annotated[int, Field(ge=0, strict=True)] | None = None
    aggregation: Literal["mean", "size-weighted"] = "mean"
    nested: StrictBool = False
    normalize: Literal["leaf", "task"] = "task"
    lower_bound: Bound = Fraction(0)
    upper_bound: Bound = Fraction(1)
    bound_reason: Text | None = None
    versions: tuple[Version, ...] = ()
    format_versions: dict[FormatId, tuple[Version, ...]] = Field(default_factory=dict)
    older_versions: dict[Version, Text] = Field(default_factory=dict)
    not_comparable: tuple[NotComparable, ...] = ()
    mmlu_family: MmluFamily | None = None
    quarantined: Text | None = None
    groups: tuple[Text, ...] = ()
    hub: HubBenchmark | None = None
    group: Text | None = None
    members: Annotated[Text | None, Field(exclude=True)] = None
    member_keys: dict[FormatId, Text] = Field(default_factory=dict, exclude=True)
    documents: dict[Text, tuple[DocumentsDigest, ...]] = Field(default_factory=dict)
    leaves: tuple[Leaf, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _percent_reaches_to_100(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("unit") == "percent":
            return {"range": (0.0, 100.0), "upper_bound": "100", **data}
        return data

    @model_validator(mode="after")
    def _bounds_are_sound(self) -> Self:
        faults = [fault for leaf in self.leaves for fault in self._faults_of(leaf)]
        if not self.leaves and self.members is None:
            faults.append("write at least one of its leaves, or `members` with the name of a group of the catalogue")
        if self.range[0] >= self.range[1]:
            faults.append("range begins with its smallest value, and ends with its largest")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @model_validator(mode="after")
    def _hub_fits(self) -> Self:
        hub = self.hub
        if hub is not None and not self.higher_is_better:
            raise ValueError("hub: boards on the Hub rank higher values first, and less is better here")
        if hub is not None and hub.leaf is not None and hub.leaf not in {leaf.id for leaf in self.leaves}:
            raise ValueError(f"hub.leaf: the task has no leaf {hub.leaf}")
        return self

    def _faults_of(self, leaf: Leaf) -> Iterator[str]:
        lower = self.leaf_lower_bound(leaf)
        if lower == self.upper_bound or (lower < self.upper_bound) != self.higher_is_better:
            side = "below" if self.higher_is_better else "above"
            said = f"{leaf.id}: lower_bound {lower} is not {side} upper_bound {self.upper_bound}"
            yield said if self.higher_is_better else f"{said}; {WORST_FIRST}"
        if lower and not (leaf.bound_reason or self.bound_reason):
            yield f"{leaf.id}: lower_bound {lower} needs a bound_reason"
        if leaf.lower_bound is not None and self.normalize == "task":
            yield f'{leaf.id}: a leaf has a lower_bound only where normalize = "leaf"'
        if leaf.samples is None and self.aggregation == "size-weighted":
            yield f'{leaf.id}: aggregation = "size-weighted" needs the samples of each leaf'

    @property
    def has_bounds(self) -> bool:
        """Tell whether guessing is subtracted, so that the score is not the raw value."""
        return self.normalize == "leaf" or self.lower_bound != 0

    def versions_of(self, format_id: str) -> tuple[str, ...]:
        """The task versions that are accepted from a format; any where there are none."""
        return self.format_versions.get(format_id, self.versions)

    def leaf_lower_bound(self, leaf: Leaf) -> Fraction:
        """The raw value of `leaf` that becomes 0."""
        return self.lower_bound if leaf.lower_bound is None else leaf.lower_bound
