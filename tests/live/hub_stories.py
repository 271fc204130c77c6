"""The stories that matter most, told on a Hub that may be the real one: each is a function that asserts."""

from __future__ import annotations

import json

from bot.publishing.hub_evals.eval_result import claims_in
from tests.live.hub import LiveHub, is_ours
from tests.world.results import TINY, path_of, result

ENTRIES = '[[watches.targets]]\nto = "hf://datasets/{}"\nas = "{}"\n'
MODELS = '[[watches.targets]]\nto = "hf://models"\n[watches.targets.models]\norganizations = ["{}"]\n'
TABLE = """
[[watches.targets]]
to = "hf://datasets/{}"
kind = "table"
[watches.targets.table]
path = "board.csv"
key = ["Model"]
columns = {{ Model = "model.id", Logic = {{ value = "tasks.logic.score", decimals = 1 }} }}
on_existing = "update"
"""
EVAL_YAML = b"name: Logic\nevaluation_framework: inspect-ai\ntasks:\n- id: logic_all\n"
TASK = """
[tasks.hub]
dataset = "{}"
task_id = "logic_all"
unit = "percent"
framework_differs = "a test"
"""


def begin(live: LiveHub, form: str = "pull-request") -> tuple[str, str]:
    """A source with one result, a target, and the first settlement."""
    source, target = live.repository("results", files={path_of(): result()}), live.repository("contents")
    live.watch(source, ENTRIES.format(target, form))
    live.settle()
    return source, target


def a_push_leads_to_one_request_and_a_replay_to_none(live: LiveHub) -> None:
    _, target = begin(live)
    [request] = live.eventually(lambda: live.talks(target))
    assert is_ours(live.said(target, request.num))
    assert live.settle() == []
    live.lose_state()
    live.settle()
    assert [one.num for one in live.talks(target)] == [request.num]


def a_changed_result_updates_the_request(live: LiveHub) -> None:
    source, target = begin(live)
    [request] = live.eventually(lambda: live.talks(target))
    live.push(source, {path_of(): result(right=(60, 60, 70))})
    live.settle()
    live.eventually(lambda: "61.67" in live.details(target, request.num).title)
    assert "61.67" in live.said(target, request.num)
    assert [one.num for one in live.talks(target)] == [request.num]


def a_withdrawn_result_closes_the_request(live: LiveHub) -> None:
    source, target = begin(live)
    live.eventually(lambda: live.talks(target))
    live.push(source, {path_of(): None, "notes.json": b"{}"})  # an emptied source waits for a person
    live.settle()
    live.eventually(lambda: not live.talks(target))


def a_row_as_a_comment_is_edited_in_place(live: LiveHub) -> None:
    source, target = begin(live, "comment")
    [board] = live.eventually(lambda: live.talks(target, requests=False))
    assert "58.33" in live.said(target, board.num)
    live.push(source, {path_of(): result(right=(60, 60, 70))})
    live.settle()
    live.eventually(lambda: "61.67" in live.said(target, board.num))
    comments = [event for event in live.details(target, board.num).events if event.type == "comment"]
    assert len(comments) == 2


def a_faulty_push_opens_a_discussion_that_a_correction_closes(live: LiveHub) -> None:
    source, _ = begin(live)
    broken = json.dumps(json.loads(result()) | {"results": {"sums_plus": {"acc,none": 7.5}}}).encode()
    live.push(source, {path_of("acme/borea-1b"): broken})
    live.settle()
    [talk] = live.eventually(lambda: live.talks(source, requests=False))
    assert is_ours(live.said(source, talk.num))
    live.push(source, {path_of("acme/borea-1b"): result("acme/borea-1b")})
    live.settle()
    live.eventually(lambda: not live.talks(source, requests=False))


