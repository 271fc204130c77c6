"""The board that the service keeps for its pages: its rows, and what came, changed and went."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of


def wait_until(happened: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def kinds(story: Story) -> list[tuple[str, str]]:
    target = story.watch.targets[0].to
    return [(one.kind, one.model) for one in story.contexts.store.board_changes("tiny", target)]


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
    assert [entry.model.id for entry in store.board_entries("tiny", target)] == ["acme/bison-7b"]
    kept = store.kept_board("tiny", target)
    assert kept is not None
    assert kept.head == story.target.main.oid
    store.close()


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
