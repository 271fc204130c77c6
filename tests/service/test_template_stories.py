"""A board made from the demo-leaderboard template as a target: its readers show what is published, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import event

from bot.service.watch.passes import settle_watches
from tests.publishing.tables.test_template import shown
from tests.service.stories import Story, settings_of
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import path_of, result

TARGET = """kind = "template"
[watches.targets.template]
requests = "hf://datasets/acme/requests"
[watches.targets.template.tasks]
sums = { benchmark = "leaderboard_bbh", metric = "acc_norm", value = "score" }
logic = { benchmark = "leaderboard_gpqa", metric = "acc_norm" }
"""
MODEL, OTHER = "acme/atlas-7b", "acme/borea-1b"
RESULT = f"{MODEL}/results_bfloat16.json"
REQUEST = f"{MODEL}_eval_request_False_bfloat16_Original.json"
PENDING = b'{"model": "%s", "precision": "bfloat16", "status":"PENDING",  "likes": 3}'
THEIRS = {"olympus/zeus/results_2025.json": b'{"config": {"model_dtype": "torch.float16"}, "results": {}}'}


@dataclass
class TemplateStory(Story):
    """A watch whose target is a template board."""

    asked: Repository = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.asked = self.hub.repository("acme/requests")
        self.hub.writers.add(("bot", "acme/requests"))
        self.hub.push(self.target, dict(THEIRS))
        self.hub.push(self.asked, {REQUEST: PENDING % MODEL.encode()})

    @property
    def text(self) -> str:
        source, to = "hf://datasets/acme/results", "hf://datasets/acme/contents"
        return settings_of(source, to, self.form, TARGET, "comments = false")

    def board(self, revision: str = "main") -> dict[str, float]:
        """What the board's page shows of the model."""
        commit = self.target.resolve(revision)
        assert commit is not None
        files = {path: blob.data for path, blob in commit.tree.files() if path not in THEIRS}
        return shown(files).get("acme_atlas-7b_bfloat16", {})

    def request(self, revision: str = "main") -> bytes:
        return self.hub.file(self.asked, REQUEST, revision) or b""

    def said(self, name: str) -> list[str]:
        return [one.text for one in self.settle() if one.outcome == name]


def finished(story: TemplateStory) -> None:
    """The row and the status of its request are merged, and the bot has seen it."""
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.hub.merge(story.asked, story.hub.requests(story.asked)[0])
    story.settle()
    story.news()


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[TemplateStory]:
    story = TemplateStory(hub, tmp_path)
    yield story
    story.end()


def test_a_row_is_proposed_and_its_request_is_finished_once_the_result_is_merged(story: TemplateStory) -> None:
    story.push()
    story.settle()
    [proposed] = story.requests
    assert story.board(proposed.ref) == {"leaderboard_bbh": pytest.approx(46.67, abs=0.01), "leaderboard_gpqa": 70.0}
    assert story.hub.requests(story.asked) == []
    assert story.acts() == ["request"]

    story.hub.merge(story.target, proposed)
    story.settle()
    [status] = story.hub.requests(story.asked)
    assert story.request(status.ref) == PENDING.replace(b"PENDING", b"FINISHED") % MODEL.encode()
    assert story.acts() == ["request"]
    story.hub.merge(story.asked, status)
    story.lose_state()
    story.settle()
    assert story.acts() == []


def test_a_changed_row_changes_its_file_and_a_withdrawn_one_goes_with_its_status(story: TemplateStory) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.hub.merge(story.asked, story.hub.requests(story.asked)[0])
    assert story.acts() == ["request", "request"]

    story.push(right=(50, 60, 80))
    story.settle()
    assert story.board(story.requests[0].ref)["leaderboard_gpqa"] == 80.0
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    assert story.acts() == ["request"]

    story.remove()
    story.settle()
    [gone] = story.requests
    assert story.hub.file(story.target, RESULT, gone.ref) is None
    [status] = story.hub.requests(story.asked)
    assert b'"FAILED"' in story.request(status.ref)
    assert story.acts() == ["request", "request"]


