"""The safety catch: what would empty or rewrite a board waits for a maintainer, in every form; new rows go on."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest

from bot.errors import CallError
from bot.publishing.plan import PlannedRow
from bot.publishing.repeat import LATER
from bot.service.publish.gate import Gate, Look
from bot.service.publish.ledger import next_look
from bot.service.store.items import Item
from bot.service.watch import observe
from bot.service.watch.outcome import Report
from bot.service.watch.passes import settle_watches
from tests.service.passes import settle
from tests.service.stories import Story
from tests.variants import SLOW, crossed, one_of
from tests.world.discussions import Discussion
from tests.world.hub import Hub
from tests.world.results import path_of, result

ROWS = 7  # more than the 5 that may always go
FORMS = ["pull-request", "commit", "comment"]


def board(hub: Hub, folder: Path, form: str) -> Story:
    """A board of rows, merged where there is anything to merge."""
    story = Story(hub, folder, form=form, limit=1)
    files = {path_of(f"acme/m{n}"): result(f"acme/m{n}", lm_eval_version="0.4.9") for n in range(ROWS)}
    hub.push(story.source, files)
    story.settle()
    for request in story.requests:
        hub.merge(story.target, request)
    story.settle()
    story.news()
    return story


def rows_of(story: Story) -> int:
    """The rows that stand."""
    if story.form == "comment":
        [rows] = [one for one in story.hub.conversations(story.target) if one.title.startswith("Rows")]
        return sum("No submission makes `" not in text for text in rows.comments()[1:])
    return sum(path.startswith("entries/") for path, _ in story.target.main.tree.files())


def held(story: Story) -> list[str]:
    return [one.text for one in story.settle() if one.outcome == "held"]


def discussion_of(story: Story) -> Discussion:
    """The discussion about the plans of the board, open or not."""
    [found] = [one for one in story.hub.conversations(story.target, "all") if one.title.startswith("Plans of tiny")]
    return found


def plan_of(story: Story) -> str:
    return next(text for text in discussion_of(story).comments() if "plan of tiny" in text)


def digest_in(text: str) -> str:
    return text.split("approve plan ")[1].split(" ", maxsplit=1)[0]


BREAK = {
    "the source is emptied": "the files are gone from the source",
    "paths select nothing": "the settings no longer select the files",
    "shots are others": "the files are no longer accepted: wrong-num-fewshot",
    "releases are others": "the files are no longer accepted: unaccepted-harness-commit",
}
QUICK = {("commit", "paths select nothing"), ("comment", "shots are others")}
RELEASES = """
[[harness.accepted]]
repository = "EleutherAI/lm-evaluation-harness"
releases = ["0.4.90"]
reason = "a typo of 0.4.9"

