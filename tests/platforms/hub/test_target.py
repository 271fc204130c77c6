"""Publishing on the Hub: what is decided is done once, whatever the service answers."""

from __future__ import annotations

import csv
from typing import Any

import pytest

import bot.platforms.hub.target
from bot.errors import Refused, Stale, Unavailable
from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.target import HubTarget
from bot.publishing.entry import Entry, entry_path
from bot.publishing.publication import (
    Form,
    OpenRequest,
    PostText,
    entry_marker,
    file_marks,
    rolling_mark,
)
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import PublishResult, rebuild_board
from tests.evaluation.judging import entry_from
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

LEADERBOARD = parse_leaderboard(TINY, "tiny", "tiny.toml")


def entry(**how: Any) -> Entry:
    place = {"source": "hf://datasets/acme/results", "commit": "c" * 40}
    return entry_from(result(**how), LEADERBOARD, path_of(), **place)


@pytest.fixture
def contents(hub: Hub) -> Repository:
    hub.writers.add(("bot", "acme/contents"))
    return hub.repository("acme/contents")


@pytest.fixture
def target(client: HubClient, contents: Repository) -> HubTarget:
    return HubTarget(client, parse_address("hf://datasets/acme/contents"), has_comments=True)


def put(target: HubTarget, *entries: Entry, form: Form = "pull-request") -> list[PublishResult]:
    target.look_again()
    return publish(entries, target, form)


def test_a_row_is_proposed_once_and_updated_in_place(hub: Hub, contents: Repository, target: HubTarget) -> None:
    first, second = entry(), entry(right=(60, 60, 70))
    [done] = put(target, first)
    put(target, first)
    put(target, second)
    put(target, second)

    [request] = hub.requests(contents)
    assert done.where == f"{hub.url}/datasets/acme/contents/discussions/1"
    assert request.title == f"Add acme/atlas-7b (bfloat16): {second.average:.2f}"
    assert f"| **Average** | | **{second.average:.2f} ± " in request.description
    assert hub.file(contents, first.path, request.ref) == second.to_bytes()
    assert [posted.act for posted in hub.by("bot")] == ["request", "commit", "rename", "edit"]


def test_a_merged_row_is_left_alone(hub: Hub, contents: Repository, target: HubTarget) -> None:
    put(target, entry())
    hub.merge(contents, hub.requests(contents)[0])
    put(target, entry())

    assert hub.file(contents, entry().path) == entry().to_bytes()
    assert [posted.act for posted in hub.by("bot")] == ["request"]


def test_what_a_person_closed_is_not_proposed_again_but_other_numbers_are(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    put(target, entry())
    hub.set_status(contents, hub.requests(contents)[0], "closed", "ann")
    put(target, entry())
    assert hub.requests(contents) == []

    put(target, entry(right=(60, 60, 70)))
    assert [request.num for request in hub.requests(contents)] == [2]


def test_of_very_many_closed_requests_the_last_are_read(
    hub: Hub, contents: Repository, target: HubTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.platforms.hub.target, "MOST_CLOSED", 3)
    rows = [entry(right=(number, 60, 70)) for number in range(5)]
    for row in rows:
        put(target, row)
        hub.set_status(contents, hub.requests(contents)[0], "closed", "ann")
        target.look_again()
    state = target.read_state(entry_marker(rows[0]), (rows[0].path,))
    assert [one.rows for one in state.declined] == [file_marks({row.path: row.to_bytes()}) for row in rows[:1:-1]]


def test_a_request_whose_row_came_by_another_way_is_closed(hub: Hub, contents: Repository, target: HubTarget) -> None:
    put(target, entry())
    hub.push(contents, {entry().path: entry().to_bytes()})
    put(target, entry())

    assert hub.requests(contents) == []
    assert "main branch already has what this request" in hub.requests(contents, "closed")[0].comments()[-1]


def test_two_processes_that_opened_one_request_each_end_with_one(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    put(target, entry())
    request = hub.requests(contents)[0]
    hub.open_request(contents, {entry().path: entry().to_bytes()}, request.title, request.description, "bot")
    put(target, entry())
    put(target, entry())

    assert [request.num for request in hub.requests(contents)] == [1]


def test_just_before_a_request_is_opened_it_is_looked_for_once_more(
    hub: Hub, contents: Repository, target: HubTarget, client: HubClient
) -> None:
    other = HubTarget(client, target.address)
    target.look_again()
    _ = target.requests, target.refs
    put(other, entry())
    publish([entry()], target, "pull-request")

    assert len(hub.requests(contents)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"status": 504}, {"status": 500}, {"reset": True}])
@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("form", ["pull-request", "commit", "comment"])
@pytest.mark.usefixtures("contents")
def test_a_write_that_failed_and_may_have_landed_is_done_once(
    hub: Hub, target: HubTarget, form: Form, landed: bool, how: dict[str, Any]
) -> None:
    where = "/comment$" if form == "comment" else "/commit/"
    hub.faults.order(where, method="POST", landed=landed, **how)
    put(target, entry(), form=form)
    put(target, entry(), form=form)

    acts = {"pull-request": "request", "commit": "commit", "comment": "comment"}
    assert [posted.act for posted in hub.by("bot", acts[form])] == [acts[form]]


