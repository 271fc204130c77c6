"""Small charts as SVG: one style for all, readable text, colours from the style sheet.

Nothing in them needs a style of its own, which the policy of the page would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, hypot, log10

from markupsafe import Markup

from bot.publishing.models import billions
from bot.reporting.escape import visible

WIDTH, HEIGHT = 640, 190
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 20, 44
TICKS, BINS = 5, 20
LISTED = 100  # rows of the table of a figure
LINE, LETTER, NAMES, NAME = 20, 7, 180, 14  # pixels: of a line, a letter, the longest name, and its height
LARGE = 9  # pixels of a letter beside a line, as the style sheet has it on small screens
COUNT = "rows"  # the title of an axis that counts: no half of a row stands at it


Label = tuple[float, str, str]  # below an axis: pixels from the left, text, and which end of it lies there


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


def fitting(title: str, values: Sequence[float]) -> Axis:
    """The axis of these values: from the last round number below them to the first above."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    ticks = _ticks(Axis(title, low, high if high > low else low + 1))
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    return Axis(title, floor(low / step) * step, max(ceil(high / step), floor(low / step) + 1) * step)


def averages(title: str, rows: Sequence[tuple[str, float, float]]) -> Figure:
    """A dot with its interval for each (name, average, half of the interval), the best first; the table lists some.

    Bands alternate between groups: a group ends at the first row that differs from the group's best by more than
    chance explains.
    """
    y = fitting("average (points)", [end for _, value, reach in rows for end in (value - reach, value + reach)])
    x = Axis("place", 0, len(rows) + 1)
    across, up = _scales(x, y)
    starts = _groups(rows)
    edges = [*starts, len(rows)]
    bands = "".join(
        f'<path class="band" d="M{across(first + 0.5):.0f} {TOP}H{across(last + 0.5):.0f}V{HEIGHT - BOTTOM}'
        f'H{across(first + 0.5):.0f}z"/>'
        for first, last in list(pairwise(edges))[::2]
    )
    places = [across(place) for place in range(1, len(rows) + 1)]
    reach = "".join(
        f"M{at:.0f} {up(value - half):.0f}V{up(value + half):.0f}"
        for at, (_, value, half) in zip(places, rows, strict=True)
        if half
    )
    dots = _dots((at, up(value)) for at, (_, value, _) in zip(places, rows, strict=True))
    drawn = f'<path class="reach" d="{reach}"/>{dots}' if reach else dots
    table = [(name, f"{value:.2f}", f"±{half:.2f}" if half else "–") for name, value, half in rows[:LISTED]]
    said = f"{title} {len(starts)} {'group' if len(starts) == 1 else 'groups'}."
    labels = [
        (across(tick), f"{tick:g}", "middle") for tick in _ticks(x) if tick == int(tick) and 1 <= tick <= len(rows)
    ]
    return Figure(said, _svg(said, x, y, drawn, labels, below=bands), ("row", y.title, "interval"), table)


def _groups(rows: Sequence[tuple[str, float, float]]) -> list[int]:
    """The places, from 0, at which groups of rows that chance cannot separate from their best begin."""
    starts = [0]
    for place, (_, value, reach) in enumerate(rows):
        _, best, error = rows[starts[-1]]
        if best - value > hypot(error, reach):
            starts.append(place)
    return starts


def differences(title: str, rows: Sequence[tuple[str, float, float]], x: Axis) -> Figure:
    """A dot with its interval for each (name, difference, half of the interval), around a line at zero."""
    height = TOP + LINE * len(rows) + BOTTOM
    names = max((len(name) for name, _, _ in rows), default=0)
    left = min(NAMES, 16 + LETTER * names)
    across, _ = _scales(x, x, left)
    parts = [
        f'<path class="grid" d="M{across(tick):.1f} {TOP}V{height - BOTTOM}"/>'
        f'<text x="{across(tick):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
        for tick in _ticks(x)
    ]
    parts.append(f'<path class="axis" d="M{across(0):.1f} {TOP}V{height - BOTTOM}"/>')
    parts.append(f'<text x="{(left + WIDTH) / 2:.0f}" y="{height - 6}" text-anchor="middle">{x.title}</text>')
    for place, (name, value, reach) in enumerate(rows):
        y = TOP + LINE * (place + 0.5)
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{_text(_cut(name))}</text>')
        parts.append(f'<path class="reach" d="M{across(value - reach):.1f} {y:.1f}H{across(value + reach):.1f}"/>')
        parts.append(f'<path class="dots" d="M{across(value):.1f} {y:.1f}h0"/>')
    frame = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{_text(title)}">'
    table = [(name, f"{value:+.2f}", f"±{reach:.2f}") for name, value, reach in rows]
    return Figure(title, Markup(f"{frame}{''.join(parts)}</svg>"), ("score", x.title, "interval"), table)  # noqa: S704 - every text in it is escaped


