"""Choose which of a leaf's numbers counts, and look up its kind by its name; the names are in bot/data/metrics.toml."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import Field

from bot.evaluation.declared import DeclarationModel, Limit, Text
from bot.evaluation.formats import format_of
from bot.evaluation.toml_file import parse_toml

NO_METRICS = frozenset({"alias", "name", "sample_len", "sample_count", "samples", "num_examples", "num_instances"})
FILTERS = ("strict-match", "strict_match", "none", "get-answer", "get_response", "custom-extract", "remove_whitespace")
LAST_FILTER = "flexible-extract"  # what it finds wherever it stands is the more generous of two


class MetricKind(DeclarationModel):
    """Metrics of one kind: their names as shell patterns, and what their values can be."""

    names: Annotated[tuple[Text, ...], Field(min_length=1)]
    range: tuple[Limit, Limit]
    higher_is_better: bool = True
    zeros_and_ones: bool = False


class MetricFile(DeclarationModel):
    """All kinds, those first that a draft prefers."""

    kinds: tuple[MetricKind, ...]


@cache
def _kinds() -> tuple[MetricKind, ...]:
    text = files("bot").joinpath("data", "metrics.toml").read_text(encoding="utf-8")
    return parse_toml(text, "metrics.toml", MetricFile).kinds


@lru_cache(maxsize=4_096)
def kind_of(name: str) -> MetricKind | None:
    """The kind of a metric by its name, None for an unknown one."""
    return next((kind for kind in _kinds() if any(fnmatchcase(name, pattern) for pattern in kind.names)), None)


@lru_cache(maxsize=4_096)
def _place(name: str) -> int:
    """How early a metric's name stands in the list; unknown names come after all."""
    patterns = [pattern for kind in _kinds() for pattern in kind.names]
    return next((place for place, pattern in enumerate(patterns) if fnmatchcase(name, pattern)), len(patterns))


def split_key(format_id: str, key: str) -> tuple[str, str]:
    """A value's key as the metric's name and the answer filter, "none" where the format has no filters."""
    name, _, answer_filter = key.rpartition(",")
    if name and answer_filter and format_of(format_id).metric_key(name, answer_filter) == key:
        return name, answer_filter
    return key, "none"


def metric_keys(format_id: str, numbers: Mapping[str, Any]) -> list[str]:
    """The keys of a row that are metrics, the one first that counts: by its filter, then by its name."""
    errors = {format_of(format_id).stderr_key(key) for key in numbers}
    found = [
        key
        for key, value in numbers.items()
        if key and key not in errors | NO_METRICS and "stderr" not in key and type(value) in {int, float}
    ]
    return sorted(found, key=lambda key: _rank(*split_key(format_id, key)))


def _rank(name: str, answer_filter: str) -> tuple[int, int]:
    late = len(FILTERS) + (answer_filter == LAST_FILTER)
    return _place(name), FILTERS.index(answer_filter) if answer_filter in FILTERS else late
