"""The process ends between the files of a request and its text: the next pass finishes the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.stories import KEY, Story
from tests.service.test_killed_writes import Killed, Writes
from tests.variants import one_of
from tests.world.hub import Hub


def killed_after(story: Story, writes: Writes, nth: int) -> None:
    """A pass that ends after so many writes, and one of a new process."""
    writes.left = nth
    with pytest.raises(Killed):
        story.settle()
    story.contexts.store.close()
    story.contexts = story.open_context_factory()
    story.settle()


@pytest.mark.parametrize("nth", one_of([2, 1, 3]))
def test_a_request_names_no_row_that_was_declined(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    story = Story(hub, tmp_path, style="rolling")
    story.push()
    story.push(model="acme/borea-1b", right=(60, 60, 70))  # a copy would name the other row
    story.settle()
    hub.comment(story.target, story.requests[0], f"/decline {KEY}", "meg")
    killed_after(story, Writes(monkeypatch), nth)  # the answer, the files, the title, the text

    [request] = story.requests
    assert (request.title, "acme/atlas-7b" in request.description) == ("Add 1 row of tiny", False)
    story.news()
    story.end()


def test_a_request_that_takes_a_row_off_the_board_says_why(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    hub.merge(story.target, story.requests[0])
    story.push(right=(60, 60, 70))
    story.settle()
    story.remove()
    killed_after(story, Writes(monkeypatch), 1)  # the files

    [request] = story.requests
    assert request.title.startswith("Remove ")
    assert "any more: the files are gone from the source." in request.description
    story.news()
    story.end()
