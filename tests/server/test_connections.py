"""A real server under strangers: slow heads, slow bodies, idle crowds and rubbish hold nothing for long."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import uvicorn
from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.server import run, webhooks
from bot.server.app import make_app
from bot.server.run import PatientProtocol
from tests.server.test_server import PUSH, SECRET, Taken
from tests.world.local_git import git

ROOT = Path(__file__).parents[2]
LONG = 8_000_000  # bytes, more than the system takes for a client that reads nothing
SOON = 20.0  # seconds in which a deadline of half a second has passed on any machine


class Hasty(PatientProtocol):
    """The same with deadlines that a test can wait for."""

    head_seconds = 0.5
    request_seconds = 1.0


async def long_page(_: Request) -> Response:
    return Response(bytes(LONG))


@contextmanager
def serving(service: Taken, protocol: type[PatientProtocol] = Hasty) -> Iterator[int]:
    pages = [Route("/long", long_page)]
    app = make_app(service, secret=SECRET, registry=CollectorRegistry(), pages=pages)
    limits = {"timeout_keep_alive": 1, "limit_concurrency": 2 * run.connections_allowed()}
    config = uvicorn.Config(app, port=0, http=protocol, ws="none", log_config=None, **limits)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SOON)


@pytest.fixture
def port() -> Iterator[int]:
    with serving(Taken()) as port:
        yield port


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), SOON)


def is_ended(client: socket.socket) -> bool:
    """Whether the server closes the connection; what it says before is read."""
    with suppress(ConnectionResetError):
        while client.recv(65536):
            pass
    return True


HEAD = b"POST /webhooks/hub HTTP/1.1\r\nHost: x\r\nX-Webhook-Secret: " + SECRET.encode() + b"\r\n"
FORM = b"POST /plans/answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n12345"


@pytest.mark.parametrize("sent", [b"", b"P", HEAD, b"GET / HTTP/1.1\r\nA: " + b"b" * 1000])
def test_a_head_that_never_ends_is_cut_off(port: int, sent: bytes) -> None:
    with connected(port) as client:
        client.sendall(sent)
        assert is_ended(client)


def test_a_head_that_drips_is_cut_off_all_the_same(port: int) -> None:
    with connected(port) as client, suppress(OSError):
        client.sendall(HEAD)
        for _ in range(200):
            client.sendall(b"A: b\r\n")
            time.sleep(0.05)
        pytest.fail("the server listens for ever")


def test_a_second_request_has_a_deadline_too(port: int) -> None:
    with connected(port) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(b"GET /hea")
        assert is_ended(client)


def test_a_body_of_two_lengths_smuggles_no_request(port: int) -> None:
    """A proxy that goes by the first length hands the second request on without a word of its own."""
    second = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with connected(port) as client:
        client.sendall(
            HEAD + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (5 + len(second)) + second
        )
        answers = client.makefile("rb").read()
    assert answers.startswith(b"HTTP/1.1 400")
    assert answers.count(b"HTTP/1.1") == 1


def test_a_body_that_never_comes_is_given_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "BODY_SECONDS", 0.2)
    with connected(port) as client:
        client.sendall(HEAD + b"Content-Length: 10\r\n\r\n12345")
        assert client.recv(65536).startswith(b"HTTP/1.1 408")
        assert is_ended(client)


def test_a_body_without_end_ends_with_the_request(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "BODY_SECONDS", 1000.0)
    with connected(port) as client:
        client.sendall(HEAD + b"Content-Length: 10\r\n\r\n12345")
        assert is_ended(client)


ASK_LONG = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"


def test_an_answer_that_nobody_reads_is_given_up(port: int) -> None:
    with connected(port) as client:
        client.sendall(ASK_LONG)
        time.sleep(4 * Hasty.request_seconds)
        received = 0
        while piece := client.recv(65536):
            received += len(piece)
        assert received < LONG


def test_an_answer_that_is_read_late_is_whole_and_the_connection_goes_on(port: int) -> None:
    with connected(port) as client:
        client.sendall(ASK_LONG)
        time.sleep(Hasty.request_seconds / 2)
        received = 0
        while received < LONG:
            received += len(client.recv(65536))
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP/1.1 200" in client.recv(65536)


def test_clients_that_read_no_answer_lock_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "connections_allowed", lambda: 8)
    monkeypatch.setattr(Hasty, "request_seconds", 60.0)
    with serving(Taken()) as port, ExitStack() as crowd:
        for _ in range(16):
            crowd.enter_context(connected(port)).sendall(ASK_LONG)
        time.sleep(2)  # the server's own time-out for idle connections passes
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=SOON).status_code == 200


def test_a_head_that_is_too_long_and_rubbish_are_refused(port: int) -> None:
    for sent in (b"GET / HTTP/1.1\r\nA: " + b"b" * 200_000, b"\x16\x03\x01" * 100, b"\x00\r\n\r\n"):
        with connected(port) as client, suppress(OSError):
            client.sendall(sent)
            assert is_ended(client)
    assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"GET ", FORM], ids=["of slow heads", "of slow bodies"])
def test_with_256_descriptors_a_crowd_of_idle_clients_locks_nobody_out(tmp_path: Path, sent: bytes) -> None:
    (tmp_path / "bot.toml").write_text(
        '[[watches]]\nname = "x"\nleaderboard = "open-llm-v2"\nsource = "results"\n[[watches.targets]]\nto = "board"\n'
    )
    git(tmp_path, "init", "-q", "results")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh", sys.executable, "-m", "bot", "serve", "--port", str(port)]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "WEBHOOK_SECRET": SECRET}
    with (tmp_path / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stderr=log, env=environment)
    try:
        wait_until_up(port)
        with ExitStack() as crowd:
            for _ in range(400):
                with suppress(OSError):
                    crowd.enter_context(connected(port)).sendall(sent)
            for _ in range(5):
                answer = httpx.post(
                    f"http://127.0.0.1:{port}/webhooks/hub",
                    content=PUSH,
                    headers={"X-Webhook-Secret": SECRET},
                    timeout=SOON,
                )
                assert answer.status_code == 202
                assert json.loads(answer.content) == {"taken": False}
    finally:
        process.terminate()
        began = time.monotonic()
        assert process.wait(SOON) == 0
    assert time.monotonic() - began < SOON
    # Of a library ten records a minute, each of six lines where the descriptors do not suffice for a moment.
    assert len((tmp_path / "log.txt").read_text().splitlines()) < 80


def wait_until_up(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with suppress(httpx.HTTPError):
            if httpx.get(f"http://127.0.0.1:{port}/metrics").is_success:
                return
        time.sleep(0.05)
    pytest.fail("the server does not start")
