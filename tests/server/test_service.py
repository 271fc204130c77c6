"""The service as it runs: a real server takes real deliveries, and the commands end as they should."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from huggingface_hub import HfApi

from bot.service.review.reviews import SHORT_LIST
from bot.service.waits import AFTER_HINT
from tests.command import completed
from tests.service.stories import SETTINGS, Story
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result

ROOT = Path(__file__).parents[2]
SECRET = "MARKER-SECRET"
BEFORE_THE_LOCK_ENDS = 8.0  # seconds; the server itself waits longer for its database


def environment(hub: Hub, **more: str) -> dict[str, str]:
    keep = {key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "LANG"}}
    ours = {
        "HF_TOKEN": hub.person("bot"),
        "HF_ENDPOINT": hub.url,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "WEBHOOK_SECRET": SECRET,
        "PYTHONPATH": str(ROOT),
    }
    return keep | ours | more


def run(hub: Hub, folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = environment(hub, **more)
    del environ["PYTHONPATH"]
    return completed(*words, cwd=folder, env=environ)


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    (tmp_path / "bot.toml").write_text(SETTINGS.format(form="pull-request", style="entry", limit=20, more=""))
    yield story
    story.contexts.store.close()


@contextmanager
def serving(story: Story, port: int = 0) -> Iterator[tuple[str, Path]]:
    """A server in a process of its own; ends with a graceful stop."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        port = probe.getsockname()[1]
    log = story.folder / "log.txt"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "serve", "--port", str(port)],
            cwd=story.folder,
            env=environment(story.hub),
            stdout=file,
            stderr=file,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{url}/healthz"))
        yield url, log
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


def answers(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.HTTPError:
        return False


def wait_for(happened: object, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.mark.slow
def test_from_a_push_to_a_request_over_a_webhook_and_nothing_twice(story: Story) -> None:
    hub, api = story.hub, HfApi(endpoint=story.hub.url, token=story.token)
    with serving(story) as (url, log):
        made = run(hub, story.folder, "webhook", "create", f"{url}/webhooks/hub?secret={SECRET}")
        again = run(hub, story.folder, "webhook", "create", f"{url}/webhooks/hub?secret={SECRET}")
        assert (made.returncode, again.returncode) == (0, 0)
        assert "already exists" in again.stdout
        assert len(list(api.list_webhooks())) == 1

        story.push()
        wait_for(lambda: story.requests)
        hub.deliveries.wait()
        hub.deliveries.replay(hub.deliveries.all[0])
        hub.deliveries.wait()
        wait_for(lambda: f"{len(hub.deliveries.all)}.0" in httpx.get(f"{url}/metrics").text)
        wait_for(lambda: "proposed" in httpx.get(url).text)  # the page tells of it when the pass has ended
        page = httpx.get(url).text
        assert httpx.get(url, headers={"Host": "rebound.example"}).status_code == 421
        health = httpx.get(f"{url}/healthz").json()["watches"]["tiny"]

    assert {answer for delivery in hub.deliveries.all for answer in delivery.answers} == {202}
    assert [posted.act for posted in hub.by("bot")] == ["request"]
    assert health["commit"] == story.source.main.oid
    shown = page + log.read_text() + made.stdout + made.stderr
    assert SECRET not in shown
    assert story.token not in shown


@pytest.mark.slow
def test_a_stop_lets_the_running_settlement_end(story: Story) -> None:
    story.push()
    story.hub.faults.order("/commit/main", delay=2.0, times=1)
    with serving(story):
        wait_for(lambda: [call for call in story.hub.calls if call.raw_path.endswith("/preupload/main")])

    assert len(story.requests) == 1
    store = story.open_context_factory("bot.db").store
    assert store.of("tiny").commit == story.source.main.oid
    store.close()


@pytest.mark.slow
def test_pushes_while_nobody_listened_are_found_at_the_start(story: Story) -> None:
    story.push()
    with serving(story):
        wait_for(lambda: story.requests)

    assert [posted.act for posted in story.hub.by("bot")] == ["request"]


def settles(url: str) -> float:
    """How many settlements of the watch are done."""
    _, found, rest = httpx.get(f"{url}/metrics").text.partition('settles_total{result="done",watch="tiny"} ')
    return float(rest.split("\n")[0]) if found else 0.0


@pytest.mark.slow
def test_a_burst_of_500_pushes_is_few_settlements(story: Story) -> None:
    with serving(story) as (url, _):
        run(story.hub, story.folder, "webhook", "create", f"{url}/webhooks/hub")
        wait_for(lambda: settles(url) == 1)
        body = story.hub.webhooks
        hook = next(iter(body.values()))
        payload = {
            "event": {"action": "update", "scope": "repo.content"},
            "repo": {"type": "dataset", "name": "acme/results"},
        }
        start = time.monotonic()
        with httpx.Client(headers={"X-Webhook-Secret": SECRET}) as client:
            for _ in range(500):
                assert client.post(hook.url, json=payload).status_code == 202
        wait_for(lambda: settles(url) > 1)
        time.sleep(2.5)  # more of them would come by then
        done = settles(url)
        most = 2 + (time.monotonic() - start) / AFTER_HINT  # hints are collected for so long before each settlement

    assert 2 <= done <= most


@pytest.mark.slow
def test_settle_from_the_command_line_says_what_it_did(story: Story) -> None:
    story.push()
    dry = run(story.hub, story.folder, "settle", "--dry-run")
    assert (dry.returncode, story.requests) == (0, [])
    first, second = (run(story.hub, story.folder, "settle") for _ in range(2))

    assert dry.stdout.splitlines()[0].startswith(
        "tiny: hf://datasets/acme/contents: 1 added, 0 changed, 0 removed, 0 unch"
    )
    assert dry.stdout.splitlines()[1].startswith("tiny:   added  tiny/acme/atlas-7b/8d6b817702bf0f8bf0214")
    ledger = "tiny: hf://datasets/acme/contents: 1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained\n"
    assert first.stdout.endswith(f"/datasets/acme/contents/discussions/1\n{ledger}")
    assert (first.returncode, second.returncode, second.stdout) == (0, 0, f"tiny: unchanged\n{ledger}")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    one_of(
        [
            (
                ("settle", "--config", "none.toml"),
                2,
                "none.toml: there is no such file; leaderboard-bot init writes one",
            ),
            (("settle", "--watch", "other"), 2, "there is no watch 'other'; the settings have tiny"),
            (("serve", "--host", "0.0.0.0"), 2, "WEBHOOK_SECRET is not set"),
            (("webhook", "create", "http://x"), 2, "WEBHOOK_SECRET is not set"),
        ]
    ),
)
def test_a_wrong_call_ends_in_one_line(story: Story, words: tuple[str, ...], status: int, said: str) -> None:
    done = run(story.hub, story.folder, *words, WEBHOOK_SECRET="")

    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1)
    assert said in done.stderr


