"""The pages of models beside what others say there: nothing of theirs is written over, and each refusal is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot.service.settings.config import parse_settings
from bot.service.watch.passes import settle_watches
from tests.service.model_stories import LOGICS, MODEL, OTHER, SUMS, THEIRS, ModelStory, said
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[ModelStory]:
    story = ModelStory(hub, tmp_path)
    yield story
    story.end()


@pytest.mark.parametrize("in_request", one_of([False, True]))
def test_another_value_of_somebody_else_is_reported_and_never_written_over(story: ModelStory, in_request: bool) -> None:
    theirs = {".eval_results/sums.yaml": (THEIRS % 12.5).encode()}
    if in_request:
        story.hub.open_request(story.model, theirs, "Add sums", user="zoe")
    else:
        story.hub.push(story.model, theirs, user="owner")
    story.push()

    number = f"#1 ({story.hub.url}/{MODEL}/discussions/1)"
    place = f".eval_results/sums.yaml in {number}" if in_request else ".eval_results/sums.yaml"
    why = f"sums: conflict: {place} has 12.5, this result is 50: the bot does not overwrite it; compare how both were "
    [done] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert f"{MODEL}  logic – → 70; {why}" in "\n".join(done.lines(dry_run=True))  # before anybody approves
    [told] = said(story.approve(), "rejected")
    assert told.startswith(why)
    ours = [request for request in story.requests if request.author == "bot"]
    assert [story.hub.file(story.model, path, ours[0].ref) is None for path in (SUMS, LOGICS)] == [True, False]
    assert story.acts() == ["request"]
    assert story.on_page().count((".eval_results/sums.yaml", 12.5)) == 1


def test_a_conflict_that_comes_later_leaves_both_sides_as_they_are(story: ModelStory) -> None:
    story.begun()
    story.hub.open_request(story.model, {".eval_results/x.yml": (THEIRS % 1).encode()}, "Troll", user="zoe")
    story.push(right=(60, 60, 71))
    outcomes = story.settle()

    [why] = said(outcomes, "rejected")
    assert why.startswith(f"sums: conflict: .eval_results/x.yml in #2 ({story.hub.url}/{MODEL}/discussions/2) has 1, ")
    assert "this result is 60: the bot does not overwrite it" in why
    [ours] = [request for request in story.requests if request.author == "bot"]
    assert yaml.safe_load(story.hub.file(story.model, SUMS, ours.ref) or b"")[0]["value"] == 50
    assert yaml.safe_load(story.hub.file(story.model, LOGICS, ours.ref) or b"")[0]["value"] == 71
    assert story.acts()[0] == "commit"


@pytest.mark.parametrize(("number", "outcome"), [(50, "unchanged"), (55, "rejected")])
def test_two_boards_do_not_say_one_task_twice_on_a_page(story: ModelStory, number: int, outcome: str) -> None:
    story.begun()
    (story.folder / "other.toml").write_text((story.folder / "tiny.toml").read_text())
    text = story.settings.replace('"tiny"', '"other"').replace("tiny.toml", "other.toml")
    [watch] = parse_settings(text, "bot.toml").watches
    story.push(right=(number, 60, 70))

    [done] = settle_watches(story.contexts, [watch])
    place = f"{SUMS} in #1 ({story.hub.url}/{MODEL}/discussions/1)"
    assert f"{place} {'already has this value' if number == 50 else 'has 50, this result is 55'}" in " ".join(
        said(list(done.outcomes), outcome)
    )
    assert story.acts() == []
    story.settle()
    story.news()


@pytest.mark.parametrize(("old", "new"), one_of([(b"value: 50", b"value: 51"), (b"0-shot", b"zero-shot")]))
def test_a_file_that_its_owner_edited_in_the_request_stays_as_it_is(story: ModelStory, old: bytes, new: bytes) -> None:
    story.begun()
    [request] = story.requests
    data = (story.hub.file(story.model, SUMS, request.ref) or b"").replace(old, new)
    assert new in data
    story.hub.push(story.model, {SUMS: data}, user="owner", ref=request.ref)
    for logic in (71, 72):
        story.push(right=(50, 60, logic))
        story.settle()
        assert story.hub.file(story.model, SUMS, request.ref) == data
        assert story.proposed(LOGICS)["value"] == logic
    story.news()


@pytest.mark.slow
def test_a_request_whose_files_were_all_edited_stays_open_until_the_row_is_withdrawn(story: ModelStory) -> None:
    story.begun()
    [request] = story.requests
    edited = {
        path: (story.hub.file(story.model, path, request.ref) or b"").replace(b"0-shot", b"zero-shot")
        for path in (SUMS, LOGICS)
    }
    story.hub.push(story.model, edited, user="owner", ref=request.ref)
    story.push(date=1_795_000_000.0)
    story.settle()
    assert [story.hub.file(story.model, path, request.ref) for path in edited] == list(edited.values())
    assert (story.requests, story.acts()) == ([request], [])
    story.remove()
    story.settle()
    assert (story.requests, story.acts()) == ([], ["comment", "closed"])


def test_the_same_value_of_somebody_else_is_left_alone(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/sums.yaml": (THEIRS % "50.0").encode()}, user="owner")
    story.push()
    story.approve()

    [request] = story.requests
    assert story.hub.file(story.model, SUMS, request.ref) is None
    assert "already has this value" in request.description
    assert story.acts() == ["request"]


def ledger_of(story: ModelStory) -> list[str]:
    [done] = settle_watches(story.contexts, [story.watch], counts=True)
    return done.ledgers[0].lines


def test_values_that_somebody_else_gives_already_are_explained(story: ModelStory) -> None:
    logic = (THEIRS % 70).replace("bench/sums, task_id: sums", "bench/logic, task_id: logic_all")
    theirs = {".eval_results/x.yaml": (THEIRS % 50 + logic).encode()}
    story.hub.push(story.model, theirs, user="owner")
    story.push()
    assert ledger_of(story) == ["hf://models: 1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"]


def test_a_row_that_a_model_does_not_take_is_unexplained_with_the_reason(story: ModelStory) -> None:
    story.begun()
    story.hub.delete(story.model)
    story.push(right=(55, 60, 70))
    line, why = ledger_of(story)
    assert line == "hf://models: 1 accepted: 0 on main, 0 open, 0 held, 0 declined, 1 unexplained"
    assert why.endswith(f"the Hub refused: hf://models/{MODEL}: 404: Repository {MODEL} not found")


def test_a_value_that_a_person_closed_is_not_proposed_again(story: ModelStory) -> None:
    story.begun()
    story.hub.set_status(story.model, story.requests[0], "closed", "owner")
    for day in ("05", "06"):  # run again, with the same outcome
        story.push(path=path_of(time=f"2026-03-{day}T10-00-00.000000"), date=1_795_000_000.0 + int(day))
        assert story.said("unchanged") == ["its owner closed a request with these values; they are not proposed again"]
        story.lose_state()
        story.settle()
        assert (story.requests, story.acts()) == ([], [])


@pytest.mark.slow
def test_a_new_value_after_a_closing_is_proposed_once_more_and_a_second_closing_is_final(
    story: ModelStory,
) -> None:
    story.begun()
    story.hub.set_status(story.model, story.requests[0], "closed", "owner")
    story.push(right=(61, 60, 70))
    story.settle()
    [request] = story.requests
    assert story.acts() == ["request"]
    assert story.proposed()["value"] == 61
    assert story.hub.file(story.model, LOGICS, request.ref) is None  # of the other task the same value was closed
    assert request.title == "Add evaluation results: sums"

    story.hub.set_status(story.model, request, "closed", "owner")
    for number in (62, 61, 50):
        story.push(right=(number, 60, 70))
        assert story.said("unchanged") == ["its owner closed more than one request; nothing more is proposed there"]
        story.lose_state()
        story.settle()
        assert (story.requests, story.acts()) == ([], [])


def test_what_was_merged_may_still_be_withdrawn_after_a_change_was_closed(story: ModelStory) -> None:
    story.begun()
    story.hub.merge(story.model, story.requests[0])
    story.push(right=(61, 60, 70))
    story.settle()
    story.hub.set_status(story.model, story.requests[0], "closed", "owner")
    assert story.acts() == ["request"]

    story.remove()
    story.settle()
    [request] = story.requests
    assert request.title == "Remove evaluation results of Tiny"
    story.hub.set_status(story.model, request, "closed", "owner")
    story.lose_state()
    story.settle()
    assert (story.requests, story.acts()) == ([], ["request"])


def test_a_repository_without_discussions_and_one_that_is_not_there_stop_no_other(story: ModelStory) -> None:
    story.new_model(OTHER).has_discussions = False
    story.push()
    story.push(model=OTHER)
    story.push(model="acme/nowhere")

    outcomes = story.approve()
    assert len(said(outcomes, "proposed")) == 1
    assert sorted(one.subject for one in outcomes if one.outcome == "rejected") == []  # they were named with the plan
    assert story.acts() == ["request"]
    assert story.settle() == []


def test_what_takes_no_request_is_named_with_the_reason(story: ModelStory) -> None:
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
    assert said(outcomes, "rejected") == [f"the Hub hides {LOGICS}: [0].value: out of range"]
    assert "the Hub shows" not in said(outcomes, "proposed")[0]
    assert story.acts() == ["request"]


def test_a_gated_model_is_named_and_stops_no_other(story: ModelStory) -> None:
    story.model.gated = True
    story.new_model(OTHER)
    story.push()
    story.push(model=OTHER)

    outcomes = story.settle()
    assert "403" in said(outcomes, "rejected")[0]
    [plan] = said(outcomes, "held")
    assert plan.startswith("the first run would write to 1 model;")
    assert story.acts() == []


def test_a_model_that_was_renamed_gets_nothing_under_its_new_name(story: ModelStory) -> None:
    story.hub.rename(story.model, "acme/atlas-8b", redirects=True)
    story.push()

    [why] = story.said("rejected")
    assert "acme/atlas-8b" in why
    assert (story.hub.requests(story.model), story.acts()) == ([], [])


@pytest.mark.slow
def test_a_very_large_result_file_of_somebody_else_is_passed_over(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/large.yaml": b"# x\n" * 30_000}, user="owner")
    story.begun()
