"""Draw charts as SVG that can be read in light and dark, each with a table of the same numbers.

All charts look alike. The colours are middle tones with enough contrast on white and on near-black, and there is no
background, so a chart can be read wherever it is shown; a style inside the SVG adapts the text to the reader's colour
scheme where style sheets work. Altair describes a chart and vl-convert draws it; both come with the extra `charts` and
are imported only when something is drawn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.errors import CallError
from bot.reporting.table import Cell, Table, short

# Middle tones: contrast at least 3:1 (marks) and 4:1 (ink) on white and on #0d1117; tests compute it.
INK = "#767b83"
GRID = "#8b929b"
PALETTE = ("#2f7dd1", "#d4671a", "#23936b", "#9a66d8", "#c94f7c", "#8a7a1e", "#1f8fa8", "#a3683f")
INK_LIGHT, INK_DARK = "#24292f", "#e6edf3"
WIDTH, ROW_HEIGHT = 560, 22
INSTALL = "charts need one extra: pip install 'leaderboard-bot[charts]'"


@dataclass(frozen=True)
class Chart:
    """A chart: its title, the SVG (a whole document), and a table of the same data."""

    title: str
    svg: str
    table: Table


@dataclass(frozen=True)
class ChartAxis:
    """An axis: its title with the unit, and its domain, None for that of the data."""

    title: str
    domain: tuple[float, float] | None = None


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot; `label` is written beside it, `group` decides its colour."""

    name: str
    x: float
    y: float
    group: str = ""
    label: str = ""


@dataclass(frozen=True)
class ChartText:
    """Title and subtitle of a chart, and the caption of its table."""

    title: str
    subtitle: str = ""
    caption: str = ""
    groups: tuple[str, ...] = field(default=())


def altair() -> Any:
    """Return the module altair. Raises CallError, which says how to install it, if the extra is missing."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError as absent:
        raise CallError(INSTALL) from absent
    return alt


def bars(text: ChartText, rows: Sequence[tuple[str, float]], axis: ChartAxis, *, name: str = "name") -> Chart:
    """Draw one horizontal bar for each (name, value), in this order, with the value at its end."""
    alt = altair()
    data = [{"name": plain(row), "value": value, "text": short(value)} for row, value in rows]
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("name:N", sort=[row["name"] for row in data], title=None),
        x=alt.X("value:Q", **scale(alt, axis)),
    )
    drawn = base.mark_bar(color=PALETTE[0]) + base.mark_text(align="left", dx=4, color=INK).encode(text="text:N")
    table = Table((name, axis.title), tuple(rows), text.caption)
    return finish(drawn, text, table, height=ROW_HEIGHT * max(1, len(data)))


def intervals(text: ChartText, rows: Sequence[tuple[str, float, float, float]], axis: ChartAxis) -> Chart:
    """Draw a line from low to high with a point at the value, for each (name, low, value, high)."""
    alt = altair()
    keys = ("name", "low", "value", "high")
    data = [dict(zip(keys, (plain(row[0]), *row[1:]), strict=True)) for row in rows]
    y = alt.Y("name:N", sort=[row["name"] for row in data], title=None)
    base = alt.Chart(alt.Data(values=data)).encode(y=y)
    lines = base.mark_rule(color=PALETTE[0], strokeWidth=3).encode(
        x=alt.X("low:Q", **scale(alt, axis)), x2=alt.X2("high:Q")
    )
    points = base.mark_point(color=PALETTE[1], filled=True, size=70, opacity=1).encode(x="value:Q")
    table = Table(("name", "low", "value", "high"), tuple(rows), text.caption)
    return finish(lines + points, text, table, height=ROW_HEIGHT * max(1, len(data)))


def histogram(
    text: ChartText, values: Iterable[float], axis: ChartAxis, *, low: float, width: float, bins: int
) -> Chart:
    """Count values in `bins` bins of one width from `low`; values outside count in the first and the last bin."""
    alt = altair()
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, int((value - low) / width)))] += 1
    edges = [(low + i * width, low + (i + 1) * width, count) for i, count in enumerate(counts)]
    data = [{"from": start, "to": end, "count": count} for start, end, count in edges]
    drawn = (
        alt.Chart(alt.Data(values=data))
        .mark_bar(color=PALETTE[0], binSpacing=1)
        .encode(
            x=alt.X("from:Q", bin="binned", **scale(alt, axis)),
            x2=alt.X2("to:Q"),
            y=alt.Y("count:Q", title="count"),
        )
    )
    return finish(drawn, text, Table(("from", "to", "count"), tuple(edges), text.caption))


def scatter(text: ChartText, points: Sequence[Point], x: ChartAxis, y: ChartAxis) -> Chart:
    """Draw the points, with a legend where there are groups, in the order of `text.groups`."""
    alt = altair()
    data = [{"x": point.x, "y": point.y, "group": plain(point.group), "label": plain(point.label)} for point in points]
    base = alt.Chart(alt.Data(values=data)).encode(x=alt.X("x:Q", **scale(alt, x)), y=alt.Y("y:Q", **scale(alt, y)))
    marks = base.mark_point(filled=True, size=45, opacity=0.85).encode(color=colour(alt, text, data))
    drawn = marks + base.mark_text(align="left", dx=6, dy=-5, color=INK).encode(text="label:N")
    columns: tuple[str, ...] = ("name", x.title, y.title, "group")
    rows: list[tuple[Cell, ...]] = [(point.name, point.x, point.y, point.group) for point in points]
    if not any(point.group for point in points):
        rows, columns = [row[:3] for row in rows], columns[:3]
    return finish(drawn, text, Table(columns, tuple(rows), text.caption), height=360)


def slopes(text: ChartText, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[int]]]) -> Chart:
    """Draw one line for each (name, its rank in each column), with rank 1 on top and the names at both ends."""
    alt = altair()
    names, shown = [plain(name) for name, _ in rows], [plain(column) for column in columns]
    data = [
        {"column": column, "rank": rank, "name": name}
        for name, (_, ranks) in zip(names, rows, strict=True)
        for column, rank in zip(shown, ranks, strict=True)
    ]
    last = max((max(ranks) for _, ranks in rows), default=1)
    across = alt.X(
        "column:N",
        sort=shown,
        title=None,
        scale=alt.Scale(padding=0.9),
        axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False),
    )
    line = alt.Color("name:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE)), legend=None)
    base = alt.Chart(alt.Data(values=data)).encode(x=across, y=_ranks(alt, last, names, len(columns)), color=line)
    ends = [
        base.properties(data=alt.Data(values=_ends(data, shown[i])))
        .mark_text(align=align, dx=dx)
        .encode(text="names:N")
        for i, align, dx in ((0, "right", -10), (-1, "left", 10))
    ]
    drawn = alt.layer(base.mark_line(strokeWidth=2.5), base.mark_point(filled=True, size=60, opacity=1), *ends)
    table = Table(("name", *columns), tuple((name, *ranks) for name, ranks in rows), text.caption)
    return finish(drawn, text, table, height=max(160, 30 * last))


def _ranks(alt: Any, last: int, names: Sequence[str], columns: int) -> Any:
    """Return the axis of ranks, far enough to the left for the longest name."""
    room = WIDTH * 0.9 / (columns + 0.8)
    offset = max(0.0, 6.8 * max(map(len, names), default=0) + 20 - room)
    axis = alt.Axis(values=list(range(1, last + 1)), format="d", grid=False, domain=False, ticks=False, offset=offset)
    return alt.Y("rank:Q", title="rank (1 is best)", scale=alt.Scale(domain=[last + 0.5, 0.5], nice=False), axis=axis)


def _ends(data: Sequence[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Return one label for each rank of a column; models that share a rank share the label."""
    by_rank: dict[int, list[dict[str, Any]]] = {}
    for row in data:
        if row["column"] == column:
            by_rank.setdefault(row["rank"], []).append(row)
    return [{**rows[0], "names": ", ".join(row["name"] for row in rows)} for rows in by_rank.values()]


