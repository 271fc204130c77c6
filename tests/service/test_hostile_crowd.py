"""A crowd of hostile files beside sound ones: each sound row is published in the same pass, each odd file is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.platform import Access
from bot.service.settings.config import parse_settings
from tests.service.passes import open_contexts, settle
from tests.world.local_git import git
from tests.world.results import TINY, result

SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "results"
backfill_limit = 200
[[watches.targets]]
to = "board"
"""
SOUND = 20
# What is done to a sound file of a model of its own, and the words that say what is wrong with it.
HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "largest-double": (lambda data: data["results"]["logic"].__setitem__("acc,none", 1e308), "value-out-of-range"),
    "digits": (lambda data: data["results"]["logic"].__setitem__("acc,none", 10**400), "non-finite-value"),
    "version": (lambda data: data.__setitem__("lm_eval_version", "v" * 5_000_000), "has 5,000,000 characters"),
    "precision": (lambda data: data["config"].__setitem__("model_dtype", "torch." + "p" * 300), "the precision has"),
    "long-precision": (lambda data: data["config"].__setitem__("model_dtype", "p" * 70_000), "has 70,000 characters"),
    "control": (lambda data: data["config"].__setitem__("model_dtype", "\x1b[2J\n::error::x"), "printable ASCII"),
    "rows": (
        lambda data: data["results"].update({f"t{number}": {"a": 1} for number in range(700_000)}),
        "MB; the limit is 8 MB",
    ),
    "values": (lambda data: data["config"].update(x=[[]] * 600_000), "JSON values; more than"),
}


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.toml").write_text(SETTINGS)
    (tmp_path / "tiny.toml").write_text(TINY)
    for number in range(SOUND):
        write(tmp_path / f"results/s{number}/results_1.json", result(f"acme/sound-{number}b"))
    for name, (change, _) in HOSTILE.items():
        data = json.loads(result(f"acme/{name}"))
        change(data)
        write(tmp_path / f"results/{name}/results_1.json", json.dumps(data).encode())
    write(tmp_path / "results/##[error]/::x results_1.json", result("acme/command"))
    write(Path(os.fsdecode(os.fsencode(tmp_path) + b"/results/odd/results_\xff.json")), result("acme/odd-name"))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "fixes #1 [skip ci] ::error::x"]):
        git(tmp_path / "results", *words)
    return tmp_path


@pytest.mark.slow
def test_a_hostile_file_stops_itself_alone(folder: Path) -> None:
    _, contexts = open_contexts(folder / "bot.toml", Access(), f"sqlite:///{folder / 'state.db'}")
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    outcomes = settle(contexts.open_context(watch))
    again = settle(contexts.open_context(watch))
    counts = contexts.store.of("tiny").items.counts()
    contexts.store.close()

    published = [one.subject for one in outcomes if one.outcome == "proposed"]
    assert len([key for key in published if "/sound-" in key]) == SOUND
    assert len(published) == SOUND + 1
    rejected = {one.subject: one.text for one in outcomes if one.outcome == "rejected"}
    for name, (_, words) in HOSTILE.items():
        assert words in rejected.pop(f"{name}/results_1.json"), name
    assert list(rejected.values()) == ["malformed-file: the file cannot be read: its name is not UTF-8; rename it"]
    assert [one for one in outcomes if one.outcome == "failed"] == []
    assert (again, counts) == ([], {})
    assert all(one.text.isprintable() and len(one.text) < 1_000 for one in outcomes)


def test_a_row_that_cannot_be_written_keeps_no_other_from_its_next_change(tmp_path: Path) -> None:
    names = [f"leaf_{number}" for number in range(900)]
    leaves = ", ".join(f'{{ id = "{name}" }}' for name in names)
    (tmp_path / "tiny.toml").write_text(
        'title = "Wide"\ndescription = "Many leaves."\n[harness]\nformats = ["lm-eval-0.4"]\n'
        f'[[tasks]]\nid = "wide"\ntitle = "Wide"\nmetrics = [{{ name = "acc" }}]\nleaves = [{leaves}]\n'
    )
    (tmp_path / "bot.toml").write_text(SETTINGS)
    git(tmp_path, "init", "-q", "results")

    def push(value: float) -> None:
        for path, model in (("n" * 199, "unwritable"), ("sound", "sound")):
            data = json.loads(result(f"acme/{model}")) | {"results": {name: {"acc,none": value} for name in names}}
            data |= {"versions": {}, "n-shot": {}, "n-samples": {}, "configs": {}}
            folder = "/".join([path] * 4)
            write(tmp_path / "results" / folder / "results_1.json", json.dumps(data).encode())
        for words in (["add", "-A"], ["commit", "-qm", "push"]):
            git(tmp_path / "results", *words)

    _, contexts = open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    refused = []
    for value in (0.25, 0.75):
        push(value)
        outcomes = settle(contexts.open_context(watch))
        published = [one.subject for one in outcomes if one.outcome == "proposed"]
        refused += [one.text for one in outcomes if one.outcome == "rejected"]
        assert [key.split("/")[2] for key in published] == ["sound"]
    assert refused
    assert all("the limit is 512 KB" in text for text in refused)
    contexts.store.close()
