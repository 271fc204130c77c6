"""Edges of values and rows: what each accessor gives, in which unit, and which row of a change is meant."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import Unwritable
from bot.publishing.addresses import evidence_link
from bot.publishing.entry import Entry
from bot.publishing.layout import RowChange
from bot.publishing.tables.values import (
    RowView,
    Scalar,
    check_accessor,
    lookup,
    placeholders,
    scaled,
    split_task,
    unit_of,
)
from tests.evaluation.judging import declared
from tests.publishing.tables.boards import CSV, MODEL, change, edited, entry, layout

TASKS = ("ifeval", "bbh", "math", "gpqa", "musr", "mmlu_pro")


def view(row: Entry | None = None, unit: str = "fraction") -> RowView:
    """The row beside a leaderboard whose tasks have this unit."""
    board = declared()
    return RowView(row or entry(), board.model_copy(update={"tasks": [_with_unit(task, unit) for task in board.tasks]}))


def _with_unit(task: Any, unit: str) -> Any:
    return task.model_copy(update={"unit": unit})


def with_samples(*counts: int | None) -> Entry:
    """A row whose first task has leaves with these numbers of samples."""
    row = entry()
    first, *others = row.tasks
    leaves = tuple(replace(first.leaves[0], samples=count) for count in counts)
    return replace(row, tasks=(replace(first, leaves=leaves), *others))


# ---- values ----


@pytest.mark.parametrize(
    ("accessor", "value"),
    [
        ("tasks.bbh.num_fewshot", Decimal(3)),
        ("tasks.mmlu_pro.num_fewshot", Decimal(5)),
        ("tasks.ifeval.num_fewshot", Decimal(0)),
        ("tasks.ifeval.samples", Decimal(541 + 834)),
        ("tasks.bbh.raw", Decimal("0.5336990825602492")),
        ("tasks.bbh.score", Decimal("34.53969429878098")),
        ("tasks.bbh.stderr", Decimal("0.9869500508420852")),
        ("average", Decimal("33.60379482268062")),
        ("average_stderr", Decimal("0.7875193645437103")),
        ("model.org", "example-org"),
        ("model.name", "kestrel-7b"),
        ("run.date", "2026-03-03"),
        ("run.version", "0.4.9"),
    ],
)
def test_an_accessor_gives_the_value_of_the_row(accessor: str, value: Scalar) -> None:
    assert lookup(accessor, view()) == value


def test_no_number_of_shots_is_a_gap() -> None:
    board = declared()
    tasks = [task.model_copy(update={"num_fewshot": None}) for task in board.tasks]
    assert lookup("tasks.bbh.num_fewshot", RowView(entry(), board.model_copy(update={"tasks": tasks}))) is None


@pytest.mark.parametrize(
    ("counts", "total"),
    [((5,), Decimal(5)), ((5, 0, 7), Decimal(12)), ((5, None), None), ((None,), None), ((), None)],
)
def test_samples_are_those_of_all_leaves_where_all_are_known(counts: tuple[int | None, ...], total: Scalar) -> None:
    assert lookup("tasks.ifeval.samples", view(with_samples(*counts))) == total


@pytest.mark.parametrize(
    ("version", "commit", "shown"),
    [("0.4.9", "abc", "0.4.9"), (None, "0123456789abcdef", "0123456789ab"), (None, None, ""), ("", "abc", "abc")],
)
def test_the_version_of_a_harness_is_else_its_commit(version: str | None, commit: str | None, shown: str) -> None:
    row = entry()
    assert lookup(
        "run.version", view(replace(row, harness=replace(row.harness, version=version, git_hash=commit)))
    ) == (shown)


def test_a_precision_has_no_name_of_a_library() -> None:
    row = entry()
    assert (
        lookup("model.precision", view(replace(row, model=replace(row.model, precision="torch.float16")))) == "float16"
    )


def test_a_task_that_is_not_there_is_named() -> None:
    known = ", ".join(TASKS)
    with pytest.raises(Unwritable, match=f"^the leaderboard has no task 'arc'; its tasks are {known}$"):
        lookup("tasks.arc.raw", view())
    board = declared()
    older = RowView(entry(), board.model_copy(update={"tasks": board.tasks[1:]}))
    assert lookup("tasks.bbh.num_fewshot", older) == 3
    with pytest.raises(Unwritable, match=r"^the leaderboard has no task 'ifeval' any more$"):
        lookup("tasks.ifeval.num_fewshot", older)


@pytest.mark.parametrize(
    ("accessor", "unit"),
    [
        ("tasks.bbh.score", "percent"),
        ("tasks.bbh.stderr", "percent"),
        ("average", "percent"),
        ("average_stderr", "percent"),
        ("tasks.bbh.samples", None),
        ("tasks.bbh.num_fewshot", None),
        ("model.id", None),
    ],
)
def test_points_are_percents_and_counts_have_no_unit(accessor: str, unit: str | None) -> None:
    assert unit_of(accessor, view()) == unit


def test_a_raw_value_has_the_unit_of_its_declaration() -> None:
    assert unit_of("tasks.bbh.raw", view(unit="percent")) == "percent"
    assert unit_of("tasks.bbh.raw", view(unit="fraction")) == "proportion"


def test_a_number_in_another_unit_is_the_same_quantity() -> None:
    number = Decimal("12.5")
    assert scaled(number, "percent", "proportion") == Decimal("0.125")
    assert scaled(number, "proportion", "percent") == Decimal(1250)
    assert {scaled(number, "percent", None), scaled(number, None, "percent"), scaled(number, "percent", "percent")} == {
        number
    }


# ---- names ----


def test_an_id_of_a_task_may_hold_dots() -> None:
    assert split_task("tasks.arc.v1.1.raw") == ("arc.v1.1", "raw")
    assert [split_task(name) for name in ("tasks.raw", "tasks..raw", "tasks.bbh.value", "model.bbh.raw")] == [None] * 4


def test_a_name_that_is_none_is_answered_with_all_names() -> None:
    tasks = "tasks.ID.score, tasks.ID.raw, tasks.ID.stderr, tasks.ID.samples, tasks.ID.num_fewshot"
    known = f"evidence.url, {tasks}, groups.TITLE.score, groups.TITLE.stderr, columns.ID.value"
    with pytest.raises(ValueError, match=rf"^'score' names no value of a row; .*model\.id, model\.org.*{known}$"):
        check_accessor("score")


def test_the_names_in_a_template_are_all_read() -> None:
    assert placeholders("a {{b}} {model.id}: {value} {{}}") == ("model.id", "value")
    assert placeholders("{model.org} and {average}, done") == ("model.org", "average")


# ---- rows ----


LINKED = {"columns": {"Model": "model.id", "URL": "evidence.url"}}


def _read_at(commit: str) -> Entry:
    row = entry()
    return replace(row, evidence=tuple(replace(file, commit=commit * 40) for file in row.evidence))


def _draft_of(text: str, published: Entry) -> Mapping[str, str]:
    row = _read_at("b")
    known = RowChange(row.key, row, published)
    return layout(CSV, **LINKED).draft([known], {"t.csv": text.encode()}).refused


def test_a_row_is_the_bots_own_where_it_has_the_addresses_of_then() -> None:
    text = f"Model,URL\n{MODEL},{evidence_link(_read_at('a'))}\n"
    assert _draft_of(text, _read_at("a")) == {}
    assert "has other values" in str(_draft_of(text, _read_at("b")))


def test_a_withdrawn_row_stops_no_row_behind_it() -> None:
    gone, new = RowChange("gone", None, entry("a/gone")), change(entry("a/b"))
    draft = layout(CSV).draft([gone, new], {"t.csv": b"Model,BBH\nheron,0.5\n"})

    assert draft.refused == {}
    assert b"\na/b," in (draft.files["t.csv"] or b"")


def test_a_withdrawn_row_that_is_there_twice_says_so() -> None:
    draft = layout(CSV).draft([change(None, published=entry("a/b"))], {"t.csv": b"Model,BBH\na/b,0.5\na/b,0.5\n"})
    assert list(draft.refused.values()) == [
        "2 rows have the key 'a/b', so none of them is edited: add a column to key that distinguishes them"
    ]


def test_ranks_follow_the_average_where_no_order_is_set() -> None:
    columns = {"Model": "model.id", "Avg": "average"}
    rows = b"Rank,Model,Avg\n1,a,60.5\n2,b,20.25\n"
    _, draft = edited({**CSV, "columns": columns}, {"t.csv": rows}, entry("a/b", average=30.0))

    assert draft.remarks[0] == "The column `Rank` is not renumbered. Out of date: `b`."


def test_an_average_of_more_than_the_columns_of_the_table_is_not_checked() -> None:
    columns = {"Model": "model.id", "Avg": "average", "BBH": "tasks.bbh.score"}
    rows = b"Model,Avg,BBH\na,60.5,10.5\nb,20.25,90.5\n"
    _, draft = edited({**CSV, "columns": columns}, {"t.csv": rows}, entry())
    assert draft.remarks == ()
    scores = {"columns": {"Model": "model.id", **{task: f"tasks.{task}.score" for task in TASKS}}}
    text = f"Model,{','.join(TASKS)}\na,{','.join(['1.5'] * 6)}\n"
    assert edited({**CSV, **scores}, {"t.csv": text.encode()}, entry())[1].remarks == ()
