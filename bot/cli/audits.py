"""Register the commands of `audit`. The code of each command is beside its audit, in bot/audits/.

A command is imported when it is called or listed, so that `check` starts without the audits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import typer

from bot.cli.app import LazyGroup
from bot.errors import CallError

if TYPE_CHECKING:
    from bot.audits.score_table import PublishedTable
    from bot.platforms.inputs import Place


def _board() -> Callable[..., None]:
    from bot.audits.board.command import board_command

    return board_command(read_scores)


def _results() -> Callable[..., None]:
    from bot.audits.results.command import results_command

    return results_command(find_result_files)


class Audits(LazyGroup):
    """The four audits."""

    sources: ClassVar = {
        "board": _board,
        "drop": "bot.audits.drop.command:drop",
        "mmlu": "bot.audits.mmlu.command:mmlu",
        "results": _results,
    }


audit = typer.Typer(cls=Audits, no_args_is_help=True)


@audit.callback()
def group() -> None:
    """Investigate a benchmark, a board, or result files."""


def read_scores(target: str, only: Sequence[str], leaderboard: str) -> PublishedTable:
    """Read a CSV or Markdown table, that of a folder, or a target's entries. Raises CallError if none is there."""
    from bot.audits.samples.records import is_own_file
    from bot.audits.score_table import read_score_table
    from bot.platforms.platform import open_target
    from bot.publishing.board import CSV_NAME, board_of
    from bot.service.settings.environment import read_access

    path = Path(target)
    if "://" not in target and not path.is_dir():
        return read_score_table(_read_bytes(path), target, only)
    if path.is_dir() and is_own_file(path / CSV_NAME):
        return read_score_table(_read_bytes(path / CSV_NAME), target, only)
    return board_of(open_target(target, read_access()).scan_entries().entries, leaderboard, only)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None


def find_result_files(paths: Sequence[str]) -> list[ResultPlace]:
    """Find the result files that paths name. Raises CallError for a path that does not exist."""
    from bot.cli.judging import name_links
    from bot.platforms.inputs import local_places

    places = [place for name in paths for place in local_places(name)]
    name_links(places)
    return list(map(ResultPlace, places))


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """A place that may hold a result."""

    place: Place

    @property
    def size(self) -> int:
        """The total size of its files in bytes."""
        return sum(file.size for file in self.place.candidate.files)

    def read(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield the path and bytes of each of its files, if they are a result."""
        from bot.evaluation.formats import MAX_BYTES
        from bot.evaluation.submission import UnreadPath

        if not isinstance(self.place.parse(), UnreadPath):
            for file in self.place.candidate.files:
                yield file.path, self.place.read(file.path, file.size) if file.size <= MAX_BYTES else None
