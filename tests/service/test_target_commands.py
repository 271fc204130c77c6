"""Commands of maintainers on the bot's requests at a target: `/merge` and `/decline`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.hub import discussions
from bot.publishing.answers import not_a_maintainer
from bot.service.talk import commands
from bot.service.waits import SWEEP_EVERY
from tests.service.passes import settle
from tests.service.stories import Story
from tests.variants import one_of
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result, revision_of

ONLY_MAINTAINERS = not_a_maintainer("tiny").words


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def proposed(story: Story) -> Discussion:
    story.push()
    story.settle()
    [request] = story.requests
    assert story.acts() == ["request"]
    return request


def write(story: Story, request: Discussion, text: str, user: str = "meg") -> str:
    """Somebody writes, the bot settles: its last comment on the request, "" where it wrote none."""
    before = request.comments("bot")
    story.hub.comment(story.target, request, text, user)
    story.settle()
    return (request.comments("bot")[len(before) :] or [""])[-1].partition("\n\n<!--")[0]


def head_of(story: Story, request: Discussion) -> str:
    return story.target.refs[request.ref].oid


def test_a_maintainer_merges_what_was_proposed(story: Story) -> None:
    request = proposed(story)
    head = head_of(story, request)
    assert write(story, request, "/merge\nlooks good") == f"Merged at `{head}`."

    assert request.status == "merged"
    assert story.hub.file(story.target, f"entries/tiny/acme/atlas-7b/{revision_of('acme/atlas-7b')}-bfloat16.json")
    assert b"acme/atlas-7b" in (story.hub.file(story.target, "leaderboard.csv") or b"")
    assert [act for act in story.acts() if act != "commit"] == ["comment", "merge"]


def test_requests_for_new_scores_take_commands_where_rows_are_commits(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    for model in ("acme/atlas-7b", "acme/borea-1b"):
        story.push(model=model)
    story.settle()
    (tmp_path / "tiny.toml").write_text(TINY.replace("1/4", "1/5"))
    story.settle()
    [request] = story.requests
    left = f"tiny/acme/borea-1b/{revision_of('acme/borea-1b')}-bfloat16"
    assert write(story, request, f"/decline {left}").startswith(f"The row `{left}` is left out")
    story.settle()
    assert write(story, request, "/merge") == f"Merged at `{head_of(story, request)}`."
    assert "borea" not in request.description
    story.contexts.store.close()


def test_nobody_else_merges(story: Story) -> None:
    request = proposed(story)
    assert write(story, request, "/merge", "eve") == ONLY_MAINTAINERS
    assert write(story, request, f"/merge {head_of(story, request)}", "ann") == ONLY_MAINTAINERS
    assert write(story, request, "please /merge this") == ""

    story.maintainer = "ann"  # what she wrote before counts no more than it did then
    story.hub.comment(story.target, request, "Now I may.", "ann")
    story.settle()
    assert request.status == "open"
    assert story.acts() == ["comment", "comment"]


def test_a_command_about_files_is_told_where_to_write_it(story: Story) -> None:
    request = proposed(story)
    for text in ("/ignore limited-run until 2027-01-01 because it is ours", "/recheck", "/explain logic"):
        assert write(story, request, text, "ann").startswith(
            f"`{text.split(maxsplit=1)[0]}` is about result files: write it where they"
        )
        assert story.acts() == ["comment"]
    assert write(story, request, "Thanks.", "ann") == ""


def test_strangers_have_so_many_answers_an_hour_on_a_request_too(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    request = proposed(story)
    monkeypatch.setattr(commands, "COMMANDS_OF_ONE", 2)
    for author in ("eve", "eve", "eve", "eve", "ann"):
        story.hub.comment(story.target, request, "/merge", author)
    story.settle()
    story.settle()
    assert story.acts() == ["comment"] * 3
    assert write(story, request, "/decline x").startswith("This request holds one row")

    monkeypatch.setattr(commands, "HOUR", 0.0)
    story.settle()
    assert [text.partition("\n")[0] for text in request.comments("bot")].count(ONLY_MAINTAINERS) == 5
    story.news()


def test_a_request_that_changed_after_the_command_is_not_merged(story: Story) -> None:
    request = proposed(story)
    old = head_of(story, request)
    story.hub.comment(story.target, request, "/merge", "meg")
    story.hub.push(story.target, {"README.md": b"sneaked in"}, ref=request.ref, user="eve")
    story.settle()
    head = head_of(story, request)
    ask = f"Somebody else may have made the newest commit. Look at it, then write `/merge {head}`."
    assert ask in request.comments("bot")[-1]
    assert write(story, request, "/merge") == ask
    assert "The request got a newer commit" in write(story, request, f"/merge {old}")
    assert request.status == "open"

    assert "all 40 digits of the request's newest commit" in write(story, request, f"/merge {head[:39]}")
    assert write(story, request, f"/merge `{head}`") == f"Merged at `{head}`."
    assert request.status == "merged"
    story.news()


@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_a_push_that_changes_the_row_meanwhile_is_not_merged_unseen(story: Story, *, is_wiped: bool) -> None:
    request = proposed(story)
    story.hub.comment(story.target, request, "/merge", "meg")
    story.push(right=(90, 90, 90))
    if is_wiped:
        story.lose_state()
    story.settle()
    assert "The request got a newer commit after this was written" in request.comments("bot")[-1]

    assert request.status == "open"
    assert write(story, request, "/merge") == f"Merged at `{head_of(story, request)}`."
    story.news()


@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_a_command_is_obeyed_with_and_without_the_state(story: Story, *, is_wiped: bool) -> None:
    request = proposed(story)
    story.hub.comment(story.target, request, "/merge", "meg")
    if is_wiped:
        story.lose_state()
    story.settle()

    assert request.status == "merged"
    story.news()


def test_a_token_that_may_not_merge_says_so_once(story: Story) -> None:
    request = proposed(story)
    story.hub.writers.discard(("bot", "acme/contents"))
    answer = write(story, request, "/merge")
    assert answer.startswith("The bot may not merge this: ")
    assert "403" in answer
    story.settle()

    assert request.status == "open"
    assert story.acts() == ["comment"]


def test_a_commit_in_the_moment_of_the_merge_is_told(story: Story) -> None:
    request = proposed(story)
    seen = head_of(story, request)
    sneak = {"README.md": b"sneaked in"}
    story.hub.faults.order(
        "/merge$",
        method="POST",
        before=lambda: story.hub.push(story.target, dict(sneak), ref=request.ref, user="eve"),
    )
    answer = write(story, request, "/merge")
    assert answer.startswith(f"A commit arrived while the bot merged: `{head_of(story, request)}` was merged ")
    assert f"instead of `{seen}`" in answer

    story.hub.comment(story.target, request, "what now?", "meg")
    story.settle()
    story.lose_state()
    story.settle()
    assert sum("arrived while the bot merged" in text for text in request.comments("bot")) == 1
    assert [act for act in story.acts() if act != "commit"] == ["comment", "merge", "comment"]


@pytest.mark.parametrize(
    "how", one_of([{"status": 504, "landed": True}, {"reset": True, "landed": True}, {"status": 500}])
)
def test_a_merge_of_unknown_fate_is_made_once(story: Story, how: dict[str, object]) -> None:
    request = proposed(story)
    story.hub.faults.order("/merge$", method="POST", **how)
    write(story, request, "/merge")
    story.settle()

    assert request.status == "merged"
    assert [act for act in story.acts() if act != "commit"] == ["comment", "merge"]


def test_two_commands_on_one_request_merge_once(story: Story) -> None:
    request = proposed(story)
    story.hub.comment(story.target, request, "/merge", "meg")
    write(story, request, "/merge")
    story.settle()

    assert request.status == "merged"
    assert [act for act in story.acts() if act != "commit"] == ["comment", "merge"]


def rolling(hub: Hub, tmp_path: Path, **how: Any) -> tuple[Story, Discussion, str]:
    """Three new rows in one request, because the watch wants it so or because they are beyond its limit."""
    story = Story(hub, tmp_path, **(how or {"style": "rolling"}))
    models = ("acme/atlas-7b", "acme/borea-1b", "acme/corsa-1b")
    hub.push(story.source, {path_of(model): result(model) for model in models})
    story.settle()
    [request] = story.requests
    story.news()
    return story, request, f"tiny/acme/borea-1b/{revision_of('acme/borea-1b')}-bfloat16"


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"style": "rolling"}, {"limit": 2}], ids=["rolling", "beyond the limit"])
@pytest.mark.parametrize("end", ["merged", "closed", "open"])
def test_what_was_declined_is_found_again_at_the_target_when_the_state_is_lost(
    hub: Hub, tmp_path: Path, end: str, how: dict[str, Any]
) -> None:
    story, request, key = rolling(hub, tmp_path, **how)
    assert "A maintainer leaves out one row by the comment `/decline KEY`" in request.description
    assert write(story, request, f"/decline {key}").startswith(f"The row `{key}` is left out as it is now")
    assert request.title == "Add 2 rows of tiny"
    if end == "merged":
        hub.merge(story.target, request)
    elif end == "closed":
        hub.set_status(story.target, request, "closed", "ann")
    story.settle()
    story.news()
    story.lose_state()
    story.settle()

    assert hub.file(story.target, f"entries/{key}.json") is None
    assert all(hub.file(story.target, f"entries/{key}.json", one.ref) is None for one in story.requests)
    assert "request" not in story.acts()
    story.push(model="acme/borea-1b", right=(90, 90, 90))
    story.settle()
    [now] = [one for one in story.requests if hub.file(story.target, f"entries/{key}.json", one.ref)]
    assert "borea-1b" in now.description
    story.news()
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_a_row_is_declined_in_the_request_of_a_changed_declaration_too(
    hub: Hub, tmp_path: Path, *, is_wiped: bool
) -> None:
    story, request, key = rolling(hub, tmp_path)
    hub.merge(story.target, request)
    story.settle()
    before = hub.file(story.target, f"entries/{key}.json")
    (tmp_path / "tiny.toml").write_text(TINY.replace('"1/4"', '"1/5"'))
    story.settle()
    [migration] = story.requests
    assert migration.title == "Score 3 rows of tiny again"
    assert "**Close** it to decline them" in migration.description
    assert write(story, migration, f"/decline {key}").startswith(f"The row `{key}` is left out as it is now")
    for _ in range(2):
        assert migration.title == "Score 2 rows of tiny again"
        assert hub.file(story.target, f"entries/{key}.json", migration.ref) == before
        if is_wiped:
            story.lose_state()
        story.settle()
    hub.merge(story.target, migration)
    story.settle()
    assert (story.requests, hub.file(story.target, f"entries/{key}.json")) == ([], before)
    story.news()
    story.end()


@pytest.mark.slow
def test_a_former_maintainer_s_declines_count_no_more(hub: Hub, tmp_path: Path) -> None:
    story, request, key = rolling(hub, tmp_path)
    write(story, request, f"/decline {key}")
    story.maintainer = "ann"
    story.lose_state()
    story.settle()

    assert request.title == "Add 3 rows of tiny"
    story.news()
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("is_wiped", one_of([False, True]))
def test_a_decline_is_taken_back_on_its_request(hub: Hub, tmp_path: Path, *, is_wiped: bool) -> None:
    story, request, key = rolling(hub, tmp_path)
    assert write(story, request, f"/restore {key}") == f"Nobody declined a row `{key}` on this request."
    write(story, request, f"/decline {key}")
    story.settle()
    assert request.title == "Add 2 rows of tiny"
    assert write(story, request, f"/restore {key}", "eve") == ONLY_MAINTAINERS
    assert write(story, request, f"/restore {key}") == f"The row `{key}` is proposed again."
    for _ in range(2):
        story.settle()
        assert request.title == "Add 3 rows of tiny"
        if is_wiped:
            story.lose_state()
    write(story, request, f"/decline {key}")
    story.settle()
    assert request.title == "Add 2 rows of tiny"
    story.news()
    story.end()


def test_a_decline_that_names_no_row_says_so(hub: Hub, tmp_path: Path) -> None:
    story, request, key = rolling(hub, tmp_path)
    unknown = write(story, request, "/decline tiny/acme/`@eve`/x")
    assert unknown == "There is no row ``tiny/acme/`@eve`/x`` of this source."
    assert "write `/decline KEY`, where KEY names the row" in write(story, request, "/decline")
    assert write(story, request, f"/decline {key}", "eve") == ONLY_MAINTAINERS

    assert request.title == "Add 3 rows of tiny"
    assert story.acts() == ["comment", "comment", "comment"]
    story.end()


def test_a_single_row_is_declined_by_closing_its_request(story: Story) -> None:
    request = proposed(story)
    assert "close it, and it is not proposed again" in write(story, request, "/decline x")
    assert story.acts() == ["comment"]


def test_a_rolling_request_is_merged_too(hub: Hub, tmp_path: Path) -> None:
    story, request, key = rolling(hub, tmp_path)
    assert write(story, request, "/merge").startswith("Merged at `")

    assert hub.file(story.target, f"entries/{key}.json")
    story.news()
    story.end()


@pytest.mark.slow
def test_a_command_on_an_old_request_is_found_by_the_next_sweep(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discussions, "LIST_AGAIN", 0.0)  # as a day later
    story = Story(hub, tmp_path, limit=100)
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(15)})  # 10 make a page here
    story.settle()
    story.settle()
    oldest = story.requests[0] if story.requests[0].num == 1 else story.requests[-1]
    hub.comment(story.target, oldest, "/merge", "meg")
    for day in (1, 1):
        context = story.contexts.open_context(story.watch)
        context.clock = lambda days=day: time.time() + days * SWEEP_EVERY  # type: ignore[misc]
        settle(context)

    assert oldest.status == "merged"
    story.contexts.store.close()
