"""Commands of maintainers on the bot's pull requests at a target on GitHub."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.platforms.github.platform import GitHubPlatform
from bot.platforms.platform import Access
from bot.publishing.answers import not_a_maintainer
from bot.service.context import ContextFactory
from tests.platforms.github.fixtures import BOARD, github
from tests.service.passes import open_contexts, settle
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result, revision_of

ONLY_MAINTAINERS = not_a_maintainer("tiny").words

__all__ = ["github"]
SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "results"
pull_requests = "{style}"
maintainers = ["meg"]
[[watches.targets]]
to = "github://acme/leaderboard"
"""


@dataclass
class GitHubStory:
    """A local source, a target on GitHub, and a bot."""

    server: GitHubServer
    folder: Path
    style: str = "entry"
    contexts: ContextFactory = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "tiny.toml").write_text(TINY)
        (self.folder / "bot.toml").write_text(SETTINGS.format(style=self.style))
        git(self.folder, "init", "-q", "-b", "main", "results")
        self.open()

    def open(self) -> None:
        access = Access(github_token="bot-token", github_api_url=self.server.url)
        self.settings, self.contexts = open_contexts(
            self.folder / "bot.toml", access, f"sqlite:///{self.folder / 'state.db'}"
        )
        client = GitHubPlatform.client(self.contexts.opener)
        client.sleep, client.unknown_fate = lambda _: None, 0.1

    def lose_state(self) -> None:
        self.contexts.store.close()
        for file in self.folder.glob("state.db*"):
            file.unlink()
        self.open()

    def push(self, model: str = "acme/atlas-7b", **how: object) -> None:
        place = self.folder / "results" / path_of(model)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(result(model, **how))  # type: ignore[arg-type]
        for words in (["add", "-A"], ["commit", "-qm", "results"]):
            git(self.folder / "results", *words)

    def settle(self) -> list[str]:
        outcomes = settle(self.contexts.open_context(self.settings.watches[0]))
        return [f"{one.outcome} {one.subject}: {one.text}" for one in outcomes if one.outcome == "failed"]

    @property
    def pulls(self) -> list[Issue]:
        return self.server.state.repos[BOARD].pulls("open")

    def write(self, pull: Issue, text: str, user: str = "meg") -> str:
        """Somebody writes, the bot settles: its answer, "" where it gave none."""
        state = self.server.state
        state.comment(BOARD, pull.number, text, user)
        before = len(state.repos[BOARD].comments)
        assert self.settle() == []
        new = [one.body for one in state.repos[BOARD].comments.values()][before:]
        return (new or [""])[-1].partition("\n\n<!--")[0]

    def end(self) -> None:
        writes = self.server.state.writes()
        assert self.settle() == []
        assert self.server.state.writes() == writes
        self.contexts.store.close()


