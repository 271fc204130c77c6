"""What a submitter wrote stays inside of its cell, in every format: it is escaped, or the row is refused."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.publishing.entry import Entry
from bot.reporting.escape import plain_in_link, plain_markup
from tests.publishing.tables.boards import edited, entry, refusal

TEXTS = [
    "a | b",
    "a\\| b",
    "**x**",
    "_x_ ~~y~~ `z`",
    "[click](http://evil.example)",
    "![](http://evil.example/a.png)",
    "http://evil.example www.evil.example",
    "&lt;script&gt;",
    "a: b # c",
    "'a' \"b\"",
    "- a",
    "{a: 1}",
    "*a &b !!c",
    "yes",
    "null",
    "0x10",
    "12e4567",
    "1_000",
    "12:30",
    "2026-01-01",
    "=1+1",
    "@SUM(A1)",
    "+1",
    "a,b;c",
    '"',
    "'",
    "\\",
    "~",
    "🦅",
]
REFUSED = ["a\nb", "a\rb", "a\tb", "a\x00b", "a\x1b[2Jb", "a\u2028b", "a\ufeffb", "\u202egnp", "x" * 201]


def named(text: str) -> Entry:
    row = entry()
    return replace(row, model=replace(row.model, id=text, precision=text))


def mapping(path: str) -> dict[str, Any]:
    columns = {"Model": "model.id", "BBH": "tasks.bbh.raw", "Note": {"template": "at {model.precision}"}}
    return {"path": path, "key": ["Model"], "columns": columns}


TABLES = {
    "t.csv": "Model,BBH,Note\nheron,0.5,x\n",
    "t.json": '[{"Model": "heron", "BBH": 0.5, "Note": "x"}]',
    "t.jsonl": '{"Model": "heron", "BBH": 0.5, "Note": "x"}\n',
    "t.yml": "- Model: heron\n  BBH: 0.5\n  Note: x\n- Model: wren\n  BBH: 0.5\n  Note: 'x'\n",
    "t.md": "| Model | BBH | Note |\n| --- | --- | --- |\n| heron | 0.5 | x |\n",
}


def write(path: str, text: str) -> bytes:
    after, draft = edited(mapping(path), {path: TABLES[path].encode()}, named(text))
    assert draft.refused == {}
    return after[path]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reads_back_as_itself_from_json_and_yaml(text: str) -> None:
    from ruamel.yaml import YAML

    wanted = (text, f"at {text}")

    for data in (json.loads(write("t.json", text)), [json.loads(line) for line in write("t.jsonl", text).splitlines()]):
        assert (data[-1]["Model"], data[-1]["Note"]) == wanted
    for rows in (yaml.safe_load(write("t.yml", text)), YAML(typ="safe").load(write("t.yml", text))):
        assert (rows[-1]["Model"], rows[-1]["Note"]) == wanted
        assert len(rows) == 3


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reads_back_from_csv_and_is_no_formula(text: str) -> None:
    *_, row = csv.reader(io.StringIO(write("t.csv", text).decode(), newline=""))

    assert row[0] in {text, f"'{text}"}
    assert not row[0].startswith(("=", "+", "-", "@"))
    assert row[2] == f"at {text}"


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_no_markup_in_a_markdown_table(text: str) -> None:
    table = write("t.md", text).decode()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(table)
    *_, model, _, note = [token for token in tokens if token.type == "inline"]

    assert "://" not in table
    assert "www." not in table
    assert [token.type for token in tokens].count("tr_open") == 3
    for cell, shown in ((model, text), (note, f"at {text}")):
        kinds = {part.type for part in cell.children or []}
        assert kinds <= {"text", "text_special"}
        assert "".join(part.content for part in cell.children or []) == shown


@pytest.mark.parametrize("path", TABLES)
@pytest.mark.parametrize("text", REFUSED)
def test_letters_that_cannot_be_seen_are_refused_everywhere(path: str, text: str) -> None:
    assert "cannot be written into a cell" in refusal(mapping(path), {path: TABLES[path].encode()}, named(text))


@pytest.mark.parametrize("path", [path for path in TABLES if path != "t.md"])
def test_tags_are_refused_where_a_page_may_show_a_cell_as_it_is(path: str) -> None:
    assert "has < or >" in refusal(mapping(path), {path: TABLES[path].encode()}, named("<img src=x onerror=a>"))


def test_a_text_in_an_html_or_markdown_template_is_escaped_for_it() -> None:
    html = {"template": '<a href="https://huggingface.co/{model.id}">{model.id}</a>'}
    link = {"template": "[{model.id}](https://huggingface.co/{model.id})"}
    hostile = '"><script>alert(1)</script>'
    escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"

    for template, shown in ((html, escaped), (link, plain_in_link(hostile))):
        columns = {"Model": "run.harness", "BBH": "tasks.bbh.raw", "Note": template}
        after, draft = edited(
            {"path": "t.json", "key": ["Model"], "columns": columns},
            {"t.json": TABLES["t.json"].encode()},
            named(hostile),
        )
        assert draft.refused == {}
        note = json.loads(after["t.json"])[-1]["Note"]
        assert note == template["template"].replace("{model.id}", shown)
        assert "<script" not in note


def test_a_name_on_the_hub_is_written_as_it_is() -> None:
    for name in ("meta-llama/Llama-3.1-8B-Instruct", "a/b_c.d-e", "Qwen/Qwen2.5_7B"):
        assert plain_markup(name) == name
        assert f"| {name} |".encode() in write("t.md", name)


def test_parentheses_stay_and_a_request_shows_letters_in_the_place_of_references() -> None:
    name = "acme guard (50M) <b>"
    after, draft = edited(mapping("t.md"), {"t.md": TABLES["t.md"].encode()}, named(name))

    assert "| acme guard (50M) &#60;b&#62; |" in after["t.md"].decode()
    [cells] = draft.cells.values()
    assert {cell.column: cell.after for cell in cells}["Model"] == name
