"""Reports of EvalScope: `reports/<model>/<dataset>.json`, the score of a dataset with those of its subsets.

Read from 36 files of modenicheng/llm_eval_evalscope at 9dd686f. A leaf is a dataset by its name, with each of its
metrics; the scores are rounded to four digits by EvalScope itself. The report has no shots, no date and no release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, items, number, table, text, whole
from bot.evaluation.formats.format import Format, Kind
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

NAMES = ("dataset_name", "model_name")
ANSWERS = (frozenset({"index", "model_output"}), frozenset({"index", "sample_score"}))
PLACES = {"model": "/model_name", "leaves": "/metrics", "leaf": "/metrics", "value": "/metrics", "samples": "/metrics"}


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
    counts = set()
    for place, metric in enumerate(top["metrics"]):
        name = text(table(metric).get("name"))
        if not name or name in numbers:
            raise MalformedResult("holds a metric without a name of its own", pointer=f"/metrics/{place}")
        numbers[name], pointers[name] = metric.get("score"), f"/metrics/{place}/score"
        counts.add(whole(metric.get("num")))
    samples = counts.pop() if len(counts) == 1 else None
    wrong = contradicted(numbers, (part for metric in top["metrics"] for part in _of_subsets(metric)))
    model = text(top["model_name"])
    return Result(
        model=Model(id=model),
        harness=HarnessVersion("evalscope", repository="modelscope/evalscope"),
        leaves={text(top["dataset_name"]): LeafResult(numbers, samples=samples, pointers=pointers, contradicted=wrong)},
        places=PLACES,
    )


def _of_subsets(metric: Mapping[str, Any]) -> Iterator[Given]:
    """The mean of the scores of a metric's subsets, weighted by their samples; all are rounded to four digits."""
    listed = chain.from_iterable(items(table(one).get("subsets")) for one in items(metric.get("categories")))
    found = [(number(one.get("num")) or 0.0, number(one.get("score")) or 0.0) for one in map(table, listed)]
    total, asked = sum(size for size, _ in found), number(metric.get("num"))
    if total > 0:
        mean = sum(size * score for size, score in found) / total
        is_whole = asked in {None, total}
        what = f"its subsets with {total:,.0f} samples{'' if is_whole else f' of {asked:,.0f}'} give"
        yield Given(text(metric["name"]), mean, 2e-4 if is_whole else -1.0, what)


EVALSCOPE = Format(
    id="evalscope",
    title="EvalScope",
    recognise=recognise,
    parse=parse,
    naming="run with --model-id <organization>/<name>",
    pinning="",
    shows=frozenset({"samples"}),
    others=(
        Kind(
            "evalscope",
            "the answers of EvalScope",
            "name the report beside it, reports/<model>/<dataset>.json",
            has_value=lambda value: isinstance(value, dict) and any(value.keys() >= keys for keys in ANSWERS),
        ),
    ),
)