def scale(alt: Any, axis: ChartAxis) -> dict[str, Any]:
    """Return title and scale of an axis as keyword arguments of an encoding."""
    if axis.domain is None:
        return {"title": plain(axis.title)}
    return {"title": plain(axis.title), "scale": alt.Scale(domain=list(axis.domain))}


def colour(alt: Any, text: ChartText, data: Sequence[dict[str, Any]]) -> Any:
    """Return the colour of the marks: one for all, or one for each group with a legend."""
    groups = [plain(group) for group in text.groups] or sorted({row["group"] for row in data})
    if len(groups) < 2:
        return alt.value(PALETTE[0])
    return alt.Color("group:N", sort=groups, title=None, scale=alt.Scale(domain=groups, range=list(PALETTE)))


def finish(drawn: Any, text: ChartText, table: Table, *, height: int = 260) -> Chart:
    """Draw a chart with the common look, and add its table."""
    alt = altair()
    title = alt.TitleParams(plain(text.title), subtitle=plain(text.subtitle) if text.subtitle else alt.Undefined)
    whole = drawn.properties(width=WIDTH, height=height, title=title).configure(**look())
    return Chart(text.title, draw(whole.to_dict()), table)


def look() -> dict[str, Any]:
    """Return the Vega-Lite configuration that all charts share."""
    return {
        "background": "transparent",
        "font": "Helvetica, Arial, sans-serif",
        "title": {
            "anchor": "start",
            "color": INK,
            "fontSize": 15,
            "subtitleColor": INK,
            "subtitleFontSize": 12,
        },
        "axis": {
            "labelColor": INK,
            "titleColor": INK,
            "domainColor": GRID,
            "tickColor": GRID,
            "gridColor": GRID,
            "gridOpacity": 0.25,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 300,
        },
        "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "orient": "bottom"},
        "text": {"fontSize": 12},
        "view": {"stroke": None},
    }


def draw(spec: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite specification; drawing makes no request, and the ids in it are unique."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    mark = "c" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'(\bid="|url\(#)', rf"\g<1>{mark}-", svg)
    return re.sub(r"(<svg\b[^>]*>)", rf"\1{STYLE}", svg, count=1)


STYLE = (
    f'<style>@media (prefers-color-scheme:light){{[fill="{INK}"]{{fill:{INK_LIGHT}}}}}'
    f'@media (prefers-color-scheme:dark){{[fill="{INK}"]{{fill:{INK_DARK}}}}}</style>'
)


def plain(text: str) -> str:
    """Return text as one line of at most 80 characters, without what XML forbids."""
    seen = "".join(letter if letter.isprintable() else " " for letter in text)
    return seen if len(seen) <= 80 else seen[:79] + "…"
