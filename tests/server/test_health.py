"""How a service stands: ok while items end in a verdict, degraded where some cannot be carried out, else failed."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.testclient import TestClient

from bot.errors import BotError, StateUnavailable
from bot.platforms.hub.platform import HubPlatform
from bot.publishing.decisions import WAITS
from bot.server.health import LATE, State, overall, status_of
from bot.server.run import Reloader
from bot.server.service import Service
from bot.server.situation import accounted, situation
from bot.server.views import WatchView
from bot.service.context import ContextFactory
from bot.service.publish.ledger import Ledger, note_ledgers
from bot.service.settings.config import load_settings, parse_settings
from bot.service.store.items import Items, Mark
from bot.service.watch.event import MAIN, Event
from bot.service.watch.outcome import WatchPass
from bot.service.watch.passes import exit_status, settle_watches, status_lines, status_of_ledgers
from bot.service.watch.settle import run_pass
from tests.server.services import make_web
from tests.service.stories import SETTINGS, Story
from tests.service.table_stories import TableStory
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

NOW, EVERY = 10_000.0, 100.0


@pytest.mark.parametrize(
    ("state", "failing", "moved", "status"),
    [
        (State(settled=NOW, reached=NOW), 0, NOW, "ok"),
        (State(settled=NOW, reached=NOW), 1, NOW, "degraded"),
        (State(settled=NOW, reached=NOW, failure="x"), 0, NOW, "degraded"),
        (State(settled=NOW, reached=NOW - 60), 0, NOW, "degraded"),
        (State(), 0, NOW, "degraded"),
        (State(), 0, NOW - 400, "failed"),
        (State(settled=NOW, reached=NOW), 0, NOW - 399, "ok"),
        (State(settled=NOW - 500, reached=NOW - 500), 0, NOW, "ok"),
        (State(settled=NOW), 3, NOW - 400, "failed"),
    ],
)
def test_a_watch_is_ok_while_something_moves(state: State, failing: int, moved: float, status: str) -> None:
    assert status_of(state, failing, now=NOW, moved=moved, every=EVERY) == status


def test_the_whole_fails_only_where_no_watch_moves() -> None:
    assert overall(["ok", "ok"]) == "ok"
    assert overall(["ok", "failed"]) == overall(["degraded"]) == overall(["degraded", "failed"]) == "degraded"
    assert overall(["failed", "failed"]) == "failed"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.contexts.store.close()


@pytest.fixture
def service(story: Story) -> Iterator[Service]:
    service = Service(story.open_context_factory("served.db"), (story.watch,), CollectorRegistry())
    yield service
    service.contexts.store.close()


def test_a_row_that_cannot_be_published_degrades_and_is_named(story: Story, service: Service) -> None:
    assert service.health()["status"] == "degraded"
    [watch] = service.watches_settings
    story.push()
    story.push(data=result("acme/borea-1b"), path=path_of("acme/borea-1b"))
    story.hub.faults.order("/commit/main", status=500, times=1_000)
    service.settle(watch)

    health = service.health()
    assert (health["status"], health["ok"]) == ("degraded", False)
    tiny = health["watches"]["tiny"]
    assert tiny["counts"]["failing"] >= 1
    assert all(item["reason"] and item["next"] for item in tiny["failing"])
    page = generate_latest(service.registry).decode()
    assert 'leaderboard_bot_items{kind="row",state="failing",watch="tiny"}' in page
    assert 'leaderboard_bot_requests_total{service="hub",status="500"}' in page
    assert "leaderboard_bot_build_info{version=" in page
    assert re.search(r"^leaderboard_bot_state_statements_total [1-9]", page, re.MULTILINE)

    story.hub.faults.ordered.clear()
    service.contexts.store.of("tiny").items.retry_all(0.0)
    service.settle(watch)
    assert service.health()["status"] == "ok"
    assert len(story.requests) == 2


@pytest.mark.slow
def test_a_target_that_is_gone_degrades_although_no_row_is_to_be_written(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    service.settle(watch)
    assert service.health()["status"] == "ok"
    story.hub.faults.order("/datasets/acme/contents", status=404, times=-1)
    service.settle(watch)

    failure = service.health()["watches"]["tiny"]["failure"]
    assert service.health()["status"] == "degraded"
    assert failure.startswith("repository of hf://datasets/acme/contents: the Hub refused: ")
    page = TestClient(make_web(service), base_url="http://localhost").get("/").text
    assert failure in unescape(page)

    story.hub.faults.ordered.clear()
    service.settle(watch)
    assert service.health()["status"] == "ok"


def test_a_source_out_of_reach_is_not_well_while_it_is_tried(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    service.settle(watch)
    story.hub.faults.order("/datasets/acme/results", status=500, times=-1)
    service.settle(watch)
    assert service.health()["status"] == "degraded"
    as_a_pass_begins = [Mark("source"), Mark("reviews")]
    service.contexts.store.of("tiny").items.mark(as_a_pass_begins, time.time())
    assert service.health()["status"] == "degraded"


def test_settle_status_page_and_health_say_the_same_of_where_the_rows_are(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    for name in ("m0", "m1", "m2", "m3"):
        story.push(model=f"acme/{name}")
    service.settle(watch)
    story.hub.merge(story.target, story.requests[0])
    story.hub.set_status(story.target, story.requests[1], "closed", "ann")
    line = "4 accepted: 1 on main, 2 open, 0 held, 1 declined, 0 unexplained"

    [settled] = settle_watches(service.contexts, [watch])
    looked = settle_watches(service.contexts, [watch], dry_run=True)
    page = TestClient(make_web(service), base_url="http://localhost").get("/").text
    target = "hf://datasets/acme/contents"
    assert settled.lines(dry_run=False)[-1] == f"tiny: {target}: {line}"
    assert status_lines(looked)[0] == f"tiny: {target}: {line}"
    assert page.count(f"{accounted(line)}. <span") == 1
    assert service.health()["watches"]["tiny"]["ledgers"] == {target: line}
    story.news()


def with_held_removals(story: Story) -> tuple[Service, TestClient]:
    """A service and its pages, where a plan holds the removal of 8 of 12 rows."""
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    [watch] = service.watches_settings
    models = [f"acme/m{n}" for n in range(12)]
    story.hub.push(story.source, {path_of(model): result(model) for model in models})
    service.settle(watch)
    story.hub.merge(story.target, story.requests[0])
    service.settle(watch)
    story.hub.push(story.source, {path_of(model): None for model in models[:8]})
    service.settle(watch)
    return service, TestClient(make_web(service), base_url="http://localhost")


@pytest.mark.slow
def test_what_a_declined_plan_leaves_as_it_is_does_not_wait(
    hub: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    story = Story(hub, tmp_path, limit=5)
    service, web = with_held_removals(story)
    [watch] = service.watches_settings
    [held] = story.state.plans.all()
    assert "held by plan <a " in web.get("/items?state=held").text
    assert "8 other rows would be removed by a plan" in web.get("/").text
    web.post("/plans/answer", data={"watch": "tiny", "digest": held.digest, "answer": "decline"})
    assert f"tiny: declined plan {held.digest}: answered on the operator's page" in caplog.text
    service.settle(watch)

    page, work = web.get("/").text, web.get("/items").text
    assert "items held" not in page
    assert "8 other rows, of which the removal was declined" in page
    assert "declined by plan <a " in work
    assert 'aria-label="What is declined in tiny"' in work
    assert "8 declined" in work
    assert "items?watch=tiny&amp;state=declined&amp;cause=" in work
    assert "held by plan" not in work
    assert "is approved" not in work
    assert "Nothing is held." in web.get("/items?state=held").text
    assert 'items{kind="row",state="declined",watch="tiny"} 8.0' in generate_latest(service.registry).decode()
    web.post("/plans/answer", data={"watch": "tiny", "digest": held.digest, "answer": "approve"})
    assert "held by plan <a " in web.get("/items?state=held").text  # until the next pass
    story.contexts.store.close()


@pytest.mark.slow
def test_page_status_and_health_say_that_a_request_waits_to_be_merged(hub: Hub, tmp_path: Path) -> None:
    """A plan was approved: main has its rows until somebody merges the request."""
    story = Story(hub, tmp_path, limit=5)
    service, web = with_held_removals(story)
    [watch] = service.watches_settings
    [held] = story.state.plans.all()
    plan = web.get(f"/plans/tiny/{held.digest}").text
    assert "Approve: remove 8 rows by request<" in plan
    assert "Approving opens requests at the target; main changes once somebody merges them." in plan
    assert "<strong>4</strong> once merged" in plan
    settle_watches(story.contexts, [watch], approve=held.digest)

    waits, target = "1 request waits to be merged: 8 rows to remove", "hf://datasets/acme/contents"
    page = web.get("/").text
    assert f'<a href="{hub.url}/datasets/acme/contents/discussions" rel="noreferrer">{waits}</a>' in page
    assert "All well" not in page
    assert f"tiny:   {waits}" in status_lines(settle_watches(story.contexts, [watch], dry_run=True))
    assert service.health()["watches"]["tiny"]["requests"] == {target: waits}
    hub.merge(story.target, story.requests[-1])
    service.settle(watch)  # the rows are counted again within a minute
    page = web.get("/").text
    assert "Nothing fails. tiny: <a" in page
    assert f"{waits}</a> (when last counted)." in page
    assert ", before the last change or failure; counted again at " in page
    hub.faults.order("/", method="POST", status=403, times=-1)  # what fails stands before what waits for a merge
    story.push(model="acme/new")
    service.settle(watch)
    first, second = sentences(web)[:2]
    assert re.search("^tiny: the source cannot be read since .*the Hub refused: .*[.] Next try ", first)
    assert waits in second
    story.contexts.store.close()


def sentences(web: TestClient) -> list[str]:
    """What the first page says first."""
    found = re.findall(r'<p class="lead note[^>]*>(.*?)</p>', web.get("/").text)
    return [re.sub(r"<[^>]*>", "", text) for text in found]


def test_a_rejected_file_of_a_source_without_discussions_is_said_on_the_first_page() -> None:
    """Beside it stood "All well.", and nobody else was told."""
    view = WatchView(name="lab", source="../results", targets=["./board"], leaderboard="board.toml", commit="a" * 40,
                     next=None, items={}, submissions={"rejected": 1}, boards={}, outcomes=[])  # fmt: skip
    [said] = situation([view], {"lab": []}, [], time.time(), "https://huggingface.co")
    assert re.sub(r"<[^>]*>", "", said.text) == (
        "lab: 1 rejected file; the source has no discussions, so this page and the log say it."
    )
    for other in (
        msgspec.structs.replace(view, source="hf://datasets/acme/results"),
        msgspec.structs.replace(view, submissions={"accepted": 7}),
    ):
        assert list(situation([other], {"lab": []}, [], time.time(), "")) == []


def test_a_file_of_a_withdrawn_task_is_accepted_and_measures_nothing(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push(right=(50, 60, None))
    story.push(right=(None, None, 70), path=path_of(time="2026-03-03T10-00-00.000000"))
    (tmp_path / "tiny.toml").write_text(TINY[: TINY.index('[[tasks]]\nid = "logic"')])
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    service.settle(service.watches_settings[0])
    page = TestClient(make_web(service), base_url="http://localhost").get("/submissions?watch=tiny").text
    assert page.count("accepted</span>, but it measures no task of the board") == 1
    story.contexts.store.close()


def test_all_is_well_only_once_the_rows_are_counted_and_nothing_is_on_its_way(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    web = TestClient(make_web(service), base_url="http://localhost")
    store, [watch] = story.contexts.store, service.watches_settings
    story.push()
    settle_watches(story.contexts, [watch])
    service.settle(watch)
    assert [text[:20] for text in sentences(web)] == ["All well. 1 accepted"]

    story.push(model="acme/new")  # and counted within the minute
    service.settle(watch)
    assert [text.partition(";")[0] for text in sentences(web)] == [
        "tiny: something changed since the rows were counted"
    ]
    store.of("tiny").items.mark([Mark("file", "later.json")], time.time())
    assert [text.rpartition(",")[0] for text in sentences(web)] == ["tiny: 1 item waits for the next pass"]
    store.of("tiny").items.finish([one for one in store.of("tiny").items.all() if one.kind == "file"])

    settle_watches(story.contexts, [watch])
    assert [text[:20] for text in sentences(web)] == ["All well. 2 accepted"]
    hub.push(story.target, {"notes.md": b"by a person"})  # a merge, say
    service.settle(watch)
    assert [text.partition(";")[0] for text in sentences(web)] == [
        "tiny: something changed since the rows were counted"
    ]
    store.close()


def test_the_token_is_asked_for_where_a_button_needs_it(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    web = TestClient(make_web(service, token="letmein"), base_url="http://localhost")
    asks = "Operator token"
    service.settle(service.watches_settings[0])
    assert asks not in web.get("/items?state=failing").text
    hub.tokens.clear()
    service.settle(service.watches_settings[0])
    assert "set HF_TOKEN" in web.get("/").text
    for path in ("/", "/items?state=failing"):
        page = web.get(path).text
        assert asks not in page
        assert "Try now" not in page
        assert "nothing else helps" in page
    story.state.items.mark([Mark("file", "later.json")], time.time())
    assert asks in web.get("/items?state=waiting").text
    story.contexts.store.close()


def test_a_row_that_waits_for_its_turn_is_unexplained_in_health_as_in_the_line(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    service.settle(watch)
    assert service.health()["status"] == "ok"
    waiting = Ledger("hf://datasets/acme/contents", {"open": 1}, {"tiny/acme/atlas-7b/x-bfloat16": WAITS})
    note_ledgers(service.contexts.open_context(watch), [waiting])
    found = service.health()["watches"]["tiny"]
    assert (found["status"], found["unexplained"], found["untried"]) == ("degraded", 1, 1)
    assert list(found["ledgers"].values()) == ["2 accepted: 0 on main, 1 open, 0 held, 0 declined, 1 unexplained"]
    done = [WatchPass("tiny", [], (), [waiting])]
    assert (status_of_ledgers(done), exit_status(done)) == (1, 1)


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_row_that_fails_and_a_refused_one_are_tried_again(hub: Hub, tmp_path: Path, is_refused: bool) -> None:
    story = TableStory(hub, tmp_path, form="commit", table=b"Model,Average\nacme/zeus,1\n")
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    story.push()
    if is_refused:  # the row was written, and then a workflow began to write the table
        settle_watches(story.contexts, [story.watch])
        job = b"on: push\njobs:\n  a:\n    steps:\n      - run: python make.py > board.csv && git push\n"
        hub.push(story.target, {".github/workflows/make.yml": job})
    else:
        hub.faults.order("/commit/", method="POST", status=403, times=-1)
    settle_watches(story.contexts, [story.watch])
    found = service.health()["watches"]["tiny"]
    assert (found["unexplained"], found["untried"]) == (1, 0)
    [item] = story.state.items.at("row", story.watch.targets[0].to)
    assert ("make.yml names board.csv" in item.reason) == is_refused
    story.contexts.store.close()


def test_while_every_look_fails_the_page_says_when_one_reached_the_source(hub: Hub, tmp_path: Path) -> None:
    story, moments = Story(hub, tmp_path), [NOW]
    service = Service(story.contexts, (story.watch,), CollectorRegistry(), clock=lambda: moments[-1])
    [watch] = service.watches_settings
    web = TestClient(make_web(service), base_url="http://localhost")
    service.settle(watch)
    assert "<dd><time" in web.get("/").text.partition("Last checked</dt>")[2][:10]
    hub.tokens.clear()
    moments.append(NOW + 60)
    service.settle(watch)
    found = service.health()["watches"]["tiny"]
    assert (found["reached"], found["settled"]) == ("1970-01-01T02:46:40Z", "1970-01-01T02:47:40Z")
    story.state.items.mark([Mark("source"), Mark("reviews")], NOW + 120)  # as the next pass begins
    page = web.get("/").text
    assert "tiny: the source cannot be read since " in page
    assert "nothing else helps." in page
    assert "All well" not in page
    said = re.sub("<[^>]*>", "", web.get("/").text.partition("Last checked</dt>")[2].partition("</dd>")[0])
    assert re.fullmatch("last reached 1970-01-01 02:46 UTC at [0-9a-f]{12}; tried 1970-01-01 02:47 UTC", said)
    story.contexts.store.close()


def test_a_pass_that_does_not_end_is_said_on_the_page(hub: Hub, tmp_path: Path) -> None:
    story, moments = Story(hub, tmp_path), [time.time()]
    service = Service(story.contexts, (story.watch,), CollectorRegistry(), clock=lambda: moments[-1])
    [watch] = service.watches_settings
    web = TestClient(make_web(service), base_url="http://localhost")
    moments.append(moments[0] + LATE * watch.settle_every)
    assert "tiny: no pass has ended yet." in web.get("/").text
    service.settle(watch)
    assert "no pass has ended" not in web.get("/").text
    moments.append(moments[-1] + LATE * watch.settle_every)
    assert re.search(r"tiny: no pass has ended since [^.]* UTC\. If the log shows no progress", web.get("/").text)
    story.contexts.store.close()


def test_a_pass_that_takes_long_is_well_while_items_end(hub: Hub, tmp_path: Path) -> None:
    story, moments = Story(hub, tmp_path), [time.time()]
    service = Service(story.contexts, (story.watch,), CollectorRegistry(), clock=lambda: moments[-1])
    [watch] = service.watches_settings
    service.settle(watch)
    moments.append(moments[0] + 2 * LATE * watch.settle_every)
    assert service.health()["status"] == "failed"
    story.push()
    run_pass(replace(story.contexts.open_context(watch), clock=lambda: moments[-1]))  # its end is not noted yet
    assert service.health()["status"] == "ok"
    story.contexts.store.close()


def test_only_what_is_pushed_to_the_source_is_the_last_push(story: Story, service: Service) -> None:
    main, request = (MAIN, "c" * 40), ("refs/pr/3", "d" * 40)
    for repository, ref, is_push in (
        ("datasets/acme/contents", main, False),  # a merge
        ("datasets/acme/contents", request, False),
        ("datasets/acme/results", request, False),
        ("datasets/acme/results", main, True),
    ):
        assert service.take(Event(repository, "repo.content", "update", (ref,)))
        assert (service.health()["watches"]["tiny"]["heard"] is not None) == is_push


def test_a_hub_that_is_away_is_one_cause_for_all_that_fails(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    service.settle(watch)
    away = replace(service.contexts.access, hf_endpoint="http://127.0.0.1:9")
    contexts = ContextFactory(away, service.contexts.store, story.folder)
    HubPlatform.client(contexts.opener).pause = 0.01
    [done] = settle_watches(contexts, [watch])
    texts = {one.text for one in done.outcomes if one.outcome == "failed"}
    assert texts == {"the Hub could not be reached: no connection (Connection refused)"}
    assert [one.reason for one in contexts.store.of("tiny").items.causes(9)] == list(texts)


def test_status_names_the_cause_of_rows_that_fail(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    story.push()
    story.hub.faults.order("/commit/", method="POST", status=403, times=-1)
    service.settle(watch)
    [key] = service.contexts.store.of("tiny").rows.accepted()
    [looked] = settle_watches(service.contexts, [watch], dry_run=True)
    [failing] = service.contexts.store.of("tiny").items.at("row", "hf://datasets/acme/contents")
    assert "403" in failing.reason
    assert status_lines([looked])[1] == f"tiny:   unexplained {key}: {failing.reason}"
    story.hub.faults.ordered.clear()


def test_where_the_hub_is_gone_nothing_moves(story: Story, service: Service) -> None:
    [watch] = service.watches_settings
    story.hub.faults.order("/", status=503, times=100_000)
    clock = service.started
    service.clock = lambda: clock
    service.settle(watch)
    assert service.health()["status"] == "degraded"
    clock += 4 * watch.settle_every
    assert service.health()["status"] == "failed"
    story.hub.faults.ordered.clear()


def test_a_broken_state_is_said_and_is_no_crash(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Items, "counts", fail)
    assert service.health()["status"] == "failed"
    assert b"leaderboard_bot_build_info" in generate_latest(service.registry)


def test_a_state_that_is_away_is_one_line_of_the_log(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: str) -> None:
        raise StateUnavailable("bot.db", "the disk failed")

    monkeypatch.setattr(Items, "counts", fail)
    assert service.health()["status"] == "failed"
    generate_latest(service.registry)
    assert ["the disk failed" in one.getMessage() for one in caplog.records] == [True, True]
    assert not any(one.exc_info for one in caplog.records)


def test_all_faults_of_a_declaration_are_one_line_on_page_and_in_settle(story: Story, service: Service) -> None:
    (story.folder / "tiny.toml").write_text(TINY.replace("samples = 100", 'samples = "x"'))
    [watch] = service.watches_settings
    with pytest.raises(BotError):
        service.settle(watch)
    [settled] = settle_watches(service.contexts, [watch])
    for line in (service.health()["watches"]["tiny"]["failure"], settled.outcomes[0].text):
        assert line.count("; ") == 2
        assert line.isprintable()
        assert "\\n" not in line


def test_what_fails_is_a_warning_of_the_log(story: Story, service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    story.push()
    story.hub.faults.order("/commit/", method="POST", status=403, times=-1)
    service.settle(service.watches_settings[0])
    [failed] = [one for one in caplog.records if "tiny: failed tiny/acme/atlas-7b" in one.getMessage()]
    assert failed.levelno == logging.WARNING
    story.news()


@pytest.mark.slow
def test_the_log_has_a_line_for_each_reason_and_says_once_what_waits(
    story: Story, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    models = [f"acme/m{n}" for n in range(12)]
    story.hub.push(story.source, {path_of(one): result(one) for one in models})
    fault = story.hub.faults.order("/commit/", method="POST", status=403, times=-1)
    service.settle(service.watches_settings[0])
    [failed] = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert " and 9 more: the Hub refused: hf://datasets/acme/contents: 403" in failed

    fault.times = 0
    service.contexts.store.of("tiny").items.retry_all(service.clock())
    service.settle(service.watches_settings[0])
    story.hub.push(story.source, {"notes.json": b"{}", **dict.fromkeys(map(path_of, models))})
    for _ in range(3):
        service.settle(service.watches_settings[0])
    told = [one.getMessage() for one in caplog.records if "12 rows would be removed" in one.getMessage()]
    assert len(told) == 1
    [known] = service.health()["watches"]["tiny"]["requests"].values()
    assert known == "12 requests wait to be merged: 12 rows to add"
    story.news()


def test_a_watch_that_left_the_settings_stands_no_more_among_the_metrics(story: Story, service: Service) -> None:
    service.settle(service.watches_settings[0])
    name = 'last_settled_timestamp_seconds{watch="tiny"}'
    assert name in generate_latest(service.registry).decode()
    text = SETTINGS.format(form="pull-request", style="entry", limit=20, more="").replace('"tiny"', '"new"', 1)
    service.apply(parse_settings(text, "bot.toml"))
    service.stop(20.0)
    assert name not in generate_latest(service.registry).decode()


def test_settings_that_were_refused_are_named_until_they_are_mended(story: Story, service: Service) -> None:
    service.settle(service.watches_settings[0])
    assert (service.health()["status"], service.health()["refused_settings"]) == ("ok", "")
    settings = story.folder / "bot.toml"
    settings.write_text(SETTINGS.format(form="pull-request", style="entry", limit=20, more=""))
    reloader = Reloader(settings, load_settings, lambda _: None)
    service.refused_settings = lambda: reloader.refusal
    settings.write_text("[[watches]]\nname = 3\n")
    assert not reloader.look()
    assert (service.health()["status"], "watches" in service.health()["refused_settings"]) == ("degraded", True)
    page = TestClient(make_web(service), base_url="http://localhost").get("/").text
    assert "The settings in the file are not used, the old ones stay in force: " in page
    assert "All well." not in page
    settings.write_text(SETTINGS.format(form="commit", style="entry", limit=20, more=""))
    assert reloader.look()
    assert service.health()["status"] == "ok"


def test_new_settings_replace_only_the_watches_that_changed(story: Story, service: Service) -> None:
    service.start()
    try:
        kept = service.workers["tiny"]
        text = SETTINGS.format(form="pull-request", style="entry", limit=20, more="")
        service.apply(parse_settings(text, "bot.toml"))
        assert service.workers["tiny"] is kept

        both = text + text.replace('name = "tiny"', 'name = "other"').replace(
            "maintainers", "settle_every = '1h'\nmaintainers"
        )
        service.apply(parse_settings(both, "bot.toml"))
        assert service.workers["tiny"] is kept
        assert set(service.health()["watches"]) == {"tiny", "other"}

        broken = parse_settings(text.replace('leaderboard = "tiny.toml"', 'leaderboard = "none.toml"'), "bot.toml")
        with pytest.raises(BotError):
            service.apply(broken)
        assert service.workers["tiny"] is kept

        service.apply(parse_settings(text.replace('name = "tiny"', 'name = "new"'), "bot.toml"))
        assert list(service.workers) == list(service.health()["watches"]) == ["new"]
    finally:
        service.stop(20.0)
