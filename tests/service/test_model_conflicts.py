"""The pages of models beside what others say there: nothing of theirs is written over, and each refusal is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.service.model_stories import LOGICS, OTHER, SETTINGS, SUMS, THEIRS, ModelStory, said
from tests.world.hub import Hub


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[ModelStory]:
    story = ModelStory(hub, tmp_path)
    yield story
    story.end()


@pytest.mark.parametrize("in_request", [False, True])
def test_another_value_of_somebody_else_is_reported_and_never_written_over(story: ModelStory, in_request: bool) -> None:
    theirs = {".eval_results/sums.yaml": (THEIRS % 12.5).encode()}
    if in_request:
        story.hub.open_request(story.model, theirs, "Add sums", user="zoe")
    else:
        story.hub.push(story.model, theirs, user="owner")
    story.push()

    place = ".eval_results/sums.yaml in #1" if in_request else ".eval_results/sums.yaml"
    assert f"sums: conflict: {place} says 12.5, and this result 50" in said(story.approve(), "rejected")
    ours = [request for request in story.requests if request.author == "bot"]
    assert [story.hub.file(story.model, path, ours[0].ref) is None for path in (SUMS, LOGICS)] == [True, False]
    assert story.acts() == ["request"]
    assert story.on_page().count((".eval_results/sums.yaml", 12.5)) == 1


def test_a_conflict_that_comes_later_leaves_both_sides_as_they_are(story: ModelStory) -> None:
    story.begun()
    story.hub.open_request(story.model, {".eval_results/x.yml": (THEIRS % 1).encode()}, "Troll", user="zoe")
    story.push(right=(60, 60, 71))
    outcomes = story.settle()

    assert said(outcomes, "rejected") == ["sums: conflict: .eval_results/x.yml in #2 says 1, and this result 60"]
    [ours] = [request for request in story.requests if request.author == "bot"]
    assert yaml.safe_load(story.hub.file(story.model, SUMS, ours.ref) or b"")[0]["value"] == 50
    assert yaml.safe_load(story.hub.file(story.model, LOGICS, ours.ref) or b"")[0]["value"] == 71
    assert story.acts()[0] == "commit"


def test_the_same_value_of_somebody_else_is_left_alone(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/sums.yaml": (THEIRS % "50.0").encode()}, user="owner")
    story.push()
    story.approve()

    [request] = story.requests
    assert story.hub.file(story.model, SUMS, request.ref) is None
    assert "already has this value" in request.description
    assert story.acts() == ["request"]


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_what_a_person_closed_is_final_whatever_the_value(story: ModelStory, form: str) -> None:
    story.settings = f'{SETTINGS}form = "{form}"\n'
    story.begun()
    story.hub.set_status(story.model, story.requests[0], "closed", "owner")
    for number in (61, 62):
        story.push(right=(number, 60, 70))
        assert story.said("unchanged") == ["its owner closed the request; nothing more is proposed there"]
        story.lose_state()
        story.settle()
        assert (story.requests, story.acts()) == ([], [])


def test_a_repository_without_discussions_and_one_that_is_not_there_stop_no_other(story: ModelStory) -> None:
    story.new_model(OTHER).has_discussions = False
    story.push()
    story.push(model=OTHER)
    story.push(model="acme/nowhere")

    outcomes = story.approve()
    assert len(said(outcomes, "published")) == 1
    assert sorted(one.subject for one in outcomes if one.outcome == "rejected") == []  # they were named with the plan
    assert story.acts() == ["request"]
    assert story.settle() == []


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_what_takes_no_request_is_named_with_the_reason(story: ModelStory, form: str) -> None:
    story.settings = f'{SETTINGS}form = "{form}"\n'
    story.model.has_discussions = False
    story.push()
    story.push(model="acme/nowhere")

    first, second = sorted(story.said("rejected"))
    assert "models/acme/atlas-7b: 403: Discussions are disabled" in first
    assert "models/acme/nowhere: 404" in second


def test_a_file_that_the_hub_hides_is_reported_with_its_message(story: ModelStory) -> None:
    story.hub.refused_results = {"task_id: logic_all": "[0].value: out of range"}
    story.push()

    outcomes = story.approve()
    assert said(outcomes, "rejected") == [f"{LOGICS} is hidden by the Hub: [0].value: out of range"]
    assert "the Hub shows" not in said(outcomes, "published")[0]
    assert story.acts() == ["request"]


def test_a_gated_model_is_named_and_stops_no_other(story: ModelStory) -> None:
    story.model.gated = True
    story.new_model(OTHER)
    story.push()
    story.push(model=OTHER)

    outcomes = story.settle()
    assert "403" in said(outcomes, "rejected")[0]
    [plan] = said(outcomes, "held")
    assert plan.startswith("the first run would write to 1 models")
    assert story.acts() == []


def test_a_model_that_was_renamed_gets_nothing_under_its_new_name(story: ModelStory) -> None:
    story.hub.rename(story.model, "acme/atlas-8b", redirects=True)
    story.push()

    [why] = story.said("rejected")
    assert "acme/atlas-8b" in why
    assert (story.hub.requests(story.model), story.acts()) == ([], [])


def test_a_very_large_result_file_of_somebody_else_is_passed_over(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/large.yaml": b"# x\n" * 30_000}, user="owner")
    story.begun()
