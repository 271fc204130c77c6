"""Pull requests at a source on GitHub: one comment with the verdict, a status, and each command answered once."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.github import discussions
from tests.platforms.github.fixtures import github
from tests.service.github_stories import FORK, SOURCE, TARGET, GitHubStory
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.results import path_of, result

__all__ = ["github"]

WAIVE = "/ignore value-out-of-range until 2099-01-01 because the meter was off"


@pytest.fixture
def story(github: GitHubServer, tmp_path: Path) -> Iterator[GitHubStory]:
    story = GitHubStory(github, tmp_path)
    yield story
    story.end()


def test_a_good_request_of_a_fork_is_accepted_beside_its_commit(story: GitHubStory) -> None:
    request = story.propose()
    story.settle()

    head = story.fork.git.refs["heads/run"]
    text = story.review(request)
    assert "### ✅ accepted: `acme/atlas-7b`" in text
    assert "| `acme/atlas-7b` | 58.33 | – | – | 1 of 1 | new |" in text
    assert [row["sha"] for row in story.source.statuses] == [head]
    assert story.statuses() == [("success", "1 accepted")]


@pytest.mark.parametrize(
    ("data", "verdict", "status"),
    one_of(
        [
            (result(right=(50, 60, 170)), "❌ rejected", ("failure", "1 rejected")),
            (result(right=(50, None, 70)), "🟡 incomplete", ("success", "1 incomplete")),
            (result()[:-40], "❌ rejected", ("failure", "1 rejected")),
        ]
    ),
)
def test_a_broken_request_is_told_what_is_wrong_until_it_is_corrected(
    story: GitHubStory, data: bytes, verdict: str, status: tuple[str, str]
) -> None:
    request = story.propose({path_of(): data})
    story.settle()
    assert verdict in story.review(request)
    assert story.statuses() == [status]

    story.push_to("run")
    story.settle()
    assert "✅ accepted" in story.review(request)
    assert story.statuses() == [status, ("success", "1 accepted")]


def test_a_request_that_nobody_touched_costs_its_line_in_the_lists(story: GitHubStory) -> None:
    story.source.git.push("heads/main", {"notes.json": b"{}"})  # a source without files is listed each time
    request = story.propose()
    for _ in range(3):
        story.settle()
    state = story.server.state
    before = len(state.requests)
    story.settle()

    asked = state.requests[before:]
    assert not [path for _, path in asked if f"/{request.number}" in path or "/git/trees" in path]
    assert sum(path.startswith("/repos/acme/contents/issues") for _, path in asked) == 1
    assert sum(path == "/repos/acme/contents/git/ref/heads/main" for _, path in asked) == 1
    assert len(asked) <= 6


@pytest.mark.slow
def test_the_default_branch_may_be_renamed_while_the_service_runs(story: GitHubStory) -> None:
    merged = story.propose()
    story.server.state.merge(SOURCE, merged.number)
    story.settle()
    for name in (SOURCE, TARGET):
        story.server.state.rename_main(name, "trunk")
        for issue in story.server.state.repos[name].issues.values():
            issue.base = "trunk"
    request = story.propose({path_of("acme/bolt-1b"): result("acme/bolt-1b")}, branch="later")

    assert [one for one in story.settle() if one.outcome == "failed"] == []
    assert "### ✅ accepted: `acme/bolt-1b`" in story.review(request)
    story.server.state.merge(SOURCE, request.number)
    story.settle()
    assert [one.base for one in story.target.pulls("open")] == ["trunk", "trunk"]


def test_where_issues_are_disabled_nothing_waits_for_a_verdict(story: GitHubStory) -> None:
    story.source.has_issues = False
    story.source.git.push("heads/main", {path_of(): b"{}"}, "Results", "ann")
    said = story.said()

    assert said["folder /acme__atlas-7b"] == (
        "unchanged: GitHub refused: github://acme/results: 410: Issues has been disabled in this repository"
    )
    assert not story.state.items.counts()


@pytest.mark.slow
def test_a_request_without_results_is_said_to_have_none(story: GitHubStory) -> None:
    request = story.propose({"words.md": b"hello"})
    assert story.said()[f"review #{request.number}"] == "unchanged: it changes no result file"
    assert (story.comments(request, "verdict"), story.statuses()) == ([], [])


@pytest.mark.slow
def test_a_request_for_another_branch_is_none_of_ours(story: GitHubStory) -> None:
    story.source.git.push("heads/dev", {"notes.md": b"x"}, "x", "ann")
    request = story.propose()
    request.base = "dev"
    story.settle()
    assert story.comments(request, "verdict") == []

    state = story.server.state
    before = len(state.requests)
    story.settle()
    assert not [path for _, path in state.requests[before:] if f"/{request.number}" in path]
    state.merge(SOURCE, request.number)
    story.settle()
    assert story.target.pulls("open") == []


def test_a_request_that_changes_its_branch_is_judged_only_while_merging_it_changes_results(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    first = story.review(request)
    story.source.git.push("heads/dev", {"notes.md": b"x"}, "x", "ann")
    for base, is_judged in (("dev", False), ("main", True)):
        request.base, request.updated = base, story.server.state.tick()
        story.settle()
        assert (story.review(request) == first) == is_judged
        assert ("for another branch now" in story.review(request)) != is_judged


@pytest.mark.slow
def test_a_request_on_top_of_another_changes_only_its_own_files_once_that_is_merged(story: GitHubStory) -> None:
    below = story.propose(right=(40, 40, 40), branch="below")
    story.fork.git.refs["heads/above"] = story.fork.git.refs["heads/below"]
    above = story.propose({path_of("acme/bolt-1b"): result("acme/bolt-1b")}, branch="above")
    story.settle()
    assert "2 result files judged" in story.review(above)

    story.source.git.refs["heads/main"] = story.fork.git.refs["heads/below"]
    below.state = "closed"
    story.source.git.push("heads/main", {path_of(): result(right=(45, 45, 45))})
    story.settle()
    assert "1 result file judged" in story.review(above)
    assert "replaces" not in story.review(above)


@pytest.mark.slow
def test_a_closed_request_is_left_as_it_was(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    story.server.state.close(SOURCE, request.number)
    story.write(request, "/recheck")
    before = story.world()
    story.settle()

    assert "❌ rejected" in story.review(request)
    assert story.world() == before


def test_a_merge_of_a_commit_that_nobody_judged_is_said(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    head = story.push_to("run")
    story.server.state.merge(SOURCE, request.number)
    story.settle()

    assert f"**Merged.** The commit `{head[:12]}` was merged, which is not judged above. Its" in story.review(request)
    assert "/recheck" not in story.review(request)


@pytest.mark.parametrize("loses_state", one_of([False, True]))
def test_a_merged_request_leads_to_its_row_and_says_where(story: GitHubStory, loses_state: bool) -> None:
    request = story.propose()
    story.settle()
    story.server.state.merge(SOURCE, request.number)
    if loses_state:
        story.lose_state()
    story.settle()

    [pull] = story.target.pulls("open")
    assert f"**Merged.** Its rows are proposed in [request {pull.number}]" in story.review(request) or loses_state


@pytest.mark.slow
def test_a_locked_conversation_stays_quiet_and_nothing_else_waits_for_it(story: GitHubStory) -> None:
    quiet = story.propose()
    quiet.locked = True
    other = story.propose({path_of("acme/borea-1b"): result("acme/borea-1b")}, "other")
    story.settle()

    assert story.comments(quiet, "verdict") == []
    assert "✅ accepted" in story.review(other)
    assert story.statuses() == [("success", "1 accepted")] * 2


@pytest.mark.slow
def test_commands_are_answered_once(story: GitHubStory) -> None:
    request = story.propose()
    story.write(request, "/recheck")
    story.write(request, "/explain logic\nplease")
    story.write(request, "say /recheck for me")
    story.settle()
    story.settle()

    replies = story.comments(request, "reply")
    assert [text.splitlines()[0] for text in replies] == ["Checked again for `tiny`: accepted.", "```"]
    assert "Logic: 70.0000" in replies[1]


@pytest.mark.slow
def test_a_stranger_waives_nothing(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    story.write(request, WAIVE)
    story.write(request, WAIVE, "leaderboard-b0t")
    story.settle()

    assert [text.split(".")[0] for text in story.comments(request, "reply")] == [
        "Only the maintainers that the bot's settings name for `tiny` may write this command"
    ] * 2
    assert "❌ rejected" in story.review(request)


@pytest.mark.slow
def test_a_maintainer_s_waiver_holds_for_what_is_merged(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    story.write(request, WAIVE, "meg")
    story.settle()
    assert "waived by meg until 2099-01-01: the meter was off" in story.review(request)
    assert story.statuses() == [("failure", "1 rejected"), ("success", "1 incomplete")]

    story.server.state.merge(SOURCE, request.number)
    story.lose_state()
    story.settle()
    assert "waived by meg" in story.target.pulls("open")[0].body


@pytest.mark.slow
def test_a_maintainer_waives_nothing_that_somebody_else_wrote_into_the_review(story: GitHubStory) -> None:
    """Whoever may write to the source may edit what the bot wrote, and name a file there that nobody looks at."""
    request = story.propose(right=(50, 60, 170))
    story.settle()
    story.push_to("run", right=(50, 60, 180))
    [ours] = [one for one in story.source.comments_on(request.number) if one.author == story.login]
    sha = hashlib.sha256(result(right=(50, 60, 180))).hexdigest()
    story.server.state.edit_comment(ours, f"{ours.body}\n<!--\nSHA-256 `{sha}`\n-->\n")
    story.write(request, WAIVE, "meg")
    story.settle()
    assert "nothing is waived" in story.comments(request, "reply")[0]
    assert "waived by meg" not in story.review(request)

    story.write(request, WAIVE, "meg")  # of what the bot shows again
    story.settle()
    assert "waived by meg" in story.review(request)


@pytest.mark.slow
def test_a_maintainer_waives_nothing_that_somebody_else_wrote_into_an_issue(story: GitHubStory) -> None:
    story.source.git.push("heads/main", {path_of(): result(right=(50, 60, 170))})
    story.settle()
    [issue] = [one for one in story.source.issues.values() if one.author == story.login]
    story.source.git.push("heads/main", {path_of(): result(right=(50, 60, 180))})
    sha = hashlib.sha256(result(right=(50, 60, 180))).hexdigest()
    story.server.state.edit_issue(issue, f"{issue.body}\n<!--\nSHA-256 `{sha}`\n-->\n")
    story.write(issue, WAIVE, "meg")
    story.settle()
    assert "nothing is waived" in story.comments(issue, "reply")[0]
    assert story.target.pulls("open") == []

    story.write(issue, WAIVE, "meg")  # of what the bot shows again
    story.settle()
    assert len(story.target.pulls("open")) == 1


@pytest.mark.slow
def test_a_request_that_strangers_made_too_long_to_be_read_stops_itself_alone(
    story: GitHubStory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discussions, "MOST_TALK", 100_000)
    flooded = story.propose(right=(50, 60, 170))
    story.settle()
    for _ in range(2):
        story.write(flooded, "x" * 60_000, "eve")
    other = story.propose({path_of("acme/borea-1b"): result("acme/borea-1b", right=(50, 60, 170))}, "other")
    story.settle()
    story.write(other, WAIVE, "meg")
    story.lose_state()
    said = story.said()

    assert "waived by meg" in story.review(other)
    assert "#1: the comments are too long: more than 100,000 bytes" in said["review 1"]


@pytest.mark.slow
def test_many_long_requests_of_strangers_take_the_memory_of_one_page(story: GitHubStory) -> None:
    story.source.git.push("heads/dev", {"notes.md": b"x"}, "x", "ann")
    story.push_to("run")
    for number in range(2_000):
        text = f"{number}" + "\N{GRINNING FACE}" * 20_000  # 80 KB in memory, 160 MB all together
        made = Issue(0, "eve", "Look", text, head="run" if number % 2 else "", head_repo=FORK, base="dev")
        story.server.state.add_issue(story.source, made)
    tracemalloc.start()
    try:
        found = story.contexts.open_context(story.watch).discussions
        assert found is not None
        assert len(found.listed("pull_request", "open")) == 1_000
        assert found.source.refs(requests=True) == {}
        assert tracemalloc.get_traced_memory()[1] < 120_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_what_was_pushed_after_the_command_is_not_waived(story: GitHubStory) -> None:
    request = story.propose(right=(50, 60, 170))
    story.settle()
    story.write(request, WAIVE, "meg")
    story.push_to("run", right=(50, 60, 180))
    story.settle()

    assert "so nothing is waived" in story.comments(request, "reply")[0]
    assert "❌ rejected" in story.review(request)


@pytest.mark.slow
def test_a_path_that_names_another_file_has_nothing_waived_for_it(story: GitHubStory) -> None:
    later = result(right=(50, 60, 180))
    path = f"SHA-256 `{hashlib.sha256(later).hexdigest()}`/{path_of()}"
    request = story.propose({path: result(right=(50, 60, 170))})
    story.settle()
    story.write(request, WAIVE, "meg")
    story.push_to("run", {path: None, path_of(): later})
    story.settle()

    assert "so nothing is waived" in story.comments(request, "reply")[0]


def test_a_token_without_rights_says_so_and_hurts_nothing_else(github: GitHubServer, tmp_path: Path) -> None:
    github.state.add_account("poor-token", "poor", frozenset())
    story = GitHubStory(github, tmp_path, token="poor-token")
    request = story.propose()
    said = story.said()

    assert story.source.comments_on(request.number) == []
    assert story.statuses() == []
    assert "the token may not do this" in str(said)
    story.contexts.store.close()


@pytest.mark.slow
def test_a_token_that_may_set_no_status_comments_all_the_same(github: GitHubServer, tmp_path: Path) -> None:
    github.state.add_account("talk-token", "talker", frozenset({"contents", "issues", "pull-requests"}))
    story = GitHubStory(github, tmp_path, token="talk-token")
    request = story.propose()
    story.settle()

    assert "✅ accepted" in story.review(request)
    assert story.statuses() == []
    story.end()


@pytest.mark.slow
def test_a_request_of_very_many_folders_is_refused_before_it_is_read(story: GitHubStory) -> None:
    files: dict[str, bytes | None] = {f"m{n}/run/a.json": b"%d" % n for n in range(300)}
    story.settle()
    request = story.propose(files)
    state = story.server.state
    cut = {"sha": "a", "url": "b", "tree": [], "truncated": True}
    state.order("GET", r"results/git/trees/.*recursive", times=1000, status=200, body=json.dumps(cut).encode())
    said = story.said()
    state.faults.clear()

    assert story.source.comments_on(request.number) == []
    assert "split the request" in str(said)
    story.server.state.close(SOURCE, request.number)


@pytest.mark.slow
def test_a_faulty_push_is_told_in_one_issue_that_closes_when_it_is_corrected(story: GitHubStory) -> None:
    story.source.git.push("heads/main", {path_of(): result(right=(50, 60, 170))})
    story.settle()
    [issue] = story.source.issues.values()
    assert issue.title == "Results in acme__atlas-7b were rejected"

    story.write(issue, WAIVE, "ann")
    story.settle()
    assert issue.state == "open"

    story.source.git.push("heads/main", {path_of(): result()})
    story.settle()
    assert issue.state == "closed"
    assert "Corrected" in story.source.comments_on(issue.number)[-1].body
    assert len(story.target.pulls("open")) == 1