def test_the_removal_of_a_withdrawn_row_and_its_status_stay_proposed_until_merged(story: TemplateStory) -> None:
    finished(story)
    other = f"{OTHER}_eval_request_False_bfloat16_Original.json"
    story.hub.push(story.asked, {other: PENDING % OTHER.encode()})
    story.remove()
    story.settle()
    assert story.acts() == ["request", "request"]

    story.push(model=OTHER)
    story.settle()
    [proposed] = story.requests
    assert story.hub.file(story.target, RESULT, proposed.ref) is None
    assert story.hub.file(story.target, f"{OTHER}/results_bfloat16.json", proposed.ref) is not None
    assert set(story.acts()) == {"commit", "edit", "rename"}

    story.hub.merge(story.target, proposed)
    story.settle()
    [status] = story.hub.requests(story.asked)
    assert b'"FAILED"' in story.request(status.ref)
    assert b'"FINISHED"' in (story.hub.file(story.asked, other, status.ref) or b"")
    story.hub.merge(story.asked, status)
    story.settle()
    assert set(story.acts()) == {"commit", "edit", "rename"}


def test_a_status_that_a_person_closed_is_not_proposed_again_beside_another(story: TemplateStory) -> None:
    other = f"{OTHER}_eval_request_False_bfloat16_Original.json"
    story.hub.push(story.asked, {other: PENDING % OTHER.encode()})
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.hub.set_status(story.asked, story.hub.requests(story.asked)[0], "closed", "ann")
    story.push(model=OTHER)
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()

    [status] = story.hub.requests(story.asked)
    assert b'"PENDING"' in story.request(status.ref)
    assert b'"FINISHED"' in (story.hub.file(story.asked, other, status.ref) or b"")
    assert story.acts() == ["request"] * 4


def test_an_incomplete_row_and_one_that_somebody_else_published_are_refused(story: TemplateStory) -> None:
    theirs = {f"{OTHER}/results_x.json": b'{"config": {"model_dtype": "torch.bfloat16"}, "results": {}}'}
    story.hub.push(story.target, dict(theirs))
    story.push(right=(50, 60, None))
    story.push(model=OTHER)

    first, second = sorted(story.said("rejected"))
    assert "already has results of this model and precision that the bot did not write" in first
    assert "no value for logic" in second
    assert (story.requests, story.acts()) == ([], [])


def test_what_a_person_closed_is_not_proposed_again_and_its_request_stays_pending(story: TemplateStory) -> None:
    story.push()
    story.settle()
    story.hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.lose_state()
    story.settle()
    assert (story.requests, story.hub.requests(story.asked)) == ([], [])
    assert story.acts() == ["request"]


def test_a_result_that_somebody_edits_is_proposed_again_and_one_that_is_removed_is_not(story: TemplateStory) -> None:
    finished(story)
    ours = story.hub.file(story.target, RESULT) or b""
    story.hub.push(story.target, {RESULT: ours.replace(b"0.7", b"0.9")}, user="ann")
    for _ in range(2):
        settle_watches(story.contexts, [story.watch], counts=True)
    assert story.board(story.requests[0].ref)["leaderboard_gpqa"] == 70.0
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.news()

    story.hub.push(story.target, {RESULT: None}, user="ann")
    for _ in range(2):
        [done] = settle_watches(story.contexts, [story.watch], counts=True)
        assert done.ledgers[0].line.endswith("1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained")
    assert (story.requests, story.acts()) == ([], [])


def test_a_status_that_the_bot_does_not_know_is_left_and_named(hub: Hub, tmp_path: Path) -> None:
    story = TemplateStory(hub, tmp_path, form="commit")
    hub.push(story.asked, {REQUEST: PENDING.replace(b"PENDING", b"PAUSED") % MODEL.encode()})
    story.push()

    assert story.said("rejected") == [f"{REQUEST} has the status 'PAUSED', which the bot does not change"]
    assert story.board()["leaderboard_gpqa"] == 70.0
    assert story.acts() == ["commit"]
    story.end()


