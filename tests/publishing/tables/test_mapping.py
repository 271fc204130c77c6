"""The settings of a table: what is wrong in them is refused when they are read, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bot.errors import CallError
from bot.publishing.tables.mapping import TableOptions
from tests.publishing.tables.boards import layout

BASE: dict[str, Any] = {"kind": "table", "path": "t.csv", "key": ["Model"], "columns": {"Model": "model.id"}}


def options(**changes: Any) -> TableOptions:
    return TableOptions.model_validate({**BASE, **changes})


def columns(**more: Any) -> dict[str, Any]:
    return {"columns": {"Model": "model.id", **more}}


def test_three_lines_are_enough() -> None:
    read = options()

    assert read.table_format == "csv"
    assert read.on_existing == "refuse"
    assert read.columns["Model"].value == "model.id"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"file": "x"}, "Extra inputs are not permitted"),
        (
            {"path": "t.xlsx"},
            "format: t.xlsx does not say its format; write one of json, jsonl, csv, yaml, markdown, parquet",
        ),
        ({"on_existing": "overwrite"}, "Input should be 'update' or 'refuse'"),
        ({"key": ["Name"]}, "the column 'Name' of key or sorted_by is not in columns"),
        ({"key": []}, "Tuple should have at least 1 item after validation, not 0"),
        ({"sorted_by": "Score"}, "the column 'Score' of key or sorted_by is not in columns"),
        ({"keyed": True}, "keyed, nested cells and missing = 'omit' are for JSON and YAML, not for csv"),
        ({"keyed": True, "path": "t.jsonl"}, "keyed needs exactly one key column, in a JSON or YAML file"),
        ({"at": "/rows", "path": "t.jsonl"}, "at is for JSON, YAML and Markdown; a jsonl file is one table"),
        ({"at": "/rows", "path": "t.parquet"}, "at is for JSON, YAML and Markdown; a parquet file is one table"),
        ({"at": "/a/rows", "path": "t.yml"}, "'/a/rows' is a JSON pointer: write the place a.rows"),
        ({"at": "/rows"}, "at is for JSON, YAML and Markdown; a csv file is one table"),
        (
            {"at": "{x}.rows", "path": "t.json"},
            "'{x}.rows' names several places: write keys, and [name=Verified] after a list",
        ),
        (columns(A="score"), "'score' names no value of a row; write one of model.id, …"),
        (columns(A="tasks.bbh.value"), "'tasks.bbh.value' names no value of a row; write one of model.id, …"),
        (columns(A={}), "a column has a value, a template, or a default"),
        (columns(A={"value": "average", "default": 1}), "a column has a value, a template, or a default"),
        (columns(A={"value": "average", "of": 400}), "of needs a value…"),
        (
            columns(A={"value": "average", "template": "{right} ({value})"}),
            "of needs a value, and a template with {right} or {of}, which need of",
        ),
        (columns(A={"template": "{value}"}), "the template has {value}, so the column needs a value"),
        (
            columns(A={"template": "{model.id!r}"}),
            "'{model.id!r}': a placeholder is a name in braces, without a format",
        ),
        (columns(A={"template": "{nobody}"}), "'nobody' names no value of a row; write one of model.id, …"),
        (columns(A={"template": "{"}), "'{' has a brace without its pair; write {{ or }} for a brace in the text"),
        (columns(A={"template": "a}"}), "'a}' has a brace without its pair; write {{ or }} for a brace in the text"),
        (
            columns(A={"template": "{model.id"}),
            "'{model.id' has a brace without its pair; write {{ or }} for a brace in the text",
        ),
        (columns(A={"template": "a\nb"}), "holds a line break, or a character that cannot be printed"),
        (columns(A={"default": "x", "decimals": 2}), "unit and decimals need a value"),
        (columns(A={"value": "average", "missing": "0"}), "'0' is a number, which readers would take for a score"),
        (
            columns(A={"value": "average", "missing": "0.0 %"}),
            "'0.0 %' is a number, which readers would take for a score",
        ),
        (
            columns(A={"value": "average", "missing": "omit"}),
            "keyed, nested cells and missing = 'omit' are for JSON and YAML, not for csv",
        ),
        (
            columns(A={"name": ["a", "b"], "value": "average"}),
            "keyed, nested cells and missing = 'omit' are for JSON and YAML, not for csv",
        ),
        (columns(A={"name": "Model", "value": "average"}), "two columns of the mapping have the same name in the file"),
        (
            columns(**{"BBH Raw": "tasks.bbh.score"}),
            "BBH Raw is named raw, but tasks.bbh.score is the normalized score",
        ),
        (
            columns(**{"BBH Raw": "tasks.bbh.raw", "BBH": "tasks.bbh.raw"}),
            "BBH has a column of raw values beside it, so it cannot hold tasks.bbh.raw",
        ),
        (
            {"key": ["A"], **columns(A={"default": "x"})},
            "a key column needs a value or a template; a default is the same in every row",
        ),
        ({"sorted_by": "A", **columns(A={"default": 1})}, "sorted_by needs a column with a value"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], reason: str) -> None:
    """A reason is whole, unless it ends in three dots."""
    with pytest.raises(ValidationError) as raised:
        options(**changes)
    said = raised.value.errors()[0]["msg"].removeprefix("Value error, ")
    assert said.startswith(reason.removesuffix("…"))
    assert said == reason or reason.endswith("…")


@pytest.mark.parametrize("written", ["json", "yaml"])
def test_a_raw_column_inside_of_an_object_is_one_too(written: str) -> None:
    with pytest.raises(ValidationError, match=r"BBH is named raw, but tasks\.bbh\.score is the normalized score"):
        options(format=written, **columns(BBH={"name": ["BBH", "raw"], "value": "tasks.bbh.score"}))
    raw = {"name": ["run", "BBH Raw"], "value": "tasks.bbh.raw"}
    with pytest.raises(ValidationError, match="BBH has a column of raw values beside it"):
        options(format=written, **columns(Raw=raw, BBH={"name": ["run", "BBH"], "value": "tasks.bbh.raw"}))


def test_a_task_that_the_leaderboard_has_not_is_refused_before_anything_is_read() -> None:
    with pytest.raises(CallError, match="names the task 'mmlu'; the leaderboard has bbh, gpqa, ifeval"):
        layout(BASE, **columns(A="tasks.mmlu.raw"))
    with pytest.raises(CallError, match="names the task 'mmlu'"):
        layout(BASE, **columns(A={"template": "{tasks.mmlu.raw} %"}))
