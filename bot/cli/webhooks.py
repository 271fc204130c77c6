"""The commands about the webhook at the Hub: create, update, delete, list."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.service import CONFIG
from bot.errors import CallError
from bot.service.environment import read_access, settings_path, webhook_secret

webhook = typer.Typer(help="The webhook at the Hub that tells of pushes.", no_args_is_help=True)


def _wanted(config: str | None) -> tuple[list[dict[str, str]], str]:
    """What the webhook shall watch, and its secret. Raises CallError where none is set."""
    from bot.service.config import load_settings
    from bot.service.context import watched_by

    secret = webhook_secret()
    if secret is None:
        raise CallError("WEBHOOK_SECRET is not set: choose one, set it here and where `serve` runs")
    return watched_by(load_settings(settings_path(config))), secret


@webhook.command("create")
def create_webhook(
    url: Annotated[str, typer.Argument(help="Where the Hub shall deliver: https://…/webhooks/hub")],
    config: CONFIG = None,
) -> None:
    """Make the webhook at the Hub that tells this service of pushes, discussions and merges, or renew it."""
    from bot.platforms.hub.webhooks import create

    watched, secret = _wanted(config)
    typer.echo(create(read_access(), url, watched, secret))


@webhook.command("update")
def update_webhook(
    which: Annotated[
        str, typer.Argument(metavar="[WEBHOOK]", help="Its id or its address; the only one of ours.")
    ] = "",
    config: CONFIG = None,
    url: Annotated[str, typer.Option("--url", help="Where the Hub shall deliver from now on.")] = "",
) -> None:
    """Bring a webhook to the settings: its repositories, its secret, its address; a disabled one delivers again."""
    from bot.platforms.hub.webhooks import update

    watched, secret = _wanted(config)
    typer.echo(update(read_access(), which, url, watched, secret))


@webhook.command("delete")
def delete_webhook(
    which: Annotated[str, typer.Argument(metavar="WEBHOOK", help="Its id, or its address for all that have it.")],
) -> None:
    """Delete a webhook of this account at the Hub."""
    from bot.platforms.hub.webhooks import delete

    for line in delete(read_access(), which):
        typer.echo(line)


@webhook.command("list")
def list_webhooks() -> None:
    """Show the webhooks of this account at the Hub; their secrets are not shown."""
    from bot.platforms.hub.webhooks import listed

    for line in listed(read_access()):
        typer.echo(line)
