"""Log lines: one for each record, nothing of a stranger's moves the cursor, and no flood."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reporting.log_lines import LONGEST_LINE, FloodFilter, JsonFormatter, PlainFormatter
from tests.texts import any_text

HOSTILE = "a\n2026-01-01 ERROR forged\x1b[2J\u202e ##[group]\r::error::x"


def record(
    message: str, *args: object, name: str = "bot.x", at: float = 0.0, failure: bool = False
) -> logging.LogRecord:
    info = sys.exc_info() if failure else None
    made = logging.LogRecord(name, logging.WARNING, __file__, 1, message, args, info)
    made.created = at
    return made


@given(any_text() | st.just(HOSTILE))
def test_a_record_is_one_line(text: str) -> None:
    line = PlainFormatter().format(record("%s", text))
    assert line.isprintable()
    assert line.startswith("1970-01-01T00:00:00Z WARNING ")
    assert "##[" not in line
    fields = json.loads(JsonFormatter().format(record("%s", text)))
    assert fields["level"] == "warning"
    assert fields["message"].isprintable()


def test_a_message_has_an_end() -> None:
    assert len(PlainFormatter().format(record("%s", "x" * 10**7))) < LONGEST_LINE + 100


def test_a_traceback_follows_in_lines_that_nobody_can_forge() -> None:
    try:
        int(HOSTILE)
    except ValueError:
        lines = PlainFormatter().format(record("failed", failure=True)).split("\n")
        fields = json.loads(JsonFormatter().format(record("failed", failure=True)))
    assert len(lines) > 3
    assert all(line.startswith("    ") and line.isprintable() for line in lines[1:])
    assert "ValueError" in fields["traceback"]


@pytest.mark.parametrize(("name", "passed"), [("uvicorn.error", 10), ("asyncio", 10), ("bot.server.service", 500)])
def test_a_flood_is_cut_and_counted(name: str, passed: int) -> None:
    flood = FloodFilter()
    assert sum(flood.filter(record("from %s", number, name=name)) for number in range(2_000)) == passed
    assert flood.filter(record("another", name=name))
    last = record("from %s", "x", name=name, at=61.0)
    assert flood.filter(last)
    assert last.getMessage() == f"from x (and {2_000 - passed} more of these before)"
