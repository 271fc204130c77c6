"""A review says all that merging would do; hostile requests and odd conversations stay one item each."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.review import proposals, reviews
from bot.service.waits import FIRST_RETRY
from bot.service.watch.outcome import Outcome
from tests.service.passes import settle
from tests.service.stories import Story
from tests.service.table_stories import TableStory
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def propose(story: Story, files: dict[str, bytes | None], author: str = "ann") -> Discussion:
    return story.hub.open_request(story.source, files, "My results", "please", author)[0]


def sticky(request: Discussion) -> str:
    [text] = [text for text in request.comments("bot") if '"kind": "verdict"' in text]
    return text


def settle_after(story: Story, seconds: float) -> list[Outcome]:
    """A pass so many seconds from now that tries only what is due then."""
    context = story.contexts.open_context(story.watch)
    context.clock = lambda: time.time() + seconds
    return settle(context, everything=False)


def failing(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(one.subject, one.text) for one in outcomes if one.outcome == "failed"]


def publish_all(story: Story) -> None:
    """Settle, merge every request at the target, and settle the boards."""
    story.settle()
    for request in story.requests:
        story.hub.merge(story.target, request)
    story.settle()
    story.news()


def test_a_review_names_deleted_and_replaced_files_and_removed_rows(story: Story) -> None:
    story.push()
    story.push(model="acme/borea-1b")
    publish_all(story)
    request = propose(
        story,
        {
            path_of("acme/atlas-7b"): None,
            path_of("acme/borea-1b"): result("acme/borea-1b", right=(90, 90, 90)),
            "README.md": b"new",
        },
    )
    story.settle()

    text = sticky(request)
    assert "**deletes 1 file** of the main branch: `acme__atlas-7b/" in text
    assert "**replaces 1 file** of the main branch: `acme__borea-1b/" in text
    assert "**removes 1 row** of the board: `acme/atlas-7b`" in text
    assert "changes 1 row of the board" in text
    assert "changes 1 file that the settings of the leaderboard do not select" in text
    assert story.acts() == ["comment"]


def test_a_request_that_only_deletes_is_reviewed_too(story: Story) -> None:
    story.push()
    publish_all(story)
    request = propose(story, {path_of(): None})
    story.settle()

    assert "0 result files judged" in sticky(request)
    assert "**removes 1 row**" in sticky(request)
    assert story.acts() == ["comment"]


def test_the_preview_joins_with_what_stands_at_the_source(story: Story) -> None:
    story.push(right=(50, 60, None))
    publish_all(story)
    request = propose(story, {path_of(time="2026-05-02T10-00-00.000000"): result(right=(None, None, 70))})
    story.settle()

    assert "| `acme/atlas-7b` | 58.33 | – | – | 1 of 1 | none |" in sticky(request)
    assert story.acts() == ["comment"]


def test_where_the_target_is_a_table_the_row_of_the_source_is_the_one_before(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, options="records = true\n")
    story.push(right=(40, 40, 40), date=1_780_000_000.0)
    publish_all(story)
    request = propose(story, {path_of(time="2026-05-02T10-00-00.000000"): result()})
    story.settle()

    assert "| Model | Average | Before | Change |\n" in sticky(request)
    assert "| `acme/atlas-7b` | 58.33 | 35.00 | +23.33 |\n" in sticky(request)
    assert "- changes 1 row of the board\n" in sticky(request)
    [kept] = re.findall(r"--leaderboard hf://datasets/acme/contents/(.*)", sticky(request))
    assert story.hub.file(story.target, kept) is not None
    assert story.acts() == ["comment"]
    story.end()


@pytest.mark.slow
def test_an_older_file_changes_nothing_and_the_review_says_so(story: Story) -> None:
    story.push(date=1_790_000_000.0)
    publish_all(story)
    older = result(right=(90, 90, 90), date=1_780_000_000.0)
    request = propose(story, {path_of(time="2026-01-02T10-00-00.000000"): older})
    story.settle()

    assert "58.33" not in sticky(request).partition("###")[0]
    story.hub.merge(story.source, request)
    story.settle()
    assert story.requests == []
    assert "comment" in story.acts()


@pytest.mark.slow
def test_a_row_of_another_folder_is_named(story: Story) -> None:
    story.push(path="ann/results_1.json")
    publish_all(story)
    request = propose(story, {"bob/results_2.json": result(right=(99, 99, 99), date=1_791_000_000.0)}, "bob")
    story.settle()

    assert "the row of `acme/atlas-7b` was first submitted in `ann`; this request changes it" in sticky(request)
    assert story.acts() == ["comment"]


def test_files_beyond_the_budget_are_counted_and_named(story: Story) -> None:
    files = {f"m{n:02}/results_1.json": result(f"acme/m{n:02}") for n in range(60)}
    request = propose(story, dict(files))
    story.settle()

    text = sticky(request)
    assert "50 result files judged" in text
    assert "**10 files not judged** (a review judges 50 result files at most): `m50/results_1.json`" in text
    assert len(text) <= 65_536
    assert story.acts() == ["comment"]


def test_values_and_bytes_have_a_budget_too(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "REVIEW_LEAVES", 15)
    monkeypatch.setattr(proposals, "REVIEW_BYTES", 12_000)
    files = {f"m{n:02}/results_1.json": result(f"acme/m{n:02}") for n in range(12)}
    request = propose(story, dict(files))
    story.settle()

    assert "not judged** (a review judges 15 values at most)" in sticky(request)
    assert "not judged** (a review reads 0 MiB at most)" in sticky(request)
    assert story.acts() == ["comment"]


@pytest.mark.slow
def test_eight_files_of_28_mb_stay_small_in_memory(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    rows = ",".join(f'"t{n}":{{"acc,none":0}}' for n in range(175_000))
    small = f'{{"results":{{{rows}}},"config":{{}}}}'.encode()[: 7 * 2**20]
    huge = b'{"results":{' + b" " * 28_000_000 + b"}}"
    request = propose(story, {f"h{n}/results_1.json": huge for n in range(8)} | {"s/results_1.json": small})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    story.settle()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert "has 26.8 MB; the limit is 8 MB" in sticky(request)
    assert after - before < 400 * 1024
    assert story.acts() == ["comment"]
    story.end()


def test_a_model_counts_only_where_its_owners_submit(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, more='owners = {"acme/" = ["acme"]}')
    story.push(path="acme/results_1.json")
    story.push(path="eve/results_1.json", right=(99, 99, 99), date=1_791_000_000.0)
    request = propose(story, {"acme/results_2.json": result("eve/own-1b")}, "eve")
    story.settle()

    assert [one.title for one in story.requests] == ["Add acme/atlas-7b (bfloat16): 58.33"]
    [discussion] = story.discussions
    assert "wrong-owner" in discussion.description
    assert "`eve`" in discussion.description
    assert "wrong-owner" in sticky(request)
    assert sorted(story.acts()) == ["comment", "discussion", "request"]
    story.end()


def test_odd_conversations_end_one_review_each_and_the_others_go_on(story: Story) -> None:
    requests = [propose(story, {f"m{n}/results_1.json": result(f"acme/m{n}")}) for n in range(5)]
    requests[1].is_locked = True
    del story.source.refs[requests[3].ref]
    story.push()
    outcomes = story.settle()

    assert [len(request.comments("bot")) for request in requests] == [1, 0, 1, 0, 1]
    assert len(story.requests) == 1
    said = {one.subject: one.text for one in outcomes if one.outcome == "unchanged"}
    assert "refs/pr/4 is not there, or is for another branch" in said["review #4"]
    [(subject, text)] = [(one.subject, one.text) for one in outcomes if one.outcome == "failed"]
    assert (subject, "locked" in text) == ("review 2", True)
    assert sorted(story.acts()) == ["comment", "comment", "comment", "request"]
    requests[1].is_locked = False
    settle_after(story, FIRST_RETRY - 10)
    assert story.acts() == []
    assert failing(settle_after(story, FIRST_RETRY + 10)) == []
    assert story.acts() == ["comment"]
    assert len(requests[1].comments("bot")) == 1


def test_a_source_without_discussions_is_no_failure(story: Story) -> None:
    story.source.has_discussions = False
    story.push()
    story.push(right=(50, 60, 170), model="acme/borea-1b")
    outcomes = story.settle()

    assert len(story.requests) == 1
    assert [one for one in outcomes if one.outcome == "failed"] == []
    assert "disabled" in next(one.text for one in outcomes if one.outcome == "unchanged")
    assert story.acts() == ["request"]


def test_a_locked_discussion_about_a_push_ends_that_folder_alone(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    story.discussions[0].is_locked = True
    story.push(right=(50, 160, 170))
    story.push(model="acme/borea-1b")
    story.push(model="acme/corsa-1b", right=(50, 60, 170))
    outcomes = story.settle()

    [(subject, text)] = failing(outcomes)
    assert (subject, "locked" in text) == (f"folder /{path_of().rpartition('/')[0]}", True)
    assert len(story.requests) == 1
    assert len(story.discussions) == 2
    assert sorted(story.acts()) == ["discussion", "discussion", "request"]
    story.discussions[0].is_locked = False
    assert failing(settle_after(story, FIRST_RETRY + 10)) == []
    assert story.acts() == ["edit"]
    assert "1.6" in story.discussions[0].description


def test_very_many_reviews_and_commands_are_bounded_and_idle_passes_are_cheap(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(hub, tmp_path)
    monkeypatch.setattr(reviews, "REVIEWS_OF_ONE", 3)
    monkeypatch.setattr(reviews, "REVIEWS_OF_ALL", 6)
    requests = [propose(story, {f"m{n}/results_1.json": result(f"acme/m{n}")}, f"eve{n % 3}") for n in range(30)]
    mine = propose(story, {path_of(): result()}, "meg")
    story.settle()
    assert sum(bool(request.comments("bot")) for request in requests) == 6
    assert mine.comments("bot") != []
    story.settle()
    before = len(hub.calls)
    story.settle()
    idle = len(hub.calls) - before

    for request in requests[:3]:
        hub.set_status(story.source, request, "closed", "meg")
    story.settle()
    assert sum(bool(request.comments("bot")) for request in requests) == 9
    assert idle < 20
    story.news()
    story.end()
