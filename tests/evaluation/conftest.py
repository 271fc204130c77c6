"""The count of what a test compared, for the tests on the reference folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.evaluation.published_rows import Count


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Count:
    """Report how many of what were compared; fewer than there are is a failure."""

    def report(what: str, count: int, there_are: int) -> None:
        record_property(what, count)
        print(f"compared {count} {what}")  # noqa: T201 - `pytest -rP` shows it
        assert count == there_are, what

    return report
