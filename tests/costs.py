"""The processor time of each test, with the commands that the launcher runs for it.

A test that needs more than SECONDS and is not marked as slow is named at the end of a run, and where CI is set the run
fails. Wall time would count what other processes of the machine do. What all tests share is nobody's: a fixture of a
session or a module, where an oracle is loaded, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import process_time
from typing import Any

import pytest

SECONDS = 1.0
# Processor time grows, too, where other processes use the caches or the other half of a core.
TOLERANCE = 5.0
# What `yardstick` takes on the machine on which tests were marked.
YARDSTICK = 0.0145
MARKS = ("slow", "campaign")

PROPERTY = "processor_seconds"
COSTS: dict[
    str, tuple[float, bool]
] = {}  # by test, in the process that ends the run: seconds, and whether it is marked
BY_LAUNCHER: list[float] = []  # of commands that are no children of this process
SHARED: list[float] = []  # of fixtures that are made once for many tests
BEGAN = pytest.StashKey[float]()


def spent() -> float:
    """Seconds of the processor of this process, and of commands that the launcher ran for it.

    Other children are left out: one that lives through many tests counts for the test in which it happens to end.
    """
    return process_time() + sum(BY_LAUNCHER)


def yardstick() -> float:
    """Seconds of the processor for a certain piece of work, at best."""

    def once() -> float:
        began = process_time()
        kept = {str(number): number for number in range(60_000)}
        assert sum(kept[str(number)] for number in range(60_000)) == 1_799_970_000
        return process_time() - began

    return min(once() for _ in range(5))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=int, default=0, metavar="N", help="show the N tests of the most processor time")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    began, inner = spent(), sum(SHARED)
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function":
            SHARED.append(spent() - began - (sum(SHARED) - inner))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    SHARED.clear()
    BY_LAUNCHER.clear()
    item.stash[BEGAN] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    report: pytest.TestReport = yield
    if call.when == "teardown" and BEGAN in item.stash:
        seconds = spent() - item.stash[BEGAN] - sum(SHARED)
        is_marked = any(item.get_closest_marker(mark) for mark in MARKS)
        if seconds > SECONDS and not is_marked:
            seconds /= max(1.0, yardstick() / YARDSTICK)
        report.user_properties.append((PROPERTY, (seconds, is_marked)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, value in report.user_properties:
        if name == PROPERTY:
            seconds, is_marked = value  # type: ignore[misc]  # whatever a test notes is an object
            COSTS[report.nodeid] = seconds, is_marked


def costliest() -> list[tuple[float, bool, str]]:
    return sorted(((seconds, is_marked, name) for name, (seconds, is_marked) in COSTS.items()), reverse=True)


def too_costly(limit: float) -> list[tuple[float, str]]:
    """Tests without a mark that need more."""
    return [(seconds, name) for seconds, is_marked, name in costliest() if seconds > limit and not is_marked]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("CI") and too_costly(SECONDS * TOLERANCE) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    shown = config.getoption("--costs")
    if shown:
        terminalreporter.section(f"{sum(row[0] for row in costliest()):.0f} s of processor time in tests")
        for seconds, _, name in costliest()[:shown]:
            terminalreporter.write_line(f"{seconds:6.2f} s {name}")
    over = too_costly(SECONDS * (TOLERANCE if os.environ.get("CI") else 1))
    if over:
        terminalreporter.section(f"more than {SECONDS:g} s of processor time: make them cheaper, or mark them as slow")
        for seconds, name in over:
            terminalreporter.write_line(f"{seconds:6.2f} s {name}")
