"""A lost state, two servers, an outage, a source that vanishes: time is lost, and no post is lost or doubled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.settings.config import parse_settings
from bot.service.store.items import marks
from tests.service.passes import settle
from tests.service.stories import KEY, SETTINGS, STATES, Story
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


@pytest.mark.slow
def test_a_person_s_closing_is_respected_also_after_the_state_is_lost(story: Story) -> None:
    story.push()
    story.settle()
    story.hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.settle()
    story.lose_state()
    story.settle()
    assert story.acts() == ["request"]

    story.push(right=(60, 60, 70))
    story.settle()
    assert [request.num for request in story.requests] == [2]
    assert story.acts() == ["request"]


def test_a_lost_state_costs_no_post(story: Story) -> None:
    story.push()
    story.push(model="acme/borea-1b", right=(50, 60, 170))
    story.settle()
    assert story.acts() == ["request", "discussion"]
    story.lose_state()
    story.settle()

    assert story.acts() == []


@pytest.mark.parametrize("is_lost", one_of([False, True]))
def test_a_row_is_compared_with_those_on_main_also_after_the_state_is_lost(
    hub: Hub, tmp_path: Path, *, is_lost: bool
) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    if is_lost:
        story.lose_state()
    story.push(model="acme/borea-1b")  # with the same values
    story.settle()

    rows = [json.loads(blob.data) for path, blob in story.target.main.tree.files() if path.startswith("entries/")]
    assert {row["model"]["id"]: [one["rule"] for one in row["warnings"]] for row in rows} == {
        "acme/atlas-7b": [],
        "acme/borea-1b": ["duplicate-scores"],
    }
    story.news()
    story.end()


def test_a_command_is_answered_once_everything_is_read_again(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    ignore = "/ignore value-out-of-range until 2099-01-01 because the meter was off"
    story.hub.comment(story.source, story.discussions[0], ignore, "meg")
    story.lose_state()
    story.settle()

    [request] = story.requests
    assert request.title == "Add acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing"
    assert story.acts() == ["discussion", "comment", "request", "comment", "closed"]


def test_a_push_that_nobody_told_us_of_is_found_by_the_next_settlement(story: Story) -> None:
    story.hub.deliveries.lose = True
    story.push()
    story.settle()

    assert story.acts() == ["request"]


@pytest.mark.slow
def test_two_servers_on_one_watch_post_once(story: Story) -> None:
    other = story.open_context_factory("other.db")
    story.push()
    story.settle()
    story.settle(other)
    story.push(right=(50, 60, 170), model="acme/borea-1b")
    story.settle(other)
    story.settle()
    other.store.close()

    assert story.acts() == ["request", "discussion"]


def test_what_two_servers_said_at_once_is_said_once_in_the_end(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    [first] = story.discussions
    story.hub.open_discussion(story.source, first.title, first.description, "bot")
    assert story.acts() == ["discussion", "discussion"]
    story.push(right=(50, 160, 170))
    story.settle()

    assert [discussion.num for discussion in story.discussions] == [first.num]
    assert story.acts() == ["comment", "closed", "edit"]


def test_an_outage_leaves_the_push_to_the_next_settlement(story: Story) -> None:
    story.push()
    fault = story.hub.faults.order("/commit/", status=503, times=-1)
    failed = story.settle()
    assert [(one.outcome, one.status) for one in failed] == [("failed", 3)]
    fault.times = 0
    story.settle()

    assert story.acts() == ["request"]


def test_a_source_that_vanishes_is_one_failure_and_nothing_is_withdrawn(story: Story) -> None:
    story.push()
    story.settle()
    story.source.gated = True
    assert {(one.outcome, one.status) for one in story.settle()} == {("failed", 4)}
    story.source.gated = False
    story.hub.rename(story.source, "acme/elsewhere")
    assert {(one.outcome, one.status) for one in story.settle()} == {("failed", 4)}
    story.hub.rename(story.source, "acme/results")

    assert story.acts() == ["request"]
    assert len(story.requests) == 1


@pytest.mark.parametrize("form", one_of(["pull-request", "commit", "comment"]))
def test_what_was_withdrawn_while_the_state_was_lost_is_withdrawn(hub: Hub, tmp_path: Path, form: str) -> None:
    story = Story(hub, tmp_path, form=form)
    story.push()
    story.push(model="acme/borea-1b")
    story.push(model="acme/corvus-2b", right=(50, 60, 170))
    story.settle()
    story.news()
    story.remove()
    story.remove(path_of("acme/corvus-2b"))
    story.lose_state()
    story.settle()

    said = {
        "pull-request": ["comment", "closed", "comment", "closed"],
        "commit": ["commit", "comment", "closed", "commit"],
        "comment": ["edit", "comment", "closed"],
    }
    assert story.acts() == said[form]
    story.end()


def test_rows_of_another_source_are_left_alone_when_the_state_is_lost(hub: Hub, tmp_path: Path) -> None:
    other = Story(hub, tmp_path)
    other.push()
    other.settle()
    other.news()
    elsewhere = hub.repository("acme/elsewhere")
    hub.push(elsewhere, {path_of("acme/borea-1b"): other.result(model="acme/borea-1b")})
    text = SETTINGS.format(form="pull-request", style="entry", limit=20, more="").replace(
        "acme/results", "acme/elsewhere"
    )
    context = other.open_context_factory("second.db").open_context(parse_settings(text, "bot.toml").watches[0])
    settle(context)
    context.state.db.close()

    assert len(other.requests) == 2
    assert other.acts() == ["request"]
    other.end()


@pytest.mark.slow
def test_a_request_goes_on_naming_the_first_submitter_after_the_state_was_lost(story: Story) -> None:
    story.push()
    story.settle()
    story.push(path="later/results_2026-04-02T10-00-00.000000.json", right=(60, 60, 70))
    story.settle()
    [request] = story.requests
    assert request.title.endswith(", first submitted in acme__atlas-7b")
    text = request.description
    story.news()
    story.lose_state()
    story.settle()
    assert (request.title.endswith(", first submitted in acme__atlas-7b"), request.description) == (True, text)


@STATES
def test_a_row_that_a_person_has_to_review_is_not_committed_at_the_next_look(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    path = f"entries/{KEY}.json"
    before = hub.file(story.target, path)
    hub.push(
        story.source,
        {
            path_of(): story.result(right=(60, 60, None)),
            "later/results_2026-02-02T10-00-00.000000.json": story.result(right=(10, 10, 90)),
        },
    )
    story.settle()
    assert story.requests[0].title.endswith(", first submitted in acme__atlas-7b")
    story.state.items.mark(marks("row", [KEY], ["hf://datasets/acme/contents"]), 0.0)
    if is_lost:
        story.lose_state()
    story.settle()
    assert (hub.file(story.target, path), len(story.requests)) == (before, 1)
    story.contexts.store.close()


@pytest.mark.parametrize(
    "place", one_of(["/tree/", "/api/datasets/acme/results/refs", f"/resolve/.*{path_of('acme/borea-1b')}"])
)
def test_what_cannot_be_read_after_the_state_was_lost_is_not_withdrawn(hub: Hub, tmp_path: Path, place: str) -> None:
    story = Story(hub, tmp_path, style="rolling", limit=1)
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/corvus-2b"):
        story.push(model=model)
    story.settle()
    [request] = story.requests
    story.news()
    story.lose_state()
    hub.faults.order(f"acme/results.*{place}|{place}.*acme/results|^{place}", status=503, times=-1)
    assert "failed" in {one.outcome for one in story.settle()}
    assert (story.acts(), story.hub.conversations(story.target)) == ([], [])

    hub.faults.ordered.clear()
    story.settle()
    assert story.requests == [request]
    story.end()


@pytest.mark.parametrize(("count", "is_pushed"), one_of([(7, True), (7, False), (6, False)]))
def test_an_approval_waits_for_a_row_that_cannot_be_looked_at(
    hub: Hub, tmp_path: Path, count: int, *, is_pushed: bool
) -> None:
    """Without that row the plan would be another, and the approval about none that waits.

    Nor does a row go alone that somebody pushes to meanwhile, nor do five that need no approval without the sixth.
    """
    story = Story(hub, tmp_path, style="rolling")
    models = [f"acme/model-{number}" for number in range(count)]
    hub.push(story.source, {path_of(model): result(model) for model in models})
    story.settle()
    hub.merge(story.target, story.requests[0])
    story.settle()
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    story.settle()
    [plan] = hub.conversations(story.target)
    [command] = re.findall(r"/approve [0-9a-f]{32}", "\n".join(plan.comments("bot")))
    hub.comment(story.target, plan, command, "meg")
    story.lose_state()
    fault = hub.faults.order(f"/resolve/.*{path_of(models[3])}", status=503, times=-1)
    story.settle()
    if is_pushed:
        older = path_of(models[0], "2026-01-01T10-00-00.000000")
        hub.push(story.source, {older: result(models[0], right=(40, 40, 40), date=1_767_000_000.0)})
        settle(story.contexts.open_context(story.watch), everything=False)
    assert story.requests == []
    fault.times = 0
    story.settle()
    story.settle()

    assert [request.title for request in story.requests] == [f"Score {count} rows of tiny again"]
    story.news()
    story.end()


def test_a_faulty_file_that_cannot_be_read_again_is_not_called_corrected(story: Story) -> None:
    story.push(right=(50, 60, 170))
    story.push(model="acme/borea-1b")
    story.settle()
    story.news()
    story.lose_state()
    fault = story.hub.faults.order(f"/resolve/.*{path_of()}", status=503, times=-1)
    story.settle()
    fault.times = 0
    story.settle()
    assert (len(story.discussions), story.acts()) == (1, [])
