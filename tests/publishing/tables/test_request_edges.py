"""Edges of what a request says of a table: names, ranks, bold marks, averages, empty cells, and all cells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.publishing.addresses import evidence_url
from bot.publishing.layout import CellChange, Draft
from bot.publishing.publication import entry_marker
from bot.publishing.texts import CELLS, REMARKS, disputed_remark, table_text
from tests.publishing.tables.boards import CSV, JSON, MARKDOWN, MODEL, Files, edited, entry, layout

AVERAGE: dict[str, Any] = {
    **CSV,
    "columns": {"Model": "model.id", "Avg": {"value": "average", "decimals": 1}},
    "sorted_by": "Avg",
    "on_existing": "update",
}
TASKS = ("ifeval", "bbh", "math", "gpqa", "musr", "mmlu_pro")


def said(mapping: dict[str, Any], text: str, *rows: Any, **settings: Any) -> tuple[str, ...]:
    _, draft = edited(mapping, {mapping["path"]: text.encode()}, *rows, **settings)
    assert draft.refused == {}
    return draft.remarks


# ---- names ----


def test_five_rows_are_named_and_the_rest_counted() -> None:
    def ranked(rows: int) -> str:
        text = "#,Model,Avg\n" + "".join(f"{at},m{at},{20 - at}.0\n" for at in range(1, rows + 1))
        return said(AVERAGE, text, entry("a/b", average=99.0))[0]

    new = "The column `#` is not renumbered. Out of date: `m1`, `m2`, `m3`, `m4`, `m5`"
    assert ranked(5) == f"{new}."
    assert ranked(6) == f"{new} and 1 more."
    assert ranked(9) == f"{new} and 4 more."


def test_a_row_of_two_keys_is_named_by_both_and_a_long_name_is_cut() -> None:
    long = "x" * 78
    columns = {**AVERAGE["columns"], "Precision": "model.precision"}
    text = f"Rank,Type,Model,Precision,Avg\n1,t,{long},fp8,60.0\n"
    ranks, empty = said(AVERAGE, text, entry(average=70.0), columns=columns, key=["Model", "Precision"])
    assert ranks.endswith(f"Out of date: `{long} f`.")
    assert empty == f"Left empty in the new row `{MODEL} bfloat16`, for a person to fill: `Rank`, `Type`."
    long_key = said(AVERAGE, "Type,Model,Avg\nt,a,60.0\n", entry("y" * 81, average=70.0))
    assert long_key == (f"Left empty in the new row `{'y' * 80}`, for a person to fill: `Type`.",)


def test_twenty_empty_columns_are_named() -> None:
    def empty(columns: int) -> str:
        names = [f"c{at}" for at in range(columns)]
        return said(CSV, f"Model,BBH,{','.join(names)}\nheron,0.5{',' * columns}\n", entry("a/b"))[-1]

    twenty = ", ".join(f"`c{at}`" for at in range(20))
    assert empty(20).endswith(f"to fill: {twenty}.")
    assert empty(21).endswith(f"to fill: {twenty} and others.")


# ---- order, ranks and bold marks ----


def test_a_row_out_of_its_order_is_named_where_the_table_had_an_order() -> None:
    moved = f"The table is sorted by `Avg`; `{MODEL}` kept its place and may belong elsewhere."
    new = entry("a/1", average=40.0, key="1")

    assert said(AVERAGE, f"Model,Avg\na,60.0\n{MODEL},30.0\n", entry(average=70.0), new) == (moved,)
    one = f"Model,Avg\n{MODEL},50.0\n"  # a single row has no order
    assert said(AVERAGE, one, entry(average=10.0), entry("a/2", average=60.0, key="2"), new) == ()


def test_a_nested_column_is_named_by_its_way() -> None:
    columns = {"Model": "model.id", "Avg": {"name": ["run", "avg"], "value": "average"}}
    rows = [{"Model": name, "run": {"avg": avg}} for name, avg in (("a", 60.5), (MODEL, 30.5), ("c", 20.5))]
    text = json.dumps(rows)

    remarks = said({**AVERAGE, "path": "t.json", "columns": columns}, text, entry(average=70.5))
    assert remarks == (f"The table is sorted by `run.avg`; `{MODEL}` kept its place and may belong elsewhere.",)


def test_in_a_table_of_two_rows_that_rises_the_lowest_has_the_first_rank() -> None:
    assert said(AVERAGE, "Rank,Model,Avg\n1,a,10.0\n2,b,60.0\n", entry("a/b", average=5.0))[0] == (
        "The column `Rank` is not renumbered. Out of date: `a`, `b`."
    )


def test_a_bold_cell_inside_of_an_object_is_named_by_its_way() -> None:
    column = {"name": ["run", "BBH"], "value": "tasks.bbh.raw", "template": "{value}"}
    text = '[{"Model": "a", "run": {"BBH": "**0.25**"}}, {"Model": "b", "run": {"BBH": "0.125"}}]'
    mapping = {**JSON, "columns": {"Model": "model.id", "BBH": column}}
    remark = "In the column `run.BBH` the best is bold; that is now `a/b`."
    assert said(mapping, text, entry("a/b", {"bbh": 0.5})) == (remark,)


@pytest.mark.parametrize(
    ("cells", "new", "best"),
    [
        ("**9** 5", 0.5, "`a/b`"),
        ("**9** 5", 0.09, "`m0`, `a/b`"),  # as good as the best
        ("**9** 5", 0.01, None),
        ("9 **5** 7", 0.5, None),
        ("9 **7** **5**", 0.5, None),
        ("**9** **** 5", 0.5, "`a/b`"),  # four stars are no bold text
        ("9 5", 0.5, None),
        ("9 **5**", 0.01, "`a/b`"),  # where less is better
    ],
)
def test_the_best_is_named_where_the_best_was_bold(cells: str, new: float, best: str | None) -> None:
    column = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 0}
    text = "| Model | BBH |\n|---|---|\n" + "".join(f"| m{at} | {cell} |\n" for at, cell in enumerate(cells.split()))
    remark = f"In the column `BBH` the best is bold; that is now {best}."
    mapping = {**MARKDOWN, "columns": {"Model": "model.id", "BBH": column}}
    assert said(mapping, text, entry("a/b", {"bbh": new})) == ((remark,) if best else ())


def test_of_two_bold_rows_the_one_that_is_still_the_best_is_named() -> None:
    column = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 0}
    text = f"| Model | BBH |\n|---|---|\n| a | **9** |\n| {MODEL} | **9** |\n"
    mapping = {**MARKDOWN, "columns": {"Model": "model.id", "BBH": column}, "on_existing": "update"}
    assert said(mapping, text, entry(scores={"bbh": 0.05})) == (
        "In the column `BBH` the best is bold; that is now `a`.",
    )


def test_an_average_that_nobody_mapped_is_named_where_its_row_changes() -> None:
    column = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 0}
    text = f"| Model | BBH | Avg |\n|---|---|---|\n| a | 9 | 9.5 |\n| {MODEL} | 7 | 7.5 |\n"
    mapping = {**MARKDOWN, "columns": {"Model": "model.id", "BBH": column}, "on_existing": "update"}
    stale = f"The bot does not write `Avg`; it may be out of date in `{MODEL}`."
    assert said(mapping, text, entry(scores={"bbh": 0.05})) == (stale,)
    assert said(mapping, text, entry("c/d", {"bbh": 0.05}, key="2")) == (
        "Left empty in the new row `c/d`, for a person to fill: `Avg`.",
    )


# ---- the file ----


def test_a_table_that_people_edit_needs_no_look_at_workflows() -> None:
    assert layout(CSV, hand_edited=True).folders([]) == ()
    assert layout(CSV).folders([]) == (".github/workflows",)


def test_each_of_several_updates_is_written_and_each_refusal_kept() -> None:
    table = '[{"Model": "a/1", "BBH": 0.1}, {"Model": "a/2", "BBH": 0.2}, {"Model": "a/3", "BBH": {"x": 1}}]'
    rows = [entry(f"a/{at}", {"bbh": 0.5}, key=str(at)) for at in (1, 2, 3)]
    after, draft = edited(JSON, {"t.json": table.encode()}, *rows, on_existing="update")
    assert after["t.json"].decode() == table.replace("0.1", "0.5").replace("0.2", "0.5")
    assert list(draft.refused) == ["3"]

    yaml = "- {Model: a/1, BBH: [1]}\n- {Model: a/2, BBH: 0.2}\n"  # a new row finds no layout to copy
    files: Files = {"t.yml": yaml.encode()}
    after, draft = edited({**CSV, "path": "t.yml"}, files, *rows, on_existing="update")
    assert after["t.yml"].decode() == yaml.replace("0.2", "0.5")
    assert list(draft.refused) == ["1", "3"]


# ---- the text ----


def text_of(cells: int, remarks: int = 0, said: tuple[str, ...] = ()) -> list[str]:
    row = entry()
    changes = tuple(CellChange(f"c{at}", None if at % 2 else "0.5", f"{at}") for at in range(cells))
    draft = Draft(cells={row.key: changes}, remarks=tuple(f"remark {at}" for at in range(remarks)))
    post = table_text(draft, said, entry_marker(row))
    assert post.title == "Update 1 row of open-llm-v2"
    return post.body.splitlines()


def test_each_row_has_a_table_of_its_cells() -> None:
    lines = text_of(2)
    assert lines[0] == "1 row of `open-llm-v2`; all other rows stay as they are."
    assert lines[1:9] == [
        "",
        f"**Changed:** `{entry().key}`",
        "",
        "| Cell | Before | After |",
        "| --- | --- | --- |",
        "| `c0` | `0.5` | `0` |",
        "| `c1` | new | `1` |",
        "",
    ]
    assert not [line for line in lines if line.startswith(("**A person", "…", "Where the table"))]


def test_a_new_row_shows_its_cells_once_and_names_its_file() -> None:
    row = entry()
    draft = Draft(cells={row.key: (CellChange("Model", None, "a/b"), CellChange("Avg", None, "43.4"))})
    lines = table_text(draft, (), entry_marker(row), entries={row.key: row}).body.splitlines()
    head = f"**New:** `{row.key}`, from [`{row.evidence[0].path.rpartition('/')[2]}`]({evidence_url(row.evidence[0])})"
    assert lines[2:8] == [head, "", "| Cell | New |", "| --- | --- |", "| `Model` | `a/b` |", "| `Avg` | `43.4` |"]
    assert [line for line in lines if "by another name, write that name into `names`" in line]


def test_cells_past_the_limit_are_counted() -> None:
    at, past = text_of(CELLS), text_of(CELLS + 2)
    assert [line for line in at if line.startswith("…")] == []
    assert [line for line in past if line.startswith("…")] == ["… and 2 more cells."]
    assert sum(line.startswith("| `") for line in past) == CELLS


def test_what_a_person_has_to_check_is_a_list_of_its_own() -> None:
    lines = text_of(1, REMARKS, (disputed_remark(entry(), "a/b"),))
    first = next(at for at, line in enumerate(lines) if line.startswith("**A person has to "))
    assert lines[first - 1] == lines[first + 1] == lines[first + 3 + REMARKS] == ""
    assert lines[first + 2].startswith(f"- `{MODEL}` was first submitted in `a/b`, ")
    assert lines[first + 3 : first + 3 + REMARKS] == [f"- remark {at}" for at in range(REMARKS)]
    assert "- and 2 more remarks" in text_of(1, REMARKS + 2)
