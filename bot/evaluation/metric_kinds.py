"""The kinds of metrics by their names, which are in bot/data/metrics.toml: what their values can be."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

NOT_SCORED = frozenset({"bypass", "submission"})  # metrics that stand for answers that nobody scored
COUNTS = re.compile(r"(^|_)(len|length|count|num|n|tokens|time|seconds|runtime)(_|$)")
PLACEHOLDERS = (-1, 999)  # what tools write where nothing was measured


class MetricKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Metrics of one kind: their names as shell patterns, and what their values can be.

    `is_share` is false of perplexities, losses and distances, which are never shown in percent.
    """

    names: tuple[str, ...]
    range: tuple[float, float]
    higher_is_better: bool = True
    zeros_and_ones: bool = False
    is_guessed: bool = True
    is_share: bool = True


@cache
def _kinds() -> tuple[MetricKind, ...]:
    """All kinds, those first that a draft prefers."""
    text = files("bot").joinpath("data", "metrics.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, tuple[MetricKind, ...]])["kinds"]


@lru_cache(maxsize=4_096)
def kind_of(name: str) -> MetricKind | None:
    """The kind of a metric by its name, None for an unknown one."""
    return next((kind for kind in _kinds() if any(fnmatchcase(name, pattern) for pattern in kind.names)), None)


def is_count(name: str) -> bool:
    """Tell whether a number of this name, which no kind has, counts or measures something else than right answers."""
    return kind_of(name) is None and COUNTS.search(name) is not None


def is_share(name: str) -> bool:
    """Tell whether the values of a metric may be shown in percent, as far as its name says."""
    kind = kind_of(name)
    return kind.is_share if kind is not None else not is_count(name)


def names_of_errors() -> list[str]:
    """The names of metrics that are better where they are less, without patterns."""
    return [name for kind in _kinds() if not kind.higher_is_better for name in kind.names if "*" not in name]


@lru_cache(maxsize=4_096)
def place_of(name: str) -> int:
    """The place of a metric's name in the list; unknown names come after all others."""
    patterns = [pattern for kind in _kinds() for pattern in kind.names]
    return next((place for place, pattern in enumerate(patterns) if fnmatchcase(name, pattern)), len(patterns))
