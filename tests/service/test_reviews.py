"""Requests that others open at the source: one sticky comment with the verdict, and each command answered once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.evaluation.leaderboard import parse_leaderboard
from bot.publishing.entry import declaration_path
from bot.publishing.repeat import LATER
from bot.service.review.proposals import parse_cached
from tests.service.stories import Story
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def propose(story: Story, **how: object) -> Discussion:
    files = {path_of("acme/atlas-7b"): result(**how)}  # type: ignore[arg-type]
    return story.hub.open_request(story.source, files, "My results", "please", "ann")[0]


def sticky(story: Story, request: Discussion) -> str:
    [text] = [text for text in request.comments("bot") if '"kind": "verdict"' in text]
    return text


def test_a_proposed_result_is_scored_and_compared_with_the_board(story: Story) -> None:
    story.push(right=(40, 40, 40), date=1_780_000_000.0)
    story.push(model="acme/borea-1b", right=(95, 95, 95))
    story.settle()
    for request in story.requests:
        story.hub.merge(story.target, request)
    story.settle()
    assert story.acts() == ["request", "request", "commit"]
    request = propose(story)
    story.settle()

    text = sticky(story, request)
    head = story.source.refs[request.ref].oid
    assert "### ✅ accepted: `acme/atlas-7b`" in text
    assert "| `acme/atlas-7b` | 58.33 | 35.00 | +23.33 | 2 of 2; better than none | 2 of 2; better than none |" in text
    assert "- `acme/atlas-7b`: The new row is 23.33 (95 % interval 1" in text
    kept = declaration_path(parse_leaderboard(TINY, "tiny", "tiny.toml").digest)
    declared = f"hf://datasets/acme/contents/{kept}"
    assert f"leaderboard-bot check hf://datasets/acme/results@{head}/{path_of()} --leaderboard {declared}" in text
    assert text.count(LATER) == 1
    assert story.acts() == ["comment"]


@pytest.mark.parametrize(
    ("first", "head", "missing"), [((50, 60, None), "### ✅ accepted", 0), ((50, None, None), "### 🟡 incomplete", 1)]
)
def test_the_files_of_one_row_are_judged_together(
    story: Story, first: tuple[int | None, int | None, int | None], head: str, missing: int
) -> None:
    """Each alone would lack what the other one has, and ask for it."""
    datas = [result(right=first), result(right=(None, None, 70))]
    files = {f"results/acme__atlas-7b/results_{place}.json": data for place, data in enumerate(datas)}
    [request] = story.hub.open_request(story.source, files, "My results", "please", "ann")[:1]
    story.settle()

    text = sticky(story, request)
    assert "2 result files judged for `tiny`" in text
    assert (text.count("### "), text.count(head), text.count("`missing-task`")) == (1, 1, missing)
    assert all(f"\nSHA-256 `{hashlib.sha256(data).hexdigest()}`\n" in text for data in datas)
    root = f"hf://datasets/acme/results@{story.source.refs[request.ref].oid}/"
    assert f"leaderboard-bot check {' '.join(root + path for path in files)} --leaderboard " in text
    assert story.acts() == ["comment"]


def test_a_row_beside_another_row_of_its_model_is_compared_with_it(story: Story) -> None:
    story.push(right=(40, 40, 40), revision=2)
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    request = propose(story)
    story.settle()

    text = sticky(story, request)
    assert "The board has another row of this model, `tiny/acme/atlas-7b/" in text
    assert "The new row is 23.33 (95 % interval 1" in text
    assert "points higher than the row there" in text
    assert story.acts() == ["request", "commit", "comment"]


def test_equal_models_share_a_rank_and_the_review_says_so(story: Story) -> None:
    story.push(model="acme/borea-1b", right=(50, 60, 70))
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    request = propose(story)
    story.settle()

    assert (
        "| `acme/atlas-7b` | 58.33 | – | – | 1 to 2 of 2; not separable from acme/borea-1b; better than none | new |"
        in sticky(story, request)
    )
    assert story.acts() == ["request", "commit", "comment"]


def test_the_comment_follows_the_head_of_the_request(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.settle()
    assert "❌ rejected" in sticky(story, request)
    story.hub.push(story.source, {path_of(): result()}, ref=request.ref)
    story.settle()

    assert "✅ accepted" in sticky(story, request)
    assert story.acts() == ["comment", "edit"]


def test_what_main_gained_meanwhile_is_not_the_request_s(story: Story) -> None:
    request = propose(story)
    story.push(model="acme/borea-1b")
    story.settle()

    assert "1 result file judged for `tiny`, at" in sticky(story, request)
    assert sorted(story.acts()) == ["comment", "request"]


@pytest.mark.slow
def test_a_review_waits_for_the_files_that_main_has_whenever_the_bot_looks(story: Story) -> None:
    """Of a row that two files make, main got the one in the moment in which somebody proposed the other."""
    story.remove()
    story.settle()
    story.push(right=(50, 60, None))
    other = {path_of(time="2026-05-02T10-00-00.000000"): result(right=(None, None, 70))}
    request = story.hub.open_request(story.source, other, "The other task", "", "ann")[0]
    story.hub.faults.order("acme__atlas-7b/results_2026-03", status=500, times=-1)
    story.settle()
    assert "58.33" not in sticky(story, request)
    story.hub.faults.ordered.clear()
    story.settle()
    assert "| `acme/atlas-7b` | 58.33 |" in sticky(story, request)
    assert story.acts() == ["comment", "request", "edit"]

    story.push(model="acme/borea-1b", right=(95, None, None))
    more = {path_of("acme/borea-1b", time="2026-05-02T10-00-00.000000"): result("acme/borea-1b", right=(None, 95, 95))}
    request = story.hub.open_request(story.source, more, "The other tasks", "", "ann")[0]
    story.settle()
    assert "| `acme/borea-1b` | 94.58 |" in sticky(story, request)
    assert story.acts() == ["comment", "request"]

    story.lose_state()
    story.settle()
    assert story.acts() == []


def test_a_request_without_results_is_left_alone(story: Story) -> None:
    story.hub.open_request(story.source, {"README.md": b"hello"}, "Say hello", "", "ann")
    story.settle()

    assert story.acts() == []


def test_our_own_request_at_a_source_that_is_a_target_too_is_not_reviewed(story: Story) -> None:
    story.hub.open_request(story.source, {path_of(): result()}, "ours", "ours", "bot")
    assert story.acts() == ["request"]
    story.settle()

    assert story.acts() == []


def test_commands_are_answered_once_also_when_the_state_is_lost(story: Story) -> None:
    request = propose(story)
    story.hub.comment(story.source, request, "/recheck", "ann")
    story.hub.comment(story.source, request, "/explain logic\nplease", "ann")
    story.hub.comment(story.source, request, "say /recheck for me", "ann")
    story.settle()
    story.settle()
    story.lose_state()
    story.settle()

    replies = [text for text in request.comments("bot") if '"kind": "reply"' in text]
    assert [text.splitlines()[0] for text in replies] == ["Checked again for `tiny`: accepted.", "```"]
    assert "Logic: 70.0000" in replies[1]
    assert story.acts() == ["comment", "comment", "comment"]


def test_a_maintainer_s_waiver_holds_for_the_request_and_for_what_is_merged(story: Story) -> None:
    request = propose(story, right=(50, 60, 170))
    story.hub.comment(
        story.source, request, "/ignore value-out-of-range until 2099-01-01 because the meter was off", "meg"
    )
    story.settle()
    assert "`value-out-of-range` is waived until 2099-01-01" in request.comments("bot")[0]
    assert "waived by meg until 2099-01-01: the meter was off" in sticky(story, request)
    assert story.acts() == ["comment", "comment"]

    story.hub.merge(story.source, request)
    story.lose_state()
    story.settle()
    assert "waived by meg" in story.hub.requests(story.target)[0].description
    assert f"**Merged.** Its rows are proposed in [request {story.requests[0].num}]" in sticky(story, request)
    assert story.acts() == ["request", "edit"]


def test_a_command_that_does_nothing_says_why(story: Story) -> None:
    asked = [
        ("ann", "/ignore missing-task until 2099-01-01 because I say so", "Only the maintainers"),
        ("meg", "/ignore missing-task", "The bot cannot read this command"),
        ("meg", "/ignore no-such-rule until 2099-01-01 because why not", "There is no rule `no-such-rule`"),
        ("meg", "/ignore missing-task until 2099-13-01 because why not", "`2099-13-01` is no date"),
        ("meg", "/ignore missing-task until 2001-01-01 because why not", "2001-01-01 has passed"),
        ("ann", "/explain no_such_task", "no_such_task"),
    ]
    request = propose(story, right=(50, None, 70))
    for author, command, _ in asked:
        story.hub.comment(story.source, request, command, author)
    story.settle()

    said = request.comments("bot")
    for reply, (_, command, answer) in zip(said, asked, strict=False):
        assert answer in reply, command
    assert "🟡 incomplete" in sticky(story, request)
    assert story.acts() == ["comment"] * (len(asked) + 1)


@pytest.mark.slow
def test_a_waiver_in_the_discussion_about_a_push_is_applied_to_it(story: Story) -> None:
    story.push(right=(50, 160, 70))
    story.settle()
    [discussion] = story.discussions
    story.hub.comment(
        story.source, discussion, "/ignore value-out-of-range until 2099-01-01 because small board", "meg"
    )
    story.settle()
    story.settle()

    assert "is waived until 2099-01-01" in discussion.comments("bot")[1]
    assert story.discussions == []
    assert story.acts() == ["discussion", "comment", "request", "comment", "closed"]


def test_a_review_s_write_that_failed_but_landed_is_not_repeated(story: Story) -> None:
    request = propose(story)
    story.hub.faults.order("/comment$", method="POST", status=504, landed=True)
    story.settle()

    assert len(request.comments("bot")) == 1
    assert story.acts() == ["comment"]


def test_a_review_follows_the_board_and_the_source(story: Story) -> None:
    request = propose(story)
    story.settle()
    assert "| `acme/atlas-7b` | 58.33 | – | – | 1 of 1 | new |" in sticky(story, request)
    assert story.acts() == ["comment"]

    story.push(model="acme/borea-1b", right=(95, 95, 95))
    story.settle()
    assert story.acts() == ["request"]
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    assert "| `acme/atlas-7b` | 58.33 | – | – | 2 of 2; better than none | new |" in sticky(story, request)
    assert story.acts() == ["commit", "edit"]

    story.push(right=(50, 60, 80))
    story.settle()
    assert "**replaces 1 file** of the main branch" in sticky(story, request)
    assert story.acts() == ["request", "edit"]


def test_a_changed_declaration_refreshes_open_reviews(story: Story) -> None:
    request = propose(story)
    story.settle()
    before = sticky(story, request)
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    story.settle()

    assert sticky(story, request) != before
    assert story.acts() == ["comment", "edit"]


@pytest.mark.slow
def test_refreshing_reviews_costs_a_bounded_number_of_requests(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.review.reviews.REFRESHED", 3)
    story = Story(hub, tmp_path)
    for n in range(8):
        hub.open_request(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}")}, "x", "", f"eve{n}")
    story.settle()
    story.settle()
    story.news()
    hub.push(story.source, {"README.md": b"hello"})
    before = len(hub.calls)
    story.settle()
    unmoved = len(hub.calls) - before
    assert story.acts() == []

    story.push(right=(95, 95, 95))
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    assert story.acts() == ["request"]
    story.settle()
    assert story.acts() == ["commit", "edit", "edit", "edit"]
    for _ in range(3):
        story.settle()
    assert story.acts() == ["edit"] * 5
    assert unmoved <= 12
    story.end()


def test_a_review_that_cannot_be_compared_again_fails_alone(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    odd, sound = [
        hub.open_request(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}")}, "x", "", f"eve{n}")[0]
        for n in range(2)
    ]
    story.settle()
    story.push(right=(95, 95, 95))
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.news()
    before = sticky(story, sound)
    state = story.state
    kept = parse_cached(state.proposal(odd.num))
    kept.contents.clear()  # as another version of the bot would leave it
    state.set_proposal(odd.num, kept.to_bytes())
    hub.faults.order("acme__m0", status=500, times=-1)

    assert [one.subject for one in story.settle() if one.outcome == "failed"] == [f"review {odd.num}"]
    assert sticky(story, sound) != before
    hub.faults.ordered.clear()
    story.settle()
    assert story.acts() == ["commit", "edit", "edit"]
    story.end()
