"""One look at a row settles all of it: later requests of ours with its mark are closed, and the first is updated."""

from __future__ import annotations

from pathlib import Path

from bot.publishing.publication import Marker, PostText
from bot.service.reconcile import DesiredState, reconcile
from tests.service.stories import Story
from tests.world.hub import Hub

MARK = Marker("entry", "tiny/acme/atlas-7b/0-bfloat16", "tiny")
TEXT = PostText("Add it", f"Body.\n\n{MARK.render()}")


def test_duplicates_are_closed_and_the_first_is_updated_in_one_go(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    for _ in range(3):
        hub.open_request(story.target, {"a.json": b"1"}, TEXT.title, TEXT.body, "bot")
    target = story.contexts.open_context(story.watch).targets[0][0]

    done = reconcile(target, MARK, ("a.json",), lambda _: DesiredState(TEXT, {"a.json": b"2"}), "pull-request")

    assert done.decision.why == "the open request is updated"
    (first,) = story.requests
    assert first.num == 1
    assert hub.file(story.target, "a.json", first.ref) == b"2"
    story.contexts.store.close()
