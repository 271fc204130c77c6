"""Where two versions of a row have different fields."""

from __future__ import annotations

import msgspec

from bot.publishing.changes import OF_DECLARATION, Difference, differences
from bot.publishing.entry import Evidence, Remark
from tests.platforms.git.publisher import entry

replace = msgspec.structs.replace
ROW = entry()
[FIRST, *_] = ROW.tasks
[LEAF, *_] = FIRST.leaves


def test_what_nobody_can_compute_again_is_no_difference() -> None:
    [file] = ROW.evidence
    assert differences(ROW, replace(ROW, evidence=(replace(file, date="2020-01-01T00:00:00Z"),), tool="another")) == ()


def test_every_field_that_differs_is_named() -> None:
    leaf = replace(LEAF, raw=0.25, score=26.0)
    task = replace(FIRST, raw=0.125, score=12.0, leaves=(leaf, *FIRST.leaves[1:]))
    other = replace(ROW, average=1.0, stderr=2.0, tasks=(task, *ROW.tasks[1:]), evidence=(Evidence(path="x"),))
    found = differences(ROW, other)
    assert found[:6] == (
        Difference("average", ROW.average, 1.0),
        Difference("stderr", ROW.stderr, 2.0),
        Difference(f"tasks.{FIRST.id}.raw", FIRST.raw, 0.125),
        Difference(f"tasks.{FIRST.id}.score", FIRST.score, 12.0),
        Difference(f"tasks.{FIRST.id}.leaves.{LEAF.id}.raw", LEAF.raw, 0.25),
        Difference(f"tasks.{FIRST.id}.leaves.{LEAF.id}.score", LEAF.score, 26.0),
    )
    assert {one.name for one in found[6:]} == {
        f"evidence.0.{name}" for name in ("path", "sha256", "format", "harness.name", "harness.git_hash")
    }


def test_warnings_count_only_within_one_version_of_the_tool() -> None:
    warned = replace(ROW, warnings=(Remark("implausibly-low", "Sums is low"),))
    named = ["warnings.0.rule", "warnings.0.message"]
    assert [one.name for one in differences(warned, ROW)] == named
    assert [one.name for one in differences(ROW, warned)] == named
    assert differences(replace(warned, tool="another"), ROW) == ()


def test_a_warning_about_files_that_are_no_evidence_of_the_row_does_not_count() -> None:
    warned = replace(ROW, warnings=(Remark("rerun-differs", "0.5 (a.json)"), Remark("settings-differ", "b.json")))
    assert differences(warned, ROW) == differences(ROW, warned) == ()


def test_the_digests_of_another_declaration_can_be_left_out() -> None:
    other = replace(ROW, leaderboard=replace(ROW.leaderboard, digest="0", scoring_digest="1"))
    assert [one.name for one in differences(ROW, other)] == ["leaderboard.digest", "leaderboard.scoring_digest"]
    assert differences(ROW, other, OF_DECLARATION) == ()


def test_where_nothing_could_be_computed_every_field_differs() -> None:
    found = {one.name: one for one in differences(ROW, None)}
    assert found["average"] == Difference("average", ROW.average, None)
    assert found["model.revision"] == Difference("model.revision", ROW.model.revision, None)
    assert "tool" not in found


def test_a_number_that_is_only_in_one_of_them_differs() -> None:
    shorter = replace(ROW, tasks=ROW.tasks[1:])
    name = f"tasks.{FIRST.id}.score"
    assert Difference(name, None, FIRST.score) in differences(shorter, ROW)
    assert Difference(name, FIRST.score, None) in differences(ROW, shorter)
