"""A table that people keep, as a target: rows are added and updated in place, and every other byte stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.publishing.tables.desired import DesiredTable
from bot.service.context import ContextFactory
from bot.service.publish.table_rows import TableRows
from bot.service.store.engine import connect
from bot.service.store.state import Store
from bot.service.watch.outcome import Outcome
from bot.service.watch.passes import exit_status, settle_watches
from tests.platforms.git.test_source import Folder
from tests.service.passes import settle
from tests.service.stories import KEY
from tests.service.table_stories import (
    ABOVE,
    BELOW,
    BETTER,
    CHANGED,
    CONTENTS,
    NEW,
    OTHER,
    TABLE,
    TableStory,
    said,
    watch_of,
)
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[TableStory]:
    story = TableStory(hub, tmp_path)
    yield story
    story.end()


def test_a_new_row_is_proposed_below_the_rows_of_others(story: TableStory) -> None:
    story.push()
    story.settle()

    [request] = story.requests
    assert request.title == "Add 1 row of tiny"
    assert f"**New:** `{KEY}`, from [`" in request.description
    assert "| `Average` | `58.33` |" in request.description
    assert story.proposed() == TABLE + NEW
    assert story.acts() == ["request"]

    assert story.settle() == []
    assert story.acts() == []


def test_a_row_is_left_out_as_the_text_of_the_request_says(story: TableStory) -> None:
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    [request] = story.requests
    assert "**Close** it to decline them: " in request.description
    assert "`/decline KEY`, where KEY stands above its cells." in request.description
    story.hub.comment(story.target, request, f"/decline {KEY}", "meg")
    story.settle()

    assert story.proposed() == TABLE + OTHER
    story.news()


def test_rows_that_come_later_join_the_request_and_a_changed_one_changes_there(story: TableStory) -> None:
    story.push()
    story.settle()
    story.push(model="acme/borea-1b")
    story.settle()
    assert story.proposed() == TABLE + NEW + OTHER

    story.push(right=BETTER)
    story.settle()
    assert story.proposed() == TABLE + CHANGED + OTHER
    assert story.acts() == ["request", "commit", "rename", "edit", "commit", "edit"]


def test_a_merged_row_of_ours_is_changed_in_its_place(story: TableStory) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.hub.push(story.target, {"board.csv": story.board() + b"olympus/ares,7,\r\n"})

    story.push(right=BETTER)
    story.settle()
    assert story.proposed() == TABLE + CHANGED + b"olympus/ares,7,\r\n"
    assert f"**Changed:** `{KEY}`, from " in story.requests[0].description
    assert "| `Average` | `58.33` | `61.67` |" in story.requests[0].description

    story.push(right=(70, 70, 70))
    story.settle()
    assert story.proposed() == TABLE + b"acme/atlas-7b,67.50,\r\n" + b"olympus/ares,7,\r\n"
    assert story.acts() == ["request", "request", "commit", "edit"]


@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
def test_no_later_row_takes_the_place_of_another_with_its_key_columns(hub: Hub, tmp_path: Path, form: str) -> None:
    """As commits the two rows took the place from each other in every pass."""
    story = TableStory(hub, tmp_path, form=form, options='on_existing = "update"\n')  # type: ignore[arg-type]
    story.push()
    story.settle()
    if form == "pull-request":
        hub.merge(story.target, story.requests[0])
    story.push(right=BETTER, revision=2, path=path_of(time="2026-03-03T10-00-00.000000"))
    for _ in range(3):
        assert f"{KEY} has the same key columns" in said(story.settle(), "rejected")[0]
        assert story.board() == TABLE + NEW
        assert story.requests == []
    story.news()
    story.end()


@pytest.mark.parametrize("first", [1, 2])
def test_of_rows_with_one_key_that_counts_which_the_table_shows(hub: Hub, tmp_path: Path, first: int) -> None:
    """Two revisions of a model, and a table that has numbers of one: whichever key comes first, no cell changes."""
    story = TableStory(hub, tmp_path, options='on_existing = "update"\n')
    hub.push(story.target, {"board.csv": TABLE + NEW})
    story.push(revision=first)
    story.push(right=BETTER, revision=3 - first, path=path_of(time="2026-03-03T10-00-00.000000"))

    [rejected] = said(story.settle(), "rejected")
    assert "has the same key columns" in rejected
    assert story.requests == []
    story.end()


def test_a_merged_row_that_is_withdrawn_stays_and_the_outcome_says_why(story: TableStory) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.remove()

    assert said(story.settle(), "rejected") == [
        "no result file gives it any more; only people remove rows of this table"
    ]
    assert (story.board(), story.requests) == (TABLE + NEW, [])
    assert story.acts() == ["request"]


def test_a_proposed_row_that_is_withdrawn_leaves_the_request(story: TableStory) -> None:
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    story.remove()
    assert said(story.settle(), "rejected") == []
    assert story.proposed() == TABLE + OTHER

    story.remove(path_of("acme/borea-1b"))
    story.settle()
    assert story.requests == []
    assert story.acts()[-1] == "closed"


def test_a_request_whose_rows_came_to_main_by_another_way_is_closed(story: TableStory) -> None:
    story.push()
    story.settle()
    story.hub.push(story.target, {"board.csv": TABLE + NEW}, "By hand", user="ann")
    settle_watches(story.contexts, [story.watch])  # it counts what is where
    story.settle()
    assert story.requests == []
    assert story.acts() == ["request", "comment", "closed"]


def test_what_a_person_closed_is_not_proposed_again_but_other_rows_are(story: TableStory) -> None:
    story.push()
    story.settle()
    story.hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.lose_state()
    [done] = settle_watches(story.contexts, [story.watch])
    assert done.ledgers[0].line == "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    assert (story.requests, exit_status([done])) == ([], 0)
    for _ in "looked at", "remembered":
        [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
        assert "0 added, 0 changed, 0 removed, 0 unchanged, 1 declined" in "\n".join(dry.lines(dry_run=True))

    story.push(model="acme/borea-1b")
    story.settle()
    assert story.proposed() == TABLE + OTHER
    assert story.acts() == ["request", "request"]


@pytest.mark.slow
def test_a_request_that_was_updated_just_before_the_process_ended_stays_open(
    story: TableStory, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.remove()  # it stays on main, which each settlement says
    story.push(model="acme/borea-1b")
    story.settle()
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))

    def killed(_: object, table: DesiredTable) -> None:
        if any("borea" in key for key in table.written):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TableRows, "_remember", killed)
        with pytest.raises(KeyboardInterrupt):
            story.settle()
    story.contexts.store.close()
    story.contexts = story.open_context_factory()
    story.settle()

    assert b"acme/borea-1b,59.38" in story.proposed()
    assert story.acts() == ["request", "request", "commit", "edit"]


def test_a_lost_state_changes_neither_the_request_nor_the_table(story: TableStory) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.push(right=BETTER)
    story.settle()
    assert story.acts() == ["request", "request"]

    story.lose_state()
    story.settle()
    assert story.proposed() == TABLE + CHANGED
    assert story.acts() == []


def test_a_row_of_somebody_else_is_refused_and_stops_no_other(hub: Hub, tmp_path: Path) -> None:
    theirs = ABOVE + b"acme/atlas-7b,12.5,\r\n" + BELOW
    story = TableStory(hub, tmp_path, table=theirs)
    story.push()
    story.push(model="acme/borea-1b")
    outcomes = story.settle()

    assert said(outcomes, "rejected") == [
        "'acme/atlas-7b' has other values, and on_existing is \"refuse\": Average is 12.5, the files give 58.33"
    ]
    assert story.proposed() == theirs + OTHER
    assert story.acts() == ["request"]
    story.end()


def test_where_the_settings_allow_it_a_row_of_somebody_else_is_updated(hub: Hub, tmp_path: Path) -> None:
    theirs = ABOVE + b"acme/atlas-7b,12.5,their note\r\n" + BELOW
    story = TableStory(hub, tmp_path, table=theirs, options='on_existing = "update"\n')
    story.push()
    story.settle()

    assert story.proposed() == ABOVE + b"acme/atlas-7b,58.33,their note\r\n" + BELOW
    assert story.acts() == ["request"]
    story.end()


@pytest.mark.slow
def test_a_dry_run_says_what_it_would_do_and_does_nothing(story: TableStory) -> None:
    story.push()

    assert said(settle(story.contexts.open_context(story.watch, dry_run=True)), "proposed") != []
    assert story.acts() == []
    story.settle()
    assert story.acts() == ["request"]


@pytest.mark.slow
@pytest.mark.parametrize("form", one_of(["commit", "pull-request"]))
def test_a_folder_gets_new_and_changed_rows_in_its_table(tmp_path: Path, form: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    source, board = Folder(tmp_path / "results"), Folder(tmp_path / "board")
    board.push({"board.csv": TABLE})
    contexts = ContextFactory(Access(), Store(connect(f"sqlite:///{tmp_path / 'state.db'}")), tmp_path)
    watch = watch_of("results", "board", form)
    where = "main" if form == "commit" else "leaderboard-bot/rolling/tiny"

    def settled() -> tuple[list[Outcome], bytes]:
        outcomes = settle(contexts.open_context(watch))
        return outcomes, board.git("show", f"{where}:board.csv").encode()

    source.push({path_of(): result()})
    assert settled()[1].split() == (TABLE + NEW).split()
    commit = board.git("rev-parse", where)
    assert settled()[0] == []

    source.push({path_of(): result(right=BETTER)})
    assert settled()[1].split() == (TABLE + CHANGED).split()
    assert board.git("rev-parse", where) != commit
    assert settled()[0] == []
    contexts.store.close()


def test_a_row_that_another_folder_submitted_first_is_never_committed_without_review(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    assert (story.board(), story.acts()) == (TABLE + NEW, ["commit"])

    later = "2026-04-01T10-00-00.000000"
    story.push(path=f"rival/results_{later}.json", right=BETTER, date=1_795_000_000.0)
    assert said(story.settle(), "rejected") == [
        "first submitted in acme__atlas-7b by other files; a person has to decide"
    ]
    assert story.board() == TABLE + NEW
    assert story.acts() == ["discussion", "discussion"]  # the source hears of two values of one row
    story.end()


def test_a_maintainer_takes_one_row_out_of_the_request(story: TableStory) -> None:
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    story.hub.comment(story.target, story.requests[0], f"/decline {KEY}", "meg")
    story.settle()

    assert story.proposed() == TABLE + OTHER
    assert sorted(story.acts()) == ["comment", "commit", "edit", "rename", "request"]  # the command is answered


def test_a_row_is_not_on_main_because_the_open_request_has_another_one(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, table=TABLE + b"acme/atlas-7b,1.00,\r\n")
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    story.news()
    hub.push(story.target, {"board.csv": b"broken"})
    [done] = settle_watches(story.contexts, [story.watch], counts=True)
    line, why = done.ledgers[0].lines
    assert line == f"{CONTENTS}: 2 accepted: 0 on main, 1 open, 0 held, 0 declined, 1 unexplained"
    assert "the table does not have exactly one column 'Model'" in why
    story.end()


def test_a_table_that_is_too_large_is_named(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, table=TABLE + b"olympus/ares,7,\r\n" * 250_000)
    story.push()
    assert set(said(story.settle(), "failed")) == {"board.csv: more than 4,000,000 bytes"}
    story.end()


@pytest.mark.slow
def test_many_changes_wait_for_a_maintainer(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="commit")
    models = [f"acme/model-{number}" for number in range(7)]
    hub.push(story.source, {path_of(model): result(model) for model in models})
    story.settle()
    rows = b"".join(f"{model},58.33,\r\n".encode() for model in models)
    assert (story.board(), story.acts()) == (TABLE + rows, ["commit"])

    hub.push(story.source, {path_of(model): result(model, right=BETTER) for model in models})
    [held] = said(story.settle(), "held")
    before, plan = held.split("; approve plan ")
    assert before == "7 rows would be changed"
    assert (story.board(), story.acts()) == (TABLE + rows, ["discussion", "comment"])

    story.state.plans.approve(plan.split()[0])
    story.settle()
    assert story.board() == TABLE + rows.replace(b"58.33", b"61.67")
    assert story.acts() == ["commit", "edit", "closed"]
    story.end()


@pytest.mark.slow
def test_a_file_that_the_hub_lists_and_does_not_give_is_an_outage(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path)
    story.push()
    story.settle()
    story.push(model="acme/borea-1b")
    absent = {"X-Error-Code": "EntryNotFound"}
    fault = hub.faults.order("acme/contents.*/resolve/", status=404, headers=absent, times=-1)
    [why] = said(story.settle(), "failed")
    assert "board.csv: it is listed at" in why
    assert story.acts() == ["request"]

    fault.times = 0
    story.settle()
    assert story.proposed() == TABLE + NEW + OTHER
    assert story.acts() == ["commit", "rename", "edit"]
    story.end()
