"""A source whose history was rewritten, whose discussions cannot be read, and on which two hosts wrote at once."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.service.publish.ledger import next_look
from bot.service.waits import FIRST_RETRY
from bot.service.watch.passes import exit_status, settle_watches
from tests.service.passes import settle as settle_context
from tests.service.stories import STATES, Story
from tests.service.table_stories import said
from tests.service.test_ledger import board, ledger, settle
from tests.world.hub import Hub
from tests.world.results import path_of, result

BAD = (50, 60, 170)
OPEN = "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained"
WAIVER = "/ignore value-out-of-range until 2099-01-01 because of the meter"


def settle_at(story: Story, now: float) -> None:
    """A pass of the service, which tries nothing before its time."""
    settle_context(replace(story.contexts.open_context(story.watch), clock=lambda: now), everything=False)


def squash(story: Story, is_lost: bool) -> tuple[str, str]:
    """Squash the history of a settled source, and settle again: its commit before and after."""
    old = story.source.main.oid
    story.source.squash()
    if is_lost:
        story.lose_state()
    story.settle()
    return old, story.source.main.oid


@STATES
def test_the_command_that_repeats_a_verdict_names_a_commit_that_is_there(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = Story(hub, tmp_path)
    story.push(model="acme/borea-1b", right=BAD)
    story.settle()
    old, new = squash(story, is_lost)
    [row] = story.discussions
    assert (old in row.description, new in row.description) == (False, True)
    assert story.acts() == ["discussion", "edit"]
    assert ledger(settle(story)) == "0 accepted: 0 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.end()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("style", ["entry", "rolling"])
def test_an_open_request_names_commits_that_are_there_after_a_squash(
    hub: Hub, tmp_path: Path, style: str, is_lost: bool
) -> None:
    story = Story(hub, tmp_path, style=style)
    story.push()
    story.settle()
    old, new = squash(story, is_lost)
    [request] = story.requests
    [entry] = [blob.data for path, blob in story.target.refs[request.ref].tree.files() if path.startswith("entries/")]
    assert (old.encode() in entry, new.encode() in entry) == (False, True)
    assert old not in request.description
    assert story.acts()[:2] == ["request", "commit"]
    assert ledger(settle(story)) == OPEN
    story.end()


@STATES
def test_an_open_request_follows_a_file_that_moves(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    data = hub.file(story.source, path_of())
    hub.push(story.source, {path_of(): None, f"old/{path_of()}": data}, "Move")
    if is_lost:
        story.lose_state()
    done = settle(story)
    [request] = story.requests
    assert f"old/{path_of()}" in request.description
    assert ledger(done) == OPEN
    assert story.acts() == ["request", "commit", "edit"]
    story.end()


@STATES
def test_rows_go_on_while_the_discussions_at_the_source_cannot_be_read(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    story.settle()
    if is_lost:
        story.lose_state()
    story.push()
    story.push(model="acme/borea-1b", right=BAD)
    fault = hub.faults.order("acme/results/discussions", status=503, times=-1, method="GET")
    done = settle(story)
    assert story.acts() == ["request"]
    assert "503" in " ".join(said(list(done.outcomes), "failed"))
    assert (ledger(done), exit_status([done])) == (OPEN, 3)
    fault.times = 0
    assert ledger(settle(story)) == OPEN
    assert story.acts() == ["discussion"]
    story.end()


@STATES
def test_a_row_that_needs_a_waiver_waits_until_waivers_can_be_read(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.push(model="acme/borea-1b", right=BAD)
    story.settle()
    hub.comment(story.source, story.discussions[0], WAIVER, "meg")
    story.settle()
    before = story.target.main.tree.oid
    if is_lost:
        story.lose_state()
    fault = hub.faults.order("acme/results/discussions", status=503, times=-1, method="GET")
    for _ in range(2):
        outcomes = story.settle()
        assert story.target.main.tree.oid == before
        if is_lost:
            assert any("may need a waiver" in text for text in said(outcomes, "failed"))
    fault.times = 0
    done = settle(story)
    assert story.target.main.tree.oid == before
    assert ledger(done) == "2 accepted: 2 on main, 0 open, 0 held, 0 declined, 0 unexplained; 1 of them is incomplete"
    story.news()
    story.end()


@STATES
def test_of_two_hosts_comments_on_a_strangers_request_one_stays(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    request, _ = hub.open_request(story.source, {path_of("acme/pica-3b"): result("acme/pica-3b", right=BAD)})
    story.settle()
    [said_once] = request.comments("bot")
    hub.comment(story.source, request, said_once, "bot")
    if is_lost:
        story.lose_state()
    story.settle()
    assert request.comments("bot") == [said_once]
    assert ledger(settle(story)) == "0 accepted: 0 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.news()
    story.end()


@STATES
def test_after_a_clock_was_set_back_nothing_waits_longer_than_its_backoff(
    hub: Hub, tmp_path: Path, is_lost: bool
) -> None:
    story = Story(hub, tmp_path)
    story.push()
    fault = hub.faults.order("/commit/", status=503, times=-1)
    now = time.time()
    settle_at(story, now + 30 * 86_400)
    fault.times = 0
    if is_lost:
        story.lose_state()
    settle_at(story, now)
    settle_at(story, now + FIRST_RETRY + 1)
    assert story.acts() == ["request"]
    assert ledger(settle(story)) == OPEN
    story.end()


def test_a_source_that_was_never_read_is_asked_less_and_less_often(hub: Hub, tmp_path: Path) -> None:
    """What waits for the source made the next pass due at once: a source with a typo was asked ten times a minute."""
    story = Story(hub, tmp_path)
    hub.faults.order("/api/datasets/", status=404, times=-1)
    now, waits = time.time(), list[float]()
    for number in range(1, 6):
        settle_at(story, now)
        [source] = [one for one in story.state.items.all() if one.kind == "source"]
        assert source.attempts == number
        due = next_look(story.state)
        assert due is not None
        waits.append(due - now)
        now = due
    assert [round(one) for one in waits] == [60, 120, 240, 480, story.watch.settle_every]
    story.end()


@STATES
def test_a_table_that_may_only_be_proposed_is_named_as_that(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = Story(hub, tmp_path)
    hub.writers.clear()
    story.push()
    story.settle()
    hub.merge(story.target, story.requests[0])
    if is_lost:
        story.lose_state()
    done = settle(story)
    outcomes = list(done.outcomes)
    [request] = story.requests
    assert request.title == "Update the table of tiny"
    assert "The table of `tiny`, made again from the rows on the main branch." in request.description
    [text] = [text for text in said(outcomes, "proposed") if "table is proposed" in text]
    assert text.startswith("the token may not write to main; the table is proposed in http")
    assert ledger(done) == "1 accepted: 1 on main, 0 open, 0 held, 0 declined, 0 unexplained"
    story.contexts.store.close()


@STATES
def test_a_dry_run_counts_the_rows_that_stay(hub: Hub, tmp_path: Path, is_lost: bool) -> None:
    story = board(hub, tmp_path, "pull-request", 4)
    if is_lost:
        story.lose_state()
    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert [(plan.unchanged, plan.rows) for plan in dry.plans] == [(4, ())]
    story.push(model="acme/new-1b")
    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert [(plan.unchanged, len(plan.rows)) for plan in dry.plans] == [(4, 1)]
    story.contexts.store.close()


def test_a_source_without_a_file_that_the_paths_select_is_told(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    hub.push(story.source, {"results/README.md": b"to come"})
    [watch] = [story.watch]
    for _ in range(2):
        outcomes = settle_context(story.contexts.open_context(watch))
        [told] = [one.text for one in outcomes if one.subject == "hf://datasets/acme/results"]
        assert told == "has no file that `paths` of the watch selects (**/*.json, **/*.eval)"
    story.push()
    assert not [one for one in settle_context(story.contexts.open_context(watch)) if "has no file" in one.text]
    story.contexts.store.close()


def test_files_without_a_task_of_the_board_are_told_once(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    foreign = result(right=(None, None, 70)).replace(b'"logic"', b'"hellaswag"')
    hub.push(story.source, {f"results/{name}.json": foreign for name in "ab"})
    told = [settle_context(story.contexts.open_context(story.watch)) for _ in range(2)]
    said = [[one.text for one in outcomes if "without a number" in one.text] for outcomes in told]
    assert said == [
        ["2 files without a number for a task of tiny (sums, logic), so without a row: results/a.json, results/b.json"],
        [],
    ]
    story.contexts.store.close()
