"""Variants of one story: `make test` tells it in some of them, `make test-slow` in the others."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def one_of(values: Iterable[Any]) -> list[Any]:
    """Values for a parameter, or tuples for several, of which the first stands for all in `make test`."""
    first, *others = values
    return [first, *(pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=SLOW) for each in others)]


def crossed(**axes: Iterable[Any]) -> pytest.MarkDecorator:
    """Every combination; in `make test` so many that each value of each parameter stands in one."""
    lists = {name: list(values) for name, values in axes.items()}
    length = max(map(len, lists.values()))
    quick = [tuple(values[place % len(values)] for values in lists.values()) for place in range(length)]
    rows = [pytest.param(*row, marks=() if row in quick else SLOW) for row in product(*lists.values())]
    return pytest.mark.parametrize(tuple(lists), rows)


SLOW = pytest.mark.slow