def test_commits_bring_both_repositories_in_step_at_once(hub: Hub, tmp_path: Path) -> None:
    story = TemplateStory(hub, tmp_path, form="commit")
    hub.push(story.source, {path_of(): result(), path_of(OTHER): result(OTHER)})
    other = f"{OTHER}_eval_request_False_bfloat16_Original.json"
    hub.push(story.asked, {other: PENDING % OTHER.encode()})
    story.settle()

    assert json.loads(story.request())["status"] == "FINISHED"
    assert json.loads(hub.file(story.asked, other) or b"")["status"] == "FINISHED"
    assert story.acts() == ["commit", "commit"]
    story.end()


def test_no_later_revision_takes_the_file_of_another(hub: Hub, tmp_path: Path) -> None:
    """They took it from each other in every pass."""
    story = TemplateStory(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    before = hub.file(story.target, RESULT)
    story.push(right=(60, 60, 70), revision=2, path=path_of(time="2026-03-03T10-00-00.000000"))
    for _ in range(3):
        assert "another revision of the model uses the same file" in story.said("rejected")[0]
        assert hub.file(story.target, RESULT) == before
    story.news()
    story.end()


MORE = """
[[watches.targets]]
to = "hf://datasets/acme/entries"
"""


@dataclass
class TwoTargetStory(TemplateStory):
    """A template board, and entries beside it."""

    entries: Repository = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.entries = self.hub.repository("acme/entries")

    @property
    def text(self) -> str:
        return super().text + MORE


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_board_that_cannot_be_reached_stops_no_other_target(hub: Hub, tmp_path: Path, *, is_gone: bool) -> None:
    story = TwoTargetStory(hub, tmp_path)
    if is_gone:
        hub.rename(story.target, "acme/elsewhere")
    else:
        hub.faults.order("acme/contents", status=500, times=-1)
    story.push()
    told = {one.subject: one.outcome for one in story.settle() if one.outcome == "failed"}
    assert "requests of hf://datasets/acme/contents" in told
    assert [request.status for request in hub.requests(story.entries)] == ["open"]

    hub.faults.ordered.clear()
    if is_gone:
        hub.rename(story.target, "acme/contents")
    assert [one for one in story.settle() if one.outcome == "failed"] == []
    assert [request.status for request in story.requests] == ["open"]
    story.news()
    story.end()


def test_the_status_of_a_withdrawn_row_outlives_a_failure(story: TemplateStory) -> None:
    finished(story)
    story.hub.faults.order("acme/requests", status=500, times=-1)
    story.remove()
    assert "requests of hf://datasets/acme/contents" in [one.subject for one in story.settle()]
    story.hub.faults.ordered.clear()
    story.settle()

    [status] = story.hub.requests(story.asked)
    assert b'"FAILED"' in story.request(status.ref)
    assert story.acts() == ["request", "request"]


def test_a_row_that_comes_back_before_its_status_was_changed_keeps_it(story: TemplateStory) -> None:
    finished(story)
    story.hub.faults.order("acme/requests", status=500, times=-1)
    story.remove()
    story.settle()
    story.push()
    story.settle()
    story.hub.faults.ordered.clear()
    story.settle()

    assert story.hub.requests(story.asked) == []
    assert story.acts() == ["request", "comment", "closed"]


def test_an_idle_pass_reads_the_record_no_more_often_for_more_rows(hub: Hub, tmp_path: Path) -> None:
    story = TemplateStory(hub, tmp_path, form="commit")
    store, reads = story.contexts.store, []
    event.listen(store.engine, "before_cursor_execute", lambda *told: reads.append(told[2]))

    def idle() -> int:
        story.settle()
        reads.clear()
        story.settle()
        return sum("FROM published" in text for text in reads)

    story.push()
    few = idle()
    hub.push(story.source, {path_of(f"acme/many-{n}"): result(f"acme/many-{n}") for n in range(6)})
    assert idle() == few
    story.news()
    story.end()
