"""The Hub over HTTP on loopback: it answers requests by its routes, with the faults on order."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from email.utils import formatdate
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from . import buckets, eval_results, git_wire, routes_repositories, routes_webhooks
from . import routes_files as files
from . import routes_talk as talk
from .direct import Answered, Asked, answered_directly
from .faults import WRITES, Fault
from .git import Repository
from .hub import Call, Hub
from .loopback import LoopbackServer
from .reply import Failure, Moved, Reply, answer, no_repository

KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}
DISCUSSION = re.compile(r"discussions/(\d+)(?:/(.*))?$")


def route(hub: Hub, call: Call) -> Reply:
    """What the Hub answers to this call."""
    parts = [unquote(part) for part in call.raw_path.strip("/").split("/")]
    if parts[0] in {"mint", "oauth"}:
        return trusted_publishing(hub, call, parts)
    call.user = signed_in(hub, call)
    if parts[0] != "api" or parts[1] == "resolve-cache":
        return download(hub, call, parts)
    if parts[1] == "whoami-v2":
        return whoami(hub, call)
    if parts[1] == "repos":
        return routes_repositories.changed(hub, call, parts[2])
    if parts[1] == "validate-yaml":
        return answer({"errors": [], "warnings": []})
    if parts[1:3] == ["settings", "webhooks"]:
        return routes_webhooks.webhooks(hub, call, parts[3:])
    if parts[1] == "jobs" and call.method == "POST":
        return routes_repositories.started(hub, call, parts[2])
    if parts[1] == "datasets" and len(parts) == 2:
        author = call.query.get("author", "")
        names = sorted(name for kind, name in hub.repositories if kind == "dataset")
        return answer([{"id": name} for name in names if name.partition("/")[0] == author])
    if parts[1] == "buckets":
        return buckets.of_bucket(hub, call, parts[2:])
    if parts[1] not in KINDS:
        raise Failure(404, "Not found")
    repository = find(hub, call, KINDS[parts[1]], "/".join(parts[2:4]))
    if parts[4:] == ["auth-check", "write"]:
        return auth_check(hub, call, repository)
    return of_repository(hub, call, repository, parts[4:])


def auth_check(hub: Hub, call: Call, repository: Repository) -> Reply:
    """Whether this account may write the content of a repository."""
    if not hub.may_write(call.user, repository):
        raise Failure(403, "Forbidden: you have no write access to this repository")
    return answer({})


def trusted_publishing(hub: Hub, call: Call, parts: list[str]) -> Reply:
    """GitHub's side (a workflow's identity) and the Hub's (its exchange for a token of one repository)."""
    if parts[0] == "mint":
        if call.headers.get("authorization") != "Bearer runner" or call.query.get("audience") != hub.url:
            raise Failure(401, "not this job")
        return answer({"value": f"identity-of-{parts[1]}"})
    asked = json.loads(call.body)
    workflow = str(asked["subject_token"]).removeprefix("identity-of-")
    if not asked["resource"] or hub.publishers.get(workflow) != asked["resource"]:
        raise Failure(400, "invalid_grant")
    hub.tokens["hf_jwt_1"] = "[OIDC]"
    return answer({"access_token": "hf_jwt_1", "token_type": "bearer", "expires_in": 3600})


def signed_in(hub: Hub, call: Call) -> str:
    kind, _, token = call.headers.get("authorization", "").partition(" ")
    if kind == "Basic":  # git knows no other way
        token = base64.b64decode(token).decode().partition(":")[2]
    if token and token not in hub.tokens:
        raise Failure(401, "Invalid credentials in Authorization header")
    return hub.tokens.get(token, "")


