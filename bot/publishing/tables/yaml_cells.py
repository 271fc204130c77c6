"""Cells of a table as YAML scalars, and back."""

from __future__ import annotations

import re
from decimal import Decimal

import yaml

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, short
from bot.publishing.yaml_text import double_quoted, is_safe, single_quoted

PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
TAG = "tag:yaml.org,2002:"


def value_of(node: yaml.Node) -> Cell:
    """A scalar as a cell: a number where both YAML dialects read the same decimal; a collection becomes its type."""
    if not isinstance(node, yaml.ScalarNode):
        return f"a {node.tag.removeprefix(TAG)}"
    if node.style in {"'", '"', "|", ">"}:
        return str(node.value)
    kind = node.tag.removeprefix(TAG)
    if kind == "null":
        return None
    if kind == "bool" and node.value.lower() in {"true", "false"}:
        return str(node.value).lower() == "true"
    return Decimal(node.value) if PLAIN_NUMBER.fullmatch(node.value) else str(node.value)


def scalar(cell: Cell, model: yaml.Node | None) -> str:
    """A cell as a YAML scalar: quoted like the model scalar, plain where the model is plain and the text is safe."""
    if cell is ABSENT:
        raise Unwritable("a cell that is there cannot be left out again")
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, Decimal):
        return short(cell)
    style = model.style or "" if isinstance(model, yaml.ScalarNode) else "'"
    is_date = model is not None and DATE.fullmatch(cell) and DATE.fullmatch(str(model.value))
    if not style and (is_date or is_safe(cell)):
        return cell
    return double_quoted(cell) if style == '"' else single_quoted(cell)
