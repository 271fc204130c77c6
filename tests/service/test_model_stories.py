"""The pages of models as a target: one request for each model, only where it is allowed, never over what others say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.service.config import Watch, parse_settings
from bot.service.outcome import Outcome
from bot.service.passes import settle_watches
from bot.service.settlement import settle
from tests.command import bot
from tests.service.stories import Story
from tests.world.discussions import Discussion
from tests.world.eval_results import of_model
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result, revision_of

SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "hf://datasets/acme/results"
comments = false
[[watches.targets]]
to = "hf://models"
[watches.targets.models]
organizations = ["acme"]
"""
HUB = """
[tasks.hub]
dataset = "bench/sums"
task_id = "sums"
unit = "percent"
leaf = "sums_plus"
framework_differs = "the benchmark names inspect-ai"

[[tasks]]
id = "logic"
"""
LOGIC = """
[tasks.hub]
dataset = "bench/logic"
task_id = "logic_all"
unit = "percent"
framework_differs = "the benchmark names inspect-ai"
"""
EVAL = b"name: Sums\nevaluation_framework: inspect-ai\ntasks:\n- id: %s\n"
MODEL, OTHER = "acme/atlas-7b", "acme/borea-1b"
SUMS, LOGICS = ".eval_results/tiny-sums.yaml", ".eval_results/tiny-logic.yaml"
THEIRS = "- dataset: {id: bench/sums, task_id: sums}\n  value: %s\n"


@dataclass
class ModelStory(Story):
    """A watch that publishes on the pages of models."""

    settings: str = SETTINGS
    model: Repository = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        (self.folder / "tiny.toml").write_text(TINY.replace('\n[[tasks]]\nid = "logic"\n', HUB) + LOGIC)
        for name, task in (("bench/sums", b"sums"), ("bench/logic", b"logic_all")):
            self.hub.push(self.hub.repository(name), {"eval.yaml": EVAL % task}, user="bench")
        self.model = self.new_model(MODEL)

    def new_model(self, name: str) -> Repository:
        made = self.hub.repository(name, "model")
        self.hub.push(made, {"README.md": b"---\nlicense: mit\n---\n# A model\n"}, user="owner")
        return made

    @property
    def watch(self) -> Watch:
        return parse_settings(self.settings, "bot.toml").watches[0]

    def declare(self, old: str, new: str) -> None:
        file = self.folder / "tiny.toml"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def approve(self) -> list[Outcome]:
        """Settle, approve the plan that is held, and settle again."""
        [held] = self.said("held")
        digest = held.partition("approve plan ")[2].split()[0]
        [done] = settle_watches(self.contexts, [self.watch], approve=digest)
        return list(done.outcomes)

    def said(self, name: str) -> list[str]:
        return [one.text for one in self.settle() if one.outcome == name]

    def begun(self) -> ModelStory:
        """The first row is published, and that was looked at."""
        self.push()
        self.approve()
        assert self.acts() == ["request"]
        return self

    @property
    def requests(self) -> list[Discussion]:
        return self.hub.requests(self.model)

    def proposed(self, path: str = SUMS, model: Repository | None = None) -> dict[str, Any]:
        """The one entry of a file in the one open request."""
        [request] = self.hub.requests(model or self.model)
        [entry] = yaml.safe_load(self.hub.file(model or self.model, path, request.ref) or b"[]")
        return dict(entry)

    def on_page(self) -> list[tuple[str, Any]]:
        """What the Hub shows on the page of the model: file and value, or error."""
        rows = of_model(self.hub, self.model)
        return [(row["filename"], row["error"] if "error" in row else row["data"]["value"]) for row in rows]


def said(outcomes: list[Outcome], name: str) -> list[str]:
    return [one.text for one in outcomes if one.outcome == name]


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
    assert story.settle() == []
    assert story.acts() == []


