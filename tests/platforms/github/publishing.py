"""What the tests of publishing to GitHub share: a target, one row published, what stands there."""

from __future__ import annotations

from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.target import GitHubTarget
from bot.publishing.entry import Entry
from bot.publishing.publication import Form, find_marker
from bot.service.publish.one_call import publish
from tests.platforms.github.fixtures import BOARD
from tests.world.github_server import GitHubServer
from tests.world.github_state import Comment, Issue, Repo


def target(
    server: GitHubServer, form: Form = "pull-request", token: str = "bot-token", number: int | None = None
) -> GitHubTarget:
    client = GitHubClient(token, server.url, sleep=lambda _: None, unknown_fate=1.0)
    return GitHubTarget(client, GitHubAddress(BOARD, number), form)


def board(server: GitHubServer) -> Repo:
    return server.state.repos[BOARD]


def publish_to(server: GitHubServer, one: Entry, form: Form = "pull-request", token: str = "bot-token") -> str:
    return publish([one], target(server, form, token), form)[0].decision.why


def requests(server: GitHubServer, state: str = "open") -> list[Issue]:
    return board(server).pulls(state)


def ours(server: GitHubServer) -> list[Comment]:
    return [comment for comment in board(server).comments.values() if find_marker(comment.body)]


def proposed(server: GitHubServer, number: int) -> dict[str, bytes]:
    """What a request would change on main, as GitHub would show it."""
    git = board(server).git
    head = git.refs[f"heads/{board(server).issues[number].head}"]
    base = git.merge_base(git.refs["heads/main"], head)
    return {path: git.read(head, path) for path in git.changed(base, head)}
