"""The settings beside a local declaration: what they say of its files counts wherever the declaration is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.service.settings.config import Watch


def watches_beside(declaration: str) -> list[Watch]:
    """The watches of a local declaration in the settings beside it. Raises BotError where these are refused."""
    path = settings_beside(declaration)
    if not declaration.endswith(".toml") or "://" in declaration or not path.is_file():
        return []
    from bot.service.settings.config import load_settings

    watches = load_settings(path).watches
    return [one for one in watches if (path.parent / one.leaderboard).resolve() == Path(declaration).resolve()]


def settings_beside(declaration: str) -> Path:
    """Where they lie."""
    return Path(declaration).parent / "bot.toml"


def folder_names(watches: list[Watch]) -> dict[str, str]:
    """The models that watches name by folders, as `--model-name` has them."""
    return {one.path: one.value for watch in watches for one in watch.identity}
