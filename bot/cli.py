"""The command line: a call in, an exit status out. Results go to standard output, everything else to standard error.

Exit status: 0 nothing wrong, 1 a submission has an error, 2 the call or a declaration is wrong, 3 a service could not
be reached, 4 a service refused, 70 a fault of ours.
"""

from __future__ import annotations

import sys
from io import StringIO, TextIOWrapper
from typing import Annotated

import typer

from bot import HOME, __version__
from bot.cli_audit import audit
from bot.cli_leaderboards import board, leaderboards, rules
from bot.cli_results import check, explain, score
from bot.cli_results import publish as publish_command
from bot.cli_service import serve, settle, webhook
from bot.errors import BotError
from bot.render.escape import visible

app = typer.Typer(
    name="leaderboard-bot",
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
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where a fault of ours comes from.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say it.")] = False,
) -> None:
    """Check, score and publish evaluation results of language models."""
    del traceback, version  # read by main and by _version


app.command()(check)
app.command()(score)
app.command()(explain)
app.command("publish")(publish_command)
app.command()(board)
app.command()(rules)
app.command()(leaderboards)
app.command()(settle)
app.command()(serve)
app.add_typer(webhook, name="webhook")
app.add_typer(audit, name="audit")


def main() -> None:
    """Run the command line; every failure is one line and a status, never a traceback that nobody asked for."""
    _open_streams()
    try:
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
        _fail(f"a fault of ours, {type(error).__name__}: {error}; --traceback shows where, {HOME}/issues hears it", 70)


def _open_streams() -> None:
    """Let writing fail on no letter, and on no stream that the caller has closed."""
    sys.stdout = sys.stdout or StringIO()
    sys.stderr = sys.stderr or StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str, status: int) -> None:
    line = " ".join(message.split())
    sys.stderr.write(f"leaderboard-bot: {visible(line)}\n")
    sys.exit(status)
