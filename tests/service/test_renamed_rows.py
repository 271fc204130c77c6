"""A row of a table to which a person gave another name: it is the same row, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.settings.config import Watch, parse_settings
from bot.service.watch.passes import exit_status, settle_watches
from tests.service.stories import KEY, STATES, settings_of
from tests.service.table_stories import BETTER, CONTENTS, TableStory
from tests.world.hub import Hub

TARGET = """kind = "table"
[watches.targets.table]
path = "board.csv"
key = ["Model"]
sorted_by = "Average"
[watches.targets.table.columns]
Average = { value = "average", decimals = 2 }
Sums = { value = "tasks.sums.score", decimals = 2 }
Logic = { value = "tasks.logic.score", decimals = 2 }
[watches.targets.table.columns.Model]
value = "model.id"
"""
ZEUS, HERA = b"1,Zeus,90.10,90.00,90.20\n", b"%d,Hera,15.00,10.00,20.00\n"
HEAD = b"Rank,Model,Average,Sums,Logic\n"
BOARD = HEAD + ZEUS + HERA % 2
OURS = b"%s,58.33,46.67,70.00\n"
NAMED = HEAD + ZEUS + OURS % b"2,Atlas (7B)" + HERA % 3
UPDATED = NAMED.replace(b"58.33,46.67", b"61.67,53.33")
NAMES = 'names = { "acme/atlas-7b" = "Atlas (7B)" }\n'
STAYS = "stays so; `names` of that column in `bot.toml` keeps it for good"
SAID = f"`{KEY}` is there as `Atlas (7B)` in `Model`, and {STAYS}"


class RenamedStory(TableStory):
    """A watch on a table with ranks, which the bot does not write; `without` are models that get no row."""

    without = "[]"

    @property
    def watch(self) -> Watch:
        table = TARGET.replace('key = ["Model"]', f'key = ["Model"]\nwithout = {self.without}')
        text = settings_of("hf://datasets/acme/results", CONTENTS, self.form, table + self.options)
        return parse_settings(text, "bot.toml").watches[0]


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[RenamedStory]:
    story = RenamedStory(hub, tmp_path, table=BOARD)
    yield story
    story.news()
    story.end()


def lines_of(story: RenamedStory) -> list[str]:
    [done] = settle_watches(story.contexts, [story.watch])
    assert exit_status([done]) == 0
    return done.lines(dry_run=False)


@STATES
@pytest.mark.parametrize("when", ["request", "merged", "settled"])
def test_a_renamed_row_stays_and_is_brought_up_to_date(story: RenamedStory, when: str, *, is_lost: bool) -> None:
    story.push()
    story.settle()
    assert story.proposed() == HEAD + ZEUS + OURS % b",acme/atlas-7b" + HERA % 2
    [request] = story.requests
    if when == "request":
        story.hub.push(story.target, {"board.csv": NAMED}, "Name it", user="meg", ref=request.ref)
        if is_lost:
            story.lose_state()
        assert f"tiny:   {SAID}" in lines_of(story)
        assert story.proposed() == NAMED
        story.push(right=BETTER)
        story.settle()
        assert story.proposed() == UPDATED
        assert SAID in story.requests[0].description
        assert "Out of date" not in story.requests[0].description
        story.hub.merge(story.target, story.requests[0])
        story.settle()
    else:
        story.hub.merge(story.target, request)
        if when == "settled":
            story.settle()
        story.hub.push(story.target, {"board.csv": NAMED}, "Name it", user="meg")
        if is_lost:
            story.lose_state()
        assert f"tiny:   {SAID}" in lines_of(story)
        assert (story.board(), story.requests) == (NAMED, [])
        story.push(right=BETTER)
        story.settle()
        assert story.proposed() == UPDATED
        story.hub.merge(story.target, story.requests[0])
    assert f"tiny:   {SAID}" in lines_of(story)
    assert (story.board(), story.requests) == (UPDATED, [])
    story.options = NAMES
    assert lines_of(story)[-1].endswith("1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained")


def test_what_a_person_filled_in_stays_when_the_settings_name_the_model(story: RenamedStory) -> None:
    story.push()
    story.settle()
    filled = HEAD + ZEUS + OURS % b"2,acme/atlas-7b" + HERA % 3
    story.hub.push(story.target, {"board.csv": filled}, "Ranks", user="meg", ref=story.requests[0].ref)
    story.options = NAMES
    story.settle()
    assert story.proposed() == NAMED


@pytest.mark.parametrize("names", ["", 'names = { "acme/other" = "Atlas (7B)" }\n'], ids=["a result", "a name"])
def test_a_row_that_another_model_claims_is_not_a_renamed_one(story: RenamedStory, names: str) -> None:
    """Two models may have the same numbers; so each gets its own row."""
    story.push()
    if names:
        story.hub.push(story.target, {"board.csv": NAMED})
        story.options = names
    story.push(model="acme/borea-1b")
    story.settle()
    assert b"acme/atlas-7b" in story.proposed()
    assert b"acme/borea-1b" in story.proposed()


def test_a_model_that_is_to_get_no_row_and_has_no_result_is_told(story: RenamedStory) -> None:
    story.push()
    story.without = '["acme/atlas-7b", "acme/atlas-70b"]'
    said = lines_of(story)
    assert said[-1] == "tiny:   `without` names acme/atlas-70b, and no accepted row is of such a model"
    assert story.board() == BOARD
