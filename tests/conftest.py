"""Fixtures of the whole suite: no socket leaves this machine; the reference folder is optional."""

from __future__ import annotations

import fnmatch
import gc
import ipaddress
import os
import socket
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.pathlib import import_path
from hypothesis import settings

from bot.evaluation.definition import Remembered
from bot.platforms.net import BUDGETS

# The Hub's client reads these once, when it is first imported: no telemetry, no bars in the output.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

pytest_plugins = ["tests.compiled", "tests.costs", "tests.oracles", "tests.world.fixtures"]

# No test depends on how fast the machine is; a failing example can be repeated with the printed blob.
# `make test-all` looks at more examples than `make test` (--hypothesis-profile=thorough), and so does CI.
settings.register_profile("suite", deadline=None, print_blob=True, max_examples=50 if os.environ.get("CI") else 25)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=300)
settings.load_profile("suite")

# A tenth of the processor time of a run was the search for cycles; a worker keeps a few megabytes more.
gc.set_threshold(50_000)

KEEPERS = (type(lru_cache(str.isascii)), Remembered)


def pytest_sessionstart() -> None:
    """Forget what an earlier run in this process kept: `make mutate` forks after one, and its changes must show."""
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] in {"bot", "tests"}]
    for kept in [value for module in ours for value in vars(module).values()]:
        if isinstance(kept, KEEPERS):
            kept.cache_clear()


def pytest_collection(session: pytest.Session) -> None:
    """Let every second worker of a whole run begin at the other end: in a clean clone it compiles the other half."""
    root, number = session.config.rootpath, int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number % 2 and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for folder, _, names in sorted(os.walk(root / "tests"), reverse=True):
            for name in sorted(fnmatch.filter(names, "test_*.py"), reverse=True):
                import_path(Path(folder, name), mode="importlib", root=root, consider_namespace_packages=False)


def pytest_collection_finish() -> None:
    """Let the collector pass over thousands of collected tests: it would look at all of them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Drop what nobody reads: workers send 25,000 reports, and the process that gathers them keeps all to the end."""
    if report.passed:
        report.keywords = {}


LOCAL_NAMES = {"localhost", "", None}


def is_local(host: object) -> bool:
    """Whether a connection to host stays on this machine."""
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True, scope="session")
def _stay_on_this_machine() -> Any:
    """Make a connection to anywhere but loopback an error that names the address."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not is_local(address[0]):
            message = f"a test tried to reach {address!r}"
            raise AssertionError(message)
        return connect(self, address)

    socket.socket.connect = guarded  # type: ignore[assignment, method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _no_window_of_another_server() -> None:
    """Forget what answers said of budgets: a server of an earlier test may have had the port of this one."""
    BUDGETS._windows.clear()


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of published results to check against; the test is skipped where it is not named."""
    folder = os.environ.get("LEADERBOARD_BOT_REFERENCE")
    if not folder:
        pytest.skip("LEADERBOARD_BOT_REFERENCE does not name a folder")
    return Path(folder)