def find(hub: Hub, call: Call, kind: str, name: str) -> Repository:
    repository = hub.repositories.get((kind, name))
    if (kind, name) in hub.moved:
        new = hub.url + call.raw_path.replace(name, hub.moved[kind, name], 1)
        raise Moved(new)
    if repository is None or (repository.private and not hub.may_write(call.user, repository)):
        raise no_repository(name, signed_in=bool(call.user))
    if repository.gated and not hub.may_write(call.user, repository):
        raise Failure(403, f"Access to dataset {name} is restricted", "GatedRepo")
    return repository


def whoami(hub: Hub, call: Call) -> Reply:
    if not call.user or call.user == "[OIDC]":
        raise Failure(401, "Invalid username or password.")
    token: dict[str, Any] = {"displayName": "token", "role": hub.roles.get(call.user, "write")}
    if rights := hub.rights.get(call.user):
        token |= {"role": "fineGrained", "fineGrained": rights}
    auth = {"type": "access_token", "accessToken": token}
    return answer({"type": "user", "id": hub.user_id(call.user), "name": call.user, "orgs": [], "auth": auth})


def of_repository(hub: Hub, call: Call, repository: Repository, rest: list[str]) -> Reply:
    if call.method != "GET" and not call.user and rest[:1] != ["paths-info"]:
        raise Failure(401, "Sign in first")
    match rest:
        case [] | ["revision", _]:
            return files.info(hub, call, repository, rest[1] if rest else "main")
        case ["refs"]:
            return files.refs(hub, call, repository)
        case ["tree", revision, *path]:
            return files.tree(hub, call, repository, revision, "/".join(path))
        case ["paths-info", revision]:
            return files.paths_info(hub, call, repository, revision)
        case ["commits", revision]:
            return files.commits(hub, call, repository, revision)
        case ["preupload", revision]:
            return files.preupload(hub, call, repository, revision)
        case ["commit", revision]:
            return files.commit(hub, call, repository, revision)
        case _:
            return beside_files(hub, call, repository, rest)


def beside_files(hub: Hub, call: Call, repository: Repository, rest: list[str]) -> Reply:
    match rest:
        case ["discussions", *below]:
            return of_discussions(hub, call, repository, below)
        case ["leaderboard"]:
            return eval_results.leaderboard(hub, call, repository)
        case _:
            raise Failure(404, "Not found")


def of_discussions(hub: Hub, call: Call, repository: Repository, below: list[str]) -> Reply:
    row = hub.talk(repository).all.get(int(below[0]) if below and below[0].isdigit() else 0)
    if not repository.has_discussions or (row is None and below):
        raise Failure(*(404, "Discussion not found") if repository.has_discussions else talk.DISABLED)
    if row is None:
        return (talk.listed if call.method == "GET" else talk.opened)(hub, call, repository)
    match below[1:]:
        case []:
            return talk.details(hub, call, repository, row)
        case ["comment"]:
            return talk.commented(hub, call, repository, row)
        case ["comment", comment_id, "edit"]:
            return talk.edited(hub, call, repository, row, comment_id)
        case ["comment", comment_id, "hide"]:
            return talk.hidden(hub, call, repository, row, comment_id)
        case ["title"]:
            return talk.renamed(hub, call, repository, row)
        case ["status"]:
            return talk.status_changed(hub, call, repository, row)
        case ["merge"]:
            return talk.merged(hub, call, repository, row)
        case _:
            raise Failure(404, "Not found")


def download(hub: Hub, call: Call, parts: list[str]) -> Reply:
    if parts[0] == "api":
        repository = find(hub, call, KINDS[parts[2]], "/".join(parts[3:5]))
        return files.small_file(hub, call, repository, parts[5], "/".join(parts[6:]))
    if parts[0] == "buckets" and parts[3:4] == ["resolve"]:
        return buckets.resolve(hub, call, "/".join(parts[1:3]), "/".join(parts[4:]))
    kind = KINDS.get(parts[0], "model")
    rest = parts[1:] if parts[0] in KINDS else parts
    if rest[2:] in (["info", "refs"], ["git-upload-pack"]):
        repository = find(hub, call, kind, "/".join(rest[:2]).removesuffix(".git"))
        return git_wire.serve(hub, repository, call, rest[2:])
    if len(rest) < 5 or rest[2] != "resolve":
        raise Failure(404, "Not found")
    repository = find(hub, call, kind, "/".join(rest[:2]))
    return files.resolve(hub, call, repository, rest[3], "/".join(rest[4:]))


