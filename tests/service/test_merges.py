"""Main moves under an open request of the bot: it is brought up to main or replaced, and that declines nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.publishing.entry import entry_path
from bot.publishing.publication import CLOSED_BLOCKED, REPLACED
from bot.service.context import ContextFactory
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import github
from tests.service.github_stories import TARGET, GitHubStory
from tests.service.model_stories import LOGICS, SUMS, ModelStory
from tests.service.passes import settle
from tests.service.shared_tables import SERVICES, START, SharedTable, shared_table
from tests.service.stories import KEY, Story
from tests.service.table_stories import watch_of
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result
from tests.world.routes_talk import merged_changes

__all__ = ["github"]
PERSON, ROW = b"person-3b,55.00,by hand\n", b"acme/m1-7b,58.33,\n"


@pytest.fixture(params=one_of(SERVICES))
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> SharedTable:
    """A table with an open request of the bot for one new row at its end."""
    shared = shared_table(request, request.param, tmp_path)
    shared.push("acme/m1-7b")
    shared.settle()
    assert shared.requests() == [1]
    return shared


def test_a_hand_edit_beside_the_proposed_row_leaves_no_conflict(shared: SharedTable) -> None:
    shared.edit(START + PERSON)
    assert shared.conflicts(1) == ["board.csv"]
    shared.settle()

    [request] = shared.requests()
    assert shared.conflicts(request) == []
    assert (request == 1) == (REPLACED not in shared.text(1))
    shared.merge(request)
    assert shared.table() == START + PERSON + ROW
    assert shared.settle() == []
    shared.lose_state()
    shared.settle()
    assert (shared.requests(), shared.table()) == ([], START + PERSON + ROW)


def test_a_hand_edit_elsewhere_changes_nothing_in_the_request(shared: SharedTable) -> None:
    edited = START.replace(b"Average,Note\n", b"Average,Note\nperson-3b,55.00,by hand\n")
    before = shared.text(1)
    shared.edit(edited)
    assert shared.settle() == []
    assert (shared.requests(), shared.text(1), shared.table(1)) == ([1], before, START + ROW)
    shared.merge(1)
    assert shared.table() == edited + ROW
    assert shared.settle() == []


def test_what_main_lost_does_not_come_back_with_a_request(shared: SharedTable) -> None:
    shared.edit(START + PERSON)
    shared.settle()
    shared.go_back()
    shared.settle()

    [request] = shared.requests()
    assert (request == 3) == (REPLACED in shared.text(2 if request == 3 else 1))
    assert (shared.table(request), shared.conflicts(request)) == (START + ROW, [])
    shared.merge(request)
    assert shared.table() == START + ROW
    assert shared.settle() == []


def test_rows_that_main_lost_do_not_come_back_with_a_request_for_another(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    before = story.target.main
    hub.merge(story.target, story.requests[0])
    story.settle()
    story.push(model="acme/borea-1b")
    story.settle()
    [old] = story.requests
    story.target.refs["refs/heads/main"] = before
    story.settle()

    [request] = story.requests
    assert (old.status, request.title) == ("closed", old.title)
    hub.merge(story.target, request)
    rows = [path for path, _ in story.target.main.tree.files() if path.startswith("entries/")]
    assert [path.split("/")[3] for path in rows] == ["borea-1b"]
    story.settle()
    assert story.requests == []
    story.news()
    story.end()


@pytest.mark.slow
def test_on_github_a_branch_loses_what_main_lost(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    git, before = story.target.git, story.target.git.refs["heads/main"]
    story.source.git.push("heads/main", {path_of(): result()})
    story.settle()
    github.state.merge(TARGET, 1)
    story.settle()
    story.source.git.push("heads/main", {path_of("acme/borea-1b"): result("acme/borea-1b")})
    story.settle()
    [request] = story.target.pulls("open")
    git.refs["heads/main"] = before
    story.settle()

    assert story.target.pulls("open") == [request]
    github.state.merge(TARGET, request.number)
    rows = [path for path in git.files(git.refs["heads/main"]) if path.startswith("entries/")]
    assert [path.split("/")[3] for path in rows] == ["borea-1b"]
    assert "held" in {one.outcome for one in story.settle()}
    story.contexts.store.close()


def test_who_may_not_see_the_history_of_the_board_still_gets_every_other_row(hub: Hub, tmp_path: Path) -> None:
    """What main was when a request was closed is then not known, nor where a push of somebody began."""
    story = Story(hub, tmp_path, style="rolling")
    story.push()
    story.settle()
    [request] = story.requests
    hub.faults.order("/contents/commits/", status=403, times=-1)
    hub.set_status(story.target, request, "closed", "meg")
    story.push(model="acme/borea-1b")
    assert failed(story) == []
    [request] = story.requests
    hub.push(story.target, {"note.md": b"mine"}, "Note", user="meg", ref=request.ref)
    story.push(model="acme/cirrus-1b")
    assert failed(story) == []
    rows = [path for path, _ in story.target.refs[request.ref].tree.files() if path.startswith("entries/")]
    assert [path.split("/")[3] for path in rows] == ["borea-1b", "cirrus-1b"]  # what meg closed stays declined
    assert story.acts() == ["request", "request", "commit", "rename", "edit"]
    story.end()


def test_who_may_not_see_the_history_of_the_board_loses_no_shared_request_with_the_state(
    hub: Hub, tmp_path: Path
) -> None:
    """Where the request began is not known then; that main moved since is no change of the request."""
    story = Story(hub, tmp_path, style="rolling")
    story.push()
    story.settle()
    hub.merge(story.target, story.requests[0])
    story.push(model="acme/borea-1b")
    story.settle()
    [request] = story.requests
    hub.push(story.target, {"note.md": b"mine", "leaderboard.csv": None}, user="meg")
    hub.faults.order("/contents/commits/", status=403, times=-1)
    story.lose_state()
    story.push(model="acme/cirrus-1b")
    assert failed(story) == []
    assert story.requests == [request]
    listed = [line.split("`")[1] for line in request.description.splitlines() if line.startswith("| [")]
    assert (request.title, listed) == ("Add 2 rows of tiny", ["acme/borea-1b", "acme/cirrus-1b"])
    hub.merge(story.target, request)
    assert "note.md" in dict(story.target.main.tree.files())
    assert failed(story) == []
    [row] = [path for path, _ in story.target.main.tree.files() if "borea-1b" in path]
    hub.push(story.target, {row: None}, user="meg")  # by hand, or with the history? nobody knows: it stays away
    assert "the token may not read the commits" in " ".join(failed(story))
    assert story.requests == []
    assert story.acts().count("request") == 2
    story.end()


def failed(story: Story) -> list[str]:
    return [one.text for one in story.settle() if one.outcome == "failed"]


def test_what_a_person_closes_is_declined_and_what_the_bot_closed_before_is_not(shared: SharedTable) -> None:
    shared.edit(START + PERSON)
    shared.settle()
    shared.push("acme/m2-7b")
    shared.settle()
    [request] = shared.requests()
    assert shared.rows(request)[-2:] == ["acme/m1-7b", "acme/m2-7b"]
    shared.lose_state()
    shared.settle()
    assert shared.requests() == [request]

    shared.close(request)
    shared.push("acme/m3-7b")
    shared.settle()
    [last] = shared.requests()
    assert (shared.rows(last)[-2:], shared.conflicts(last)) == (["person-3b", "acme/m3-7b"], [])


@pytest.mark.parametrize("is_seen", one_of([False, True]))
def test_who_closes_a_request_that_does_not_merge_declines_nothing(shared: SharedTable, *, is_seen: bool) -> None:
    shared.edit(START + PERSON)
    if is_seen:
        shared.settle()
    for request in shared.requests():
        shared.close(request)
    for _ in range(2):
        shared.settle()
        shared.lose_state()
        shared.settle()
        assert [shared.rows(request)[-1] for request in shared.requests()] == ([] if is_seen else ["acme/m1-7b"])


def test_a_later_edit_does_not_take_back_what_a_person_declined(shared: SharedTable) -> None:
    shared.close(1)
    shared.edit(START + PERSON)
    for _ in range(2):
        shared.settle()
        assert shared.requests() == []
        shared.lose_state()


def test_a_changed_row_survives_a_hand_edit_of_the_row_beside_it(shared: SharedTable) -> None:
    shared.merge(1)
    shared.settle()
    shared.push("acme/m1-7b", right=(60, 60, 70))
    shared.settle()
    shared.edit(shared.table().replace(b"olympus/hera,15.00,", b"olympus/hera,15.50,corrected"))
    shared.settle()

    [request] = shared.requests()
    assert shared.conflicts(request) == []
    shared.merge(request)
    assert shared.table().splitlines()[2:] == [b"olympus/hera,15.50,corrected", b"acme/m1-7b,61.67,"]


def test_a_table_that_cannot_be_read_any_more_is_not_put_back_from_the_request(shared: SharedTable) -> None:
    shared.edit(b"broken")
    shared.settle()
    assert (shared.requests(), shared.table(1)) == ([1], START + ROW)
    shared.edit(START + PERSON)
    shared.settle()
    [request] = shared.requests()
    shared.merge(request)
    assert shared.table() == START + PERSON + ROW


# entries, of one row and of many, and the pages of models


def edited_entry(story: Story, key: str = KEY) -> bytes:
    """What a person makes of a row on main: other words beside every number."""
    data = story.hub.file(story.target, entry_path(key)) or b""
    edited = data.replace(b'"average"', b'"note": "by hand",\n  "average"')
    assert edited != data
    return edited


def test_a_row_that_a_person_edits_under_its_request_is_proposed_in_one_that_merges(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    hub.merge(story.target, story.requests[0])
    story.settle()
    story.push(right=(60, 60, 70))
    story.settle()
    [old] = story.requests
    hub.push(story.target, {entry_path(KEY): edited_entry(story)}, user="ann")
    assert merged_changes(story.target, old).conflicts == [entry_path(KEY)]

    story.settle()
    [request] = story.requests
    assert (old.status, merged_changes(story.target, request).conflicts) == ("closed", [])
    story.lose_state()
    story.settle()
    assert story.requests == [request]
    hub.merge(story.target, request)
    story.settle()
    assert b"by hand" not in (hub.file(story.target, entry_path(KEY)) or b"")
    story.news()
    story.end()


@pytest.mark.parametrize("is_many", one_of([False, True]))
def test_a_row_that_a_person_adds_by_hand_leaves_no_conflict(hub: Hub, tmp_path: Path, *, is_many: bool) -> None:
    story = Story(hub, tmp_path, style="rolling" if is_many else "entry")
    story.push()
    story.push(model="acme/borea-1b")
    story.settle()
    count = len(story.requests)
    by_hand = (hub.file(story.target, entry_path(KEY), story.requests[0].ref) or b"").replace(b"58.3", b"98.3")
    hub.push(story.target, {entry_path(KEY): by_hand}, user="ann")
    story.settle()

    assert len(story.requests) == count
    for request in story.requests:
        hub.merge(story.target, request)
    assert b"98.3" not in (hub.file(story.target, entry_path(KEY)) or b"98.3")
    story.settle()
    story.news()
    story.end()


def test_a_closing_that_declined_nothing_is_said_also_where_the_first_try_fails(hub: Hub, tmp_path: Path) -> None:
    """A lost state would take it for a refusal otherwise."""
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    [old] = story.requests
    by_hand = (hub.file(story.target, entry_path(KEY), old.ref) or b"").replace(b"58.3", b"98.3")
    hub.push(story.target, {entry_path(KEY): by_hand}, user="ann")
    hub.set_status(story.target, old, "closed", "ann")
    fault = hub.faults.order(f"/discussions/{old.num}/comment/.*/edit", status=503, times=-1)
    story.settle()
    fault.times = 0
    story.settle()

    assert old.description.startswith(CLOSED_BLOCKED)
    [request] = story.requests
    assert (request.num > old.num, merged_changes(story.target, request).conflicts) == (True, [])
    story.news()
    story.end()


def test_the_page_of_a_model_that_its_owner_edits_gets_a_request_that_merges(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path).begun()
    hub.merge(story.model, story.requests[0], user="owner")
    story.settle()
    story.push(right=(60, 60, 71))
    story.settle()
    [old] = story.requests
    page = (hub.file(story.model, SUMS) or b"").replace(b"value: 50", b"value: 51")
    hub.push(story.model, {SUMS: page}, user="owner")  # the mark of the bot still begins the file
    assert merged_changes(story.model, old).conflicts == [SUMS]

    tomorrow = time.time() + 86_400.0  # each open request is looked at once a day
    settle(replace(story.contexts.open_context(story.watch), clock=lambda: tomorrow))
    [request] = story.requests
    assert merged_changes(story.model, request).conflicts == []
    hub.merge(story.model, request, user="owner")
    assert b"value: 60" in (hub.file(story.model, SUMS) or b"")
    assert b"value: 71" in (hub.file(story.model, LOGICS) or b"")
    story.contexts.store.close()


def test_in_a_folder_the_branch_is_brought_up_to_main(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    source, board = Folder(tmp_path / "results"), Folder(tmp_path / "board")
    board.push({"board.csv": START})
    source.push({path_of("acme/m1-7b"): result("acme/m1-7b")})
    contexts = ContextFactory(Access(), Store(connect(f"sqlite:///{tmp_path / 'state.db'}")), tmp_path)
    watch = watch_of("results", "board", "pull-request")
    settle(contexts.open_context(watch))
    board.push({"board.csv": START + PERSON})
    settle(contexts.open_context(watch))
    board.push({"board.csv": START + b"draco-1b,1.00,not meant\n" + PERSON})
    settle(contexts.open_context(watch))
    board.git("reset", "--hard", "HEAD~1")
    settle(contexts.open_context(watch))

    board.git("merge", "--no-edit", "leaderboard-bot/rolling/tiny")
    assert (tmp_path / "board/board.csv").read_bytes() == START + PERSON + ROW
    assert settle(contexts.open_context(watch)) == []
    contexts.store.close()
