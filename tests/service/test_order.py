"""What people wait for comes first, and very much work is taken in parts: the end is the same as all at once."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.service.publish import publisher
from bot.service.waits import FIRST_RETRY
from bot.service.watch import observe, settle
from bot.service.watch.settle import run_pass
from tests.service.stories import Story
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "MANY_CHANGES", 10)
    monkeypatch.setattr(settle, "FILES_OF_A_PART", 4)
    monkeypatch.setattr(publisher, "ROWS_OF_A_PART", 5)


def many(count: int, **how: object) -> dict[str, bytes | None]:
    return {path_of(f"acme/many-{n:02}"): result(f"acme/many-{n:02}", **how) for n in range(count)}  # type: ignore[arg-type]


def rows_at(story: Story) -> set[str]:
    return {path.split("/")[3] for path, _ in story.target.main.tree.files() if path.startswith("entries/")}


def test_a_push_and_a_request_during_a_bulk_push_are_served_before_it(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "ROWS_OF_A_PART", 500)
    story = Story(hub, tmp_path)
    story.settle()
    hub.push(story.source, many(30))

    def meanwhile() -> None:
        story.push()
        hub.open_request(story.source, {path_of("acme/pica-3b"): result("acme/pica-3b")}, "Mine", "please", "ann")

    hub.faults.order("/resolve/.*many-07", before=meanwhile)
    story.settle()

    posted = story.news()
    assert [one.act for one in posted] == ["comment", "request", "request"]
    assert "`acme/pica-3b`" in posted[0].text
    assert [one.title for one in story.requests] == [
        "Add acme/atlas-7b (bfloat16): 58.33",
        "Add 30 rows of tiny",
    ]
    story.end()


@pytest.mark.slow
@pytest.mark.parametrize("form", one_of(["pull-request", "commit", "comment"]))
def test_rows_in_parts_end_as_rows_at_once(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    ends = []
    for name, part in (("parts", 5), ("once", 500)):
        monkeypatch.setattr(publisher, "ROWS_OF_A_PART", part)
        (tmp_path / name).mkdir()
        story = Story(hub, tmp_path / name, form=form)
        hub.push(story.source, many(23))
        story.settle()
        requests = [(one.title, len(one.comments())) for one in story.requests]
        talks = [(one.title, len(one.comments())) for one in hub.conversations(story.target)]
        ends.append((requests, talks, rows_at(story)))
        story.news()
        story.end()

    assert ends[0] == ends[1]


@pytest.mark.slow
@pytest.mark.parametrize("part", [4, 500])
def test_what_must_be_approved_depends_on_all_rows_and_not_on_a_part_of_them(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(publisher, "ROWS_OF_A_PART", part)
    story = Story(hub, tmp_path, form="commit")
    hub.push(story.source, many(20))
    story.settle()
    assert len(rows_at(story)) == 20
    story.news()
    hub.push(story.source, {**dict.fromkeys(many(12)), path_of("acme/new-1b"): result("acme/new-1b")})
    outcomes = story.settle()

    assert [one.text.partition(";")[0] for one in outcomes if one.outcome == "held"] == ["12 rows would be removed"]
    assert len(rows_at(story)) == 21
    held = story.state.plans.at("hf://datasets/acme/contents")
    assert held is not None
    assert not held.is_approved
    assert len(held.plan.having("removed")) == 12
    story.state.plans.approve(held.digest)
    story.settle()
    assert len(rows_at(story)) == 9
    story.news()
    story.end()


@pytest.mark.slow
def test_a_file_that_cannot_be_read_after_a_loss_withdraws_no_row(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    hub.push(story.source, many(3))
    story.settle()
    story.remove(path_of("acme/many-02"))
    story.lose_state()
    fault = hub.faults.order("/resolve/.*many-01", status=500, times=-1)
    story.settle()

    assert {"many-00", "many-01"} <= rows_at(story)
    fault.times = 0
    story.settle()
    assert rows_at(story) == {"many-00", "many-01"}
    story.news()
    story.end()


DAY = 86_400.0


@pytest.mark.parametrize("jump", one_of([-30 * DAY, -3_600.0, 3_600.0]))
def test_a_clock_that_jumps_lets_nothing_wait_longer_than_its_backoff(hub: Hub, tmp_path: Path, jump: float) -> None:
    story = Story(hub, tmp_path)
    now = [time.time()]

    def one_pass() -> list[str]:
        context = replace(story.contexts.open_context(story.watch), clock=lambda: now[0])
        return [one.outcome for one in run_pass(context, everything=False).outcomes]

    story.push()
    fault = hub.faults.order("/api/datasets/acme/contents/(pull-requests|discussions|commit)", status=403, times=-1)
    assert "failed" in one_pass()
    fault.times = 0

    now[0] += jump
    assert jump > 0 or "proposed" not in one_pass()
    now[0] += FIRST_RETRY + 1
    assert "proposed" in one_pass()
    assert story.acts() == ["request"]
    story.end()


def test_what_fails_waits_a_minute_then_twice_as_long_each_time_and_at_most_six_hours(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    now = [time.time()]

    story.push()
    hub.faults.order("/api/datasets/acme/contents/(pull-requests|discussions|commit)", status=403, times=-1)
    for wait in (60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600, 21_600):
        run_pass(replace(story.contexts.open_context(story.watch), clock=lambda: now[0]), everything=False)
        [row] = [item for item in story.state.items.all() if item.subject]
        assert round(row.due - now[0]) == wait
        now[0] = row.due
    story.contexts.store.close()
