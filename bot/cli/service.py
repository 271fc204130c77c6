"""The commands of the service: settle, rescore, serve, work."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.errors import CallError
from bot.reporting.escape import plain_json, visible, without_commands
from bot.service.settings.environment import (
    database_url,
    is_shared,
    read_access,
    secret,
    settings_path,
)
from bot.service.waits import LEASE_PATIENCE, PATTERNS_EVERY, STOP_PATIENCE

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bot.server.service import Service
    from bot.service.jobs.queue import Jobs
    from bot.service.settings.config import Settings
    from bot.service.watch.outcome import WatchPass

WATCH = Annotated[str, typer.Option("--watch", "-w", help="Only this watch.")]
FORMAT = Annotated[Literal["text", "json"], typer.Option("--format", help="The output format.")]
DRY_RUN = Annotated[bool, typer.Option("--dry-run", help="Show the plan of every target, and do nothing.")]
CONFIG = Annotated[str | None, typer.Option("--config", "-c", help="The settings file. Default: bot.toml.")]


def need_extra(name: str) -> None:
    """Check that the extra `server` is installed. Raises CallError if it is not."""
    if find_spec("sqlalchemy") is None or find_spec("starlette") is None:
        raise CallError(f"{name} needs the extra `server`: pip install 'leaderboard-bot[server]'")


def checked_settings(config: str | None) -> Path:
    """Check the settings file before a lock is written beside it, and before modules are loaded that take seconds.

    Raises what load_settings raises.
    """
    from bot.service.settings.config import load_settings

    path = settings_path(config)
    load_settings(path)
    return path


def settle(
    config: CONFIG = None,
    watch: WATCH = "",
    approve: Annotated[
        str, typer.Option("--approve", help="Approve and carry out the held plan with this digest.")
    ] = "",
    decline: Annotated[
        str, typer.Option("--decline", help="Decline the held plan with this digest: its rows stay as they are.")
    ] = "",
    form: FORMAT = "text",
    *,
    dry_run: DRY_RUN = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only new plans, refused rows and failures.")
    ] = False,
) -> None:
    """Update the targets of every watch, once. Use it in cron, in an HF Job, or to catch up."""
    need_extra("settle")
    passes = _passes(config, watch, dry_run=dry_run, approve=approve, decline=decline, counts=not dry_run)
    _show(passes, form, dry_run=dry_run, quiet=quiet)


def status(
    config: CONFIG = None,
    watch: WATCH = "",
    form: FORMAT = "text",
) -> None:
    """Say where every accepted row is.

    A row is on main, open, held, declined, or unexplained. The command writes nothing.
    """
    need_extra("status")
    passes = _passes(config, watch, dry_run=True, counts=True)
    from bot.service.watch.passes import status_lines, status_of_ledgers

    if form == "json":
        found = [{"watch": one.watch, "ledgers": one.to_json()["ledgers"]} for one in passes]
        typer.echo(plain_json(json.dumps(found, indent=2)))
    else:
        for line in status_lines(passes):
            typer.echo(without_commands(line))
    if wrong := status_of_ledgers(passes):
        raise typer.Exit(wrong)


def rescore(
    config: CONFIG = None,
    watch: WATCH = "",
    form: FORMAT = "text",
    *,
    dry_run: DRY_RUN = False,
    without: Annotated[
        Path | None,
        typer.Option("--without", metavar="FILE", help="Show a board without the questions of this file."),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", help="The task or subtask of the questions; can be repeated.")
    ] = None,
    field: Annotated[str, typer.Option("--field", help="The field of a document that has the ids.")] = "",
    board: Annotated[str, typer.Option("--board", help="With --without: this target, not those of the settings.")] = "",
    sources: Annotated[
        list[Path] | None, typer.Option("--sources", metavar="DIR", help="A folder in which rows' files may be read.")
    ] = None,
    needed: Annotated[bool, typer.Option("--needed", help="List the rows without the logs that this needs.")] = False,
) -> None:
    """Score every row again with today's declaration, or show a board on a corrected set of questions."""
    if without is not None or needed:
        from bot.cli.corrected import boards_of, rescore_without
        from bot.platforms.platform import open_target

        own = (
            [(open_target(board, read_access()), list[Path]())] if board else [*boards_of(settings_path(config), watch)]
        )
        if form == "json" and len(own) > 1:
            raise CallError("the settings have several boards: name one with --board")
        for target, local in own:
            if form == "text" and not board:
                typer.echo(visible(target.name))
            rescore_without(
                without or Path(),
                target,
                tasks=task or [],
                field=field,
                sources=[*(sources or []), *local],
                form=form,
                is_needed=needed,
            )
        return
    if board or task or field or sources:
        raise CallError("--board, --task, --field and --sources go with --without or --needed")
    need_extra("rescore")
    _show(_passes(config, watch, dry_run=dry_run, rescore=True), form, dry_run=dry_run)


