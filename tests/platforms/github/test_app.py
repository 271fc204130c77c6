"""A GitHub App in the place of a token: its key is proved, its tokens are renewed, and it reviews and publishes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from bot.errors import CallError, Refused
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.source import GitHubSource
from bot.platforms.platform import Access, GitHubApp
from bot.service.settings.environment import read_access
from tests.platforms.github.fixtures import BOARD, github
from tests.service.github_stories import GitHubStory
from tests.world.github_server import GitHubServer

__all__ = ["github"]


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture
def app(github: GitHubServer, key: rsa.RSAPrivateKey) -> GitHubApp:
    """An app with one installation on the local GitHub."""
    state = github.state
    state.app_id, state.installations = "4711", {7: "acme"}
    state.app_key = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return GitHubApp("4711", pem(key))


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def client(server: GitHubServer, app: GitHubApp) -> GitHubClient:
    return GitHubClient(None, server.url, app=app, sleep=lambda _: None, unknown_fate=0.1)


def made(server: GitHubServer) -> int:
    """How many tokens were made."""
    return server.state.count("POST", "access_tokens$")


def test_the_only_installation_is_found_and_its_token_kept(github: GitHubServer, app: GitHubApp) -> None:
    ours = client(github, app)

    assert ours.user == "board-app[bot]"
    assert GitHubSource(ours, GitHubAddress(BOARD)).read_content(blob(github), 100) == b"# Leaderboard\n"
    assert ours.repo(BOARD).full_name == BOARD
    assert made(github) == 1


def blob(server: GitHubServer) -> str:
    git = server.state.repos[BOARD].git
    return git.files(git.refs["heads/main"])["README.md"]


def test_a_token_that_ends_is_renewed(github: GitHubServer, app: GitHubApp) -> None:
    github.state.token_seconds = 5  # less than is left of one that is used
    ours = client(github, app)
    assert ours.user == "board-app[bot]"
    before = made(github)
    assert GitHubSource(ours, GitHubAddress(BOARD)).read_content(blob(github), 100) == b"# Leaderboard\n"

    assert made(github) > before


def test_a_token_that_cannot_be_made_for_a_moment_is_asked_for_again(github: GitHubServer, app: GitHubApp) -> None:
    github.state.order("POST", "access_tokens$", status=502, times=2)

    assert client(github, app).user == "board-app[bot]"


@pytest.mark.slow
def test_an_app_of_several_installations_needs_the_number_of_one(github: GitHubServer, app: GitHubApp) -> None:
    github.state.installations[8] = "other"
    with pytest.raises(CallError, match=r"2 installations \(7 at acme, 8 at other\): name one by GITHUB_APP_INST"):
        _ = client(github, app).user
    named = GitHubApp(app.app_id, app.private_key, 8)
    assert client(github, named).user == "board-app[bot]"

    github.state.installations.clear()
    with pytest.raises(CallError, match="0 installations: install it"):
        _ = client(github, app).user


def test_a_wrong_key_is_said_and_never_shown(github: GitHubServer, app: GitHubApp) -> None:
    with pytest.raises(CallError, match="is not an RSA private key") as error:
        _ = client(github, GitHubApp("4711", "MARKER-KEY")).user
    assert "MARKER" not in str(error.value)
    assert "MARKER" not in repr(GitHubApp("4711", "MARKER-KEY"))
    other = GitHubApp("4711", pem(rsa.generate_private_key(65537, 2048)))
    with pytest.raises(Refused, match="could not be decoded"):
        _ = client(github, other).user


def test_an_app_reviews_requests(github: GitHubServer, app: GitHubApp, tmp_path: Path) -> None:
    github.state.add_account("ghs_known", "board-app[bot]", is_app=True)
    story = GitHubStory(github, tmp_path, token="ghs_known", app=app)
    request = story.propose()
    story.settle()

    [comment] = story.source.comments_on(request.number)
    assert comment.author == "board-app[bot]"
    assert "✅ accepted" in comment.body
    assert story.statuses() == [("success", "1 accepted")]
    story.contexts.store.close()


def test_the_environment_names_an_app(key: rsa.RSAPrivateKey) -> None:
    one_line = pem(key).strip().replace("\n", "\\n")
    access = read_access({"GITHUB_APP_ID": " 4711 ", "GITHUB_APP_PRIVATE_KEY": one_line})

    assert access.github_app == GitHubApp("4711", pem(key).strip())
    more = {"GITHUB_APP_ID": "1", "GITHUB_APP_PRIVATE_KEY": "k", "GITHUB_APP_INSTALLATION_ID": "12"}
    assert read_access(more).github_app == GitHubApp("1", "k", 12)
    assert read_access({}) == Access()
    for wrong in ({"GITHUB_APP_ID": "1"}, {"GITHUB_APP_PRIVATE_KEY": "k"}, more | {"GITHUB_APP_INSTALLATION_ID": "x"}):
        with pytest.raises(CallError, match="GITHUB_APP_"):
            read_access(wrong)