def histogram(title: str, values: Sequence[float], axis: Axis) -> Figure:
    """The number of values in each of equal parts of the axis; values outside count in the first or the last part."""
    counts = [0] * BINS
    width = (axis.high - axis.low) / BINS
    for value in values:
        counts[min(BINS - 1, max(0, int((value - axis.low) / width)))] += 1
    count_axis = Axis(COUNT, 0, max(1, *counts))
    across, up = _scales(axis, count_axis)
    bars = "".join(
        f'<rect class="mass" x="{across(axis.low + i * width) + 0.5:.1f}" y="{up(count):.1f}" '
        f'width="{across(axis.low + width) - LEFT - 1:.1f}" height="{HEIGHT - BOTTOM - up(count):.1f}"/>'
        for i, count in enumerate(counts)
        if count
    )
    edges = [axis.low + i * width for i in range(BINS + 1)]
    rows = [(f"{edges[i]:g} to {edges[i + 1]:g}", str(count)) for i, count in enumerate(counts)]
    return Figure(title, _svg(title, axis, count_axis, bars), (axis.title, COUNT), rows)


def scatter(
    title: str, names: Sequence[str], across: tuple[Sequence[float], Axis], up: tuple[Sequence[float], Axis]
) -> Figure:
    """A dot for each value across and the one up, each with its axis; the table lists those that have names."""
    (right, x), (high, y) = across, up
    to_right, to_top = _scales(x, y)
    drawn = _dots(zip(map(to_right, right), map(to_top, high), strict=True))
    rows = [(name, f"{a:.2f}", f"{b:.2f}") for name, a, b in zip(names, right, high, strict=False)]
    return Figure(title, _svg(title, x, y, drawn), ("row", x.title, y.title), rows)


def over_time(title: str, points: Sequence[tuple[str, str, float]], y: Axis) -> Figure:
    """A dot for each (name, ISO date, value) of two days or more, in their order, and the best up to each as a line."""
    days = [_day(date) for _, date, _ in points]
    x = Axis("date", min(days), max(days))
    labels = [(LEFT, points[0][1][:10], "start"), (WIDTH - RIGHT, points[-1][1][:10], "end")]
    dated = [(name, date[:10], day, value) for (name, date, value), day in zip(points, days, strict=True)]
    return _with_best(title, dated, x, y, labels)


def against_size(title: str, points: Sequence[tuple[str, int, float]], y: Axis) -> Figure:
    """A dot for each (name, number of parameters, value), and the best value up to each size as a line."""
    sized = sorted(((name, params, value) for name, params, value in points), key=lambda point: (point[1], -point[2]))
    logs = [log10(params) for _, params, _ in sized]
    x = Axis("parameters (billions)", min(logs) - 0.1, max(logs) + 0.1)
    across, _ = _scales(x, y)
    decades = range(floor(x.low), ceil(x.high) + 1)
    steps = (1,) if x.high - x.low > 2 else (1, 2, 5)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    labels = [(across(log10(tick)), f"{tick / 1e9:g}", "middle") for tick in ticks if x.low <= log10(tick) <= x.high]
    shown = [(name, billions(params), log, value) for (name, params, value), log in zip(sized, logs, strict=True)]
    return _with_best(title, shown, x, y, labels)


