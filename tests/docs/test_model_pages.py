"""docs/model-pages.md: its settings and its declaration are read, and its tables name every key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from bot.publishing.hub_evals.model_layout import ModelsOptions
from bot.service.settings.config import WatchTarget
from tests.docs.test_reference import first_cells
from tests.publishing.hub_evals.models import board

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "model-pages.md").read_text(encoding="utf-8")
SETTINGS, DECLARATION = (tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))


def test_the_settings_and_the_declaration_of_the_page_are_read() -> None:
    [target] = SETTINGS["watches"][0]["targets"]
    read = WatchTarget.model_validate(target)
    assert read.models is not None
    assert (read.kind, read.models.limit) == ("models", 20)
    assert board(mmlu_pro=DECLARATION["tasks"]["hub"]).tasks[-1].hub is not None


def test_every_key_is_documented_in_its_order() -> None:
    table = PAGE.partition("`settle --dry-run` shows")[0]

    assert first_cells(table) == list(ModelsOptions.model_fields)
