"""Rows to publish: the number of right answers in, the entry that the pipeline makes of such a result out."""

from __future__ import annotations

from bot.entry import Entry, Evidence, make_entry
from bot.leaderboard import Leaderboard, parse_leaderboard
from bot.pipeline import Submission, judge
from tests.world.results import TINY, path_of, result


def tiny() -> Leaderboard:
    return parse_leaderboard(TINY, "tiny", "tiny.toml")


def entry(model: str = "acme/atlas-7b", right: tuple[int, int, int] = (50, 60, 70), time: str = "10") -> Entry:
    data, path = result(model, right=right, date=1_790_000_000.0 + int(time)), path_of(model)
    verdict = judge(Submission(path, data, len(data)), tiny())
    assert verdict.result
    assert verdict.measures
    assert verdict.scores
    return make_entry(
        leaderboard=tiny(),
        result=verdict.result,
        measures=verdict.measures,
        scores=verdict.scores,
        findings=verdict.findings,
        evidence=Evidence("github://acme/results", path, "c" * 40, verdict.sha256, f"2026-03-02T10:00:{time}Z"),
    )
