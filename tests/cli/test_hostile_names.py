"""Names and fields of files on the command line: no report of it is a command, a formula, or a cursor that moves."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest

from bot.cli.checks import _lines
from bot.publishing.changes import Difference
from bot.service.checks.verify import VerifiedRow
from tests.command import bot
from tests.evaluation.judging import base, patched
from tests.variants import one_of
from tests.world.local_git import git

NAMES = {
    "::set-output name=verdict::accepted.json": {},
    "##[error]a.json": {"/model_name": "acme/##[group]"},
    "=1+1.json": {"/model_name": "=cmd|' /C calc'!A0"},
    "a\n::error::x.json": {"/config/model_dtype": "\n::warning::fixes #1 @ann [skip ci]"},
    "b\x1b[2J\u202e.json": {"/versions/leaderboard_mmlu_pro": "\x1b]0;x\x07"},
    "c\udcff.json": {"/lm_eval_version": "v" * 100_000},
    '@x,y;z".json': {"/results/leaderboard_mmlu_pro/acc,none": 1e308},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, changes in NAMES.items():
        text = json.dumps(patched(dict(changes), base()))
        (tmp_path / name).write_text(text)
    return tmp_path


SETTINGS = """
[[watches]]
name = "open-llm"
leaderboard = "open-llm-v2"
source = "results"
targets = [{ to = "board" }]
"""


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--format", "text"), ("check", "--format", "summary"), ("check", "--format", "markdown"),
        ("check", "--format", "json"), ("check", "--format", "github"), ("score", "--format", "text"),
        ("score", "--format", "csv"), ("score", "--format", "markdown"), ("explain", "--format", "text"),
        ("check", "--jobs", "2"),
    ],
)  # fmt: skip
def test_no_report_is_a_command_or_moves_a_cursor(folder: Path, words: tuple[str, ...]) -> None:
    command, *options = words
    status, out, err = bot(command, folder, *options)
    assert status == 1
    lines = re.split("[\\r\\n]", out + err)
    heard = [line for line in lines if line.strip().startswith("::") or re.search(r"##\w*\[", line)]
    ours = r"::(error|warning|notice) title=[a-z-]+,file=[^\r\n]*::"
    assert all("github" in options and re.match(ours, line) for line in heard)
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 5_000
    if "csv" in options:
        cells = [cell for row in csv.reader(out.splitlines()) for cell in row[:2]]
        assert not [cell for cell in cells if cell[:1] in "=+-@\t" and cell]


@pytest.mark.parametrize("words", one_of(["settle", "settle --format json", "settle --dry-run", "rescore"]))
def test_no_outcome_of_a_pass_is_a_command(tmp_path: Path, words: str) -> None:
    results = tmp_path / "results"
    results.mkdir()
    for name, changes in NAMES.items():
        (results / name).write_text(
            json.dumps(patched({**changes, "/results/leaderboard_mmlu_pro/acc,none": 7.0}, base()))
        )
    git(results, "init", "-q", "-b", "main")
    git(results, "add", "-A")
    git(results, "commit", "-qm", "results")
    (tmp_path / "bot.toml").write_text(SETTINGS)

    environ = {**os.environ, "GITHUB_ACTIONS": "true", "DATABASE_URL": ""}
    status, out, err = bot(*words.split(), "--config", tmp_path / "bot.toml", cwd=tmp_path, env=environ)
    assert status in {0, 1}, err
    assert "[error]a.json" in out
    lines = re.split("[\\r\\n]", out + err)
    assert [line for line in lines if line.strip().startswith("::") or re.search(r"##\w*\[", line)] == []


def test_no_field_of_a_row_that_verify_shows_moves_a_cursor() -> None:
    evil = "\x1b[2J\u202ehidden" + "x" * 5_000
    row = VerifiedRow("key", "differs", "", (Difference(evil, evil, "b"), Difference("b", None, evil)))
    text = "\n".join(_lines(row))
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    assert len(text) < 1_500


@pytest.mark.parametrize("form", one_of(["text", "json"]))
def test_no_row_that_verify_names_is_a_command(tmp_path: Path, form: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(base()))
    assert bot("publish", "a.json", "--to", "./board", "--as", "commit", "-l", "open-llm-v2", cwd=tmp_path)[0] == 0
    board = tmp_path / "board"
    [path] = (board / "entries").rglob("*.json")
    whole = json.loads(path.read_text())
    whole["key"] = "##[error]\n::error::x"
    whole["model"]["id"] = "::warning::y"
    path.write_text(json.dumps(whole))
    git(board, "commit", "-qam", "change")
    status, out, err = bot(
        "verify", "./board", "--format", form, cwd=tmp_path, env={**os.environ, "GITHUB_ACTIONS": "true"}
    )
    assert status == 1, err
    assert "error" in out
    lines = re.split("[\\r\\n]", out + err)
    assert [line for line in lines if line.strip().startswith("::") or re.search(r"##\w*\[", line)] == []
