"""Whatever a result file says, nothing of it breaks out of a CSV, JSON, YAML, Markdown or HTML cell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.publishing.tables.boards import edited
from tests.publishing.tables.test_hostile_cells import TABLES, mapping, named
from tests.publishing.tables.test_random_edits import HOSTILE
from tests.texts import any_text

ANY = any_text(min_size=1, max_size=60)
HTML_CELL = {"template": '<a href="https://huggingface.co/{model.id}" title="{model.id}">{model.id}</a>'}
Rows = list[list[str]]


def written(path: str, text: str, **columns: object) -> bytes | None:
    """The table with a row that has this text; None where the row is refused, and then nothing may have changed."""
    mapped, files = mapping(path), {path: TABLES[path].encode()}
    mapped["columns"] |= columns
    after, draft = edited(mapped, files, named(text))
    if draft.refused:
        assert after == files
        return None
    return after[path]


def in_csv(data: bytes) -> Rows:
    rows = [row[::2] for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
    for cell in (cell for row in rows for cell in row):
        assert cell[:1] == "'" or not cell.lstrip(" '\"").startswith(tuple("=+-@|＝＋－＠")), cell
    return rows


def in_json(data: bytes) -> Rows:
    return [[row["Model"], row["Note"]] for row in json.loads(data)]


def in_yaml(data: bytes) -> Rows:
    from ruamel.yaml import YAML

    rows = yaml.safe_load(data)
    assert rows == YAML(typ="safe").load(data)  # 1.1 and 1.2 read the same
    return [[row["Model"], row["Note"]] for row in rows]


def in_markdown(data: bytes) -> Rows:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(data.decode())
    cells = [token.children or [] for token in tokens if token.type == "inline"]
    assert {part.type for cell in cells for part in cell} <= {"text", "text_special"}
    shown = ["".join(part.content for part in cell) for cell in cells]
    return [[shown[at], shown[at + 2]] for at in range(3, len(shown), 3)]


READ: dict[str, Callable[[bytes], Rows]] = {"t.csv": in_csv, "t.json": in_json, "t.yml": in_yaml, "t.md": in_markdown}


@pytest.mark.slow
@pytest.mark.parametrize("path", READ)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.one_of(HOSTILE, ANY))
@example(text="\\|")
@example(text="'=1")
@example(text="{model.id}")
@example(text="::")
@example(text="##[error]x")
def test_a_cell_holds_its_text_and_no_other_changes(path: str, text: str) -> None:
    data = written(path, text)
    if data is None:
        return
    before, (*others, [model, note]) = READ[path](TABLES[path].encode()), READ[path](data)
    trimmed = str.strip if path == "t.md" else str  # Markdown pads its cells
    shown = trimmed(text)
    assert others == before
    assert model in ({shown, f"'{shown}"} if path == "t.csv" else {shown})
    assert note == trimmed(f"at {text}")


class Elements(HTMLParser):
    """The tags of a cell with their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", [(data, None)]))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.one_of(HOSTILE, ANY))
def test_a_cell_of_html_has_the_elements_of_its_template_alone(text: str) -> None:
    data = written("t.json", text, Model={"value": "run.harness"}, Note=HTML_CELL)
    if data is None:
        return
    found = Elements()
    found.feed(json.loads(data)[-1]["Note"])
    found.close()
    assert found.tags == [("a", [("href", f"https://huggingface.co/{text}"), ("title", text)])]
    assert found.text == text
