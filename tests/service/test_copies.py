"""Two models with the same values, whose rows only together show it: the later one names the other, in every form.

Which of the two that is follows from the source and from what is on main, and not from what one pass reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.publishing.entry import FOLDER
from bot.service.watch.settle import run_pass
from tests.service.stories import STATES, Story
from tests.service.table_stories import TableStory
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result

FIRST, COPY = "acme/atlas-7b", "acme/borea-1b"
SAID = "has the same value in every task, to the last bit"
RECORDS = "records = true\n"
Make = Callable[..., Story]
FORMS = pytest.mark.parametrize("form", one_of(["entries", "rolling", "commit", "table"]))


@pytest.fixture
def make(hub: Hub, tmp_path: Path) -> Make:
    def made(form: str) -> Story:
        if form == "table":
            return TableStory(hub, tmp_path, options=RECORDS)
        how = {"commit": {"form": "commit"}, "rolling": {"style": "rolling"}}.get(form, {})
        return Story(hub, tmp_path, **how)

    return made


def push_both(story: Story) -> None:
    story.hub.push(story.source, {path_of(one): result(one) for one in (FIRST, COPY)})


def entries(story: Story) -> dict[str, dict[str, Any]]:
    """The entries on main and in open requests, by model."""
    places = filter(None, [story.target.main, *(story.target.resolve(one.ref) for one in story.requests)])
    files = {path: blob.data for place in places for path, blob in place.tree.files() if path.startswith(f"{FOLDER}/")}
    return {entry["model"]["id"]: entry for entry in map(json.loads, files.values())}


def warned(story: Story) -> dict[str, list[str]]:
    """The models that entries say they are equal to, by model."""
    return {
        model: [one["message"].partition(" ")[0] for one in entry["warnings"] if one["rule"] == "duplicate-scores"]
        for model, entry in entries(story).items()
    }


def texts(story: Story) -> str:
    return "\n".join(request.description for request in story.requests)


@STATES
def test_a_row_with_a_new_name_is_no_copy_of_the_one_that_goes(make: Make, tmp_path: Path, *, is_lost: bool) -> None:
    story = make("entries")
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    declared = tmp_path / "tiny.toml"
    declared.write_text(declared.read_text().replace("[[tasks]]", f'[models]\n"{FIRST}" = "{COPY}"\n[[tasks]]', 1))
    if is_lost:
        story.lose_state()
    story.settle()

    assert warned(story)[COPY] == []
    [removal] = [request for request in story.requests if request.title.startswith("Remove")]
    assert f"its files make another row now, tiny/{COPY}/" in removal.description


@FORMS
@STATES
def test_of_two_copies_in_one_push_the_later_names_the_first(make: Make, form: str, *, is_lost: bool) -> None:
    story = make(form)
    push_both(story)
    story.settle()
    told = entries(story)
    assert warned(story) == {FIRST: [], COPY: [FIRST]}
    assert form == "commit" or texts(story).count(f"acme/atlas-7b {SAID}") == 1
    if is_lost:
        story.lose_state()
    story.news()
    run_pass(story.contexts.open_context(story.watch), rescore=True)
    assert entries(story) == told
    story.end()


@FORMS
def test_what_came_in_two_pushes_is_told_alike_by_one_pass_and_by_two(make: Make, form: str) -> None:
    story = make(form)
    story.push(model=COPY)
    if form in {"rolling", "entries"}:
        story.settle()
    story.push(model=FIRST)
    story.settle()
    assert warned(story) == {COPY: [], FIRST: [COPY]}
    story.news()
    story.end()


def test_of_one_push_the_run_that_is_older_is_the_first(make: Make) -> None:
    story = make("rolling")
    files = {path_of(FIRST): result(FIRST, date=1_790_000_100.0), path_of(COPY): result(COPY)}
    story.hub.push(story.source, files)
    story.settle()
    assert warned(story) == {COPY: [], FIRST: [COPY]}
    story.news()
    story.end()


@STATES
@pytest.mark.parametrize("declined", [FIRST, COPY])
def test_a_copy_that_people_decline_changes_nothing_about_the_other(
    make: Make, declined: str, *, is_lost: bool
) -> None:
    story = make("entries")
    push_both(story)
    story.settle()
    told = entries(story)
    [request] = [one for one in story.requests if declined in one.title]
    story.hub.set_status(story.target, request, "closed", "ann")
    if is_lost:
        story.lose_state()
    story.news()
    run_pass(story.contexts.open_context(story.watch), rescore=True)
    left = {model: entry for model, entry in told.items() if model != declined}
    assert entries(story) == left
    story.end()
