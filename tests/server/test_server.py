"""The webhook's route: strangers learn nothing, everything authentic is taken at once, no secret shows anywhere."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from bot.errors import CallError
from bot.server.access import require_webhook_secret
from bot.server.app import make_app
from bot.service.settings.environment import secret
from bot.service.watch.event import Event

SECRET = "MARKER-SECRET"
PUSH = json.dumps({
    "event": {"action": "update", "scope": "repo.content"},
    "repo": {"type": "dataset", "name": "acme/results"},
})  # fmt: skip
# The same as a delivery of both services.
BOTH = json.dumps({
    **json.loads(PUSH), "repository": {"full_name": "acme/results", "default_branch": "main"}, "ref": "refs/heads/main",
})  # fmt: skip


class Taken:
    """A service that keeps what it takes; the application needs no more of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.status = "ok"

    def take(self, event: Event) -> bool:
        self.events.append(event)
        return True

    def health(self) -> Mapping[str, Any]:
        return {"status": self.status, "watches": {"open-llm": {"commit": "c" * 40}}}


@pytest.fixture
def service() -> Taken:
    return Taken()


@pytest.fixture
def web(service: Taken) -> TestClient:
    return TestClient(make_app(service, secret=SECRET, registry=CollectorRegistry()))


def post(web: TestClient, body: str | bytes = PUSH, url: str = "/webhooks/hub", **headers: str) -> int:
    answer = web.post(url, content=body, headers=headers)
    assert answer.status_code == 202 or answer.content == b""
    return answer.status_code


def test_a_delivery_with_the_secret_is_taken(web: TestClient, service: Taken) -> None:
    assert post(web, **{"X-Webhook-Secret": SECRET}) == 202
    assert post(web, url=f"/webhooks/hub?secret={SECRET}") == 202
    assert [event.repository for event in service.events] == ["datasets/acme/results"] * 2


@pytest.mark.parametrize("body", [b"", b"\xff\x00", b"{}", b"[1]", b'{"event": 3, "repo": null}', b"[" * 100_000])
def test_whatever_is_authentic_is_acknowledged(web: TestClient, service: Taken, body: bytes) -> None:
    assert post(web, body, **{"X-Webhook-Secret": SECRET}) == 202
    assert service.events == []


def test_strangers_get_no_detail(web: TestClient, service: Taken) -> None:
    assert post(web) == 401
    assert post(web, **{"X-Webhook-Secret": "wrong"}) == 403
    assert post(web, url="/webhooks/hub?secret=wrong") == 403
    assert post(web, b"not json", **{"X-Webhook-Secret": "wrong"}) == 403
    assert service.events == []


