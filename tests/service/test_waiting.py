"""What waits for a person is named by every pass until it is settled, with the state kept and with the state lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.service.settings.config import parse_settings
from bot.service.watch.outcome import Outcome, WatchPass
from bot.service.watch.passes import exit_status, settle_watches
from tests.service.stories import STATES, TABLE_TARGET, Story, settings_of
from tests.service.table_stories import CONTENTS, TableStory, said
from tests.world.hub import Hub
from tests.world.results import path_of, result

FEW = 4  # rows that no limit would hold
NONE = "0 accepted: 0 on main, 0 open, 0 held, 0 declined, 0 unexplained"


def small_board(hub: Hub, folder: Path) -> Story:
    """A board of a few rows, each committed."""
    story = Story(hub, folder, form="commit")
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(FEW)})
    story.settle()
    story.news()
    return story


def empty_source(story: Story) -> None:
    story.hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(FEW)}, "Clean")


def rows_of(story: Story) -> int:
    return sum(path.startswith("entries/") for path, _ in story.target.main.tree.files())


def passes(story: Story, *, dry_run: bool = False, decline: str = "") -> list[WatchPass]:
    return settle_watches(story.contexts, [story.watch], dry_run=dry_run, decline=decline)


def held(outcomes: Sequence[Outcome]) -> str:
    [text] = said(list(outcomes), "held")
    return text


def digest_in(text: str) -> str:
    return text.split("approve plan ")[1].split(" ", maxsplit=1)[0]


@STATES
def test_a_source_that_lists_nothing_removes_nothing_without_a_person(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = small_board(hub, tmp_path)
    empty_source(story)
    for _ in range(2):
        if is_lost:
            story.lose_state()
        [done] = passes(story)
        assert held(done.outcomes).startswith(f"{FEW} rows would be removed")
        assert rows_of(story) == FEW
        assert [one.line for one in done.ledgers] == [f"{NONE}; {FEW} other rows would be removed by a plan"]

    story.push(model="acme/m1")
    story.settle()
    story.contexts.store.close()
    assert rows_of(story) == 1  # the source lists something again, so what it says counts


@pytest.mark.slow
@STATES
def test_a_held_plan_is_said_by_every_pass_until_it_is_answered(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = small_board(hub, tmp_path)
    empty_source(story)
    text = held(story.settle())
    for dry_run in (False, True, True, False):
        if is_lost:
            story.lose_state()
        [done] = passes(story, dry_run=dry_run)
        assert held(done.outcomes) == text
        assert [plan.digest for plan in done.plans if plan.rows] == [digest_in(text)] * len(
            [plan for plan in done.plans if plan.rows]
        )
        assert done.plans
        assert exit_status([done]) == 1

    thread = hub.conversations(story.target)[-1]
    hub.comment(story.target, thread, f"/decline {digest_in(text)}", "stranger")
    assert exit_status(passes(story)) == 1
    hub.comment(story.target, thread, f"/decline {digest_in(text)}", "meg")
    passes(story)
    for _ in range(2):
        if is_lost:
            story.lose_state()
        done = passes(story)
        assert (said(list(done[0].outcomes), "held"), exit_status(done)) == ([], 0)
        assert [one.line for one in done[0].ledgers] == [f"{NONE}; {FEW} other rows, of which the removal was declined"]
    assert rows_of(story) == FEW
    assert "is declined by this comment" in thread.comments("bot")[-1]

    hub.comment(story.target, thread, f"/approve {digest_in(text)}", "meg")
    story.settle()
    story.settle()
    story.contexts.store.close()
    assert rows_of(story) == 0


def test_cron_is_told_once_and_the_status_stays(hub: Hub, tmp_path: Path) -> None:
    story = small_board(hub, tmp_path)
    empty_source(story)
    first, second = passes(story), passes(story)

    assert [len(one.lines(dry_run=False, quiet=True)) for one in (*first, *second)] == [1, 0]
    assert [exit_status(first), exit_status(second)] == [1, 1]
    [done] = passes(story, decline=digest_in(held(second[0].outcomes)))
    assert exit_status([done]) == 0
    assert [row for row in story.state.outcomes() if row["outcome"] == "held"][1:] == []
    story.contexts.store.close()


@STATES
def test_a_refused_row_is_said_until_the_table_takes_it(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Mean\nacme/zeus,1\n")
    story.push()
    whys = []
    for _ in range(3):
        if is_lost:
            story.lose_state()
        done = passes(story)
        assert exit_status(done) == 1
        whys += said(list(done[0].outcomes), "rejected")
    assert len(whys) == 3
    assert len(set(whys)) == 1

    hub.push(story.target, {"board.csv": b"Model,Average\nacme/zeus,1\n"})
    assert exit_status(passes(story)) == 0
    assert story.board() == b"Model,Average\nacme/zeus,1\nacme/atlas-7b,58.33\n"
    story.contexts.store.close()


@STATES
def test_a_mapping_that_was_mended_takes_the_rows_that_it_refused(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Mean\nacme/zeus,1\n")
    story.push()
    assert exit_status(passes(story)) == 1
    if is_lost:
        story.lose_state()
    mended = settings_of("hf://datasets/acme/results", CONTENTS, "commit", TABLE_TARGET.replace("Average =", "Mean ="))
    [watch] = parse_settings(mended, "bot.toml").watches
    done = settle_watches(story.contexts, [watch])
    assert exit_status(done) == 0
    assert story.board() == b"Model,Mean\nacme/zeus,1\nacme/atlas-7b,58.33\n"
    [[line]] = [one.ledgers for one in done]
    assert line.line == "1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
def test_rows_that_a_table_has_already_are_on_main_while_others_are_open(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    table = b"Model,Average\nacme/atlas-7b,58.33\nacme/borea-1b,1\n"
    story = TableStory(hub, tmp_path, table=table, options='on_existing = "update"\n')
    story.push()
    story.push(model="acme/borea-1b")
    for _ in range(2):
        [done] = passes(story)
        assert [one.line for one in done.ledgers] == [
            "2 accepted: 1 on main, 1 open, 0 held, 0 declined, 0 unexplained"
        ]
        if is_lost:
            story.lose_state()
    story.contexts.store.close()
