"""Safe parsing of YAML with the positions of all nodes, and texts that every YAML reader understands alike.

Two dialects are in use: PyYAML reads YAML 1.1, in which `yes` is true and `12:30` is 750; most others read 1.2, in
which `12e4567` is infinite. What we write must be the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from bot.errors import Unwritable

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Control characters, and line ends that YAML 1.1 and 1.2 treat differently.
ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
DEEPEST = 100
MOST_NODES = 2_000_000  # after all aliases are expanded
PIECE = 50  # letters of a text that count as much as one more node
# Words and names that no dialect reads as anything but text, and that no indicator ends.
PLAIN_TEXT = re.compile(r"[A-Za-z][\w./+-]*( [\w./+()-]+)*", re.ASCII)
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"})


FENCES = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?=\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def compose(text: str) -> yaml.Node:
    """The node tree of a text of one document, merge keys left as they are. Raises Unwritable."""
    if ODD.search(text):
        raise Unwritable("it holds characters that YAML readers treat differently")
    try:
        _check_depth(text)
        root = yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        raise Unwritable(f"it is not valid YAML: {' '.join(str(error).split())}") from None
    if root is None:
        raise Unwritable("it is empty")
    try:
        heavy = _weight(root, {}) > MOST_NODES
    except RecursionError:
        heavy = True
    if heavy:
        raise Unwritable("its aliases expand to too many nodes")
    return root


def load(text: str) -> Any:
    """The values of a text of one document, as PyYAML gives them. Raises Unwritable."""
    compose(text)
    try:
        found = yaml.load(text, Loader=LOADER)  # noqa: S506 - both loaders are safe
        repr(found)  # an integer that is not decimal may have more digits than Python writes
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unwritable(f"PyYAML does not read it: {' '.join(str(error).split())}") from None
    return found


def _check_depth(text: str) -> None:
    """Raise Unwritable for deep nesting, which would crash the parser in C and with it the process."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise Unwritable(f"it is nested more than {DEEPEST} deep")


def _weight(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of nodes with all aliases expanded; recurses without end where a node contains itself.

    A long text counts as several nodes: each alias repeats it in the output.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1 + len(node.value) // PIECE
    if id(node) not in known:
        inner = (each for pair in node.value for each in (pair if isinstance(pair, tuple) else (pair,)))
        known[id(node)] = 1 + sum(_weight(each, known) for each in inner)
    return known[id(node)]


def entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """The keys as texts and the values of a mapping; nothing for any other node."""
    if isinstance(node, yaml.MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)


def is_flow(node: yaml.Node) -> bool:
    """Tell whether a collection is written between brackets."""
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def end_of(text: str, node: yaml.Node) -> int:
    """The end of a node's text; the parser's own end mark of a block includes the white space after it."""
    if isinstance(node, yaml.CollectionNode) and not is_flow(node) and node.value:
        last = node.value[-1]
        return end_of(text, last[1] if isinstance(last, tuple) else last)
    end = node.end_mark.index
    return len(text[:end].rstrip()) if isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"} else end


def double_quoted(text: str) -> str:
    """A text of one printable line between double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def single_quoted(text: str) -> str:
    """A text of one printable line between single quotes, where only the quote is special."""
    return "'" + text.replace("'", "''") + "'"


def is_safe(text: str) -> bool:
    """Tell whether a text needs no quotes in any dialect."""
    return PLAIN_TEXT.fullmatch(text) is not None and text.lower() not in WORDS


def front_matter(text: str) -> tuple[int, int] | None:
    """Where the YAML of a card begins and ends, None if the card has none."""
    found = FENCES.match(text)
    return None if found is None else found.span(1)
