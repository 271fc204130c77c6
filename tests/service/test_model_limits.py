"""How many models one settlement writes to, and what waits for a maintainer, also after a loss of the state."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.service.watch.passes import exit_status, settle_watches
from tests.service.model_stories import SETTINGS, ModelStory
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import path_of, result


def test_one_settlement_writes_to_no_more_models_than_its_limit(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path, settings=f"{SETTINGS}limit = 1\n")
    models = [story.new_model(f"acme/m{number}") for number in range(3)]
    hub.push(story.source, {path_of(one.name): result(one.name) for one in models})
    story.approve()
    for written in (1, 2, 3):
        assert sum(len(hub.requests(one)) for one in models) == written
        [looked] = settle_watches(story.contexts, [story.watch], dry_run=True)
        [ledger] = looked.ledgers
        assert ledger.line == f"3 accepted: 0 on main, {written} open, 0 held, 0 declined, {3 - written} unexplained"
        [settled] = settle_watches(story.contexts, [story.watch])
        assert exit_status([settled]) == int(min(written + 1, 3) < 3)
    assert story.acts() == ["request"] * 3
    story.end()


def test_many_changes_wait_for_a_maintainer_here_too(hub: Hub, tmp_path: Path) -> None:
    story = ModelStory(hub, tmp_path, settings=SETTINGS.replace("comments", "max_changed = 1\ncomments"))
    models = [story.new_model(f"acme/m{number}") for number in range(3)]
    hub.push(story.source, {path_of(one.name): result(one.name) for one in models})
    story.approve()
    assert story.acts() == ["request"] * 3

    hub.push(story.source, {path_of(one.name): result(one.name, right=(60, 60, 70)) for one in models})
    assert story.said("held")[0].startswith("3 rows would be changed; approve plan ")
    assert story.acts() == []
    story.end()


def changed(hub: Hub, folder: Path, limit: str, count: int) -> tuple[ModelStory, list[Repository]]:
    """Models with a merged value each, all of which change."""
    story = ModelStory(hub, folder, settings=f"{SETTINGS}limit = 20\n")
    models = [story.new_model(f"acme/m{number}") for number in range(count)]
    hub.push(story.source, {path_of(one.name): result(one.name) for one in models})
    story.approve()
    for one in models:
        hub.merge(one, hub.requests(one)[0])
    story.settle()
    story.news()
    story.settings = SETTINGS.replace("comments", f"{limit}\ncomments")
    hub.push(story.source, {path_of(one.name): result(one.name, right=(60, 60, 70)) for one in models})
    return story, models


@pytest.mark.slow
def test_what_waits_for_a_maintainer_after_a_loss_of_the_state_goes_on_waiting(hub: Hub, tmp_path: Path) -> None:
    story, _ = changed(hub, tmp_path, "max_changed = 1", 3)
    story.lose_state()
    assert story.said("held")[0].startswith("3 rows would be changed; approve plan ")
    new = story.new_model("acme/new")
    story.push(model=new.name)
    assert story.said("held")[0].startswith("3 rows would be changed; approve plan ")

    assert len(hub.requests(new)) == 1
    assert story.acts() == ["request"]
    story.end()


@pytest.mark.slow
def test_a_model_that_could_not_be_read_after_a_loss_of_the_state_waits_too(hub: Hub, tmp_path: Path) -> None:
    story, models = changed(hub, tmp_path, "max_changed = 1", 3)
    story.lose_state()
    hub.faults.order(f"{models[1].name}/", status=500, times=-1)
    story.settle()
    hub.faults.ordered.clear()
    assert story.said("held")[0].startswith("3 rows would be changed; approve plan ")
    assert story.acts() == []
    story.end()


@pytest.mark.slow
def test_nothing_is_read_again_once_the_limit_is_reached(hub: Hub, tmp_path: Path) -> None:
    story, models = changed(hub, tmp_path, "max_changed = 100", 4)
    story.settings += "limit = 2\n"
    before = len(hub.calls)
    story.settle()

    assert sum(f"{models[3].name}/refs" in call.raw_path for call in hub.calls[before:]) == 1
    assert story.acts() == ["request"] * 2
    story.settle()
    assert story.acts() == ["request"] * 2
    story.end()


def test_values_of_no_measure_on_the_board_of_a_benchmark_stop_nothing(hub: Hub, tmp_path: Path) -> None:
    values = ("1" + "0" * 400, "true", '"x"', "null", "1e999", "58.0")
    board = ", ".join(f'{{"value": {value}}}' for value in values)
    answer = {"headers": {"Content-Type": "application/json"}, "body": f"[{board}, 7]".encode(), "times": -1}
    hub.faults.order("/api/datasets/bench/sums/leaderboard", **answer)

    story = ModelStory(hub, tmp_path).begun()
    story.end()
