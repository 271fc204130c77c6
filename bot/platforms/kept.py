"""A property that is computed once: `functools.cached_property` without its lock.

Python 3.11 holds one lock for a property of all instances while it is worked out, so that threads wait for each other's
requests; Python 3.12 dropped it. Two threads at one instance may both work it out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class kept_property(Generic[T]):  # noqa: N801 - a decorator, as `property` is
    """The value that a method gave the first time; `del` of the attribute forgets it."""

    def __init__(self, method: Callable[[Any], T]) -> None:
        self.method, self.name, self.__doc__ = method, "", method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object, owner: type | None = None) -> T | Self:
        if instance is None:
            return self
        value = self.method(instance)
        instance.__dict__[self.name] = value  # found before this descriptor from now on
        return value
