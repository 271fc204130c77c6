"""The settings of a table: what is wrong in them is refused when they are read, with the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from bot.errors import CallError
from bot.publishing.tables.mapping import TableOptions, TemplateOptions
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
        ({"path": "t.xlsx"}, "does not say its format"),
        ({"on_existing": "overwrite"}, "'update' or 'refuse'"),
        ({"key": ["Name"]}, "the column 'Name' of key or sorted_by is not in columns"),
        ({"key": []}, "at least 1 item"),
        ({"sorted_by": "Score"}, "is not in columns"),
        ({"keyed": True}, "are for JSON and YAML, not for csv"),
        ({"keyed": True, "path": "t.jsonl"}, "keyed goes with one key column"),
        ({"at": "/rows"}, "a csv file is one table"),
        ({"at": "rows", "path": "t.json"}, "a JSON pointer here"),
        ({"mapping": "open-llm"}, "the shipped ones are open-llm-leaderboard"),
        (columns(A="score"), "'score' names no value of a row"),
        (columns(A="tasks.bbh.value"), "names no value of a row"),
        (columns(A={}), "has a value, a template, or a default"),
        (columns(A={"value": "average", "default": 1}), "has a value, a template, or a default"),
        (columns(A={"template": "{value}"}), "so the column needs a value"),
        (columns(A={"template": "{model.id!r}"}), "without a format"),
        (columns(A={"template": "{nobody}"}), "names no value"),
        (columns(A={"template": "{"}), "Single '{'"),
        (columns(A={"template": "a\nb"}), "holds a line break"),
        (columns(A={"default": "x", "decimals": 2}), "unit and decimals go with a value"),
        (columns(A={"value": "average", "missing": "0"}), "readers would take for a score"),
        (columns(A={"value": "average", "missing": "0.0 %"}), "readers would take for a score"),
        (columns(A={"value": "average", "missing": "omit"}), "are for JSON and YAML"),
        (columns(A={"name": ["a", "b"], "value": "average"}), "are for JSON and YAML"),
        (columns(A={"name": "Model", "value": "average"}), "the same name in the file"),
        (columns(**{"BBH Raw": "tasks.bbh.score"}), "is the normalized score"),
        (columns(**{"BBH Raw": "tasks.bbh.raw", "BBH": "tasks.bbh.raw"}), "so it cannot hold tasks.bbh.raw"),
        ({"key": ["A"], **columns(A={"default": "x"})}, "a key column needs a value"),
        ({"sorted_by": "A", **columns(A={"default": 1})}, "sorted_by needs a column with a value"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(reason)):
        options(**changes)


def test_a_task_that_the_leaderboard_has_not_is_refused_before_anything_is_read() -> None:
    with pytest.raises(CallError, match="names the task 'mmlu'; the leaderboard has bbh, gpqa, ifeval"):
        layout(BASE, **columns(A="tasks.mmlu.raw"))
    with pytest.raises(CallError, match="names the task 'mmlu'"):
        layout(BASE, **columns(A={"template": "{tasks.mmlu.raw} %"}))


def test_the_shipped_mapping_may_be_changed_key_by_key() -> None:
    read = TableOptions.model_validate(
        {
            "kind": "table",
            "mapping": "open-llm-leaderboard",
            "path": "board.parquet",
            "columns": {"Type": {"default": "🟢 pretrained"}},
        }
    )

    assert read.path == "board.parquet"
    assert read.key == ("fullname", "Precision", "Model sha", "Chat Template")
    assert read.columns["Type"].default == "🟢 pretrained"
    assert read.columns["GPQA Raw"].unit == "proportion"


def test_a_template_needs_its_tasks() -> None:
    with pytest.raises(ValidationError, match="tasks"):
        TemplateOptions.model_validate({"kind": "template"})
