"""A group that imports a command when it is called or listed, so that each command loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from bot.processes import without_collector

Source = str | Callable[[], Any]


class LazyGroup(TyperGroup):
    """A group of the commands in `sources`, by name and in this order.

    A source is "module:attribute" of a function or a typer.Typer, or a function that returns one of them.
    """

    sources: ClassVar[Mapping[str, Source]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(self.sources)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return one command, None for an unknown name."""
        del ctx
        source = self.sources.get(cmd_name)
        return None if source is None else _command(cmd_name, _loaded(source))


def _loaded(source: Source) -> Any:
    if not isinstance(source, str):
        return source()
    module, _, attribute = source.partition(":")
    with without_collector():  # modules stay in memory: looking for garbage adds a twentieth to the import
        return getattr(import_module(module), attribute)


def _command(name: str, found: Any) -> Any:
    parent = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
        group: Any = typer.main.get_command(parent)
        return group.commands[name]
    parent.command(name)(found)
    return typer.main.get_command(parent)
