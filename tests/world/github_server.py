"""A local GitHub: a real HTTP server on loopback for PyGithub."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.world.direct import Answered, Asked, answered_directly
from tests.world.github_state import Account, Fault, GitHubState
from tests.world.loopback import LoopbackServer

RESET = "4102444800"


@dataclass
class Request:
    """One call as a route sees it: `who` is None for anonymous, all URLs of an answer begin with `base`."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    who: Account | None
    base: str
    parts: tuple[str, ...] = ()
    accept: str = ""
    bearer: str = ""


@dataclass
class Answer:
    """Status and body, as JSON unless it is bytes; a list is cut into pages by the server."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def refuse(status: int, message: str, **more: Any) -> Answer:
    return Answer(status, {"message": message, "documentation_url": "https://docs.github.com/rest", **more})


def paginate(request: Request, answer: Answer) -> Answer:
    """One page of a list with GitHub's Link header; pages have 30 items, at most 100."""
    if not isinstance(answer.body, list):
        return answer
    size = min(int(request.query.get("per_page", "30")), 100)
    page = int(request.query.get("page", "1"))
    last = max(1, -(-len(answer.body) // size))
    others = "&".join(f"{key}={value}" for key, value in request.query.items() if key != "page")
    url = f"{request.base}{request.path}?{others}{'&' if others else ''}page="
    links = [f'<{url}{page + 1}>; rel="next"', f'<{url}{last}>; rel="last"'] if page < last else []
    links += [f'<{url}1>; rel="first"', f'<{url}{page - 1}>; rel="prev"'] if page > 1 else []
    headers = answer.headers | ({"Link": ", ".join(links)} if links else {})
    return Answer(answer.status, answer.body[(page - 1) * size : page * size], headers)


class GitHubServer:
    """The server and its state; `url` is what GITHUB_API_URL names."""

    def __init__(self, state: GitHubState | None = None) -> None:
        self.state = state or GitHubState()
        self.http = LoopbackServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def answer(self, request: Request) -> Answer:
        """What GitHub says: identity, then rate, then the route."""
        from tests.world.github_routes import ROUTES

        name = "/".join(request.path.split("/")[2:4])
        if name in self.state.moved:
            where = f"{self.url}{request.path.replace(name, self.state.moved[name], 1)}"
            return Answer(301, {"message": "Moved Permanently", "url": where}, {"Location": where})
        repo = self.state.repos.get(name)
        if repo is not None and not repo.git.refs and re.search(r"/(git/|commits)", request.path):
            return refuse(409, "Git Repository is empty.")
        if repo is not None and repo.archived and request.method != "GET":
            return refuse(403, "Repository was archived so is read-only.")
        for method, pattern, route in ROUTES:
            match = re.fullmatch(pattern, request.path)
            if method == request.method and match:
                request.parts = match.groups()
                return paginate(request, route(self.state, request))
        return refuse(404, "Not Found")

    def _limited(self, who: Account | None) -> Answer | None:
        if who is not None:
            return None
        if self.state.anonymous_left <= 0:
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET}
            answer = refuse(403, "API rate limit exceeded for 127.0.0.1.")
            return Answer(403, answer.body, headers)
        self.state.anonymous_left -= 1
        return None

    def budget(self) -> dict[str, str]:
        """What an answer says of the window that it falls into."""
        if not self.state.allowed:
            return {}
        left = max(0, self.state.allowed - len(self.state.requests))
        window = {"Limit": self.state.allowed, "Remaining": left, "Reset": int(time.time()) + 300}
        return {f"X-RateLimit-{name}": str(value) for name, value in window.items()}

    def direct(self, asked: Asked) -> Answered | None:
        """What a connection would send; None where a fault is on order, which may be one of the connection."""
        if any(fault.matches(asked.method, asked.target) for fault in self.state.faults):
            return None
        answer = self.serve(asked)
        assert answer is not None
        data = encoded(answer)
        return answer.status, self.head(answer, data), data

    def head(self, answer: Answer, data: bytes) -> dict[str, str]:
        return {
            "Content-Type": "application/json; charset=utf-8",
            **self.budget(),
            **answer.headers,
            "Content-Length": str(len(data)),
        }

    def serve(self, asked: Asked) -> Answer | None:
        """Answer one HTTP request; None closes the line without a word."""
        url = urlsplit(asked.target)
        header = asked.headers.get("authorization") or ""
        with self.state.lock:
            self.state.requests.append((asked.method, asked.target))
            fault = next((f for f in self.state.faults if f.matches(asked.method, asked.target)), None)
            if fault and fault.before:
                fault.before()
            if fault and fault.status and not fault.landed:
                return spend(fault, None)
            who = self.state.accounts.get(header.split(" ")[-1]) if header else None
            is_for_app = url.path.startswith("/app/")
            if header and who is None and not is_for_app:
                return refuse(401, "Bad credentials")
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            body = json.loads(asked.body) if asked.body else {}
            request = Request(asked.method, unquote(url.path), query, body, who, self.url)
            request.bearer = header.split(" ")[-1]
            request.accept = asked.headers.get("accept") or ""
            answer = (None if is_for_app else self._limited(who)) or self.answer(request)
            return spend(fault, answer) if fault else answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                """Nothing: the state keeps the requests."""

            def handle_one(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length") or 0))
                answer = server.serve(Asked(self.command, self.path, headers, body))
                if answer is None:
                    self.close_connection = True
                    return
                data = encoded(answer)
                self.send_response(answer.status)
                for name, value in server.head(answer, data).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_one  # noqa: N815

        return Handler


def encoded(answer: Answer) -> bytes:
    if answer.status == 204:
        return b""
    return answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()


def spend(fault: Fault, truth: Answer | None) -> Answer | None:
    fault.times -= 1
    if fault.drop or not fault.status:
        return None if fault.drop else truth
    body = refuse(fault.status, fault.message).body if fault.body is None else fault.body
    return Answer(fault.status, body, fault.headers)


@contextmanager
def local_github(*, is_direct: bool = False) -> Iterator[GitHubServer]:
    """Run a GitHub on loopback for as long as the block lasts; `is_direct`: this process asks it without a socket."""
    server = GitHubServer()
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    try:
        with answered_directly(server.url, server.direct) if is_direct else nullcontext():
            yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        thread.join()
