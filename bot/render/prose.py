"""The sections of a page in, the same as plain text or as Markdown out; a chart becomes its table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import fill

from bot.render.chart import Chart, Table
from bot.render.escape import visible
from bot.render.page import Section
from bot.render.table import markdown_table, text_table

WIDTH = 100
# Whatever Markdown, HTML or a forge would read as more than text.
SPECIAL = re.compile(r"[\\`*_{}\[\]()#+!|~]")
ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"})


def text(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return plain text for a terminal."""
    heads = (f"{visible(part.heading)}\n{'-' * len(visible(part.heading))}" for part in sections)
    bodies = (_blocks(part, _paragraph, text_table) for part in sections)
    parts = [visible(title), _paragraph(lead), *(f"{head}\n{body}" for head, body in zip(heads, bodies, strict=True))]
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return Markdown in which every string given is text."""
    parts = [f"## {escaped(title)}", escaped(lead)]
    parts += [f"### {escaped(part.heading)}\n\n{_blocks(part, escaped, markdown_table)}" for part in sections]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(value: str) -> str:
    """Return text as Markdown that reads as that text, in one line."""
    return SPECIAL.sub(r"\\\g<0>", visible(value)).translate(ENTITIES)


def _blocks(part: Section, words: Callable[[str], str], table: Callable[[Table], str]) -> str:
    shown = (block.table if isinstance(block, Chart) else block for block in part.blocks)
    return "\n\n".join(table(block) if isinstance(block, Table) else words(block) for block in shown)


def _paragraph(value: str) -> str:
    return fill(visible(value), WIDTH, break_long_words=False, break_on_hyphens=False)
