"""Two processes of one service write on GitHub: what a killed one began is left alone until its end is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.errors import Unsettled
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.platforms.github.target import GitHubTarget
from bot.platforms.net import Intend
from bot.publishing.publication import Marker, PostComment, PostText
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_server import GitHubServer

__all__ = ["github"]

MARK = Marker("verdict", "a/b", "tiny")
TEXT = f"Accepted.\n\n{MARK.render()}"
Write = Callable[[GitHubServer, Intend], object]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    both = [Store(connect(f"sqlite:///{tmp_path}/state.sqlite3")) for _ in range(2)]
    yield both[0], both[1]
    for one in both:
        one.close()


def interrupted(_: float) -> None:
    raise KeyboardInterrupt


def client_of(github: GitHubServer) -> GitHubClient:
    return GitHubClient("bot-token", github.url, sleep=interrupted)


def discussions(github: GitHubServer, intend: Intend) -> GitHubDiscussions:
    client, address = client_of(github), GitHubAddress(BOARD)
    return GitHubDiscussions(RequestSource(client, address), {}, intend)


def target(github: GitHubServer, intend: Intend) -> GitHubTarget:
    return GitHubTarget(client_of(github), GitHubAddress(BOARD, 1), "comment", intend=intend)


WRITES: dict[str, tuple[str, Write]] = {
    "a discussion": ("/issues$", lambda github, intend: discussions(github, intend).open_discussion("Results", TEXT)),
    "a comment": ("/comments$", lambda github, intend: discussions(github, intend).comment(1, TEXT)),
    "an answer": ("/comments$", lambda github, intend: target(github, intend).comments.say("1", TEXT)),
    "a row": (
        "/comments$",
        lambda github, intend: target(github, intend).apply(PostComment(MARK, PostText("Row", TEXT))),
    ),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_a_killed_process_began_no_other_writes_at_once(
    github: GitHubServer, stores: tuple[Store, Store], what: str
) -> None:
    path, write = WRITES[what]
    discussions(github, stores[0].intend).open_discussion("Here", "Comments stand here.")
    github.state.order("POST", path, status=504)

    with pytest.raises(KeyboardInterrupt):  # while it looks whether its write landed
        write(github, stores[0].intend)
    with pytest.raises(Unsettled, match="another process"):
        write(github, stores[1].intend)

    board = github.state.repos[BOARD]
    assert TEXT not in [one.body for one in (*board.comments.values(), *board.issues.values())]
