"""A story of a dataset card that shows the table."""

from __future__ import annotations

from pathlib import Path

from bot.publishing.card import BEGIN, CARD, END
from tests.service.stories import Story
from tests.world.hub import Hub

OURS = f"---\ntitle: Board\n---\nOurs.\n\n{BEGIN}\n{END}\n\nAlso ours.\n"


def test_a_dataset_s_card_follows_what_is_merged(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    hub.push(story.target, {CARD: OURS.encode()})
    story.push()
    story.settle()

    card = hub.file(story.target, CARD)
    assert card is not None
    assert "`acme/atlas-7b`" in card.decode()
    assert story.acts() == ["commit", "commit"]
    story.end()
