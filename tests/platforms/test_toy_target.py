"""The walk-through of CONTRIBUTING for a target, executed: rows as YAML, found by an entry point, converge."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from bot.platforms import registry
from bot.platforms.registry import Access, Opener
from bot.publishing.entry import Entry
from bot.publishing.publication import Form
from bot.service.context import open_context_factory
from bot.service.publish import publish
from bot.service.reconcile import rebuild_board
from bot.service.settings.config import parse_settings
from bot.service.watch.settle import settle
from tests.platforms.git.publisher import DECLARED, entry
from tests.platforms.git.test_source import Folder as Person
from tests.world.results import TINY, path_of, result

TEXT = (Path(__file__).parents[2] / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
SETTINGS = """
[[watches]]
name = "local"
leaderboard = "tiny.toml"
source = "results"
[[watches.targets]]
to = "yaml://board"
as = "commit"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """An opener on a machine where the package of the walk-through is installed."""
    section = TEXT.partition("## Add a target")[2].partition("\n## ")[0]
    [code] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    [points] = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    [(group, name, where)] = re.findall(r'entry-points\."([\w.]+)"\]\n(\w+) = "([\w.:]+)"', points)
    package = tmp_path / "package"
    info = package / "yaml_board-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "yaml_board.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: yaml-board\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {where}\n")
    monkeypatch.syspath_prepend(str(package))
    registry.others.cache_clear()
    yield Opener(Access(), tmp_path)
    registry.others.cache_clear()
    sys.modules.pop("yaml_board", None)


def files(folder: Path, branch: str = "main") -> dict[str, bytes]:
    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True).stdout

    names = git("ls-tree", "-r", "--name-only", branch).decode().split()
    return {name: git("show", f"{branch}:{name}") for name in names}


def read(data: bytes) -> Entry:
    return msgspec.yaml.decode(data, type=Entry)


@pytest.mark.parametrize("form", ["commit", "pull-request"])
def test_rows_are_published_once_updated_in_place_and_read_back(toy: Opener, tmp_path: Path, form: Form) -> None:
    def put(one: Entry) -> str:
        return publish([one], toy.target("yaml://board", form), form)[0].decision.why

    first, second = entry(), entry(day=2, right=(60, 60, 70))
    branch = "main" if form == "commit" else f"leaderboard-bot/{first.key}"
    path = f"rows/{first.key}.yaml"

    put(first)
    assert put(first).endswith("already")
    assert read(files(tmp_path / "board", branch)[path]) == first
    put(second)
    assert put(second).endswith("already")
    assert read(files(tmp_path / "board", branch)[path]) == second
    assert [name for name in files(tmp_path / "board", branch) if name.startswith("entries/")] == []


def test_a_board_is_made_of_its_rows_and_foreign_files_are_named(toy: Opener, tmp_path: Path) -> None:
    target = toy.target("yaml://board", "commit")
    publish([entry()], target, "commit")
    person = tmp_path / "board" / "rows" / "note.yaml"
    person.write_text("just: a note\n")
    words = ["git", "-C", str(tmp_path / "board"), "-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*words, "add", "-A"], check=True)
    subprocess.run([*words, "commit", "-q", "-m", "note"], check=True)

    assert [one.key for one in target.read_entries()] == [entry().key]
    assert list(target.scan_entries().skipped) == ["rows/note.yaml"]
    assert rebuild_board(target, DECLARED)
    assert b"acme/atlas-7b" in files(tmp_path / "board")["leaderboard.csv"]


def test_a_watch_settles_into_it_and_withdraws_from_it(toy: Opener, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    _, contexts = open_context_factory(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")
    source = Person(tmp_path / "results")
    source.push({path_of(): result()})

    first, again = settle(contexts.open_context(watch)), settle(contexts.open_context(watch))
    rows = [name for name in files(tmp_path / "board") if name.startswith("rows/")]

    assert {outcome.outcome for outcome in first} == {"published"}
    assert again == []
    assert len(rows) == 1
    source.push({path_of(): None})
    settle(contexts.open_context(watch))
    assert [name for name in files(tmp_path / "board") if name.startswith("rows/")] == []
    contexts.store.close()
