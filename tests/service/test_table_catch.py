"""The safety catch at a table that people keep: what main holds counts, never what the bot remembers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.watch.outcome import Outcome
from bot.service.watch.passes import exit_status, settle_watches
from tests.service import table_stories
from tests.service.stories import STATES
from tests.service.table_stories import TableStory, said
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result

ROWS = 15  # more than the 5 that may always change
FOREIGN = b"Model,Average\n" + b"".join(b"acme/m%d,90.5\n" % number for number in range(ROWS))
OURS = FOREIGN.replace(b"90.5", b"58.33")


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[TableStory]:
    story = TableStory(hub, tmp_path, table=FOREIGN, form="commit", options='on_existing = "update"\n')
    yield story
    story.news()
    story.end()


def push_all(story: TableStory) -> None:
    models = [f"acme/m{number}" for number in range(ROWS)]
    story.hub.push(story.source, {path_of(model): result(model) for model in models})


def digest_in(outcomes: list[Outcome]) -> str:
    [text] = said(outcomes, "held")
    return text.split("approve plan ")[1].split(" ", maxsplit=1)[0]


@STATES
def test_a_first_run_does_not_rewrite_the_rows_of_others(story: TableStory, is_lost: bool) -> None:
    push_all(story)

    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    lines = "\n".join(dry.lines(dry_run=True))
    assert f"0 added, {ROWS} changed, 0 removed, 0 unchanged" in lines
    assert lines.count("Average 90.5 → 58.33") == ROWS

    outcomes = story.settle()
    digest = digest_in(outcomes)
    if is_lost:
        story.lose_state()
        outcomes = story.settle()
    assert said(outcomes, "held") == [
        (
            f"{ROWS} rows would be changed; approve plan {digest} to allow this "
            "(its cells differ from what files and mapping give)"
        )
    ]
    assert story.board() == FOREIGN

    story.state.plans.approve(digest_in(outcomes))
    [done] = settle_watches(story.contexts, [story.watch])
    assert [one.line for one in done.ledgers] == [
        f"{ROWS} accepted: {ROWS} on main, 0 open, 0 held, 0 declined, 0 unexplained"
    ]
    assert story.board() == OURS


@pytest.mark.slow
def test_rows_of_an_approved_plan_that_a_person_put_back_wait_for_another_approval(story: TableStory) -> None:
    twice = FOREIGN.replace(b"acme/m0,90.5\n", b"acme/m0,90.5\n" * 2)  # nobody can tell which row is meant
    story.hub.push(story.target, {"board.csv": twice})
    push_all(story)
    digest = digest_in(story.settle())
    story.state.plans.approve(digest)
    [refused] = said(story.settle(), "rejected")
    assert story.board() == twice.replace(b"90.5", b"58.33").replace(b"m0,58.33", b"m0,90.5")

    story.hub.push(story.target, {"board.csv": twice}, "Ours", user="ann")
    for _ in range(2):
        [done] = settle_watches(story.contexts, [story.watch], rescore=True)
        assert said(list(done.outcomes), "rejected") == [refused]
        assert digest_in(list(done.outcomes)) == digest
        assert story.board() == twice
    story.state.plans.approve(digest)
    story.settle()
    assert story.board() == twice.replace(b"90.5", b"58.33").replace(b"m0,58.33", b"m0,90.5")
    story.hub.push(story.target, {"board.csv": OURS})


@pytest.mark.slow
def test_a_lost_state_does_not_rewrite_the_rows_of_others(story: TableStory) -> None:
    push_all(story)
    story.state.plans.approve(digest_in(story.settle()))
    story.settle()
    assert story.board() == OURS
    story.hub.push(story.target, {"board.csv": FOREIGN})
    story.lose_state()

    outcomes = story.settle()
    assert len(said(outcomes, "held")) == 1
    assert story.board() == FOREIGN


def test_new_rows_go_on_and_rows_that_are_equal_are_no_change(story: TableStory) -> None:
    story.hub.push(story.target, {"board.csv": OURS})
    push_all(story)
    story.push(model="acme/new-1b")

    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert f"1 added, 0 changed, 0 removed, {ROWS} unchanged" in "\n".join(dry.lines(dry_run=True))
    assert said(story.settle(), "held") == []
    assert story.board() == OURS + b"acme/new-1b,58.33\n"


@pytest.mark.slow
def test_a_share_is_one_of_the_rows_of_the_table(story: TableStory) -> None:
    others = b"".join(b"olympus/n%d,1\n" % number for number in range(ROWS * 9))
    story.hub.push(story.target, {"board.csv": FOREIGN + others})
    push_all(story)

    assert said(story.settle(), "held") == []  # 15 of 150 rows are 10 %
    assert story.board() == OURS + others


@pytest.mark.slow
def test_a_changed_mapping_says_that_the_cells_differ_and_a_declined_plan_leaves_a_dry_run_empty(
    story: TableStory, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.table = OURS
    story.hub.push(story.target, {"board.csv": OURS})
    push_all(story)
    story.settle()
    finer = table_stories.TABLE_TARGET.replace("decimals = 2", "decimals = 3")
    monkeypatch.setattr(table_stories, "TABLE_TARGET", finer)

    [text] = said(story.settle(), "held")
    assert text.endswith("(its cells differ from what files and mapping give)")
    settle_watches(story.contexts, [story.watch], decline=digest_in(story.settle()))
    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    [plan] = dry.to_json()["plans"]
    assert (plan["changed"], plan["unchanged"], plan["declined"], exit_status([dry])) == (0, 0, ROWS, 0)
    assert [ledger.counts["declined"] for ledger in dry.ledgers] == [ROWS]
    monkeypatch.undo()
    story.settle()


def test_a_row_that_somebody_edits_is_written_again_from_its_evidence(story: TableStory) -> None:
    story.hub.push(story.target, {"board.csv": OURS})
    push_all(story)
    story.settle()
    story.hub.push(story.target, {"board.csv": OURS.replace(b"acme/m3,58.33", b"acme/m3,99.99")})

    [done] = settle_watches(story.contexts, [story.watch], counts=True)
    assert [one.text.split(":")[0] for one in done.outcomes if one.outcome == "written"] == [
        "a commit makes the change"
    ]
    assert done.ledgers[0].line == f"{ROWS} accepted: {ROWS} on main, 0 open, 0 held, 0 declined, 0 unexplained"
    assert story.board() == OURS


@pytest.mark.parametrize("form", one_of(["commit", "pull-request"]))
def test_a_row_that_somebody_removes_is_declined_until_its_files_change_or_it_is_there_again(
    hub: Hub, tmp_path: Path, form: str
) -> None:
    story = TableStory(hub, tmp_path, form=form, options='on_existing = "update"\n')
    push_all(story)
    passes(story, 3)
    ours = story.board()
    [row] = [line for line in ours.splitlines(keepends=True) if line.startswith(b"acme/m3,")]
    hub.push(story.target, {"board.csv": ours.replace(row, b"")}, user="ann")
    assert passes(story, 3) == [f"{ROWS - 1} on main, 0 open, 0 held, 1 declined, 0 unexplained"] * 3
    assert row not in story.board()
    hub.push(story.target, {"board.csv": ours}, user="ann")
    hub.push(story.target, {"board.csv": ours.replace(row, row.replace(b"58.33", b"99.99"))}, user="ann")
    passes(story, 3)
    assert story.board() == ours
    story.news()
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["commit", "pull-request"])
@pytest.mark.parametrize("is_wanted", [True, False], ids=["restored", "dropped"])
def test_rows_that_are_gone_at_once_wait_until_a_maintainer_restores_or_drops_them(
    hub: Hub, tmp_path: Path, form: str, is_wanted: bool
) -> None:
    story = TableStory(hub, tmp_path, form=form)
    push_all(story)
    passes(story, 3)
    ours = story.board()
    hub.push(story.target, {"board.csv": story.table}, user="ann")
    [held, again] = [settle_watches(story.contexts, [story.watch], counts=True) for _ in range(2)]
    assert (exit_status(held), exit_status(again)) == (1, 1)
    assert again[0].ledgers[0].line.endswith(f"0 on main, 0 open, {ROWS} held, 0 declined, 0 unexplained")
    assert story.board() == story.table
    digest = digest_in(list(again[0].outcomes))
    [thread] = [one for one in hub.conversations(story.target) if one.title.startswith("Plans of tiny")]
    assert f"/restore {digest}" in "".join(thread.comments())
    settle_watches(story.contexts, [story.watch], **{"approve" if is_wanted else "decline": digest})
    places = (
        f"{ROWS} on main, 0 open, 0 held, 0 declined" if is_wanted else f"0 on main, 0 open, 0 held, {ROWS} declined"
    )
    assert passes(story, 3)[1:] == [f"{places}, 0 unexplained"] * 2
    assert story.board() == (ours if is_wanted else story.table)
    story.news()
    story.end()


@pytest.mark.parametrize("form", one_of(["commit", "pull-request"]))
def test_a_rewritten_history_that_lost_a_row_is_a_plan(hub: Hub, tmp_path: Path, form: str) -> None:
    story = TableStory(hub, tmp_path, form=form)
    story.push()
    passes(story, 3)
    story.target.squash()
    story.hub.push(story.target, {"board.csv": story.table}, user="ann")
    [held] = said(story.settle(), "held")
    assert held.startswith("1 row that somebody took from main would come back")
    assert story.board() == story.table


def passes(story: TableStory, count: int) -> list[str]:
    """The places of the rows after each of some passes; all requests are merged after each."""
    found = []
    for _ in range(count):
        [done] = settle_watches(story.contexts, [story.watch], counts=True)
        found.append(done.ledgers[0].line.partition("accepted: ")[2])
        for request in story.requests:
            story.hub.merge(story.target, request)
    return found


def test_what_others_wrote_into_cells_is_no_markup_of_the_plan(story: TableStory) -> None:
    hostile = "90.5 @everyone | ![x](http://evil.example/x.png) <b>"
    story.hub.push(story.target, {"board.csv": FOREIGN.replace(b"m7,90.5", f'm7,"{hostile}"'.encode())})
    push_all(story)
    story.settle()

    [thread] = [one for one in story.hub.conversations(story.target) if one.title.startswith("Plans of tiny")]
    text = next(text for text in thread.comments() if "plan of tiny" in text)
    [row] = [line for line in text.splitlines() if "acme/m7/" in line]
    assert row.count(" | ") == 2
    assert "`Average 90.5 @everyone \\| ![x]" in row
