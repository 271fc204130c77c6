"""A fault of the bot itself: one submission or one row says so, and the others are judged as always."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.evaluation.join import join_rows
from bot.evaluation.judge import judge, judge_all
from bot.evaluation.submission import Parsed, parse_submission
from tests.evaluation.judging import base, declared, dumps, patched

OTHER = "/config/model_args", "pretrained=acme/other,dtype=bfloat16,revision=" + "b" * 40


def parsed(path: str, *changes: tuple[str, object]) -> Parsed:
    return parse_submission(path, {"": dumps(patched(dict(changes), base()))})


def test_a_submission_that_cannot_be_judged_is_rejected_alone() -> None:
    """A result without a table of numbers is none that a format gives: it stands for any fault of ours."""
    broken = parsed("broken.json")
    assert broken.result is not None
    broken = replace(broken, result=replace(broken.result, leaves=None))  # type: ignore[arg-type]
    found = judge_all([broken, parsed("sound.json")], declared())
    assert [verdict.status for verdict in found.verdicts] == ["rejected", "accepted"]
    (finding,) = found.verdicts[0].findings
    assert finding.rule == "malformed-file"
    assert "could not be judged" in finding.message
    assert [(row.lead.path, row.status) for row in found.rows] == [("sound.json", "accepted")]


def test_a_row_whose_files_cannot_be_joined_is_rejected_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Two files of one model, one of which lost its leaves after it was judged, and a file of another model."""
    leaderboard = declared()
    verdicts = [judge(one, leaderboard) for one in (parsed("a.json"), parsed("b.json", ("/date", 1.8e9)))]
    result = verdicts[1].result
    assert result is not None
    verdicts[1] = type(verdicts[1])(
        replace(verdicts[1].parsed, sha256="f" * 64, result=replace(result, leaves={})),
        leaderboard, "accepted", (), verdicts[1].measurements, verdicts[1].date,
    )  # fmt: skip
    other = judge(
        parsed("other.json", OTHER, ("/model_name", "acme/other"), ("/config/model_sha", "b" * 40)), leaderboard
    )
    rows = {row.model.id: row for row in join_rows([*verdicts, other], leaderboard)}
    assert rows["acme/other"].status == "accepted"
    (broken,) = [row for model, row in rows.items() if model != "acme/other"]
    assert (broken.status, broken.files, broken.scores.average) == ("rejected", (), None)
    assert [finding.rule for finding in broken.findings] == ["malformed-file"]
    assert "could not be joined" in broken.findings[0].message
    assert caplog.messages == [f"joining the files of {broken.key.text} failed"]
