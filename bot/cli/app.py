"""The command line. Results go to standard output, everything else to standard error.

Exit status: 0 nothing wrong, 1 a submission or a row has an error, 2 the call or a declaration is wrong, 3 a service
could not be reached, 4 a service refused, 70 an internal error.
"""

from __future__ import annotations

import errno
import logging
import sys
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot import HOME, __version__
from bot.cli.processes import without_collector
from bot.errors import BotError, CallError
from bot.reporting.escape import visible, without_commands
from bot.reporting.log_lines import log_handler
from bot.service.settings.environment import log_format


def _command(name: str) -> Any:
    module, _, attribute = SOURCES[name].partition(":")
    with without_collector():  # modules stay in memory: looking for garbage adds a twentieth to the import
        found = getattr(import_module(module), attribute)
    parent = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
        group: Any = typer.main.get_command(parent)
        return group.commands[name]
    parent.command(name, context_settings={"allow_extra_args": name in TELLS_EXTRA})(found)
    return typer.main.get_command(parent)


TELLS_EXTRA = {"init"}  # commands that say themselves what to do about an argument too many
WINDOWS = (
    "leaderboard-bot runs on Linux and macOS; on Windows, install it in WSL (https://learn.microsoft.com/windows/wsl)"
)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a disk, the share of an account, or what one file may have
GROUPS = {
    "Your results": {
        "check": "bot.cli.results:check",
        "score": "bot.cli.results:score",
        "explain": "bot.cli.results:explain",
        "compare": "bot.cli.compare:compare_measurements",
        "publish": "bot.cli.publish:publish",
        "remeasure": "bot.cli.remeasure:remeasure",
        "export": "bot.cli.export:export",
    },
    "Your board": {
        "init": "bot.cli.init:init",
        "settle": "bot.cli.service:settle",
        "board": "bot.cli.leaderboards:board",
        "site": "bot.cli.leaderboards:site",
        "verify": "bot.cli.checks:verify",
        "status": "bot.cli.service:status",
        "doctor": "bot.cli.checks:doctor",
    },
    "The service": {
        "serve": "bot.cli.service:serve",
        "work": "bot.cli.service:work",
        "webhook": "bot.cli.webhooks:webhook",
        "import": "bot.cli.publish:import_board",
        "rescore": "bot.cli.service:rescore",
    },
    "Look up": {
        "rules": "bot.cli.leaderboards:rules",
        "leaderboards": "bot.cli.leaderboards:leaderboards",
        "audit": "bot.cli.audits:audit",
    },
}
"""All commands in the order of the help: module and name of a function, or of a typer.Typer."""
SOURCES = {name: source for commands in GROUPS.values() for name, source in commands.items()}


class Commands(TyperGroup):
    """All commands, each imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(SOURCES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return one command, None for an unknown name."""
        del ctx
        return _command(cmd_name) if cmd_name in SOURCES else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; of an unknown name, say which is like it."""
        if args and args[0] not in SOURCES:
            from difflib import get_close_matches

            if near := get_close_matches(args[0], SOURCES, 1):
                ctx.fail(f"No such command {args[0]!r}: is it {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in their groups."""
        widest = max(map(len, SOURCES))
        for title, commands in GROUPS.items():
            found = {name: self.get_command(ctx, name) for name in commands}
            limit = formatter.width - 6 - widest
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{widest}}", command.get_short_help_str(limit)) for name, command in found.items()]
                )


app = typer.Typer(
    name="leaderboard-bot",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - the form that typer calls
    if asked:
        typer.echo(f"leaderboard-bot {__version__}")
        raise typer.Exit


@app.callback()
def call(
    *,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of an internal error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Check, score and publish evaluation results of language models."""
    del traceback, version  # read by run and by _version


def run() -> None:
    """Run the command line. A failure becomes one line and an exit status; `--traceback` shows the traceback, too."""
    _open_streams()
    if sys.platform == "win32":
        _fail(WINDOWS, 2)
    try:
        handler = log_handler(log_format())
        handler.addFilter(_without_traceback)
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
        _refuse_empty(sys.argv[1:])
        app()
    except BotError as error:
        _fail(str(error), error.status)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except Exception as error:
        if "--traceback" in sys.argv:
            raise
        if isinstance(error, OSError) and error.errno in FULL:
            sys.stdout = StringIO()  # the rest of the output would not be written either
            _fail(f"{error.filename or 'the output'}: cannot be written: {error.strerror}", 2)
        _fail(
            f"internal error: {type(error).__name__}: {error}. Put --traceback before the name of the command, and "
            f"report it at {HOME}/issues",
            70,
        )


def _refuse_empty(arguments: list[str]) -> None:
    """Refuse an empty value, as an unset variable leaves it: the option would count as not given."""
    if any(not one or (one.startswith("--") and one.endswith("=")) for one in arguments):
        raise CallError("an argument is empty: write a value, or leave the option out")


def _without_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback of a fault of ours that stopped one thing; the log of a service keeps it."""
    if "--traceback" not in sys.argv and logging.getLogger().level > logging.INFO:
        record.exc_info = None
    return True


def _open_streams() -> None:
    """Make sure that neither an unusual character nor a closed stream makes a write fail."""
    sys.stdout = sys.stdout or StringIO()
    sys.stderr = sys.stderr or StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str, status: int) -> None:
    """Write each line of a failure, and end with its status."""
    for line in filter(None, map(str.strip, message.splitlines())):
        sys.stderr.write(f"leaderboard-bot: {without_commands(visible(' '.join(line.split())))}\n")
    sys.exit(status)
