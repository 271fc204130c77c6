"""What the Hub says of models: asked once a day where the settings say so, kept, and shown with the day."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from bot.platforms.hub.client import HubClient
from bot.server.app import make_app
from bot.server.boards import BoardCache, board_routes
from bot.service.publish.boards import known_models, look_up_models
from bot.service.publish.targets import models_are_due
from bot.service.watch.settle import run_pass
from tests.evaluation.judging import patch
from tests.server.test_server import Taken
from tests.service.stories import Story
from tests.service.test_service_boards import wait_until
from tests.world.hub import Hub
from tests.world.results import path_of, revision_of

MODELS = ("acme/atlas-7b", "acme/borea-1b")
DAY = 86_400.0


def asked(story: Story) -> list[str]:
    """The models whose main branch the Hub was asked for."""
    paths = [call.raw_path for call in story.hub.calls]
    return [path for path in paths if path.startswith("/api/models/acme/")]


@pytest.mark.parametrize("wanted", [True, False])
def test_a_moved_model_is_told_with_the_day_and_nobody_asks_again_before_the_next(
    hub: Hub, tmp_path: Path, *, wanted: bool
) -> None:
    story = Story(hub, tmp_path, form="commit", more="look_up_heads = true" if wanted else "")
    repository = hub.repository("acme/atlas-7b", "model")
    moved = hub.push(repository, {"README.md": b"new"}).oid
    for model in MODELS:
        story.push(model=model, path=path_of(model))
    story.settle()
    story.settle()
    boards = BoardCache(story.contexts.store, lambda: [story.watch])
    web = TestClient(make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards)))
    pages = [f"/board/tiny/rows/{model}/{revision_of(model)[:7]}-bfloat16.html" for model in MODELS]
    today = datetime.now(UTC).date().isoformat()
    said = f"has moved on to <code>{moved[:12]}</code>, first seen on {today}"
    assert (said in web.get(pages[0]).text) is wanted
    assert "moved on" not in web.get(pages[1]).text  # the Hub has no such model
    about = web.get("/board/tiny/about.html").text
    assert ("looked up once a day" if wanted else "do not say if a model has changed") in about
    before = len(asked(story))
    assert bool(before) is wanted

    web.get(pages[0])
    assert len(asked(story)) == before
    if wanted:
        newer = hub.push(repository, {"README.md": b"newer"}).oid
        context = story.contexts.open_context(story.watch)
        run_pass(replace(context, clock=lambda: datetime.now(UTC).timestamp() + DAY + 10), everything=False)
        wait_until(lambda: newer[:12] in web.get(pages[0]).text)
        assert len(asked(story)) > before
    story.contexts.store.close()


def test_size_licence_and_type_come_from_the_hub_and_what_the_file_states_first(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more="look_up_models = true")
    for model, parameters in zip(MODELS, (7_000_000_000, 1_300_000_000), strict=True):
        repository = hub.repository(model, "model")
        repository.parameters = parameters
        repository.tags = ["license:mit", "base_model:acme/root", "base_model:finetune:acme/root", "<b>"]
    for model, stated in zip(MODELS, (7_240_000_000, -1), strict=True):
        data = patch(json.loads(story.result(model=model)), "/config/model_num_parameters", stated)
        story.push(json.dumps(data).encode(), path_of(model))
    story.settle()
    story.settle()
    boards = BoardCache(story.contexts.store, lambda: [story.watch])
    web = TestClient(make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards)))
    rows = web.get("/board/tiny/leaderboard.json").json()["rows"]
    today = datetime.now(UTC).date().isoformat()
    assert {row["model"]: row["params"] for row in rows} == {MODELS[0]: 7_240_000_000, MODELS[1]: 1_300_000_000}
    assert {(row["licence"], row["model_type"], row["base_model"], row["looked_up"]) for row in rows} == {
        ("mit", "fine-tuned", "acme/root", today)
    }
    page = web.get(f"/board/tiny/rows/{MODELS[0]}/{revision_of(MODELS[0])[:7]}-bfloat16.html").text
    assert "7.24 billion parameters" in page
    assert f"mit; fine-tuned from acme/root (as the Hub said on {today})" in page
    kept = known_models(story.state)

    later = datetime.now(UTC).timestamp() + DAY + 10
    run_pass(replace(story.contexts.open_context(story.watch), clock=lambda: later), everything=False)
    again = known_models(story.state)
    assert {model: one.facts for model, one in again.items()} == {model: one.facts for model, one in kept.items()}
    assert {one.at for one in again.values()} == {later}
    story.contexts.store.close()


def test_a_look_is_bounded_and_the_longest_unasked_come_first(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.publish.boards.MODELS_AT_ONCE", 2)
    story = Story(hub, tmp_path, form="commit")
    asked: list[list[str]] = []

    def read(_: HubClient, models: Iterable[str]) -> Mapping[str, str]:
        asked.append(list(models))
        return {}

    monkeypatch.setattr("bot.service.publish.boards.read_heads", read)

    now = [1e9]
    watch = story.watch.model_copy(update={"look_up_heads": True})
    context = replace(story.contexts.open_context(watch), clock=lambda: now[0])
    models = ["c/c", "a/a", "", "x" * 5_000, "n\0l", "b/b"]
    for hours in (0, 1, 2, 25):
        now[0] = 1e9 + 3_600 * hours
        if models_are_due(context):
            look_up_models(context, models)
    assert asked == [["a/a", "b/b"], ["c/c"], ["a/a", "b/b"]]
    assert not models_are_due(context)
    story.contexts.store.close()
