"""Small charts as SVG: one style for all, readable text, colours from the style sheet.

Nothing in them needs a style of its own, which the policy of the page would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from itertools import pairwise
from math import ceil, floor, log10

from markupsafe import Markup

from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import owner_and_name
from bot.pages.environment import MISSING, signed
from bot.pages.titles import in_two, with_end
from bot.publishing.models import billions
from bot.reporting.escape import visible

WIDTH, HEIGHT = 460, 240
LONGEST_AXIS = 18  # letters of the title of an axis
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 20, 44
TICKS, BINS = 5, 20
LISTED = 100  # rows of the table of a figure
LINE, LETTER, BOLD, NAME = 20, 8, 9, 14  # pixels: of a line, a letter, a bold one, and the height of a name
TWO_LINES, HALF = 32, 7  # pixels: of a line with names on two lines, and half of what lies between these
LABEL = 24  # letters of each
NAMED = 7  # names that stand among dots at most
FOREST_ROWS = 15  # rows of a forest
DATES = 3  # days below an axis that is shorter than two months, at most
SPARE = 0.05  # of a span of days: what lies after the last
DAYS = 31  # of each month: dates are drawn well enough so
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
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


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A row of a forest: its name, the address of its page ("" for none), its average and half of its interval."""

    name: str
    page: str
    value: float
    reach: float


def forest(title: str, rows: Sequence[ForestRow]) -> Figure:
    """A line for each of the first rows, the best first: a dot with its interval, and the lower end of the best's."""
    shown = rows[:FOREST_ROWS]
    names, left, line = _names([owner_and_name(row.name)[1] for row in shown])
    height = TOP + line * len(shown) + BOTTOM
    x = fitting("average (points)", [end for row in shown for end in (row.value - row.reach, row.value + row.reach)])
    across, _ = _scales(x, x, left)
    parts = _below(x, across, height)
    best = across(shown[0].value - shown[0].reach)
    parts.append(f'<path class="least" d="M{best:.1f} {TOP - 6}V{height - BOTTOM}"/>')
    for place, (row, name) in enumerate(zip(shown, names, strict=True)):
        y = TOP + line * (place + 0.5)
        begin, end = across(row.value - row.reach), across(row.value + row.reach)
        said = _text(f"{row.name}: {half_up(row.value, 2)}{f' ±{half_up(row.reach, 2)}' if row.reach else ''}")
        drawn = (
            f'{name}<path class="reach" d="M{begin:.1f} {y:.1f}H{end:.1f}"/>'
            f'<path class="dots" d="M{across(row.value):.1f} {y:.1f}h0"/>'
        )
        page = f' href="{_text(row.page)}"' if row.page else ""
        parts.append(f"<a{page}><title>{said}</title>{drawn}</a>")
    frame = f'<svg viewBox="0 0 {WIDTH} {height}" role="group" aria-label="{_text(title)}">'
    table = [(row.name, str(half_up(row.value, 2)), f"±{half_up(row.reach, 2)}" if row.reach else "–") for row in shown]
    return Figure(title, Markup(f"{frame}{''.join(parts)}</svg>"), ("row", x.title, "interval"), table)  # noqa: S704 - every text in it is escaped


def _names(names: Sequence[str]) -> tuple[list[str], int, int]:
    """The names left of their lines, the long ones on two; where the lines begin, and the height of one."""
    labels = [in_two(name, LABEL) for name in names]
    line = TWO_LINES if any(len(parts) > 1 for parts in labels) else LINE
    left = 16 + LETTER * max((len(part) for parts in labels for part in parts), default=0)
    drawn = [
        "".join(
            f'<text x="{left - 8}" y="{TOP + line * (place + 0.5) + 4 + HALF * (2 * number - len(parts) + 1):.1f}" '
            f'text-anchor="end">{_text(part)}</text>'
            for number, part in enumerate(parts)
        )
        for place, parts in enumerate(labels)
    ]
    return drawn, left, line


