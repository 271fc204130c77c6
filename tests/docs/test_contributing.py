"""The walk-throughs of CONTRIBUTING.md, followed in a copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.evaluation.judging import ROOT

BLOCK = re.compile(r'^ {3}```(\w+) title="([^"]+)"\n(.*?)^ {3}```$', re.MULTILINE | re.DOTALL)
# What was compiled stays: compiling all of it anew takes longer than the tests.
LEFT_OUT = shutil.ignore_patterns("node_modules", ".chromium", ".firefox", "*.whl", "*.png")
# One interpreter for several calls: most of a call's time is its start.
CALLS = """
import json, sys
from typer.testing import CliRunner
from bot.cli.app import app
done = [CliRunner().invoke(app, words) for words in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.stdout, one.stderr) for one in done]))
"""
MODELS = "from tests.pages.boards import examples, site_of; print(site_of(examples())['models.html'].decode())"


def blocks(section: str) -> list[tuple[str, str, str]]:
    """The titled blocks of a section: language, path, text."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {section}\n")
    assert found
    part = rest.partition("\n## ")[0]
    return [(kind, path, dedent(body)) for kind, path, body in BLOCK.findall(part)]


def test_the_functions_that_are_quoted_as_examples_are_those_of_the_code() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Taste\n")[2]
    quoted = re.findall(r"^(def .*?:)(?: \.\.\.)?$", text.partition("\n## ")[0], re.MULTILINE)
    code = [path.read_text(encoding="utf-8") for room in ("bot", "tests") for path in (ROOT / room).rglob("*.py")]

    assert len(quoted) == 2
    assert [one for one in quoted if not any(f"\n{one}\n" in part for part in code)] == []


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the steps of all sections were done."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("bot", "docs", "examples", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    for section in (
        "Add a rule",
        "Add a result format",
        "Add a leaderboard",
        "Add a target",
        "Add a command",
        "Add a page",
    ):
        found = blocks(section)
        assert found
        for kind, path, text in found:
            (apply_diff if kind == "diff" else write)(folder / path, text)
    return folder


def write(path: Path, text: str) -> None:
    assert not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def apply_diff(path: Path, text: str) -> None:
    """Replace what the lines with a minus are; an import goes before the first one."""
    content = path.read_text(encoding="utf-8")
    imports = [line[1:] for line in text.splitlines() if line.startswith("+from ")]
    removed = "\n".join(line[1:] for line in text.splitlines() if line.startswith("-"))
    added = "\n".join(line[1:] for line in text.splitlines() if line.startswith("+") and line[1:] not in imports)
    assert content.count(removed) == 1, removed
    content = content.replace(removed, added)
    path.write_text(content.replace("\nfrom bot.", "\n" + "\n".join(imports) + "\nfrom bot.", 1), encoding="utf-8")


def run(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )


def call(clone: Path, *calls: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """Exit status, output and errors of commands."""
    done = run(clone, "-c", CALLS, json.dumps(calls))
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


@pytest.mark.slow
def test_a_rule_is_one_file_a_line_and_its_cases(clone: Path) -> None:
    assert run(clone, "docs/generate.py").returncode == 0
    assert "## development-release" in (clone / "docs" / "rules.md").read_text(encoding="utf-8")
    tests = ("tests/evaluation/rules/test_pages.py", "tests/evaluation/rules/test_findings.py")
    done = run(clone, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", "development or module or kinds")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^[7-9] passed", done.stdout.splitlines()[-1]), done.stdout


@pytest.mark.slow
def test_a_format_a_leaderboard_and_a_command_are_there(clone: Path) -> None:
    broken = (clone / "run.json").read_text(encoding="utf-8").replace('"questions": 40', '"questions": 41')
    (clone / "broken.json").write_text(broken, encoding="utf-8")
    board = ("--leaderboard", "quiz-night", "--format")
    declared, sound, faulty, formats = call(
        clone,
        ("leaderboards", "quiz-night"),
        ("check", "run.json", *board, "summary"),
        ("check", "broken.json", *board, "github"),
        ("formats",),
    )
    assert declared[0] == 0
    assert (sound[0], sound[2]) == (0, "")
    assert "accepted     53.33  2/2  example-org/kestrel-7b" in sound[1]
    assert faulty[0] == 1
    assert "rivers has 41 samples" in faulty[1]
    assert formats[0] == 0
    assert "quiz-lab         Quiz Lab" in formats[1].splitlines()


@pytest.mark.slow
def test_a_target_is_one_file_and_a_line(clone: Path) -> None:
    put = ("publish", "run.json", "--leaderboard", "quiz-night", "--to", "drive://board", "--as", "commit")
    first, second = call(clone, put, put)
    listed = ["git", "-C", clone / "drive" / "board", "ls-files", "entries"]

    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    assert second[1].startswith("unchanged ")
    assert len(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()) == 1


@pytest.mark.slow
def test_a_page_is_one_file_a_template_and_a_line(clone: Path) -> None:
    page = run(clone, "-c", MODELS)
    assert page.returncode == 0, page.stderr
    assert "<li><bdi>example-org/kestrel-7b</bdi></li>" in page.stdout
