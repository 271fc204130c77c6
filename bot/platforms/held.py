"""A check before each write: a process that lost its lease on a watch writes nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())


@contextmanager
def held_by(check: Callable[[], None]) -> Iterator[None]:
    """Have `check` called before each write of this block; it raises LeaseLost where another process may write."""
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)


def check_held() -> None:
    """See that this process may still write. Raises LeaseLost."""
    for check in _checks.get():
        check()
