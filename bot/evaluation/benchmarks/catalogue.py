"""The shipped catalogue of benchmarks that many leaderboards use: facts, each with its source.

A declaration takes the members of a group from here; `leaderboards draft` and the rules on benchmarks that are broken
for everybody look facts up. One file of `bot/data/catalogue/` is read as `CatalogueFile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, field_validator

from bot.evaluation.task import Bound, Dataset, DeclarationModel, FormatId, Metric, Text
from bot.evaluation.toml_file import parse_toml

Count = Annotated[int, Field(gt=0)]
Fact = Literal["members", "samples", "choices", "metrics", "num_fewshot", "dataset"]
PLACE = "{}"  # stands for the member's name in the key of a group's members
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
           "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")  # fmt: skip


class Guessable(DeclarationModel):
    """The value of guessing: one of `choices` answers, unless `guess` says otherwise; 0 if there are no choices."""

    choices: Annotated[int, Field(gt=1, le=len(NUMBERS))] | None = None
    guess: Bound | None = None
    guess_reason: Text | None = None

    @property
    def guessing(self) -> Fraction:
        """The value that guessing gives, as a fraction of all samples."""
        if self.guess is not None:
            return self.guess
        return Fraction(1, self.choices) if self.choices else Fraction(0)

    @property
    def why(self) -> str:
        """Why guessing gives this value."""
        among = f"guessing among {NUMBERS[self.choices - 1]}" if self.choices else "the answer is written freely"
        return self.guess_reason or among


class Member(Guessable):
    """A member of a group; what guessing gives is the group's where it has no choices."""

    samples: Count


class Known(Guessable):
    """What a benchmark and a group have in common.

    `metrics` are those that count. `formats` are the result formats that call it by its id (those of its file where
    none is given); `keys` are its keys in others. `num_fewshot` is the usual number of shots, `dataset` the id of its
    questions on the Hub. `sources` name the source of a fact where it is another than that of the file.
    """

    id: Text
    title: Text
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    formats: tuple[FormatId, ...] = ()
    keys: dict[FormatId, Text] = Field(default_factory=dict)
    num_fewshot: Annotated[int, Field(ge=0)]
    dataset: Dataset
    sources: dict[Fact, Text] = Field(default_factory=dict)


class KnownBenchmark(Known):
    """A benchmark that is one leaf."""

    samples: Count


class Group(Known):
    """A benchmark of several leaves, by their names; `key` and `keys` spell a member, `{}` standing for its name.

    `members` may name another group that has the same ones. `aggregation` is how the harness makes its aggregate row,
    `rows` are the names of all aggregate rows. `nested` says that each member asks questions of every larger one.
    """

    key: Text
    aggregation: Literal["mean", "size-weighted"]
    rows: tuple[Text, ...] = ()
    nested: bool = False
    members: dict[Text, Member] | Text

    @field_validator("members", mode="before")
    @classmethod
    def _a_number_is_of_samples(cls, members: Any) -> Any:
        if not isinstance(members, dict):
            return members
        return {name: {"samples": one} if isinstance(one, int) else one for name, one in members.items()}


class CatalogueFile(DeclarationModel):
    """One file of the catalogue; `formats` and `sources` are the defaults of everything in it."""

    formats: Annotated[tuple[FormatId, ...], Field(min_length=1)]
    sources: dict[Fact, Text]
    benchmarks: tuple[KnownBenchmark, ...] = ()
    groups: tuple[Group, ...] = ()


class KnownLeaf(msgspec.Struct, frozen=True, gc=False):
    """A leaf of the catalogue: its benchmark, or the group of which it is a member, and its facts."""

    of: KnownBenchmark | Group
    name: str
    samples: int
    guessable: Guessable


class Catalogue:
    """All files together."""

    def __init__(self, all_files: Mapping[str, CatalogueFile]) -> None:
        self.files = all_files
        self.groups = {group.id: group for file in all_files.values() for group in file.groups}
        self._leaves: dict[tuple[str, str], KnownLeaf] = {}
        for file in all_files.values():
            for benchmark in file.benchmarks:
                found = KnownLeaf(benchmark, benchmark.id, benchmark.samples, benchmark)
                self._add(benchmark.id, file, found)
            for group in file.groups:
                for name, member in members_of(group).items():
                    guessable = member if member.choices or member.guess is not None else group
                    self._add(group.key.replace(PLACE, name), file, KnownLeaf(group, name, member.samples, guessable))

    def _add(self, key: str, file: CatalogueFile, found: KnownLeaf) -> None:
        known = found.of
        for format_id in known.formats or file.formats:
            self._leaves.setdefault((format_id, key), found)
        for format_id, pattern in known.keys.items():
            self._leaves.setdefault((format_id, pattern.replace(PLACE, found.name)), found)

    def find(self, format_id: str, key: str) -> KnownLeaf | None:
        """The facts of a leaf by its key in a format; None if the catalogue does not have it."""
        name = key.split("|")[-2] if format_id == "lighteval" and "|" in key else key  # suite|task|shots
        return self._leaves.get((format_id, name))


@cache
def catalogue() -> Catalogue:
    """The shipped catalogue, read once."""
    return Catalogue({name: _file(name) for name in _texts()})


@lru_cache(maxsize=64)  # anybody's declaration may name anything
def find_group(group_id: str) -> Group | None:
    """A group of the catalogue by its id, None if there is none. Only the file of that group is read."""
    holding = [name for name, text in _texts().items() if f'\nid = "{group_id}"\n' in text]
    return next((group for name in holding for group in _file(name).groups if group.id == group_id), None)


def members_of(group: Group) -> Mapping[str, Member]:
    """The members of a group by name; where it names another group, those of that group."""
    if not isinstance(group.members, str):
        return group.members
    named = find_group(group.members)
    if named is None:
        raise LookupError(f"{group.id} has the members of {group.members}, which is not a group")
    return members_of(named)


@cache
def _texts() -> dict[str, str]:
    """The files of the catalogue by their names."""
    found = {item.name: item for item in files("bot").joinpath("data", "catalogue").iterdir()}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found) if name.endswith(".toml")}


@cache
def _file(name: str) -> CatalogueFile:
    return parse_toml(_texts()[name], name, CatalogueFile)
