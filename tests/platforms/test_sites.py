"""A site in a Space, on a branch and in a folder: what differs is written, foreign files are never touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.errors import BotError, CallError
from bot.pages.site import Site
from bot.platforms.platform import Access, Opener
from bot.platforms.sites import LIST, publish_site
from bot.publishing.entry import Entry
from tests.pages.boards import generated, site_of
from tests.platforms.github.fixtures import BOARD, github
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]
CARD = b"---\ntitle: Board\nsdk: static\n---\n"
ROWS = generated(6)


@dataclass
class Place:
    """A place of sites: its address, how it is opened, the files there, how many commits it has, and a push to it."""

    address: str
    opener: Opener
    files: Callable[[], Mapping[str, bytes]]
    commits: Callable[[], int]
    push: Callable[[dict[str, bytes]], object]
    own: set[str] = field(default_factory=set)

    def publish(self, *entries: Entry) -> tuple[int, int]:
        done = publish_site(site_of(entries), self.address, self.opener)
        return done.changed, done.removed

    def shown(self) -> dict[str, bytes]:
        """What stands there of the site."""
        return {path: data for path, data in self.files().items() if path not in {*self.own, LIST}}


@pytest.fixture
def space(hub: Hub) -> Place:
    repository = hub.repository("acme/board", "space")
    hub.writers.add(("bot", "acme/board"))
    hub.push(repository, {"README.md": CARD})
    opener = Opener(Access(hf_token=hub.person("bot"), hf_endpoint=hub.url))
    return Place(
        "hf://spaces/acme/board",
        opener,
        lambda: {path: blob.data for path, blob in repository.main.tree.files()},
        lambda: len(hub.by("bot", "commit")),
        lambda files: hub.push(repository, files),
        {"README.md"},
    )


@pytest.fixture
def branch(github: GitHubServer) -> Place:
    git = github.state.repos[BOARD].git
    opener = Opener(Access(github_token="bot-token", github_api_url=github.url))

    def files() -> dict[str, bytes]:
        if "heads/gh-pages" not in git.refs:
            return {}
        return {path: git.blobs[oid] for path, oid in git.files(git.refs["heads/gh-pages"]).items()}

    def commits() -> int:
        commit, count = git.refs.get("heads/gh-pages"), 0
        while commit:
            commit, count = next(iter(git.commits[commit].parents), None), count + 1
        return count

    own: set[str] = set()

    def push(more: dict[str, bytes]) -> None:
        if "heads/gh-pages" not in git.refs:
            own.add("README.md")  # of the main branch, on which a new one begins here
        git.push("heads/gh-pages", dict(more))

    return Place(f"github://{BOARD}@gh-pages", opener, files, commits, push, own)


@pytest.fixture(params=one_of(["branch", "space"]))
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(request.param)
    return found


def files_of(site: Site) -> dict[str, bytes]:
    return {path: site[path] for path in site}


def test_the_place_has_the_bytes_of_the_site_and_a_second_time_writes_nothing(place: Place) -> None:
    assert place.publish(*ROWS) == (len(site_of(ROWS)), 0)
    assert place.shown() == files_of(site_of(ROWS))
    before = place.commits()
    assert place.publish(*ROWS) == (0, 0)
    assert place.commits() == before
    assert set(json.loads(place.files()[LIST])["files"]) == set(site_of(ROWS))


def test_what_goes_is_taken_away_and_what_is_foreign_stays(place: Place) -> None:
    place.publish(*ROWS)
    foreign = {"rows/mine.html": b"mine", "CNAME": b"board.example", "columns/notes.txt": b"x"}
    place.push(foreign)
    place.own |= set(foreign)
    changed, removed = place.publish(*ROWS[1:])
    assert removed == 2  # the page of a row, and its badge
    assert changed < len(site_of(ROWS))
    assert place.shown() == files_of(site_of(ROWS[1:]))
    assert {path: place.files()[path] for path in foreign} == foreign


def test_a_place_that_is_somebody_elses_is_refused_and_left_alone(place: Place) -> None:
    place.push({"index.html": b"<h1>mine</h1>"})
    before = dict(place.files())
    with pytest.raises(CallError, match=r"index\.html is not part of the site; remove it"):
        place.publish(*ROWS)
    assert place.files() == before
    place.push({"index.html": b"", LIST: b"[1]"})
    with pytest.raises(CallError, match="was not made by leaderboard-bot"):
        place.publish(*ROWS)


def test_a_large_site_is_several_commits_and_one_that_was_cut_off_is_finished(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.platforms.sites.FILES", 10)
    with cut_after(2, monkeypatch), pytest.raises(ConnectionError):
        place.publish(*ROWS)
    assert 0 < len(place.shown()) < len(site_of(ROWS))
    changed, _ = place.publish(*ROWS)
    assert 0 < changed < len(site_of(ROWS))
    assert place.shown() == files_of(site_of(ROWS))
    assert place.commits() > 3
    assert place.publish(*ROWS) == (0, 0)


@contextmanager
def cut_after(commits: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every commit after the first few fails as a process that is killed does: nothing is tidied up."""
    from bot.platforms.github.platform import GitHubSite
    from bot.platforms.hub.platform import HubSite

    done = []
    with monkeypatch.context() as patch:
        for host in (GitHubSite, HubSite):
            write = host.write

            def cut(self: object, files: object, title: str, write: Callable[..., None] = write) -> None:
                if len(done) == commits:
                    raise ConnectionError
                done.append(title)
                write(self, files, title)

            patch.setattr(host, "write", cut)
        yield


def test_a_space_that_runs_a_program_is_no_place_for_a_site(space: Place) -> None:
    space.push({"README.md": b"---\nsdk: docker\n---\n"})
    with pytest.raises(CallError, match="does not say `sdk: static`"):
        space.publish(*ROWS)


def test_a_folder_is_written_as_the_command_does(tmp_path: Path) -> None:
    opener = Opener(Access(), tmp_path)
    publish_site(site_of(ROWS), "site", opener)
    assert (tmp_path / "site" / "index.html").read_bytes() == site_of(ROWS)["index.html"]


@pytest.mark.parametrize(
    "address",
    [
        "hf://datasets/acme/board",
        "hf://spaces/acme/board/folder",
        "hf://spaces/acme",
        "github://acme/board",
        "github://acme/board@",
        "github://acme/board@../x",
        "github://acme/board@a b",
        "github://acme/board#3@x",
        "ftp://acme/board",
    ],
)
def test_an_address_that_is_no_place_for_a_site_is_told_in_a_line(address: str) -> None:
    with pytest.raises(BotError) as refused:
        publish_site(site_of(ROWS), address, Opener(Access()))
    assert "\n" not in str(refused.value)
    assert refused.value.status == 2
