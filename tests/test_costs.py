"""A test of more processor time than it may need is named, and fails a run in CI; one with a mark is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFTEST = """
import tests.costs
tests.costs.SECONDS = 0.015
tests.costs.YARDSTICK = 9.0
pytest_plugins = ["tests.costs"]
"""
TESTS = """
import subprocess, sys, time
import pytest

def spend():
    end = time.process_time() + 0.15
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def shared():
    spend()

def test_it_waits():
    time.sleep(0.15)

def test_it_uses_what_others_use_too(shared):
    pass

@pytest.mark.slow
def test_it_has_a_mark():
    spend()

def test_it_works_long():
    spend()

def test_a_process_of_many_tests_ends_in_this_one():
    subprocess.run([sys.executable, "-c", "while __import__('time').process_time() < 0.15: pass"])
"""


def test_in_ci_a_run_fails_by_what_its_tests_need(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "CI": "true", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    named = {line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line}
    assert named == {"test_it_works_long"}, done.stdout + done.stderr
    assert done.returncode == 1
