"""What a request says about rows of others that are out of date after an edit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.publishing.tables.boards import edited, entry

RANKED: dict[str, Any] = {
    "path": "t.csv",
    "key": ["Model"],
    "columns": {"Model": "model.id", "Average": {"value": "average", "decimals": 1}},
    "sorted_by": "Average",
    "on_existing": "update",
}
BOLD: dict[str, Any] = {
    "path": "t.md",
    "key": ["Model"],
    "columns": {"Model": "model.id", "BBH": {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1}},
    "on_existing": "update",
}


def said(mapping: dict[str, Any], text: str, *changes: Any, **settings: Any) -> tuple[str, ...]:
    _, draft = edited(mapping, {mapping["path"]: text.encode()}, *changes, **settings)
    assert draft.refused == {}
    return draft.remarks


def test_the_ranks_that_a_new_row_moves_are_named() -> None:
    ranked = "Rank,Model,Average\n1,a,60.0\n2,b,20.0\n3,c,10.0\n"

    assert said(RANKED, ranked, entry(average=30.0)) == (
        "The column `Rank` is not renumbered. Out of date: `b`, `c`.",
        "Left empty in the new row `example-org/kestrel-7b`, for a person to fill: `Rank`.",
    )
    assert said(RANKED, ranked, entry(average=5.0)) == (
        "Left empty in the new row `example-org/kestrel-7b`, for a person to fill: `Rank`.",
    )


def test_equal_rows_that_the_table_numbers_apart_are_counted_apart() -> None:
    ranked = "Rank,Model,Average\n1,a,60.0\n2,b,20.0\n3,c,20.0\n4,d,10.0\n"

    assert said(RANKED, ranked, entry(average=30.0))[0].endswith("Out of date: `b`, `c`, `d`.")


def test_in_a_table_that_rises_the_lowest_has_the_first_rank() -> None:
    ranked = "Rank,Model,Average\n1,a,10.0\n2,b,20.0\n3,c,60.0\n"

    assert said(RANKED, ranked, entry(average=30.0))[0] == ("The column `Rank` is not renumbered. Out of date: `c`.")


def test_a_rank_that_was_wrong_before_is_not_put_on_our_account() -> None:
    ranked = "Rank,Model,Average\n1,a,60.0\n7,b,20.0\n"

    assert "`b`" not in " ".join(said(RANKED, ranked, entry(average=30.0)))


def test_a_row_that_keeps_its_place_in_a_sorted_table_is_named() -> None:
    table = "Model,Average\na,60.0\nexample-org/kestrel-7b,30.0\nc,10.0\n"

    assert said(RANKED, table, entry(average=70.0)) == (
        "The table is sorted by `Average`; `example-org/kestrel-7b` kept its place and may belong elsewhere.",
    )
    assert said(RANKED, table, entry(average=31.0)) == ()


def test_a_new_row_finds_its_place_behind_its_equals() -> None:
    def order(table: str, average: float) -> list[str]:
        after, _ = edited(RANKED, {"t.csv": table.encode()}, entry(average=average))
        return [line.partition(b",")[0].decode() for line in after["t.csv"].splitlines()[1:]]

    falling, rising = "Model,Average\na,60.0\nb,20.0\nc,\n", "Model,Average\na,20.0\nb,60.0\n"
    assert order(falling, 20.0) == ["a", "b", "example-org/kestrel-7b", "c"]
    assert order(falling, 99.0) == ["example-org/kestrel-7b", "a", "b", "c"]
    assert order(falling, 1.0) == ["a", "b", "example-org/kestrel-7b", "c"]
    assert order(rising, 30.0) == ["a", "example-org/kestrel-7b", "b"]
    assert order("Model,Average\na,20.0\nb,60.0\nc,30.0\n", 99.0)[-1] == "example-org/kestrel-7b"


def test_several_new_rows_come_in_the_order_of_the_table() -> None:
    rows = [entry(f"o/m{n}", key=str(n), average=float(n)) for n in (1, 70, 30, 31)]
    after, _ = edited(RANKED, {"t.csv": b"Model,Average\na,60.0\nb,20.0\n"}, *rows)

    names = [line.partition(b",")[0].decode() for line in after["t.csv"].splitlines()[1:]]
    assert names == ["o/m70", "a", "o/m31", "o/m30", "b", "o/m1"]


def test_a_bold_best_that_is_no_more_the_best_is_named() -> None:
    table = "| Model | BBH |\n| --- | --- |\n| a | **40.0** |\n| example-org/kestrel-7b | 12.0 |\n"
    own = "| Model | BBH |\n| --- | --- |\n| a | 40.0 |\n| example-org/kestrel-7b | **52.0** |\n"

    assert said(BOLD, table, entry(scores={"bbh": 0.5})) == (
        "In the column `BBH` the best is bold; that is now `example-org/kestrel-7b`.",
    )
    assert said(BOLD, table, entry(scores={"bbh": 0.25})) == ()
    assert said(BOLD, own, entry(scores={"bbh": 0.25})) == ("In the column `BBH` the best is bold; that is now `a`.",)
    assert said(BOLD, own, entry(scores={"bbh": 0.5})) == ()


@pytest.mark.parametrize(("last", "new"), [("**12.0** [9; 15]", "**25.0**"), ("12.0", "25.0")])
def test_a_new_cell_is_bold_where_all_others_are(last: str, new: str) -> None:
    table = f"| Model | BBH |\n| --- | --- |\n| a | **40.0** ±3 |\n| b | {last} |\n| c | |\n"
    after, _ = edited(BOLD, {"t.md": table.encode()}, entry(scores={"bbh": 0.25}))

    assert after["t.md"].decode() == f"{table}| example-org/kestrel-7b | {new} |\n"


@pytest.mark.parametrize("spread", [b"", b" [49.1; 54.9]"])
def test_a_bold_cell_of_our_row_stays_bold_without_the_interval_of_the_old_number(spread: bytes) -> None:
    own = b"| Model | BBH |\n| --- | --- |\n| a | 40.0 |\n| example-org/kestrel-7b | **52.0**" + spread + b" |\n"
    after, _ = edited(BOLD, {"t.md": own}, entry(scores={"bbh": 0.5}))

    assert after["t.md"] == own.replace(b"52.0**" + spread, b"50.0**")


@pytest.mark.parametrize("scores", [["1e308"] * 6, ["1e999", "-1e999", *"1234"], ["1e-999999999"] * 6])
def test_scores_beyond_all_measure_break_nothing(scores: list[str]) -> None:
    tasks = ("ifeval", "bbh", "math", "gpqa", "musr", "mmlu_pro")
    columns = {"Model": "model.id", "Average": "average", **{task: f"tasks.{task}.score" for task in tasks}}
    cells = ", ".join(f'"{name}": {number}' for name, number in zip(("Average", *tasks), ["1", *scores], strict=True))

    said({"path": "t.json", "key": ["Model"], "columns": columns}, f'[{{"Model": "a", {cells}}}]', entry())


def test_names_of_strangers_are_no_markup_in_a_remark() -> None:
    table = "Rank,Model,Average\n1,`a` <b> @all,60.0\n2,b,20.0\n"

    assert "`` `a` <b> @all ``" in said(RANKED, table, entry(average=70.0))[0]
