"""The tour that `make run` takes, as a whole: it ends well, is short enough to be read, and leaves a board."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluation.judging import ROOT
from tests.pages.boards import found


@pytest.mark.slow
def test_the_tour_ends_with_a_board_of_a_few_dozen_rows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = subprocess.run(
        [sys.executable, tmp_path / "examples" / "tour.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") <= 100
    assert done.stdout.count("limited-run") == 1  # a fault is said once
    page = found((tmp_path / "demo" / "site" / "index.html").read_bytes())
    assert len(page.tables[0]) == 1 + 31


def test_the_readme_says_how_the_command_is_called_in_a_clone() -> None:
    """`make run` puts it into the environment of the clone, and the examples call it by its name alone."""
    [command] = re.findall(r"^BOT := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    first = (ROOT / "README.md").read_text().partition("## Try it on your own files")[2].partition("\n## ")[0]
    assert f"`{command}`" in first
    assert f'export PATH="$PWD/{Path(command).parent}:$PATH"' in first
