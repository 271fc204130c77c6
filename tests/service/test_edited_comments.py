"""Comments that somebody else edited, quoted or hid: none of them is a command, and none of them grants anything."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.publishing.answers import answer_text, row_declined
from bot.publishing.publication import find_marker
from bot.service.talk.commands import command_in
from bot.service.talk.waivers import stored_waivers
from tests.platforms.github.fixtures import BOARD, github
from tests.service.stories import Story
from tests.service.test_commands import IGNORE, propose, replies
from tests.service.test_github_commands import GitHubStory
from tests.service.test_target_commands import proposed, rolling
from tests.variants import one_of
from tests.world.discussions import Discussion
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]
EDITED = "This comment was edited after it was posted, so it is no command"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


@pytest.mark.parametrize(
    "text",
    [
        "    /merge",
        "\t/merge",
        "   \t/merge",
        "\n\n    /merge\n",
        "```\n/merge\n```",
        "~~~\n/merge\n~~~",
        "> /merge",
        "<!-- x\n/merge\n-->",
        "<!-- x --> /merge",
        "On Monday, ann wrote:\n/merge",
        "On Monday, ann wrote:\n\n> /merge",
        "please\n/merge",
        "- /merge",
        "\\/merge",
        "/mergers",
        "/merge-all",
        "/Merge",
        "",
    ],
)
def test_what_is_no_command(text: str) -> None:
    found = command_in(text)
    assert found is None or found[0] != "merge"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/merge", ("merge", "")),
        ("  /merge\r\nlooks good", ("merge", "")),
        ("\r\n \n/merge `abc`\r\n> quoted", ("merge", "abc")),
        ("/ignore a until b because c  ", ("ignore", "a until b because c")),
    ],
)
def test_what_is_a_command(text: str, found: tuple[str, str]) -> None:
    assert command_in(text) == found


def edit(story: Story, thread: Discussion, event: dict[str, Any], text: str, user: str = "eve") -> None:
    """Somebody edits a comment, whoever wrote it, and says so."""
    repository = next(one for one in (story.source, story.target) if thread in story.hub.talk(one).all.values())
    story.hub.talk(repository).edit(event, text, user)
    story.hub.comment(repository, thread, "I edited that.", user)


@pytest.mark.parametrize("editor", one_of(["eve", "meg"]))
def test_an_edited_comment_merges_nothing(story: Story, editor: str) -> None:
    request = proposed(story)
    event = story.hub.comment(story.target, request, "Nice work!", "meg")
    edit(story, request, event, "/merge", editor)
    story.settle()
    assert request.comments("bot")[-1].startswith(EDITED)
    story.settle()

    assert request.status == "open"
    assert story.acts() == ["comment"]


def test_an_edited_comment_waives_nothing(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    event = story.hub.comment(story.source, request, "Nice work!", "meg")
    edit(story, request, event, IGNORE)
    story.settle()

    [answer] = replies(request)
    assert answer.startswith(EDITED)
    assert "❌ rejected" in request.comments("bot")[1]
    assert story.acts() == ["comment", "comment"]


@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_a_waiver_stays_as_it_was_granted_whoever_edits_the_comment(story: Story, *, is_wiped: bool) -> None:
    request = propose(story, right=(50, 60, 170))
    event = story.hub.comment(story.source, request, IGNORE, "meg")
    story.settle()
    other = IGNORE.replace("value-out-of-range", "missing-task").replace("2099", "2100").replace("meter", "cat")
    edit(story, request, event, other)
    if is_wiped:
        story.lose_state()
    story.settle()

    [waiver] = stored_waivers(story.state, story.watch)
    assert (waiver.rule, str(waiver.until), waiver.reason) == ("value-out-of-range", "2099-01-01", "the meter was off")
    assert "waived by meg" in request.comments("bot")[1]
    story.news()


@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_an_edited_answer_of_the_bot_waives_nothing(story: Story, *, is_wiped: bool) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(story.source, request, "/ignore missing-task until 2099-01-01 because I say so", "meg")
    story.settle()
    answer = next(
        event
        for event in request.events
        if event["author"]["name"] == "bot" and "is waived until" in event["data"].get("latest", {}).get("raw", "")
    )
    text = answer["data"]["latest"]["raw"].replace("missing-task", "value-out-of-range")
    edit(story, request, answer, text)
    if is_wiped:
        story.lose_state()
    story.settle()

    assert "❌ rejected" in request.comments("bot")[0] + request.comments("bot")[1]
    assert "waived by" not in request.comments("bot")[0] + request.comments("bot")[1]
    story.news()


def test_an_edited_answer_of_the_bot_declines_nothing(hub: Hub, tmp_path: Path) -> None:
    story, request, key = rolling(hub, tmp_path)
    other = key.replace("borea-1b", "corsa-1b")
    event = hub.comment(story.target, request, f"/decline {key}", "meg")
    story.settle()
    answer = next(e for e in request.events if e["data"].get("latest", {}).get("raw", "").startswith("The row `"))
    text = answer["data"]["latest"]["raw"].replace(key, other)
    edit(story, request, answer, text)
    story.lose_state()
    story.settle()

    assert event["author"]["name"] == "meg"
    assert request.title == "Add 3 rows of tiny"
    story.news()
    story.end()


def test_a_waiver_counts_on_its_last_day(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    today = datetime.now(UTC).date()
    story.hub.comment(story.source, request, IGNORE.replace("2099-01-01", str(today)), "meg")
    story.hub.comment(story.source, request, IGNORE.replace("2099-01-01", str(today - timedelta(days=1))), "meg")
    story.settle()

    one, other = replies(request)
    assert f"is waived until {today} for exactly these files" in one
    assert other.startswith(f"{today - timedelta(days=1)} has passed")
    assert "waived by meg" in request.comments("bot")[-1]
    story.news()


@pytest.mark.slow
def test_on_github_an_edited_comment_merges_nothing(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    comment = github.state.comment(BOARD, pull.number, "Nice work!", "meg")
    github.state.edit_comment(comment, "/merge")
    assert story.settle() == []
    assert [one.body for one in github.state.repos[BOARD].comments.values()][-1].startswith(EDITED)
    assert not pull.merged

    assert story.write(pull, "    /merge") == ""
    assert story.write(pull, "> /merge") == ""
    assert not pull.merged
    assert story.write(pull, "/merge").startswith("Merged at `")
    story.end()


def test_on_github_an_edit_in_the_second_of_the_comment_counts_as_one(github: GitHubServer, tmp_path: Path) -> None:
    """GitHub's times of a comment and of its edit are whole seconds, and whoever may write edits the words of all."""
    story = GitHubStory(github, tmp_path)
    story.push()
    story.settle()
    [pull] = story.pulls
    comment = github.state.comment(BOARD, pull.number, "Nice work!", "meg")
    github.state.edit_comment(comment, "/merge", at_once=True)
    assert comment.created == comment.updated
    assert story.settle() == []
    assert not pull.merged
    assert [one.body for one in github.state.repos[BOARD].comments.values()][-1].startswith(EDITED)
    story.end()