def _below(x: Axis, across: Callable[[float], float], height: int) -> list[str]:
    """The grid and the numbers of an axis that lies below lines of names."""
    parts = [
        f'<path class="grid" d="M{across(tick):.1f} {TOP}V{height - BOTTOM}"/>'
        f'<text x="{across(tick):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle">{_number(tick)}</text>'
        for tick in _ticks(x)
    ]
    middle = (across(x.low) + across(x.high)) / 2
    return [*parts, f'<text x="{middle:.0f}" y="{height - 6}" text-anchor="middle">{x.title}</text>']


def differences(title: str, rows: Sequence[tuple[str, float, float, bool]], x: Axis) -> Figure:
    """A dot with its interval for each (name, difference, half of the interval, is apart), around a line at zero."""
    names, left, line = _names([name for name, *_ in rows])
    height = TOP + line * len(rows) + BOTTOM
    across, _ = _scales(x, x, left)
    parts = _below(x, across, height)
    parts.append(f'<path class="axis" d="M{across(0):.1f} {TOP}V{height - BOTTOM}"/>')
    for place, ((_, value, reach, is_apart), name) in enumerate(zip(rows, names, strict=True)):
        y = TOP + line * (place + 0.5)
        parts.append(name)
        parts.append(f'<path class="reach" d="M{across(value - reach):.1f} {y:.1f}H{across(value + reach):.1f}"/>')
        kind = "untested" if not reach else "mass" if is_apart else "hollow"
        parts.append(f'<circle class="{kind}" cx="{across(value):.1f}" cy="{y:.1f}" r="4"/>')
    frame = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{_text(title)}">'
    table = [(name, signed(value), f"±{half_up(reach, 2)}" if reach else MISSING) for name, value, reach, _ in rows]
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
    rows = [(f"{_number(edges[i])} to {_number(edges[i + 1])}", str(count)) for i, count in enumerate(counts)]
    return Figure(title, _svg(title, axis, count_axis, bars), (axis.title, COUNT), rows)


def scatter(
    title: str,
    names: Sequence[str],
    across: tuple[Sequence[float], Axis],
    up: tuple[Sequence[float], Axis],
    marked: Iterable[int] = (),
) -> Figure:
    """A dot for each value across and the one up, each with its axis; the table lists those that have names.

    Those at the places in `marked` have another colour.
    """
    (right, x), (high, y) = across, up
    to_right, to_top = _scales(x, y)
    places = list(zip(map(to_right, right), map(to_top, high), strict=True))
    drawn = _dots(places) + _dots((places[one] for one in marked), "dots odd")
    rows = [(name, str(half_up(a, 2)), str(half_up(b, 2))) for name, a, b in zip(names, right, high, strict=False)]
    return Figure(title, _svg(title, x, y, drawn), ("row", x.title, y.title), rows)


def over_time(title: str, points: Sequence[tuple[str, str, float]], y: Axis) -> Figure:
    """A dot for each (name, ISO date, value) of two days or more, in their order, and the best up to each as a line."""
    days = [_day(date) for _, date, _ in points]
    last = max(days)
    x = Axis("date", min(days), last + (last - min(days)) * SPARE)  # the last step ends before the edge
    dated = [(name, date[:10], day, value) for (name, date, value), day in zip(points, days, strict=True)]
    return _with_best(title, dated, (x, y), _months(x, points), "date")


