"""Small tables in the shapes that boards really have, each with the mapping that its maintainer would write."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from bot.publishing.entry import Entry
from bot.publishing.layout import Draft, RowChange
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.table_layout import TableLayout, table_layout
from tests.evaluation.judging import base, declared, entry_from

MODEL = "example-org/kestrel-7b"
COMMIT = "a" * 40
EVIDENCE = f"https://huggingface.co/datasets/acme/results/blob/{COMMIT}/x/results.json"
Files = dict[str, bytes]


@cache
def _kestrel() -> Entry:
    return entry_from(base(), source="hf://datasets/acme/results", path="x/results.json", commit=COMMIT)


def entry(model: str = MODEL, scores: Mapping[str, float | None] | None = None, **changes: Any) -> Entry:
    """The row of a complete result; `scores` replaces raw values of tasks, and their scores by a hundred times it."""
    row = _kestrel()
    new = {task.id: (scores or {}).get(task.id, task.raw) for task in row.tasks}
    tasks = tuple(
        replace(task, raw=new[task.id], score=None if new[task.id] is None else 100.0 * (new[task.id] or 0.0))
        if task.id in (scores or {})
        else task
        for task in row.tasks
    )
    changes = {"model": replace(row.model, id=model), "tasks": tasks, "key": f"{model}/x", **changes}
    return replace(row, **changes)


def change(row: Entry | None, published: Entry | None = None) -> RowChange:
    """A row that should stand, or that was withdrawn."""
    known = row or published
    return RowChange("withdrawn" if known is None else known.key, row, published)


def layout(mapping: Mapping[str, Any], **changes: Any) -> TableLayout:
    """The layout of a mapping of the Open LLM Leaderboard v2."""
    return table_layout(TableOptions.model_validate({"kind": "table", **mapping, **changes}), declared())


def edited(mapping: Mapping[str, Any], files: Files, *rows: Entry, **changes: Any) -> tuple[Files, Draft]:
    """The files after the rows were written, and what the layout said."""
    draft = layout(mapping, **changes).draft([change(row) for row in rows], files)
    return {**files, **{path: data for path, data in draft.files.items() if data is not None}}, draft


def refusal(mapping: Mapping[str, Any], files: Files, row: Entry | None = None, **changes: Any) -> str:
    """Why a row is refused, with no file touched."""
    after, draft = edited(mapping, files, row or entry(), **changes)
    assert after == files
    (why,) = draft.refused.values()
    return why


def why(mapping: Mapping[str, Any], text: str | bytes, row: Entry | None = None, **changes: Any) -> str:
    """Why a row does not go into a file."""
    data = text if isinstance(text, bytes) else text.encode()
    return refusal(mapping, {mapping["path"]: data}, row, **changes)


def lines_changed(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """The lines that are gone, and those that are new, in order."""
    from difflib import unified_diff

    texts = [data.decode().splitlines(keepends=True) for data in (before, after)]
    diff = [line for line in unified_diff(*texts, n=0) if not line.startswith(("---", "+++", "@@"))]
    return [line[1:] for line in diff if line[0] == "-"], [line[1:] for line in diff if line[0] == "+"]


CSV: dict[str, Any] = {"path": "t.csv", "key": ["Model"], "columns": {"Model": "model.id", "BBH": "tasks.bbh.raw"}}
JSON: dict[str, Any] = {**CSV, "path": "t.json"}
YAML: dict[str, Any] = {**CSV, "path": "t.yml"}
MARKDOWN: dict[str, Any] = {**CSV, "path": "t.md"}


AIDER: dict[str, Any] = {
    "path": "_data/polyglot.yml",
    "key": ["dirname"],
    "columns": {
        "dirname": {"template": "{model.name}--{model.precision}"},
        "model": "model.id",
        "commit_hash": "model.revision",
        "pass_rate_1": {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1},
        "date": {"value": "run.date", "missing": "null"},
        "command": {"default": "aider # see the docs"},
    },
}


def aider() -> Files:
    """A list of mappings with a comment, blank lines between, and a hash that YAML 1.2 takes for infinity."""
    text = """\
