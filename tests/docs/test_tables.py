"""docs/tables.md: its settings are read, and its tables name every key and value that there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bot.publishing.tables.mapping import SUFFIXES, MappedColumn, TableOptions
from bot.publishing.tables.sheet import LARGEST
from bot.publishing.tables.table_layout import table_layout
from bot.publishing.tables.values import ACCESSORS
from bot.publishing.yaml_text import DEEPEST
from bot.service.settings.config import Settings
from tests.docs.test_reference import first_cells, sections
from tests.evaluation.judging import declared

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_settings_of_the_page_are_read(block: str) -> None:
    settings = tomllib.loads(block)

    if "watches" in settings:
        watch = {"name": "w", "leaderboard": "tiny", "source": "results", **settings["watches"][0]}
        found = Settings.model_validate({"watches": [watch]}).watches[0].targets[0]
        assert found.table is not None
        assert table_layout(found.table, declared())
    else:
        assert table_layout(TableOptions.model_validate(settings), declared())


def test_every_key_is_documented_in_its_order() -> None:
    assert first_cells(sections("tables.md")["Keys of a table"]) == list(TableOptions.model_fields)
    assert first_cells(sections("tables.md")["Keys of a column"]) == list(MappedColumn.model_fields)


def test_every_value_is_documented() -> None:
    named = first_cells(sections("tables.md")["Values"])

    assert sorted(named) == sorted(ACCESSORS)


def test_formats_and_limits_are_those_of_the_code() -> None:
    section = sections("tables.md")["Keys of a table"]

    assert all(f"`{name}`" in section for name in SUFFIXES.values())
    assert f"more than {LARGEST // 1_000_000} MB" in PAGE
    assert f"more than {DEEPEST} deep" in PAGE
