"""The board that the service keeps for its pages: its rows, and what came, changed and went."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.service.publish.boards import WITHDRAWN
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of


def wait_until(happened: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def kinds(story: Story) -> list[tuple[str, str]]:
    target = story.watch.targets[0].to
    return [(one.kind, one.model) for one in story.state.boards.changes(target)]


def test_what_comes_changes_and_goes_is_noted_and_nothing_else(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more='max_removed = "100%"')
    store, target = story.contexts.store, story.watch.targets[0].to
    story.push()
    story.settle()
    assert kinds(story) == [("added", "acme/atlas-7b")]
    story.push(model="acme/bison-7b", path=path_of("acme/bison-7b"))
    story.settle()
    story.settle()
    assert kinds(story) == [("added", "acme/bison-7b"), ("added", "acme/atlas-7b")]
    story.remove()
    story.settle()
    assert kinds(story)[0] == ("removed", "acme/atlas-7b")
    assert story.state.boards.changes(target)[0].reason == WITHDRAWN
    assert [entry.model.id for entry in store.of("tiny").boards.entries(target)] == ["acme/bison-7b"]
    kept = store.of("tiny").boards.at(target)
    assert kept is not None
    assert kept.head == story.target.main.oid
    store.close()


def test_a_request_says_the_rank_of_its_row_and_a_lost_state_edits_nothing(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    assert "Rank" not in story.requests[0].comments()[0]
    hub.merge(story.target, story.requests[0])
    story.settle()
    for model, right in (("acme/bison-7b", (90, 90, 95)), ("acme/ceres-7b", (1, 1, 1))):
        story.push(model=model, path=path_of(model), right=right)
        story.settle()
    better, worse = (request.comments()[0] for request in story.requests)
    assert "\n\nRank 1 of 2; better than all others. Counted when this was proposed.\n\n" in better
    assert "\n\nRank 2 of 2; better than none. Counted" in worse
    assert story.acts() == ["request", "commit", "request", "request"]  # the commit makes the board

    hub.merge(story.target, story.requests[0])
    story.settle()
    assert story.acts() == ["commit"]
    story.lose_state()
    story.settle()
    assert story.requests[0].comments()[0] == worse  # it would be the third now
    story.end()


@pytest.mark.slow
def test_a_lost_state_is_found_again_without_a_commit(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    head = story.target.main.oid
    story.lose_state()
    story.settle()
    assert story.target.main.oid == head
    assert kinds(story) == [("added", "acme/atlas-7b")]
    story.contexts.store.close()


def test_a_watch_publishes_its_board_as_a_site_when_it_is_rebuilt(hub: Hub, tmp_path: Path) -> None:
    site = hub.repository("acme/site", "space")
    hub.push(site, {"README.md": b"---\nsdk: static\n---\n"})
    story = Story(hub, tmp_path, form="commit", more='site = "hf://spaces/acme/site"')
    hub.writers.add(("bot", "acme/site"))
    story.push()
    assert "site hf://spaces/acme/site" in [one.subject for one in story.settle()]
    assert b"acme/atlas-7b" in (hub.file(site, "index.html") or b"")
    head = site.main.oid
    story.settle()
    assert site.main.oid == head
    story.push(model="acme/bison-7b", path=path_of("acme/bison-7b"))
    story.settle()
    assert b"acme/bison-7b" in (hub.file(site, "index.html") or b"")
    story.contexts.store.close()


def test_a_site_that_cannot_be_written_stops_nothing_else_and_is_tried_again(hub: Hub, tmp_path: Path) -> None:
    site = hub.repository("acme/site", "space")
    hub.push(site, {"README.md": b"---\nsdk: docker\n---\n"})
    hub.writers.add(("bot", "acme/site"))
    story = Story(hub, tmp_path, form="commit", more='site = "hf://spaces/acme/site"')
    story.push()
    outcomes = {one.outcome: one for one in story.settle()}
    assert "sdk: static" in outcomes["failed"].text
    assert "written" in outcomes
    hub.push(site, {"README.md": b"---\nsdk: static\n---\n"})
    story.settle()
    assert hub.file(site, "index.html")
    story.contexts.store.close()