def test_rows_for_people_stand_in_one_discussion_and_are_edited_there(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    one, two = entry(), entry(model="acme/borea-1b")
    put(target, one, two, form="comment")
    put(target, entry(right=(60, 60, 70)), two, form="comment")

    [board] = hub.conversations(contents)
    assert board.title == "Rows of tiny"
    assert [posted.act for posted in hub.by("bot")] == ["discussion", "comment", "comment", "edit"]
    assert '"right"' not in board.comments()[1]
    assert "| **Average** | | **61.67 ± " in board.comments()[1]


def test_rows_may_go_to_a_discussion_of_the_maintainer(hub: Hub, contents: Repository, target: HubTarget) -> None:
    hub.open_discussion(contents, "New rows", "please", "acme")
    target.discussion = 1
    put(target, entry(), form="comment")
    put(target, entry(), form="comment")

    assert [posted.act for posted in hub.by("bot")] == ["comment"]


def test_a_commit_whose_base_moved_is_decided_anew(hub: Hub, contents: Repository, target: HubTarget) -> None:
    target.look_again()
    _ = target.refs
    hub.push(contents, {"README.md": b"hello"})
    publish([entry()], target, "commit")

    assert hub.file(contents, entry().path) == entry().to_bytes()
    assert hub.file(contents, "README.md") == b"hello"


def test_without_the_right_to_write_a_commit_is_refused_and_a_request_is_not(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    hub.writers.clear()
    with pytest.raises(Refused, match="403"):
        put(target, entry(), form="commit")
    put(target, entry())

    assert len(hub.requests(contents)) == 1


def test_an_outage_ends_in_one_exception_and_nothing_posted(hub: Hub, contents: Repository, target: HubTarget) -> None:
    hub.faults.order("/commit/", status=503, times=-1)
    with pytest.raises((Unavailable, Stale)):
        put(target, entry())

    assert hub.by("bot") == []


def test_the_board_is_rebuilt_from_what_was_merged(hub: Hub, contents: Repository, target: HubTarget) -> None:
    put(target, entry(), entry(model="acme/borea-1b", right=(90, 90, 90)), form="commit")
    assert rebuild_board(target, LEADERBOARD)
    target.look_again()
    assert not rebuild_board(target, LEADERBOARD)

    table = csv.DictReader((hub.file(contents, "leaderboard.csv") or b"").decode().splitlines())
    assert [row["model"] for row in table] == ["acme/borea-1b", "acme/atlas-7b"]


def test_a_request_of_which_only_the_files_were_updated_gets_its_text_later(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    put(target, entry())
    fault = hub.faults.order("/edit$", status=500, times=-1)
    second = entry(right=(60, 60, 70))
    with pytest.raises(Unavailable):
        put(target, second)
    assert hub.file(contents, second.path, "refs/pr/1") == second.to_bytes()
    fault.times = 0
    put(target, second)

    assert f"**{second.average:.2f} ± " in hub.requests(contents)[0].description
    assert [posted.act for posted in hub.by("bot")] == ["request", "commit", "rename", "edit"]


def test_a_foreign_file_among_the_entries_is_named_and_the_board_is_rebuilt(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    put(target, entry(), form="commit")
    hub.push(contents, {"entries/foreign.json": b'{"a": 1}', "entries/huge.json": b"1" * 5_000_000})
    target.look_again()

    assert [one.key for one in target.scan_entries().entries] == [entry().key]
    assert target.scan_entries().skipped.keys() == {"entries/foreign.json", "entries/huge.json"}
    assert rebuild_board(target, LEADERBOARD)


def test_a_comment_says_whether_it_was_edited(hub: Hub, contents: Repository, target: HubTarget) -> None:
    put(target, entry())
    (request,) = hub.requests(contents)
    hub.comment(contents, request, "/merge")
    later = hub.comment(contents, request, "looks fine")
    hub.talk(contents).edit(later, "/merge")

    conversation = target.conversation("1")
    assert conversation is not None
    assert [(one.text, one.edited) for one in conversation.comments] == [("/merge", False), ("/merge", True)]
    assert [one.edited for one in target.discussions.read(1).comments] == [False, False, True]


def test_a_conflict_that_only_the_hub_sees_counts_too(hub: Hub, contents: Repository, target: HubTarget) -> None:
    """Lines that repeat can be matched in several ways, and git may choose another one than the bot."""
    mark = rolling_mark("tiny")
    hub.push(contents, {"words.txt": b"a\na\nc\nc\nb\nb\nb\nc\n"})
    ours: dict[str, bytes | None] = {"words.txt": b"a\na\nc\nc\nb\nb\n\nb\nc\n"}
    target.look_again()
    target.apply(OpenRequest(mark, PostText("Words", mark.render()), ours))
    hub.push(contents, {"words.txt": b"b\na\na\nc\nc\nb\nb\nc\n"})
    target.look_again()
    request = target.read_state(mark, ()).request
    assert request is not None
    assert request.conflicts == {"words.txt"}


def test_who_closed_a_request_first_closed_it(hub: Hub, contents: Repository, target: HubTarget) -> None:
    put(target, entry())
    [request] = hub.requests(contents)
    hub.set_status(contents, request, "closed", "bot")
    hub.set_status(contents, request, "closed", "ann")
    assert target.discussions.read(request.num).closed_by == "bot"


def test_a_request_that_was_opened_again_is_declined_by_closing_it(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    put(target, entry())
    [request] = hub.requests(contents)
    path = next(iter(target.proposed(request.num, entry_marker(entry()), (entry_path(entry().key),), {})))
    hub.push(contents, {path: b"{}"})
    hub.set_status(contents, request, "closed", "ann")
    target.look_again()
    assert target.read_state(entry_marker(entry()), ()).declined == ()  # it did not merge

    hub.push(contents, {path: None})
    for status in ("open", "closed"):
        hub.set_status(contents, request, status, "ann")
        target.discussions.read(request.num)
        target.look_again()
    assert [one.name for one in target.read_state(entry_marker(entry()), ()).declined] == ["1"]