[[tasks]]"""


def do_break(story: Story, how: str) -> None:
    if how == "the source is emptied":
        story.hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(ROWS)}, "Clean")
    elif how == "paths select nothing":
        story.more = 'paths = ["**/result_*.json"]'
    else:
        old, new = {
            "shots are others": ("num_fewshot = 0", "num_fewshot = 5"),
            "releases are others": ("\n[[tasks]]", RELEASES),
        }[how]
        declared = story.folder / "tiny.toml"
        declared.write_text(declared.read_text().replace(old, new, -1 if how == "shots are others" else 1))


def test_the_discussion_of_a_plan_is_open_as_long_as_the_plan_waits(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more="max_removed = 0")
    story.push()
    story.settle()
    story.remove()
    story.settle()
    [plan] = story.contexts.store.of("tiny").plans.all()
    [discussion] = hub.conversations(story.target)
    seen = [discussion.status]

    hub.comment(story.target, discussion, f"/decline {plan.digest}", "meg")
    story.settle()
    story.settle()
    seen.append(discussion.status)
    story.push(model="acme/borea-1b")
    story.settle()
    seen.append(discussion.status)
    story.remove(path_of("acme/borea-1b"))
    story.settle()

    assert [*seen, discussion.status] == ["open", "closed", "closed", "open"]
    assert hub.conversations(story.target) == [discussion]
    story.contexts.store.close()


def test_a_plan_that_no_maintainer_can_answer_names_the_command(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more="max_removed = 0")
    story.push()
    story.settle()
    story.remove()
    watch = story.watch.model_copy(update={"maintainers": ()})
    settle(story.contexts.open_context(watch))

    [said] = [post.text for post in hub.by("bot", "comment") if "would be removed" in post.text]
    assert "Nothing changes until a maintainer runs `leaderboard-bot settle --approve " in said
    story.contexts.store.close()


@pytest.mark.campaign
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", BREAK)
def test_a_board_of_60_rows_is_not_emptied_without_approval(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, how: str
) -> None:
    monkeypatch.setattr(f"{__name__}.ROWS", 60)
    test_a_board_is_not_emptied_without_approval(hub, tmp_path, form, how)


@pytest.mark.parametrize(
    ("form", "how"),
    [one if one in QUICK else pytest.param(*one, marks=SLOW) for one in product(FORMS, BREAK)],
)
def test_a_board_is_not_emptied_without_approval(hub: Hub, tmp_path: Path, form: str, how: str) -> None:
    story = board(hub, tmp_path, form)
    do_break(story, how)

    [text] = held(story)
    assert text.startswith(f"{ROWS} rows would be removed; approve plan ")
    assert rows_of(story) == ROWS
    assert story.requests == []
    assert story.discussions == []  # what a changed declaration would say is held, too
    assert BREAK[how] in plan_of(story)
    assert story.acts() == ["discussion", "comment"]
    assert held(story) == [text]  # said again, until somebody answers
    assert story.acts() == []

    hub.comment(story.target, hub.conversations(story.target)[-1], "/approve 0123456789ab", "meg")
    story.settle()
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "stranger")
    story.settle()
    assert rows_of(story) == ROWS
    assert story.requests == []

    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "meg")
    story.settle()
    for request in story.requests:
        hub.merge(story.target, request)
    assert rows_of(story) == 0
    assert "No plan of `tiny` waits" in plan_of(story)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (result("acme/other"), "its files make another row now"),
        (b'{"results": {', "its files hold no result any more"),
        (None, "the files are gone from the source"),
    ],
)
def test_a_removal_has_the_true_reason(hub: Hub, tmp_path: Path, content: bytes | None, reason: str) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push(path="ann/results_1.json")
    story.push(model="acme/borea-1b")
    story.settle()
    hub.push(story.source, {"ann/results_1.json": content})

    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    rows = dry.to_json()["plans"][0]["rows"]
    [said] = [row["reason"] for row in rows if row["action"] == "removed"]
    assert said.startswith(reason)
    story.contexts.store.close()


@pytest.mark.slow
def test_what_is_left_of_an_approved_plan_needs_no_other_approval(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    story.state.plans.approve(digest_in(text))
    done = [path for path, _ in story.target.main.tree.files() if path.startswith("entries/")][: ROWS // 2]
    hub.push(story.target, dict.fromkeys(done), "Remove 7 rows of tiny", user="bot")  # and here the process is killed
    story.settle()

    assert rows_of(story) == 0
    assert story.state.plans.at("hf://datasets/acme/contents") is None
    assert held(story) == []
    story.contexts.store.close()


@pytest.mark.parametrize("form", one_of(FORMS))
def test_a_mistake_that_is_mended_leaves_nothing_behind(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    declared = (story.folder / "tiny.toml").read_text()
    do_break(story, "shots are others")
    assert (len(held(story)), discussion_of(story).status) == (1, "open")
    story.push(model="acme/new-1b")
    (story.folder / "tiny.toml").write_text(declared)
    story.settle()

    assert ("No plan of `tiny` waits" in plan_of(story), discussion_of(story).status) == (True, "closed")
    assert story.state.items.all() == []
    for request in story.requests:
        hub.merge(story.target, request)
    assert rows_of(story) == ROWS + 1
    assert story.discussions == []


def test_new_rows_go_on_while_a_plan_is_held(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    story.settle()
    story.push(model="acme/new-1b")
    story.settle()

    assert rows_of(story) == ROWS + 1


@pytest.mark.slow
def test_a_large_push_of_faulty_files_is_told_of_while_a_plan_is_held(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe, "MANY_CHANGES", 3)
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    story.settle()
    hub.push(story.source, {f"faulty/results_{n}.json": b"{" for n in range(4)})
    assert len(held(story)) == 1
    [discussion] = story.discussions
    assert discussion.title == "Results in faulty were rejected"
    assert discussion.description.count(LATER) == 1  # for all four


@pytest.mark.slow
def test_a_comment_that_waits_with_a_plan_asks_for_no_pass_before_the_next_regular_one(
    hub: Hub, tmp_path: Path
) -> None:
    story = board(hub, tmp_path, "commit")
    story.push(b"{", "faulty/results.json")
    story.settle()
    do_break(story, "shots are others")
    assert len(held(story)) == 1
    due = next_look(story.state)
    assert due is not None
    assert due > time.time() + story.watch.settle_every / 2
    settle(story.contexts.open_context(story.watch), everything=False)
    assert next_look(story.state) == due


def test_the_plan_is_shown_and_approved_from_the_command_line(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [dry] = settle_watches(story.contexts, [story.watch], dry_run=True)
    [plan] = dry.to_json()["plans"]

    assert (plan["added"], plan["changed"], plan["removed"]) == (0, 0, ROWS)
    assert plan["reasons"] == {"the files are gone from the source": ROWS}
    assert json.dumps(plan)
    assert rows_of(story) == ROWS
    settle_watches(story.contexts, [story.watch], approve=plan["digest"])
    assert rows_of(story) == 0
    table = story.hub.file(story.target, "leaderboard.csv") or b""
    assert table.count(b"\n") == 1


@pytest.mark.parametrize("answer", one_of(["approve", "decline"]))
def test_a_part_of_a_digest_names_no_plan(hub: Hub, tmp_path: Path, answer: str) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    with pytest.raises(CallError, match="no plan with the digest"):
        settle_watches(story.contexts, [story.watch], **{answer: digest_in(text)[:31]})  # type: ignore[arg-type]
    assert held(story) == [text]
    assert rows_of(story) == ROWS


def test_a_few_rows_go_without_asking(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    hub.push(story.source, {path_of(f"acme/m{n}"): None for n in range(5)}, "Clean")

    assert held(story) == []
    assert rows_of(story) == ROWS - 5


@pytest.mark.slow
def test_a_removal_that_is_proposed_already_is_in_no_later_plan(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "pull-request")
    hub.push(story.source, {path_of("acme/m0"): None}, "Remove")
    story.settle()
    assert len(story.requests) == 1
    do_break(story, "shots are others")
    story.lose_state()

    [text] = held(story)
    assert text.startswith(f"{ROWS - 1} rows would be removed")


@pytest.mark.slow
def test_a_lost_state_forgets_no_approval_and_no_plan(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    story.lose_state()
    assert held(story) == [text]
    assert rows_of(story) == ROWS
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "meg")
    story.lose_state()
    story.settle()
    story.settle()

    assert rows_of(story) == 0


@pytest.mark.slow
def test_an_approval_outlives_the_state_that_is_lost_before_it_is_carried_out(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "meg")
    fault = hub.faults.order("/commit/", method="POST", status=403, times=-1)
    story.settle()
    assert any(
        "is approved by this comment" in one for one in hub.conversations(story.target, "all")[-1].comments("bot")
    )
    assert rows_of(story) == ROWS
    fault.times = 0
    story.lose_state()
    story.settle()
    story.settle()

    assert rows_of(story) == 0


@pytest.mark.parametrize(
    ("meanwhile", "left"),
    one_of([("nothing", 0), ("a row changes", 4), ("the maintainer leaves", 4), ("a stranger writes the answer", 4)]),
)
def test_what_is_left_of_an_approved_plan_outlives_a_lost_state(
    hub: Hub, tmp_path: Path, meanwhile: str, left: int
) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    discussion = hub.conversations(story.target)[-1]
    hub.comment(story.target, discussion, f"/approve {digest_in(text)}", "meg")
    fault = hub.faults.order("/commit/", method="POST", status=403, times=-1)
    story.settle()
    fault.times = 0
    rows = [path for path, _ in story.target.main.tree.files() if path.startswith("entries/")]
    hub.push(story.target, dict.fromkeys(rows[:3]), "Remove 7 rows of tiny", user="bot")  # here the process is killed
    story.lose_state()
    if meanwhile == "a row changes":
        entry = json.loads(dict(story.target.main.tree.files())[rows[4]].data)
        hub.push(story.target, {rows[4]: json.dumps({**entry, "average": 99.0}).encode()}, "By hand", user="ann")
    elif meanwhile == "a stranger writes the answer":
        [answer] = [one for one in discussion.comments("bot") if "is approved by this comment" in one]
        discussion.events[:] = [one for one in discussion.events if "is approved by this comment" not in str(one)]
        hub.comment(story.target, discussion, answer, "eve")
    elif meanwhile == "the maintainer leaves":
        story.maintainer = "zoe"
    story.settle()

    assert rows_of(story) == left
    story.contexts.store.close()


@pytest.mark.slow
@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
def test_a_plan_is_called_done_after_the_state_was_lost_before_it_said_so(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    do_break(story, "the source is emptied")
    [text] = held(story)
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "meg")
    fault = hub.faults.order("/comment/.*/edit", method="POST", status=500, times=-1)
    story.settle()
    assert digest_in(text) in plan_of(story)
    fault.times = 0
    story.lose_state()
    story.settle()
    story.settle()

    assert "No plan of `tiny` waits" in plan_of(story)
    story.news()
    story.end()


@pytest.mark.slow
def test_a_plan_is_not_called_done_before_everything_is_read_again(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    do_break(story, "the source is emptied")
    [text] = held(story)
    hub.comment(story.target, hub.conversations(story.target)[-1], f"/approve {digest_in(text)}", "meg")
    story.lose_state()
    fault = hub.faults.order("acme/results/tree", status=503, times=-1)
    story.settle()
    assert digest_in(text) in plan_of(story)
    fault.times = 0
    story.settle()
    story.settle()

    assert rows_of(story) == 0
    assert "No plan of `tiny` waits" in plan_of(story)


@pytest.mark.parametrize("form", one_of(FORMS))
def test_a_changed_bound_is_one_migration(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    story.more = 'max_changed = "100%"'
    hub.calls.clear()
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    story.settle()

    asked = [call.raw_path for call in hub.calls if "/resolve/" in call.raw_path]
    assert [path for path in asked if "/acme/results/" in path or "/entries/" in path] == []  # nothing is read
    if form == "comment":
        assert story.acts() == ["edit"] * ROWS
    else:
        assert len(hub.calls) < 2 * ROWS
        [request] = story.requests
        assert request.title == f"Score {ROWS} rows of tiny again"
        assert (
            "58.33 → 59.38 | the declaration changed: tasks.sums.leaves.sums\\_plus.lower\\_bound: 1/4 → 1/5 |"
            in request.description
        )
        hub.merge(story.target, request)
        story.settle()
        assert story.requests == []


@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
def test_a_dry_run_after_a_changed_bound_reads_no_file_at_the_target(hub: Hub, tmp_path: Path, form: str) -> None:
    story = board(hub, tmp_path, form)
    story.more = 'max_changed = "100%"'
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    hub.calls.clear()
    [done] = settle_watches(story.contexts, [story.watch], dry_run=True)

    assert [len(plan.having("changed")) for plan in done.plans] == [ROWS]
    at_target = [call.raw_path.partition("?")[0] for call in hub.calls if "acme/contents" in call.raw_path]
    assert [path for path in at_target if re.search(r"/(resolve|tree|paths-info|commits)(/|$)", path)] == []
    assert story.acts() == []
    story.contexts.store.close()


def test_rows_that_could_not_be_looked_at_split_no_plan(hub: Hub, tmp_path: Path) -> None:
    """Seven files are gone, and the source answers for three of them: three rows may go, and seven may not."""
    story = board(hub, tmp_path, "commit")
    gone = {path_of(f"acme/m{n}"): None for n in range(ROWS)}
    hub.faults.order("/resolve/.*m[0-3]", status=503, times=-1)
    hub.push(story.source, {**gone, "notes.json": b"{}"})
    now = time.time()

    def look(at: float) -> None:
        settle(replace(story.contexts.open_context(story.watch), clock=lambda: at), everything=False)

    look(now)
    assert rows_of(story) == ROWS
    hub.push(story.source, {path_of("acme/new"): result("acme/new", lm_eval_version="0.4.9")})
    look(now + 5)  # before the others are tried again
    assert rows_of(story) == ROWS + 1
    hub.faults.ordered.clear()
    look(now + 600)
    assert rows_of(story) == ROWS + 1
    assert "7 rows would be removed" in plan_of(story)


def test_rescore_shows_averages_and_ranks_before_and_after_and_does_nothing_twice(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace('"1/4"', '"1/5"'))
    asked = []
    for is_rescore in (False, True):
        hub.calls.clear()
        [dry] = settle_watches(story.contexts, [story.watch], dry_run=True, rescore=is_rescore)
        asked.append(sorted(path for call in hub.calls if (path := call.raw_path) != "/api/whoami-v2"))
    [plan] = dry.plans

    # Where both sides stand and which requests are open, however many rows there are; no file, folder or text is read.
    heads = ["acme/contents/discussions", "acme/contents/refs", "acme/results/refs"]
    assert asked == [[f"/api/datasets/{path}" for path in heads]] * 2
    assert plan.reasons == {"the declaration changed: tasks.sums.leaves.sums_plus.lower_bound: 1/4 → 1/5": ROWS}
    assert {(row.action, round(row.before or 0, 2), round(row.after or 0, 2)) for row in plan.rows} == {
        ("changed", 58.33, 59.38)
    }
    assert {(row.ranks_before, row.ranks_after) for row in plan.rows} == {(f"1–{ROWS}", f"1–{ROWS}")}
    declared.write_text(declared.read_text().replace('"1/5"', '"1/4"'))
    [done] = settle_watches(story.contexts, [story.watch], rescore=True)
    assert done.outcomes == []
    assert story.acts() == []


def test_a_changed_description_touches_nothing(hub: Hub, tmp_path: Path) -> None:
    story = board(hub, tmp_path, "commit")
    declared = story.folder / "tiny.toml"
    declared.write_text(declared.read_text().replace("for stories", "for tales"))
    hub.calls.clear()
    story.settle()

    assert story.acts() == []


@pytest.mark.slow
@crossed(is_wiped=[False, True], form=FORMS)
def test_a_squashed_history_asks_nobody_anything(hub: Hub, tmp_path: Path, form: str, is_wiped: bool) -> None:
    story = board(hub, tmp_path, form)
    story.source.squash([path_of("acme/m0")])
    if is_wiped:
        story.lose_state()
    story.settle()

    if form == "comment":
        assert story.acts() == ["edit"] * ROWS  # each names the commit of its files
    elif form == "commit":
        assert story.acts() == ["commit", "commit"]  # the row that was dropped, and the board
    else:
        [request] = story.requests
        assert request.title.startswith("Remove tiny/acme/m0/")
        assert story.acts() == ["request"]
    assert rows_of(story) == (ROWS if form == "pull-request" else ROWS - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Incomparable(Look[None]):
    """A row that cannot be compared with another: with 100,000 of them, nobody could wait for that."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = object.__hash__


def test_no_row_is_compared_with_all_others(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    rows = [Item("tiny", "row", "hf://datasets/acme/contents", f"tiny/acme/m{n}/x-bfloat16") for n in range(3 * ROWS)]
    looks = [
        Incomparable(PlannedRow(row.subject, "acme/m", "added" if n < ROWS else "removed"), (row,), None, None)
        for n, row in enumerate(rows)
    ]
    context = story.contexts.open_context(story.watch)
    gate = Gate(context, rows[0].target, Report(context), lambda: 2 * ROWS, list, dict)
    assert [look.key for look in gate.admit(looks)] == [row.subject for row in rows[:ROWS]]
    context.state.db.close()