def a_merged_row_makes_the_board(live: LiveHub) -> None:
    _, target = begin(live)
    [request] = live.eventually(lambda: live.talks(target))
    live.api.merge_pull_request(target, request.num, repo_type="dataset")
    live.eventually(lambda: not live.talks(target))
    live.settle()
    assert b"acme/atlas-7b" in live.eventually(lambda: live.read(target, "leaderboard.csv"))
    assert live.settle() == []


def a_request_of_another_account_is_reviewed_and_a_waiver_is_answered(live: LiveHub) -> None:
    source, _ = begin(live)
    extra = json.dumps(json.loads(result("acme/borea-1b")) | {"results": {"sums_plus": {"acc,none": 7.5}}}).encode()
    num = live.propose(source, {path_of("acme/borea-1b"): extra}, second=True)
    live.settle()
    live.eventually(lambda: "Results" in live.said(source, num) or is_ours(live.said(source, num)))
    assert live.second is not None
    command = "/ignore missing-task until 2027-01-01 because this is a test"
    live.second.comment_discussion(source, num, command, repo_type="dataset")
    live.settle()
    texts = [e.content for e in live.details(source, num).events if e.type == "comment" and is_ours(e.content)]
    assert len(texts) >= 2  # the review, and the answer to the command


def what_another_account_closed_is_not_proposed_again(live: LiveHub) -> None:
    _, target = begin(live)
    [request] = live.eventually(lambda: live.talks(target))
    assert live.second is not None
    live.second.change_discussion_status(target, request.num, "closed", repo_type="dataset")
    live.lose_state()
    live.settle()
    assert live.talks(target) == []


def a_first_run_at_a_model_is_a_plan_and_its_file_shows_after_approval(live: LiveHub) -> None:
    bench = live.repository("bench", files={"eval.yaml": EVAL_YAML})
    model = live.repository("model", "model", {"README.md": b"---\nlicense: mit\n---\n# Model\n"})
    source = live.repository("results", files={path_of(model): result(model)})
    live.watch(source, MODELS.format(model))
    (live.folder / "tiny.toml").write_text(TINY + TASK.format(bench))
    [held] = [one.text for one in live.settle() if one.outcome == "held"]
    assert live.talks(model, "model") == []

    outcomes = live.settle(approve=held.partition("approve plan ")[2].split()[0])
    [request] = live.eventually(lambda: live.talks(model, "model"))
    data = live.read(model, ".eval_results/tiny-logic.yaml", f"refs/pr/{request.num}", "model")
    assert [str(one.value) for one in claims_in(data or b"", "")] == ["70"]
    assert any("the Hub shows 1 of 1 files" in one.text for one in outcomes)
    assert live.settle() == []


def a_row_of_a_table_changes_one_line(live: LiveHub) -> None:
    source = live.repository("results", files={path_of(): result()})
    table = {"board.csv": b"Model,Logic\nacme/lynx-1b,12.5\nacme/atlas-7b,69.9\n"}
    target = live.repository("board", files=table)
    live.watch(source, TABLE.format(target))
    live.settle()
    [request] = live.eventually(lambda: live.talks(target))
    assert "69.9" in live.said(target, request.num)
    after = live.read(target, "board.csv", f"refs/pr/{request.num}")
    assert after == table["board.csv"].replace(b"69.9", b"70.0")
    assert live.settle() == []


STORIES = [
    a_push_leads_to_one_request_and_a_replay_to_none,
    a_changed_result_updates_the_request,
    a_withdrawn_result_closes_the_request,
    a_row_as_a_comment_is_edited_in_place,
    a_faulty_push_opens_a_discussion_that_a_correction_closes,
    a_merged_row_makes_the_board,
    a_first_run_at_a_model_is_a_plan_and_its_file_shows_after_approval,
    a_row_of_a_table_changes_one_line,
]
WITH_TWO_ACCOUNTS = [
    a_request_of_another_account_is_reviewed_and_a_waiver_is_answered,
    what_another_account_closed_is_not_proposed_again,
]
