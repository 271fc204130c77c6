"""Every board as the tool reads it that people read it with: pandas, PyYAML, ruamel, a Markdown parser, `datasets`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

from tests.publishing.tables.boards import AIDER, ALPACA, BFCL, LINES, README, Files, aider, alpaca, bfcl, lines, readme
from tests.publishing.tables.json_boards import EVALPLUS, SWE, evalplus, swe

Rows = list[dict[str, Any]]


def read_swe(data: bytes) -> Rows:
    """Both boards, one after the other."""
    return [row for board in json.loads(data)["leaderboards"] for row in board["results"]]


def read_evalplus(data: bytes) -> Rows:
    return [{"display": name, **row} for name, row in json.loads(data).items()]


def read_aider(data: bytes) -> Rows:
    """The rows as PyYAML gives them; ruamel, which reads YAML 1.2, must see the same texts."""
    from ruamel.yaml import YAML

    rows: Rows = yaml.safe_load(data)
    for row, other in zip(rows, YAML(typ="safe").load(data), strict=True):
        assert {name for name in row if isinstance(row[name], str)} <= set(other)
        # the hash 12e4567 of somebody else is infinite there
        assert all(row[name] == other[name] for name in ("dirname", "model", "command"))
    return rows


def read_csv(data: bytes) -> Rows:
    import pandas as pd

    return pd.read_csv(io.BytesIO(data), keep_default_na=False, dtype=str).to_dict("records")


def read_markdown(data: bytes) -> Rows:
    """All tables of the file, one row after the other."""
    rows: Rows = []
    columns: list[str] = []
    cells: list[str] = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(data.decode()):
        if token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(token.content)
        elif token.type == "thead_close":
            columns = cells
        elif token.type == "tr_close" and cells is not columns and columns:
            rows.append(dict(zip(columns, cells, strict=True)))
        elif token.type == "table_close":
            columns = []
    return rows


def read_lines(data: bytes) -> Rows:
    import pandas as pd

    frame = pd.read_json(io.BytesIO(data), lines=True)
    assert len(frame) == data.count(b"\n")
    return [json.loads(line) for line in data.splitlines()]


Board = tuple[Mapping[str, Any], Callable[[], Files], Callable[[bytes], Rows]]
BOARDS: dict[str, Board] = {
    "swe-bench": (SWE, swe, read_swe),
    "evalplus": (EVALPLUS, evalplus, read_evalplus),
    "aider": (AIDER, aider, read_aider),
    "alpaca-eval": (ALPACA, alpaca, read_csv),
    "readme": (README, readme, read_markdown),
    "bfcl": (BFCL, bfcl, read_csv),
    "lines": (LINES, lines, read_lines),
}


def load_contents(files: Files, folder: Path) -> Rows:
    """A dataset repository as `datasets` loads it, counts of the card compared."""
    import datasets

    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(folder / "cache"))
    return list(loaded)
