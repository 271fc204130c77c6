"""Write text, tables and charts as one self-contained HTML page, which makes no request; everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bot.reporting.chart import Chart
from bot.reporting.table import Cell, Table, short

Block = str | Table | Chart

# The page may use its own styles and pictures and nothing else: no script, no request, no form.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
STYLE = """
:root{color-scheme:light dark;--ink:#24292f;--paper:#fff;--line:#d0d7de;--soft:#57606a}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--line:#3d444d;--soft:#9198a1}}
body{font:16px/1.5 Helvetica,Arial,sans-serif;color:var(--ink);background:var(--paper);
max-width:60rem;margin:2rem auto;padding:0 1rem}
h1,h2{line-height:1.2}h2{margin-top:2.5rem}svg{max-width:100%;height:auto}
figure{margin:1rem 0}details{margin:.5rem 0}summary,caption{color:var(--soft)}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}caption{text-align:left}
.wide{overflow-x:auto}td,th{border-bottom:1px solid var(--line);padding:.25rem .6rem;text-align:left}
td.n{text-align:right}td{overflow-wrap:anywhere}footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
""".strip().replace("\n", "")


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and charts below it."""

    heading: str
    blocks: Sequence[Block]


def page(title: str, lead: str, sections: Sequence[Section], *, foot: str = "") -> str:
    """Return a whole HTML document; every string is text, never markup."""
    body = "".join(section(part) for part in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>"
        f"<h1>{escape(title)}</h1>{paragraph(lead)}{body}</main>"
        f"<footer>{escape(foot)}</footer></body></html>\n"
    )


def section(part: Section) -> str:
    """Return one section of the page."""
    return f"<section><h2>{escape(part.heading)}</h2>{''.join(map(block, part.blocks))}</section>\n"


def block(part: Block) -> str:
    """Return a paragraph, a table, or a chart with its table in a closed section below it."""
    if isinstance(part, str):
        return paragraph(part)
    if isinstance(part, Table):
        return table(part)
    numbers = f"<details><summary>Show the numbers</summary>{table(part.table)}</details>"
    return f"<figure>{part.svg}{numbers}</figure>"


def paragraph(text: str) -> str:
    """Return a paragraph, "" for no text."""
    return f"<p>{escape(text)}</p>" if text else ""


def table(content: Table) -> str:
    """Return a table; numbers are on the right, with four significant digits, and in full as a tooltip."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in content.columns)
    rows = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in content.rows)
    caption = f"<caption>{escape(content.caption)}</caption>" if content.caption else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def cell(value: Cell) -> str:
    """Return one cell."""
    if value is None:
        return "<td>-</td>"
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="n" title="{value!r}">{short(value)}</td>'
