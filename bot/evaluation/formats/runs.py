"""How each task of a file of lm-eval 0.4 was run: shots, version and samples, apart from the numbers that came out.

Files of one harness and one call say the same of it byte for byte, so it is made out once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from bot.evaluation.formats.document import KEPT, LARGEST_KEPT, Document, TaskConfig, part_of, task_configs
from bot.evaluation.formats.fields import shots as number_of_shots
from bot.evaluation.formats.fields import version, whole
from bot.evaluation.result import HarnessVersion, Shape

Run = tuple[int | None, float | str | None, int | None, int | None]  # shots, version, samples, size of the task
Runs = Mapping[str, Run | None]
FIELDS = ("n-shot", "versions", "n-samples")
NOT_THERE = b"null"
LARGEST_WORDS = 65_536  # characters of the keys and the harness that are kept: a file may hold millions


class Recorded(NamedTuple):
    """What a file records by the keys of its tasks, nothing checked."""

    shots: Mapping[str, Any]
    versions: Mapping[str, Any]
    samples: Mapping[str, Any]


def runs_of(
    document: Document, subtasks: Mapping[str, tuple[str, ...]], limit: float | None, harness: HarnessVersion
) -> tuple[Runs, Shape | None]:
    """The run of each row of `results`, None of one that is an aggregate; and the shape where nothing is unrecorded."""
    results, aggregates = document.results or {}, document.groups or {}
    top = document.top
    if top is not None and document.group_subtasks is not None:
        fields = tuple([bytes(top.get(name, NOT_THERE)) for name in (*FIELDS, "group_subtasks")])
        words = (*results, *aggregates, harness.git_hash or "", harness.version or "")
        if max(map(len, fields)) <= LARGEST_KEPT and sum(map(len, words)) <= LARGEST_WORDS:
            known = _known(tuple(results), tuple(aggregates), fields, (limit, harness))
            if known is not None:
                return known
    groups = subtasks.keys() | aggregates.keys()
    recorded = Recorded(document.num_fewshot or {}, document.versions or {}, document.num_samples or {})
    return _runs(results, groups, recorded, task_configs(document)), None


@lru_cache(maxsize=KEPT)
def _known(
    keys: tuple[str, ...], aggregates: tuple[str, ...], fields: tuple[bytes, ...], judged: tuple[object, ...]
) -> tuple[Runs, Shape] | None:
    """The runs that files with these keys and fields have; None where a run is not recorded in them.

    Rules judge by what else is `judged` besides the runs, so it is a part of the shape.
    """
    del judged
    recorded = Recorded(*[part_of(name, raw).value or {} for name, raw in zip(FIELDS, fields, strict=False)])
    subtasks = part_of("group_subtasks", fields[-1]).value or {}
    named = {group for group, members in subtasks.items() if type(members) is list and members}
    runs = _runs(keys, named.union(aggregates), recorded, {})
    return None if any(run and None in run for run in runs.values()) else (runs, Shape())


def _runs(keys: Iterable[str], groups: set[str], recorded: Recorded, configs: Mapping[str, TaskConfig]) -> Runs:
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
