"""The model index of a card as the place of results: one block that changes and goes with the submission."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.service.model_stories import SETTINGS, ModelStory, said
from tests.world.hub import Hub

CARD = b"---\nlicense: mit\n---\n# A model\n"


@pytest.fixture
def card_story(hub: Hub, tmp_path: Path) -> Iterator[ModelStory]:
    story = ModelStory(hub, tmp_path, settings=f'{SETTINGS}form = "model-index"\n')
    yield story
    story.end()


def card(story: ModelStory, revision: str = "main") -> bytes:
    return story.hub.file(story.model, "README.md", revision) or b""


def test_a_card_gets_one_block_which_changes_and_goes_with_the_submission(card_story: ModelStory) -> None:
    story = card_story
    story.begun()
    [request] = story.requests
    [sums, logic] = yaml.safe_load(card(story, request.ref).split(b"---\n")[1])["model-index"][0]["results"]
    assert (sums["metrics"][0]["value"], logic["metrics"][0]["value"]) == (50, 70)
    assert card(story, request.ref).endswith(b"---\n# A model\n")
    story.lose_state()
    story.settle()
    assert story.acts() == []

    story.hub.merge(story.model, request)
    story.hub.push(story.model, {"README.md": card(story).replace(b"# A model", b"# Our model")}, user="owner")
    story.push(right=(60, 60, 70))
    story.settle()
    [request] = story.requests
    changed = [
        (old, new) for old, new in zip(card(story).splitlines(), card(story, request.ref).splitlines(), strict=True)
    ]
    assert [old.split()[0] for old, new in changed if old != new] == [b"#", b"value:", b"url:", b"url:"]
    story.hub.merge(story.model, request)

    story.remove()
    story.settle()
    story.hub.merge(story.model, story.requests[0])
    assert card(story) == CARD.replace(b"# A model", b"# Our model")
    assert story.acts() == ["request"] * 2


def test_a_value_of_somebody_else_in_the_card_is_a_conflict(card_story: ModelStory) -> None:
    story = card_story
    theirs = b"""---
model-index:
- name: atlas
  results:
  - dataset: {name: Sums, type: bench/sums}
    metrics:
    - {type: acc, value: 12.5}
---
"""
    story.hub.push(story.model, {"README.md": theirs}, user="owner")
    story.push()

    assert "sums: conflict: README.md has 12.5, this result is 50" in said(story.approve(), "rejected")[0]
    assert card(story, story.requests[0].ref).count(b"bench/sums") == 1
    assert story.acts() == ["request"]


def test_a_model_without_a_card_gets_none(card_story: ModelStory) -> None:
    card_story.hub.push(card_story.model, {"README.md": None}, user="owner")
    card_story.push()

    assert card_story.said("rejected") == ["README.md: the repository has no card"]