def test_after_approval_each_model_gets_one_request_with_raw_values_and_evidence(story: ModelStory) -> None:
    story.new_model(OTHER)
    commit = story.push()
    outcomes = story.approve()

    assert [one.subject for one in outcomes if one.outcome == "published"] == [MODEL]
    assert said(outcomes, "published")[0].endswith("discussions/1; the Hub shows 2 of 2 files")
    [request] = story.requests
    assert request.title == "Add evaluation results: sums, logic"
    assert "| `sums` | 50 | – |" in request.description
    assert "not the head of main" in request.description
    entry = story.proposed()
    assert (entry["value"], entry["dataset"]) == (50, {"id": "bench/sums", "task_id": "sums"})
    assert entry["source"]["url"] == f"https://huggingface.co/datasets/acme/results/blob/{commit.oid}/{path_of()}"
    assert entry["source"]["user"] == "bot"
    assert entry["notes"].endswith(f"model revision {revision_of(MODEL)[:12]}")
    assert sorted(story.on_page()) == [(LOGICS, 70), (SUMS, 50)]

    story.push(model=OTHER)
    assert len(story.said("published")) == 1  # one approval is for all later rows
    assert story.acts() == ["request", "request"]


def test_nothing_is_done_for_models_that_are_not_listed(story: ModelStory) -> None:
    story.hub.repository("olympus/zeus", "model")
    story.push(model="olympus/zeus")

    assert story.settle() == []
    assert story.acts() == []


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


@pytest.mark.parametrize("in_request", [False, True])
def test_another_value_of_somebody_else_is_reported_and_never_written_over(story: ModelStory, in_request: bool) -> None:
    theirs = {".eval_results/sums.yaml": (THEIRS % 12.5).encode()}
    if in_request:
        story.hub.open_request(story.model, theirs, "Add sums", user="zoe")
    else:
        story.hub.push(story.model, theirs, user="owner")
    story.push()

    place = ".eval_results/sums.yaml in #1" if in_request else ".eval_results/sums.yaml"
    assert f"sums: conflict: {place} says 12.5, and this result 50" in said(story.approve(), "rejected")
    ours = [request for request in story.requests if request.author == "bot"]
    assert [story.hub.file(story.model, path, ours[0].ref) is None for path in (SUMS, LOGICS)] == [True, False]
    assert story.acts() == ["request"]
    assert story.on_page().count((".eval_results/sums.yaml", 12.5)) == 1


def test_a_conflict_that_comes_later_leaves_both_sides_as_they_are(story: ModelStory) -> None:
    story.begun()
    story.hub.open_request(story.model, {".eval_results/x.yml": (THEIRS % 1).encode()}, "Troll", user="zoe")
    story.push(right=(60, 60, 71))
    outcomes = story.settle()

    assert said(outcomes, "rejected") == ["sums: conflict: .eval_results/x.yml in #2 says 1, and this result 60"]
    [ours] = [request for request in story.requests if request.author == "bot"]
    assert yaml.safe_load(story.hub.file(story.model, SUMS, ours.ref) or b"")[0]["value"] == 50
    assert yaml.safe_load(story.hub.file(story.model, LOGICS, ours.ref) or b"")[0]["value"] == 71
    assert story.acts()[0] == "commit"