@pytest.mark.campaign  # half a minute of pauses between tries
def test_a_service_that_cannot_be_reached_has_its_own_status(story: Story) -> None:
    gone = run(story.hub, story.folder, "settle", HF_ENDPOINT="http://127.0.0.1:9")

    assert gone.returncode == 3
    assert story.token not in gone.stderr


def test_a_service_that_refuses_has_its_own_status(story: Story) -> None:
    story.hub.delete(story.source)
    refused = run(story.hub, story.folder, "settle")

    assert refused.returncode == 4
    assert story.token not in refused.stderr


@pytest.mark.slow
def test_paths_on_the_hub_are_checked_and_published_like_files(story: Story) -> None:
    commit = story.push()
    place = f"hf://datasets/acme/results@{commit.oid}"
    declared = ("--leaderboard", "tiny.toml")
    one = run(story.hub, story.folder, "check", f"{place}/{path_of()}", *declared)
    folder = run(story.hub, story.folder, "check", "hf://datasets/acme/results", *declared)
    published = run(story.hub, story.folder, "publish", place, "--to", "hf://datasets/acme/contents", *declared)
    explained = run(story.hub, story.folder, "explain", f"{place}/{path_of()}", "logic", *declared)
    absent = run(story.hub, story.folder, "check", f"{place}/none.json", *declared)

    assert [d.returncode for d in (one, folder, published, explained, absent)] == [0, 0, 0, 0, 2]
    assert len(story.requests) == 1
    assert commit.oid in story.requests[0].description
    assert "70.0000" in explained.stdout
    assert result() == story.hub.file(story.source, path_of())


@pytest.mark.slow
def test_a_webhook_tells_of_a_request_among_very_many(story: Story) -> None:
    hub = story.hub
    for n in range(SHORT_LIST + 1):
        hub.open_request(story.source, {"a.txt": b"1"}, "Nothing to judge", "", f"eve{n}")
    with serving(story) as (url, _):
        assert run(hub, story.folder, "webhook", "create", f"{url}/webhooks/hub?secret={SECRET}").returncode == 0
        wait_for(lambda: httpx.get(f"{url}/healthz").json()["watches"]["tiny"]["settled"])
        request, _ = hub.open_request(story.source, {path_of("a/b"): story.result(model="a/b")}, "Add", "", "zoe")
        wait_for(lambda: request.comments("bot"))


@pytest.mark.slow
def test_a_delivery_does_not_wait_for_a_busy_database(story: Story) -> None:
    hub = story.hub
    request, _ = hub.open_request(story.source, {"a.txt": b"1"}, "Nothing to judge", "", "eve")
    with serving(story) as (url, _):
        assert run(hub, story.folder, "webhook", "create", f"{url}/webhooks/hub?secret={SECRET}").returncode == 0
        wait_for(lambda: httpx.get(f"{url}/healthz").json()["watches"]["tiny"]["settled"])
        hub.comment(story.source, request, "hello", "eve")
        hub.deliveries.wait()
        payload, headers = hub.deliveries.all[-1].payload, {"X-Webhook-Secret": SECRET}
        with closing(sqlite3.connect(story.folder / "bot.db", isolation_level=None, timeout=30)) as database:
            database.execute("BEGIN IMMEDIATE")
            answered = httpx.post(f"{url}/webhooks/hub", json=payload, headers=headers, timeout=BEFORE_THE_LOCK_ENDS)
            page = httpx.get(f"{url}/nothing", timeout=BEFORE_THE_LOCK_ENDS)
            database.execute("ROLLBACK")
    assert (answered.status_code, answered.json(), page.status_code) == (202, {"taken": True}, 404)
