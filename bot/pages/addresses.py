"""The addresses of the pages of rows: short, readable, and different for different rows on every file system."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from bot.evaluation.finding import grouped
from bot.evaluation.row_key import SHORT, WHOLE
from bot.publishing.entry import Entry

ROWS, COLUMNS, BADGES = "rows", "columns", "badges"


def row_names(entries: Iterable[Entry]) -> dict[str, str]:
    """The name of each row in addresses, by its key: `org/model/<short revision>-<precision>`.

    Rows whose names differ in nothing, or in capitals only, get a digest of their key: no disk mixes them up.
    """
    keys = [entry.key for entry in entries]
    groups = grouped((_short(key).casefold(), key) for key in keys)
    alone = {group[0] for group in groups.values() if len(group) == 1}
    return {
        key: _short(key) if key in alone else f"{_short(key)}~{sha256(key.encode()).hexdigest()[:12]}" for key in keys
    }


def usual_page(key: str) -> str:
    """The path of a row's page, where no other row differs from it in capitals or the revision's end only."""
    return row_page(_short(key))


def _short(key: str) -> str:
    """The key without its leaderboard and with a short revision; `~` stands for `%`, which addresses would encode."""
    folder, _, last = key.partition("/")[2].rpartition("/")
    revision, hyphen, rest = last.partition("-")
    shown = revision[:SHORT] if len(revision) == WHOLE else revision
    return f"{folder}/{shown}{hyphen}{rest}".replace("%", "~")


def row_page(name: str) -> str:
    """The path of a row's page."""
    return f"{ROWS}/{name}.html"


def column_page(task_id: str) -> str:
    """The path of a column's page."""
    return f"{COLUMNS}/{task_id}.html"


def root_of(path: str) -> str:
    """The way from a page to the folder that holds all of them, `""` or `../` some times."""
    return "../" * path.count("/")
