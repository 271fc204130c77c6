"""What tells several files of one model apart: the data set, game or track of each, in its path or under a key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from bot.evaluation.draft.form_rows import (
    MOST_ELEMENTS,
    STAMP,
    NamedRows,
    is_name,
    last_key,
    path_names,
    texts_in,
    words_of,
)
from bot.evaluation.draft.form_values import NO_RESULTS, NO_SCORE, TASK_KEYS
from bot.evaluation.formats.numbers import number_of

MOST_SETS = 300  # files of one model that may be of a task each
MOST_FILES, MOST_MODELS = 20, 40  # that are compared
MOST_KEYS, DEEPEST = 3, 3  # keys of a set, and objects in which its numbers are
# Keys that say what was asked: those of tasks, but for keys that say of anything what it is called.
SETS = {*TASK_KEYS, "game", "track", "scenario", "environment", "env", "suite", "benchmark_name", "test", "eval",
        "evaluation", "subject", "exam", "level", "corpus", "dataset_id", "task_id"}  # fmt: skip
SETS -= {"name", "id", "group", "metric", "metric_name"}
# Texts that tell runs apart, and not what was asked.
OF_RUNS = frozenset({"status", "run", "run_id", "run_name", "file", "filename", "path", "commit", "host", "hostname",
                     "notes", "comment", "user", "author", "submitted_by", "date", "time", "timestamp", "url", "sha",
                     "hash", "revision", "version"})  # fmt: skip
# Keys of numbers that tell files apart of which a table may show the mean.
NUMBERED = frozenset({"seed", "fold", "run", "trial", "repeat", "repetition", "episode", "level", "problem",
                      "problem_id", "story", "story_id", "scenario", "scenario_id", "task", "task_id"})  # fmt: skip
VERSION = re.compile(r"v?\d+(\.\d+)+([-+ ]|$)")


class _File(NamedTuple):
    """What one file says of one model: its texts by their places, and the numbers that may be scores."""

    texts: Mapping[str, str]
    numbers: Mapping[str, float]


def set_level(way: NamedRows) -> int | None:
    """The part of the paths that tells several files of one model apart, such as the data set of each."""
    files: dict[str, dict[str, None]] = {}
    for name, row in zip(way.names, way.rows.rows, strict=True):
        files.setdefault(name, {}).setdefault(row.path)
    several = [list(paths) for paths in files.values() if len(paths) > 1]
    if not way.model or 2 * len(several) <= len(files):
        return None
    for level in (0, 1):
        parts = [[path_names(path).get(f"path{level}", "") for path in paths] for paths in several]
        found = {part for one in parts for part in one}
        shares = 2 * len(found) <= sum(map(len, parts))  # of most data sets several models have a file
        if shares and len(found) <= MOST_SETS and all(len(set(one)) == len(one) for one in parts):
            return level if not any(not part or STAMP.search(part) for part in found) else None
    return None


def set_places(way: NamedRows) -> tuple[str, ...]:
    """The places of texts that tell files of one model with the same numbers apart, those of known keys first.

    Such a text is shared by files of several models, but for one whose key says what it is. Without it the newest file
    would stand for those of all games, tracks, or models of another name.
    """
    files = _files(way)
    clashing = [some for some in files.values() if len(some) > 1]
    pairs = [
        (one, other)
        for some in clashing
        for one, other in combinations(some, 2)
        if any(other.numbers.get(place, value) != value for place, value in one.numbers.items())
    ]
    every = [one for some in files.values() for one in some]
    places = [place for place in every[0].texts if all(place in one.texts for one in every)] if pairs else []
    places = [place for place in places if place != way.model and _may_be_set(place, files)]
    chosen: list[str] = []
    while pairs and places and len(chosen) < MOST_KEYS:
        told = {place: sum(one.texts[place] != other.texts[place] for one, other in pairs) for place in places}
        best = max(places, key=lambda place: (is_set(place), told[place], not _is_of_config(place), -len(place)))
        if not told[best]:
            places.remove(best)
            continue
        chosen.append(best)
        pairs = [(one, other) for one, other in pairs if one.texts[best] == other.texts[best]]
    return tuple(chosen)


def is_set(place: str) -> bool:
    """Tell whether a key says what was asked, such as a task or a game."""
    return last_key(place) in SETS and not _is_of_config(place)


def _is_of_config(place: str) -> bool:
    return any(NO_RESULTS.search(words_of(part)) for part in place.split(".")[:-1])


def _may_be_set(place: str, files: Mapping[str, Sequence[_File]]) -> bool:
    """Tell whether texts at a place are few, names, and shared by several models."""
    models: dict[str, set[str]] = {}
    for model, some in files.items():
        for one in some:
            models.setdefault(one.texts[place], set()).add(model)
    shared = sum(len(one) > 1 for one in models.values())
    is_known = is_set(place) or 2 * shared >= len(models) > 1
    return (
        is_known
        and 1 < len(models) <= MOST_SETS
        and (all(map(str.isdecimal, models)) or (last_key(place) not in OF_RUNS and all(map(_is_name_of_set, models))))
    )


def _is_name_of_set(text: str) -> bool:
    return is_name(text) and not STAMP.search(text) and not VERSION.match(text)


def _files(way: NamedRows) -> dict[str, list[_File]]:
    """The files of each model, where each has one measurement of it; none where no model has several."""
    found: dict[str, dict[str, Any]] = {}
    for name, row in zip(way.names, way.rows.rows, strict=True):
        paths = found.setdefault(name, {}) if len(found) < MOST_MODELS or name in found else {}
        if row.path in paths:
            paths[row.path] = None
        elif len(paths) < MOST_FILES and name:
            paths[row.path] = row.value
    values = {name: [one for one in paths.values() if one is not None] for name, paths in found.items()}
    if all(len(some) < 2 for some in values.values()):
        return {}
    return {
        name: [_File({**dict(texts_in(one)), **_numbered(one)}, dict(_numbers(one))) for one in some]
        for name, some in values.items()
        if some
    }


def _numbered(value: Any) -> dict[str, str]:
    """The whole numbers of a measurement that may tell it from others of its model."""
    keys = value if isinstance(value, dict) else {}
    return {key: str(one) for key, one in keys.items() if key in NUMBERED and type(one) is int and one >= 0}


def _numbers(value: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    for key, one in list(value.items())[:MOST_ELEMENTS] if isinstance(value, dict) else ():
        if isinstance(one, dict) and depth < DEEPEST:
            yield from _numbers(one, f"{place}.{key}", depth + 1)
        elif (number := number_of(one)[0]) is not None and not NO_SCORE.search(words_of(key)):
            yield f"{place}.{key}", number
