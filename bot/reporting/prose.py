"""Write the sections of a report as plain text or as Markdown; everything is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import fill

from bot.reporting.escape import visible
from bot.reporting.table import Table, markdown_table, table_width, text_table

Block = str | Table


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs and tables below it."""

    heading: str
    blocks: Sequence[Block]


# Whatever Markdown, HTML or GitHub would read as more than text.
SPECIAL = re.compile(r"[\\`*_{}\[\]()#+!|~]")
ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"})


def text(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return plain text whose paragraphs and tables fit the terminal, and are at most 100 columns wide."""
    parts = [visible(title), _paragraph(lead)]
    for part in sections:
        heading = visible(part.heading)
        parts.append(f"{heading}\n{'-' * min(table_width(), len(heading))}\n{_blocks(part, _paragraph, text_table)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return Markdown in which every string given is text."""
    parts = [f"## {escaped(title)}", escaped(lead)]
    parts += [f"### {escaped(part.heading)}\n\n{_blocks(part, escaped, markdown_table)}" for part in sections]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(value: str) -> str:
    """Return text as Markdown that reads as that text, in one line."""
    return SPECIAL.sub(r"\\\g<0>", visible(value)).translate(ENTITIES)


def _blocks(part: Section, paragraph: Callable[[str], str], table: Callable[[Table], str]) -> str:
    return "\n\n".join(table(block) if isinstance(block, Table) else paragraph(block) for block in part.blocks)


def _paragraph(value: str) -> str:
    return fill(visible(value), table_width(), break_long_words=False, break_on_hyphens=False)
