"""Writing to the Hub: in commits that it takes, once, whatever becomes of the answer; what stands twice is found."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bot.errors import Gone, Unavailable
from bot.platforms.caches import KnownThreads
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.source import HubSource
from bot.platforms.hub.target import HubTarget
from bot.platforms.net import in_chunks
from bot.publishing.publication import (
    CloseRequest,
    Commit,
    Marker,
    OpenRequest,
    PostComment,
    PostText,
    UpdateRequest,
    file_marks,
)
from tests.world.git import Repository
from tests.world.hub import Hub

MARK = Marker("entry", "acme/atlas", "tiny")
TEXT = PostText("Add a row", f"Please look.\n\n{MARK.render()}")
FILES = {f"entries/{n:03}.json": b"%d" % n for n in range(250)}


@pytest.fixture
def contents(hub: Hub) -> Repository:
    hub.writers.add(("bot", "acme/contents"))
    return hub.repository("acme/contents")


@pytest.fixture
def target(client: HubClient, contents: Repository) -> HubTarget:
    return HubTarget(client, parse_address("hf://datasets/acme/contents"), has_comments=True)


@pytest.fixture
def hasty(hub: Hub, contents: Repository) -> HubTarget:
    """A target whose client gives up before the Hub is done."""
    client = HubClient(hub.url, hub.person("bot"), pause=0.05, timeout=1.0, unknown_fate=60.0)
    return HubTarget(client, parse_address("hf://datasets/acme/contents"), has_comments=True)


def commits_of(contents: Repository, ref: str) -> list[int]:
    """How many files each commit of a ref changed, the newest first."""
    found = []
    for commit in contents.refs[ref].history():
        before = dict(commit.parent.tree.files()) if commit.parent else {}
        found.append(sum(before.get(path) != blob for path, blob in commit.tree.files()))
    return [number for number in found if number]


def test_a_large_request_is_several_commits(contents: Repository, hub: Hub, target: HubTarget) -> None:
    where = target.apply(OpenRequest(MARK, TEXT, FILES))

    assert commits_of(contents, "refs/pr/1") == [50, 100, 100]
    assert where.endswith("/discussions/1")
    assert [row.title for row in hub.requests(contents)] == ["Add a row"]
    target.apply(CloseRequest(MARK, target.read_state(MARK, tuple(FILES)).request, "Done."))
    assert hub.requests(contents) == []


def test_a_large_commit_is_several(contents: Repository, target: HubTarget) -> None:
    target.apply(Commit(MARK, TEXT, FILES))
    target.look_again()
    target.apply(Commit(MARK, TEXT, dict.fromkeys(FILES)))

    assert commits_of(contents, "refs/heads/main") == [50, 100, 100]
    assert [commit.title for commit in contents.main.history()][3:6] == [
        "Add a row (3 of 3)",
        "Add a row (2 of 3)",
        "Add a row (1 of 3)",
    ]
    assert dict(contents.main.tree.files()) == {}


def test_chunks_have_at_most_so_many_files_and_bytes() -> None:
    large = {f"{n}": b"x" * 9_000_000 for n in range(5)} | {"huge": b"x" * 30_000_000, "gone": None}

    parts = list(in_chunks(sorted(large.items())))

    assert [sorted(part) for part in parts] == [["0", "1"], ["2", "3"], ["4", "gone"], ["huge"]]
    assert [len(part) for part in in_chunks(sorted(FILES.items()))] == [100, 100, 50]
    assert list(in_chunks(())) == []


WRITES: dict[str, tuple[str, Callable[[HubTarget], object], str]] = {
    "request": ("/commit/", lambda target: target.apply(OpenRequest(MARK, TEXT, {"a.json": b"1"})), "request"),
    "commit": ("/commit/", lambda target: target.apply(Commit(MARK, TEXT, {"a.json": b"1"})), "commit"),
    "comment": ("/comment$", lambda target: target.discussions.comment(1, TEXT.body), "comment"),
    "discussion": ("/discussions$", lambda target: target.discussions.open_discussion(*parted(TEXT)), "discussion"),
    "closing": ("/status$", lambda target: target.discussions.set_status(1, "closed"), "closed"),
}


def parted(text: PostText) -> tuple[str, str]:
    return text.title, text.body


@pytest.mark.slow
@pytest.mark.parametrize("what", WRITES)
def test_a_write_that_takes_longer_than_we_wait_is_made_once(
    hub: Hub, contents: Repository, hasty: HubTarget, what: str
) -> None:
    hub.open_discussion(contents, "Question", "Why?")
    path, write, act = WRITES[what]
    hub.faults.order(path, method="POST", delay=2.5)

    write(hasty)

    assert [posted.act for posted in hub.by("bot")] == [act]


@pytest.mark.parametrize("what", WRITES)
def test_a_write_that_does_not_land_is_looked_for_and_then_said(
    hub: Hub, contents: Repository, target: HubTarget, what: str
) -> None:
    hub.open_discussion(contents, "Question", "Why?")
    path, write, act = WRITES[what]
    hub.faults.order(path, method="POST", reset=True)

    with pytest.raises(Unavailable) as failure:
        write(target)
    assert failure.value.may_have_landed
    assert hub.by("bot") == []
    write(target)
    assert [posted.act for posted in hub.by("bot")] == [act]


def test_of_two_requests_opened_at_one_moment_the_later_one_is_closed_at_once(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    hub.faults.order(
        "/commit/main",
        before=lambda: hub.open_request(contents, {"a.json": b"1"}, TEXT.title, TEXT.body, "bot"),
    )

    where = target.apply(OpenRequest(MARK, TEXT, {"a.json": b"1"}))

    assert where.endswith("/discussions/1")
    assert [row.num for row in hub.requests(contents)] == [1]
    assert "#1 stays" in hub.requests(contents, "closed")[0].comments()[-1]


def test_of_two_boards_opened_at_one_moment_the_first_holds_the_comment(
    hub: Hub, contents: Repository, target: HubTarget
) -> None:
    holder = Marker("board", "tiny", "tiny").render()
    hub.faults.order("/discussions$", method="POST", before=lambda: hub.open_discussion(contents, "B", holder, "bot"))

    target.apply(PostComment(MARK, TEXT))

    assert [row.num for row in hub.conversations(contents)] == [1]
    assert hub.conversations(contents)[0].comments("bot")[1:] == [TEXT.body]


def test_a_sweep_finds_what_stands_twice_under_every_mark(hub: Hub, contents: Repository, target: HubTarget) -> None:
    for _ in range(3):
        hub.open_request(contents, {"a.json": b"1"}, TEXT.title, TEXT.body, "bot")
    hub.open_request(contents, {"a.json": b"1"}, TEXT.title, TEXT.body, "ann")
    verdict = Marker("verdict", "results", "tiny").render()
    boards = [hub.open_discussion(contents, "Faults", verdict, "bot") for _ in range(2)]
    for who in ("bot", "bot", "ann"):
        hub.comment(contents, boards[0], TEXT.body, who)

    found = target.find_duplicates()
    for duplicate in found:
        target.remove_duplicate(duplicate)

    assert [(one.kind, one.name.partition(" ")[0], one.kept.partition(" ")[0]) for one in found] == [
        ("request", "2", "1"),
        ("request", "3", "1"),
        ("discussion", "6", "5"),
        ("comment", "5", "5"),
    ]
    assert [row.num for row in hub.requests(contents)] == [1, 4]
    assert [row.num for row in hub.conversations(contents)] == [5]
    assert boards[0].comments() == [verdict, TEXT.body, TEXT.body]
    assert target.find_duplicates() == []


def test_a_request_whose_ref_is_gone_is_named(hub: Hub, contents: Repository, target: HubTarget) -> None:
    target.apply(OpenRequest(MARK, TEXT, {"a.json": b"1"}))
    del contents.refs["refs/pr/1"]
    target.look_again()
    current = target.read_state(MARK, ("a.json",))

    with pytest.raises(Gone, match="hf://datasets/acme/contents refs/pr/1: the ref of request #1 is gone"):
        target.apply(UpdateRequest(MARK, current.request, TEXT, {"a.json": b"2"}))


def test_a_sweep_of_a_source_needs_no_target(hub: Hub, repository: Repository, client: HubClient) -> None:
    talk = HubDiscussions(HubSource(client, parse_address("hf://datasets/acme/results")))

    assert talk.find_duplicates() == []


def lists_asked(hub: Hub) -> int:
    return len([call for call in hub.calls if call.method == "GET" and call.raw_path.endswith("/discussions")])


def opened(number: int) -> str:
    return Marker("entry", f"acme/{number}", "tiny").render()


def test_what_a_look_costs_does_not_grow_with_the_requests_that_are_open(
    hub: Hub, contents: Repository, client: HubClient
) -> None:
    known = KnownThreads()
    address = parse_address("hf://datasets/acme/contents")

    def look() -> list[tuple[int, str]]:
        return [(num, row["status"]) for num, row in HubTarget(client, address, known).requests]

    rows = [hub.open_request(contents, {"a.json": b"1"}, "Add", opened(n), "bot")[0] for n in range(55)]
    for row in rows[:2]:
        hub.merge(contents, row)
    for row in rows[2:35]:
        hub.set_status(contents, row, "closed", "ann")
    first = look()
    assert len(first) == 55
    before = lists_asked(hub)
    assert look() == first
    assert lists_asked(hub) - before == 1

    hub.open_request(contents, {"a.json": b"1"}, "Add", opened(55), "bot")
    before = lists_asked(hub)
    assert look() == [*first, (56, "open")]
    assert lists_asked(hub) - before == 1

    hub.set_status(contents, rows[54], "closed", "ann")  # one of the first page of the list
    before = lists_asked(hub)
    assert dict(look()) == {**dict(first), 55: "closed", 56: "open"}
    assert lists_asked(hub) - before == 1


def test_a_request_that_a_person_closed_unannounced_is_found_by_its_mark(
    hub: Hub, contents: Repository, client: HubClient
) -> None:
    known = KnownThreads()
    rows = [hub.open_request(contents, {"a.json": b"1"}, "Add", opened(n), "bot")[0] for n in range(60)]
    target = HubTarget(client, parse_address("hf://datasets/acme/contents"), known)
    mark = Marker("entry", "acme/5", "tiny")
    current = target.read_state(mark, ("a.json",)).request
    assert current is not None
    hub.set_status(contents, rows[5], "closed", "ann")

    target.look_again()
    before = lists_asked(hub)
    state = target.read_state(mark, ("a.json",))
    assert state.request is None
    assert [one.rows for one in state.declined] == [file_marks({"a.json": b"1"})]
    assert lists_asked(hub) - before == 2


def test_the_list_is_read_whole_where_its_length_is_not_what_is_known(
    hub: Hub, contents: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = HubDiscussions(HubSource(client, parse_address("hf://datasets/acme/contents")))
    rows = [hub.open_request(contents, {"a.json": b"1"}, "Add", MARK.render(), "bot")[0] for _ in range(60)]
    talk.look("pull_request")
    hub.talk(contents).pinned = {rows[20].num}  # it is the first of the list now
    hub.set_status(contents, rows[40], "closed", "ann")

    talk.look("pull_request")
    assert len(talk.known.open_since("pull_request")) == 60  # it was read whole a moment ago
    now = time.time() + 1000
    monkeypatch.setattr(time, "time", lambda: now)
    talk.look("pull_request")
    assert len(talk.known.open_since("pull_request")) == 59
    hub.set_status(contents, rows[40], "open", "ann")
    talk.look("pull_request", whole=True)
    assert len(talk.known.open_since("pull_request")) == 60
