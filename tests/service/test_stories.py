"""The main job as its users live it: what is pushed at the source, and what stands at the target then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from bot.publishing.entry import parse_entry
from bot.service.waits import SWEEP_EVERY
from bot.service.watch.settle import run_pass
from tests.service.stories import KEY, Story, runs_are_of, unnamed_result
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def test_a_good_push_opens_one_request_with_its_evidence(story: Story) -> None:
    commit = story.push()
    story.hub.push(story.source, {"notes.json": b"{}"}, "Later")  # the row names the commit that brought its file
    story.settle()

    [request] = story.requests
    entry = parse_entry(story.hub.file(story.target, f"entries/{KEY}.json", request.ref) or b"")
    assert request.title == "Add acme/atlas-7b (bfloat16): 58.33"
    (file,) = entry.evidence
    assert (file.source, file.path) == ("hf://datasets/acme/results", path_of())
    assert file.commit == commit.oid
    [stored] = story.state.submissions.at([path_of()]).values()
    assert stored.committed == datetime.fromisoformat(commit.date).timestamp()
    assert story.acts() == ["request"]


def test_a_settlement_without_a_change_posts_nothing(story: Story) -> None:
    story.push()
    story.settle()
    assert story.acts() == ["request"]

    assert story.settle() == []
    assert story.acts() == []


def test_a_changed_result_updates_the_same_request(story: Story) -> None:
    story.push()
    story.settle()
    story.push(right=(60, 60, 70))
    story.settle()

    [request] = story.requests
    assert request.title == "Add acme/atlas-7b (bfloat16): 61.67"
    assert story.acts() == ["request", "commit", "rename", "edit"]


def test_a_newer_result_of_the_same_row_takes_its_place_and_names_it(story: Story) -> None:
    story.push()
    story.push(path=path_of(time="2026-04-01T10-00-00.000000"), right=(60, 60, 70), date=1_795_000_000.0)
    story.settle()

    [request] = story.requests
    entry = parse_entry(story.hub.file(story.target, f"entries/{KEY}.json", request.ref) or b"")
    assert entry.average == pytest.approx(61.666, abs=0.001)
    assert story.acts() == ["request"]


def test_a_bad_push_gets_one_discussion_and_a_mended_one_resolves_it(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    [discussion] = story.discussions
    assert discussion.title == "Results in acme__atlas-7b were rejected"
    assert "**error** [`value-out-of-range`]" in discussion.description
    assert "leaderboard-bot check hf://datasets/acme/results@" in discussion.description
    assert story.acts() == ["discussion"]

    story.push(right=(50, 160, 170))
    story.settle()
    assert story.discussions[0].description.count("value-out-of-range`]") == 2
    assert story.acts() == ["edit"]

    story.push()
    story.settle()
    assert story.discussions == []
    [closed] = story.hub.conversations(story.source, "closed")
    assert closed.comments()[-1] == "Corrected: no result in `acme__atlas-7b` is rejected any more."
    assert story.acts() == ["request", "comment", "closed"]


def test_a_pass_says_of_a_rejected_file_its_first_error_and_how_many_more_there_are(story: Story) -> None:
    unpinned = {"model": "hf", "model_args": "pretrained=acme/atlas-7b,dtype=bfloat16"}  # a warning, and no error
    story.push(path="one/results.json", right=(50, 60, 170), config=unpinned)
    story.push(path="two/results.json", right=(50, 160, 170), config=unpinned)
    texts = {one.subject: one.text for one in story.settle() if one.outcome == "rejected"}
    one, two = texts["one/results.json"], texts["two/results.json"]
    assert one.startswith("value-out-of-range: ")
    assert "other error" not in one
    assert two.startswith("value-out-of-range: ")
    assert " (and 1 other error)" in two
    assert story.state.submissions.rejections(9) == [("value-out-of-range", 2)]
    assert story.acts() == ["discussion"] * 2


def test_a_fault_that_comes_back_opens_the_same_discussion_again(story: Story) -> None:
    for right in ((50, 60, 170), (50, 60, 70), (50, 60, 170)):
        story.push(right=right)
        story.settle()

    assert [d.num for d in story.discussions] == [1]
    assert story.acts() == ["discussion", "request", "comment", "closed", "comment", "closed", "open", "edit"]


def test_a_person_who_closed_a_discussion_is_not_told_the_same_again(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    story.hub.set_status(story.source, story.discussions[0], "closed", "ann")
    story.lose_state()
    story.settle()

    assert story.acts() == ["discussion"]


def test_an_incomplete_result_is_published_unranked_and_its_hole_is_named(story: Story) -> None:
    story.push(right=(50, None, 70))
    story.settle()

    assert story.requests[0].title == "Add acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing"
    assert story.acts() == ["request"]  # a file that brings two subtasks of three is not at fault


@pytest.mark.slow
def test_a_push_of_300_results_becomes_one_rolling_request(story: Story) -> None:
    models = [f"acme/model-{n}" for n in range(300)]
    files = {path_of(model): story.result(model=model) for model in models}
    story.hub.push(story.source, files)
    story.settle()

    [request] = story.requests
    commit = story.target.resolve(request.ref)
    assert commit is not None
    assert request.title == "Add 300 rows of tiny"
    assert len([path for path, _ in commit.tree.files() if path.startswith("entries/")]) == 300
    assert story.acts() == ["request", "commit", "commit"]

    story.push(model="acme/model-10", right=(90, 90, 90))  # one of those that the text names
    story.settle()
    assert len(story.requests) == 1
    assert story.acts() == ["commit", "edit"]


def test_rolling_style_gathers_all_that_waits(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, style="rolling")
    story.push()
    story.settle()
    story.push(model="acme/borea-1b")
    story.settle()

    assert [request.title for request in story.requests] == ["Add 2 rows of tiny"]
    assert story.acts() == ["request", "commit", "rename", "edit"]
    story.hub.merge(story.target, story.requests[0])
    story.push(model="acme/corvus-2b")
    story.settle()
    assert [request.title for request in story.requests] == ["Add 1 row of tiny"]
    assert story.acts() == ["request", "commit"]
    story.end()


def test_a_closed_rolling_request_is_respected_row_by_row(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=2)
    story.hub.push(story.source, {path_of(m): story.result(model=m) for m in ("acme/a", "acme/b", "acme/c")})
    story.settle()
    assert story.acts() == ["request"]
    story.hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.lose_state()
    story.settle()
    assert story.acts() == []

    story.push(model="acme/d")
    story.settle()
    assert [request.title for request in story.requests] == ["Add acme/d (bfloat16): 58.33"]
    assert story.acts() == ["request"]
    story.end()


def test_a_withdrawn_submission_closes_its_request_with_the_reason(story: Story) -> None:
    story.push()
    story.settle()
    story.remove()
    story.settle()

    [closed] = story.hub.requests(story.target, "closed")
    assert closed.comments()[-1] == "The submission behind this request was withdrawn from its source."
    assert story.acts() == ["request", "comment", "closed"]

    story.push()
    story.settle()
    assert len(story.requests) == 1
    assert story.acts() == ["request"]


def test_a_withdrawn_row_that_was_merged_is_proposed_for_removal(story: Story) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.remove()
    story.settle()

    [request] = story.requests
    assert request.title == f"Remove {KEY}"
    story.hub.merge(story.target, request)
    assert story.hub.file(story.target, f"entries/{KEY}.json") is None
    story.settle()
    assert (story.hub.file(story.target, "leaderboard.csv") or b"").count(b"\n") == 1  # the head of an empty table
    assert story.acts() == ["request", "commit", "request", "commit"]


def test_a_merge_rebuilds_the_board(story: Story) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()

    table = (story.hub.file(story.target, "leaderboard.csv") or b"").decode().splitlines()
    assert table[1].startswith("1,1,acme/atlas-7b,")
    assert story.acts() == ["request", "commit"]


def test_rows_as_commits_come_in_one_commit(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()

    assert story.requests == []
    assert story.acts() == ["commit", "commit"]  # the rows, and the board
    assert story.hub.file(story.target, f"entries/{KEY}.json") is not None
    story.end()


def test_rows_as_comments_are_edited_and_withdrawn_in_place(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="comment")
    story.push()
    story.push(model="acme/borea-1b", right=(1, None, 2))
    story.settle()
    assert story.acts() == ["discussion", "comment", "comment"]
    story.push(right=(60, 60, 70))
    story.settle()
    assert story.acts() == ["edit"]
    story.remove()
    story.settle()
    said = story.hub.conversations(story.target)[0].comments()[1]
    assert "any more: the files are gone from the source." in said
    assert story.acts() == ["edit"]
    story.end()


def test_a_changed_declaration_reads_everything_again(story: Story) -> None:
    story.push()
    story.settle()
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    story.settle()

    assert story.requests[0].title == "Add acme/atlas-7b (bfloat16): 59.38"
    assert story.acts() == ["request", "commit", "rename", "edit"]


def test_a_changed_declaration_says_anew_what_is_wrong_with_a_file_that_stays_rejected(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    assert "wrong-num-fewshot" not in story.discussions[0].description
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace("num_fewshot = 0", "num_fewshot = 5"))
    story.settle()

    assert "wrong-num-fewshot" in story.discussions[0].description
    assert story.acts() == ["discussion", "edit"]


def test_a_changed_declaration_that_accepts_a_file_closes_the_discussion_about_it(story: Story) -> None:
    declared = story.folder / "tiny.toml"
    text = declared.read_text()
    declared.write_text(text.replace("num_fewshot = 0", "num_fewshot = 5"))
    story.push()
    story.settle()
    assert "wrong-num-fewshot" in story.discussions[0].description
    declared.write_text(text)
    story.settle()

    assert story.discussions == []
    [closed] = story.hub.conversations(story.source, "closed")
    assert closed.comments()[-1] == "Corrected: no result in `acme__atlas-7b` is rejected any more."
    assert story.requests[0].title == "Add acme/atlas-7b (bfloat16): 58.33"
    assert story.acts() == ["discussion", "request", "comment", "closed"]


@pytest.mark.slow
def test_a_file_goes_to_the_row_of_the_model_that_the_settings_name_today(hub: Hub, tmp_path: Path) -> None:
    """Whatever else there is, and without reading anything again."""
    story = Story(hub, tmp_path, form="commit")
    files = {"runs/x.json": unnamed_result(), path_of(): result(), "notes.json": b"{}", "broken/results.json": b"{"}
    hub.push(story.source, files)
    story.settle()

    def models() -> list[str]:
        paths = [path for path, _ in story.target.main.tree.files() if path.startswith("entries/")]
        return sorted(path.split("/")[3] for path in paths)

    hub.calls.clear()
    found = []
    for name in ("", "acme/aeon", "acme/abyss", ""):
        story.more = runs_are_of(name) if name else ""
        story.settle()
        told = [one.title for one in story.discussions]
        found.append((models(), "Results in runs were rejected" in told))

    assert found == [
        (["atlas-7b"], True),
        (["aeon", "atlas-7b"], False),
        (["abyss", "atlas-7b"], False),
        (["atlas-7b"], True),
    ]
    assert [call for call in hub.calls if "acme/results/resolve/" in call.raw_path] == []
    story.news()
    story.end()


def test_a_foreign_file_among_the_entries_is_named_and_the_board_is_rebuilt(story: Story) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.hub.push(story.target, {"entries/foreign.json": b'{"score": 1}', "entries/tiny/odd.json": b"[" * 9000})
    said = {outcome.subject: outcome for outcome in story.settle()}

    assert said["entries/foreign.json"].outcome == "rejected"
    assert "is not an entry" in said["entries/tiny/odd.json"].text
    assert b"acme/atlas-7b" in (story.hub.file(story.target, "leaderboard.csv") or b"")
    assert story.acts() == ["request", "commit"]


def test_a_request_of_a_withdrawn_row_that_is_opened_again_is_closed_by_the_next_sweep(story: Story) -> None:
    story.push()
    story.settle()
    [request] = story.requests
    story.remove()
    story.settle()
    story.hub.set_status(story.target, request, "open", "ann")
    later = time.time() + SWEEP_EVERY
    run_pass(replace(story.contexts.open_context(story.watch), clock=lambda: later))
    story.settle()

    assert request.status == "closed"
    assert story.acts().count("closed") == 2
