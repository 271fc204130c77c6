"""Write text, tables and charts as one self-contained HTML page, which makes no request; everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.reporting.chart import Chart
from bot.reporting.table import Table, short

Block = str | Table | Chart


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and charts below it."""

    heading: str
    blocks: Sequence[Block]


def page(title: str, lead: str, sections: Sequence[Section], *, foot: str = "") -> str:
    """Return a whole HTML document; every string is text, never markup.

    Numbers are on the right, with four significant digits, and in full as a tooltip. Below each chart a closed section
    has its numbers as a table.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("bot.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    return environment.get_template("report.html").render(title=title, lead=lead, sections=sections, foot=foot)
