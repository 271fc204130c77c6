"""Calls that are wrong end in one line with their status; nothing is written, and no traceback is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import completed
from tests.evaluation.judging import KESTREL, ROOT, base, dumps, outcome_of, patched, rules_of
from tests.variants import one_of

LIMITED = patched({"/config/limit": 50.0})


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, so that a traceback would show."""
    return completed(*args, cwd=cwd)


def big_file(folder: Path) -> list[str]:
    with (folder / "results_big.json").open("wb") as file:
        file.truncate(2 * 1024**3)  # sparse: nothing is written
    return ["check", "results_big.json"]


def undeclared(folder: Path) -> list[str]:
    (folder / "mine.toml").write_text("title = [", encoding="utf-8")
    return ["check", str(KESTREL), "--leaderboard", "mine.toml"]


def no_repository(folder: Path) -> list[str]:
    (folder / "target").mkdir()
    (folder / "target" / "notes.txt").write_text("mine", encoding="utf-8")
    return ["publish", str(KESTREL), "--to", "target"]


@pytest.mark.parametrize(
    ("prepare", "status", "said"),
    [
        (lambda folder: ["check", str(folder)], 2, "no result file"),
        (lambda _: ["check", "nowhere.json"], 2, "no such file"),
        (lambda _: ["check", "x" * 5000], 2, ""),
        (lambda _: ["check", "/dev/null"], 2, "neither a file nor a folder"),
        (lambda _: ["check", str(KESTREL), "--leaderboard", "nothing"], 2, "no leaderboard 'nothing'"),
        (lambda _: ["explain", str(KESTREL), "nothing"], 2, "no task 'nothing'"),
        (
            lambda _: ["explain", "board", "--model", "a/b", "--reported", "27.12"],
            2,
            "--reported 27.12 needs its result files",
        ),
        (
            lambda _: ["explain", "board", "--model", "a/b", "-f", "json"],
            2,
            "--format json needs its result files",
        ),
        (lambda _: ["rules", "nothing"], 2, "no rule 'nothing'"),
        (undeclared, 2, "mine.toml: is not valid TOML"),
        (no_repository, 2, "target"),
    ],
)
def test_a_bad_call_is_one_line_with_its_status_and_nothing_written(
    prepare: Any, status: int, said: str, tmp_path: Path
) -> None:
    call = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = run(*call, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_of_two_gigabytes_is_reported_without_being_read(tmp_path: Path) -> None:
    done = run(*big_file(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert "has 2 GB; the limit is 8 MB" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "results_secret.json"
    file.write_text("{}", encoding="utf-8")
    file.chmod(0)
    done = run("check", file.name, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_verdict_of_several_files_fails_where_a_row_has_an_error(tmp_path: Path) -> None:
    (tmp_path / "results_1.json").write_bytes(dumps(base()))
    assert run("check", ".", cwd=tmp_path).returncode == 0
    (tmp_path / "results_2.json").write_bytes(dumps(LIMITED))
    assert run("check", ".", cwd=tmp_path).returncode == 0  # the row has its numbers without it
    (tmp_path / "results_2.json").write_bytes(dumps(LIMITED | {"model_name": "acme/atlas-7b"}))
    assert run("check", ".", cwd=tmp_path).returncode == 1
    assert rules_of(outcome_of(LIMITED)) == {"limited-run"}


@pytest.mark.parametrize(("value", "is_coloured"), one_of([("1", False), ("", True)]))
def test_a_terminal_shows_colours_unless_nobody_wants_any(value: str, *, is_coloured: bool) -> None:
    ours, theirs = os.openpty()
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": value}
    with os.fdopen(ours, "rb", buffering=0) as terminal, os.fdopen(theirs, "wb") as stream:
        subprocess.run(
            [sys.executable, "-m", "bot", "check", "-q", str(KESTREL)], env=environ, stdout=stream, check=False
        )
        shown = terminal.read(1_000)

    assert b"accepted" in shown
    assert (b"\x1b[" in shown) == is_coloured


def test_files_that_name_no_model_are_told_apart_by_the_mapping_that_check_proposes(tmp_path: Path) -> None:
    for name in ("atlas-7b", "borea-1b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        nameless = patched({"/model_name": "", "/config/model_args": ""})
        (tmp_path / "runs" / name / "results.json").write_bytes(dumps(nameless))
    done = run("check", "runs", "-q", cwd=tmp_path)
    assert done.stderr == "say by their paths which models these are: check … --model-name 'runs/*/=ORG/{1}'\n"
    told = run("check", "runs", "-q", "--model-name", "runs/*/=acme/{1}", cwd=tmp_path)
    assert (told.stderr, "acme/borea-1b" in told.stdout) == ("", True)
    for name in ("atlas-7b", "borea-1b"):  # the paths of models tell them apart already
        by_path = patched({"/model_name": f"/disk/{name}", "/config/model_args": f"pretrained=/disk/{name}"})
        (tmp_path / "runs" / name / "results.json").write_bytes(dumps(by_path))
    assert run("check", "runs", "-q", cwd=tmp_path).stderr == ""


def test_a_mapping_of_names_that_is_not_used_is_said(tmp_path: Path) -> None:
    done = run("check", str(KESTREL), "--model-name", "acme/atlas", "--model-name", "runs/*=acme/{1}", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        "--model-name acme/atlas is not used: each file names its model; give NAME=ID",
        "--model-name runs/*=acme/{1} is not used: no file is there, or calls its model so",
    ]
    for key in (f"{KESTREL.parent.name}/", "example-org/kestrel-7b"):
        used = run("check", str(KESTREL), "--model-name", f"{key}=acme/atlas", cwd=tmp_path)
        assert (used.stderr, "acme/atlas" in used.stdout) == ("", True)


def test_check_names_models_as_the_watch_beside_its_declaration_does(tmp_path: Path) -> None:
    """Otherwise `settle` accepts rows that `check` refuses before the push."""
    (tmp_path / "ours").mkdir()
    for name in ("atlas-7b", "borea-1b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        nameless = patched({"/model_name": "", "/config/model_args": ""})
        (tmp_path / "runs" / name / "results.json").write_bytes(dumps(nameless))
    shipped = ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml"
    (tmp_path / "ours" / "board.toml").write_bytes(b'models = {elsewhere = "acme/x"}\n' + shipped.read_bytes())
    (tmp_path / "ours" / "other.toml").write_bytes(shipped.read_bytes())

    def check(*words: str, declaration: str = "board.toml", mapping: str = "runs/atlas-*/") -> Any:
        identity = (
            f'identity = [{{path = "{mapping}", id = "acme/atlas-{{1}}"}}, {{path = "old/*/", id = "acme/{{1}}"}}]'
        )
        watch = f'[[watches]]\nname = "b"\nleaderboard = "board.toml"\nsource = ".."\n{identity}\n'
        (tmp_path / "ours" / "bot.toml").write_text(f'{watch}targets = [{{to = "board"}}]\n')
        return run("check", "runs", "-q", "-l", f"ours/{declaration}", *words, cwd=tmp_path)

    done = check()
    assert "acme/atlas-7b" in done.stdout
    assert done.stderr.splitlines() == [
        "ours/bot.toml: its `identity` names the model of 1 file",
        "ours/bot.toml: none of these files is called or lies so: old/*/",
        "[models]: none of these files is called or lies so: elsewhere",
    ]
    alone = run("check", "runs/borea-1b/results.json", "-l", "ours/board.toml", cwd=tmp_path)
    assert "lies so" not in alone.stderr  # the names may be of other files
    given = check("--model-name", "runs/*/=zeta/{1}")  # what the call says comes first, and then no file lacks a name
    assert (given.stderr, "zeta/atlas-7b" in given.stdout, "acme/" in given.stdout) == ("", True, False)
    assert "bot.toml" not in check(declaration="other.toml").stderr
    refused = check(mapping="runs").stderr
    assert "watches.0.identity.0.path: write folders that end in /" in refused
    assert "\nwhat it says of the models in folders does not count here\n" in refused


def test_a_command_that_is_stopped_while_it_starts_shows_no_traceback(tmp_path: Path) -> None:
    stops = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's `&` ignores it
    stops += "os.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(9)\n"
    (tmp_path / "typer.py").write_text(stops)  # the first import that takes long
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-m", "bot"], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_command_that_is_spelled_otherwise_is_named(tmp_path: Path) -> None:
    assert "No such command 'chekc': is it 'check'?" in run("chekc", cwd=tmp_path).stderr
    assert "is it" not in run("zzz", cwd=tmp_path).stderr
