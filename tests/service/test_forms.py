"""A watch whose declaration has forms: files of several models, and forms that change, from folder to folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from tests.platforms.git.test_source import Folder
from tests.service.passes import open_contexts, settle

SETTINGS = """
[[watches]]
name = "own"
leaderboard = "own.toml"
source = "results"
[[watches.targets]]
to = "board"
as = "commit"
"""
OWN = """
title = "Own"
description = "One file for all models."
[[formats]]
id = "own"
rows = "[*]"
model = "model"
[[formats.values]]
value = "retail"
leaf = "retail"
unit = "percent"
[[tasks]]
id = "retail"
title = "Retail"
unit = "percent"
metrics = [{name = "score", integral = false}]
leaves = [{id = "retail"}]
"""


def opened(folder: Path) -> ContextFactory:
    return open_contexts(folder / "bot.toml", Access(), f"sqlite:///{folder / 'state.db'}")[1]


def raws(board: Path) -> dict[str, float]:
    found = {}
    for path in sorted((board / "entries").rglob("*.json")):
        entry = json.loads(path.read_text())
        found[entry["model"]["id"]] = entry["tasks"][0]["raw"]
    return found


def test_each_model_of_a_file_has_a_row_that_follows_the_file_and_the_form(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "own.toml").write_text(OWN)
    contexts, (watch,) = opened(tmp_path), parse_settings(SETTINGS, "bot.toml").watches
    source = Folder(tmp_path / "results")

    def push(**values: float) -> None:
        rows = [{"model": f"acme/{name}", "retail": value, "shop": value / 2} for name, value in values.items()]
        source.push({"board.json": json.dumps(rows).encode()})
        settle(contexts.open_context(watch))

    push(atlas=57.5, borea=40)
    assert raws(tmp_path / "board") == {"acme/atlas": 57.5, "acme/borea": 40}
    push(new=12, atlas=57.5, borea=41)
    assert raws(tmp_path / "board") == {"acme/new": 12, "acme/atlas": 57.5, "acme/borea": 41}
    push(atlas=57.5)
    assert raws(tmp_path / "board") == {"acme/atlas": 57.5}
    (tmp_path / "own.toml").write_text(OWN.replace('value = "retail"', 'value = "shop"'))
    contexts.store.close()
    contexts = opened(tmp_path)
    settle(contexts.open_context(watch))
    stored = contexts.store.of("own").submissions.of_files(["board.json"])
    assert [
        one.parsed.result.leaves["retail"].numbers for one in stored.values() if one.parsed and one.parsed.result
    ] == [{"score": 28.75}]
    contexts.store.close()


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (
            "own.csv",
            "model,retail\nacme, inc,57\n",
            "malformed-file line 2: the file has a line of 3 cells under 2 columns",
        ),
        (
            "own.jsonl",
            '{"model": "acme/atlas", "retail": 57}\n{"model"\n',
            "malformed-file line 2: the file has a line that is truncated",
        ),
        ("own.yaml", "- model: acme/atlas\n  retail: [57\n", "malformed-file: the file is not YAML"),
        ("own.json", '[{"model": "acme/atlas"', "malformed-file line 1: the file is truncated"),
    ],
)
def test_a_broken_file_of_a_form_is_named(path: str, text: str, why: str, tmp_path: Path) -> None:
    settings = SETTINGS.replace("[[watches.targets]]", f'paths = ["{path}"]\n[[watches.targets]]')
    (tmp_path / "bot.toml").write_text(settings)
    (tmp_path / "own.toml").write_text(OWN)
    Folder(tmp_path / "results").push({path: text.encode()})
    contexts, (watch,) = opened(tmp_path), parse_settings(settings, "bot.toml").watches

    (said,) = settle(contexts.open_context(watch))

    assert (said.outcome, said.subject, said.status) == ("rejected", path, 0)
    assert said.text.startswith(why)
    contexts.store.close()
