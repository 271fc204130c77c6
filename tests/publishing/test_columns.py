"""Groups of columns, columns that do not count, and plain names of models."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isclose, sqrt
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.compare import compare
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.site import Site
from bot.publishing.board import contradiction, make_board, records, to_csv
from bot.publishing.board_table import board_markdown
from bot.publishing.card import card_table
from bot.publishing.changes import change_of
from bot.publishing.compared_rows import run_of_entry
from bot.publishing.entry import Entry, digest_of, entry_of, parse_entry
from bot.publishing.plan import average_change, planned_row
from bot.publishing.publication import Marker, rolling_mark
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.rows import MappedRows
from bot.publishing.tables.values import RowView, Unit, in_unit, rounded
from bot.publishing.texts import request_text, rolling_text
from bot.reporting.comparison import comparison_json, comparison_text
from bot.reporting.report import make_report
from bot.reporting.scores import column_cell, column_number, scores_csv
from tests.evaluation.judging import judgement_of, rules_of

BOARD = """
title = "Groups"
description = "Two groups, one of one task."
average = "groups"
[harness]
formats = ["lm-eval-0.4"]
[models]
plain = true
[[tasks]]
id = "a"
title = "A"
group = "Retrieval"
metrics = [{ name = "acc" }]
leaves = [{ id = "a" }]
[[tasks]]
id = "b"
title = "B"
group = "Retrieval"
metrics = [{ name = "acc" }]
leaves = [{ id = "b" }]
[[tasks]]
id = "c"
title = "C"
group = "STS"
metrics = [{ name = "acc" }]
leaves = [{ id = "c" }]
[[columns]]
id = "pass5"
title = "pass@5"
leaves = ["a"]
metric = "pass@5"
[[columns]]
id = "cost"
title = "Cost"
leaves = ["a", "b"]
metric = { name = "usd" }
unit = "$"
aggregation = "sum"
higher_is_better = false
[[columns]]
id = "seconds"
title = "Time"
leaves = ["nowhere"]
metric = "seconds"
unit = "s"
"""
NAME = "gpt-4o (2024 08)"


def board(text: str = BOARD) -> Leaderboard:
    return parse_leaderboard(text, "groups", "groups.toml")


def result(values: tuple[float, ...] = (0.5, 0.6, 0.8), name: str = NAME, **more: Any) -> dict[str, Any]:
    rows = {
        key: {"acc,none": value, "acc_stderr,none": sqrt(value * (1 - value) / 99), "usd,none": 1.25}
        for key, value in zip("abc", values, strict=True)
    }
    rows["a"]["pass@5,none"] = 0.9
    return {"results": rows, "configs": {key: {"task": key} for key in rows}, "n-shot": dict.fromkeys(rows, 0),
            "config": {"model": "local-chat-completions", "model_args": f"model={name}"}, "model_name": name,
            "date": 1770800000.0} | more  # fmt: skip


def entry(*values: float, declared: Leaderboard | None = None) -> Entry:
    (row,) = judgement_of({"r.json": result(values or (0.5, 0.6, 0.8))}, declared or board()).rows
    made = entry_of(row)
    assert made is not None
    return made


def test_the_average_is_over_groups_and_each_group_is_the_mean_of_its_tasks() -> None:
    made = entry()
    assert [(one.title, one.score) for one in made.groups] == [("Retrieval", 55.0), ("STS", 80.0)]
    assert made.average == 67.5
    errors = [task.stderr or 0.0 for task in made.tasks]
    of_group = sqrt(errors[0] ** 2 + errors[1] ** 2) / 2
    assert isclose(made.stderr or 0.0, sqrt(of_group**2 + errors[2] ** 2) / 2)
    over_tasks = entry(declared=board(BOARD.replace('average = "groups"\n', "")))
    assert isclose(over_tasks.average or 0.0, 190 / 3)
    assert [one.score for one in over_tasks.groups] == [55.0, 80.0]


def test_columns_that_do_not_count_are_shown_and_leave_no_hole() -> None:
    made = entry()
    assert (made.verdict, made.coverage.missing) == ("accepted", ())
    assert {one.id: one.value for one in made.columns} == {"pass5": 0.9, "cost": 2.5, "seconds": None}
    (row,) = judgement_of({"r.json": result()}, board()).rows
    assert not {"extra-task", "unidentified-model"} & rules_of(row)


def test_an_entry_with_groups_and_columns_is_read_back_and_its_numbers_follow() -> None:
    made = entry()
    assert parse_entry(made.to_bytes()) == made
    assert contradiction(made) == ""
    changed = replace(made, groups=(replace(made.groups[0], score=56.0), made.groups[1]))
    assert "Retrieval" in contradiction(changed)
    assert contradiction(replace(made, average=60.0)) != ""
    assert contradiction(replace(made, groups=(made.groups[0], made.groups[0]))) != ""
    assert digest_of(replace(made, columns=())) != digest_of(made)


def test_csv_json_card_and_terminal_have_groups_first_and_the_other_columns_last() -> None:
    shown = make_board([entry()], board())
    head, line = to_csv(shown).decode().splitlines()
    names = head.split(",")
    assert names[names.index("average_stderr") + 1 : names.index("verdict")] == [
        "Retrieval", "STS", "a", "b", "c", "pass5", "cost", "seconds",
    ]  # fmt: skip
    assert line.split(",")[names.index("cost")] == "2.5"
    assert records(shown)[0]["Retrieval"] == 55.0
    for text in (board_markdown(shown), card_table(shown)):
        assert "| 55.00 | 80.00 | 50.00 | 60.00 | 80.00 | 90.00 | " in text
    judged = judgement_of({"r.json": result()}, board())
    assert scores_csv(judged).splitlines()[1].endswith(",67.5,55.0,80.0,50.0,60.0,80.0,0.9,2.5,")
    scores = make_report(judged)["rows"][0]["scores"]
    assert {**scores["groups"][1], "stderr": 0} == {"title": "STS", "score": 80.0, "stderr": 0, "tasks": ("c",)}
    assert scores["columns"][1] == {"id": "cost", "value": 2.5, "title": "Cost", "unit": "$"}


def test_a_change_of_a_column_that_does_not_count_is_said_wherever_rows_are_said() -> None:
    """A cost of 102 in place of 2.50 changed nothing that a reviewer saw."""
    before = entry()
    [file] = before.evidence
    columns = tuple(replace(one, value=102.35) if one.id == "cost" else one for one in before.columns)
    after = replace(before, columns=columns, evidence=(replace(file, sha256="5" * 64),))
    text = request_text(after, before, Marker("entry", after.key, "groups")).body
    assert "| Cost, which does not count | $102 | | $2.50 | |" in text
    assert "| pass@5, which does not count | 90.00 | | 90.00 | |" in text
    assert "No number that counts changed." in text
    assert "a copy or a repeat" not in text
    assert "; Cost $2.50 → $102 |" in rolling_text([(before, after)], rolling_mark("groups")).body
    assert average_change(planned_row(after.key, before, after, "")) == "67.50 → 67.50, Cost $2.50 → $102"
    change = change_of(before, after, "2026-11-05T00:00:00Z")
    assert change is not None
    assert change.details == "Cost $2.50 → $102, not counted. Its files changed, and no number that counts."
    site = Site(PageContent(make_board([after], board()), history=[change]))
    for path in ("changes.html", "changes.atom", row_page(site.content.names[after.key])):
        assert "Cost $2.50 → $102, not counted." in site[path].decode(), path
    assert "<dt>Cost<dd>$102, not counted" in site[row_page(site.content.names[after.key])].decode()
    # An entry from before the titles were kept in it is the same row.
    older = replace(before, columns=tuple(replace(one, title="", unit="plain") for one in before.columns))
    assert digest_of(older) == digest_of(before)


def test_the_page_of_the_board_has_the_numbers_of_the_table() -> None:
    shown = make_board([entry()], board())
    page = Site(PageContent(shown))["index.html"]
    assert [part.partition("<")[0] for part in page.decode().split("<td class=other>")[1:4]] == ["90.00", "2.50", "–"]
    assert [column_number(value, "$") for value in (0.0042, 12345.6, 0.0)] == ["0.0042", "12,346", "0"]
    assert column_cell(0.0042, "s") == "0.0042 s"


def test_a_table_can_have_groups_and_columns() -> None:
    view = RowView(entry(), board())

    def printed(accessor: str, unit: Unit | None, decimals: int) -> Decimal | None:
        value = in_unit(accessor, view, unit)
        return rounded(value, decimals, "half-even") if isinstance(value, Decimal) else None

    assert printed("groups.Retrieval.score", "percent", 1) == Decimal("55.0")
    assert printed("groups.Retrieval.score", "proportion", 3) == Decimal("0.550")
    assert printed("columns.pass5.value", "percent", 1) == Decimal("90.0")
    assert printed("columns.cost.value", None, 2) == Decimal("2.50")
    assert printed("columns.seconds.value", None, 2) is None
    for accessor in ("groups.Other.score", "columns.other.value"):
        options = TableOptions(path="t.csv", key=["m"], columns={"m": {"value": "model.id"}, "x": {"value": accessor}})
        with pytest.raises(CallError, match="the leaderboard has"):
            MappedRows(options, board()).check()


def test_compare_averages_over_groups_and_names_columns() -> None:
    found = compare(run_of_entry("A", entry()), run_of_entry("B", entry(0.4, 0.9, 0.7)))
    assert found.average is not None
    assert isclose(found.average.contrast.difference, 0.0, abs_tol=1e-9)
    assert ("cost", 2.5, 2.5) in found.columns
    assert "cost: 2.5 → 2.5" in comparison_text(found)
    assert comparison_json(found)["columns"][0] == {"id": "pass5", "values": [0.9, 0.9]}


@pytest.mark.parametrize("name", ["gpt-4o", "claude-4.1-opus", NAME, "deepseek"])
def test_plain_names_are_ids_where_the_board_takes_them(name: str) -> None:
    data = result(name=name)
    (row,) = judgement_of({"r.json": data}, board()).rows
    assert (row.status, row.key.model) == ("accepted", name)
    (row,) = judgement_of({"r.json": data}, board(BOARD.replace("plain = true", ""))).rows
    assert row.status == "rejected"


@pytest.mark.parametrize("name", ["/data/model", "./model", "local", ""])
def test_a_path_is_no_plain_name(name: str) -> None:
    assert judgement_of({"r.json": result(name=name)}, board()).rows[0].status == "rejected"


def test_eight_letters_that_the_harness_made_up_are_no_plain_name() -> None:
    data = result(name="i82qcls7", config={"model": "hf", "model_args": ""})
    assert judgement_of({"r.json": data}, board()).rows[0].status == "rejected"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('group = "STS"\n', "", "needs the group of each task"),
        ('id = "cost"', 'id = "a"', "a is the name of two columns"),
        ('id = "cost"', 'id = "a_raw"', "a_raw is the name of two columns"),
        ('id = "cost"', 'id = "average"', "average is the name of two columns"),
        ('group = "STS"', 'group = "verdict"', "verdict is the name of two columns"),
        ("plain = true", "other = true", "only plain is true or false"),
        ('leaves = ["nowhere"]', "leaves = []", "columns.2.leaves"),
    ],
)
def test_a_declaration_names_what_is_wrong_with_its_columns(old: str, new: str, why: str) -> None:
    with pytest.raises(MalformedDeclaration, match=why):
        board(BOARD.replace(old, new))


def test_a_declaration_is_written_out_and_read_back() -> None:
    assert board(board().text).digest == board().digest
    assert json.loads(json.dumps(board().deciding))["average"]["over"] == "groups"