def _with_best(
    title: str, points: Sequence[tuple[str, str, float, float]], x: Axis, y: Axis, labels: Sequence[Label]
) -> Figure:
    """A dot for each (name, place as text, place, value) from the left, and the best value so far as a line."""
    across, up = _scales(x, y)
    best, line, rows, leaders = float("-inf"), "", list[tuple[str, str, str]](), list[tuple[str, float, float]]()
    for name, text, place, value in points:
        if value > best:
            line += f"M{across(place):.1f} {up(value):.1f}" if not line else f"H{across(place):.1f}V{up(value):.1f}"
            best = value
            rows.append((text, f"{value:.2f}", name))
            leaders.append((name, across(place), up(value)))
    dots = _dots((across(place), up(value)) for _, _, place, value in points)
    drawn = f'{dots}<path class="best" d="{line}H{WIDTH - RIGHT}"/>{_named(leaders)}'
    return Figure(title, _svg(title, x, y, drawn, labels), (x.title, y.title, "new best row"), rows)


def _named(leaders: Sequence[tuple[str, float, float]]) -> str:
    """The names of the rows at the steps of a line, the best first, each where it covers no other."""
    had: list[tuple[float, float, float]] = []  # left, right and height
    drawn = []
    for name, x, y in reversed(leaders):
        shown = _cut(name.rpartition("/")[2] or name)
        width = LARGE * len(shown)
        is_last = x + width > WIDTH - RIGHT
        left = WIDTH - RIGHT - width if is_last else x
        if all(left + width < one or left > other or abs(y - height) > NAME for one, other, height in had):
            had.append((left, left + width, y))
            at = f'{WIDTH - RIGHT}" text-anchor="end' if is_last else f"{x:.0f}"
            drawn.append(f'<text class="name" x="{at}" y="{max(NAME, y - 6):.0f}">{_text(shown)}</text>')
    return "".join(drawn)


def _cut(name: str) -> str:
    """A name, or its beginning where it is long."""
    return name if len(name) * LETTER < NAMES else f"{name[: NAMES // LETTER - 3]}…"


def _dots(places: Iterable[tuple[float, float]]) -> str:
    """A dot at each place, to the pixel; dots that would cover each other are drawn once."""
    shown = dict.fromkeys([(round(x), round(y)) for x, y in places])
    return f'<path class="dots" d="{"".join([f"M{x} {y}h0" for x, y in shown])}"/>' if shown else ""


def _day(date: str) -> float:
    """A number that orders and spaces dates well enough to draw: days since year 0, 31 in each month."""
    year, month, day = (int(part) for part in date[:10].split("-"))
    return (year * 12 + month) * 31 + day


def _scales(x: Axis, y: Axis, left: int = LEFT) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """From values to pixels, held inside of the frame."""

    def across(value: float) -> float:
        share = (value - x.low) / ((x.high - x.low) or 1)
        return left + min(1.0, max(0.0, share)) * (WIDTH - left - RIGHT)

    def up(value: float) -> float:
        share = (value - y.low) / ((y.high - y.low) or 1)
        return HEIGHT - BOTTOM - min(1.0, max(0.0, share)) * (HEIGHT - BOTTOM - TOP)

    return across, up


def _svg(title: str, x: Axis, y: Axis, drawn: str, labels: Sequence[Label] | None = None, *, below: str = "") -> Markup:
    """The frame with the axes, and in it what is drawn; `labels` are those of the x axis where it is not linear."""
    across, up = _scales(x, y)
    low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<path class="grid" d="M{LEFT} {up(tick):.1f}H{right}"/>'
        f'<text x="{LEFT - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in _ticks(y)
        if y.title != COUNT or tick == int(tick)
    ]
    linear = [(across(tick), f"{tick:g}", "middle") for tick in _ticks(x)]
    parts += [
        f'<text x="{at:.1f}" y="{low + 16}" text-anchor="{anchor}">{_text(text)}</text>'
        for at, text, anchor in (linear if labels is None else labels)
    ]
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{low}H{right}"/>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{_text(x.title)}</text>')
    side = f'x="14" y="{(TOP + low) / 2}" transform="rotate(-90 14 {(TOP + low) / 2})"'
    parts.append(f'<text {side} text-anchor="middle">{_text(y.title)}</text>')
    label = _text(
        f"{title}. {x.title}: {x.low:g} to {x.high:g}; {y.title}: {y.low:g} to {y.high:g}." if labels is None else title
    )
    frame = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return Markup(f"{frame}{below}{''.join(parts)}{drawn}</svg>")  # noqa: S704 - every text in it is escaped


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
