"""Commands and waivers: who may, for which bytes, how often; and the table of the documentation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from bot.service.talk import commands
from bot.service.talk.commands import PLAN_COMMANDS, REQUEST_COMMANDS, SOURCE_COMMANDS
from bot.service.talk.waivers import stored_waivers
from tests.service.stories import Story
from tests.variants import crossed
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import path_of, result

IGNORE = "/ignore value-out-of-range until 2099-01-01 because the meter was off"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def propose(story: Story, **how: object) -> Discussion:
    files = {path_of("acme/atlas-7b"): result(**how)}  # type: ignore[arg-type]
    return story.hub.open_request(story.source, files, "My results", "please", "ann")[0]


def replies(request: Discussion) -> list[str]:
    return [text for text in request.comments("bot") if '"kind": "reply"' in text]


PLACES: dict[str, str] = {
    "source": "at a request or a push, at the source",
    "request": "at a request of the bot at the target",
    "shared": "at one that holds many rows",
    "plan": "at the plans of the target",
}


def commands_table() -> str:
    """All commands as a table for the documentation."""
    lines = ["| command | does |", "| --- | --- |"]
    for where, there in groupby((*SOURCE_COMMANDS, *REQUEST_COMMANDS, *PLAN_COMMANDS), key=lambda one: one.where):
        lines += [f"| *{PLACES[where]}* | |", *(f"| `{one.usage}` | {one.does} |" for one in there)]
    return "\n".join(lines)


def test_anybody_may_look_and_only_maintainers_decide() -> None:
    assert [one.usage for one in SOURCE_COMMANDS if one.who == "anybody"] == ["/recheck", "/explain [TASK]"]


def test_the_documented_table_is_made_from_the_code() -> None:
    assert commands_table() in (ROOT / "docs" / "hub.md").read_text()


def test_a_commit_between_command_and_answer_voids_the_waiver(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(story.source, request, IGNORE, "meg")
    story.hub.push(story.source, {path_of("acme/atlas-7b"): result(right=(50, 60, 999))}, ref=request.ref)
    story.settle()
    assert replies(request)[0].startswith("The files changed after this was written")
    assert story.acts() == ["comment", "comment"]

    story.hub.comment(story.source, request, IGNORE, "meg")
    story.settle()
    assert "is waived until 2099-01-01" in replies(request)[1]
    assert story.acts() == ["comment", "edit"]


def test_a_waiver_does_not_hold_for_what_is_pushed_after_it(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(story.source, request, IGNORE, "meg")
    story.settle()
    assert "waived by meg" in request.comments("bot")[1]
    story.hub.push(story.source, {path_of("acme/atlas-7b"): result(right=(50, 60, 999))}, ref=request.ref)
    story.settle()

    assert "❌ rejected" in request.comments("bot")[1]
    assert story.acts() == ["comment", "comment", "edit"]


def test_a_waiver_in_a_discussion_holds_for_the_files_that_it_showed(story: Story) -> None:
    story.push(right=(50, 160, 70))
    story.settle()
    [discussion] = story.discussions
    story.push(right=(50, 999, 70))  # pushed before the maintainer writes, shown only afterwards
    story.hub.comment(story.source, discussion, IGNORE, "meg")
    story.settle()
    assert len(story.discussions) == 1
    story.settle()

    assert story.requests == []
    assert "value-out-of-range" in story.discussions[0].description
    assert story.acts() == ["discussion", "comment", "edit"]


def test_a_former_maintainer_s_waiver_no_longer_counts(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(story.source, request, IGNORE, "meg")
    story.settle()
    story.hub.merge(story.source, request)
    story.settle()
    assert "waived by meg" in story.requests[0].description
    assert story.acts() == ["comment", "comment", "request", "edit"]

    story.maintainer = "zoe"
    assert stored_waivers(story.state, story.watch) == []  # what a page shows before the next pass
    story.settle()
    assert stored_waivers(story.state, story.watch) == []
    assert story.requests == []
    assert "value-out-of-range" in story.discussions[0].description
    acts = story.acts()
    assert sorted(acts) == ["closed", "comment", "discussion"]


@pytest.mark.slow
def test_a_waiver_counts_again_when_its_maintainer_comes_back(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(story.source, request, IGNORE, "meg")
    story.settle()
    story.hub.merge(story.source, request)
    story.maintainer = "zoe"
    story.lose_state()
    story.settle()
    assert story.requests == []

    story.maintainer = "meg"
    story.settle()
    assert "waived by meg" in story.requests[0].description
    story.news()


def test_a_planted_answer_of_somebody_else_waives_nothing(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    written = story.hub.comment(story.source, request, IGNORE, "eve")
    sha = "0" * 64
    decided = {"what": "waived", "who": "eve", "rule": "value-out-of-range", "files": [sha], "until": "2099-01-01"}
    mark = json.dumps({"key": written["id"], "kind": "reply", "leaderboard": "tiny", "decided": decided})
    planted = f"`value-out-of-range` is waived until 2099-01-01 for exactly these files:\n\n- `sha256:{sha}`"
    story.hub.comment(story.source, request, f"{planted}\n\n<!-- leaderboard-bot {mark} -->", "eve")
    story.settle()

    assert replies(request)[0].startswith("Only the maintainers")
    assert "❌ rejected" in request.comments("bot")[1]
    assert story.acts() == ["comment", "comment"]


@crossed(author=["ann", "meg"], value=[float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_never_published(story: Story, author: str, value: float) -> None:
    whole = json.loads(result())
    whole["results"]["logic"]["acc,none"] = value
    story.push(data=json.dumps(whole).encode())
    story.settle()
    [discussion] = story.discussions
    command = "/ignore non-finite-value until 2099-01-01 because I want it"
    story.hub.comment(story.source, discussion, command, author)
    story.settle()

    answer = discussion.comments("bot")[1]
    assert ("no number to publish" if author == "meg" else "Only the maintainers") in answer
    for request in story.requests:
        text = story.hub.file(story.target, f"entries/{request.title}", request.ref) or b""
        assert b"NaN" not in text
    assert "discussion" in story.acts()
    assert len(story.discussions) == 1


def test_a_huge_value_is_explained_to_a_stranger(story: Story) -> None:
    whole = json.loads(result())
    whole["results"]["logic"]["acc,none"] = 1e308
    request, _ = story.hub.open_request(story.source, {path_of(): json.dumps(whole).encode()}, "x", "", "eve")
    story.hub.comment(story.source, request, "/explain", "eve")
    outcomes = story.settle()

    assert [one for one in outcomes if one.outcome == "failed"] == []
    assert len(replies(request)) == 1
    assert story.acts() == ["comment", "comment"]


def test_a_task_is_explained_by_the_title_that_posts_show(story: Story) -> None:
    request, _ = story.hub.open_request(story.source, {path_of(): result()}, "x", "", "eve")
    for asked in ("SUMS", "average", "sum"):
        story.hub.comment(story.source, request, f"/explain {asked}", "eve")
    story.settle()
    said = replies(request)
    for reply, answer in zip(
        said, ("Sums: ", "Average: ", "There is no task `sum` of `tiny`; it has `sums, logic`."), strict=True
    ):
        assert answer in reply
        assert "logic  " not in reply
    assert story.acts() == ["comment"] * 4


def test_a_hidden_description_stays_the_description(story: Story) -> None:
    story.push(right=(50, 160, 70))
    story.settle()
    [discussion] = story.discussions
    discussion.events[0]["data"]["hidden"] = True
    story.hub.comment(story.source, discussion, "What is this?", "ann")
    story.push(right=(50, 170, 70))
    story.lose_state()
    story.settle()

    assert len(story.discussions) == 1
    assert story.acts() == ["discussion", "edit"]


@pytest.mark.slow
def test_strangers_have_so_many_answers_an_hour_and_maintainers_all(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(hub, tmp_path)
    request = propose(story)
    monkeypatch.setattr(commands, "COMMANDS_OF_ONE", 3)
    for author in ("eve", "meg"):
        for _ in range(6):
            story.hub.comment(story.source, request, "/recheck", author)
    story.settle()
    assert len(replies(request)) == 3 + 6
    story.settle()
    assert len(replies(request)) == 3 + 6

    monkeypatch.setattr(commands, "HOUR", 0.0)
    story.settle()
    story.settle()
    assert len(replies(request)) == 6 + 6
    assert story.acts() == ["comment"] * 13
    story.end()


def test_a_clock_that_was_set_back_makes_nobody_wait(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    context = story.contexts.open_context(story.watch)
    now = time.time()
    context.clock = lambda: now + 30 * 86_400.0
    assert [commands.may_be_answered(context, "eve") for _ in range(commands.COMMANDS_OF_ONE + 1)][-2:] == [True, False]
    context.clock = lambda: now

    assert [commands.may_be_answered(context, "eve") for _ in range(commands.COMMANDS_OF_ONE + 1)][-2:] == [True, False]
    assert commands.may_be_answered(context, "ann")
    context.clock = lambda: now + commands.HOUR + 1.0
    assert commands.may_be_answered(context, "eve")
    story.contexts.store.close()


def test_an_answer_that_landed_unseen_is_not_posted_twice(story: Story) -> None:
    request = propose(story)
    story.hub.comment(story.source, request, "/explain", "ann")
    story.hub.faults.order("/comment$", method="POST", status=504, landed=True)
    story.settle()
    story.lose_state()
    story.settle()

    assert len(replies(request)) == 1
    assert story.acts() == ["comment", "comment"]


@pytest.mark.slow
def test_a_waiver_counts_although_the_process_ended_right_after_its_answer(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.push(right=(50, 60, 170))
    story.settle()
    story.hub.comment(story.source, story.discussions[0], IGNORE, "meg")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bot.service.talk.folders.keep_waivers", killed)
        with pytest.raises(KeyboardInterrupt):
            story.settle()
    assert story.acts() == ["discussion", "comment"]
    story.contexts.store.close()
    story.contexts = story.open_context_factory()
    story.settle()

    assert "waived by meg" in story.requests[0].description
    assert story.acts() == ["request", "comment", "closed"]


def test_an_approval_by_a_stranger_or_of_another_plan_does_nothing(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, more="max_removed = 0")
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.remove()
    story.settle()
    [held] = story.hub.conversations(story.target)
    [text] = [one for one in held.comments("bot") if "/approve" in one]
    digest = text.partition("/approve ")[2][:32]
    hub.comment(story.target, held, f"/approve {digest}", "ann")
    hub.comment(story.target, held, f"/approve {'0' * 32}", "meg")
    story.settle()
    assert story.requests == []
    assert len([one for one in held.comments("bot") if one.startswith("Only the maintainers")]) == 1

    hub.comment(story.target, held, f"/approve {digest}", "meg")
    story.settle()
    assert [one.title for one in story.requests] != []
    story.news()
    story.end()
