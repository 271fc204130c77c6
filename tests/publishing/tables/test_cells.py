"""Single cells: truth values in the words of their column, keys that a row lacks, numbers of any size, and gaps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.publishing.tables.boards import CSV, JSON, LINES, MARKDOWN, MODEL, YAML, edited, entry, why

CHAT: dict[str, Any] = {"columns": {"Model": "model.id", "Chat": "model.chat_template"}}


def after(mapping: dict[str, Any], text: str, **changes: Any) -> str:
    row = entry(scores={"bbh": 0.5, "gpqa": 0.25}, **changes.pop("row", {}))
    files, draft = edited(mapping, {mapping["path"]: text.encode()}, row, on_existing="update", **changes)
    assert draft.refused == {}
    return files[mapping["path"]].decode()


# ---- truth values ----


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("yes,no", "no"),
        ("✅,✅", "❌"),
        ("True,False", "False"),
        ("0,0", "0"),
        ("TRUE,", "FALSE"),
        (",", "false"),
        ("x,y", "false"),
    ],
)
def test_a_truth_value_has_the_words_of_its_column(words: str, written: str) -> None:
    first, second = words.split(",")
    assert after(CSV | CHAT, f"Model,Chat\na,{first}\nb,{second}\n").splitlines()[-1] == f"{MODEL},{written}"
    table = f"| Model | Chat |\n|---|---|\n| a | {first} |\n| b | {second} |\n"
    assert after(MARKDOWN | CHAT, table).splitlines()[-1] == f"| {MODEL} | {written} |"


def test_a_truth_value_is_one_in_formats_that_have_it() -> None:
    assert after(JSON | CHAT, '[{"Model": "a", "Chat": true}]').endswith('"Chat": false}]')
    assert after(LINES | CHAT, '{"Model": "a", "Chat": true}\n', key=["Model"]).endswith('"Chat": false}\n')
    assert after(YAML | CHAT, "- Model: a\n  Chat: true\n").endswith("\n  Chat: false\n")


@pytest.mark.parametrize("word", ["no", "False", "0", "❌", "false"])
def test_a_truth_value_that_stands_there_in_any_words_is_not_written_again(word: str) -> None:
    text = f"Model,Chat\n{MODEL},{word}\n"
    assert after(CSV | CHAT, text) == text
    assert after(CSV | CHAT, text.replace(word, "yes")) == f"Model,Chat\n{MODEL},no\n"


@pytest.mark.parametrize("word", ["false", "False", "FALSE"])
def test_a_truth_value_of_yaml_is_one_in_any_capitals(word: str) -> None:
    text = f"- Model: {MODEL}\n  Chat: {word}\n"
    assert after(YAML | CHAT, text) == text
    assert after(YAML | CHAT, text.replace(word, "True")) == f"- Model: {MODEL}\n  Chat: false\n"


@pytest.mark.parametrize("quote", ["'", '"', ""])
def test_a_text_of_yaml_keeps_its_quotes(quote: str) -> None:
    columns = {"Model": "model.id", "Org": {"template": "{model.org}"}}
    text = f"- Model: {MODEL}\n  Org: {quote}acme{quote}\n"
    assert after(YAML, text, columns=columns) == text.replace("acme", "example-org")


# ---- keys that a row lacks ----


@pytest.mark.parametrize(
    ("mapping", "before", "now"),
    [
        (JSON, '[{"Model": "@", "n": 1}, {"BBH": 1.5}]', '[{"Model": "@", "n": 1, "BBH": 0.5}, {"BBH": 1.5}]'),
        (JSON, '[\n {\n  "Model":"@"\n },\n {"BBH": 1}]', '[\n {\n  "Model":"@",\n  "BBH":0.5\n },\n {"BBH": 1}]'),
        (YAML, "- Model: @\n  n: 1 # x\n- BBH: 1.5\n", "- Model: @\n  n: 1 # x\n  BBH: 0.5\n- BBH: 1.5\n"),
        (YAML, "- {Model: @, n: 1}\n- BBH: 1.5\n", "- {Model: @, n: 1, BBH: 0.5}\n- BBH: 1.5\n"),
    ],
)
def test_a_key_that_a_row_lacks_is_added_at_its_end(mapping: dict[str, Any], before: str, now: str) -> None:
    assert after(mapping, before.replace("@", MODEL)) == now.replace("@", MODEL)


NESTED = {"columns": {"Model": "model.id", "BBH": {"name": ["run", "BBH"], "value": "tasks.bbh.raw"}}}


@pytest.mark.parametrize(
    ("mapping", "before", "now"),
    [
        (JSON, '[{"Model": "@", "run": {"n": 1}}, {"run": {"BBH": 1.5}}]', '"run": {"n": 1, "BBH": 0.5}'),
        (YAML, "- Model: @\n  run:\n    n: 1\n- run: {BBH: 1.5}\n", "  run:\n    n: 1\n    BBH: 0.5\n"),
        (YAML, "- Model: @\n  run: {n: 1}\n- run: {BBH: 1.5}\n", "  run: {n: 1, BBH: 0.5}\n"),
    ],
)
def test_a_key_that_a_nested_object_lacks_is_added_there(mapping: dict[str, Any], before: str, now: str) -> None:
    assert now in after(mapping | NESTED, before.replace("@", MODEL))


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        (JSON, '[{"Model": "@"}, {"run": {"BBH": 1.5}}]'),
        (JSON, '[{"Model": "@", "run": {}}, {"run": {"BBH": 1.5}}]'),
        (YAML, "- Model: @\n- run: {BBH: 1.5}\n"),
        (YAML, "- Model: @\n  run: {}\n- run: {BBH: 1.5}\n"),
    ],
)
def test_an_object_that_a_row_lacks_is_not_made(mapping: dict[str, Any], text: str) -> None:
    reason = why(mapping | NESTED, text.replace("@", MODEL), on_existing="update")
    assert "the row has no object for run.BBH" in reason


def test_a_key_that_a_row_has_twice_is_not_written() -> None:
    text = '[{"Model": "@", "BBH": 1.5, "BBH": 1.5}]'.replace("@", MODEL)
    assert "the row has the key 'BBH' twice" in why(JSON, text, on_existing="update")
    text = f"- Model: {MODEL}\n  BBH: 1.5\n  BBH: 1.5\n"
    assert "the row has the key 'BBH' twice" in why(YAML, text, on_existing="update")


# ---- what else a cell holds ----


def test_a_gap_is_named_by_the_value_that_the_row_lacks() -> None:
    table = "Model,BBH\na,0.5\n"
    gap = entry(scores={"bbh": None, "gpqa": None})
    template = {"value": "tasks.bbh.raw", "template": "{value} of {tasks.gpqa.raw}"}

    assert "no value for BBH (tasks.bbh.raw)" in why(CSV, table, gap)
    named = why(CSV, table, entry(scores={"gpqa": None}), columns={"Model": "model.id", "BBH": template})
    assert "no value for BBH (tasks.gpqa.raw)" in named
    assert "no value for BBH (tasks.bbh.raw)" in why(CSV, table, gap, columns={"Model": "model.id", "BBH": template})


@pytest.mark.parametrize(
    ("number", "written"), [(1e-7, "0.0000001"), (1e22, "1" + "0" * 22), (5e-324, f"0.{'0' * 323}5")]
)
def test_a_number_has_no_exponent(number: float, written: str) -> None:
    columns = {"Model": "model.id", "Average": "average"}
    text = after(CSV, "Model,Average\n", columns=columns, row={"average": number})
    assert text == f"Model,Average\n{MODEL},{written}\n"