def test_the_same_value_of_somebody_else_is_left_alone(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/sums.yaml": (THEIRS % "50.0").encode()}, user="owner")
    story.push()
    story.approve()

    [request] = story.requests
    assert story.hub.file(story.model, SUMS, request.ref) is None
    assert "already has this value" in request.description
    assert story.acts() == ["request"]


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_what_a_person_closed_is_final_whatever_the_value(story: ModelStory, form: str) -> None:
    story.settings = f'{SETTINGS}form = "{form}"\n'
    story.begun()
    story.hub.set_status(story.model, story.requests[0], "closed", "owner")
    for number in (61, 62):
        story.push(right=(number, 60, 70))
        assert story.said("unchanged") == ["its owner closed the request; nothing more is proposed there"]
        story.lose_state()
        story.settle()
        assert (story.requests, story.acts()) == ([], [])


def test_a_repository_without_discussions_and_one_that_is_not_there_stop_no_other(story: ModelStory) -> None:
    story.new_model(OTHER).has_discussions = False
    story.push()
    story.push(model=OTHER)
    story.push(model="acme/nowhere")

    outcomes = story.approve()
    assert len(said(outcomes, "published")) == 1
    assert sorted(one.subject for one in outcomes if one.outcome == "rejected") == []  # they were named with the plan
    assert story.acts() == ["request"]
    assert story.settle() == []


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_what_takes_no_request_is_named_with_the_reason(story: ModelStory, form: str) -> None:
    story.settings = f'{SETTINGS}form = "{form}"\n'
    story.model.has_discussions = False
    story.push()
    story.push(model="acme/nowhere")

    first, second = sorted(story.said("rejected"))
    assert "models/acme/atlas-7b: 403: Discussions are disabled" in first
    assert "models/acme/nowhere: 404" in second


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
    assert "bench/sums names the framework inspect-ai, and this was run with lm-evaluation-harness" in why
    assert story.acts() == ["request"]


def test_the_unit_of_the_benchmark_s_board_decides(story: ModelStory) -> None:
    theirs = story.new_model("olympus/zeus")
    story.hub.push(theirs, {".eval_results/sums.yaml": (THEIRS % 0.9).encode()}, user="olympus")
    story.push()

    [why] = said(story.approve(), "rejected")
    assert why.startswith("sums: no value on the board of bench/sums is above 1")
    assert story.acts() == ["request"]


def test_a_file_that_the_hub_hides_is_reported_with_its_message(story: ModelStory) -> None:
    story.hub.refused_results = {"task_id: logic_all": "[0].value: out of range"}
    story.push()

    outcomes = story.approve()
    assert said(outcomes, "rejected") == [f"{LOGICS} is hidden by the Hub: [0].value: out of range"]
    assert "the Hub shows" not in said(outcomes, "published")[0]
    assert story.acts() == ["request"]


def test_the_row_measured_at_the_head_of_the_model_counts_else_the_newest(story: ModelStory) -> None:
    head = story.model.main.oid
    newer = "2026-04-01T10-00-00.000000"
    at_head = result().replace(revision_of(MODEL).encode(), head.encode())
    story.push(at_head, path_of())
    story.push(path=path_of(time=newer), right=(90, 60, 70), date=1_795_000_000.0)
    story.approve()
    assert story.proposed()["value"] == 50
    assert "there is also" in story.requests[0].description

    story.remove(path_of())
    story.settle()
    assert story.proposed()["value"] == 90
    assert story.acts() == ["request", "commit", "edit"]


def test_one_settlement_writes_to_no_more_models_than_its_limit(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path, settings=f"{SETTINGS}limit = 2\n")
    models = [story.new_model(f"acme/m{number}") for number in range(5)]
    hub.push(story.source, {path_of(one.name): result(one.name) for one in models})
    story.approve()
    for written in (2, 4, 5, 5):
        assert sum(len(hub.requests(one)) for one in models) == written
        story.settle()
    assert story.acts() == ["request"] * 5
    story.end()


def test_many_changes_wait_for_a_maintainer_here_too(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path, settings=SETTINGS.replace("comments", "max_changed = 1\ncomments"))
    models = [story.new_model(f"acme/m{number}") for number in range(3)]
    hub.push(story.source, {path_of(one.name): result(one.name) for one in models})
    story.approve()
    assert story.acts() == ["request"] * 3

    hub.push(story.source, {path_of(one.name): result(one.name, right=(60, 60, 70)) for one in models})
    assert story.said("held")[0].startswith("0 rows would be removed and 3 changed; approve plan ")
    assert story.acts() == []
    story.end()


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
    assert said(outcomes, "published")[0].startswith("the open request is updated")
    assert story.acts() == []
    story.settle()
    assert story.acts() == ["commit", "edit"]


CARD = b"---\nlicense: mit\n---\n# A model\n"


@pytest.fixture
def card_story(hub: Hub, tmp_path: Path) -> Iterator[ModelStory]:
    story = ModelStory(hub, tmp_path, settings=f'{SETTINGS}form = "model-index"\n')
    yield story
    story.end()


def card(story: ModelStory, revision: str = "main") -> bytes:
    return story.hub.file(story.model, "README.md", revision) or b""


def test_a_card_gets_one_block_which_changes_and_goes_with_the_submission(card_story: ModelStory) -> None:
    story = card_story
    story.begun()
    [request] = story.requests
    [sums, logic] = yaml.safe_load(card(story, request.ref).split(b"---\n")[1])["model-index"][0]["results"]
    assert (sums["metrics"][0]["value"], logic["metrics"][0]["value"]) == (50, 70)
    assert card(story, request.ref).endswith(b"---\n# A model\n")
    story.lose_state()
    story.settle()
    assert story.acts() == []

    story.hub.merge(story.model, request)
    story.hub.push(story.model, {"README.md": card(story).replace(b"# A model", b"# Our model")}, user="owner")
    story.push(right=(60, 60, 70))
    story.settle()
    [request] = story.requests
    changed = [
        (old, new) for old, new in zip(card(story).splitlines(), card(story, request.ref).splitlines(), strict=True)
    ]
    assert [old.split()[0] for old, new in changed if old != new] == [b"#", b"value:", b"url:", b"url:"]
    story.hub.merge(story.model, request)

    story.remove()
    story.settle()
    story.hub.merge(story.model, story.requests[0])
    assert card(story) == CARD.replace(b"# A model", b"# Our model")
    assert story.acts() == ["request"] * 2


def test_a_value_of_somebody_else_in_the_card_is_a_conflict(card_story: ModelStory) -> None:
    story = card_story
    theirs = b"""---
model-index:
- name: atlas
  results:
  - dataset: {name: Sums, type: bench/sums}
    metrics:
    - {type: acc, value: 12.5}
---
"""
    story.hub.push(story.model, {"README.md": theirs}, user="owner")
    story.push()

    assert "sums: conflict: README.md says 12.5, and this result 50" in said(story.approve(), "rejected")[0]
    assert card(story, story.requests[0].ref).count(b"bench/sums") == 1
    assert story.acts() == ["request"]


def test_a_model_without_a_card_gets_none(card_story: ModelStory) -> None:
    card_story.hub.push(card_story.model, {"README.md": None}, user="owner")
    card_story.push()

    assert card_story.said("rejected") == ["README.md: the repository has no card"]


def test_only_a_watch_writes_to_models(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(result())
    (tmp_path / "tiny.toml").write_text(TINY)
    told = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.person("bot")}
    status, _, why = bot(
        "publish", str(tmp_path / "result.json"), "--to", "hf://models", "-l", str(tmp_path / "tiny.toml"), env=told
    )
    assert status == 2
    assert "hf://models takes the rows of a watch only" in why
    assert hub.log == []


def test_a_gated_model_is_named_and_stops_no_other(story: ModelStory) -> None:
    story.model.gated = True
    story.new_model(OTHER)
    story.push()
    story.push(model=OTHER)

    outcomes = story.settle()
    assert "403" in said(outcomes, "rejected")[0]
    [plan] = said(outcomes, "held")
    assert plan.startswith("the first run would write to 1 models")
    assert story.acts() == []


def test_a_model_that_was_renamed_gets_nothing_under_its_new_name(story: ModelStory) -> None:
    story.hub.rename(story.model, "acme/atlas-8b", redirects=True)
    story.push()

    [why] = story.said("rejected")
    assert "acme/atlas-8b" in why
    assert (story.hub.requests(story.model), story.acts()) == ([], [])


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


def test_a_very_large_result_file_of_somebody_else_is_passed_over(story: ModelStory) -> None:
    story.hub.push(story.model, {".eval_results/large.yaml": b"# x\n" * 30_000}, user="owner")
    story.begun()
