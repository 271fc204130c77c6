"""A source of very many files costs a fetch and a request for each hundred, not one for each file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.mark.slow
def test_six_hundred_files_are_read_over_git(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    others: dict[str, bytes | None] = {f"notes/{n}.json": b'{"note": %d}' % n for n in range(600)}
    sound: dict[str, bytes | None] = {path_of("acme/atlas-7b"): result("acme/atlas-7b")}
    hub.push(story.source, others | sound)
    hub.calls.clear()
    story.settle()

    asked = [call.raw_path for call in hub.calls if "acme/results" in call.raw_path]
    assert [path for path in asked if "/resolve/" in path] == []
    assert len([path for path in asked if "/paths-info/" in path]) == 7
    assert len(asked) <= 7 + 20
    assert story.state.submissions.counts() == {"unread": 600, "accepted": 1}
    assert story.acts() == ["request"]
    story.end()
