"""Cells that are right stay as they are: tags around numbers, ties, tables that look alike, names of API models."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.evaluation.identity import identified, why_unidentified
from bot.evaluation.leaderboard import load_leaderboard
from bot.evaluation.submission import parse_submission
from bot.publishing.tables.cells import Number
from bot.publishing.tables.fit import is_shown, number_in, with_number
from bot.publishing.tables.markdown_sheet import MarkdownSheet
from bot.publishing.tables.values import Rounding, rounded
from bot.service.settings.config import load_settings

VALUES = {"acme/wren-1b": (12.65, 71.25), "acme/ibis-2b": (48.5, 60.2), "acme/crane-3b": (90.05, 33.1)}
HEAD = "| Model | reading | sums |\n| --- | --- | --- |\n"


def record(model: str, values: tuple[float, float]) -> bytes:
    made: dict[str, Any] = {"schema_version": "0.3.0", "evaluation_id": model, "retrieved_timestamp": "1790000000"}
    made |= {"source_metadata": {"source_type": "evaluation_run"}, "model_info": {"name": model, "id": model}}
    scale = {"lower_is_better": False, "min_score": 0, "max_score": 100, "metric_id": "acc"}
    named = zip(("reading", "sums"), values, strict=True)
    made["evaluation_results"] = [
        {"evaluation_name": name, "metric_config": scale, "score_details": {"score": value}} for name, value in named
    ]
    return json.dumps(made).encode()


def adopted(tmp_path: Path, table: str, *words: str, values: Any = VALUES) -> Any:
    (tmp_path / "results").mkdir()
    for model, given in values.items():
        (tmp_path / "results" / f"{model.replace('/', '__')}.json").write_bytes(record(model, given))
    (tmp_path / "board.md").write_text(table)
    call = ["init", str(tmp_path / "ours"), "--table", str(tmp_path / "board.md"), "--title", "Ours"]
    return CliRunner().invoke(app, [*call, "--results", str(tmp_path / "results"), *words])


def lines(spelled: str = "{}", values: Any = VALUES) -> str:
    cells = {model: [spelled.format(f"{one:.2f}") for one in given] for model, given in values.items()}
    return HEAD + "".join(f"| {model} | {' | '.join(given)} |\n" for model, given in cells.items())


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("<sub>88.71%</sub>", "88.71"),
        ('<b style="x">88.7</b><sup>1</sup>', "88.7"),
        ("[88.7](https://x.y/1)", "88.7"),
        ("\N{MINUS SIGN}1.5", "-1.5"),
        ("🥇 **88.7**", "88.7"),
        ("88.7†", "88.7"),
        ("**393/400 (98.2%)**", "98.2"),  # of the counts, 98.25
        ("98.25 (393/400)", "98.25"),
        ("393/400 (98.7%)", None),  # they contradict each other
        ("3/4", None),
        ("1/0 (1%)", None),
        ("1,234", None),
        ("8_000", None),
    ],
)
def test_a_number_is_read_whatever_stands_around_it(cell: str, number: str | None) -> None:
    assert number_in(cell) == (None if number is None else Decimal(number))


@pytest.mark.parametrize(
    ("cell", "new"),
    [
        ("<sub>88.71%</sub>", "<sub>90.00%</sub>"),
        ("**`3.1`** 🥇", "**`90.00`** 🥇"),
        ("88.7 ± 0.3", None),  # the other number would be out of date
        ("45/50 (90.0%)", None),
        ("-", None),
    ],
)
def test_only_the_number_of_a_cell_changes(cell: str, new: str | None) -> None:
    assert with_number(cell, Decimal("90.00")) == new


@pytest.mark.parametrize(
    ("there", "exact", "decimals", "keeps_zeros", "is_equal"),
    [
        ("12.7", "12.65", 1, False, True),  # half up
        ("12.6", "12.65", 1, False, True),  # half to even
        ("12.65", "12.65", 1, False, True),
        ("12.8", "12.65", 1, False, False),
        ("12.6", "12.66", 1, False, False),  # cut, not rounded
        ("63.81", "63.8157", 2, False, False),
        ("64", "63.8157", 2, True, True),
        ("64", "63.8157", 2, False, False),  # 64.00 without its zeros
        ("31.200000000000003", "31.2", 2, False, True),
        ("0.3", "0.31", None, False, False),
    ],
)
def test_any_correct_rounding_of_the_exact_value_is_equal(
    there: str, exact: str, decimals: int | None, keeps_zeros: bool, is_equal: bool
) -> None:
    number = Number(Decimal(exact), decimals, Decimal(exact))
    assert is_shown(Decimal(there), number, keeps_zeros=keeps_zeros) is is_equal


@pytest.mark.parametrize(("rounding", "shown"), [("half-up", "0.13"), ("half-even", "0.12"), ("double", "0.12")])
def test_a_number_in_the_middle_goes_where_the_column_says(rounding: Rounding, shown: str) -> None:
    assert str(rounded(Decimal("0.125"), 2, rounding)) == shown
    assert str(rounded(Decimal("12.65"), 1, rounding)) == ("12.6" if rounding == "half-even" else "12.7")


def test_tags_stay_and_new_rows_have_them(tmp_path: Path) -> None:
    """Like the README of a board of robustness: 240 rows with `<sub>88.71%</sub>`."""
    done = adopted(tmp_path, "# Board\n\n" + lines("<sub>{}%</sub>"))
    assert done.exit_code == 0, done.output
    said = 'board.md, table "Board": 3 of 3 rows reproduced to the printed digit, in 2 of 2 columns'
    assert done.stdout.splitlines()[0] == said
    [watch] = load_settings(tmp_path / "ours" / "bot.toml").watches
    assert watch.targets[0].table is not None
    assert watch.targets[0].table.columns["sums"].template == "<sub>{value}%</sub>"


def test_a_share_with_its_counts_is_one_number_and_a_new_row_has_both(tmp_path: Path) -> None:
    """Like naoto-iwase/JMLE2026-Bench `76c4b29`, whose columns are `Score` and `Accuracy`."""
    values = {model: (number / 4, number / 2) for number, model in enumerate(VALUES, 150)}
    rows = [f"| {name} | {x * 4:g}/400 ({x:.1f}%) | {y:.2f}% ({y * 2:g}/200) |\n" for name, (x, y) in values.items()]
    done = adopted(tmp_path, HEAD + "".join(rows).replace("150/400 (37.5%)", "146/400 (36.5%)"), values=values)
    assert "2 of 3 rows reproduced to the printed digit, in 2 of 2 columns; 1 cell" in done.stdout, done.output
    assert "reading: there 146/400 (36.5%), computed 150/400 (37.5%)" in done.stdout
    [watch] = load_settings(tmp_path / "ours" / "bot.toml").watches
    assert watch.targets[0].table is not None
    columns = watch.targets[0].table.columns
    assert (columns["reading"].of, columns["reading"].template) == (400, "{right}/{of} ({value}%)")
    assert (columns["sums"].of, columns["sums"].template) == (200, "{value}% ({right}/{of})")


def test_a_table_is_named_by_the_headings_above_it(tmp_path: Path) -> None:
    other = lines(values={model: (a / 2, b / 2) for model, (a, b) in VALUES.items()})
    text = f"## Set A\n\n#### eps 8\n\n{lines()}\n## Set B\n\n#### eps 8\n\n{other}"
    done = adopted(tmp_path, text)
    assert done.stdout.startswith('board.md, table "Set A > eps 8": 3 of 3 rows'), done.output
    assert "the file has 1 other table: --at 'Set B > eps 8'" in done.stderr
    names = frozenset({"Model", "reading", "sums"})
    cells = [MarkdownSheet(text, at, names).cell(0, ("reading",)) for at in ("Set A > eps 8", "1", "Set B", "2")]
    assert cells == ["12.65", "12.65", "6.33", "6.33"]


def test_two_tables_that_show_the_same_stop_until_one_is_named(tmp_path: Path) -> None:
    text = f"# One\n\n{lines()}\n# Two\n\n{lines()}"
    done = adopted(tmp_path, text)
    assert "2 of its tables show these results equally well; name one of them: --at One, --at Two" in str(
        done.exception
    )
    assert not (tmp_path / "ours").exists()


def test_names_of_api_models_as_the_table_has_them_are_ids_of_the_board(tmp_path: Path) -> None:
    values = {model.rpartition("/")[2]: given for model, given in VALUES.items()}
    done = adopted(tmp_path, f"# Board\n\n{lines(values=values)}", values=values)
    assert done.exit_code == 0, done.output
    declared = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert declared.takes_plain_names
    new = identified(parse_submission("new.json", {"": record("brandnew-1", (1.0, 2.0))}), {}, declared)
    assert new.result is not None
    assert why_unidentified(new.result.model) == ""


def test_a_new_number_gets_the_most_decimals_that_a_column_prints(tmp_path: Path) -> None:
    values = {f"acme/wren-{number}b": (float(100 * (number % 2)), 10.25 + number) for number in range(1, 31)}
    values["acme/wren-7b"] = (92.86, 17.25)
    rows = "".join(f"| {model} | {one} | {two:.2f} |\n" for model, (one, two) in values.items())
    done = adopted(tmp_path, HEAD + rows, values=values)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "ours" / "bot.toml").read_text()
    said, line = text.split("\n")[[one.startswith("reading = ") for one in text.split("\n")].index(True) - 1 :][:2]
    assert said == "# its numbers have 1 to 2 decimals, new ones the most"
    assert line.endswith("decimals = 2 }")
    assert "30 of 30 rows reproduced" in done.output
