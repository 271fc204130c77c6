"""`site`: a folder of pages for a target, or one line and a status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command import bot
from tests.evaluation.judging import ROOT
from tests.world.local_git import git


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "board"
    bot("publish", ROOT / "examples" / "results", "--to", folder, "--as", "commit", "--quiet")
    return folder


def test_the_first_page_is_named_and_holds_the_rows(board: Path, tmp_path: Path) -> None:
    status, out, err = bot("site", board, "--out", tmp_path / "out")
    assert (status, out) == (0, f"{tmp_path / 'out' / 'index.html'}\n")
    assert err.startswith("3 rows: ")
    assert "example-org/kestrel-7b" in (tmp_path / "out" / "index.html").read_text()
    changes = [json.loads(line) for line in (tmp_path / "out" / "changes.jsonl").read_text().splitlines()]
    assert [change["kind"] for change in changes] == ["added"] * 3
    assert all(change["commit"] for change in changes)
    assert str(board) not in "".join(file.read_text() for file in (tmp_path / "out").rglob("*.html"))


def test_where_the_pages_cannot_say_where_to_submit_a_line_says_how_they_can(board: Path, tmp_path: Path) -> None:
    shipped = (ROOT / "bot/data/leaderboards/open-llm-v2.toml").read_text()
    declared = tmp_path / "open-llm-v2.toml"
    declared.write_text("".join(one for one in shipped.splitlines(keepends=True) if not one.startswith("homepage")))
    hint = 'the pages do not say where results are submitted: write homepage = "https://…" in open-llm-v2.toml'
    assert hint in bot("site", board, "--out", tmp_path / "out", "--leaderboard", declared)[2]
    assert hint not in bot("site", board, "--out", tmp_path / "out")[2]


@pytest.mark.parametrize(
    ("target", "leaderboard", "line"),
    [
        ("empty", "open-llm-v2", "there is no entry of open-llm-v2"),
        ("empty", "", "there is no entry in it; check the address, or publish a row there and merge its request"),
        ("nowhere", "", "nowhere: there is no such folder"),
        ("board", "open-llm-v1", "there is no entry of open-llm-v1; there are entries of open-llm-v2"),
        ("foreign", "open-llm-v2", "is not a git repository and not empty"),
        ("file", "open-llm-v2", "is a file"),
        ("ftp://x", "open-llm-v2", "write a folder"),
    ],
)
def test_a_target_without_entries_is_one_line_and_writes_nothing(
    board: Path, tmp_path: Path, target: str, leaderboard: str, line: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "x").write_text("x")
    (tmp_path / "file").write_text("x")
    where = board if target == "board" else target if "://" in target else tmp_path / target
    named = ["--leaderboard", leaderboard] if leaderboard else []
    status, out, err = bot("site", where, "--out", tmp_path / "out", *named)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert line in err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_one_line(board: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    status, out, err = bot("site", board, "--out", tmp_path / "file" / "out")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_sizes_are_those_that_the_result_files_state_without_any_option(board: Path, tmp_path: Path) -> None:
    status, _, _ = bot("site", board, "--out", tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "leaderboard.json").read_text())["rows"]
    assert (status, {row["params"] for row in rows}) == (0, {7_240_000_000})


def test_rows_show_what_verify_said_until_they_change(tmp_path: Path) -> None:
    record, out, board = tmp_path / "verified.json", tmp_path / "out", tmp_path / "board"
    shutil.copytree(ROOT / "examples" / "results", tmp_path / "results")
    for words in (("init", "-q"), ("add", "results"), ("commit", "-qm", "results")):
        git(tmp_path, *words)
    bot("publish", "results", "--to", "board", "--as", "commit", "--quiet", cwd=tmp_path)
    assert bot("verify", "board", "--sources", ".", "--out", record, cwd=tmp_path)[0] == 0
    assert bot("site", board, "--out", out, "--verified", record)[0] == 0
    rows = json.loads((out / "leaderboard.json").read_text())["rows"]
    assert {row["verify_outcome"] for row in rows} == {"follows"}
    assert (out / "index.html").read_text().count(", follows") == len(rows)
    page = next((out / "rows").rglob("*.html")).read_text()
    assert f"On {rows[0]['verify_date']} every number followed from the files." in page

    known = json.loads(record.read_text())
    known["rows"][0]["row"] = "0" * 64
    known["rows"][1] |= {"outcome": "gone", "why": "its repository is gone"}
    record.write_text(json.dumps(known))
    bot("site", board, "--out", out, "--verified", record)
    assert (out / "index.html").read_text().count(", follows") == len(rows) - 2
    pages = "".join(file.read_text() for file in (out / "rows").rglob("*.html"))
    assert "The row has changed since verify looked at it" in pages
    assert "gone, its repository is gone." in pages


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema": "other/1", "rows": []}'])
def test_another_file_than_a_record_of_verify_is_one_line(board: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    status, _, err = bot("site", board, "--out", tmp_path / "out", "--verified", tmp_path / "x.json")
    assert (status, err.count("\n")) == (2, 1)
    assert "is no record of verify --out" in err
