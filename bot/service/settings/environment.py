"""The environment variables that the program uses. No other file reads os.environ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.errors import CallError

if TYPE_CHECKING:  # `--version` loads this file, and no platform
    from bot.platforms.platform import Access, GitHubApp
    from bot.service.judge.commits import AnswersInFile


def environment() -> Mapping[str, str]:
    """All variables, for the Action, which takes its inputs from them."""
    return os.environ


def read_access(environ: Mapping[str, str] = os.environ) -> Access:
    """Tokens and addresses of the services; an empty variable counts as unset. Raises CallError.

    From then on links to GitHub lead to where this API has its pages.
    """
    from bot.platforms.platform import GITHUB_API_URL, HF_ENDPOINT, Access
    from bot.publishing.addresses import link_to_github_of

    hf_token, github = token_in(environ, "HF_TOKEN"), address_in(environ, "GITHUB_API_URL", GITHUB_API_URL)
    link_to_github_of(github)
    return Access(
        github_token=token_in(environ, "GITHUB_TOKEN"),
        github_api_url=github,
        github_app=github_app(environ),
        hf_token=hf_token,
        hf_endpoint=address_in(environ, "HF_ENDPOINT", HF_ENDPOINT),
        hf_keyless=bool(environ.get("HF_OIDC_RESOURCE")) and not hf_token,
        cache=cache_folder(environ),
    )


def address_in(environ: Mapping[str, str], name: str, default: str) -> str:
    """The address of a service, without the slash at its end.

    Raises CallError for an address that no client can use. The message does not show it: it may hold a password.
    """
    text = environ.get(name, "")
    if text and not is_web_address(text):
        raise CallError(f"{name} is not the address of a service, such as {default}: set it again, or unset it")
    return (text or default).rstrip("/")


def is_web_address(text: str) -> bool:
    """Tell whether a text is `http(s)://host`, maybe with a port and a path, and nothing else."""
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna").decode()
        is_plain = not (parts.query or parts.fragment or parts.username is not None or parts.port == 0)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and is_plain and all("!" <= each <= "~" for each in text)


def token_in(environ: Mapping[str, str], name: str) -> str | None:
    """A token, without the line break that a copied secret often ends with; None if there is none.

    Raises CallError for a token that no header can carry. The message does not show it.
    """
    token = environ.get(name, "").strip()
    if not all("!" <= letter <= "~" for letter in token):
        raise CallError(f"{name} holds a character that no token has, such as a space or a line break: set it again")
    return token or None


def github_app(environ: Mapping[str, str]) -> GitHubApp | None:
    """The GitHub App as which the bot acts, None if none is named. Raises CallError if a part of it is missing."""
    app_id, key = environ.get("GITHUB_APP_ID", "").strip(), environ.get("GITHUB_APP_PRIVATE_KEY", "").strip()
    installation = environ.get("GITHUB_APP_INSTALLATION_ID", "").strip()
    if not app_id and not key:
        return None
    if not app_id or not key:
        raise CallError("GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY go together: set both, or neither")
    if installation and not (installation.isascii() and installation.isdigit()):
        raise CallError("GITHUB_APP_INSTALLATION_ID is the number at the end of the installation's address")
    from bot.platforms.platform import GitHubApp

    # Files of environments hold a value in one line.
    return GitHubApp(app_id, key.replace("\\n", "\n"), int(installation) if installation else None)


def secret(name: str) -> str | None:
    """The secret in a variable, without surrounding white space; None if there is none."""
    return os.environ.get(name, "").strip() or None


def space_url() -> str:
    """Where people reach the pages of the Space that this runs in, "" elsewhere."""
    host = os.environ.get("SPACE_HOST") or ""
    return f"https://{host}" if host else ""


def wants_colour() -> bool:
    """Tell whether a terminal may show colours: https://no-color.org."""
    return not os.environ.get("NO_COLOR")


def log_format() -> str:
    """How log lines are written: "json", or "" for lines for people. Raises CallError for anything else."""
    form = os.environ.get("LOG_FORMAT", "")
    if form not in {"", "json"}:
        raise CallError(f"LOG_FORMAT is {form[:80]!r}: set it to json, or unset it")
    return form


def settings_path(given: str | None) -> Path:
    """The settings file: as given, as LEADERBOARD_BOT_CONFIG says, or bot.toml here."""
    return Path(given or os.environ.get("LEADERBOARD_BOT_CONFIG") or "bot.toml")


def database_url(settings: Path) -> str:
    """The database's address: DATABASE_URL, or a SQLite file beside the settings."""
    return os.environ.get("DATABASE_URL") or f"sqlite:///{settings.resolve().with_suffix('.db')}"


def is_shared(database: str) -> bool:
    """Tell whether several processes may use the state: a SQLite file has one."""
    return database.partition(":")[0].partition("+")[0] in {"postgres", "postgresql"}


def cached_answers(environ: Mapping[str, str] = os.environ) -> AnswersInFile:
    """The kept answers of GitHub to earlier calls of the command line and the Action."""
    from bot.service.judge.commits import AnswersInFile  # the client of GitHub takes as long as a whole `check`

    return AnswersInFile(cache_folder(environ) / "commits.json")


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder for what only costs time if it is lost (XDG Base Directory Specification)."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leaderboard-bot"
