"""The history of a board, from the commits of its target: those of a folder, or of a repository that git can fetch."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bot.platforms.git.fetch import fetch_history
from bot.platforms.git.history import read_history
from bot.platforms.git.local import LocalRepository
from bot.platforms.platform import Access
from bot.platforms.registry import platform_of
from bot.publishing.changes import BoardChange


def history_of(target: str, leaderboard: str, access: Access) -> Sequence[BoardChange] | None:
    """The changes of rows in a target's commits, the newest first; None for a target without commits to fetch.

    A repository of the Hub or of GitHub is fetched once over git. Raises Unavailable if that fails.
    """
    if "://" not in target:
        return folder_history(target, leaderboard)
    remote = platform_of(target).git_remote(target, access)
    if remote is None:
        return None
    with tempfile.TemporaryDirectory(prefix="leaderboard-bot-") as folder:
        fetch_history(Path(folder), remote.url, remote.token)
        return folder_history(folder, leaderboard)


def folder_history(folder: str, leaderboard: str) -> Sequence[BoardChange]:
    """The changes of a leaderboard's rows in the commits of a local repository, the newest first."""
    repository = LocalRepository(folder, ())
    main = repository.main
    return read_history(repository, main, leaderboard) if main else ()
