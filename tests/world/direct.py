"""Requests of this process to a local Hub or GitHub, handed to its code without a socket.

The clients are the real ones, with their sessions, hooks, redirects and checks; their lowest layer alone, which would
write to a socket, calls the server instead. Over loopback goes what another process or git asks, and what a fault waits
for, which may be one of the connection.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import httpx2
import pytest
import requests
from httpx2 import _urlparse, _urls
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: `target` is the path with the query, the names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answered = tuple[int, dict[str, str], bytes]  # status, headers and body
Server = Callable[[Asked], Answered | None]

SERVERS: dict[str, Server] = {}  # by host and port


@contextmanager
def answered_directly(url: str, server: Server) -> Iterator[None]:
    """Let this process ask a served world without a socket; None of the server is for a request that needs one."""
    place = urlsplit(url).netloc
    SERVERS[place] = server
    try:
        yield
    finally:
        del SERVERS[place]


def answer_to(method: str, url: str, headers: httpx2.Headers | requests.structures.CaseInsensitiveDict[str],
              body: Callable[[], bytes]) -> Answered | None:  # fmt: skip
    split = urlsplit(url)
    server = SERVERS.get(split.netloc)
    if server is None:
        return None
    target = f"{split.path or '/'}{'?' if split.query else ''}{split.query}"
    return server(Asked(method, target, {name.lower(): value for name, value in headers.items()}, body()))


@contextmanager
def without_sockets() -> Iterator[None]:
    """Put these answers below the Hub's client and below PyGithub."""
    over_socket, send = httpx2.HTTPTransport.handle_request, HTTPAdapter.send

    def handle_request(transport: httpx2.HTTPTransport, request: httpx2.Request) -> httpx2.Response:
        found = answer_to(request.method, str(request.url), request.headers, request.read)
        if found is None:
            return over_socket(transport, request)
        status, headers, body = found
        return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(body))

    def send_directly(adapter: HTTPAdapter, request: requests.PreparedRequest, **how: object) -> requests.Response:
        def body() -> bytes:
            given = request.body or b""
            return given.encode() if isinstance(given, str) else bytes(given)

        found = answer_to(str(request.method), str(request.url), request.headers, body)
        if found is None:
            return send(adapter, request, **how)  # type: ignore[arg-type]
        status, headers, data = found
        raw = HTTPResponse(io.BytesIO(data), headers, status, preload_content=False, request_method=request.method)
        return adapter.build_response(request, raw)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx2.HTTPTransport, "handle_request", handle_request)
        patch.setattr(HTTPAdapter, "send", send_directly)
        parsed = lru_cache(4096)(_urlparse.urlparse)  # it reads each address three times, a character at a time
        for module in (_urlparse, _urls):
            patch.setattr(module, "urlparse", parsed)
        yield
