"""The pages of models as a target: one request for each model, only where it is allowed, never over what others say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.watch.passes import settle_watches
from tests.command import bot
from tests.service.model_stories import EVAL, LOGIC, LOGICS, MODEL, OTHER, SETTINGS, SUMS, THEIRS, ModelStory, said
from tests.service.passes import settle
from tests.service.stories import STATES
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result, revision_of


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[ModelStory]:
    story = ModelStory(hub, tmp_path)
    yield story
    story.end()


def test_the_first_run_is_a_plan_that_names_every_value_and_writes_nothing(story: ModelStory) -> None:
    story.new_model(OTHER)
    story.push()
    story.push(model=OTHER, right=(40, 60, 70))

    [done] = settle_watches(story.contexts, [story.watch], dry_run=True)
    lines = "\n".join(done.lines(dry_run=True))
    assert f"added  {MODEL}  sums – → 50, logic – → 70" in lines
    assert f"added  {OTHER}  sums – → 40, logic – → 70" in lines
    assert "2 added, 0 changed, 0 removed" in lines
    [held] = story.said("held")
    assert held.startswith("the first run would write to 2 models; approve plan ")
    assert story.said("held") == [held]  # until somebody answers
    assert story.acts() == []


def test_after_approval_each_model_gets_one_request_with_raw_values_and_evidence(story: ModelStory) -> None:
    story.new_model(OTHER)
    commit = story.push()
    outcomes = story.approve()

    assert [one.subject for one in outcomes if one.outcome == "proposed"] == [MODEL]
    assert said(outcomes, "proposed")[0].endswith("discussions/1; the Hub shows 2 of 2 files")
    [request] = story.requests
    assert request.title == "Add evaluation results: sums, logic"
    assert "| `sums` | 50 | – |" in request.description
    assert "not the head of main" in request.description
    entry = story.proposed()
    assert (entry["value"], entry["dataset"]) == (50, {"id": "bench/sums", "task_id": "sums"})
    assert entry["source"]["url"] == f"https://huggingface.co/datasets/acme/results/blob/{commit.oid}/{path_of()}"
    assert entry["source"]["user"] == "bot"
    assert entry["notes"].endswith(f"model revision {revision_of(MODEL)[:12]}, evidence: file")
    assert sorted(story.on_page()) == [(LOGICS, 70), (SUMS, 50)]

    story.push(model=OTHER)
    assert len(story.said("proposed")) == 1  # one approval is for all later rows
    assert story.acts() == ["request", "request"]


def test_nothing_is_done_for_models_that_are_not_listed(story: ModelStory) -> None:
    story.hub.repository("olympus/zeus", "model")
    story.push(model="olympus/zeus")

    assert story.settle() == []
    assert story.acts() == []


@STATES
def test_the_ledger_counts_the_rows_of_listed_models(story: ModelStory, is_lost: bool) -> None:
    story.hub.repository("olympus/zeus", "model")
    story.push(model="olympus/zeus")
    story.new_model(OTHER)
    story.begun().push(model=OTHER)
    if is_lost:
        story.lose_state()
    [done] = settle_watches(story.contexts, [story.watch])
    [ledger] = done.ledgers
    assert ledger.line == "2 accepted: 0 on main, 2 open, 0 held, 0 declined, 0 unexplained"
    story.news()


def test_a_replay_and_a_wiped_state_change_nothing(story: ModelStory) -> None:
    story.begun()
    for _ in range(2):
        story.lose_state()
        assert said(story.settle(), "held") == []  # a request of ours stands for the approval
        assert story.acts() == []
    story.hub.merge(story.model, story.requests[0])
    story.lose_state()
    story.settle()
    assert (story.requests, story.acts()) == ([], [])

    story.push(path=path_of(time="2026-03-03T10-00-00.000000"))  # the very same file once more
    story.settle()
    assert story.acts() == []


def test_a_changed_value_updates_the_open_request_and_later_a_merged_file(story: ModelStory) -> None:
    story.begun().push(right=(60, 60, 70))
    story.settle()
    assert story.proposed()["value"] == 60
    assert story.acts() == ["commit", "edit"]

    story.hub.merge(story.model, story.requests[0])
    story.push(right=(61, 60, 70))
    story.settle()
    assert story.proposed()["value"] == 61
    assert "| `sums` | 61 | 60 |" in story.requests[0].description
    assert "logic" not in story.requests[0].title
    assert story.acts() == ["request"]


def test_a_withdrawn_submission_closes_the_request_or_proposes_to_remove_what_was_merged(story: ModelStory) -> None:
    story.begun().remove()
    story.settle()
    assert (story.requests, story.on_page()) == ([], [])
    assert story.acts() == ["comment", "closed"]

    story.push()
    story.settle()
    story.hub.merge(story.model, story.requests[0])
    assert story.acts() == ["request"]
    story.remove()
    story.settle()
    [request] = story.requests
    assert request.title == "Remove evaluation results of Tiny"
    assert story.hub.file(story.model, SUMS, request.ref) is None
    assert story.acts() == ["request"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"eval.yaml": None}, "sums: bench/sums has no eval.yaml, so it is not a benchmark of the Hub"),
        ({"eval.yaml": EVAL % b"sums_hard"}, "sums: bench/sums has no task 'sums'; eval.yaml has sums_hard"),
        ({"eval.yaml": b"tasks: ["}, "sums: eval.yaml: "),
    ],
)
def test_a_task_without_its_benchmark_is_refused(
    story: ModelStory, files: dict[str, bytes | None], reason: str
) -> None:
    story.hub.push(story.hub.repositories["dataset", "bench/sums"], files, user="bench")
    story.push()

    assert reason in " ".join(said(story.approve(), "rejected"))
    [request] = story.requests
    assert request.title == "Add evaluation results: logic"
    assert story.acts() == ["request"]


def test_another_framework_is_refused_without_a_reason_in_the_declaration(story: ModelStory) -> None:
    story.declare('leaf = "sums_plus"\nframework_differs = "the benchmark names inspect-ai"', 'leaf = "sums_plus"')
    story.push()

    [why] = said(story.approve(), "rejected")
    assert "bench/sums names the framework inspect-ai, but this was run with lm-evaluation-harness" in why
    assert story.acts() == ["request"]


def test_the_unit_of_the_benchmark_s_board_decides(story: ModelStory) -> None:
    theirs = story.new_model("olympus/zeus")
    story.hub.push(theirs, {".eval_results/sums.yaml": (THEIRS % 0.9).encode()}, user="olympus")
    story.push()

    [why] = said(story.approve(), "rejected")
    assert why.startswith("sums: no value on the board of bench/sums is above 1")
    assert story.acts() == ["request"]


def test_the_row_measured_at_the_head_of_the_model_counts_else_the_newest(story: ModelStory) -> None:
    head = story.model.main.oid
    newer = "2026-04-01T10-00-00.000000"
    at_head = result().replace(revision_of(MODEL).encode(), head.encode())
    story.push(at_head, path_of())
    story.push(path=path_of(time=newer), right=(90, 60, 70), date=1_795_000_000.0)
    story.approve()
    assert story.proposed()["value"] == 50
    assert "the same model also has" in story.requests[0].description

    story.remove(path_of())
    story.settle()
    assert story.proposed()["value"] == 90
    assert story.acts() == ["request", "commit", "edit"]


@pytest.mark.slow
def test_a_target_that_is_added_to_a_running_watch_gets_the_rows_that_are_there(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path)
    new, story.settings = (
        story.settings,
        SETTINGS.replace('"hf://models"', '"hf://datasets/acme/contents"').partition("[watches.targets.models]")[0],
    )
    story.push()
    story.settle()
    assert story.acts() == ["request"]

    story.settings = new
    assert len(story.said("held")) == 1
    story.settings = SETTINGS.replace('"acme"', '"acme", "olympus"')
    story.hub.repository("olympus/zeus", "model")
    story.push(model="olympus/zeus")
    story.approve()
    assert story.acts() == ["request", "request"]
    story.end()


def test_a_task_that_is_mapped_later_joins_the_request(story: ModelStory) -> None:
    story.declare(LOGIC, "")
    story.begun()
    declaration = story.folder / "tiny.toml"
    declaration.write_text(declaration.read_text() + LOGIC)
    story.settle()
    assert story.proposed(LOGICS)["value"] == 70
    assert story.acts() == ["commit", "rename", "edit"]


def test_a_dry_run_after_the_approval_says_what_it_would_do_and_does_nothing(story: ModelStory) -> None:
    story.begun().push(right=(60, 60, 70))
    outcomes = settle(story.contexts.open_context(story.watch, dry_run=True))
    assert said(outcomes, "proposed")[0].startswith("the open request is updated")
    assert story.acts() == []
    story.settle()
    assert story.acts() == ["commit", "edit"]


def test_only_a_watch_writes_to_models(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(result())
    (tmp_path / "tiny.toml").write_text(TINY)
    told = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.person("bot")}
    status, _, why = bot(
        "publish", str(tmp_path / "result.json"), "--to", "hf://models", "-l", str(tmp_path / "tiny.toml"), env=told
    )
    assert status == 2
    assert "hf://models accepts only rows of a watch" in why
    assert hub.log == []


def test_without_a_task_of_a_benchmark_nothing_is_asked_about_models(story: ModelStory) -> None:
    (story.folder / "tiny.toml").write_text(TINY)
    story.push()

    assert story.settle() == []
    assert [call.raw_path for call in story.hub.calls if "/models/" in call.raw_path] == []


def test_a_row_that_is_incomplete_is_not_published_and_takes_back_what_was(story: ModelStory) -> None:
    story.push(right=(50, 60, None))
    assert story.settle() == []
    story.push()
    story.approve()
    assert story.acts() == ["request"]

    story.push(right=(50, 60, None))
    story.settle()
    assert (story.requests, story.acts()) == ([], ["comment", "closed"])
