"""Read how each task of an lm-eval 0.4 file was run (shots, version, samples), without its scores.

Files of one harness and one call say the same of it byte for byte, so it is made out once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from bot.evaluation.formats.document import KEPT, Document, Part, TaskConfig, task_configs
from bot.evaluation.formats.fields import shots as number_of_shots
from bot.evaluation.formats.fields import version, whole
from bot.evaluation.result import HarnessVersion, Shape, escape_pointer

Run = tuple[int | None, float | str | None, int | None, int | None]  # shots, version, samples, size of the task
FIELDS = ("n-shot", "versions", "n-samples")
GROUPS = "group_subtasks"
BLANK = " "  # the key of an empty cell, which the harness writes into rows of aggregates
LARGEST_WORDS = 65_536  # characters of the keys and the harness that are kept: a file may hold millions
MOST_KEYS = 4_096


class Recorded(NamedTuple):
    """The records of a file by the keys of its tasks, unchecked."""

    shots: Mapping[str, Any]
    versions: Mapping[str, Any]
    samples: Mapping[str, Any]


class Runs(NamedTuple):
    """The run of each row, None of one that is an aggregate; and the shape where nothing is unrecorded.

    With a shape, `leaf_keys` are the rows that are leaves, and `columns` has their shots, versions, samples and sizes;
    `group_keys` are the rows of `results` that are none, then those of `groups`, `pointers` say where they lie.
    """

    of: Mapping[str, Run | None]
    shape: Shape | None = None
    leaf_keys: tuple[str, ...] = ()
    columns: tuple[tuple[Any, ...], ...] = ()
    group_keys: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()


class Keys(NamedTuple):
    """All keys of `results` and of `groups`: those of the rows, those in the rows, and how many each row has."""

    rows: tuple[str, ...]
    aggregates: tuple[str, ...]
    inner: tuple[str, ...]
    counts: tuple[int, ...]


# What decides how the rows were run: limit and harness, too, for rules judge by them.
RunParts = tuple[Keys, tuple[Part | None, ...], Part, float | None, HarnessVersion]


def runs_of(
    document: Document, subtasks: Mapping[str, tuple[str, ...]], limit: float | None, harness: HarnessVersion
) -> Runs:
    """How each row of `results` was run."""
    results, aggregates, top, parts = document.results or {}, document.groups or {}, document.top, document.parts
    is_kept = top is not None and all(name in parts or name not in top for name in FIELDS)
    if is_kept and GROUPS in parts and document.group_subtasks is not None:
        judged = (_keys(results, aggregates), tuple(map(parts.get, FIELDS)), parts[GROUPS], limit, harness)
        known = _known_runs(judged, {} if document.shared is None else document.shared.decoded)
        if known is not None:
            return known
    groups = subtasks.keys() | aggregates.keys()
    recorded = Recorded(document.num_fewshot or {}, document.versions or {}, document.num_samples or {})
    return Runs(_runs(results, groups, recorded, task_configs(document)))


def _known_runs(judged: RunParts, last: dict[str, Any]) -> Runs | None:
    """The runs that are known for what decides; `last` has those of the file before, which nearly always fit."""
    before: tuple[RunParts, Runs] | None = last.get("runs")
    if before is not None and before[0] == judged:
        return before[1]
    keys, harness = judged[0], judged[-1]
    words = (*keys.rows, *keys.aggregates, *keys.inner, harness.git_hash or "", harness.version or "")
    if len(words) > MOST_KEYS or sum(map(len, words)) > LARGEST_WORDS:
        return None
    found = _known(*judged)
    if found is not None:
        last["runs"] = judged, found
    return found


def _keys(results: Mapping[str, Mapping[str, Any]], aggregates: Mapping[str, Mapping[str, Any]]) -> Keys:
    rows = (*results.values(), *aggregates.values())
    return Keys(tuple(results), tuple(aggregates), tuple(chain.from_iterable(rows)), tuple(map(len, rows)))


@lru_cache(maxsize=KEPT)
def _known(
    keys: Keys, parts: tuple[Part | None, ...], subtasks: Part, limit: float | None, harness: HarnessVersion
) -> Runs | None:
    """The runs that files with these keys and parts have; None if a run is not recorded in them.

    Rules also judge by limit and harness, so these belong to the shape.
    """
    del limit, harness
    recorded = Recorded(*[(part.value if part else None) or {} for part in parts])
    named = {group for group, members in (subtasks.value or {}).items() if type(members) is list and members}
    runs = _runs(keys.rows, named.union(keys.aggregates), recorded, {})
    if any(run and None in run for run in runs.values()) or any(runs[key] for key in _with_blank(keys)):
        return None
    leaf_keys = tuple([key for key, run in runs.items() if run is not None])
    columns = tuple(zip(*[runs[key] or () for key in leaf_keys], strict=True))
    summed = [key for key in keys.rows if runs[key] is None]
    pointers = [f"/results/{escape_pointer(key)}" for key in summed]
    pointers += [f"/groups/{escape_pointer(key)}" for key in keys.aggregates]
    return Runs(runs, Shape(), leaf_keys, columns, (*summed, *keys.aggregates), tuple(pointers))


def _with_blank(keys: Keys) -> Iterator[str]:
    """The rows that have an empty cell."""
    start = 0
    for key, count in zip(keys.rows, keys.counts, strict=False):  # those of aggregates come after them
        if BLANK in keys.inner[start : start + count]:
            yield key
        start += count


def _runs(
    keys: Iterable[str], groups: set[str], recorded: Recorded, configs: Mapping[str, TaskConfig]
) -> dict[str, Run | None]:
    runs: dict[str, Run | None] = {}
    for key in keys:
        if key in groups:
            runs[key] = None
            continue
        counts, shot = recorded.samples.get(key), recorded.shots.get(key)
        if shot is None and key in configs:
            shot = configs[key].num_fewshot
        counts = counts if type(counts) is dict else {}
        effective, original = whole(counts.get("effective")), whole(counts.get("original"))
        runs[key] = (number_of_shots(shot), version(recorded.versions.get(key)), effective, original)
    return runs