def test_on_github_an_answer_of_the_bot_that_is_edited_at_once_grants_nothing(
    github: GitHubServer, tmp_path: Path
) -> None:
    story = GitHubStory(github, tmp_path, "rolling")
    story.push()
    story.settle()
    [pull] = story.pulls
    story.write(pull, "/decline tiny/acme/other")
    answer = [*github.state.repos[BOARD].comments.values()][-1]
    known = story.contexts.store.of("tiny")
    [(key, digest)] = known.rows.digests(known.rows.all_keys()).items()
    mark = find_marker(answer.body)
    assert mark is not None
    planted = answer_text(row_declined(key, digest), mark.key, "tiny", who="meg")
    github.state.edit_comment(answer, planted, at_once=True)
    github.state.comment(BOARD, pull.number, "I edited that.", "eve")
    assert story.settle() == []
    assert known.decided(f"github://{BOARD}") == {}
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_an_approval_whose_answer_is_taken_away_counts_no_second_time(
    hub: Hub, tmp_path: Path, *, is_wiped: bool
) -> None:
    story = Story(hub, tmp_path, form="commit", more="max_removed = 0")
    for is_second in (False, True):
        story.push()
        story.settle()
        story.remove()
        [outcome] = [one for one in story.settle() if one.outcome == "held"]
        digest = outcome.text.partition("approve plan ")[2].split(" ")[0]
        [plans] = [one for one in hub.conversations(story.target) if one.title.startswith("Plans")]
        if not is_second:
            hub.comment(story.target, plans, f"/approve {digest}", "meg")
            story.settle()
            story.settle()
    answers = [one for one in plans.events if "is approved by this comment" in str(one["data"].get("latest"))]
    assert len(answers) == 1
    plans.events.remove(answers[0])
    if is_wiped:
        story.lose_state()
    story.settle()
    story.settle()
    assert not any("is approved by this comment" in text for text in plans.comments("bot"))
    assert story.target.main.tree is not None
    assert any(path.startswith("entries/") for path, _ in story.target.main.tree.files())


def test_an_approval_is_used_once(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more="max_removed = 0")
    for is_approved in (False, True):
        story.push()
        story.settle()
        story.remove()
        [outcome] = [one for one in story.settle() if one.outcome == "held"]
        digest = outcome.text.partition("approve plan ")[2].split(" ")[0]
        assert len(digest) == 32
        [plans] = [one for one in hub.conversations(story.target) if one.title.startswith("Plans")]
        assert f"/approve {digest}" in plans.comments("bot")[1]
        if is_approved:  # the plan is the same, its approval is used up
            assert [one.outcome for one in story.settle() if one.outcome == "written"] == []
            assert [text for text in plans.comments("bot") if "is approved by this comment" in text] != []
        answers = len(plans.comments("bot"))
        event = hub.comment(story.target, plans, "Let me see.", "meg")
        edit(story, plans, event, f"/approve {digest}")
        hub.comment(story.target, plans, f"/approve {digest[:31]}", "meg")
        hub.comment(story.target, plans, f"/approve {'0' * 32}", "meg")
        story.settle()
        assert len(plans.comments("bot")) == answers + 3
        assert story.target.main.tree is not None
        assert any(path.startswith("entries/") for path, _ in story.target.main.tree.files())

        hub.comment(story.target, plans, f"/approve {digest}", "meg")
        story.settle()
        story.settle()
        assert not any(path.startswith("entries/") for path, _ in story.target.main.tree.files())
    story.news()
    story.end()
