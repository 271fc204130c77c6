"""The commands that manage the webhook at the Hub: create, update, delete, list."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.service import CONFIG
from bot.errors import CallError
from bot.reporting.escape import visible, without_commands
from bot.service.settings.environment import read_access, secret, settings_path

webhook = typer.Typer(help="Manage the webhook at the Hub.", no_args_is_help=True)


JOB_SECRETS = ("HF_TOKEN", "GITHUB_TOKEN", "DATABASE_URL")


def _watched(config: str | None) -> list[dict[str, str]]:
    """Return what the webhook must watch."""
    from bot.service.context import watched_by
    from bot.service.settings.config import open_settings

    return watched_by(open_settings(settings_path(config), read_access()))


def _wanted(config: str | None) -> tuple[list[dict[str, str]], str]:
    """Return what the webhook must watch, and its secret. Raises CallError if no secret is set."""
    given = secret("WEBHOOK_SECRET")
    if given is None:
        raise CallError("WEBHOOK_SECRET is not set: choose one, set it here and where `serve` runs")
    return _watched(config), given


@webhook.command("create")
def create_webhook(
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="The address of this service: https://…/webhooks/hub")
    ] = "",
    config: CONFIG = None,
    job: Annotated[
        str,
        typer.Option(
            "--job", metavar="ID", help="Start a copy of this HF Job instead, with the secrets that are set here."
        ),
    ] = "",
) -> None:
    """Create or renew the webhook at the Hub. It reports pushes, discussions and merges to this service."""
    from bot.platforms.hub.webhooks import create, create_for_job

    if bool(url) == bool(job):
        raise CallError("name the address of this service, https://…/webhooks/hub, or a job with --job ID")
    if job:
        found = {name: value for name in JOB_SECRETS if (value := secret(name)) is not None}
        if "HF_TOKEN" not in found:
            raise CallError("HF_TOKEN is not set: the job needs it, and the Hub does not copy the secrets of a job")
        typer.echo(without_commands(visible(create_for_job(read_access(), job, _watched(config), found))))
        return
    watched, given = _wanted(config)
    typer.echo(create(read_access(), url, watched, given))


@webhook.command("update")
def update_webhook(
    which: Annotated[
        str,
        typer.Argument(metavar="[WEBHOOK]", help="Its id or its address. Default: the only webhook of this service."),
    ] = "",
    config: CONFIG = None,
    url: Annotated[str, typer.Option("--url", help="The new address of the webhook.")] = "",
) -> None:
    """Update a webhook from the settings. A disabled webhook delivers again."""
    from bot.platforms.hub.webhooks import update

    watched, secret = _wanted(config)
    typer.echo(update(read_access(), which, url, watched, secret))


@webhook.command("delete")
def delete_webhook(
    which: Annotated[str, typer.Argument(metavar="WEBHOOK", help="Its id, or the address of all webhooks to delete.")],
) -> None:
    """Delete a webhook of this account at the Hub."""
    from bot.platforms.hub.webhooks import delete

    for line in delete(read_access(), which):
        typer.echo(without_commands(visible(line)))


@webhook.command("list")
def list_webhooks() -> None:
    """List the webhooks of this account at the Hub. It shows no secrets."""
    from bot.platforms.hub.webhooks import listed

    for line in listed(read_access()):
        typer.echo(without_commands(visible(line)))
