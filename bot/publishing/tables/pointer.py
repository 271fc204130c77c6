"""Pointers to the rows inside of a JSON or YAML file: RFC 6901, with `[name=Verified]` to pick an item of a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bot.errors import Unwritable

STEP = re.compile(r"([^\[\]]*)(?:\[([^=\[\]]+)=([^\[\]]*)\])?")
Names = tuple[str | int, ...]
Node = TypeVar("Node")


def follow(
    root: Node,
    pointer: str,
    children: Callable[[Node], Iterable[tuple[str | int, Node]]],
    text_of: Callable[[Node], str | None],
) -> tuple[Node, Names]:
    """What a pointer refers to, and the keys on the way to it; `children` gives the keys and values of a node.

    Raises Unwritable if the pointer is invalid, or refers to nothing, or to more than one value.
    """
    here, names = root, []
    for step in pointer.split("/")[1:]:
        found = STEP.fullmatch(step)
        if found is None:
            raise Unwritable(f"{pointer!r} is not a JSON pointer with selectors such as [name=Verified]")
        name, column, wanted = found.groups()
        if name:
            plain = name.replace("~1", "/").replace("~0", "~")
            key, here = _only([each for each in children(here) if str(each[0]) == plain], pointer)
            names.append(key)
        if column is not None:
            rows = [each for each in children(here) if isinstance(each[0], int)]
            said = [{str(name): text_of(value) for name, value in children(row)}.get(column) for _, row in rows]
            key, here = _only([row for row, text in zip(rows, said, strict=True) if text == wanted], pointer)
            names.append(key)
    return here, tuple(names)


def _only(found: list[tuple[str | int, Node]], pointer: str) -> tuple[str | int, Node]:
    if len(found) != 1:
        raise Unwritable(f"{pointer!r} names {len(found) or 'nothing'} in the file, and not one list of rows")
    return found[0]


def rows_at(value: Any, names: Names) -> list[Any]:
    """The rows at the end of a path in a value from the usual reader; rows of an object with their names.

    Raises Unwritable if there are no rows.
    """
    try:
        for name in names:
            value = value[name]
    except (KeyError, IndexError, TypeError):
        raise Unwritable("the format's usual reader does not see rows there") from None
    return list(value.items()) if isinstance(value, dict) else list(value)
