"""Summaries of OpenCompass: `summary/summary_<time>.csv`, a line for each metric of a dataset, a column for each model.

Read from the source of release 0.5.4 (opencompass/summarizers/default.py) and the summaries in its documentation. A
leaf is a dataset or a group of them. `version` is the beginning of the hash of its prompt, "-" for a group. Values are
rounded to two digits; accuracies are percentages. The model stands under the nickname of its configuration, and the
file has no counts, no date and no release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.errors import MalformedResult
from bot.evaluation.finding import counted, examples
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.format import Format, Kind, check_rows, stderr_after
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

COLUMNS = "dataset,version,metric,mode,"
NONE = "-"
# Metrics of OpenCompass that are no percentages.
PLAIN = frozenset({"bleurt_diff", "avg_toxicity_score", "standard_deviation", "sum"})
SPLITTING = "put each model into a file of its own: `cut -d, -f1-4,5 SUMMARY > MODEL.csv`, for the next one -f1-4,6"
TEXT = re.compile(rb"\d{8}_\d{6}\r?\ntabulate format")
PLACES = {"leaves": "", "leaf": "", "model": ""}


def recognise(content: Content) -> bool:
    """Recognise it by its first columns."""
    return content.data.startswith(COLUMNS.encode())


def parse(content: Content) -> Result:
    """Read the lines. Raises MalformedResult if they are of several models, or one is not as the head says."""
    head, *lines = _lines(content.data)
    check_rows(len(lines), "")
    if len(head) != 5:
        models = examples(head[4:])
        why = f"holds the results of {counted(len(head) - 4, 'model')}, {models}: a submission is of one model"
        raise MalformedResult(why, hint=SPLITTING)
    numbers: dict[str, dict[str, float]] = {}
    versions: dict[str, str] = {}
    for place, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise MalformedResult(f"has a line of {counted(len(line), 'field')}, and not of {len(head)}", line=place)
        dataset, version, metric, _, value = line
        if value == NONE:
            continue
        if metric in numbers.setdefault(dataset, {}):
            raise MalformedResult("holds a metric of a dataset twice", line=place)
        numbers[dataset][metric] = _value(value, place)
        versions[dataset] = version
    return Result(
        format="opencompass",
        model=Model(id=head[4], is_named=bool(head[4])),
        harness=HarnessVersion("opencompass", repository="open-compass/opencompass"),
        leaves={
            name: LeafResult(values, version=None if versions[name] == NONE else versions[name])
            for name, values in numbers.items()
        },
        places=PLACES,
    )


def _lines(data: bytes) -> Iterator[list[str]]:
    """The fields of each line; OpenCompass quotes nothing, and writes a space for a comma."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise MalformedResult("is not UTF-8 text") from None
    return (line.split(",") for line in text.splitlines() if line)


def _value(value: str, place: int) -> float:
    try:
        return float(value)
    except ValueError:
        raise MalformedResult("holds a value that is not a number", line=place) from None


OPEN_COMPASS = Format(
    id="opencompass",
    title="OpenCompass",
    recognise=recognise,
    parse=parse,
    stderr_key=stderr_after,
    starts=(COLUMNS.encode(),),
    naming="name the model with --model-name",
    pinning="",
    shows=frozenset(),
    is_percent=lambda metric: metric not in PLAIN,
    has_order=True,
    others=(
        Kind(
            "opencompass",
            "a summary of OpenCompass as text",
            "name the .csv file beside it",
            lambda head: TEXT.match(head) is not None,
        ),
    ),
)