# Results of the polyglot benchmark; append below.

- dirname: 2024-12-21-18-41-18--wren
  test_cases: 225
  model: wren-1
  commit_hash: 12e4567
  pass_rate_1: 16.40
  percent_cases_well_formed: 99.6
  command: 'aider --model wren-1 # fast'
  date: 2024-12-21
  versions: 0.69.2.dev
  total_cost: 0.00

# measured twice
- dirname: 2024-12-22-10-00-00--heron
  test_cases: 225
  model: "heron: large"
  commit_hash: a755079-dirty
  pass_rate_1: 23.1
  percent_cases_well_formed: 84.9
  command: 'aider --model heron'
  date: 2024-12-22
  versions: 0.69.2.dev
  total_cost: 1.10
"""
    return {AIDER["path"]: text.encode()}


ALPACA: dict[str, Any] = {
    "path": "leaderboard.csv",
    "key": ["name"],
    "columns": {
        "name": "model.id",
        "win_rate": "tasks.bbh.score",
        "link": {"template": "https://huggingface.co/{model.id}"},
        "filter": {"default": "community"},
    },
    "sorted_by": "win_rate",
}


def alpaca() -> Files:
    """CRLF, a name that is there twice, a cell between quotes, no final line end."""
    rows = [
        "name,win_rate,avg_length,link,samples,filter",
        "heron,95.5,2049,https://example.org/h,https://example.org/s,minimal",
        '"wren, large",50.0,1500,,,verified',
        "finch,20.25,900,,,community",
        "finch,20.25,901,,,dev",
    ]
    return {ALPACA["path"]: "\r\n".join(rows).encode()}


README: dict[str, Any] = {
    "path": "README.md",
    "at": "## Leaderboard",
    "key": ["Model"],
    "columns": {
        "Model": {"template": "[{model.name}](https://huggingface.co/{model.id})"},
        "Score": {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1, "template": "{value} %"},
        "Notes": {"template": "{model.precision}"},
    },
}


def readme() -> Files:
    """Two tables of the same columns; in the second the best is bold, cells are links, and one has an escaped bar."""
    text = """\
# Board

## Old results

| Model | Score | Notes |
| --- | --- | --- |
| kestrel-7b | 1.0 % | old |

## Leaderboard

| Rank | Model                          |      Score | Notes      |
|-----:|--------------------------------|-----------:|------------|
|    1 | [Heron](https://example.org/h) | **97.0 %** | a \\| b     |
|    2 | [Wren](https://example.org/w)  |     40.5 % | `float16`  |

More text | with a bar.
"""
    return {README["path"]: text.encode()}


BFCL: dict[str, Any] = {
    "path": "data_overall.csv",
    "key": ["Model"],
    "columns": {
        "Model": "model.id",
        "Overall Acc": {"value": "average", "decimals": 2, "template": "{value}%"},
        "Live Acc": {
            "value": "tasks.gpqa.raw",
            "unit": "percent",
            "decimals": 2,
            "template": "{value}%",
            "missing": "N/A",
        },
    },
}


def bfcl() -> Files:
    """Percents as texts."""
    text = """\
Rank,Overall Acc,Model,Model Link,Live Acc,License
1,70.29%,heron,https://example.org/h,80.00%,Apache-2.0
2,26.50%,wren,https://example.org/w,N/A,MIT
"""
    return {BFCL["path"]: text.encode()}


LINES: dict[str, Any] = {
    "path": "rows.jsonl",
    "key": ["model"],
    "columns": {"model": "model.id", "acc": {"value": "tasks.bbh.raw", "missing": "omit"}, "avg": "average"},
}


def lines() -> Files:
    """One object in a line, not all in the same spacing."""
    return {LINES["path"]: b'{"model": "heron", "acc": 0.50, "avg": 61.5}\n{"model":"wren","avg":1E1,"n":10}\n'}