def test_of_refused_deliveries_one_a_minute_is_told_to_the_operator(
    web: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    assert [post(web, **{"X-Webhook-Secret": "wrong"}) for _ in range(3)] == [403] * 3
    [told] = [record.message for record in caplog.records if record.name == "bot.server.webhooks"]
    assert told.startswith("a delivery at /webhooks/hub was refused with 403: its secret or signature is not ours")


def test_a_body_of_10_mb_is_refused(web: TestClient, service: Taken) -> None:
    assert post(web, b"x" * 10_000_000, **{"X-Webhook-Secret": SECRET}) == 413

    def pieces() -> Any:
        yield from (b"x" * 100_000 for _ in range(100))

    assert web.post("/webhooks/hub", content=pieces(), headers={"X-Webhook-Secret": SECRET}).status_code == 413
    assert service.events == []


@pytest.fixture
def unguarded(service: Taken) -> TestClient:
    """On loopback and without a secret, as on somebody's laptop."""
    app = make_app(service, secret=None, registry=CollectorRegistry(), bound_to="127.0.0.1")
    return TestClient(app, base_url="http://127.0.0.1:7860")


WEBHOOKS = pytest.mark.parametrize("url", ["/webhooks/hub", "/webhooks/github"])


@WEBHOOKS
def test_without_a_secret_programs_on_this_machine_deliver(unguarded: TestClient, service: Taken, url: str) -> None:
    assert post(unguarded, BOTH, url, **{"X-GitHub-Event": "push"}) == 202
    assert post(unguarded, BOTH, url, **{"X-GitHub-Event": "push", "Host": "localhost:7860"}) == 202
    assert len(service.events) == 2


@WEBHOOKS
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:7860", ""])
def test_without_a_secret_no_web_page_elsewhere_delivers(
    unguarded: TestClient, service: Taken, url: str, origin: str
) -> None:
    """What a page can send without asking first: a POST of text/plain; the browser adds its Origin."""
    headers = {"Origin": origin, "Content-Type": "text/plain", "X-GitHub-Event": "push"}
    assert post(unguarded, BOTH, url, **headers) == 403
    assert service.events == []


@WEBHOOKS
@pytest.mark.parametrize("host", ["rebound.example:7860", "", "127.0.0.1.evil.example", "10.0.0.1", "["])
def test_without_a_secret_a_strangers_name_delivers_nothing(
    unguarded: TestClient, service: Taken, url: str, host: str
) -> None:
    headers = {"Host": host, "X-GitHub-Event": "push"}
    assert post(unguarded, BOTH, url, **headers) == 403
    assert post(unguarded, BOTH, url, **headers, Origin=f"http://{host}") == 403
    assert service.events == []


@WEBHOOKS
def test_without_a_secret_nothing_is_delivered_but_on_loopback(service: Taken, url: str) -> None:
    app = make_app(service, secret=None, registry=CollectorRegistry(), bound_to="0.0.0.0")
    web = TestClient(app, base_url="http://localhost")
    assert post(web, BOTH, url, **{"X-GitHub-Event": "push"}) == 403
    assert service.events == []


@pytest.mark.parametrize("of", ["secret", "github_secret"])
def test_one_secret_counts_for_both_services(service: Taken, of: str) -> None:
    """A server on loopback with one secret must not take the other service's deliveries from anybody."""
    given = {"secret": None, "github_secret": None} | {of: SECRET}
    app = make_app(service, registry=CollectorRegistry(), bound_to="127.0.0.1", **given)
    web = TestClient(app, base_url="http://localhost")
    signature = hmac.new(SECRET.encode(), BOTH.encode(), hashlib.sha256).hexdigest()
    for url, header, right in (
        ("/webhooks/hub", "X-Webhook-Secret", SECRET),
        ("/webhooks/github", "X-Hub-Signature-256", f"sha256={signature}"),
    ):
        assert post(web, BOTH, url, **{"X-GitHub-Event": "push"}) == 401
        assert post(web, BOTH, url, **{"X-GitHub-Event": "push", header: "sha256=00"}) == 403
        assert post(web, BOTH, url, **{"X-GitHub-Event": "push", header: right}) == 202
    assert len(service.events) == 2


def test_health_is_503_only_where_nothing_moves(web: TestClient, service: Taken) -> None:
    for status, code in (("ok", 200), ("degraded", 200), ("failed", 503)):
        service.status = status
        answer = web.get("/healthz")
        assert (answer.status_code, answer.json()["status"]) == (code, status)


def test_deliveries_are_counted_by_answer(web: TestClient) -> None:
    post(web, **{"X-Webhook-Secret": SECRET})
    post(web)

    metrics = web.get("/metrics").text
    assert 'leaderboard_bot_deliveries_total{answer="202"} 1.0' in metrics
    assert 'leaderboard_bot_deliveries_total{answer="401"} 1.0' in metrics


def test_the_secret_stands_on_no_page_and_in_no_log(web: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="bot")
    post(web, **{"X-Webhook-Secret": SECRET})
    shown = web.get("/").text + web.get("/healthz").text + web.get("/metrics").text

    assert SECRET not in shown + caplog.text


def test_a_secret_of_the_environment_is_what_a_header_can_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, meant in ((f"{SECRET}\n", SECRET), (f" {SECRET} ", SECRET), (" \n", None), ("", None)):
        monkeypatch.setenv("WEBHOOK_SECRET", given)
        assert secret("WEBHOOK_SECRET") == meant


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_without_a_secret_loopback_may_be_served(host: str) -> None:
    require_webhook_secret(host, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_without_a_secret_nothing_else_may_be_served(host: str) -> None:
    require_webhook_secret(host, SECRET)
    with pytest.raises(CallError, match="WEBHOOK_SECRET is not set"):
        require_webhook_secret(host, None)
    with pytest.raises(CallError):
        require_webhook_secret(host, "")


@pytest.fixture
def at_home(service: Taken) -> TestClient:
    """On loopback, behind a proxy for people."""
    url = "https://board.example/boards"
    return TestClient(
        make_app(service, secret=SECRET, registry=CollectorRegistry(), bound_to="::1", public_url=lambda: url)
    )


@pytest.mark.parametrize(
    "host", ["127.0.0.1:7860", "localhost", "LOCALHOST:1", "[::1]:7860", "board.example", "Board.Example:443"]
)
def test_on_loopback_its_own_names_are_answered(at_home: TestClient, host: str) -> None:
    assert at_home.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["rebound.example:7860", "", "127.0.0.1.evil.example", "10.0.0.1", "[", "<b>", "None"])
@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/", "/board/x/", "/webhooks"])
def test_on_loopback_a_strangers_name_reads_nothing(at_home: TestClient, host: str, path: str) -> None:
    answer = at_home.get(path, headers={"host": host})
    assert answer.status_code == 421
    assert "set public_url" in answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_on_loopback_deliveries_come_under_any_name_and_need_the_secret(at_home: TestClient) -> None:
    assert post(at_home, host="proxy.example") == 401
    assert post(at_home, host="proxy.example", **{"x-webhook-secret": SECRET}) == 202


def test_without_a_public_address_only_names_of_loopback_are_answered(service: Taken) -> None:
    web = TestClient(make_app(service, secret=None, registry=CollectorRegistry(), bound_to="localhost"))
    assert web.get("/healthz", headers={"host": "localhost:7860"}).status_code == 200
    assert web.get("/healthz", headers={"host": ""}).status_code == 421
