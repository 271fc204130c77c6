"""Charts and pages: readable in light and dark, with their numbers, with nothing of the data as markup."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from bot.errors import CallError
from bot.reporting import chart
from bot.reporting.chart import Chart, ChartAxis, ChartText, Point, bars, histogram, intervals, scatter, slopes
from bot.reporting.prose import Section, page

HOSTILE = "a</text><script>alert(1)</script>\x00\x1b\u202e&\"'"

DRAWN: dict[str, Callable[[str], Chart]] = {
    "bars": lambda name: bars(ChartText(name), [(name, 3), ("other", 1.25)], ChartAxis(name)),
    "intervals": lambda name: intervals(ChartText(name), [(name, 1, 2, 3)], ChartAxis(name)),
    "histogram": lambda name: histogram(ChartText(name), [-1, 0, 2, 99], ChartAxis(name), low=0, width=5, bins=4),
    "scatter": lambda name: scatter(
        ChartText(name, name),
        [Point(name, 1, 2, "g", name), Point("b", 3, 4, "h")],
        ChartAxis(name),
        ChartAxis("y", (0, 100)),
    ),
    "slopes": lambda name: slopes(ChartText(name), [name, "B"], [(name, (1, 2)), ("n", (2, 1))]),
}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("paper", ["#ffffff", "#0d1117"])
def test_every_colour_can_be_seen_on_white_and_on_dark(paper: str) -> None:
    assert contrast(chart.INK, paper) >= 4
    assert min(contrast(colour, paper) for colour in chart.PALETTE) >= 3
    assert len(set(chart.PALETTE)) == 8


@pytest.mark.parametrize("kind", DRAWN)
def test_a_chart_of_hostile_names_is_sound_xml_without_their_markup(kind: str) -> None:
    drawn = DRAWN[kind](HOSTILE)
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(drawn.svg).iter()}
    assert "script" not in tags
    assert "\x1b" not in drawn.svg
    assert "\u202e" not in drawn.svg


@pytest.mark.parametrize("kind", DRAWN)
def test_a_chart_asks_for_nothing_and_paints_no_background(kind: str) -> None:
    svg = DRAWN[kind]("name").svg
    assert re.findall(r'(?:href|src)="[^#][^"]*"', svg) == []
    assert 'fill="white"' not in svg
    assert "prefers-color-scheme:dark" in svg


def test_a_chart_carries_its_numbers_as_a_table() -> None:
    table = DRAWN["histogram"]("f1").table
    assert table.columns == ("from", "to", "count")
    assert [row[2] for row in table.rows] == [3, 0, 0, 1]
    assert DRAWN["scatter"]("x").table.rows[1] == ("b", 3, 4, "h")
    assert DRAWN["slopes"]("A").table.rows == (("A", 1, 2), ("n", 2, 1))


def test_the_same_rows_give_the_same_bytes() -> None:
    assert DRAWN["scatter"]("x").svg == DRAWN["scatter"]("x").svg


def test_a_page_holds_text_as_text_and_forbids_requests() -> None:
    drawn = DRAWN["bars"](HOSTILE)
    text = page(HOSTILE, HOSTILE, [Section(HOSTILE, [HOSTILE, drawn.table, drawn])], foot=HOSTILE)
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert text.count("<table>") == 2
    assert not re.search(r"(?:href|src)=[\"']https?:", text)


def test_two_charts_on_one_page_do_not_share_ids() -> None:
    ids = re.findall(r'\bid="([^"]+)"', DRAWN["scatter"]("a").svg + DRAWN["bars"]("b").svg)
    assert len(ids) == len(set(ids))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(CallError, match=r"pip install 'leaderboard-bot\[charts\]'"):
        DRAWN["bars"]("a")
