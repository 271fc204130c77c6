"""The index of rows at a target: it moves on with main at the cost of the change, and a lost one is made alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.github.address import parse_address as github_address
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.target import GitHubTarget
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.target import HubTarget
from bot.platforms.row_index import RowStore
from bot.publishing.layout import StoredEntries
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.platforms.git.publisher import entry
from tests.world.git import Repository
from tests.world.github_server import local_github
from tests.world.hub import Hub

ROWS = 60  # more than are asked for one by one
MODEL = "org{}/model-{}"


def rows(count: int, day: int = 1) -> dict[str, bytes | None]:
    found = [entry(MODEL.format(n % 7, n), day) for n in range(count)]
    return {one.path: one.to_bytes() for one in found}


@pytest.fixture
def contents(hub: Hub) -> Repository:
    return hub.repository("acme/contents")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))


def opened(client: HubClient, kept: RowStore | None = None) -> HubTarget:
    """The target as a new process opens it."""
    return HubTarget(client, parse_address("hf://datasets/acme/contents"), rows=kept or RowStore())


def asked(hub: Hub, call: Callable[[], object]) -> list[str]:
    before = len(hub.calls)
    call()
    return [one.raw_path for one in hub.calls[before:]]


@pytest.mark.slow
def test_a_move_of_main_costs_as_many_requests_on_a_large_board_as_on_a_small_one(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    """Each look is that of a new process, which has nothing but the state."""
    counts = []
    for size in (10, 40, 700):
        hub.push(contents, rows(size))
        opened(client, store.row_index("t")).scan_entries()
        hub.push(contents, {**rows(2, day=2), "leaderboard.csv": b"%d" % size})
        target = opened(client, store.row_index("t"))
        counts.append(len(asked(hub, target.scan_entries)))
        assert len(target.scan_entries().entries) == size
    assert max(counts) - min(counts) <= 5


def test_a_commit_that_leaves_the_rows_costs_one_listing_and_none_the_second_time(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    hub.push(contents, rows(10))
    target = opened(client, store.row_index("t"))
    target.scan_entries()
    hub.push(contents, {"leaderboard.csv": b"1"})
    target.look_again()
    target.head()

    assert len(asked(hub, target.scan_entries)) == 2  # of both commits
    assert asked(hub, target.scan_entries) == []
    hub.push(contents, {"leaderboard.csv": b"2"})
    target.look_again()
    target.head()
    assert len(asked(hub, target.scan_entries)) == 1


def test_rows_are_read_from_the_index_and_not_from_the_hub(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    files = rows(ROWS)
    hub.push(contents, files)
    opened(client, store.row_index("t")).scan_entries()
    target = opened(client, store.row_index("t"))
    target.head()

    assert asked(hub, lambda: target.read_files([*files, "entries/none.json"])) == []
    assert target.read_files([*files, "entries/none.json"]) == files
    later = rows(1, day=2)
    hub.push(contents, later)
    other = opened(client, store.row_index("t"))
    assert other.read_files(list(files)) == {**files, **later}


def seen(found: StoredEntries) -> tuple[list[str], dict[str, str]]:
    return [one.to_bytes().decode() for one in found.entries], dict(found.skipped)


def some_act(dice: random.Random, there: list[str]) -> dict[str, bytes | None]:
    """What people and the bot do to the rows: add, edit, remove, put other files beside them, take a folder away."""
    n, day = dice.randrange(30), dice.randrange(1, 20)
    one = entry(MODEL.format(n % 7, n), day, right=(day, 60, 70))
    folder = f"entries/tiny/org{n % 7}"
    acts: list[dict[str, bytes | None]] = [
        {one.path: one.to_bytes()},
        {one.path: one.to_bytes().replace(b"bfloat16", b"float16")},
        dict.fromkeys(dice.sample(there, min(2, len(there)))),
        {f"{folder}/notes.md": b"%d" % day, f"{folder}/huge.json": b"1" * 600_000, "entries/broken.json": b"{"},
        dict.fromkeys(path for path in there if path.startswith(f"{folder}/")),
        {"leaderboard.csv": b"%d" % day},
        rows(n),
    ]
    return dice.choice(acts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_index_with_the_state_kept_is_that_of_a_lost_state(
    hub: Hub, contents: Repository, client: HubClient, store: Store, seed: int
) -> None:
    dice = random.Random(seed)
    commits = []
    for _ in range(25):
        there = [path for path, _ in contents.main.tree.files() if path.startswith("entries/")]
        act = some_act(dice, there)
        if act:
            commits.append(hub.push(contents, act))
        if commits and dice.random() < 0.2:  # somebody rewrites the history, and the Hub may have forgotten it
            contents.refs["refs/heads/main"] = dice.choice(commits)
        kept, lost = opened(client, store.row_index("t")), opened(client)
        assert seen(kept.scan_entries()) == seen(lost.scan_entries())


def test_a_forgotten_commit_costs_one_listing_and_no_content_that_is_known(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    hub.push(contents, rows(ROWS))
    opened(client, store.row_index("t")).scan_entries()
    contents.squash([])
    target = opened(client, store.row_index("t"))
    calls = asked(hub, target.scan_entries)

    assert not [call for call in calls if "/resolve/" in call or "git" in call]
    assert len(target.scan_entries().entries) == ROWS


def test_a_commit_that_the_hub_does_not_show_yet_empties_no_index(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    hub.push(contents, rows(10))
    opened(client, store.row_index("t")).scan_entries()
    new = hub.push(contents, rows(11)).oid
    late = {"status": 404, "headers": {"X-Error-Code": "RevisionNotFound"}, "times": -1}
    fault, other = hub.faults.order(f"/tree/{new}", **late), hub.faults.order(f"/paths-info/{new}", **late)

    with pytest.raises(Unavailable, match="does not show commit"):
        opened(client, store.row_index("t")).scan_entries()
    with pytest.raises(Unavailable, match="does not show commit"):
        opened(client).scan_entries()
    fault.times = other.times = 0
    assert len(opened(client, store.row_index("t")).scan_entries().entries) == 11


def test_content_that_its_object_id_does_not_name_is_an_outage_and_enters_no_index(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    hub.push(contents, rows(10))
    opened(client, store.row_index("t")).scan_entries()
    hub.push(contents, rows(1, day=2))
    hub.faults.order("/resolve/", body=b"{}", times=-1)
    with pytest.raises(Unavailable):
        opened(client, store.row_index("t")).scan_entries()
    hub.faults.ordered.clear()
    assert seen(opened(client, store.row_index("t")).scan_entries()) == seen(opened(client).scan_entries())


def test_a_process_that_saw_an_older_commit_spoils_nothing(
    hub: Hub, contents: Repository, client: HubClient, store: Store
) -> None:
    hub.push(contents, rows(10))
    slow, fast = opened(client, store.row_index("t")), opened(client, store.row_index("t"))
    slow.head()
    hub.push(contents, {**rows(1, day=2), **dict.fromkeys(list(rows(10))[5:])})
    assert len(fast.scan_entries().entries) == 5
    assert len(slow.scan_entries().entries) == 10
    fast.look_again()
    assert seen(opened(client, store.row_index("t")).scan_entries()) == seen(opened(client).scan_entries())


def test_the_index_of_a_board_on_github_moves_on_too(store: Store) -> None:
    with local_github() as server:
        server.state.add_account("bot-token", "leaderboard-bot")
        git = server.state.add_repo("acme/contents", {"README.md": b"1"}).git
        git.push("heads/main", rows(40))
        client = GitHubClient("bot-token", server.url)

        def target(kept: RowStore) -> GitHubTarget:
            return GitHubTarget(client, github_address("github://acme/contents"), rows=kept)

        target(store.row_index("g")).scan_entries()
        git.push("heads/main", {**rows(1, day=2), "entries/notes.md": b"1"})
        found = target(store.row_index("g")).scan_entries()
        assert (seen(found), len(found.skipped)) == (seen(target(RowStore()).scan_entries()), 1)
