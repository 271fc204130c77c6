"""Reports of EvalScope: `reports/<model>/<dataset>.json`, the score of a dataset with those of its subsets.

Read from 36 files of modenicheng/llm_eval_evalscope at 9dd686f, and reports of `schema_version: 2` (last of release
1.14.1), whose metrics have an identity and a meaning instead of a name; the one that counts comes first. They say how
many samples were asked, failed and were judged, and by which models. A leaf is a dataset by its name, with each of its
metrics; the scores are rounded to four digits by EvalScope itself. The report has no shots, no date and no release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, items, number, setting, table, text, whole
from bot.evaluation.formats.format import Format, Kind
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

NAMES = ("dataset_name", "model_name")
QUALITY = "quality"  # the kind of metrics that are scores
ANSWERS = (frozenset({"index", "model_output"}), frozenset({"index", "sample_score"}))
EXECUTION, JUDGED = "execution_summary", "judge_summary"
PLACES = {
    "model": "/model_name",
    "leaves": "/metrics",
    "leaf": "/metrics",
    "value": "/metrics",
    "samples": "/metrics",
    "unscored": f"/{JUDGED}",
    "unfinished": f"/{EXECUTION}",
}


def recognise(content: Content) -> bool:
    """Recognise it by the names of dataset and model, and a list of metrics with categories."""
    top = content.bare
    first = table(next(iter(items(top.get("metrics"))), None))
    return all(text(top.get(name)) for name in NAMES) and "categories" in first and "score" in first


def parse(content: Content) -> Result:
    """Read the report. Raises MalformedResult if a metric is not an object or is there twice."""
    top = content.bare
    numbers: dict[str, Any] = {}
    pointers: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    less: list[str] = []
    counts, given = set(), list[Given]()
    primary, run, judged = top.get("primary_metric_identity"), table(top.get(EXECUTION)), table(top.get(JUDGED))
    listed = [(place, table(metric)) for place, metric in enumerate(top["metrics"])]
    for place, metric in sorted(listed, key=lambda each: primary is None or each[1].get("identity") != primary):
        semantics = table(metric.get("semantics"))
        if text(semantics.get("kind")) not in {"", QUALITY}:
            continue  # how the run went, which is no score
        name = _name(metric)
        if not name or name in numbers:
            raise MalformedResult("holds a metric without a name of its own", pointer=f"/metrics/{place}")
        numbers[name], pointers[name] = metric.get("score"), f"/metrics/{place}/score"
        counts.add(whole(metric.get("num")))
        given += _of_subsets(name, metric)
        low, high = (number(table(semantics.get("value_range")).get(end)) for end in ("min", "max"))
        ranges |= {name: (low, high)} if low is not None and high is not None else {}
        less += [name] if semantics.get("direction") == "lower_is_better" else []
    samples = counts.pop() if len(counts) == 1 else None
    requested, succeeded, errored = (whole(run.get(name)) or 0 for name in ("requested", "succeeded", "errored"))
    unscored = (whole(judged.get("total")) or 0) - (whole(judged.get("scored")) or 0)
    leaf = LeafResult(
        numbers,
        samples=samples,
        original=requested if errored else None,
        unscored=unscored if unscored > 0 else None,
        errored=errored or None,
        pointers=pointers,
        ranges=ranges,
        less_is_better=tuple(less),
        contradicted=contradicted(numbers, given),
    )
    model = text(top["model_name"])
    return Result(
        model=Model(id=model),
        harness=HarnessVersion("evalscope", repository="modelscope/evalscope"),
        leaves={text(top["dataset_name"]): leaf},
        settings={"judge_models": setting(judges)} if (judges := items(judged.get("judge_models"))) else {},
        unfinished="incomplete" if requested > succeeded + errored else "",
        places=PLACES,
    )


def _name(metric: Mapping[str, Any]) -> str:
    """The name of a metric; since schema 2 its identity says how it is aggregated and of which part it is."""
    identity = table(metric.get("identity"))
    if not identity:
        return text(metric.get("name"))
    said = [text(identity.get("name")), *(f"{key}={value}" for key, value in table(identity.get("dimensions")).items())]
    how = text(identity.get("aggregation"))
    return " ".join([*said, *([how] if how not in {"", "mean"} else [])])


def _of_subsets(name: str, metric: Mapping[str, Any]) -> Iterator[Given]:
    """The mean of the scores of a metric's subsets, weighted by their samples; all are rounded to four digits."""
    listed = chain.from_iterable(items(table(one).get("subsets")) for one in items(metric.get("categories")))
    own = [one for one in map(table, listed) if one.get("is_aggregate") is not True]
    found = [(number(one.get("num")) or 0.0, number(one.get("score")) or 0.0) for one in own]
    total, asked = sum(size for size, _ in found), number(metric.get("num"))
    if total > 0:
        mean = sum(size * score for size, score in found) / total
        is_whole = asked in {None, total}
        what = f"its subsets with {total:,.0f} samples{'' if is_whole else f' of {asked:,.0f}'} give"
        yield Given(name, mean, 2e-4 if is_whole else -1.0, what)


EVALSCOPE = Format(
    id="evalscope",
    title="EvalScope",
    recognise=recognise,
    parse=parse,
    naming="run with --model-id <organization>/<name>",
    pinning="",
    shows=frozenset({"samples"}),
    has_order=True,
    others=(
        Kind(
            "evalscope",
            "the answers of EvalScope",
            "name the report beside it, reports/<model>/<dataset>.json",
            has_value=lambda value: isinstance(value, dict) and any(value.keys() >= keys for keys in ANSWERS),
        ),
    ),
)
