"""Result files of EuroEval, once called ScandEval: `euroeval_benchmark_results.jsonl`, a line for each dataset.

Read from 1,472 lines of KennethEnevoldsen/euroeval-for-pretraining at 9b18a85 and Mikeriess/scandeval_benchmarking at
cbebec6. What a line calls a standard error is half a 95% confidence interval, 1.96 standard errors (scores.py there);
values are percentages. EuroEval adds the lines of all models to one file; a submission is of one model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from jiter import from_json

from bot.errors import MalformedResult
from bot.evaluation.finding import counted, examples
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, free_name, items, number, revision, table, text
from bot.evaluation.formats.format import Format, stderr_after
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

VERSIONS = ("euroeval_version", "scandeval_version")
HALF = 1.96  # standard errors of half a 95% interval
START, ERROR = "test_", "_se"
SETTINGS = ("generative_type",)
# What comes after # in a model's name is a mode of it, such as `thinking`.
PLACES = {"leaves": "", "leaf": ""}
MOST_LINES = 100_000
SPLIT = (
    "mkdir -p by-model; jq -r .model FILES | sort -u | while read -r m;"
    ' do jq -c --arg m "$m" \'select(.model == $m)\' FILES > "by-model/${m//\\//__}.jsonl"; done'
)
SPLITTING = f"put the lines of each model into a file of its own, FILES being all such files, in bash with `{SPLIT}`"


def recognise(content: Content) -> bool:
    """Recognise it by the first line: a dataset, a model, results, and the release."""
    first = content.first_line
    return any(b'"%s"' % name.encode() in first for name in VERSIONS) and b'"results"' in first


def parse(content: Content) -> Result:
    """Read the lines. Raises MalformedResult if one is not a record, or if they are of several models."""
    records = list(_records(content.data))
    models = list(dict.fromkeys(text(one.get("model")) for one in records))
    if len(models) > 1:
        why = f"holds the results of {counted(len(models), 'model')}, {examples(models)}: a submission is of one model"
        raise MalformedResult(why, hint=SPLITTING)
    name, _, mode = models[0].partition("#")
    name, _, branch = name.partition("@")
    leaves: dict[str, LeafResult] = {}
    for record in records:
        leaves[free_name(_key(record), leaves)] = _leaf(record)
    releases = [release for one in records for key in VERSIONS if (release := text(one.get(key)))]
    first = records[0]
    return Result(
        model=Model(id=name, revision=revision(branch), requested_revision=branch),
        harness=HarnessVersion("EuroEval", version=max(releases, default=None), repository="EuroEval/EuroEval"),
        leaves=leaves,
        settings={key: value for key in SETTINGS if (value := text(first.get(key)))} | ({"mode": mode} if mode else {}),
        places=PLACES,
    )


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    """The records of the file. Raises MalformedResult with the line that is none."""
    lines = data.splitlines()
    if len(lines) > MOST_LINES:
        raise MalformedResult(f"has {len(lines):,} lines; more than {MOST_LINES:,} are not read")
    # The same line twice is one measurement: files are put together by hand.
    for line, place in {line: place for place, line in enumerate(lines, 1)}.items():
        if line.strip():
            try:
                record = from_json(line)
            except ValueError:
                raise MalformedResult("is not JSON in one of its lines", line=place) from None
            if not text(table(record).get("dataset")) or not table(table(record).get("results")).get("total"):
                raise MalformedResult("holds a line without dataset or results", line=place)
            yield record


def _key(record: Mapping[str, Any]) -> str:
    """The dataset, and how it was asked where that is not by few shots on the test split."""
    marks = {"zero-shot": record.get("few_shot") is False, "validation": record.get("validation_split") is True}
    shown = ", ".join(mark for mark, is_so in marks.items() if is_so)
    return f"{text(record['dataset'])} ({shown})" if shown else text(record["dataset"])


def _leaf(record: Mapping[str, Any]) -> LeafResult:
    """The metrics of a dataset in percent, with standard errors, and how many times it was run."""
    total = table(table(record["results"])["total"])
    numbers: dict[str, Any] = {}
    for name, value in total.items():
        key = name.removeprefix(START)
        if not key.endswith(ERROR):
            numbers[key] = value
        elif (half := number(value)) is not None and isfinite(half):
            numbers[f"{key.removesuffix(ERROR)}_stderr"] = half / HALF
    rounds = [table(one) for one in items(table(record["results"]).get("raw"))]
    return LeafResult(
        numbers,
        epochs=len(rounds) or 1,
        reducer="mean",
        contradicted=contradicted(numbers, means_of_rounds(numbers, rounds)),
    )


def means_of_rounds(numbers: Mapping[str, Any], rounds: list[dict[str, Any]]) -> Iterator[Given]:
    """The mean of the rounds of each metric; the rounds are fractions, but for metrics that are percentages there."""
    for key, value in numbers.items():
        values = [one for each in rounds if (one := number(each.get(key, each.get(START + key)))) is not None]
        if values and (value := number(value)) is not None:
            mean = sum(values) / len(values)
            given = min(mean, 100 * mean, key=lambda one: abs(one - value))
            yield Given(key, given, 1e-6, f"the mean of its {counted(len(values), 'round')} is")


EUROEVAL = Format(
    id="euroeval",
    title="EuroEval",
    recognise=recognise,
    parse=parse,
    stderr_key=stderr_after,
    starts=(b'{"dataset"', b'{"task"', b'{"model"'),
    naming="",
    pinning="run with --model <organization>/<name>@<commit>",
    shows=frozenset(),
    is_percent=lambda metric: not metric.startswith("speed"),  # which is in tokens a second
    has_order=True,
)
