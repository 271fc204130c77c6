"""A watch whose rows join files of a harness and files of a form that does not say all of the model."""

from __future__ import annotations

import json
from pathlib import Path

from bot.platforms.platform import Access
from bot.service.settings.config import parse_settings
from tests.evaluation.test_sources import BOARD, joules, sums
from tests.platforms.git.test_source import Folder
from tests.service.passes import open_contexts, settle
from tests.service.test_forms import SETTINGS


def rows(board: Path) -> dict[str, str]:
    found = {}
    for path in sorted((board / "entries").rglob("*.json")):
        found[path.stem] = json.loads(path.read_text())["verdict"]
    return found


def test_a_file_moves_to_the_one_row_that_says_more_and_back(tmp_path: Path) -> None:
    settings = SETTINGS.replace('"own.toml"', '"own.toml"\nmax_removed = "100%"')
    (tmp_path / "bot.toml").write_text(settings)
    (tmp_path / "own.toml").write_text(BOARD)
    contexts = open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")[1]
    (watch,) = parse_settings(settings, "bot.toml").watches
    source = Folder(tmp_path / "results")

    def push(files: dict[str, object]) -> dict[str, str]:
        source.push({path: json.dumps(data).encode() if data else None for path, data in files.items()})
        settle(contexts.open_context(watch))
        return rows(tmp_path / "board")

    one, two = "a" * 40, "b" * 40
    assert push({"joules.json": joules()}) == {"unpinned-bfloat16": "incomplete"}
    assert push({"sums.json": sums(one)}) == {f"{one}-bfloat16-chat": "accepted"}
    both = {f"{one}-bfloat16-chat": "incomplete", f"{two}-bfloat16-chat": "incomplete"}
    assert push({"other.json": sums(two)}) == {**both, "unpinned-bfloat16": "incomplete"}
    assert push({"other.json": None}) == {f"{one}-bfloat16-chat": "accepted"}
    contexts.store.close()