def call_of(method: str, target: str, headers: dict[str, str], body: bytes) -> Call:
    split = urlsplit(target)
    return Call(method, split.path, dict(parse_qsl(split.query)), headers, body)


def act(hub: Hub, call: Call) -> Reply:
    try:
        return route(hub, call)
    except Failure as failure:
        return failure.reply


def head(hub: Hub, reply: Reply) -> dict[str, str]:
    return {**hub.limits(), **reply.headers, "Content-Length": str(len(reply.body))}


class Connection(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub: Hub

    def handle_any(self) -> None:
        call = self.read_call()
        self.hub.calls.append(call)
        fault = self.hub.faults.strike(call.method, call.raw_path)
        if fault is not None and fault.before:
            fault.before()
        if fault is not None and fault.delay:
            time.sleep(fault.delay)
        if fault is None or not (fault.status or fault.reset or fault.body is not None):
            self.send(act(self.hub, call))
            return
        if fault.landed and call.method in WRITES:
            act(self.hub, call)
        self.fail(fault)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    def read_call(self) -> Call:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {key.lower(): value for key, value in self.headers.items()}
        body = self.read_chunks() if headers.get("transfer-encoding") == "chunked" else self.rfile.read(length)
        return call_of(self.command, self.path, headers, body)

    def read_chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def fail(self, fault: Fault) -> None:
        if fault.reset:
            self.close_connection = True
            self.connection.close()
            return
        if fault.body is not None:
            self.send(Reply(fault.status or 200, fault.body, {"Content-Type": "text/html"} | fault.headers), fault.drip)
            return
        message = {"X-Error-Message": "a fault on order", "Content-Type": "application/json"}
        self.send(Reply(fault.status, b'{"error":"a fault on order"}', message | fault.headers))

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string((timestamp or time.time()) + self.hub.clock_is_off)

    def send(self, reply: Reply, drip: float = 0.0) -> None:
        self.send_response(reply.status)
        for key, value in head(self.hub, reply).items():
            self.send_header(key, value)
        self.end_headers()
        pieces = [reply.body[at : at + 1] for at in range(len(reply.body))] if drip else [reply.body]
        for piece in pieces if self.command != "HEAD" else ():
            self.wfile.write(piece)
            time.sleep(drip)

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError, OSError):
            self.close_connection = True  # the other side went away: it was killed, or we cut it

    def finish(self) -> None:
        try:
            super().finish()
        except (ConnectionError, ValueError, OSError):
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing: the calls are kept."""


def direct(hub: Hub, asked: Asked) -> Answered | None:
    """What a connection would send; None where a fault is on order, which may be one of the connection."""
    call = call_of(asked.method, asked.target, asked.headers, asked.body)
    if hub.faults.may_strike(call.method, call.raw_path):
        return None
    hub.calls.append(call)
    reply = act(hub, call)
    date = formatdate(time.time() + hub.clock_is_off, usegmt=True)
    return reply.status, {"Date": date, **head(hub, reply)}, b"" if call.method == "HEAD" else reply.body


@contextmanager
def served(hub: Hub, *, is_direct: bool = False) -> Iterator[Hub]:
    """Serve this hub on a free port of loopback; `is_direct`: this process asks it without a socket."""
    handler = type("Connection", (Connection,), {"hub": hub})
    server = LoopbackServer(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with answered_directly(hub.url, partial(direct, hub)) if is_direct else nullcontext():
            yield hub
    finally:
        server.shutdown()
        server.server_close()
        hub.deliveries.stop()
        thread.join()
