"""The ledger, and what people do on main: each accepted row is accounted for, with the state kept and lost."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from bot.publishing.decisions import RowDecision
from bot.service.publish.ledger import Ledger, ledgers_due, next_look
from bot.service.store.memory import LEDGER, RECOUNT, SWEPT
from bot.service.watch.outcome import WatchPass
from bot.service.watch.passes import exit_status, settle_watches, status_lines, status_of_ledgers
from bot.service.watch.settle import run_pass
from tests.service.passes import line_of
from tests.service.stories import STATES, Story
from tests.service.table_stories import TableStory, said
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

OLDER = "; 1 of them is on main with other numbers"
FORMS = pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
ROWS = 8
GONE = 6  # more than the 5 that may always go


def board(hub: Hub, folder: Path, form: str, rows: int = ROWS, style: str = "entry") -> Story:
    """A board with all rows on main."""
    story = Story(hub, folder, form=form, style=style)
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(rows)})
    story.settle()
    for request in story.requests:
        hub.merge(story.target, request)
    story.settle()
    return story


def rows_of(story: Story) -> list[str]:
    return sorted(path for path, _ in story.target.main.tree.files() if path.startswith("entries/"))


def settle(story: Story) -> WatchPass:
    [done] = settle_watches(story.contexts, [story.watch])
    return done


def ledger(done: WatchPass) -> str:
    [one] = done.ledgers
    return one.line


def status(story: Story) -> tuple[list[str], int]:
    """What `status` says without a state; it writes nothing."""
    fresh = story.open_context_factory("status.db")
    passes = settle_watches(fresh, [story.watch], dry_run=True)
    assert [fresh.store.of("tiny").rows.accepted(), fresh.store.of("tiny").items.all()] == [{}, []]
    fresh.store.close()
    return status_lines(passes), status_of_ledgers(passes)


def held(done: WatchPass) -> str:
    [text] = said(list(done.outcomes), "held")
    return text


def digest_in(text: str) -> str:
    return text.split("approve plan ")[1].split(" ", maxsplit=1)[0]


def test_every_accepted_row_is_accounted_for(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    story.push(model="acme/m3")
    story.push(model="acme/m4")
    story.settle()
    hub.set_status(story.target, story.requests[-1], "closed", "ann")
    line = "5 accepted: 3 on main, 1 open, 0 held, 1 declined, 0 unexplained"

    done = settle(story)
    assert (ledger(done), exit_status([done])) == (line, 0)
    assert done.lines(dry_run=False)[-1] == f"tiny: hf://datasets/acme/contents: {line}"
    story.news()
    [declined] = [key for key in story.state.rows.accepted() if "acme/m4" in key]
    waits = "tiny:   1 request waits to be merged: 1 row to add"
    assert status(story) == ([f"tiny: hf://datasets/acme/contents: {line}", waits, f"tiny:   declined {declined}"], 0)
    assert done.to_json()["ledgers"][0]["declined_rows"] == [declined]
    assert story.acts() == []
    story.lose_state()
    assert ledger(settle(story)) == line
    story.contexts.store.close()


@pytest.mark.parametrize(
    ("answer", "after"),
    one_of([("decline", f"; {GONE} other rows, of which the removal was declined"), ("approve", "")]),
)
def test_an_answer_to_a_plan_makes_the_ledger_anew(hub: Hub, tmp_path: Path, answer: str, after: str) -> None:
    story = board(hub, tmp_path, "commit")
    state, to = story.state, "hf://datasets/acme/contents"
    hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(GONE)}, "Clean")
    digest = digest_in(held(settle(story)))
    line = f"{ROWS - GONE} accepted: {ROWS - GONE} on main, 0 open, 0 held, 0 declined, 0 unexplained"
    assert line_of(state, to) == f"{line}; {GONE} other rows would be removed by a plan"
    assert {"approve": state.plans.approve, "decline": state.plans.decline}[answer](digest)
    story.settle()  # as the service does, which counts when it must

    assert line_of(state, to) == f"{line}{after}"
    story.contexts.store.close()


@pytest.mark.slow
@pytest.mark.parametrize(("right", "effect"), one_of([(None, "to remove"), ((60, 60, 70), "to change")]))
def test_requests_that_wait_for_a_merge_are_counted_with_what_they_do(
    hub: Hub, tmp_path: Path, right: tuple[int, int, int] | None, effect: str
) -> None:
    story = board(hub, tmp_path, "pull-request")
    models = [f"acme/m{n}" for n in range(GONE)]
    hub.push(story.source, {path_of(one): result(one, right=right) if right else None for one in models})
    settle_watches(story.contexts, [story.watch], approve=digest_in(held(settle(story))))
    story.push(model="acme/new")
    [ledger] = settle(story).ledgers

    opened = [one for one in story.requests if one.status == "open"]
    assert ledger.requests.text == f"{len(opened)} requests wait to be merged: 1 row to add, {GONE} rows {effect}"
    for request in opened:
        hub.merge(story.target, request)
    settle(story)
    [ledger] = settle(story).ledgers
    assert (ledger.requests.text, ledger.leaving) == ("", "")
    story.contexts.store.close()


def test_an_open_request_of_a_table_is_counted_with_what_it_does(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="pull-request", table=b"Model,Average\nacme/zeus,1\n")
    story.push(model="acme/borea-1b")
    story.push()
    [ledger] = settle(story).ledgers
    assert ledger.requests.text == "1 request waits to be merged: 2 rows to add"
    hub.merge(story.target, story.requests[0])
    settle(story)
    story.remove()
    story.push(model="acme/borea-1b", right=(60, 60, 70))
    settle(story)
    [ledger] = settle(story).ledgers
    assert ledger.requests.text == "1 request waits to be merged: 1 row to change"  # only people remove rows of a table
    story.contexts.store.close()


def test_rows_with_one_reason_share_its_line() -> None:
    why = dict.fromkeys(["tiny/a", "tiny/b"], "commits wait until 20:16 UTC") | {"tiny/c": "refused"}
    assert Ledger("board", {"main": 1}, why).lines == [
        "board: 4 accepted: 1 on main, 0 open, 0 held, 0 declined, 3 unexplained",
        "  unexplained tiny/c: refused",
        "  2 rows are unexplained: commits wait until 20:16 UTC",
        "    tiny/a",
        "    tiny/b",
    ]


def test_after_an_outage_the_rows_are_counted_with_the_first_that_is_written(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", 1)
    store, to, now = story.contexts.store, "hf://datasets/acme/contents", time.time()
    settle(story)
    hub.faults.order("/", status=403, times=-1)
    for later in (100, 200):
        context = replace(story.contexts.open_context(story.watch), clock=lambda later=later: now + later)
        run_pass(context, everything=False)
    hub.faults.ordered.clear()
    story.push(model="acme/new")
    run_pass(replace(context, clock=lambda: now + 300), everything=False)
    assert line_of(store.of("tiny"), to).startswith("2 accepted: 1 on main, 1 open, ")
    story.contexts.store.close()


def test_after_what_happened_the_rows_are_counted_again_within_a_minute(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", 1)
    store, to, now = story.contexts.store, "hf://datasets/acme/contents", time.time()
    settle(story)

    def pass_at(moment: float) -> str:
        context = replace(story.contexts.open_context(story.watch), clock=lambda: moment)
        run_pass(context, everything=False)
        return str(line_of(store.of("tiny"), to))[:34]

    story.push(model="acme/new")
    assert pass_at(now + 20) == "1 accepted: 1 on main, 0 open, 0 h"
    due = ledgers_due(store.of("tiny"))
    assert due is not None
    assert now + 50 < due < now + 70
    assert next_look(store.of("tiny")) == due
    hub.faults.order("/", status=503, times=-1)
    assert pass_at(due) == "1 accepted: 1 on main, 0 open, 0 h"
    hub.faults.ordered.clear()
    again = ledgers_due(store.of("tiny"))
    assert again is not None  # it could not be counted, and that is not forgotten
    assert pass_at(again) == "2 accepted: 1 on main, 1 open, 0 h"
    assert ledgers_due(store.of("tiny")) is None

    asked = len(hub.log)
    pass_at(again + 100)
    idle = len(hub.log) - asked
    hub.faults.order("/discussions", method="POST", status=403, times=-1)
    hub.faults.order("/commit/", method="POST", status=403, times=-1)
    story.push(model="acme/other")
    assert pass_at(again + 200) == "3 accepted: 1 on main, 1 open, 0 h"  # and one that fails
    assert idle < 10
    hub.faults.ordered.clear()

    assert pass_at(again + 9_000) == "3 accepted: 1 on main, 2 open, 0 h"
    known = store.of("tiny").recall(LEDGER, target=to)
    assert known is not None
    store.of("tiny").remember(LEDGER, structs.replace(known, took=30.0), target=to)  # a board that takes long
    store.of("tiny").remember(RECOUNT, None)
    story.push(model="acme/third")
    pass_at(known.at + 100)
    assert ledgers_due(store.of("tiny")) == known.at + 20 * 30
    store.close()


@pytest.mark.slow
def test_a_plan_that_stays_declined_is_counted_once(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(ROWS)}, "Clean")
    digest = digest_in(held(settle(story)))
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/decline {digest}", "meg")
    story.settle()
    story.settle()
    first = story.state.recall(LEDGER, target="hf://datasets/acme/contents")
    story.settle()

    assert first is not None
    assert first.line.endswith(f"; {ROWS} other rows, of which the removal was declined")
    assert story.state.recall(LEDGER, target="hf://datasets/acme/contents") == first
    story.contexts.store.close()


def test_a_row_that_cannot_be_written_is_unexplained_with_its_reason(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Mean\nacme/zeus,1\n")
    story.push()
    done = settle(story)

    assert ledger(done) == "1 accepted: 0 on main, 0 open, 0 held, 0 declined, 1 unexplained"
    lines, wrong = status(story)
    assert wrong == 1
    assert "unexplained tiny/acme/atlas-7b/" in lines[1]
    hub.push(story.target, {"board.csv": b"Model,Average\nacme/zeus,1\n"})
    assert ledger(settle(story)) == "1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    assert status(story)[1] == 0
    story.contexts.store.close()


@pytest.mark.slow
def test_rows_of_a_table_that_takes_none_any_more_are_unexplained_with_its_reason(hub: Hub, tmp_path: Path) -> None:
    """Two rows were written, and then a workflow began to write the table; nothing of them waits."""
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Average\nacme/zeus,1\n")
    story.push()
    story.push(model="acme/borea-1b")
    settle(story)
    jobs = b"on: push\njobs:\n  a:\n    steps:\n      - run: python make.py > board.csv && git push\n"
    hub.push(story.target, {".github/workflows/make.yml": jobs})
    settle(story)
    lines, wrong = status(story)
    assert wrong == 1
    assert lines[0].endswith("2 accepted: 0 on main, 0 open, 0 held, 0 declined, 2 unexplained")
    assert lines[1].startswith("tiny:   2 rows are unexplained: ")
    assert "make.yml names board.csv" in lines[1]
    assert len(lines[2:]) == 2
    story.contexts.store.close()


@pytest.mark.slow
@FORMS
def test_rows_that_a_force_push_took_wait_for_a_person(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    first = list(story.target.main.history())[-1]
    story.target.refs["refs/heads/main"] = first
    texts = []
    for _ in range(2):
        done = settle(story)
        texts.append(held(done))
        assert exit_status([done]) == 1
        assert ledger(done) == f"{ROWS} accepted: 0 on main, 0 open, {ROWS} held, 0 declined, 0 unexplained"
        assert rows_of(story) == []
    assert texts[0] == texts[1]
    assert texts[0].startswith(f"{ROWS} rows that somebody took from main would come back")

    thread = hub.conversations(story.target)[-1]
    hub.comment(story.target, thread, f"/restore {digest_in(texts[0])}", "meg")
    settle(story)
    settle(story)
    for request in story.requests:
        hub.merge(story.target, request)
    done = settle(story)
    assert len(rows_of(story)) == ROWS
    assert (ledger(done), exit_status([done])) == (
        f"{ROWS} accepted: {ROWS} on main, 0 open, 0 held, 0 declined, 0 unexplained",
        0,
    )
    story.contexts.store.close()


@pytest.mark.slow
@FORMS
@STATES
def test_rows_that_a_second_force_push_takes_are_asked_about_again(
    hub: Hub, tmp_path: Path, form: str, is_lost: bool
) -> None:
    story = board(hub, tmp_path, form)
    first = list(story.target.main.history())[-1]
    for _ in range(2):
        story.target.refs["refs/heads/main"] = first
        done = settle(story)
        assert ledger(done) == f"{ROWS} accepted: 0 on main, 0 open, {ROWS} held, 0 declined, 0 unexplained"
        settle_watches(story.contexts, [story.watch], approve=digest_in(held(done)))
        for request in story.requests:
            hub.merge(story.target, request)
        if is_lost:
            story.lose_state()
        done = settle(story)
        assert ledger(done) == f"{ROWS} accepted: {ROWS} on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_dry_run_counts_the_rows_that_stay_beside_those_of_a_held_plan(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request")
    hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(GONE)})
    settle(story)
    if is_lost:
        story.lose_state()
    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert f"0 added, 0 changed, {GONE} removed, {ROWS - GONE} unchanged" in "\n".join(dry.lines(dry_run=True))
    story.contexts.store.close()


@pytest.mark.slow
@FORMS
def test_rows_that_are_let_go_do_not_come_back(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    story.target.refs["refs/heads/main"] = list(story.target.main.history())[-1]
    text = held(settle(story))
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/drop {digest_in(text)}", "meg")
    for _ in range(3):
        done = settle(story)
    assert rows_of(story) == []
    assert story.requests == []
    assert (ledger(done), exit_status([done])) == (
        f"{ROWS} accepted: 0 on main, 0 open, 0 held, {ROWS} declined, 0 unexplained",
        0,
    )
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_row_that_is_let_go_is_asked_about_with_no_later_one_and_pushes_go_on(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    history = list(story.target.main.history())
    rows = [sum(path.startswith("entries/") for path, _ in one.tree.files()) for one in history]
    story.target.refs["refs/heads/main"] = history[rows.index(2)]
    text = held(settle(story))
    assert text.startswith("1 row that")
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/drop {digest_in(text)}", "meg")
    settle(story)
    settle(story)

    story.target.refs["refs/heads/main"] = history[rows.index(1)]
    [path] = rows_of(story)
    story.push(model="/".join(path.split("/")[2:4]), right=(60, 60, 70))
    if is_lost:
        story.lose_state()
    for _ in range(2):
        done = settle(story)
    assert held(done).startswith("1 row that somebody took from main")
    assert ledger(done) == "3 accepted: 0 on main, 1 open, 1 held, 1 declined, 0 unexplained" + OLDER
    [request] = story.requests
    assert request.title.startswith("Update ")
    story.contexts.store.close()


@STATES
def test_a_lost_history_of_merged_requests_is_a_plan_without_the_state_too(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    story.target.refs["refs/heads/main"] = list(story.target.main.history())[-1]
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert held(done).startswith("3 rows that somebody took from main")
    assert ledger(done) == "3 accepted: 0 on main, 0 open, 3 held, 0 declined, 0 unexplained"
    assert story.requests == []
    story.contexts.store.close()


@STATES
def test_a_merged_row_that_a_person_removes_is_declined(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    path = rows_of(story)[0]
    hub.push(story.target, {path: None}, "Not this one")
    if is_lost:
        story.lose_state()
    for _ in range(2):
        done = settle(story)
    assert ledger(done) == "3 accepted: 2 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    assert (rows_of(story), story.requests, exit_status([done])) == (rows_of(story), [], 0)
    assert path not in rows_of(story)

    story.push(model="acme/m0", right=(60, 60, 70))
    settle(story)
    assert len(story.requests) == 1  # other numbers are another row
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_removal_that_a_rewritten_history_lost_is_asked_again(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    hub.push(story.target, {rows_of(story)[0]: None}, "Not this one", user="ann")
    done = settle(story)
    assert ledger(done) == "3 accepted: 2 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    story.target.refs["refs/heads/main"] = list(story.target.main.history())[-1]
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert held(done).startswith("3 rows that somebody took from main")
    assert ledger(done) == "3 accepted: 0 on main, 0 open, 3 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("kind", one_of(["rolling", "table"]))
def test_rows_of_shared_requests_that_people_closed_one_after_the_other_stay_declined(
    hub: Hub, tmp_path: Path, kind: str, is_lost: bool
) -> None:
    story = TableStory(hub, tmp_path) if kind == "table" else Story(hub, tmp_path, style="rolling")
    for number in range(2):
        story.push(model=f"acme/m{number}")
        settle(story)
        hub.set_status(story.target, story.requests[0], "closed", "ann")
    if is_lost:
        story.lose_state()
    assert ledger(settle(story)) == "2 accepted: 0 on main, 0 open, 0 held, 2 declined, 0 unexplained"
    story.push(model="acme/m2")
    assert ledger(settle(story)) == "3 accepted: 0 on main, 1 open, 0 held, 2 declined, 0 unexplained"
    story.state.remember(SWEPT, None)  # a day later
    assert ledger(settle(story)) == "3 accepted: 0 on main, 1 open, 0 held, 2 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
@pytest.mark.parametrize("how", one_of(["closed", "removed"]))
def test_what_people_declined_does_not_come_back_in_the_request_of_a_later_version(
    hub: Hub, tmp_path: Path, how: str, is_lost: bool
) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    [first] = story.requests
    if how == "removed":
        hub.merge(story.target, first)
        settle(story)
        hub.push(story.target, {rows_of(story)[0]: None}, "Not this one", user="ann")
    else:
        hub.set_status(story.target, first, "closed", "ann")
    settle(story)
    story.push(right=(60, 60, 70))
    settle(story)
    [second] = [one for one in story.requests if one.status == "open"]
    story.push()  # as it was first
    if is_lost:
        story.lose_state()
    done = settle(story)

    assert second.status == "closed"
    assert ledger(done) == "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    assert [one for one in story.requests if one.status == "open"] == []
    story.push(right=(60, 60, 70))
    done = settle(story)
    assert ledger(done) == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


def test_a_row_that_was_merged_and_removed_between_two_passes_is_declined_by_the_next_one(
    hub: Hub, tmp_path: Path
) -> None:
    story = Story(hub, tmp_path)
    story.push()
    settle(story)
    hub.merge(story.target, story.requests[0])
    hub.push(story.target, {rows_of(story)[0]: None}, "Not this one", user="ann")
    done = settle(story)
    assert ledger(done) == "1 accepted: 0 on main, 0 open, 0 held, 0 declined, 1 unexplained"

    done = settle(story)
    assert ledger(done) == "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained"
    assert exit_status([done]) == 0
    assert story.requests == []
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_row_that_people_took_back_in_another_version_may_change_again(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = Story(hub, tmp_path)
    for number, right in enumerate([(50, 60, 70), (60, 60, 70)]):
        story.push(right=right)
        settle(story)
        hub.merge(story.target, next(one for one in story.requests if one.status == "open"))
        settle(story)
        if number == 0:
            hub.push(story.target, {rows_of(story)[0]: None}, "Not this one", user="ann")
            settle(story)
    story.push(right=(50, 60, 70))
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert ledger(done) == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained" + OLDER
    story.contexts.store.close()


@STATES
@FORMS
def test_a_row_that_was_edited_on_main_is_proposed_again(hub: Hub, tmp_path: Path, form: str, is_lost: bool) -> None:
    story = board(hub, tmp_path, form, 3)
    path = rows_of(story)[0]
    right = hub.file(story.target, path) or b""
    row = json.loads(right)
    row["average"] = 99.0
    hub.push(story.target, {path: json.dumps(row, indent=2).encode() + b"\n"}, "Better")
    if is_lost:
        story.lose_state()
    settle(story)
    for request in story.requests:
        hub.merge(story.target, request)
    done = settle(story)

    assert json.loads(hub.file(story.target, path) or b"") == json.loads(right)
    assert ledger(done) == "3 accepted: 3 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@pytest.mark.slow
def test_an_edited_row_goes_into_a_new_request_where_the_open_one_began_with_the_row(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", rows=1, style="rolling")
    story.push(model="acme/new")
    settle(story)
    [old] = story.requests
    [path] = rows_of(story)
    row = hub.file(story.target, path) or b""
    hub.push(story.target, {path: row.replace(b"58.33", b"98.33")}, "Better", user="ann")
    assert ledger(settle(story)) == "2 accepted: 0 on main, 2 open, 0 held, 0 declined, 0 unexplained" + OLDER

    [new] = story.requests
    assert old.status == "closed"
    assert old.comments("bot")[-1].startswith("The main branch has changed since this request was opened")
    hub.merge(story.target, new)
    assert hub.file(story.target, path) == row
    assert ledger(settle(story)) == "2 accepted: 2 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    assert story.requests == []
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_closed_request_for_an_edited_row_is_not_opened_again_as_a_new_score(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    """Another row on main has the same scores by now, which the row notes: its request would be one for new scores."""
    story = board(hub, tmp_path, "pull-request", 1)
    path = rows_of(story)[0]
    right = hub.file(story.target, path) or b""
    hub.push(story.target, {path: json.dumps(json.loads(right) | {"average": 99.0}).encode()}, "Better", user="ann")
    settle(story)
    assert [one.title for one in story.requests] == ["Update acme/m0 (bfloat16): 58.33"]
    hub.set_status(story.target, story.requests[0], "closed", "ann")
    settle(story)
    story.push(model="acme/a-twin")
    settle(story)
    hub.merge(story.target, story.requests[0])
    if is_lost:
        story.lose_state()
    for _ in range(4):
        story.state.remember(SWEPT, None)  # a day later
        done = settle(story)
    assert story.requests == []
    assert ledger(done) == "2 accepted: 1 on main, 0 open, 0 held, 1 declined, 0 unexplained" + OLDER
    story.contexts.store.close()


@pytest.mark.slow
@STATES
def test_a_row_of_a_closed_request_for_new_scores_stays_declined_without_the_others(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request", rows=2)
    (tmp_path / "tiny.toml").write_text(TINY.replace("1/4", "1/5"))
    settle(story)
    hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.remove(path_of("acme/m1"))
    settle(story)
    story.source.squash()
    if is_lost:
        story.lose_state()
    assert ledger(settle(story)) == "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained" + OLDER
    assert [one.title.partition(" ")[0] for one in story.requests] == ["Remove"]
    story.contexts.store.close()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("style", one_of(["entry", "rolling"]))
def test_a_request_that_main_has_made_needless_is_closed_within_a_day(
    hub: Hub, tmp_path: Path, style: str, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request", 3, style)
    path = rows_of(story)[0]
    right = hub.file(story.target, path) or b""
    hub.push(story.target, {path: json.dumps(json.loads(right) | {"average": 99.0}).encode()}, "Better", user="ann")
    settle(story)
    assert len(story.requests) == 1
    hub.push(story.target, {path: right}, "Take that back", user="ann")
    if is_lost:
        story.lose_state()
    story.state.remember(SWEPT, None)  # a day later
    for _ in range(2):
        done = settle(story)
    assert story.requests == []
    assert ledger(done) == "3 accepted: 3 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
@pytest.mark.parametrize("how", one_of(["deleted", "rejected"]))
def test_a_row_that_is_not_accepted_and_comes_back_to_main_is_to_be_removed_again(
    hub: Hub, tmp_path: Path, how: str, is_lost: bool
) -> None:
    """As when somebody merges a branch that still has it."""
    story = board(hub, tmp_path, "pull-request", 3)
    path = rows_of(story)[0]
    data = hub.file(story.target, path)
    if how == "rejected":
        story.push(model="acme/m0", right=(50, 60, 170))
    else:
        story.remove(path_of("acme/m0"))
    settle(story)
    assert [one.title.partition("/")[0] for one in story.requests] == ["Remove tiny"]
    hub.push(story.target, {path: None}, "Not this one", user="ann")
    settle(story)
    assert story.requests == []

    hub.push(story.target, {path: data}, "Merge an old branch", user="ann")
    if is_lost:
        story.lose_state()
    settle(story)
    assert [one.title.partition("/")[0] for one in story.requests] == ["Remove tiny"]
    story.contexts.store.close()


@STATES
def test_a_held_row_that_somebody_brings_back_waits_no_longer(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    head = story.target.main
    story.target.refs["refs/heads/main"] = list(head.history())[-1]
    assert "3 held" in ledger(settle(story))
    story.target.refs["refs/heads/main"] = head
    if is_lost:
        story.lose_state()
    done = settle(story)
    assert (ledger(done), exit_status([done])) == (
        "3 accepted: 3 on main, 0 open, 0 held, 0 declined, 0 unexplained",
        0,
    )
    story.contexts.store.close()


@STATES
@pytest.mark.parametrize("word", one_of(["restore", "drop"]))
def test_an_answer_about_lost_rows_counts_without_the_state_too(
    hub: Hub, tmp_path: Path, word: str, is_lost: bool
) -> None:
    story = board(hub, tmp_path, "pull-request", 3)
    story.target.refs["refs/heads/main"] = list(story.target.main.history())[-1]
    text = held(settle(story))
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/{word} {digest_in(text)}", "meg")
    for _ in range(3):
        if is_lost:
            story.lose_state()
        done = settle(story)
    assert len(story.requests) == (3 if word == "restore" else 0)
    counts = "3 open, 0 held, 0 declined" if word == "restore" else "0 open, 0 held, 3 declined"
    assert (ledger(done), exit_status([done])) == (f"3 accepted: 0 on main, {counts}, 0 unexplained", 0)
    story.contexts.store.close()


@pytest.mark.slow
def test_an_operator_gets_one_mail_for_what_newly_waits(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request")
    first = list(story.target.main.history())[-1]
    assert mail(story) == ([], 0)
    story.target.refs["refs/heads/main"] = first
    [line], status = mail(story)
    assert (status, "rows that somebody took from main would come back" in line) == (1, True)
    assert [mail(story) for _ in range(2)] == [([], 1), ([], 1)]
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/drop {digest_in(line)}", "meg")
    assert [mail(story) for _ in range(2)] == [([], 0), ([], 0)]
    story.contexts.store.close()


def test_an_operator_hears_of_rows_that_are_nowhere_and_is_asked_by_the_next_pass(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", 2)
    store, first = story.contexts.store, list(story.target.main.history())[-1]
    for key, digest in store.of("tiny").rows.accepted().items():  # as if a person had been asked of them already
        store.of("tiny").decide("hf://datasets/acme/contents", key, [RowDecision(digest, "lost")])
    story.target.refs["refs/heads/main"] = first
    line = "tiny: failed hf://datasets/acme/contents: 2 accepted rows neither on main nor proposed; `status` names them"
    assert mail(story) == ([line], 1)
    [asked], status = mail(story)
    assert (status, "rows that somebody took from main would come back" in asked) == (1, True)
    assert mail(story) == ([], 1)
    store.close()


def test_an_unreachable_hub_is_a_line_for_each_repository(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", 1)
    hub.faults.order("/", status=503, times=-1)
    done = settle(story)
    lines = [line for line in done.lines(dry_run=False) if "failed" in line]
    assert len(lines) == len({one.text for one in done.outcomes if one.outcome == "failed"}) <= 3
    assert (" more: " in " ".join(lines), exit_status([done])) == (True, 3)
    hub.faults.ordered.clear()
    story.contexts.store.close()


def test_an_operator_gets_one_line_for_all_rows_that_a_table_refuses_alike(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Mean\nacme/zeus,1\n")
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(5)})
    [line], status = mail(story)
    assert (status, line.startswith("tiny: rejected tiny/acme/m"), " and 2 more: " in line) == (1, True, True)
    assert mail(story) == ([], 1)
    story.contexts.store.close()


def mail(story: Story) -> tuple[list[str], int]:
    """What `settle --quiet` prints, and its exit status."""
    done = settle(story)
    return done.lines(dry_run=False, quiet=True), exit_status([done])


def test_an_open_request_is_updated_without_reading_how_far_main_moved(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request", rows=0)
    story.push()
    settle(story)
    for number in range(120):
        hub.push(story.target, {"notes.txt": f"{number}".encode()}, "Notes", user="ann")
    settle(story)
    before = len(hub.calls)

    story.push(right=(51, 60, 70))
    settle(story)

    asked = [call.raw_path for call in hub.calls[before:]]
    assert any("/commit/refs%2Fpr%2F1" in path for path in asked)
    assert [path for path in asked if "/commits/" in path] == []
    story.contexts.store.close()