def _passes(
    config: str | None,
    watch: str,
    *,
    dry_run: bool,
    approve: str = "",
    decline: str = "",
    rescore: bool = False,
    counts: bool = False,
) -> list[WatchPass]:
    path = checked_settings(config)
    from bot.service.context import open_context_factory
    from bot.service.store.engine import state_to_look_at
    from bot.service.store.leases import state_lock
    from bot.service.watch.passes import settle_watches

    database = database_url(path)
    with TemporaryDirectory(prefix="leaderboard-bot-") as folder:
        if dry_run:  # what only looks changes no state, and waits for nobody
            database = state_to_look_at(database, Path(folder))
        with (
            state_lock(database, patience=LEASE_PATIENCE),
            open_context_factory(path, read_access(), database) as (settings, contexts),
        ):
            contexts.queue = open_jobs(database, takes_rows=False)  # this pass takes no rows from workers
            watches = (settings.only(watch) if watch else settings).watches
            return settle_watches(
                contexts,
                watches,
                dry_run=dry_run,
                approve=approve,
                decline=decline,
                rescore=rescore,
                counts=counts,
            )


def _show(passes: list[WatchPass], form: str, *, dry_run: bool, quiet: bool = False) -> None:
    """Print the outcome of the passes, and exit with their status."""
    from bot.service.watch.passes import exit_status

    if form == "json":
        typer.echo(plain_json(json.dumps([one.to_json() for one in passes], indent=2)))
    else:
        for line in (line for one in passes for line in one.lines(dry_run=dry_run, quiet=quiet)):
            typer.echo(without_commands(line))
    if status := exit_status(passes):
        raise typer.Exit(status)


def serve(
    config: CONFIG = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port to listen on.")] = 7860,
) -> None:
    """Run the service. It takes webhooks, updates the targets, and shows the state on its pages."""
    need_extra("serve")
    path = checked_settings(config)
    from bot.server.access import require_github_secret, require_webhook_secret
    from bot.server.app import make_app, make_pages
    from bot.server.run import run
    from bot.service.store.leases import state_lock

    hub_secret, github_secret = secret("WEBHOOK_SECRET"), secret("GITHUB_WEBHOOK_SECRET")
    require_webhook_secret(host, hub_secret or github_secret)
    _log_at_work()

    def allowed(settings: Settings) -> None:
        require_github_secret(host, github_secret, [name for watch in settings.watches for name in watch.addresses])

    def serving(service: Service, registry: CollectorRegistry) -> None:
        app = make_app(
            service,
            secret=hub_secret,
            registry=registry,
            pages=make_pages(service, secret("OPERATOR_TOKEN"), host),
            github_secret=github_secret,
            bound_to=host,
            public_url=lambda: service.contexts.public_url,
        )
        run(app, host=host, port=port)

    with state_lock(database_url(path)):
        _keep_watches(path, serving, allowed)


def work(config: CONFIG = None) -> None:
    """Process the jobs of a service on PostgreSQL. Any number of `serve` and `work` run side by side until stopped."""
    need_extra("work")
    path = checked_settings(config)
    if not is_shared(database_url(path)):
        raise CallError("work needs a state on PostgreSQL: set DATABASE_URL (with a state in a file, use `serve`)")
    _log_at_work()
    _keep_watches(path, lambda service, _: _until_stopped(service), lambda _: None)


def _log_at_work() -> None:
    """Log the work, without the libraries' lines about every request and job."""
    logging.getLogger().setLevel(logging.INFO)
    for noisy in ("httpx2", "httpx", "urllib3", "filelock", "procrastinate", "psycopg"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _until_stopped(service: Service) -> None:
    """Wait for SIGINT or SIGTERM."""
    stopped, log = threading.Event(), logging.getLogger(__name__)
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stopped.set())
    log.info("takes jobs, of these watches: %s", ", ".join(watch.name for watch in service.watches_settings))
    stopped.wait()
    log.info("takes no more jobs")


def _keep_watches(
    path: Path, serving: Callable[[Service, CollectorRegistry], object], allowed: Callable[[Settings], None]
) -> None:
    """Run the watches of the settings for as long as `serving` runs; `allowed` raises if they cannot be served."""
    from prometheus_client import CollectorRegistry

    from bot.server.run import Reloader
    from bot.server.service import Service
    from bot.service.context import open_context_factory
    from bot.service.settings.config import has_patterns, load_settings, open_settings

    with open_context_factory(path, read_access(), database_url(path)) as (settings, contexts):
        allowed(settings)
        registry = CollectorRegistry()
        jobs = open_jobs(database_url(path))
        contexts.queue = jobs
        if jobs is None:
            service = Service(contexts, settings.watches, registry)
        else:
            from bot.server.sharing import SharedService

            service = SharedService(contexts, settings.watches, registry, jobs=jobs)
        service.check()
        service.start()
        again = PATTERNS_EVERY if has_patterns(load_settings(path)) else None
        reloader = Reloader(path, lambda path: open_settings(path, read_access()), service.apply, again)
        service.refused_settings = lambda: reloader.refusal
        reloader.start()
        try:
            serving(service, registry)
        finally:
            reloader.stop()
            if not service.stop(STOP_PATIENCE):
                logging.shutdown()
                os._exit(
                    0
                )  # a thread that waits for a slow service would keep the process alive; the next start continues


def open_jobs(database: str, *, takes_rows: bool = True) -> Jobs | None:
    """Open the queue that processes share on PostgreSQL; None if the state is a file.

    Raises CallError if the extra is missing, StateUnavailable if the server does not answer.
    """
    if not is_shared(database):
        return None
    if find_spec("procrastinate") is None:
        raise CallError("DATABASE_URL: a state on PostgreSQL needs pip install 'leaderboard-bot[postgres]'")
    from bot.service.jobs.queue import Jobs

    jobs = Jobs(database, takes_rows=takes_rows)
    jobs.open()
    return jobs