def test_a_maintainer_merges_a_pull_request(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    assert story.settle() == []
    [pull] = story.pulls
    assert story.write(pull, "/merge", "eve") == ONLY_MAINTAINERS
    assert story.write(pull, "/merge abc") == (
        "The bot cannot read this command: write `/merge [COMMIT]`, where COMMIT is all 40 digits of the "
        "request's newest commit."
    )
    assert story.write(pull, "/merge").startswith("Merged at `")

    assert pull.merged
    story.end()


def test_a_maintainer_of_the_hub_is_none_at_github(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.contexts.store.close()
    (tmp_path / "bot.toml").write_text(SETTINGS.format(style="entry").replace('"meg"', '"hf:meg", "github:ann"'))
    story.open()
    story.push()
    assert story.settle() == []
    [pull] = story.pulls
    assert story.write(pull, "/merge", "meg") == ONLY_MAINTAINERS
    assert story.write(pull, "/merge", "ann").startswith("Merged at `")
    assert pull.merged
    story.end()


def test_what_is_written_on_many_other_requests_hides_no_command(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    GitHubPlatform.client(story.contexts.opener).github.per_page = 2
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/cetus-3b"):
        story.push(model)
    assert story.settle() == []
    first, *others = story.pulls
    github.state.comment(BOARD, first.number, "/merge", "meg")
    for other in others:
        github.state.comment(BOARD, other.number, "Nice.", "eve")
    assert story.settle() == []

    assert first.merged
    story.end()


@pytest.mark.slow
def test_a_commit_with_a_forged_date_is_merged_by_its_name_only(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    board = github.state.repos[BOARD]
    github.state.comment(BOARD, pull.number, "/merge", "meg")
    forged = board.git.push(f"heads/{pull.head}", {"README.md": b"sneaked in"}, "x", "eve")
    assert story.settle() == []

    [answer] = [one.body for one in board.comments.values() if "may have made" in one.body]
    assert f"write `/merge {forged}`" in answer
    assert not pull.merged
    assert story.write(pull, f"/merge {forged}").startswith("Merged at `")
    story.end()


def test_a_request_that_somebody_turned_to_another_branch_is_not_merged(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    github.state.repos[BOARD].git.push("heads/release", {"README.md": b"another"}, "x", "eve")
    pull.base = "release"
    assert story.write(pull, "/merge") == ""
    assert not pull.merged


def test_without_its_state_the_bot_asks_for_the_commit(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    story.lose_state()
    assert "Somebody else may have made the newest commit" in story.write(pull, "/merge")
    assert not pull.merged

    story.push(right=(60, 60, 70))
    story.settle()
    assert story.write(pull, "/merge").startswith("Merged at `")
    story.end()


@pytest.mark.slow
def test_what_a_deleted_account_wrote_stops_nothing(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    board = github.state.repos[BOARD]
    board.git.push("heads/other", {"README.md": b"mine"}, "x", "ghost")
    github.state.open_pull(BOARD, "other", author="ghost")
    story.push()
    assert story.settle() == []
    [pull] = [one for one in story.pulls if one.author != "ghost"]
    github.state.comment(BOARD, pull.number, "hello", "ghost")
    assert story.write(pull, "/merge").startswith("Merged at `")
    story.lose_state()
    story.end()


def test_a_rule_of_the_branch_is_told_truly(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    github.state.repos[BOARD].protected = True
    answer = story.write(pull, "/merge")

    assert answer.startswith("The bot may not merge this: ")
    assert "Repository rule violations found" in answer
    assert not pull.merged
    story.end()


@pytest.mark.parametrize("method", one_of(["squash", "rebase"]))
def test_a_request_is_merged_in_the_way_that_the_repository_allows(
    github: GitHubServer, tmp_path: Path, method: str
) -> None:
    github.state.repos[BOARD].methods = {method}
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    assert story.write(pull, "/merge").startswith("Merged at `")

    assert pull.merged
    story.end()


def test_a_merge_of_which_the_answer_is_lost_is_made_once(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    github.state.order("PUT", "/merge$", status=502, landed=True)
    assert story.write(pull, "/merge").startswith("Merged at `")

    assert pull.merged
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("is_merged", one_of([True, False]))
def test_declined_rows_are_found_again_on_github(github: GitHubServer, tmp_path: Path, *, is_merged: bool) -> None:
    story = GitHubStory(github, tmp_path, style="rolling")
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/corsa-1b"):
        story.push(model)
    assert story.settle() == []
    [pull] = story.pulls
    key = f"tiny/acme/borea-1b/{revision_of('acme/borea-1b')}-bfloat16"
    assert story.write(pull, f"/decline {key}").startswith(f"The row `{key}` is left out as it is now")
    assert pull.title == "Add 2 rows of tiny"
    if is_merged:
        github.state.merge(BOARD, pull.number)
        story.settle()
        github.state.rename_main(BOARD, "trunk")  # a merged request keeps the old name
    story.lose_state()
    story.settle()

    assert [one.title for one in story.pulls] == ([] if is_merged else ["Add 2 rows of tiny"])
    story.end()


def test_rows_that_people_add_by_hand_cost_no_request_for_each(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path, style="rolling")
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/corsa-1b"):
        story.push(model)
    story.settle()
    board = github.state.repos[BOARD].git
    proposed = board.files(board.refs["heads/leaderboard-bot/rolling/tiny"])
    by_hand = {path: board.blobs[oid] for path, oid in proposed.items() if path.startswith("entries/")}
    board.push("heads/main", {path: data.replace(b"58.3", b"98.3") for path, data in by_hand.items()}, "By hand", "ann")
    github.state.requests.clear()
    story.settle()

    assert len(by_hand) == 3
    assert [path for _, path in github.state.requests if "/contents/entries/" in path] == []
    [pull] = story.pulls
    github.state.merge(BOARD, pull.number)
    assert all(board.read("main", path) == data for path, data in by_hand.items())
