"""Rows to publish: the entry that the pipeline makes of a result with these numbers of right answers."""

from __future__ import annotations

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.publishing.entry import Entry
from tests.evaluation.judging import entry_from
from tests.world.results import TINY, path_of, result


def tiny() -> Leaderboard:
    return parse_leaderboard(TINY, "tiny", "tiny.toml")


def entry(model: str = "acme/atlas-7b", right: tuple[int, int, int] = (50, 60, 70), time: str = "10") -> Entry:
    data = result(model, right=right, date=1_790_000_000.0 + int(time))
    return entry_from(data, tiny(), path_of(model), source="github://acme/results", commit="c" * 40)
