"""What is said about sound pushes: both sides of a contested row, good pushes, and where a merged review leads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.publishing.entry import entry_path
from bot.publishing.plan import Plan
from bot.service.watch.outcome import Outcome, WatchPass
from bot.service.watch.settle import run_pass
from tests.service.stories import KEY, Story
from tests.world.hub import Hub
from tests.world.results import path_of, result, revision_of


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def test_both_sides_are_told_of_a_row_that_two_folders_measured_otherwise(story: Story) -> None:
    story.push(path="ann/results_1.json")
    story.settle()
    assert story.acts() == ["request"]
    story.push(path="bob/results_2.json", right=(90, 60, 70), date=1_791_000_000.0)
    story.settle()

    assert sorted(one.title for one in story.discussions) == [
        "Results in ann differ from those of others",
        "Results in bob differ from those of others",
    ]
    for discussion in story.discussions:
        assert "`ann/results_1.json`" in discussion.description
        assert "`bob/results_2.json`" in discussion.description
    assert story.acts().count("discussion") == 2

    story.remove("bob/results_2.json")
    story.settle()
    assert story.discussions == []
    assert "closed" in story.acts()


def test_tasks_that_folders_share_out_are_no_contest(story: Story) -> None:
    story.push(path="ann/results_1.json", right=(50, 60, None))
    story.push(path="bob/results_2.json", right=(None, None, 70))
    story.settle()

    assert story.discussions == []
    assert story.acts() == ["request"]


def test_a_good_push_is_answered_once_for_each_folder_where_the_watch_says_so(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, more="say_success = true")
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    assert sorted(one.title for one in story.discussions) == ["Results in acme__atlas-7b", "Results in acme__borea-1b"]
    text = min(story.discussions, key=lambda one: one.title).description
    assert f"| `{KEY}` | 58.33 |" in text
    assert "/datasets/acme/contents/discussions/" in text
    assert sorted(story.acts()) == ["discussion", "discussion", "request", "request"]

    story.push(right=(60, 60, 70))
    story.lose_state()
    story.settle()
    assert f"| `{KEY}` | 61.67 |" in min(story.discussions, key=lambda one: one.title).description
    assert sorted(story.acts()) == ["commit", "edit", "edit", "rename"]
    story.end()


def test_a_merged_review_leads_to_the_request_at_the_target(story: Story) -> None:
    request, _ = story.hub.open_request(story.source, {path_of(): result()}, "mine", "please", "ann")
    story.settle()
    assert story.acts() == ["comment"]
    story.hub.merge(story.source, request)
    story.settle()

    [row] = story.requests
    [text] = request.comments("bot")
    assert f"**Merged.** Its rows are proposed in [request {row.num}](http" in text
    assert f"/datasets/acme/contents/discussions/{row.num}) at `hf://datasets/acme/contents`" in text
    key = f"tiny/acme/atlas-7b/{revision_of('acme/atlas-7b')}-bfloat16"
    page = f"https://huggingface.co/datasets/acme/contents/blob/main/{entry_path(key)}"
    assert f"Once that is merged, they are at [`hf://datasets/acme/contents/{entry_path(key)}`]({page})." in text
    assert story.acts() == ["request", "edit"]


@pytest.mark.slow
def test_a_merged_review_is_looked_at_less_and_less_often_while_its_rows_cannot_be_published(story: Story) -> None:
    request, _ = story.hub.open_request(story.source, {path_of(): result()}, "mine", "please", "ann")
    story.settle()
    story.hub.faults.order("acme/contents", status=500, times=-1)
    story.hub.merge(story.source, request)
    story.settle()
    later = time.time() + 36_000.0
    run_pass(replace(story.contexts.open_context(story.watch), clock=lambda: later), everything=False)

    [waiting] = [item for item in story.state.items.all() if item.kind == "merged"]
    assert waiting.due > later + 10_000.0
    story.hub.faults.ordered.clear()
    story.settle()
    assert "**Merged.**" in request.comments("bot")[0]
    story.news()


def test_a_merged_review_leads_to_the_page_of_the_row_where_people_can_reach_the_service(story: Story) -> None:
    story.contexts.public_url = "https://board.example"
    request, _ = story.hub.open_request(story.source, {path_of(): result()}, "mine", "please", "ann")
    story.settle()
    story.hub.merge(story.source, request)
    story.settle()

    [text] = request.comments("bot")
    page = f"rows/acme/atlas-7b/{revision_of('acme/atlas-7b')[:7]}-bfloat16.html"
    assert f" ([page](https://board.example/board/tiny/{page}))" in text
    assert set(story.acts()) == {"comment", "request", "edit"}


def test_the_row_of_each_target_leads_to_the_board_of_that_target(hub: Hub, tmp_path: Path) -> None:
    more = '[[watches.targets]]\nto = "hf://datasets/acme/first"\nas = "commit"\n'
    story = Story(hub, tmp_path, form="commit", more=more)
    hub.repository("acme/first")
    hub.writers.add(("bot", "acme/first"))
    story.contexts.public_url = "https://board.example"
    request, _ = hub.open_request(story.source, {path_of(): result()}, "mine", "please", "ann")
    story.settle()
    hub.merge(story.source, request)
    story.settle()

    [text] = request.comments("bot")
    page = f"rows/acme/atlas-7b/{revision_of('acme/atlas-7b')[:7]}-bfloat16.html"
    first, second = (f"acme/{name}/entries/{KEY}.json`]" for name in ("first", "contents"))
    assert f"https://board.example/board/tiny/{page}" in text[text.index(first) : text.index(second)]
    assert f"https://board.example/board/tiny@2/{page}" in text[text.index(second) :]


@pytest.mark.slow
def test_a_maintainer_declines_one_row_of_the_rolling_request(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, style="rolling")
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/corsa-1b"):
        story.push(model=model)
    story.settle()
    [request] = story.requests
    assert request.title == "Add 3 rows of tiny"
    key = f"tiny/acme/borea-1b/{revision_of('acme/borea-1b')}-bfloat16"
    hub.comment(story.target, request, f"/decline {key}", "ann")
    story.settle()
    assert request.title == "Add 3 rows of tiny"

    hub.comment(story.target, request, f"/decline {key}", "meg")
    story.settle()
    assert request.title == "Add 2 rows of tiny"
    assert hub.file(story.target, f"entries/{key}.json", request.ref) is None
    story.push(model="acme/dune-1b")
    story.settle()
    assert request.title == "Add 3 rows of tiny"
    assert hub.file(story.target, f"entries/{key}.json", request.ref) is None

    story.push(model="acme/borea-1b", right=(90, 90, 90))
    story.settle()
    assert request.title == "Add 4 rows of tiny"
    assert hub.file(story.target, f"entries/{key}.json", request.ref) is not None
    assert "request" in story.acts()
    story.end()


def test_what_is_said_of_a_file_leads_to_its_page_where_people_can_reach_it(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.contexts.public_url = "https://board.example"
    story.push(path="a b/results (1).json", right=(50, 60, 170))
    story.settle()
    page = "https://board.example/submissions/tiny/a%20b/results%20%281%29.json"
    assert f"[Current state]({page})" in story.discussions[0].description
    assert story.acts() == ["discussion"]
    story.end()


def test_many_messages_of_one_rule_are_one_line_and_a_look_that_finds_nothing_says_what_is_there() -> None:
    rule = "unidentified-model: the model is named by a path"
    outcomes = [Outcome("rejected", f"{number}.json", f"{rule}, a/b/{number}") for number in range(5)]
    outcomes += [Outcome("rejected", f"x{number}.json", f"another reason {number}") for number in range(5)]
    lines = WatchPass("board", outcomes, [Plan("..", "board", (), 3)]).lines(dry_run=True)
    assert lines == [
        f"board: rejected 0.json, 1.json, 2.json and 2 more: {rule}, a/b/0; 4 messages like this: `check` shows each",
        *(f"board: rejected x{number}.json: another reason {number}" for number in range(5)),
        "board: ..: 0 added, 0 changed, 0 removed, 3 unchanged",
    ]
