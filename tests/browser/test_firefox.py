"""The page of a board in a real Firefox, which `make firefox` unpacks; where there is none this is skipped."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.browser.conftest import HERE

UNPACKED = HERE / ".firefox" / "usr" / "lib"


@pytest.fixture(scope="session")
def firefox() -> Path:
    """The browser: LEADERBOARD_BOT_FIREFOX, or the one that is unpacked here."""
    path = Path(os.environ.get("LEADERBOARD_BOT_FIREFOX") or UNPACKED / "firefox-esr" / "firefox-esr")
    if not path.exists():
        pytest.skip(f"there is no Firefox at {path}; make firefox gets it")
    return path


def test_a_reader_sorts_filters_scrolls_and_compares(firefox: Path, folders: dict[str, Path]) -> None:
    libraries = f"{UNPACKED / 'x86_64-linux-gnu'}:{UNPACKED / 'firefox-esr'}"
    done = subprocess.run(
        ["node", HERE / "firefox.mjs", firefox, f"file://{folders['sized']}/index.html"],
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["rows"] == 20
    assert found["lastTask"] <= 1280
    assert found["sorted"] == sorted(found["sorted"], reverse=True)
    assert found["sizes"]
    assert max(found["sizes"]) <= 10
    assert found["address"].endswith("size=10")
    assert abs(found["head"]["top"] - found["frame"]["top"]) <= 2
    assert found["name"]["left"] >= found["frame"]["left"]
    assert " points " in found["sentence"]
