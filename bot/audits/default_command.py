"""A command group with a default: arguments that name no command go to it."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


def default_to(command: str) -> type[TyperGroup]:
    """A group that takes a first argument which names no command as one of `command`."""

    class DefaultGroup(TyperGroup):
        """The group with its default."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Put the name of the default command before an argument or an option of its own."""
            if args and args[0] not in {*self.commands, "--help", "-h"}:
                args.insert(0, command)
            return super().parse_args(ctx, args)

    return DefaultGroup
