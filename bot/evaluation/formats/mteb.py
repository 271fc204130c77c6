"""Result files of MTEB: one task of one model, `<org>__<model>/<revision>/<Task>.json`.

A leaf is a subset of a split: "<task>/<subset>/<split>". The file itself names no model; it stands in the path alone.
Files of releases before 1.11 have the splits at the top (mteb/results/task_result.py, `_convert_from_before_v1_11_0`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from math import isfinite, nan
from typing import Any, NamedTuple

from bot.evaluation.benchmarks.harness import order_of
from bot.evaluation.finding import grouped
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, free_name, items, number, revision, table, text
from bot.evaluation.formats.format import NOTHING_TO_DO, Format, Kind, Rerun, command_line, has_keys, stderr_after
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result, escape_pointer

# The cache of mteb 1.11 and later; `experiments/<settings>` holds runs with settings of their own.
PLACE = re.compile(
    r"(?:.*/)?(?P<org>[^/]+?)__(?P<name>[^/]+)/(?P<revision>[^/]+)/(?:experiments/(?P<settings>[^/]+)/)?[^/]+"
)
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
NO_METRICS = frozenset({"hf_subset", "languages", "mteb_version", "evaluation_time", "dataset_revision"})
REPOSITORY = "embeddings-benchmark/mteb"
MAIN, EXPERIMENTS = "main_score", "scores_per_experiment"
FEW = 2  # experiments of people, whose scores are combined otherwise than by a mean
ROUNDED = 1e-5  # how far a number of five digits may be from another
OLD_NAME, DEFAULT, NO_REVISION = "mteb_dataset_name", "default", ("", "None")
SIMILARITIES = ("cos_sim", "dot", "euclidean", "manhattan", "max")  # of which each has scores of its own
RENAMED = {"cos_sim": "cosine"}  # as mteb reads its old files


class SubsetScores(NamedTuple):
    """The scores of a subset of a split, and where they lie: below `pointer`, by their names or as `inner` says."""

    name: str
    members: Mapping[str, Any]
    pointer: str
    inner: Mapping[str, str] = {}


def recognise(content: Content) -> bool:
    """Recognise it by `task_name`, `dataset_revision` and `scores`; an old one by its name and scores of a split."""
    top = content.bare
    if OLD_NAME in top:
        return bool(text(top[OLD_NAME])) and any(True for _ in _old_scores(top))
    return "dataset_revision" in top and bool(text(top.get("task_name"))) and type(top.get("scores")) is dict


def parse(content: Content) -> Result:
    """Read the file; skip anything that is not an object of scores."""
    top = content.bare
    place = PLACE.fullmatch(content.path.encode("utf-8", "replace").decode())  # a name on a disk may be no text
    settings = text(place["settings"]) if place else ""
    leaves: dict[str, LeafResult] = {}
    for scores in _old_scores(top) if OLD_NAME in top else _scores(top):
        leaves[free_name(scores.name, leaves)] = _leaf(scores, text(top.get("dataset_revision")))
    parts = [(*name.rsplit("/", 2)[::2], name) for name in leaves]
    # The subsets of each task, apart by split: no mean is made of two splits.
    subsets = grouped((task if split == "test" else f"{task}/{split}", name) for task, split, name in parts)
    return Result(
        model=_model(place),
        harness=HarnessVersion("mteb", REPOSITORY, version=text(top.get("mteb_version")) or None),
        leaves=leaves,
        date=number(top.get("date")),
        subtasks={group: tuple(names) for group, names in subsets.items() if len(names) > 1},
        settings={"experiment": settings} if settings else {},
        places={"release": "/mteb_version", "version": "/dataset_revision", "leaves": "/scores"},
    )


def _model(place: re.Match[str] | None) -> Model:
    """The model that the path names; "external", "1" and the like instead of a revision are not commits."""
    if place is None:
        return Model()
    return Model(
        id=f"{place['org']}/{place['name']}",
        revision=revision(place["revision"]),
        requested_revision=place["revision"],
    )


def _scores(top: Mapping[str, Any]) -> Iterator[SubsetScores]:
    task = text(top.get("task_name"))
    for split, found in table(top.get("scores")).items():
        for place, members in enumerate(items(found)):
            if type(members) is dict:
                subset = text(members.get("hf_subset")) or DEFAULT
                pointer = f"/scores/{escape_pointer(split)}/{place}"
                yield SubsetScores(f"{task}/{subset}/{split}", members, pointer)


def _old_scores(top: Mapping[str, Any]) -> Iterator[SubsetScores]:
    """The splits at the top of a file of before 1.11, or the subsets in them; most have no `main_score`."""
    task = text(top.get(OLD_NAME))
    for split, members in top.items():
        if type(members) is not dict:
            continue
        pointer = f"/{escape_pointer(split)}"
        yield from _subset(f"{task}/{DEFAULT}/{split}", members, pointer)
        for subset, inner in members.items():
            if type(inner) is dict and subset not in SIMILARITIES:
                yield from _subset(f"{task}/{subset}/{split}", inner, f"{pointer}/{escape_pointer(subset)}")


def _subset(name: str, members: Mapping[str, Any], pointer: str) -> Iterator[SubsetScores]:
    """The scores of an old split or subset, if it has any; those of a similarity have its name before their own."""
    flat = {key: value for key, value in members.items() if type(value) is float and key not in NO_METRICS}
    inner = {(one, key): value for one in SIMILARITIES for key, value in table(members.get(one)).items()}
    named = {f"{RENAMED.get(one, one)}_{key}": (one, key) for one, key in inner}
    flat |= {key: inner[found] for key, found in named.items()}
    if flat:
        places = {key: f"{one}/{escape_pointer(of)}" for key, (one, of) in named.items()}
        yield SubsetScores(name, flat, pointer, places)


def _leaf(scores: SubsetScores, dataset_revision: str) -> LeafResult:
    numbers = {
        key: value
        for key, value in scores.members.items()
        if key not in NO_METRICS and value is not None and type(value) not in {dict, list}
    }
    return LeafResult(
        numbers,
        version=None if dataset_revision in NO_REVISION else dataset_revision,
        pointers={key: f"{scores.pointer}/{scores.inner.get(key) or escape_pointer(key)}" for key in numbers},
        contradicted=_contradicted(numbers, [table(one) for one in items(scores.members.get(EXPERIMENTS))]),
    )


def _contradicted(numbers: Mapping[str, Any], experiments: list[dict[str, Any]]) -> dict[str, str]:
    """The metrics that the experiments contradict, and the main score where it is none of the other metrics."""
    given = []
    for key in numbers:
        found = [number(one.get(key)) for one in experiments]
        if len(found) > FEW and None not in found:
            mean = sum(filter(None, found)) / len(found)
            given.append(Given(key, mean, ROUNDED, f"the mean of its {len(found)} experiments is"))
    wrong = contradicted(numbers, given)
    values = {key: value for key in numbers if (value := number(numbers[key])) is not None}
    main = values.pop(MAIN, nan)
    if values and isfinite(main) and not any(abs(main - values[key]) <= ROUNDED for key in values.keys() - wrong):
        wrong[MAIN] = "no metric of the subset has this value"
    return wrong


HAS_COMMAND = (1, 12, 19)  # the first release whose command takes the model's revision
SNIPPET = (
    "from mteb import MTEB; from sentence_transformers import SentenceTransformer; "
    "MTEB(tasks={tasks}).run(SentenceTransformer({model}, revision={revision}), output_folder={folder})"
)


def rerun(wanted: Rerun) -> str:
    """The call of mteb for whole tasks, before 1.12.19 by Python; a run with settings of its own has none."""
    model = wanted.model
    if not HUB_ID.fullmatch(model.id) or wanted.settings:
        return ""
    tasks = list(dict.fromkeys(key.rsplit("/", 2)[0] for key in wanted.leaf_keys))
    if _is_old(wanted.version):
        commit = model.revision or "main"
        parts = {"model": model.id, "revision": commit, "folder": f"results/{model.id.replace('/', '__')}/{commit}"}
        code = SNIPPET.format(tasks=json.dumps(tasks), **{name: json.dumps(part) for name, part in parts.items()})
        return command_line(["python", "-c", code])
    words = ["mteb", "run", "-m", model.id, "-t", *tasks]
    words += ["--model_revision", model.revision] if model.revision else []
    return command_line([*words, "--output_folder", "results"])


def install(repository: str, version: str, _: Rerun) -> str:
    """The call of pip; with an old release goes what loads a model at a revision."""
    at = f"=={version}" if "." in version else version and f" @ git+https://github.com/{repository}@{version}"
    besides = ["sentence-transformers>=2.3"] if _is_old(version) else []
    return command_line(["pip", "install", f"mteb{at}", *besides])


def _is_old(version: str) -> bool:
    return "." in version and order_of(version) < HAS_COMMAND


IS_MODEL = has_keys("name", "revision", "release_date", "languages")  # model_meta.json
IS_RUN = has_keys("task", "splits", "version", "encode_kwargs", "subsets")  # a line of run_settings.jsonl

MTEB = Format(
    id="mteb",
    title="MTEB",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    install=install,
    stderr_key=stderr_after,
    naming="lay the file at <organization>__<name>/<commit>/, as mteb does",
    pinning="run with --model_revision <40 hex digits>, which becomes a folder's name",
    has_splits=True,
    names_by_path=True,
    shows=frozenset(),
    others=(
        Kind(
            "mteb",
            "what MTEB says of a model or a run",
            f"{NOTHING_TO_DO}: it holds no result",
            has_value=lambda value: IS_MODEL(value) or IS_RUN(value),
        ),
    ),
)
