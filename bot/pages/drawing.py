"""Small charts as SVG: one style for all, readable text, colours from the style sheet.

Altair draws the charts of the audits in 0.4 s each; a board's site has a dozen and is built again at every change, so
these three are written directly. Nothing in them needs a style of its own, which the page's policy would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from markupsafe import Markup

from bot.reporting.escape import visible

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 44
TICKS = 5
COUNT = "rows"  # the title of an axis that counts: no half of a row stands at it


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its title with the unit, and the range that it shows."""

    title: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart: what it shows, its SVG, and a table of the same numbers (head and rows, as texts)."""

    title: str
    svg: Markup
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def histogram(title: str, values: Sequence[float], axis: Axis, bins: int = 20) -> Figure:
    """The number of values in each of equal parts of the axis; values outside count in the first or the last part."""
    counts = [0] * bins
    width = (axis.high - axis.low) / bins
    for value in values:
        counts[min(bins - 1, max(0, int((value - axis.low) / width)))] += 1
    across, up = _scales(axis, Axis(COUNT, 0, max(1, *counts)))
    bars = "".join(
        f'<rect class="bar" x="{across(axis.low + i * width) + 0.5:.1f}" y="{up(count):.1f}" '
        f'width="{across(axis.low + width) - LEFT - 1:.1f}" height="{HEIGHT - BOTTOM - up(count):.1f}"/>'
        for i, count in enumerate(counts)
        if count
    )
    edges = [axis.low + i * width for i in range(bins + 1)]
    rows = [(f"{edges[i]:g} to {edges[i + 1]:g}", str(count)) for i, count in enumerate(counts)]
    return Figure(title, _svg(title, axis, Axis(COUNT, 0, max(1, *counts)), bars), (axis.title, COUNT), rows)


def scatter(title: str, points: Sequence[tuple[str, float, float]], x: Axis, y: Axis, *, listed: int = 100) -> Figure:
    """A dot for each (name, x, y); the table lists the first ones."""
    across, up = _scales(x, y)
    dots = "".join(f"M{across(a):.1f} {up(b):.1f}h0" for _, a, b in points)
    drawn = f'<path class="dots" d="{dots}"/>' if dots else ""
    rows = [(name, f"{a:.2f}", f"{b:.2f}") for name, a, b in points[:listed]]
    return Figure(title, _svg(title, x, y, drawn), ("row", x.title, y.title), rows)


def over_time(title: str, points: Sequence[tuple[str, str, float]], y: Axis) -> Figure:
    """A dot for each (name, ISO date, value) in the order of time, and the best value up to each date as a line."""
    days = [_day(date) for _, date, _ in points]
    x = Axis("date", min(days, default=0), max(max(days, default=1), min(days, default=0) + 1))
    across, up = _scales(x, y)
    best, line, rows = float("-inf"), "", []
    for (name, date, value), day in zip(points, days, strict=True):
        if value > best:
            line += f"M{across(day):.1f} {up(value):.1f}" if not line else f"H{across(day):.1f}V{up(value):.1f}"
            best = value
            rows.append((date[:10], name, f"{value:.2f}"))
    dots = "".join(f"M{across(day):.1f} {up(point[2]):.1f}h0" for point, day in zip(points, days, strict=True))
    drawn = f'<path class="dots" d="{dots}"/><path class="best" d="{line}H{WIDTH - RIGHT}"/>' if points else ""
    dates = (points[0][1][:10], points[-1][1][:10]) if points else ("", "")
    return Figure(title, _svg(title, x, y, drawn, dates), ("date", "new best row", y.title), rows)


def _day(date: str) -> float:
    """Days since the year 0 of a calendar whose months have 31 days: it orders and spaces dates well enough to draw."""
    year, month, day = (int(part) for part in date[:10].split("-"))
    return (year * 12 + month) * 31 + day


def _scales(x: Axis, y: Axis) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """From values to pixels, held inside of the frame."""

    def across(value: float) -> float:
        share = (value - x.low) / ((x.high - x.low) or 1)
        return LEFT + min(1.0, max(0.0, share)) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        share = (value - y.low) / ((y.high - y.low) or 1)
        return HEIGHT - BOTTOM - min(1.0, max(0.0, share)) * (HEIGHT - BOTTOM - TOP)

    return across, up


def _svg(title: str, x: Axis, y: Axis, drawn: str, dates: tuple[str, str] | None = None) -> Markup:
    across, up = _scales(x, y)
    low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<path class="grid" d="M{LEFT} {up(tick):.1f}H{right}"/>'
        f'<text x="{LEFT - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in _ticks(y)
        if y.title != COUNT or tick == int(tick)
    ]
    if dates is None:
        parts += [_below(across(tick), f"{tick:g}", "middle") for tick in _ticks(x)]
    else:
        parts += [_below(LEFT, dates[0], "start")]
        parts += [_below(right, dates[1], "end")] if dates[1] != dates[0] else []
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{low}H{right}"/>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{_text(x.title)}</text>')
    side = f'x="14" y="{(TOP + low) / 2}" transform="rotate(-90 14 {(TOP + low) / 2})"'
    parts.append(f'<text {side} text-anchor="middle">{_text(y.title)}</text>')
    label = _text(
        f"{title}. {x.title}: {x.low:g} to {x.high:g}; {y.title}: {y.low:g} to {y.high:g}." if dates is None else title
    )
    frame = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return Markup(f"{frame}{''.join(parts)}{drawn}</svg>")  # noqa: S704 - every text in it is escaped


def _below(x: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{_text(text)}</text>'


def _text(text: str) -> str:
    return escape(visible(text))


def _ticks(axis: Axis) -> list[float]:
    """Round values within an axis, about five of them."""
    span = axis.high - axis.low
    if span <= 0:
        return [axis.low]
    step = 10 ** floor(log10(span / TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= TICKS)
    first = ceil(axis.low / step)
    return [i * step for i in range(first, floor(axis.high / step) + 1)]
