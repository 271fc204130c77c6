"""Summaries of OpenCompass: `summary/summary_<time>.csv`, a line for each metric of a dataset, a column for each model.

Read from the source of release 0.5.4 (opencompass/summarizers/default.py) and the summaries in its documentation. A
leaf is a dataset, or an average of datasets that the file does not have one by one. `version` is the beginning of the
hash of its prompt, "-" for a group. Values are rounded to two digits; accuracies are percentages. The model stands
under the nickname of its configuration. The file has no date and no release, and counts only where AISBench wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.errors import MalformedResult
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted
from bot.evaluation.formats.format import Format, Kind, check_rows, stderr_after
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, Model, Result

COLUMNS = "dataset,version,metric,mode,"
NONE = "-"
# Metrics of OpenCompass that are no percentages.
PLAIN = frozenset({"bleurt_diff", "avg_toxicity_score", "standard_deviation", "sum"})
SPLITTING = (
    "put each model into a file of its own: `cut -d, -f1-{0},{1} SUMMARY > MODEL.csv`, for the next one -f1-{0},{2}"
)
COUNT = "total_count"  # a column of AISBench, which is made from OpenCompass
SAMPLE_COUNT = re.compile(r"\d{1,9}")
RIGHT = re.compile(r"\((\d{1,9})/(0*[1-9]\d{0,8})\)")  # of AISBench: "87.50 (7/8)"
HARNESS = {
    False: HarnessVersion("opencompass", repository="open-compass/opencompass"),
    True: HarnessVersion("ais_bench", repository="AISBench/benchmark"),
}
WORDS = re.compile("[-_]")
TEXT = re.compile(rb"\d{8}_\d{6}\r?\ntabulate format")
PLACES = {"leaves": "", "leaf": "", "model": ""}


def recognise(content: Content) -> bool:
    """Recognise it by its first columns."""
    return content.data.startswith(COLUMNS.encode())


def parse(content: Content) -> Result:
    """Read the lines. Raises MalformedResult if they are of several models, or one is not as the head says."""
    head, *lines = _lines(content.data)
    check_rows(len(lines), "")
    fixed = 5 if head[4:5] == [COUNT] else 4
    if len(head) != fixed + 1:
        models = examples(head[fixed:])
        why = f"holds the results of {counted(len(head) - fixed, 'model')}, {models}: a submission is of one model"
        raise MalformedResult(why, hint=SPLITTING.format(fixed, fixed + 1, fixed + 2))
    rows: dict[str, LeafResult] = {}
    for place, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise MalformedResult(f"has a line of {counted(len(line), 'field')}, and not of {len(head)}", line=place)
        dataset, version, metric, _, *count, value = line
        if NONE in {metric, value}:  # a dataset without a value, or a heading
            continue
        known = rows.get(dataset, LeafResult({}))
        if metric in known.numbers:
            raise MalformedResult("holds a metric of a dataset twice", line=place)
        samples = int(count[0]) if count and SAMPLE_COUNT.fullmatch(count[0]) else None
        numbers = {**known.numbers, metric: _value(value, place)}
        given = [
            Given(metric, 100 * int(right) / int(of), 0.006, f"{right} of {of} is")
            for right, of in RIGHT.findall(value)
        ]
        wrong = {**known.contradicted, **contradicted(numbers, given)}
        rows[dataset] = LeafResult(numbers, None, version if version != NONE else None, samples, contradicted=wrong)
    groups = _groups(rows)
    return Result(
        model=Model(id=head[fixed]),
        harness=HARNESS[fixed == 5],
        leaves={name: row for name, row in rows.items() if name not in groups},
        groups=tuple(GroupRow(name, "", rows[name].numbers) for name in groups),
        subtasks={name: members for name, members in groups.items() if not WORDS.search(name)},
        places=PLACES,
    )


def _groups(rows: Mapping[str, LeafResult]) -> dict[str, tuple[str, ...]]:
    """The averages with the datasets that share their first word: those of `ceval-stem` are some of these.

    Only a group has no version; beside its average it may have the metrics that all of its datasets have.
    """
    datasets = [name for name, row in rows.items() if row.version is not None]
    sharing = grouped((word, name) for name in datasets for word in dict.fromkeys(_words(name)))
    groups = (name for name, row in rows.items() if row.version is None)
    found = {one: names for one in groups if (names := sharing.get(_words(one)[0]))}
    check_rows(sum(map(len, found.values())), "")
    return {one: tuple(names) for one, names in found.items()}


def _words(name: str) -> list[str]:
    return WORDS.split(name.lower())


def _lines(data: bytes) -> Iterator[list[str]]:
    """The fields of each line; OpenCompass quotes nothing, and writes a space for a comma."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise MalformedResult("is not UTF-8 text") from None
    return (line.split(",") for line in text.splitlines() if line)


def _value(value: str, place: int) -> float:
    try:
        return float(value.partition(" ")[0])
    except ValueError:
        raise MalformedResult("holds a value that is not a number", line=place) from None


OPEN_COMPASS = Format(
    id="opencompass",
    title="OpenCompass",
    recognise=recognise,
    parse=parse,
    stderr_key=stderr_after,
    starts=(COLUMNS.encode(),),
    naming="",
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