def _months(x: Axis, points: Sequence[tuple[str, str, float]]) -> list[Label]:
    """The beginnings of months below an axis of dates, about five; the year stands at the first and at each January.

    Where there are fewer than two, they are days: of the first of the points, of the last and of some between.
    """
    across, _ = _scales(x, x)
    first, last = ceil(x.low / DAYS), floor(x.high / DAYS)
    step = next(one for one in (1, 2, 3, 6, 12, 24, 60, 120, 600) if (last - first) / one <= TICKS)
    shown = [month for month in range(first, last + 1) if (month - 1) % step == 0]
    if len(shown) < 2:  # one month is no scale
        begin, *_, end = sorted(date.fromisoformat(day[:10]) for _, day, _ in points)
        count = min(DATES, (end - begin).days + 1)
        dates = [begin + (end - begin) * place // (count - 1) for place in range(count)]
        return [
            (
                across(_day(day.isoformat())),
                f"{day.day} {_month(day.year * 12 + day.month, with_year=not place)}",
                anchor,
            )
            for place, day in enumerate(dates)
            for anchor in ["middle" if place else "start"]
        ]
    return [
        (across(month * DAYS), _month(month, with_year=not place or month % 12 == 1), "middle")
        for place, month in enumerate(shown)
    ]


def _month(month: int, *, with_year: bool) -> str:
    year, place = divmod(month - 1, 12)
    return f"{MONTHS[place]}{f' {year}' if with_year else ''}"


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
    return _with_best(title, shown, (x, y), labels, "size")


def _with_best(
    title: str,
    points: Sequence[tuple[str, str, float, float]],
    axes: tuple[Axis, Axis],
    labels: Sequence[Label],
    kind: str,
) -> Figure:
    """A dot for each (name, place as text, place, value) from the left, and the best value so far as a line.

    `kind` is the column of the board that has the places: its script finds the rows behind the dots by it.
    """
    x, y = axes
    across, up = _scales(x, y)
    best, line, rows, leaders = float("-inf"), "", list[tuple[str, str, str]](), list[tuple[str, float, float]]()
    for name, text, place, value in points:
        if value > best:
            line += f"M{across(place):.1f} {up(value):.1f}" if not line else f"H{across(place):.1f}V{up(value):.1f}"
            best = value
            rows.append((text, str(half_up(value, 2)), name))
            leaders.append((name, across(place), up(value)))
    places = [(across(place), up(value)) for _, _, place, value in points]
    named = _named(leaders, [*_apart(places), *_along([(right, high) for _, right, high in leaders])])
    drawn = f'{_dots(places)}<path class="best" d="{line}H{WIDTH - RIGHT}"/>{named}'
    scale = f' data-x="{kind}" data-low="{x.low}" data-high="{x.high}" data-least="{y.low}" data-most="{y.high}"'
    return Figure(title, _svg(title, x, y, drawn, labels, scale=scale), (x.title, y.title, "new best row"), rows)


def _along(steps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points on the line through steps, near enough that no name lies over it."""
    found = list[tuple[float, float]]()
    for (x, y), (right, high) in pairwise([*steps, (WIDTH - RIGHT, steps[-1][1])]):
        found += [(x + step, y) for step in range(0, int(right - x) + 1, LETTER)]
        found += [(right, y - step) for step in range(0, int(y - high) + 1, LETTER)]
    return found


# Where a name may stand, nearest its dot first: pixels above it, and the share of the name that lies left of it.
AROUND = [(above, share) for above in (8, 22, 36, 50, -18, -32, -46, 64, 80) for share in (0.0, 1.0, 0.5)]
ANCHORS = {0.0: "start", 0.5: "middle", 1.0: "end"}
Box = tuple[float, float, float, float]  # left, right, top and foot


def _named(leaders: Sequence[tuple[str, float, float]], taken: Sequence[tuple[float, float]]) -> str:
    """The names of the rows at the steps of a line, the best first, each whole and in free space, or left out.

    A line leads straight up or down to a name that is not beside its dot, and crosses no other name.
    """
    had, leads, drawn, said = list[Box](), list[Box](), list[str](), set[str]()
    for name, x, y in reversed(leaders):
        if name in said:  # a row that was the best twice
            continue
        shown = owner_and_name(name)[1]
        width = BOLD * len(shown)
        for above, share in AROUND:
            left, foot = x - share * width, y - above
            box = (left - 2, left + width + 2, foot - NAME + 2, foot + 3)
            is_far = abs(above) > NAME + 5
            near, far = sorted((y, foot + 2 if above > 0 else foot - NAME + 2))
            lead = (x - 2, x + 2, near, far)
            is_inside = left >= LEFT and left + width <= WIDTH - RIGHT and NAME <= foot < HEIGHT - BOTTOM
            is_crossing = any(_meet(box, one) for one in had + leads) or (
                is_far and any(_meet(lead, one) for one in had)
            )
            if not is_inside or is_crossing or any(_holds(box, dot) for dot in taken):
                continue
            line = f'<path class="lead-line" d="M{x:.0f} {near:.0f}V{far:.0f}"/>' if is_far else ""
            place = f'x="{x:.0f}" y="{foot:.0f}" text-anchor="{ANCHORS[share]}"'
            drawn.append(f'{line}<text class="name" {place}>{_text(shown)}</text>')
            had.append(box)
            said.add(name)
            leads += [lead] * is_far
            break
        if len(had) == NAMED:
            break
    return "".join(drawn)


def _holds(box: Box, dot: tuple[float, float]) -> bool:
    left, right, top, foot = box
    return left - 3 < dot[0] < right + 3 and top - 3 < dot[1] < foot + 3


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _dots(places: Iterable[tuple[float, float]], kind: str = "dots") -> str:
    """A dot at each place, to two pixels; dots that would cover each other are drawn once.

    Each is given by its way from the one left of it: a page with a thousand dots is smaller so.
    """
    shown = _apart(places)
    ways = [f"m{x - left} {y - above}h0" for (left, above), (x, y) in pairwise([(0, 0), *shown])]
    return f'<path class="{kind}" d="{"".join(ways)}"/>' if shown else ""


def _apart(places: Iterable[tuple[float, float]]) -> list[tuple[int, int]]:
    """Places to two pixels, each once, from the left."""
    return sorted({(2 * round(x / 2), 2 * round(y / 2)) for x, y in places})


def _day(date: str) -> float:
    """A number that orders and spaces dates well enough to draw: days since year 0, 31 in each month."""
    year, month, day = (int(part) for part in date[:10].split("-"))
    return (year * 12 + month) * DAYS + day - 1


def _scales(x: Axis, y: Axis, left: int = LEFT) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """From values to pixels, held inside of the frame."""

    def across(value: float) -> float:
        share = (value - x.low) / ((x.high - x.low) or 1)
        return left + min(1.0, max(0.0, share)) * (WIDTH - left - RIGHT)

    def up(value: float) -> float:
        share = (value - y.low) / ((y.high - y.low) or 1)
        return HEIGHT - BOTTOM - min(1.0, max(0.0, share)) * (HEIGHT - BOTTOM - TOP)

    return across, up


def _svg(title: str, x: Axis, y: Axis, drawn: str, labels: Sequence[Label] | None = None, *, scale: str = "") -> Markup:
    """The frame with the axes, and in it what is drawn; `labels` are those of an x axis that is not linear."""
    across, up = _scales(x, y)
    low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<path class="grid" d="M{LEFT} {up(tick):.1f}H{right}"/>'
        f'<text x="{LEFT - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{_number(tick)}</text>'
        for tick in _ticks(y)
        if y.title != COUNT or tick == int(tick)
    ]
    linear = [(across(tick), _number(tick), "middle") for tick in _ticks(x)]
    parts += [
        f'<text x="{at:.1f}" y="{low + 16}" text-anchor="{anchor}">{_text(text)}</text>'
        for at, text, anchor in (linear if labels is None else labels)
    ]
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{low}H{right}"/>')
    below, beside = _text(with_end(x.title, 2 * LONGEST_AXIS)), _text(with_end(y.title, LONGEST_AXIS))
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{below}</text>')
    side = f'x="14" y="{(TOP + low) / 2}" transform="rotate(-90 14 {(TOP + low) / 2})"'
    parts.append(f'<text {side} text-anchor="middle">{beside}</text>')
    ends = "; ".join(f"{axis.title}: {_number(axis.low)} to {_number(axis.high)}" for axis in (x, y))
    label = _text(f"{title}. {ends}." if labels is None else title)
    frame = f'<svg{scale} viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return Markup(f"{frame}{''.join(parts)}{drawn}</svg>")  # noqa: S704 - every text in it is escaped


def _text(text: str) -> str:
    return escape(visible(text))


def _number(value: float) -> str:
    """A number on an axis, with a minus sign where it is negative."""
    return f"{value:g}".replace("-", "−")


def _ticks(axis: Axis) -> list[float]:
    """Round values within an axis, about five of them."""
    span = axis.high - axis.low
    if span <= 0:
        return [axis.low]
    step = 10 ** floor(log10(span / TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= TICKS)
    first = ceil(axis.low / step)
    return [i * step for i in range(first, floor(axis.high / step) + 1)]
