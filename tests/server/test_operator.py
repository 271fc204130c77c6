"""Who may change the state: nobody by accident, no page of somebody else's, no guess of the token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from bot.server import operator
from bot.server.access import refuse_change
from tests.server.services import make_service, make_web

TOKEN = "MARKER-TOKEN"


def status(
    method: str = "POST", token: str | None = TOKEN, bound_to: str = "0.0.0.0", given: str | None = None, **headers: str
) -> int:
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    request = Request({"type": "http", "method": method, "path": "/x", "query_string": b"", "headers": raw})
    refused = refuse_change(request, token, bound_to, given)
    return 200 if refused is None else refused.status_code


def test_the_token_opens_in_a_header_or_a_form() -> None:
    assert status(host="board.example", authorization=f"Bearer {TOKEN}") == 200
    assert status(host="board.example", authorization=f"bearer {TOKEN}") == 200
    assert status(host="board.example", given=TOKEN, origin="https://board.example") == 200


@pytest.mark.parametrize("bound_to", ["0.0.0.0", "127.0.0.1"])
def test_without_the_token_or_with_a_wrong_one_nothing_opens(bound_to: str) -> None:
    assert status(bound_to=bound_to, host="localhost") == 401
    assert status(bound_to=bound_to, host="localhost", authorization="Bearer wrong") == 403
    assert status(bound_to=bound_to, host="localhost", authorization="Bearer ü") == 403
    assert status(bound_to=bound_to, host="localhost", authorization=f"Basic {TOKEN}") == 401
    assert status(bound_to=bound_to, host="localhost", authorization="Bearer ") == 401
    assert status(bound_to=bound_to, host="localhost", given="wrong") == 403
    assert status(bound_to=bound_to, host="localhost", given="") == 401
    assert status(bound_to=bound_to, host="localhost", cookie=f"leaderboard-bot-operator={TOKEN}") == 401


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "https://board.example.evil", "https://board.example:8443", "x", "http://["],
)
def test_a_page_of_somebody_else_changes_nothing_even_with_the_token(origin: str) -> None:
    assert status(host="board.example", origin=origin, authorization=f"Bearer {TOKEN}") == 403
    assert status(token=None, bound_to="127.0.0.1", host="localhost:7860", origin=origin) == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:7860", "127.0.0.1:7860", "[::1]:7860"])
def test_without_a_token_loopback_asked_by_its_name_may(host: str) -> None:
    assert status(token=None, bound_to="127.0.0.1", host=host) == 200
    assert status(token=None, bound_to="127.0.0.1", host=host, origin=f"http://{host}") == 200
    assert status(token=None, bound_to="0.0.0.0", host=host) == 403


@pytest.mark.parametrize("host", ["rebound.example", "", "127.0.0.1.evil.example", "10.0.0.1", "[", "[::1"])
def test_without_a_token_another_name_that_leads_to_loopback_may_not(host: str) -> None:
    assert status(token=None, bound_to="127.0.0.1", host=host) == 403


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_get_changes_nothing(method: str) -> None:
    assert status(method, host="localhost", authorization=f"Bearer {TOKEN}") == 405


def test_behind_a_proxy_only_the_token_opens(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    service.contexts.public_url = "https://board.example"
    for token, given, expected in ((None, "", 403), (TOKEN, "", 401), (TOKEN, TOKEN, 404)):
        web = TestClient(make_web(service, token), base_url="http://127.0.0.1")
        assert web.post("/items/try", data={"watch": "x", "token": given}).status_code == expected


def test_what_a_proxy_hands_on_is_not_of_this_machine(tmp_path: Path) -> None:
    web = TestClient(make_web(make_service(tmp_path)), base_url="http://127.0.0.1")
    assert web.post("/items/try", data={"watch": "x"}).status_code == 404
    assert web.post("/items/try", data={"watch": "x"}, headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 403


def test_a_form_that_never_comes_whole_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator, "BODY_SECONDS", 0.05)
    transport = httpx.ASGITransport(make_web(make_service(tmp_path)))

    async def body() -> AsyncIterator[bytes]:
        yield b"watch="
        await asyncio.sleep(60)

    async def post() -> int:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.post("/plans/answer", content=body())).status_code

    assert asyncio.run(post()) == 408
