"""Models that files name by a path, or not at all: what a mapping makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import MalformedDeclaration
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.row_key import with_names
from bot.evaluation.submission import Parsed, one_file, parse_submission
from tests.evaluation.judging import ROOT, dumps, outcome_of, patched

SHA = "0f3c9a61d2b84e7590c1a8d3b6e2f4a5c7d8e901"
LOCAL = "/scratch/models/atlas-7b"
DECLARATION = (ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")
UNPINNED = {"/config/model_sha": "", "/config/model_revision": "main", "/config/model_args": f"pretrained={LOCAL}"}


def local(name: str = LOCAL) -> dict[str, object]:
    return patched({"/model_name": name} | UNPINNED)


def parsed(name: str = LOCAL) -> Parsed:
    return parse_submission(one_file("a.json", dumps(local(name))))


@pytest.mark.parametrize(
    ("name", "mapping", "expected"),
    [
        (LOCAL, {LOCAL: "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        (f"{LOCAL}/", {LOCAL: f"acme/atlas-7b@{SHA}"}, ("acme/atlas-7b", SHA)),
        (LOCAL, {"*": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        ("", {"*": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        ("acme/borea-7b", {"*": "acme/atlas-7b"}, ("acme/borea-7b", "")),
        ("ACME/atlas", {"ACME/atlas": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        (LOCAL, {"/other": "acme/atlas-7b"}, (LOCAL, "")),
    ],
)
def test_a_mapping_names_models(name: str, mapping: dict[str, str], expected: tuple[str, str]) -> None:
    result = with_names(parsed(name), mapping).result
    assert result is not None
    if name:
        assert (result.model.id, result.model.revision) == expected
    else:
        assert result.model.id in {expected[0], LOCAL}


def test_a_declaration_names_models_so_that_their_rows_are_accepted() -> None:
    text = f'{DECLARATION}\n[models]\n"{LOCAL}" = "acme/atlas-7b@{SHA}"\n'
    board = parse_leaderboard(text, "open-llm-v2", "x.toml")
    assert outcome_of(local()).status == "rejected"
    outcome = outcome_of(local(), board)
    assert outcome.status == "accepted"
    assert outcome.row is not None
    assert (outcome.row.key.model, outcome.row.key.revision) == ("acme/atlas-7b", SHA)


@pytest.mark.parametrize("name", ["", "a b", "a/b/c", "acme/atlas@main", "@0f3c"])
def test_a_declaration_takes_no_name_that_is_none(name: str) -> None:
    with pytest.raises(MalformedDeclaration, match="models"):
        parse_leaderboard(f'{DECLARATION}\n[models]\n"{LOCAL}" = "{name}"\n', "open-llm-v2", "x.toml")


def test_the_command_line_names_models(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(dumps(local()))
    call = ["check", str(file), "--format", "summary"]
    assert CliRunner().invoke(app, call).exit_code == 1
    for option in (f"acme/atlas-7b@{SHA}", f"{LOCAL}=acme/atlas-7b"):
        done = CliRunner().invoke(app, [*call, "--model-name", option])
        assert (done.exit_code, "acme/atlas-7b" in done.stdout) == (0, True), done.output


@pytest.mark.parametrize("name", ["", "=", "a/b/c", "/x=", "acme/atlas@main", "x=a b"])
def test_a_name_that_is_none_is_a_wrong_call(name: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(dumps(local()))
    done = CliRunner().invoke(app, ["check", str(tmp_path), "--model-name", name])
    assert done.exception is not None
    assert "--model-name" in str(done.exception)
