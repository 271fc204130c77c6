"""The deliveries of GitHub: signed ones are taken, strangers learn nothing, and a long one is still a hint."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from bot.errors import CallError
from bot.server.access import require_github_secret
from bot.server.app import make_app
from bot.server.service import Service
from bot.service.settings.config import Watch
from bot.service.watch.event import ANY, FORM_ENCODED, Event, concerns_us, parse_github_event
from tests.command import bot
from tests.server.test_server import Taken
from tests.texts import any_text

SECRET = "MARKER-SECRET"
REPOSITORY = {"full_name": "Acme/Results", "default_branch": "trunk"}
COMMIT = "c" * 40
BODIES: dict[str, dict[str, Any]] = {
    "push": {"ref": "refs/heads/trunk", "after": COMMIT},
    "pull_request": {"action": "synchronize", "number": 7},
    "issue_comment": {"action": "created", "comment": {"body": "/recheck"}},
    "issues": {"action": "closed"},
}


def body_of(kind: str, sender: str = "Ann", **more: Any) -> bytes:
    return json.dumps(BODIES[kind] | {"repository": REPOSITORY, "sender": {"login": sender}} | more).encode()


@pytest.fixture
def service() -> Taken:
    return Taken()


@pytest.fixture
def web(service: Taken) -> TestClient:
    return TestClient(make_app(service, secret="other", registry=CollectorRegistry(), github_secret=SECRET))


def signature(body: bytes, secret: str = SECRET) -> str:
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def post(web: TestClient, body: bytes, kind: str = "push", **headers: str) -> tuple[int, bool]:
    """The status, and whether the delivery hinted anybody."""
    own = {"X-GitHub-Event": kind, "X-Hub-Signature-256": signature(body)}
    answer = web.post("/webhooks/github", content=body, headers=own | headers)
    assert answer.status_code == 202 or answer.content == b""
    return answer.status_code, answer.status_code == 202 and answer.json()["taken"]


@pytest.mark.parametrize("kind", BODIES)
def test_a_signed_delivery_is_taken_as_what_it_tells(web: TestClient, service: Taken, kind: str) -> None:
    assert post(web, body_of(kind), kind) == (202, True)

    [event] = service.events
    assert (event.repository, event.author) == ("github://acme/results", "github:ann")
    assert event.moves_content == (kind == "push")
    assert event.is_discussion == (kind != "push")


def test_a_form_is_read_like_json(web: TestClient, service: Taken) -> None:
    form = urlencode({"payload": body_of("push").decode()}).encode()

    assert post(web, form, **{"Content-Type": f"{FORM_ENCODED}; charset=utf-8"}) == (202, True)
    assert service.events[0].refs == (("refs/heads/main", COMMIT),)


def test_strangers_get_no_detail(web: TestClient, service: Taken) -> None:
    body = body_of("push")
    bare = web.post("/webhooks/github", content=body, headers={"X-GitHub-Event": "push"})

    assert (bare.status_code, bare.content) == (401, b"")
    for wrong in (signature(body, "other"), signature(b""), "", "sha1=00", "sha256=", signature(body).upper()):
        assert post(web, body, **{"X-Hub-Signature-256": wrong}) == (403, False)
    assert service.events == []


def test_a_redelivery_hints_again(web: TestClient, service: Taken) -> None:
    """ "Redeliver" at GitHub sends the same body under the same id, and nothing that tells it from the first one."""
    for _ in range(2):
        assert post(web, body_of("push"), **{"X-GitHub-Delivery": "one"}) == (202, True)
    assert len(service.events) == 2


def test_a_long_delivery_is_a_hint_for_all_of_github(web: TestClient, service: Taken) -> None:
    body = body_of("push", commits=[{"added": ["x" * 90] * 20_000}])
    assert len(body) > 1_000_000

    assert post(web, body, **{"X-Hub-Signature-256": signature(b"")}) == (403, False)
    assert post(web, body) == (202, True)
    assert service.events == [ANY]


def test_what_github_never_sends_is_refused_unread(web: TestClient, service: Taken) -> None:
    body = b"x" * 26_000_000

    def pieces() -> Any:
        yield from (body[at : at + 1_000_000] for at in range(0, len(body), 1_000_000))

    headers = {"X-Hub-Signature-256": signature(body)}
    assert web.post("/webhooks/github", content=body, headers=headers).status_code == 413
    assert web.post("/webhooks/github", content=pieces(), headers=headers).status_code == 413
    assert service.events == []


@pytest.mark.parametrize("body", [b"", b"\xff\x00", b"{}", b"[1]", b'{"repository": 3}', b"[" * 100_000])
def test_whatever_is_authentic_is_acknowledged(web: TestClient, service: Taken, body: bytes) -> None:
    assert post(web, body) == (202, False)
    assert post(web, body, **{"Content-Type": FORM_ENCODED, "X-GitHub-Event": "ping"}) == (202, False)
    assert service.events == []


def test_without_a_secret_only_loopback_is_heard(service: Taken) -> None:
    closed = TestClient(make_app(service, secret=None, registry=CollectorRegistry(), bound_to="0.0.0.0"))
    app = make_app(service, secret=None, registry=CollectorRegistry(), bound_to="127.0.0.1")
    opened = TestClient(app, base_url="http://127.0.0.1")

    assert post(closed, body_of("push")) == (403, False)
    assert service.events == []
    assert post(opened, body_of("push")) == (202, True)


def test_the_secret_is_demanded_where_github_is_watched() -> None:
    require_github_secret("0.0.0.0", None, ["hf://datasets/acme/results", "./folder"])
    require_github_secret("127.0.0.1", None, ["github://acme/results"])
    require_github_secret("0.0.0.0", SECRET, ["github://acme/results"])

    with pytest.raises(CallError, match="GITHUB_WEBHOOK_SECRET is not set, and github://acme/results is watched"):
        require_github_secret("0.0.0.0", "", ["hf://datasets/acme/results", "github://acme/results"])


def test_where_only_github_delivers_its_secret_is_enough(tmp_path: Path) -> None:
    environ = {**os.environ, "GITHUB_WEBHOOK_SECRET": SECRET}
    environ.pop("WEBHOOK_SECRET", None)
    _, _, said = bot("serve", "--host", "0.0.0.0", "--config", tmp_path / "none.toml", env=environ)
    assert "none.toml: there is no such file" in said


def event(kind: str, **more: Any) -> Event:
    found = parse_github_event(kind, body_of(kind, **more))
    assert found is not None
    return found


def test_only_the_default_branch_and_the_talk_of_others_concern_us() -> None:
    def concerns(found: Event) -> bool:
        return concerns_us(found, our_ids={"github:leaderboard-bot"}, our_commits={"d" * 40})

    assert concerns(event("push"))
    assert concerns(event("push", after="0" * 40))
    assert not concerns(event("push", after="d" * 40))
    assert not concerns(event("push", ref="refs/heads/leaderboard-bot/entry"))
    assert not concerns(event("push", ref="refs/heads/main"))
    assert concerns(event("pull_request"))
    assert not concerns(event("issue_comment", sender="Leaderboard-Bot"))
    assert concerns(ANY)


def test_a_watch_is_found_by_its_source_and_its_targets() -> None:
    told = {"name": "tiny", "leaderboard": "tiny", "source": "github://Acme/Results"}
    watch = Watch.model_validate(told | {"targets": [{"to": "github://acme/Board#7"}]})
    other = Watch.model_validate(told | {"source": "results", "targets": [{"to": "hf://datasets/acme/board"}]})

    assert Service.names(watch) == {"watch/tiny", "github://acme/results", "github://acme/board", ANY.repository}
    assert Service.names(other) == {"watch/tiny", "results", "datasets/acme/board"}


@given(st.sampled_from(["push", "pull_request", "issue_comment", "star", ""]), st.binary() | any_text().map(str.encode))
def test_no_body_is_an_error(kind: str, body: bytes) -> None:
    for content_type in ("application/json", FORM_ENCODED):
        found = parse_github_event(kind, body, content_type)
        assert found is None or found.repository.startswith("github://")
