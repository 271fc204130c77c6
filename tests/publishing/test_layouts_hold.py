"""Whatever a result file says, every layout has the same structure as with plain words: nothing breaks out of its cell.

Each check writes a row in which a stranger wrote every text, reads it back as its readers do, and compares the
structure with that of a harmless row: YAML, CSV, JSON, Markdown, HTML and Atom.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from bot.publishing.board import make_board, to_csv
from bot.publishing.entry import parse_entry
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, OpenFiles
from bot.publishing.layout import RowChange
from bot.publishing.publication import entry_in, entry_marker
from bot.publishing.texts import row_text
from bot.reporting.escape import visible
from tests.evaluation.judging import declared
from tests.pages.boards import site_of
from tests.publishing.hostile_rows import FEW, TEXTS, row_of, shape
from tests.publishing.hub_evals.models import board, page
from tests.publishing.tables import boards
from tests.publishing.tables.test_hostile_cells import TABLES

# JSON and CSV


@FEW
@given(TEXTS)
def test_an_entry_and_a_comment_read_back_as_they_are(text: str) -> None:
    row = row_of(text)
    assert parse_entry(row.to_bytes(), row.path) == row
    assert json.loads(row.to_bytes())["model"]["id"] == text
    assert all(part not in {"", ".", ".."} and len(part) <= 200 for part in row.path.split("/"))
    assert row.path.isascii()
    found = entry_in(row_text(row, None, entry_marker(row)).body)
    assert found is None or found == row


@FEW
@given(TEXTS)
def test_the_board_as_csv_has_one_line_for_each_row(text: str) -> None:
    table = to_csv(make_board([row_of(text), boards.entry()], declared())).decode()
    rows = list(csv.reader(io.StringIO(table, newline="")))

    assert len(rows) == len(table.splitlines()) == 3
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows[1:] for cell in row if cell.lstrip()[:1] in {"=", "+", "@", "|"}]


# the tables of others


@pytest.mark.parametrize("path", TABLES)
@FEW
@given(TEXTS)
def test_a_table_of_others_gets_one_row_or_none(path: str, text: str) -> None:
    names = ["model.id", "model.precision", "run.harness"]
    mapping = {"path": path, "key": ["Model"], "columns": {"Model": names[0], "BBH": "tasks.bbh.raw"}}
    mapping["columns"] |= {"PostedComment": {"template": "at {model.precision} {run.harness}"}}  # type: ignore[operator]
    before = TABLES[path].encode()
    after, draft = boards.edited(mapping, {path: before}, row_of(text))

    counts = [rows_in(path, data) for data in (before, after[path])]
    assert counts[1] == counts[0] + (0 if draft.refused else 1)
    assert after[path].startswith(before.rstrip(b"]\n"))


def rows_in(path: str, data: bytes) -> int:
    """The rows that the usual reader of a format sees."""
    readers: dict[str, Callable[[], int]] = {
        "csv": lambda: len(list(csv.reader(io.StringIO(data.decode(), newline="")))),
        "json": lambda: len(json.loads(data)),
        "jsonl": lambda: len([json.loads(line) for line in data.decode().split("\n") if line]),
        "yml": lambda: len(yaml.safe_load(data)),
        "md": lambda: shape(data.decode()).count("tr_open"),
    }
    return readers[path.rpartition(".")[2]]()


# the pages of models


def change_of(text: str) -> RowChange:
    row = row_of(text)
    known = boards.entry()
    return RowChange(row.key, replace(row, model=replace(row.model, id=known.model.id)))


@FEW
@given(TEXTS, TEXTS)
def test_a_result_file_of_a_model_has_one_entry(text: str, other: str) -> None:
    from ruamel.yaml import YAML

    theirs = OpenFiles(other, is_ours=False, files={f".eval_results/{other}": text.encode(errors="replace")})
    draft = EvalResultsLayout(board(), page(requests=[theirs])).draft([change_of(text)], {})

    for data in draft.files.values():
        assert data is not None
        for read in (yaml.safe_load(data), YAML(typ="safe").load(data)):
            [entry] = read
            assert set(entry) <= {"dataset", "value", "date", "source", "notes"}
            assert entry["dataset"] == {"id": "TIGER-Lab/MMLU-Pro", "task_id": "mmlu_pro"}
        assert data.startswith(b"# <!-- leaderboard-bot ")
    assert all(why.isprintable() for why in draft.refused.values())


# HTML and Atom


class Tags(HTMLParser):
    """The elements of a page with the names of their attributes; links and `wbr` may be there or not."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"a", "wbr"}:
            self.found.append((tag, tuple(name for name, _ in attrs if name != "class")))  # long names have one


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_a_page_has_the_same_elements_whatever_a_row_says(text: str) -> None:
    shown = visible(text)  # with as many parts, each as long as it is shown
    same_form = re.sub(r"[^/]", lambda char: "a" if char[0].isascii() else "é", shown)
    said, plain = (site_of((row_of(one), boards.entry())) for one in (text, same_form))
    for path in ("index.html", "raw.html", "changes.html", "compare.html"):
        if path in plain:
            assert Tags(said[path]).found == Tags(plain[path]).found, path
    ours, theirs = ([path for path in site if path.startswith("rows/")] for site in (said, plain))
    assert len(ours) == len(theirs) == 2
    for path in said:
        if path.endswith((".svg", ".atom")):
            ET.fromstring(said[path])
    kinds = [
        {each for path in paths for each in Tags(site[path]).found} for site, paths in ((said, ours), (plain, theirs))
    ]
    assert kinds[0] <= kinds[1]
